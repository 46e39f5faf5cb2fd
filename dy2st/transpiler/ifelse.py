"""`if` becomes a call that takes its branches as functions; one with a `yield` inside stays."""

from __future__ import annotations

import ast
from typing import Any

import gast

from dy2st.transpiler.analysis.flow import Flow
from dy2st.transpiler.bodies import body_or_pass, start_state
from dy2st.transpiler.lowering import Lowering
from dy2st.transpiler.nodes import Block, Node
from dy2st.transpiler.trees import (
    Place,
    arguments,
    assign,
    define,
    give,
    load,
    loads,
    store,
    texts,
)


def if_(low: Lowering, node: Node) -> list[ast.stmt]:
    """`y = convert_ifelse(pred, true_fn_0, false_fn_0, (x,), (y,), (y,), ("y",))`."""
    flow = low.names.flows.get(id(node))
    place = low.place(node)
    test = low.expression(node.test)
    if flow is None:
        body, orelse = body_or_pass(low, node.body, place), low.block(node.orelse)
        return [ast.If(test=low.call(place, "truth", test), body=body, orelse=orelse, **place)]
    true, false = low.fresh("true_fn"), low.fresh("false_fn")
    sides = ((true, node.body, flow.reads[0]), (false, node.orelse, flow.reads[1]))
    made = [_branch(low, place, *side, flow) for side in sides]
    taken = [loads(place, reads) for _, _, reads in sides]
    values = [load(place, true), load(place, false), *taken, loads(place, flow.state)]
    call = low.call(place, "convert_ifelse", test, *values, texts(place, flow.state))
    return [*start_state(low, place, flow), *made, _bound(place, flow.state, call)]


def _branch(
    low: Lowering, place: Place, name: str, block: Block, reads: list[str], flow: Flow
) -> ast.stmt:
    """`def true_fn_0(x): ...; return y`."""
    body = low.block(block)
    if flow.state:
        names = flow.state
        result = load(place, names[0]) if len(names) == 1 else loads(place, names)
        body.append(give(place, result))
    return define(place, name, arguments(place, reads), body or [ast.Pass(**place)])


def _bound(place: Place, names: list[str], call: ast.expr) -> ast.stmt:
    """Bind what a branch gives; the value of a single variable is not wrapped."""
    if not names:
        return ast.Expr(value=call, **place)
    targets = [store(place, name) for name in names]
    if len(names) == 1:
        return assign(place, targets[0], call)
    return assign(place, ast.Tuple(elts=targets, ctx=ast.Store(), **place), call)


STATEMENTS: dict[type, Any] = {gast.If: if_}
