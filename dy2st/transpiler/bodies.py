"""The bodies of statements as functions of the variables that they change."""

from __future__ import annotations

import ast

from dy2st.transpiler.analysis.flow import Flow
from dy2st.transpiler.lowering import Lowering
from dy2st.transpiler.nodes import Block
from dy2st.transpiler.trees import (
    Place,
    arguments,
    assign_name,
    define,
    give,
    load,
    loads,
    texts,
    thunk,
)


def body_of(
    low: Lowering, place: Place, stem: str, block: Block, flow: Flow
) -> tuple[ast.expr, list[ast.stmt]]:
    """A part of a `try` as an expression, and the statement that defines it."""
    result = loads(place, flow.state)
    if not block:
        return thunk(place, result, flow.state), []
    written = low.names.table.of_all(block)
    own = sorted(flow.own & (written.writes | written.deletes))
    name = low.fresh(stem)
    body = [*low.block(block), give(place, result)]
    made = define(place, name, arguments(place, flow.state, own), body)
    return load(place, name), [made]


def body_or_pass(low: Lowering, block: Block, place: Place) -> list[ast.stmt]:
    """The body of a statement that stays Python's own."""
    return low.block(block) or [ast.Pass(**place)]


def start_state(low: Lowering, place: Place, flow: Flow) -> list[ast.stmt]:
    """Let the variables that have no value before a statement be `undefined`."""
    unset = [name for name in flow.state if name not in flow.given]
    return [assign_name(place, name, low.undefined(place, name)) for name in unset]


def state_of(place: Place, flow: Flow) -> list[ast.expr]:
    """The values before, and the names."""
    return [loads(place, flow.state), texts(place, flow.state)]
