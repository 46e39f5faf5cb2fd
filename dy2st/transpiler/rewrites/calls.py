"""`f(x)` becomes `convert_call(f)(x)`: what is called is chosen when it runs."""

from __future__ import annotations

import gast

from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import Node, at, is_own
from dy2st.transpiler.rewrites.logical import ExpressionRewriter


def transform(tree: Node, context: Context) -> None:
    """Rewrite every call of the user."""
    _Calls(context).visit(tree)


class _Calls(ExpressionRewriter):
    def visit_Call(self, node: Node) -> Node:
        """Wrap the function, which is evaluated before the arguments."""
        self.generic_visit(node)
        if is_own(node) or self.leaves(node):
            return node
        converted = at(node.func, self.context.call("convert_call", node.func))
        return at(node, gast.copy_location(gast.Call(converted, node.args, node.keywords), node))
