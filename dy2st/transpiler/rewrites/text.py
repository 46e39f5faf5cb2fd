"""f-strings and `"..." % values`: tensors in them are formatted when the Program runs.

f"x is {x:.2f}" becomes convert_text("x is ", convert_format(x, "", ".2f"))
"""

from __future__ import annotations

import gast

from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import Node, at, constant
from dy2st.transpiler.rewrites.logical import ExpressionRewriter

_CONVERSIONS = {-1: "", 115: "s", 114: "r", 97: "a"}


def transform(tree: Node, context: Context) -> None:
    """Rewrite the texts of all functions, but not those in class bodies."""
    _Text(context).visit(tree)


class _Text(ExpressionRewriter):
    def visit_JoinedStr(self, node: Node) -> Node:
        """The parts, each formatted in its turn, and joined."""
        if self.leaves(node):
            return node
        parts = [self._part(part) for part in node.values]
        if all(isinstance(part, gast.Constant) for part in parts):
            return node
        return at(node, self.context.call("convert_text", *parts))

    def _part(self, part: Node) -> Node:
        if not isinstance(part, gast.FormattedValue):
            return part
        how = [constant(_CONVERSIONS[part.conversion])]
        if part.format_spec is not None:
            how.append(self.visit(part.format_spec))
        elif part.conversion == -1:
            how = []
        return at(part, self.context.call("convert_format", self.visit(part.value), *how))

    def visit_BinOp(self, node: Node) -> Node:
        """`"..." % values` of a literal text."""
        self.generic_visit(node)
        is_text = isinstance(node.left, gast.Constant) and isinstance(node.left.value, str)
        if not is_text or not isinstance(node.op, gast.Mod) or self.leaves(node):
            return node
        return at(node, self.context.call("convert_percent", node.left, node.right))
