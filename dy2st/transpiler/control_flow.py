"""`if`, `while`, `for`, `try` and `with` become calls that take functions of what they change.

Those with a `yield` inside stay Python's, and so do loops that compute with numbers alone where all
begins with such.
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

import gast

from dy2st.transpiler.analysis import Flow
from dy2st.transpiler.lowering import (
    LOAD,
    STORE,
    Lowering,
    Place,
    arguments,
    assign,
    assign_name,
    assign_names,
    constant,
    define,
    give,
    load,
    loads,
    store,
    texts,
    thunk,
    tuple_of,
)
from dy2st.transpiler.nodes import LOOPS, SCOPES, Block, Node, is_own, statements_inside, walk
from dy2st.transpiler.statements import bind_target, delete_name


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


def state_of(low: Lowering, place: Place, flow: Flow) -> list[ast.expr]:
    """The values before, and the names."""
    return [loads(place, flow.state), texts(place, low.shown(flow.state))]


_ALLOWED = (
    *(gast.For, gast.While, gast.If, gast.Pass, gast.Break, gast.Continue),
    *(gast.Assign, gast.AugAssign, gast.Name, gast.Constant, gast.Tuple),
    *(gast.BinOp, gast.UnaryOp, gast.BoolOp, gast.Compare, gast.IfExp),
)


def keep_plain_loops(tree: Node) -> None:
    """Keep the outermost loops of this kind as they are written: `plain` of the loop."""
    todo = statements_inside(tree)
    for node in todo:
        is_plain = isinstance(node, LOOPS) and not node.orelse
        if is_plain and all(isinstance(n, _ALLOWED) or _is_range(n) for n in _inside(node)):
            node.plain = gast.gast_to_ast(node)
            names = [one for one in _inside(node) if isinstance(one, gast.Name)]
            found = frozenset(one.id for one in names)
            written = {one.id for one in names if isinstance(one.ctx, gast.Store)}
            node.names_of_plain = found - written, found  # those that are read alone, and all
        elif not isinstance(node, SCOPES):
            todo += statements_inside(node)


def _inside(loop: Node) -> list[Node]:
    """All of a loop but for what it runs over."""
    parts = [loop.test] if isinstance(loop, gast.While) else [loop.target]
    return [node for part in (*parts, *loop.body) for node in walk(part)]


def _is_range(node: Node) -> bool:
    is_call = isinstance(node, gast.Call) and isinstance(node.func, gast.Name)
    return is_call and node.func.id == "range" and not node.keywords


class PlainLoop(NamedTuple):
    """A loop as it is written: the function of it, and what a call of the staged one gets of it."""

    made: list[ast.stmt]
    given: list[ast.expr]


def plain_loop(low: Lowering, place: Place, loop: Node, flow: Flow) -> PlainLoop:
    """`def plain_loop_0(n, a): while ...; return (a,)`, and `(plain_loop_0, (n, a))`.

    A `for` takes what it runs over first. Without such a loop there is nothing.
    """
    if not hasattr(loop, "plain"):
        return PlainLoop([], [])
    written: Any = loop.plain
    only_read, names = loop.names_of_plain
    if not all(low.is_local(name) or name == "range" for name in names):
        return PlainLoop([], [])
    name = low.fresh("plain_loop")
    read = sorted(names & {*only_read, *flow.given, *flow.own})
    unset = [one for one in flow.state if one in names and one not in flow.given]
    parameters = list(read)
    if isinstance(written, ast.For):
        iterable = low.fresh("iterable")
        written.iter = load(place, iterable)
        parameters.insert(0, iterable)
    body = [written, give(place, loads(place, flow.state))]
    made = define(place, name, arguments(place, parameters, unset), body)
    asked = tuple_of(place, [low.read(place, one) for one in read])
    return PlainLoop([made], [tuple_of(place, [load(place, name), asked])])


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
    call = low.call(place, "convert_ifelse", test, *values, texts(place, low.shown(flow.state)))
    start = start_state(low, place, flow)
    targets = [store(place, name) for name in flow.state]
    if not targets:
        bound: ast.stmt = ast.Expr(value=call, **place)
    elif len(targets) == 1:
        bound = assign(place, targets[0], call)  # the value of a single variable is not wrapped
    else:
        bound = assign(place, ast.Tuple(elts=targets, ctx=ast.Store(), **place), call)
    return [*start, *made, bound]


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
        # A loop over what Python itself goes through.
        taken = low.call(place, "iterate", iterable)
        start: list[ast.stmt] = []
        if isinstance(node.target, gast.Name) and low.is_local(node.target.id):
            to = store(place, node.target.id)
        else:
            item = low.fresh("item")
            to = store(place, item)
            start = bind_target(low, node.target, load(place, item))
        body = [*start, *body_or_pass(low, node.body, place)]
        if getattr(node, "stop", None):
            test = low.call(place, "truth", load(place, node.stop))
            body.append(ast.If(test=test, body=[ast.Break(**place)], orelse=[], **place))
        orelse = low.block(node.orelse)
        return [ast.For(target=to, iter=taken, body=body, orelse=orelse, **place)]
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
    call = low.call(place, helper, *values, listed, texts(place, low.shown(flow.state)), *plain)
    if not flow.state:
        return ast.Expr(value=call, **place)
    targets = [store(place, name) for name in flow.state]
    return assign(place, ast.List(elts=targets, ctx=STORE, **place), call)


def try_(low: Lowering, node: Node) -> list[ast.stmt]:
    """`(a, b) = convert_try(body, ((classes, handler), ...), else, finally, (a, b), names)`."""
    flow = low.names.flows.get(id(node))
    if flow is None:
        return _python_try(low, node)
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
            end = delete_name(low, own_place, handler.name.id)
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
    return _python_with(low, node, 0) if flow is None else _with(low, node, flow, 0)


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


def _python_with(low: Lowering, node: Node, k: int) -> list[ast.stmt]:
    """`with m as v: ...` as Python's own: several managers are nested."""
    if k == len(node.items):
        return low.block(node.body)
    item = node.items[k]
    place = low.place(item.context_expr)
    taken = low.call(place, "manager", low.expression(item.context_expr))
    target, bound = None, []
    if isinstance(item.optional_vars, gast.Name) and low.is_local(item.optional_vars.id):
        target = store(place, item.optional_vars.id)
    elif item.optional_vars is not None:
        name = low.fresh("entered")
        target = store(place, name)
        bound = low.apart(lambda: bind_target(low, item.optional_vars, load(place, name)))
    body = [*bound, *low.apart(lambda: _python_with(low, node, k + 1))]
    entered = ast.withitem(context_expr=taken, optional_vars=target)
    return [ast.With(items=[entered], body=body, **place)]


