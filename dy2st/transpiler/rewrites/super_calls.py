"""`super()` becomes `super(__class__, self)` where it may move into a generated function.

Python finds both in the frame of the method; in another function they are named.
"""

from __future__ import annotations

import sys

import gast

from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import (
    COMPREHENSIONS,
    CONTROL,
    SCOPES,
    Node,
    at,
    children,
    functions_in,
    is_bare_super,
    load,
)

_MOVED = (*CONTROL, gast.BoolOp, gast.IfExp, gast.Compare)
# Before 3.12 a comprehension is a function of its own, whose first argument `super()` would take.
_OTHERS = SCOPES if sys.version_info >= (3, 12) else (*SCOPES, *COMPREHENSIONS)
_LAZY = (gast.GeneratorExp,)


def transform(tree: Node, context: Context) -> None:
    """Name the arguments of each `super()` inside control flow."""
    if "super" in context.bound or "super" in context.function.__globals__:
        return
    in_class = "__class__" in context.function.__code__.co_freevars
    for function in functions_in(tree):
        first = [*function.args.posonlyargs, *function.args.args][:1]
        if first and (function.owner or in_class):
            for statement in function.body:
                _in(statement, first[0].id, False)


def _in(node: Node, first: str, moved: bool) -> None:
    if isinstance(node, (*_OTHERS, *_LAZY)):
        return
    if moved and is_bare_super(node):
        node.args = [at(node, load("__class__")), at(node, load(first))]
    for child in children(node):
        _in(child, first, moved or isinstance(node, _MOVED))
