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
    Block,
    Node,
    assign,
    at,
    blocks,
    constant,
    functions_in,
    load,
    split_docstring,
)


def transform(tree: Node, context: Context) -> None:
    """Analyse every function, then start and check the variables that may be unbound."""
    for function in list(functions_in(tree)):
        undefined, kept_local = analyse(function, context)
        if not undefined and not kept_local:
            continue
        _delete_softly(function, frozenset(undefined), context)
        _CheckReads(context).visit(function)
        docstring, rest = split_docstring(function.body)
        unset = [name for name in undefined if name not in parameters(function)]
        starts = [at(rest[0], undefined_start(name, context)) for name in unset]
        never = [assign(name, constant(None)) for name in kept_local]
        starts += [at(rest[0], gast.If(constant(False), never, []))] if never else []
        function.body = [*docstring, *starts, *rest]


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


class _CheckReads(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, context: Context):
        self._context = context

    def visit_Name(self, node: Node) -> Node:
        """`name` becomes `defined(name)`."""
        if not getattr(node, "checked", False):
            return node
        node.checked = False
        inner = [constant(True)] if node.in_comprehension else []
        return at(node, self._context.call("defined", node, *inner))
