"""A generator function as one that runs its consumer for each item, where a tensor decides.

    def f(x):                        def f(take_0, stops_0, taken_0, x):
        if x > 0:                        if x > 0:
            yield x                          taken_0 = convert_taken(take_0, taken_0, x)
                                             if convert_stops(stops_0, taken_0): return taken_0
                                         return taken_0

`taken_0` is what the consumer has made of the items so far: of a `for`, its variables. A function
inside gets this form beside its own: `g = convert_generator(g, turns_0)`.
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
    load,
    store,
    walk_scope,
)

_YIELDS = (gast.Yield, gast.YieldFrom)


def has_turns(function: Node) -> bool:
    """Whether every `yield` is a statement, and none stands in a `try` or `with`."""
    if not isinstance(function, gast.FunctionDef):
        return False
    found = sum(_count(statement) for statement in function.body)
    return 0 < found == sum(map(_movable, function.body))


def transform(tree: Node, context: Context) -> None:
    """Rewrite a function that has turns, and those inside of it."""
    _double(tree, context)
    if has_turns(tree):
        _rewrite(tree, context)


def _double(node: Node, context: Context) -> None:
    for block in blocks(node):
        out: Block = []
        for statement in block:
            _double(statement, context)
            out.append(statement)
            if has_turns(statement) and not statement.decorator_list:
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
