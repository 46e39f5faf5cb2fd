"""Variables that rewritten code passes on where they may be unbound hold `undefined(...)`.

Wherever such a variable may be unset when the user's code reads it, the read is checked and raises
what Python raises. `del` sets it back.
"""

from __future__ import annotations

import gast

from dy2st.transpiler.analysis.facts import analyse
from dy2st.transpiler.analysis.scopes import parameters
from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import (
    SCOPES,
    Block,
    Node,
    assign,
    at,
    blocks,
    constant,
    functions_in,
    load,
    split_docstring,
    thunk,
    walk_scope,
)
from dy2st.transpiler.rewrites.announce import announce


def transform(tree: Node, context: Context) -> None:
    """Analyse every function, then start and check the variables that may be unbound."""
    for function in functions_in(tree):
        if context.has(gast.Global, gast.Nonlocal):
            _hoist_declarations(function)
        found = analyse(function, context)
        undefined, kept_local = found.undefined, found.kept_local
        _delete_softly(function, frozenset(undefined), context)
        if found.has_unsure_reads:
            _CheckReads(context).visit(function)
        docstring, rest = split_docstring(function.body)
        unset = [name for name in undefined if name not in parameters(function)]
        starts = [at(rest[0], undefined_start(name, context)) for name in unset]
        never = [assign(name, constant(None)) for name in kept_local]
        starts += [at(rest[0], gast.If(constant(False), never, []))] if never else []
        function.body = [*docstring, *starts, *rest]
    if context.has(gast.Global, gast.Nonlocal):
        for function in functions_in(tree):
            announce(function, context)


def _hoist_declarations(function: Node) -> None:
    """`global` and `nonlocal` hold for the whole function: they move to its start."""
    found = [n for s in function.body if not isinstance(s, SCOPES) for n in walk_scope(s)]
    declarations = [n for n in found if isinstance(n, gast.Global | gast.Nonlocal)]
    if all(any(n is statement for statement in function.body) for n in declarations):
        return
    _without(function, declarations)
    docstring, rest = split_docstring(function.body)
    function.body = [*docstring, *declarations, *rest]


def _without(node: Node, gone: Block) -> None:
    for block in blocks(node):
        kept = [s for s in block if not any(s is g for g in gone)]
        block[:] = kept or ([at(block[0], gast.Pass())] if block else [])
        for statement in kept:
            if not isinstance(statement, SCOPES):
                _without(statement, gone)


def undefined_start(name: str, context: Context) -> Node:
    """`name = undefined("name")`."""
    return assign(name, context.call("undefined", constant(name)))


def _check(name: str, context: Context) -> Node:
    return gast.Expr(context.call("defined", load(name)))


def _delete_softly(node: Node, undefined: frozenset[str], context: Context) -> None:
    """`del x` of such a variable makes it undefined; `x += 1` looks at it first."""
    for block in blocks(node):
        out: Block = []
        for statement in block:
            checked = getattr(statement, "checked", [])
            out += [at(statement, _check(name, context)) for name in checked]
            cells = getattr(statement, "cells", [])
            reads = [_read_cell(load(name), name, [], context) for name in cells]
            out += [at(statement, gast.Expr(read)) for read in reads]
            if isinstance(statement, gast.Delete):
                out += _without_deletes(statement, undefined, context)
                continue
            out.append(statement)
            if not isinstance(statement, gast.FunctionDef | gast.AsyncFunctionDef | gast.ClassDef):
                _delete_softly(statement, undefined, context)
        block[:] = out


def _without_deletes(statement: Node, undefined: frozenset[str], context: Context) -> Block:
    out: Block = []
    for target in statement.targets:
        if isinstance(target, gast.Name) and target.id in undefined:
            out.append(at(statement, undefined_start(target.id, context)))
        else:
            out.append(at(statement, gast.Delete([target])))
    return out


def _read_cell(node: Node, name: str, inner: list[Node], context: Context) -> Node:
    """In a generated function an unbound variable of the user's is a NameError of its own."""
    return context.call("convert_cell", thunk(node), constant(name), *inner)


class _CheckReads(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, context: Context):
        self._context = context

    def visit_Name(self, node: Node) -> Node:
        """`name` becomes `defined(name)`."""
        is_cell = getattr(node, "of_cell", False)
        if not is_cell and not getattr(node, "checked", False):
            return node
        node.checked = node.of_cell = False
        inner = [constant(True)] if node.in_comprehension else []
        if is_cell:
            return at(node, _read_cell(node, node.id, inner, self._context))
        return at(node, self._context.call("defined", node, *inner))
