"""`assert test, message` becomes `convert_assert(test, lambda: message)`.

Under `python -O` Python leaves assertions out, and so they stay for the compiler to drop.
"""

from __future__ import annotations

import gast

from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import Node, at, thunk
from dy2st.transpiler.rewrites.logical import ExpressionRewriter, can_wait


def transform(tree: Node, context: Context) -> None:
    """Rewrite every assertion whose message can wait."""
    if __debug__:
        _Assertion(context).visit(tree)


class _Assertion(ExpressionRewriter):
    def visit_Assert(self, node: Node) -> Node:
        """The message is evaluated only if the assertion fails."""
        if self.leaves(node) or not (node.msg is None or can_wait(node.msg)):
            return node
        message = [] if node.msg is None else [at(node.msg, thunk(node.msg))]
        call = self.context.call("convert_assert", node.test, *message)
        return at(node, gast.Expr(call))
