"""A generator function whose consumer takes each item at once: `yield v` becomes `push(v)`."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import SCOPES, Node, at, constant


def push_yields(tree: Node, context: Context) -> None:
    """Rewrite every `yield` of a function, not those of functions inside."""
    for statement in tree.body:
        if not isinstance(statement, SCOPES):
            _in_fields(statement, context)


def _in_fields(node: Node, context: Context) -> None:
    for name, value in gast.iter_fields(node):
        if isinstance(value, list):
            value[:] = [_pushed(one, context) for one in value]
        else:
            setattr(node, name, _pushed(value, context))


def _pushed(node: Any, context: Context) -> Any:
    if not isinstance(node, gast.AST) or isinstance(node, (*SCOPES, gast.Lambda)):
        return node
    _in_fields(node, context)
    if isinstance(node, gast.Yield):
        value = constant(None) if node.value is None else node.value
        return at(node, context.call("push", value))
    if isinstance(node, gast.YieldFrom):
        return at(node, context.call("push_all", node.value))
    return node
