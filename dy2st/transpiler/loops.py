"""`while` and `for` become calls that take their bodies; those with a `yield` inside stay."""

from __future__ import annotations

import ast
from typing import Any

import gast

from dy2st.transpiler.analysis.flow import Flow
from dy2st.transpiler.bodies import body_or_pass, start_state
from dy2st.transpiler.lowering import Lowering
from dy2st.transpiler.nodes import Node
from dy2st.transpiler.plain_loops import plain_loop
from dy2st.transpiler.targets import bind_target
from dy2st.transpiler.trees import (
    LOAD,
    STORE,
    Place,
    arguments,
    assign,
    constant,
    define,
    give,
    load,
    loads,
    store,
    texts,
)


def while_(low: Lowering, node: Node) -> list[ast.stmt]:
    """`[a, b] = convert_while_loop(while_condition_0, while_body_0, [a, b], ("a", "b"))`."""
    flow = low.names.flows.get(id(node))
    place = low.place(node)
    if flow is None:
        test = low.call(place, "truth", low.expression(node.test))
        body, orelse = body_or_pass(low, node.body, place), low.block(node.orelse)
        return [ast.While(test=test, body=body, orelse=orelse, **place)]
    start = start_state(low, place, flow)
    condition, name = low.fresh("while_condition"), low.fresh("while_body")
    tested = low.apart(lambda: [give(low.place(node.test), low.expression(node.test))])
    made = [define(low.place(node.test), condition, arguments(place, flow.state), tested)]
    body = [*low.block(node.body), give(place, loads(place, flow.state))]
    made.append(define(place, name, arguments(place, flow.state), body))
    plain = plain_loop(low, place, node, flow)
    values = [load(place, condition), load(place, name)]
    call = _call(low, place, "convert_while_loop", values, flow, plain.given)
    return [*start, *made, *plain.made, call]


def for_(low: Lowering, node: Node) -> list[ast.stmt]:
    """`[a, b] = convert_for_loop(iterable, condition or None, for_loop_body_0, [a, b], ...)`."""
    flow = low.names.flows.get(id(node))
    place = low.place(node)
    iterable = low.expression(node.iter)
    if flow is None:
        return [_python_for(low, place, node, iterable)]
    start = start_state(low, place, flow)
    made: list[ast.stmt] = []
    stop = getattr(node, "stop", None)
    condition = constant(place, None)
    if stop:
        name = low.fresh("for_loop_condition")
        goes_on = low.call(place, "not_", load(place, stop))
        made.append(define(place, name, arguments(place, flow.state), [give(place, goes_on)]))
        condition = load(place, name)
    name, target = low.fresh("for_loop_body"), node.target
    bound: list[ast.stmt] = []
    if isinstance(target, gast.Name) and low.is_local(target.id) and target.id not in flow.state:
        item = target.id
    else:
        item = low.fresh("item")
        bound = low.apart(lambda: bind_target(low, target, load(low.place(target), item)))
    body = [*bound, *low.block(node.body), give(place, loads(place, flow.state))]
    made.append(define(place, name, arguments(place, [item, *flow.state]), body))
    plain = plain_loop(low, place, node, flow)
    values = [iterable, condition, load(place, name)]
    call = _call(low, place, "convert_for_loop", values, flow, plain.given)
    return [*start, *made, *plain.made, call]


def _call(
    low: Lowering,
    place: Place,
    helper: str,
    values: list[ast.expr],
    flow: Flow,
    plain: list[ast.expr],
) -> ast.stmt:
    """`[a, b] = helper(..., [a, b], ("a", "b"))`."""
    listed = ast.List(elts=[load(place, name) for name in flow.state], ctx=LOAD, **place)
    call = low.call(place, helper, *values, listed, texts(place, flow.state), *plain)
    if not flow.state:
        return ast.Expr(value=call, **place)
    targets = [store(place, name) for name in flow.state]
    return assign(place, ast.List(elts=targets, ctx=STORE, **place), call)


def _python_for(low: Lowering, place: Place, node: Node, iterable: ast.expr) -> ast.stmt:
    taken = low.call(place, "iterate", iterable)
    start: list[ast.stmt] = []
    if isinstance(node.target, gast.Name) and low.is_local(node.target.id):
        target = store(place, node.target.id)
    else:
        item = low.fresh("item")
        target = store(place, item)
        start = bind_target(low, node.target, load(place, item))
    body = [*start, *body_or_pass(low, node.body, place)]
    if getattr(node, "stop", None):
        test = low.call(place, "truth", load(place, node.stop))
        body.append(ast.If(test=test, body=[ast.Break(**place)], orelse=[], **place))
    orelse = low.block(node.orelse)
    return ast.For(target=target, iter=taken, body=body, orelse=orelse, **place)


STATEMENTS: dict[type, Any] = {gast.While: while_, gast.For: for_}
