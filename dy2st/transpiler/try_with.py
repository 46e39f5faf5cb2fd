"""`try` and `with` become calls that take functions; those with a `yield` inside stay Python's."""

from __future__ import annotations

import ast
from typing import Any

import gast

from dy2st.transpiler import statements
from dy2st.transpiler.analysis import Flow
from dy2st.transpiler.control_flow import body_of, start_state, state_of
from dy2st.transpiler.lowering import Lowering
from dy2st.transpiler.nodes import Block, Node, is_own
from dy2st.transpiler.statements import bind_target
from dy2st.transpiler.trees import (
    arguments,
    assign_names,
    constant,
    define,
    give,
    load,
    loads,
    thunk,
    tuple_of,
)


def try_(low: Lowering, node: Node) -> list[ast.stmt]:
    """`(a, b) = convert_try(body, ((classes, handler), ...), else, finally, (a, b), names)`."""
    flow = low.names.flows.get(id(node))
    if flow is None:
        return statements.tried(low, node)
    place = low.place(node)
    out = start_state(low, place, flow)
    body, made = body_of(low, place, "try_body", node.body, flow)
    out += made
    rows = []
    for handler in node.handlers:
        own_place = low.place(handler)
        if handler.type is None:
            kind = low.builtin(own_place, "BaseException")
        else:
            kind = low.expression(handler.type)
        error, name = low.fresh("error"), low.fresh("except_body")
        start: list[ast.stmt] = []
        end: list[ast.stmt] = []
        if handler.name is not None:
            start = [low.write(own_place, handler.name.id, load(own_place, error))]
            end = statements.delete_name(low, own_place, handler.name.id)
        given = give(own_place, loads(own_place, flow.state))
        lines = [*start, *low.block(handler.body), *end, given]
        own = _own(low, [handler], flow)
        definition = define(place, name, arguments(place, [error, *flow.state], own), lines)
        # None stands for the classes of one of our own, which takes all and raises it again. Both
        # stand where the `try` does: the line of an `except` is run when there is an exception.
        classes = constant(place, None) if is_own(handler) else thunk(place, kind)
        rows.append(tuple_of(place, [classes, load(place, name)]))
        out.append(definition)
    orelse, made = body_of(low, place, "try_else", node.orelse, flow)
    out += made
    final = constant(place, None)
    if node.finalbody:
        final, made = body_of(low, place, "finally_body", node.finalbody, flow)
        out += made
    values = [body, tuple_of(place, rows), orelse, final, *state_of(low, place, flow)]
    return [*out, assign_names(place, flow.state, low.call(place, "convert_try", *values))]


def _own(low: Lowering, block: Block, flow: Flow) -> list[str]:
    written = low.names.table.of_all(block)
    return sorted(flow.own & (written.writes | written.deletes))


def with_(low: Lowering, node: Node) -> list[ast.stmt]:
    """`(a, b) = convert_with(m, body, (a, b), ("a", "b"))`: several managers are nested."""
    flow = low.names.flows.get(id(node))
    return statements.with_(low, node) if flow is None else _with(low, node, flow, 0)


def _with(low: Lowering, node: Node, flow: Flow, k: int) -> list[ast.stmt]:
    if k == len(node.items):
        return low.block(node.body)
    item = node.items[k]
    place = low.place(item.context_expr)
    managed = low.expression(item.context_expr)
    entered, name = low.fresh("entered"), low.fresh("with_body")

    def inner() -> list[ast.stmt]:
        bound: list[ast.stmt] = []
        if item.optional_vars is not None:
            bound = bind_target(low, item.optional_vars, load(place, entered))
        return [*bound, *low.apart(lambda: _with(low, node, flow, k + 1))]

    body = [*low.apart(inner), give(place, loads(place, flow.state))]
    parts = [one.optional_vars for one in node.items[k:] if one.optional_vars is not None]
    own = _own(low, [*parts, *node.body], flow)
    made = define(place, name, arguments(place, [entered, *flow.state], own), body)
    start = [] if k else start_state(low, place, flow)
    state = state_of(low, place, flow)
    call = low.call(place, "convert_with", managed, load(place, name), *state)
    return [*start, made, assign_names(place, flow.state, call)]


STATEMENTS: dict[type, Any] = {gast.Try: try_, gast.With: with_}
