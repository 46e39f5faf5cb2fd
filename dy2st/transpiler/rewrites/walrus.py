"""Operands that bind a variable with `:=` and may not run become functions before the statement.

if a and (n := f()) > 1: ...

def operand_0():
    nonlocal n
    convert_outer(lambda: (n,))
    return (n := f()) > 1
if convert_and(a, operand_0): ...
"""

from __future__ import annotations

import gast

from dy2st.transpiler.analysis.scopes import Names, NameTable
from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import (
    COMPREHENSIONS,
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
    thunk,
    walk,
)
from dy2st.transpiler.rewrites.announce import outer_call
from dy2st.transpiler.rewrites.logical import SYMBOLS, is_surely_bool
from dy2st.transpiler.source import mangle

_STAYS = (gast.Yield, gast.YieldFrom, gast.Await)


def transform(tree: Node, context: Context) -> None:
    """Rewrite `and`, `or`, `if ... else` and chains of comparisons that bind in an operand."""
    for function in functions_in(tree):
        names = NameTable().inside(function)
        bound: set[str] = set()
        _blocks(function, _Operands(function, names, bound, context))
        unset = [name for name in sorted(bound) if name not in names.declared]
        if unset:  # Python must see that they are variables of this function
            never = gast.If(constant(False), [assign(name, constant(None)) for name in unset], [])
            never.body = [at(function, node) for node in never.body]
            function.body.append(at(function, never))


def _blocks(node: Node, operands: _Operands) -> None:
    for block in blocks(node):
        out: Block = []
        for statement in block:
            if not isinstance(statement, SCOPES):
                _blocks(statement, operands)
                made: Block = []
                operands.within(statement, made)
                out += made
            out.append(statement)
        block[:] = out


class _Operands:
    def __init__(self, function: Node, names: Names, bound: set[str], context: Context):
        self._function, self._names, self._bound = function, names, bound
        self._context = context

    def within(self, node: Node, made: Block) -> None:
        """Rewrite what is evaluated in a statement or expression; `made` gets the functions."""
        for field, value in gast.iter_fields(node):
            if isinstance(value, gast.expr):
                setattr(node, field, self._expression(value, made))
            elif isinstance(value, list) and value and not isinstance(value[0], gast.stmt):
                value[:] = [self._part(entry, made) for entry in value]

    def _part(self, entry: Node, made: Block) -> Node:
        if isinstance(entry, gast.expr):
            return self._expression(entry, made)
        if isinstance(entry, gast.keyword | gast.withitem):
            self.within(entry, made)
        return entry

    def _expression(self, node: Node, made: Block) -> Node:
        if isinstance(node, (*SCOPES, *COMPREHENSIONS)):
            return node
        is_open = isinstance(node, gast.BoolOp) and not all(map(is_surely_bool, node.values[:-1]))
        if is_open and self._binds(node.values[1:]):
            return self._logical(node, made)
        if isinstance(node, gast.IfExp) and self._binds([node.body, node.orelse]):
            return self._choice(node, made)
        if isinstance(node, gast.Compare) and self._binds(node.comparators[1:]):
            return self._chain(node, made)
        self.within(node, made)
        return node

    def _binds(self, operands: list[Node]) -> bool:
        inside = [inner for operand in operands for inner in walk(operand)]
        if any(isinstance(n, _STAYS) or getattr(n, "is_async", False) for n in inside):
            return False
        return any(self._bound_in(operand) for operand in operands)

    def _bound_in(self, operand: Node) -> list[str]:
        """The variables of this function that an operand may bind."""
        return sorted(NameTable().of(operand).writes)

    def _logical(self, node: Node, made: Block) -> Node:
        first = self._expression(node.values[0], made)
        name = "convert_and" if isinstance(node.op, gast.And) else "convert_or"
        others = [self._lazily(operand, made) for operand in node.values[1:]]
        return at(node, self._context.call(name, first, *others))

    def _choice(self, node: Node, made: Block) -> Node:
        test = self._expression(node.test, made)
        sides = [self._lazily(operand, made) for operand in (node.body, node.orelse)]
        return at(node, self._context.call("convert_ifexp", test, *sides))

    def _chain(self, node: Node, made: Block) -> Node:
        parts: list[Node] = [self._expression(node.left, made)]
        for operator, operand in zip(node.ops, node.comparators, strict=True):
            parts += [constant(SYMBOLS[type(operator).__name__]), self._lazily(operand, made)]
        return at(node, self._context.call("convert_chain", *parts))

    def _lazily(self, operand: Node, made: Block) -> Node:
        bound = self._bound_in(operand)
        if not bound:
            return at(operand, thunk(operand))
        name = self._context.fresh("operand")
        body: Block = self._declarations(bound)
        value = self._expression(operand, body)
        made.append(at(operand, define(name, [], [*body, gast.Return(value)])))
        return at(operand, load(name))

    def _declarations(self, bound: list[str]) -> Block:
        globals_ = [n for n in bound if n in self._names.declared - self._names.nonlocals]
        others = [name for name in bound if name not in globals_]
        self._bound.update(bound)
        private = [mangle(name, self._function.owner) for name in globals_]
        block: Block = [gast.Nonlocal(others)] if others else []
        block += [gast.Global(globals_)] if globals_ else []
        return [*block, gast.Expr(outer_call(others, private, self._context))]
