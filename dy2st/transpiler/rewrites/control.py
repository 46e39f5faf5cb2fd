"""`if`, `while` and `for` become functions and one call; others of their names stay closures.

def true_fn_0(x): y = x + 1; return y
def false_fn_0(y): return y
y = convert_ifelse(x > 0, true_fn_0, false_fn_0, (x,), (y,), (y,))
"""

from __future__ import annotations

import builtins
from collections.abc import Callable

import gast

from dy2st.transpiler.analysis.flow import Analysis, Flow, analyse
from dy2st.transpiler.analysis.liveness import Exits, Liveness, plain_targets
from dy2st.transpiler.analysis.scopes import NameTable, parameters
from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import (
    SCOPES,
    Block,
    Node,
    assign,
    at,
    blocks,
    constant,
    define,
    functions_in,
    load,
    negate,
    split_docstring,
    statements,
    store,
    tuple_of,
)

_EMPTY = gast.Module([], [])


def call_control(tree: Node, context: Context) -> None:
    """Rewrite the statements of every function, outer ones first."""
    for function in functions_in(tree):
        inside = NameTable().inside(function)
        names = analyse(function, function.local_names, inside.captured, context)
        _Form(function, names, context).rewrite(inside.nonlocals)


class _Form:
    """The rewrite of one function."""

    def __init__(self, function: Node, names: Analysis, context: Context):
        self._function, self._names, self._context = function, names, context
        self._made: dict[type, Callable[[Node, Flow], Block]] = {
            gast.If: self._if,
            gast.While: self._while,
            gast.For: self._for,
        }

    def rewrite(self, nonlocals: set[str]) -> None:
        """Rewrite the body; what may be unbound where it is passed on starts as undefined."""
        declared = _taken_out(self._function, (gast.Global, gast.Nonlocal))
        self._global = {n for one in declared for n in one.names} - nonlocals
        self._nonlocal = set(nonlocals)
        docstring, rest = split_docstring(self._function.body)
        shared = self._shared(rest) - parameters(self._function)
        _Checks(self._names, shared, self._context).in_block(rest)
        body = self._block(rest)
        unset = sorted(self._names.starts | shared)
        starts = [at(rest[0], self._undefined(name)) for name in unset]
        self._function.body = [*docstring, *declared, *starts, *body]

    def _shared(self, block: Block) -> set[str]:
        """The cells that generated functions will assign: Python must see whose they are."""
        found = [one for statement in block for one in statements(statement)]
        staged = [one for one in found if id(one) in self._names.flows and type(one) in self._made]
        names = self._names.table.of_all(staged)
        return (names.writes | names.deletes) & self._names.scope.cells

    def _block(self, block: Block) -> Block:
        return [made for statement in block for made in self._statement(statement)]

    def _statement(self, node: Node) -> Block:
        flow, made = self._names.flows.get(id(node)), self._made.get(type(node))
        if flow is not None and made is not None:
            return [at(node, one) for one in made(node, flow)]
        if not isinstance(node, SCOPES):
            for block in blocks(node):
                block[:] = self._block(block)
            _leave_where_stopped(node)
        return [node]

    def _if(self, node: Node, flow: Flow) -> Block:
        true, false = self._context.fresh("true_fn"), self._context.fresh("false_fn")
        sides = ((true, node.body), (false, node.orelse))
        taken = [self._arguments(block, flow) for _, block in sides]
        made = [
            self._function_of(name, names, block, flow)
            for (name, block), names in zip(sides, taken, strict=True)
        ]
        unset = [name for name in flow.state if name not in flow.given]
        values = [load(true), load(false), *map(tuple_of, taken), tuple_of(flow.state)]
        call = self._context.call("convert_ifelse", node.test, *values)
        return [*map(self._undefined, unset), *made, _bound(flow.state, call)]

    def _arguments(self, block: Block, flow: Flow) -> list[str]:
        """The variables that a branch reads or hands on."""
        table = self._names.table
        live = Liveness(table, _EMPTY).settled(block, frozenset(flow.state), Exits())
        used = table.of_all(block)
        known = (used.reads | used.writes | used.deletes).union(flow.state)
        return sorted(live & known & self._names.scope.local)

    def _function_of(self, name: str, taken: list[str], block: Block, flow: Flow) -> Node:
        value = load(flow.state[0]) if len(flow.state) == 1 else tuple_of(flow.state)
        body = [*self._declarations(block), *self._block(block)]
        body += [gast.Return(value)] if flow.state else []
        return define(name, taken, body or [gast.Pass()])

    def _while(self, node: Node, flow: Flow) -> Block:
        condition = self._context.fresh("while_condition")
        body = self._context.fresh("while_body")
        test = [*self._declarations([node.test]), gast.Return(node.test)]
        return [
            define(condition, flow.state, test),
            self._body_of(body, flow.state, node.body, []),
            self._loop("convert_while_loop", flow.state, load(condition), load(body)),
        ]

    def _body_of(self, name: str, state: list[str], block: Block, start: Block) -> Node:
        declared = self._declarations([*start, *block])
        body = [*declared, *start, *self._block(block), gast.Return(tuple_of(state))]
        return define(name, state, body)

    def _loop(self, helper: str, state: list[str], *values: Node) -> Node:
        listed = gast.List([load(name) for name in state], gast.Load())
        call = self._context.call(helper, *values, listed)
        targets = gast.List([store(name) for name in state], gast.Store())
        return gast.Assign([targets], call, None) if state else gast.Expr(call)

    def _for(self, node: Node, flow: Flow) -> Block:
        condition = self._context.fresh("for_loop_condition")
        body = self._context.fresh("for_loop_body")
        stop = getattr(node, "stop", None)
        if stop is None and self._is_range(node.iter):
            return self._over_range(node, flow, condition, body)
        is_plain = isinstance(node.target, gast.Name) and node.target.id in self._names.scope.local
        item, start = getattr(node.target, "id", ""), []
        if not is_plain or item in flow.state:
            item = self._context.fresh("item")
            start = [at(node.target, gast.Assign([node.target], load(item), None))]
        made = self._body_of(body, flow.state, node.body, start)
        made.args.args.insert(0, gast.Name(item, gast.Param(), None, None))
        asked = [define(condition, flow.state, [gast.Return(negate(load(stop)))])] if stop else []
        extra = load(condition) if stop else constant(None)
        call = self._loop("convert_for_loop", flow.state, node.iter, extra, load(body))
        return [*asked, made, call]

    def _is_range(self, node: Node) -> bool:
        """Whether this is a call of the builtin `range` with plain arguments."""
        return (
            isinstance(node, gast.Call)
            and getattr(node.func, "id", "") == "range"
            and 1 <= len(node.args) <= 3
            and not node.keywords
            and not any(isinstance(one, gast.Starred) for one in node.args)
            and not self._names.scope.kind("range")
            and "range" not in self._context.function.__code__.co_freevars
            and "range" not in self._context.function.__globals__
            and hasattr(builtins, "range")
        )

    def _over_range(self, node: Node, flow: Flow, condition: str, body: str) -> Block:
        """A loop over numbers counts its iterations; no user sees the counter."""
        numbers, turns, turn = map(self._context.flag, ("range", "turns", "turn"))
        state = [*flow.state, turn]
        pair = gast.Tuple([store(numbers), store(turns)], gast.Store())
        made = self._context.call("convert_range", node.iter.func, *node.iter.args)
        item = self._context.call("convert_turn", load(numbers), load(turn))
        test = gast.Compare(load(turn), [gast.Lt()], [load(turns)])
        taken = at(node.target, gast.Assign([node.target], item, None))
        start = [taken, gast.AugAssign(store(turn), gast.Add(), constant(1))]
        return [
            at(node.iter, gast.Assign([pair], made, None)),
            assign(turn, constant(0)),
            define(condition, state, [gast.Return(test)]),
            self._body_of(body, state, node.body, start),
            self._loop("convert_while_loop", state, load(condition), load(body)),
        ]

    def _declarations(self, block: Block) -> Block:
        """`nonlocal` and `global` for what a generated function assigns, to begin it with."""
        names = self._names.table.of_all(block)
        written = names.writes | names.deletes
        shared = self._names.scope.cells | self._nonlocal
        kinds = ((gast.Nonlocal, shared), (gast.Global, self._global))
        return [kind(found) for kind, known in kinds if (found := sorted(written & known))]

    def _undefined(self, name: str) -> Node:
        return assign(name, self._context.call("undefined", constant(name)))


