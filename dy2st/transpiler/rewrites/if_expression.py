"""`a if test else b` becomes `convert_ifexp(test, lambda: a, lambda: b)`."""

from __future__ import annotations

from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import Node, at, thunk
from dy2st.transpiler.rewrites.logical import ExpressionRewriter, can_wait, is_surely_bool


def transform(tree: Node, context: Context) -> None:
    """Rewrite every conditional expression whose test may be a tensor."""
    _IfExpression(context).visit(tree)


class _IfExpression(ExpressionRewriter):
    def visit_IfExp(self, node: Node) -> Node:
        """Both values become lambdas, of which one runs."""
        movable = can_wait(node.body) and can_wait(node.orelse)
        decided = is_surely_bool(node.test)
        self.generic_visit(node)
        if decided or not movable or self.leaves(node):
            return node
        body, orelse = at(node.body, thunk(node.body)), at(node.orelse, thunk(node.orelse))
        return at(node, self.context.call("convert_ifexp", node.test, body, orelse))
