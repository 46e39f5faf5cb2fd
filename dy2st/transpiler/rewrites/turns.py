"""A generator function as one that runs its consumer for each item, where a tensor decides.

    def f(x):                        def f(take_0, stops_0, taken_0, x):
        if x > 0:                        if x > 0:
            yield x                          taken_0 = convert_taken(take_0, taken_0, x)
                                             if convert_stops(stops_0, taken_0): return taken_0
                                         return taken_0

`taken_0` is what the consumer has made of the items so far: of a `for`, its variables. A function
inside gets this form beside its own: `g = convert_generator(g, turns_0)`. A generator expression
that somebody keeps becomes such a function first: `kept = lazily_0(xs)`.
"""

from __future__ import annotations

import copy

import gast

from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import (
    SCOPES,
    TRIES,
    Block,
    Node,
    arguments,
    assign,
    at,
    blocks,
    constant,
    first_line,
    load,
    store,
    walk_scope,
)
from dy2st.transpiler.rewrites.comprehensions import CONSUMERS
from dy2st.transpiler.rewrites.logical import can_wait

Lines = frozenset[int]
NO_LINES: Lines = frozenset()

_YIELDS = (gast.Yield, gast.YieldFrom)


def has_turns(function: Node) -> bool:
    """Whether every `yield` is a statement, and none stands in a `try` or `with`."""
    if not isinstance(function, gast.FunctionDef):
        return False
    found = sum(_count(statement) for statement in function.body)
    return 0 < found == sum(map(_movable, function.body))


def is_turning(function: Node, lines: Lines) -> bool:
    """Whether this is a function that has turns, and begins at one of the lines."""
    return has_turns(function) and first_line(function) in lines


def transform(tree: Node, context: Context, lines: Lines) -> None:
    """Rewrite the functions that have turns and begin at one of the lines."""
    _name_expressions(tree, context, lines)
    _double(tree, context, lines)
    if is_turning(tree, lines):
        _rewrite(tree, context)


def _name_expressions(node: Node, context: Context, lines: Lines) -> None:
    for block in blocks(node):
        out: Block = []
        for statement in block:
            _name_expressions(statement, context, lines)
            if not isinstance(node, gast.ClassDef):
                out += _Lazily(context, lines).functions_for(statement)
            out.append(statement)
        block[:] = out


class _Lazily(gast.NodeTransformer):  # type: ignore[misc]
    """Makes generator functions of the generator expressions of one statement."""

    def __init__(self, context: Context, lines: Lines):
        self._context = context
        self._lines = lines
        self._functions: Block = []

    def functions_for(self, statement: Node) -> Block:
        """The functions that the statement calls instead."""
        if isinstance(statement, SCOPES):
            return []
        for name, value in gast.iter_fields(statement):
            is_head = isinstance(statement, gast.For) and name == "iter"
            if isinstance(value, gast.expr) and not (is_head and _is_lazy(value)):
                setattr(statement, name, self.visit(value))
        return self._functions

    def visit_GeneratorExp(self, node: Node) -> Node:
        """`(value for item in items if test)`."""
        if self._lines.isdisjoint(range(node.lineno, node.end_lineno + 1)) or not can_wait(node):
            return node
        body = at(node.elt, gast.Expr(gast.Yield(node.elt)))
        items = self._context.flag("items")
        first = node.generators[0].iter
        node.generators[0].iter = at(first, load(items))
        for generator in reversed(node.generators):
            for test in reversed(generator.ifs):
                body = at(test, gast.If(test, [body], []))
            body = at(generator.iter, gast.For(generator.target, generator.iter, [body], [], None))
        name = self._context.flag("lazily")
        parameters = arguments([items])
        made = gast.FunctionDef(name, parameters, [body], [], None, None, [])
        self._functions.append(at(node, made))
        return at(node, gast.Call(load(name), [self.visit(first)], []))

    def visit_Call(self, node: Node) -> Node:
        """`sum(... for ...)` and its like consume the generator at once."""
        keeps = getattr(node.func, "id", "") in CONSUMERS and node.args and _is_lazy(node.args[0])
        first = node.args[:1] if keeps else []
        node.func = self.visit(node.func)
        node.args = [*first, *map(self.visit, node.args[len(first) :])]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        return node

    def visit_Lambda(self, node: Node) -> Node:
        """Another scope, with variables of its own."""
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_Lambda


def _is_lazy(node: Node) -> bool:
    return isinstance(node, gast.GeneratorExp)


def _double(node: Node, context: Context, lines: Lines) -> None:
    for block in blocks(node):
        out: Block = []
        for statement in block:
            _double(statement, context, lines)
            out.append(statement)
            if is_turning(statement, lines) and not statement.decorator_list:
                out += _other_form(statement, context)
        block[:] = out


def _other_form(function: Node, context: Context) -> Block:
    other = copy.deepcopy(function)
    other.name = context.flag("turns")
    _rewrite(other, context)
    both = context.call("convert_generator", load(function.name), load(other.name))
    return [other, at(function, assign(function.name, both))]


def _rewrite(function: Node, context: Context) -> None:
    turns = _Turns(context)
    function.body = [*turns.block(function.body), at(function.body[-1], turns.end())]
    own = arguments([turns.take, turns.stops, turns.taken]).args
    function.args.posonlyargs = [*own, *function.args.posonlyargs]


def _count(statement: Node) -> int:
    if isinstance(statement, SCOPES):
        return 0
    return sum(isinstance(node, _YIELDS) for node in walk_scope(statement))


def _movable(statement: Node) -> int:
    """How many `yield` statements a statement has that may become calls."""
    if isinstance(statement, gast.Expr) and isinstance(statement.value, _YIELDS):
        return int(_count(statement) == 1)
    if isinstance(statement, (*TRIES, *SCOPES, gast.With, gast.AsyncWith, gast.AsyncFor)):
        return 0
    return sum(_movable(inner) for block in blocks(statement) for inner in block)


class _Turns:
    def __init__(self, context: Context):
        self._context = context
        self.take, self.stops = context.flag("take"), context.flag("stops")
        self.taken = context.flag("taken")

    def end(self) -> Node:
        """`return taken_0`."""
        return gast.Return(load(self.taken))

    def block(self, block: Block) -> Block:
        """The statements with calls for each `yield`, and `return taken_0` for each `return`."""
        return [new for statement in block for new in self._statement(statement)]

    def _statement(self, node: Node) -> Block:
        if isinstance(node, SCOPES):
            return [node]
        if isinstance(node, gast.Return):
            value = [] if node.value is None else [at(node, gast.Expr(node.value))]
            return [*value, at(node, self.end())]
        if isinstance(node, gast.Expr) and isinstance(node.value, _YIELDS):
            return self._taken(node)
        for inner in blocks(node):
            inner[:] = self.block(inner)
        return [node]

    def _taken(self, node: Node) -> Block:
        value = node.value.value
        if isinstance(node.value, gast.Yield):
            return self._item(node, constant(None) if value is None else value)
        item = self._context.flag("item")
        return [at(node, gast.For(store(item), value, self._item(node, load(item)), [], None))]

    def _item(self, node: Node, item: Node) -> Block:
        call = self._context.call
        taken = call("convert_taken", load(self.take), load(self.taken), item)
        stops = call("convert_stops", load(self.stops), load(self.taken))
        leave = gast.If(stops, [self.end()], [])
        return [at(node, assign(self.taken, taken)), at(node, leave)]