class _Checks(gast.NodeTransformer):  # type: ignore[misc]
    """Reads of what may hold `undefined` are checked; `del` of it lets it be undefined."""

    def __init__(self, names: Analysis, shared: set[str], context: Context):
        self._unsure, self._context = names.unsure, context
        read = {node.id for node in names.unsure.values() if isinstance(node, gast.Name)}
        self._names = names.starts | shared | (read & names.scope.local)
        self._cells = shared
        self._is_inside = False

    def in_block(self, block: Block) -> None:
        """Rewrite the statements of a function."""
        block[:] = [made for statement in block for made in self._statement(statement)]

    def _statement(self, node: Node) -> Block:
        if isinstance(node, SCOPES):
            return [self._inside(node)]
        for part in (node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            self._expressions(part)
        for block in blocks(node):
            self.in_block(block)
        changed = _changed_by(node) if id(node) in self._unsure else []
        checks = [
            gast.Expr(self._check(load(name), name)) for name in changed if name in self._names
        ]
        deleted = [node]
        if isinstance(node, gast.Delete):
            deleted = [self._deleted(target) for target in node.targets]
        return [*(at(node, one) for one in (*checks, *deleted[:-1])), at(node, deleted[-1])]

    def _inside(self, node: Node) -> Node:
        """A function or class of the user's reads the cells of the one around it."""
        before, self._is_inside = self._is_inside, True
        self.generic_visit(node)
        self._is_inside = before
        return node

    visit_Lambda = _inside

    def _expressions(self, node: Node) -> None:
        for field, value in gast.iter_fields(node):
            if isinstance(value, gast.expr):
                setattr(node, field, self.visit(value))
            elif isinstance(value, list) and value and not isinstance(value[0], _WITH_BLOCKS):
                value[:] = [self.visit(one) if isinstance(one, gast.AST) else one for one in value]

    def _deleted(self, target: Node) -> Node:
        if isinstance(target, gast.Name) and target.id in self._names:
            return assign(target.id, self._context.call("undefined", constant(target.id)))
        return gast.Delete([target])

    def visit_Name(self, node: Node) -> Node:
        """`name` becomes `defined(name, "name")`."""
        is_cell = self._is_inside and node.id in self._cells and isinstance(node.ctx, gast.Load)
        if is_cell or (id(node) in self._unsure and node.id in self._names):
            return at(node, self._check(node, node.id))
        return node

    def _check(self, node: Node, name: str) -> Node:
        return self._context.call("defined", node, constant(name))


_WITH_BLOCKS = (gast.stmt, gast.ExceptHandler, gast.match_case)


def _changed_by(node: Node) -> list[str]:
    targets = [node.target] if isinstance(node, gast.AugAssign) else node.targets
    return [name for target in targets for name in plain_targets(target)]


def _bound(names: list[str], call: Node) -> Node:
    """Bind the results of a call to names; a single one is not wrapped."""
    if not names:
        return gast.Expr(call)
    targets = [store(name) for name in names]
    target = targets[0] if len(targets) == 1 else gast.Tuple(targets, gast.Store())
    return gast.Assign([target], call, None)


def _taken_out(node: Node, kinds: tuple[type, ...]) -> Block:
    """The declarations of a function, which hold for all of it, out of its blocks."""
    found: Block = []
    for block in blocks(node):
        found += [one for one in block if isinstance(one, kinds)]
        kept = [one for one in block if not isinstance(one, kinds)]
        block[:] = kept or [at(one, gast.Pass()) for one in block[:1]]
        for inner in kept:
            found += [] if isinstance(inner, SCOPES) else _taken_out(inner, kinds)
    return found


def _leave_where_stopped(node: Node) -> None:
    """A loop left as Python whose `break` became a flag is left when the flag is up."""
    stop = getattr(node, "stop", None)
    if isinstance(node, gast.For) and stop is not None:
        node.body.append(at(node, gast.If(load(stop), [gast.Break()], [])))
