"""`and`, `or`, `not`, `a if t else b` and `assert` become calls; what may not run is a lambda."""

from __future__ import annotations

import gast

from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import Node, at, is_bare_super, is_untouched, thunk, walk

_STAYING = (gast.NamedExpr, gast.Yield, gast.YieldFrom, gast.Await)


def call_operators(tree: Node, context: Context) -> None:
    """Rewrite the expressions of all functions, but not those in class bodies."""
    _Operators(context).visit(tree)


def is_surely_bool(node: Node) -> bool:
    """Whether an expression is True or False (or a literal), whatever its operands are."""
    if isinstance(node, gast.Constant):
        return True
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
        return is_surely_bool(node.operand)
    return isinstance(node, gast.BoolOp) and all(map(is_surely_bool, node.values))


def can_wait(node: Node) -> bool:
    """Whether an operand may move into a lambda: not if it binds, yields or needs the frame."""
    return not any(
        isinstance(inner, _STAYING) or getattr(inner, "is_async", False) or is_bare_super(inner)
        for inner in walk(node)
    )


class ExpressionRewriter(gast.NodeTransformer):  # type: ignore[misc]
    """Visits the expressions that run inside functions; class bodies keep only their methods."""

    def __init__(self, context: Context):
        """Share the context of the conversion."""
        self.context = context
        self.in_class = False

    def visit(self, node: Node) -> Node:
        """Visit a node unless it is left as it is."""
        return node if is_untouched(node) else super().visit(node)

    def visit_FunctionDef(self, node: Node) -> Node:
        """Decorators, defaults and annotations stay: they run when the function is made."""
        before, self.in_class = self.in_class, False
        node.body = [self.visit(statement) for statement in node.body]
        self.in_class = before
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: Node) -> Node:
        """The body of a lambda; one in a class body stays."""
        if not self.in_class:
            node.body = self.visit(node.body)
        return node

    def visit_ClassDef(self, node: Node) -> Node:
        """Only the methods of a class are rewritten."""
        before, self.in_class = self.in_class, True
        for statement in node.body:
            self.visit(statement)
        self.in_class = before
        return node


class _Operators(ExpressionRewriter):
    def _call(self, node: Node, name: str, first: Node, others: list[Node]) -> Node:
        """The call, if the operands after the first may wait."""
        waits = all(map(can_wait, others))
        decided = is_surely_bool(first)
        self.generic_visit(node)
        if self.in_class or decided or not waits:
            return node
        own = [getattr(node, field) for field in node._fields if field in _FIELDS]
        values = own[0] if isinstance(own[0], list) else [one for one in own if one is not None]
        lazy = [at(one, thunk(one)) for one in values[1:]]
        return at(node, self.context.call(name, values[0], *lazy))

    def visit_BoolOp(self, node: Node) -> Node:
        """`a and b`, `a or b`."""
        name = "convert_and" if isinstance(node.op, gast.And) else "convert_or"
        return self._call(node, name, node.values[0], node.values[1:])

    def visit_UnaryOp(self, node: Node) -> Node:
        """`not a`."""
        if isinstance(node.op, gast.Not):
            return self._call(node, "convert_not", node.operand, [])
        self.generic_visit(node)
        return node

    def visit_IfExp(self, node: Node) -> Node:
        """`a if test else b`."""
        return self._call(node, "convert_ifexp", node.test, [node.body, node.orelse])

    def visit_Assert(self, node: Node) -> Node:
        """`assert test, message`; under `python -O` Python leaves it out."""
        others = [] if node.msg is None else [node.msg]
        made = self._call(node, "convert_assert", node.test, others) if __debug__ else node
        return made if made is node else at(node, gast.Expr(made))


# Where the operands of these expressions are, in the order of the call.
_FIELDS = frozenset({"values", "operand", "test", "body", "orelse", "msg"})
