"""`if`, `while` and `for` become calls that take functions; those with a `yield` inside stay."""

from __future__ import annotations

import ast
from typing import Any

import gast

from dy2st.convert.form.lowering import Lowering
from dy2st.convert.form.plain import is_plain, plain_or
from dy2st.convert.form.targets import bind_target
from dy2st.convert.form.trees import (
    Place,
    arguments,
    assign_name,
    assign_names,
    constant,
    define,
    give,
    load,
    store,
    texts,
    thunk,
    tuple_of,
)
from dy2st.transpiler.analysis.flow import Flow
from dy2st.transpiler.nodes import Block, Node, walk


def if_(low: Lowering, node: Node) -> list[ast.stmt]:
    """`(a, b) = if_(test, true, false, (a, b), ("a", "b"))`."""
    flow = low.names.flows.get(id(node))
    place = low.place(node)
    test = low.expression(node.test)
    if flow is None:
        body, orelse = _body(low, node.body, place), low.block(node.orelse)
        return [ast.If(test=low.call(place, "truth", test), body=body, orelse=orelse, **place)]
    out: list[ast.stmt] = []
    if flow.own and any(isinstance(one, gast.NamedExpr) for one in walk(node.test)):
        kept = low.fresh("test")  # what it binds is what the branches start with
        out, test = [assign_name(place, kept, test)], load(place, kept)
    true, made = body_of(low, place, "true", node.body, flow)
    false, others = body_of(low, place, "false", node.orelse, flow)
    call = low.call(place, "if_", test, true, false, *state_of(low, place, flow))
    return [*out, *made, *others, assign_names(place, flow.state, call)]


def body_of(
    low: Lowering, place: Place, stem: str, block: Block, flow: Flow
) -> tuple[ast.expr, list[ast.stmt]]:
    """A branch as an expression, and the statement that defines it."""
    result = loads_of(place, flow.state)
    if not block:
        return thunk(place, result, flow.state), []
    written = low.names.table.of_all(block)
    own = sorted(flow.own & (written.writes | written.deletes))
    name = low.fresh(stem)
    body = [*low.block(block), give(place, result)]
    made = define(place, name, arguments(place, flow.state, own), body)
    return load(place, name), [made]


def loads_of(place: Place, names: list[str]) -> ast.expr:
    """A tuple of what variables hold."""
    return tuple_of(place, [load(place, name) for name in names])


def state_of(low: Lowering, place: Place, flow: Flow) -> list[ast.expr]:
    """The values before, and the names."""
    values = [
        load(place, name) if name in flow.given else low.unbound(place) for name in flow.state
    ]
    return [tuple_of(place, values), texts(place, flow.state)]


def while_(low: Lowering, node: Node) -> list[ast.stmt]:
    """`(a, b) = while_(test, body, (a, b), ("a", "b"))`."""
    flow = low.names.flows.get(id(node))
    place = low.place(node)
    if flow is None:
        return [_python_while(low, place, node)]
    test, made = _test(low, place, node.test, flow)
    name = low.fresh("body")
    body = [*low.block(node.body), give(place, loads_of(place, flow.state))]
    own = sorted(flow.own)
    made.append(define(place, name, arguments(place, flow.state, own), body))
    call = low.call(place, "while_", test, load(place, name), *state_of(low, place, flow))
    return plain_or(low, place, node, flow, [*made, assign_names(place, flow.state, call)])


def _test(low: Lowering, place: Place, node: Node, flow: Flow) -> tuple[ast.expr, list[ast.stmt]]:
    """The test of a loop as an expression, and the statement that defines it."""
    before, low.out = low.out, []
    value = low.expression(node)
    needed, low.out = low.out, before
    where = low.place(node)
    if not needed:
        return thunk(where, value, flow.state), []
    name = low.fresh("test")
    parameters = arguments(where, flow.state)
    return load(where, name), [define(where, name, parameters, [*needed, give(where, value)])]


def _python_while(low: Lowering, place: Place, node: Node) -> ast.stmt:
    test = low.call(place, "truth", low.expression(node.test))
    body, orelse = _body(low, node.body, place), low.block(node.orelse)
    return ast.While(test=test, body=body, orelse=orelse, **place)


def for_(low: Lowering, node: Node) -> list[ast.stmt]:
    """`(t, a) = for_(iterable, extra test or None, body, (t, a), ("t", "a"))`."""
    flow = low.names.flows.get(id(node))
    place = low.place(node)
    iterable = low.expression(node.iter)
    if flow is None:
        return [_python_for(low, place, node, iterable)]
    start: list[ast.stmt] = []
    if is_plain(node):
        kept = low.fresh("it")
        start, iterable = [assign_name(place, kept, iterable)], load(place, kept)
    stop = getattr(node, "stop", None)
    extra = constant(place, None)
    if stop:
        broken = low.call(place, "not_", load(place, stop))
        extra = thunk(place, broken, flow.state)
    name, item, bound = low.fresh("body"), *_item(low, place, node.target, flow)
    body = [*bound, *low.block(node.body), give(place, loads_of(place, flow.state))]
    own = sorted(flow.own - {item})
    made = define(place, name, arguments(place, [item, *flow.state], own), body)
    values = [iterable, extra, load(place, name), *state_of(low, place, flow)]
    staged = [made, assign_names(place, flow.state, low.call(place, "for_", *values))]
    return [*start, *plain_or(low, place, node, flow, staged, iterable)]


def _item(low: Lowering, place: Place, target: Node, flow: Flow) -> tuple[str, list[ast.stmt]]:
    """The parameter for the item, and what binds the target to it."""
    is_plain = isinstance(target, gast.Name) and low.is_local(target.id)
    if is_plain and target.id not in flow.state:
        return target.id, []
    item = low.fresh("item")
    return item, low.apart(lambda: bind_target(low, target, load(low.place(target), item)))


def _python_for(low: Lowering, place: Place, node: Node, iterable: ast.expr) -> ast.stmt:
    taken = low.call(place, "iterate", iterable)
    start: list[ast.stmt] = []
    if isinstance(node.target, gast.Name) and low.is_local(node.target.id):
        target = store(place, node.target.id)
    else:
        item = low.fresh("item")
        target = store(place, item)
        start = bind_target(low, node.target, load(place, item))
    body = [*start, *_body(low, node.body, place)]
    if getattr(node, "stop", None):
        test = low.call(place, "truth", load(place, node.stop))
        body.append(ast.If(test=test, body=[ast.Break(**place)], orelse=[], **place))
    orelse = low.block(node.orelse)
    return ast.For(target=target, iter=taken, body=body, orelse=orelse, **place)


def _body(low: Lowering, block: Block, place: Place) -> list[ast.stmt]:
    return low.block(block) or [ast.Pass(**place)]


STATEMENTS: dict[type, Any] = {gast.If: if_, gast.While: while_, gast.For: for_}
