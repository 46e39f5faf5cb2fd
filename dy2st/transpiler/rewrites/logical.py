"""`and`, `or`, `not`, chained comparisons and `in` become calls that look at their operands.

Later operands are lambdas, so that each is evaluated once and only if it is needed:

    convert_and(a, lambda: b)      convert_chain(a, "<", lambda: b, "<=", lambda: c)
"""

from __future__ import annotations

import gast

from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import Node, at, constant, is_bare_super, is_untouched, thunk, walk

SYMBOLS = {
    "Eq": "==",
    "NotEq": "!=",
    "Lt": "<",
    "LtE": "<=",
    "Gt": ">",
    "GtE": ">=",
    "Is": "is",
    "IsNot": "is not",
    "In": "in",
    "NotIn": "not in",
}
# A single comparison that no method of its operands can answer.
_CALLS = {
    "in": "convert_in",
    "not in": "convert_not_in",
    "is": "convert_is",
    "is not": "convert_is_not",
}


def transform(tree: Node, context: Context) -> None:
    """Rewrite the logical expressions of all functions, but not those in class bodies."""
    _Logical(context).visit(tree)


def is_surely_bool(node: Node) -> bool:
    """Whether an expression is True or False (or a literal), whatever its operands are."""
    if isinstance(node, gast.Constant):
        return True
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
        return is_surely_bool(node.operand)
    return isinstance(node, gast.BoolOp) and all(map(is_surely_bool, node.values))


def can_wait(node: Node) -> bool:
    """Whether an operand may move into a lambda: not if it binds, yields or needs the frame."""
    kinds = (gast.NamedExpr, gast.Yield, gast.YieldFrom, gast.Await)
    return not any(
        isinstance(inner, kinds) or getattr(inner, "is_async", False) or is_bare_super(inner)
        for inner in walk(node)
    )


class ExpressionRewriter(gast.NodeTransformer):  # type: ignore[misc]
    """Visits the expressions that run inside functions; class bodies keep only their methods."""

    def __init__(self, context: Context):
        """Share the context of the conversion."""
        self.context = context
        self._in_class = False

    def visit(self, node: Node) -> Node:
        """Visit a node unless it is left as it is."""
        return node if is_untouched(node) else super().visit(node)

    def visit_FunctionDef(self, node: Node) -> Node:
        """Decorators, defaults and annotations stay: they run when the function is made."""
        before, self._in_class = self._in_class, False
        node.body = [self.visit(statement) for statement in node.body]
        self._in_class = before
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: Node) -> Node:
        """The body of a lambda; one in a class body stays."""
        if not self._in_class:
            node.body = self.visit(node.body)
        return node

    def visit_ClassDef(self, node: Node) -> Node:
        """Only the methods of a class are rewritten."""
        before, self._in_class = self._in_class, True
        for statement in node.body:
            self.visit(statement)
        self._in_class = before
        return node

    def leaves(self, node: Node) -> bool:
        """Whether an expression stays as it is."""
        return self._in_class or bool(getattr(node, "stays", False))


class _Logical(ExpressionRewriter):
    def visit_BoolOp(self, node: Node) -> Node:
        """`a and b`: all but the last operand decide, so only they matter."""
        decided = all(map(is_surely_bool, node.values[:-1]))
        movable = all(map(can_wait, node.values[1:]))
        self.generic_visit(node)
        if decided or not movable or self.leaves(node):
            return node
        first, *others = node.values
        name = "convert_and" if isinstance(node.op, gast.And) else "convert_or"
        return at(node, self.context.call(name, first, *map(_lazily, others)))

    def visit_UnaryOp(self, node: Node) -> Node:
        """`not a`."""
        decided = is_surely_bool(node.operand)
        self.generic_visit(node)
        if not isinstance(node.op, gast.Not) or decided or self.leaves(node):
            return node
        return at(node, self.context.call("convert_not", node.operand))

    def visit_Compare(self, node: Node) -> Node:
        """`a < b < c` and `a in b`; a single comparison is the operand's own business."""
        movable = all(map(can_wait, node.comparators))
        self.generic_visit(node)
        if self.leaves(node) or is_surely_bool(node):
            return node
        symbols = [SYMBOLS[type(op).__name__] for op in node.ops]
        if len(symbols) == 1:
            name = _CALLS.get(symbols[0])
            if name is None:
                return node
            return at(node, self.context.call(name, node.left, node.comparators[0]))
        if not movable:
            return node
        parts: list[Node] = []
        for symbol, operand in zip(symbols, node.comparators, strict=True):
            parts += [constant(symbol), _lazily(operand)]
        return at(node, self.context.call("convert_chain", node.left, *parts))


def _lazily(node: Node) -> Node:
    return at(node, thunk(node))