def _python_try(low: Lowering, node: Node) -> list[ast.stmt]:
    """`try: ... except E as e: ... else: ... finally: ...`, its body inside `handling`."""
    place = low.place(node)
    body = low.block(node.body)
    if not node.handlers or not all(map(is_own, node.handlers)):
        types: list[ast.expr] = []
        for handler in node.handlers:
            if is_own(handler):
                continue
            if handler.type is None:
                types.append(low.builtin(place, "BaseException"))
            elif isinstance(handler.type, gast.Tuple):
                types += low.expressions(handler.type.elts)
            else:
                types.append(low.expression(handler.type))
        caught = thunk(place, tuple_of(place, types))
        last = constant(place, bool(node.finalbody) or any(map(is_own, node.handlers)))
        item = ast.withitem(
            context_expr=low.call(place, "handling", caught, last), optional_vars=None
        )
        body = [ast.With(items=[item], body=body, **place)]
    handlers: Any = [_handler(low, handler) for handler in node.handlers]
    orelse, final = low.block(node.orelse), low.block(node.finalbody)
    kind: Any = ast.Try if isinstance(node, gast.Try) else getattr(ast, "TryStar", None)
    return [kind(body=body, handlers=handlers, orelse=orelse, finalbody=final, **place)]


def _handler(low: Lowering, node: Node) -> ast.ExceptHandler:
    place = low.place(node)
    kind = None if node.type is None else low.expression(node.type)
    if node.name is None:
        return ast.ExceptHandler(type=kind, name=None, body=low.block(node.body), **place)
    name: str = node.name.id
    # Behind the handler Python deletes the name: a variable that starts as `unbound` must be so
    # again.
    if low.is_local(name) and name not in low.names.starts:
        return ast.ExceptHandler(type=kind, name=name, body=low.block(node.body), **place)
    caught = low.fresh("error")
    start = low.write(place, name, load(place, caught))
    body = low.block(node.body)
    forgotten = [low.write(place, name, constant(place, None)), *delete_name(low, place, name)]
    kept = ast.Try(body=body, handlers=[], orelse=[], finalbody=forgotten, **place)
    return ast.ExceptHandler(type=kind, name=caught, body=[start, kept], **place)


STATEMENTS: dict[type, Any] = {
    gast.For: for_,
    gast.If: if_,
    gast.Try: try_,
    gast.While: while_,
    gast.With: with_,
}
if hasattr(gast, "TryStar"):  # since Python 3.11
    STATEMENTS[gast.TryStar] = _python_try
