"""`if`, `while`, `for`, `try` and `with` become calls that take functions of what they change.

Those with a `yield` inside stay Python's, and so do loops that compute with numbers alone where all
begins with such.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import gast

from dy2st.transpiler.analysis import Flow
from dy2st.transpiler.lowering import (
    LOAD,
    STORE,
    Lowering,
    arguments,
    assign,
    assign_names,
    constant,
    define,
    load,
    loads,
    store,
    thunk,
    tuple_of,
)
from dy2st.transpiler.nodes import LOOPS, SCOPES, Block, Node, at, statements_inside, walk
from dy2st.transpiler.statements import bind_target, delete_name


def part(
    name: str, flow: Flow, body: list[ast.stmt], first: Sequence[str] = (), own: Sequence[str] = ()
) -> ast.stmt:
    """`def name(first, a, b): body; return (a, b)`, of the state."""
    body = [*body, ast.Return(loads(flow.state))]
    return define(name, arguments([*first, *flow.state], own), body)


def start_state(low: Lowering, flow: Flow) -> list[ast.stmt]:
    """Let the variables that have no value before a statement be `undefined`."""
    unset = [name for name in flow.state if name not in flow.given]
    return [assign(name, low.undefined(name)) for name in unset]


def own_in(low: Lowering, block: Block, flow: Flow) -> list[str]:
    """The variables that nobody reads behind the statement, of those that a part changes."""
    written = low.names.table.of_all(block)
    return sorted(flow.own & (written.writes | written.deletes))


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


def plain_loop(low: Lowering, loop: Node, flow: Flow) -> tuple[list[ast.stmt], list[ast.expr]]:
    """A loop as it is written: the function of it, and what the call of the staged one gets of it.

    `def plain_loop_0(n, a): while ...; return (a,)`, and `(plain_loop_0, (n, a))`. A `for` takes
    what it runs over first. Without such a loop there is nothing.
    """
    if not hasattr(loop, "plain"):
        return [], []
    only_read, names = loop.names_of_plain
    known = low.names.table.of(loop)  # without what stands behind a jump
    known_names = known.reads | known.writes
    if not all(low.is_local(name) and name in known_names for name in names - {"range"}):
        return [], []
    written, name = loop.plain, low.fresh("plain_loop")
    read = sorted(names & {*only_read, *flow.given, *flow.own})
    unset = [one for one in flow.state if one in names and one not in flow.given]
    parameters = list(read)
    if isinstance(written, ast.For):
        parameters.insert(0, low.fresh("iterable"))
        written.iter = at(loop, load(parameters[0]))
    body = [written, ast.Return(loads(flow.state))]
    made: Any = define(name, arguments(parameters, unset), body)
    made.is_plain = True
    return [made], [tuple_of([load(name), tuple_of([low.read(one) for one in read])])]


def if_(low: Lowering, node: Node) -> list[ast.stmt]:
    """`y = convert_ifelse(pred, true_fn_0, false_fn_0, (x,), (y,), (y,), ("y",))`."""
    flow = getattr(node, "flow", None)
    test = low.expression(node.test)
    if flow is None:
        body, orelse = low.block(node.body) or [ast.Pass()], low.block(node.orelse)
        return [ast.If(low.call("truth", test), body, orelse)]
    state, names = flow.state, (low.fresh("true_fn"), low.fresh("false_fn"))
    made: list[ast.stmt] = []
    if not (state or node.orelse or any(flow.reads)):
        body = low.block(node.body)
        call = low.call("convert_ifelse", test, load(names[0]), thunk(constant(None)))
        return [define(names[0], arguments(()), body), ast.Expr(call)]
    for name, block, reads in zip(names, (node.body, node.orelse), flow.reads):
        body = low.block(block)
        if state:  # the value of a single variable is not wrapped
            body.append(ast.Return(loads(state) if state[1:] else load(state[0])))
        made.append(define(name, arguments(reads), body or [ast.Pass()]))
    values = [*map(load, names), *map(loads, flow.reads), loads(state)]
    call = low.call("convert_ifelse", test, *values, low.shown(state))
    is_single = len(state) == 1
    bound = assign(state[0], call) if is_single else assign_names(state, call)
    return [*start_state(low, flow), *made, bound]


def while_(low: Lowering, node: Node) -> list[ast.stmt]:
    """`[a, b] = convert_while_loop(while_condition_0, while_body_0, [a, b], ("a", "b"))`."""
    flow = getattr(node, "flow", None)
    if flow is None:
        test = low.call("truth", low.expression(node.test))
        body, orelse = low.block(node.body) or [ast.Pass()], low.block(node.orelse)
        return [ast.While(test, body, orelse)]
    start = start_state(low, flow)
    condition, name = low.fresh("while_condition"), low.fresh("while_body")
    tested = low.apart(lambda: [ast.Return(low.expression(node.test))])
    made = [at(node.test, define(condition, arguments(flow.state), tested))]
    made.append(part(name, flow, low.block(node.body)))
    values = [load(condition), load(name)]
    return [*start, *made, *_called(low, "convert_while_loop", values, node, flow)]


def for_(low: Lowering, node: Node) -> list[ast.stmt]:
    """`[a, b] = convert_for_loop(iterable, condition or None, for_loop_body_0, [a, b], ...)`."""
    flow = getattr(node, "flow", None)
    iterable, target, stop = low.expression(node.iter), node.target, getattr(node, "stop", None)
    start = start_state(low, flow) if flow else []
    values = [iterable, constant(None)]
    if flow and stop:
        name = low.fresh("for_loop_condition")
        goes_on = ast.Return(low.call("not_", load(stop)))
        start.append(define(name, arguments(flow.state), [goes_on]))
        values[1] = load(name)
    name = low.fresh("for_loop_body") if flow else ""
    bound: list[ast.stmt] = []
    item = target.id if isinstance(target, gast.Name) and low.is_local(target.id) else ""
    if not item or (flow and item in flow.state):
        item = low.fresh("item")
        bound = low.apart(lambda: bind_target(low, target, load(item)))
    if flow is None:
        # A loop over what Python itself goes through.
        taken = low.call("iterate", iterable)
        body = [*bound, *low.block(node.body)] or [ast.Pass()]
        if stop:
            body.append(ast.If(low.call("truth", load(stop)), [ast.Break()], []))
        return [ast.For(store(item), taken, body, low.block(node.orelse))]
    made = part(name, flow, [*bound, *low.block(node.body)], [item])
    values.append(load(name))
    return [*start, made, *_called(low, "convert_for_loop", values, node, flow)]


def _called(
    low: Lowering, helper: str, values: list[ast.expr], loop: Node, flow: Flow
) -> list[ast.stmt]:
    """`[a, b] = helper(..., [a, b], ("a", "b"))`."""
    made, plain = plain_loop(low, loop, flow)
    if flow.state or plain:
        values += [ast.List([*map(load, flow.state)], LOAD), low.shown(flow.state), *plain]
    call = low.call(helper, *values)
    if not flow.state:
        return [*made, ast.Expr(call)]
    return [*made, ast.Assign([ast.List([*map(store, flow.state)], STORE)], call)]


def try_(low: Lowering, node: Node) -> list[ast.stmt]:
    """`(a, b) = convert_try(body, ((classes, handler), ...), else, finally, (a, b), names)`."""
    flow = getattr(node, "flow", None)
    if flow is None:
        return _python_try(low, node)
    state, out = flow.state, start_state(low, flow)

    def part_of(stem: str, block: Block) -> ast.expr:
        if not block:
            return thunk(loads(state), state)
        name = low.fresh(stem)
        out.append(part(name, flow, low.block(block), own=own_in(low, block, flow)))
        return load(name)

    values, rows = [part_of("try_body", node.body)], []
    for handler in node.handlers:
        kind, error, name = _caught(low, handler), low.fresh("error"), low.fresh("except_body")
        lines = low.block(handler.body)
        if handler.name is not None:
            bound = low.write(handler.name.id, load(error))
            lines = [bound, *lines, *delete_name(low, handler.name.id)]
        made: Any = part(name, flow, lines, [error], own_in(low, [handler], flow))
        made.body = [at(handler, one) for one in made.body]
        out.append(made)
        # Where the `try` stands: the line of an `except` is run when there is an exception.
        rows.append(tuple_of([thunk(kind), load(name)]))
    values += [tuple_of(rows), part_of("try_else", node.orelse)]
    values.append(part_of("finally_body", node.finalbody) if node.finalbody else constant(None))
    call = low.call("convert_try", *values, loads(state), low.shown(state))
    return [*out, assign_names(state, call)]


def _caught(low: Lowering, handler: Node) -> ast.expr:
    if handler.type is None:
        return at(handler, low.builtin("BaseException"))
    return low.expression(handler.type)


def with_(low: Lowering, node: Node) -> list[ast.stmt]:
    """`(a, b) = convert_with(m, body, (a, b), ("a", "b"))`, of one manager."""
    flow, item = getattr(node, "flow", None), node.items[0]
    target, managed = item.optional_vars, low.expression(item.context_expr)
    is_name = isinstance(target, gast.Name) and low.is_local(target.id)
    is_bound = target is None or (is_name and flow is None)  # by Python itself
    entered = target.id if is_bound and is_name else low.fresh("entered")

    def inside() -> list[ast.stmt]:
        bound = [] if is_bound else bind_target(low, target, load(entered))
        return [*bound, *low.block(node.body)]

    if flow is None:
        taken = low.call("manager", managed)
        body = low.apart(inside)
        forgotten = _forgotten(low, node.body)
        if forgotten:
            anything = low.builtin("BaseException")
            handler = ast.ExceptHandler(anything, None, [*forgotten, ast.Raise()])
            body = [ast.Try(body, [handler], [], [])]
        made: ast.stmt = ast.With([ast.withitem(taken, target and store(entered))], body)
        return [at(item.context_expr, made)]
    name, state = low.fresh("with_body"), flow.state
    own = own_in(low, [*([] if target is None else [target]), *node.body], flow)
    made = part(name, flow, low.apart(inside), [entered], own)
    call = low.call("convert_with", managed, load(name), loads(state), low.shown(state))
    out = [*start_state(low, flow), made, assign_names(state, call)]
    return [at(item.context_expr, one) for one in out]


def _forgotten(low: Lowering, block: Block) -> list[ast.stmt]:
    """What lowers the flags of the jumps in a block: Python forgets them with an exception."""
    written = low.names.table.of_all(block).writes
    jumps = low.context.jumps
    return [assign(name, constant(jumps[name])) for name in sorted(written.intersection(jumps))]


def _python_try(low: Lowering, node: Node) -> list[ast.stmt]:
    """`try: ... except E as e: ... else: ... finally: ...`, its body inside `handling`."""
    types: list[ast.expr] = []
    body, final = low.block(node.body), bool(node.finalbody)
    for handler in node.handlers:
        if isinstance(handler.type, gast.Tuple):
            types += low.expressions(handler.type.elts)
        else:
            types.append(_caught(low, handler))
    handling = low.call("handling", thunk(tuple_of(types)), constant(final))
    handlers = []
    for handler in node.handlers:
        made = _handler(low, handler)
        made.body[:0] = _forgotten(low, node.body)
        handlers.append(at(handler, made))
    orelse = low.block(node.orelse)
    kind: Any = ast.Try if isinstance(node, gast.Try) else getattr(ast, "TryStar", None)
    inside: ast.stmt = ast.With([ast.withitem(handling)], body)
    return [kind([inside], handlers, orelse, low.block(node.finalbody))]


def _handler(low: Lowering, node: Node) -> ast.ExceptHandler:
    kind = None if node.type is None else low.expression(node.type)
    name: str | None = None if node.name is None else node.name.id
    # Behind the handler Python deletes the name: a variable that starts as `unbound` must be so
    # again.
    if name is None or (low.is_local(name) and name not in low.names.starts):
        return ast.ExceptHandler(kind, name, low.block(node.body))
    caught = low.fresh("error")
    start, body = low.write(name, load(caught)), low.block(node.body)
    forgotten = [low.write(name, constant(None)), *delete_name(low, name)]
    return ast.ExceptHandler(kind, caught, [start, ast.Try(body, [], [], forgotten)])


STATEMENTS: dict[type, Any] = {
    gast.For: for_,
    gast.If: if_,
    gast.Try: try_,
    gast.While: while_,
    gast.With: with_,
}
if hasattr(gast, "TryStar"):  # since Python 3.11
    STATEMENTS[gast.TryStar] = _python_try
