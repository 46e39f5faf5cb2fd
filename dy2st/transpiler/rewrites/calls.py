"""`f(x)` becomes `convert_call(f)(x)`: what is called is chosen when it runs.

`x.__class__` becomes `convert_class(x)`: a size or number of a Program is one of Python.
"""

from __future__ import annotations

import gast

from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import Node, at, is_own
from dy2st.transpiler.rewrites.logical import ExpressionRewriter


def transform(tree: Node, context: Context) -> None:
    """Rewrite every call of the user, and who asks for a class."""
    _Calls(context).visit(tree)


class _Calls(ExpressionRewriter):
    def visit_Call(self, node: Node) -> Node:
        """Wrap the function, which is evaluated before the arguments."""
        self.generic_visit(node)
        if is_own(node) or self.leaves(node):
            return node
        converted = at(node.func, self.context.call("convert_call", node.func))
        return at(node, gast.copy_location(gast.Call(converted, node.args, node.keywords), node))

    def visit_Attribute(self, node: Node) -> Node:
        """`x.__class__`, where it is read."""
        self.generic_visit(node)
        is_read = node.attr == "__class__" and isinstance(node.ctx, gast.Load)
        if not is_read or self.leaves(node):
            return node
        return at(node, self.context.call("convert_class", node.value))
