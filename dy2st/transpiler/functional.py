"""The functional form of a function, as text: statements and calls become calls of `convert_...`.

The names are those of `dy2st.jit.dy2static`: with them the text runs, and does what the function
does, eagerly and in a trace.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from types import FunctionType

import gast

from dy2st.transpiler.analysis.obstacles import Left, obstacle
from dy2st.transpiler.analysis.scopes import NameTable, bound_in
from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import (
    CONTROL,
    Node,
    functions_in,
    kinds_in,
    statements,
    statements_inside,
)
from dy2st.transpiler.prepared import name_super, prepared
from dy2st.transpiler.printing import to_source
from dy2st.transpiler.refused import reason_against
from dy2st.transpiler.rewrites import break_continue, early_return
from dy2st.transpiler.rewrites.calls import name_calls
from dy2st.transpiler.rewrites.control import call_control
from dy2st.transpiler.rewrites.operators import call_operators

STEPS: tuple[tuple[str, Callable[[Node, Context], None]], ...] = (
    ("early_return", early_return.transform),
    ("break_continue", break_continue.transform),
    ("control", call_control),
    ("operators", call_operators),
    ("calls", name_calls),
)

_JUMPS = 2  # the steps after which no jump stands that could be rewritten


def functional_form(function: FunctionType, steps: int = len(STEPS)) -> str:
    """The text of a function after so many steps; SourceUnavailable without readable source."""
    return to_source(_to_be_read(_after(function, steps)))


def left_as_python(function: FunctionType) -> list[tuple[int, Left]]:
    """The lines of statements that have no functional form, with the reason."""
    return sorted(set(_left_in(_after(function, _JUMPS), 0, False)))


def _left_in(node: Node, depth: int, is_untouched: bool) -> Iterator[tuple[int, Left]]:
    is_untouched |= getattr(node, "untouched", False)
    if isinstance(node, CONTROL):
        left = Left("namespace") if is_untouched else obstacle(node, depth)
        depth += 1
        if left is not None:
            yield node.lineno, left
    for inner in statements_inside(node):
        yield from _left_in(inner, depth, is_untouched)


def _after(function: FunctionType, steps: int) -> Node:
    tree, context = prepared(function)
    name_super(tree, context)
    if tree.name == "<lambda>":
        tree.name = context.fresh("lambda")
    for inner in functions_in(tree):
        inner.local_names = bound_in(NameTable().inside(inner), inner)
        inner.untouched = reason_against(inner) == "namespace"
    for _, transform in STEPS[:steps]:
        context.kinds = kinds_in(tree)
        transform(tree, context)
    return tree


def _to_be_read(tree: Node) -> ast.AST:
    """The tree in Python's own nodes, without decorators, and without a `pass` beside others."""
    tree.decorator_list = []
    for node in statements(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and len(block) > 1:
                block[:] = [one for one in block if not isinstance(one, gast.Pass)] or block[:1]
    made: ast.AST = gast.gast_to_ast(tree)
    return made
