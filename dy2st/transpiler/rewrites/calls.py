"""`f(x)` becomes `convert_call(f)(x)`."""

from __future__ import annotations

import gast

from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import Node, at, is_own
from dy2st.transpiler.rewrites.operators import ExpressionRewriter


def name_calls(tree: Node, context: Context) -> None:
    """Wrap every function that the user calls, which is evaluated before the arguments."""
    _Calls(context).visit(tree)


class _Calls(ExpressionRewriter):
    def visit_Call(self, node: Node) -> Node:
        """Wrap the function."""
        self.generic_visit(node)
        if is_own(node) or self.in_class:
            return node
        converted = at(node.func, self.context.call("convert_call", node.func))
        return at(node, gast.copy_location(gast.Call(converted, node.args, node.keywords), node))
