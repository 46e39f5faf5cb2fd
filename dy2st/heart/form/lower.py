"""From the source of a function to the factory of its traced form."""

from __future__ import annotations

import ast
from types import FunctionType

import gast

from dy2st.heart.form import (
    attempts,
    comprehensions,
    control,
    expressions,
    functions,
    statements,
)
from dy2st.heart.form.compile import Factory, compiled, factory_tree
from dy2st.heart.form.inner import InnerCodes
from dy2st.heart.form.lowering import Lowering
from dy2st.heart.form.names import analyse
from dy2st.heart.form.pushing import push_yields
from dy2st.heart.form.refused import reason_against
from dy2st.heart.form.trees import assign_name, load
from dy2st.transpiler.analysis.scopes import NameTable, bound_in, parameter_nodes
from dy2st.transpiler.context import Context, identifiers
from dy2st.transpiler.nodes import (
    CONTROL,
    FUNCTIONS,
    SCOPES,
    TRIES,
    Node,
    at,
    is_bare_super,
    kinds_in,
    split_docstring,
    walk,
    walk_scope,
)
from dy2st.transpiler.nodes import load as gast_load
from dy2st.transpiler.rewrites import break_continue, early_return, match
from dy2st.transpiler.source import find_source, mangle

_EXPRESSIONS = {
    **expressions.EXPRESSIONS,
    **comprehensions.EXPRESSIONS,
    **functions.EXPRESSIONS,
}
_STATEMENTS = {
    **statements.STATEMENTS,
    **control.STATEMENTS,
    **attempts.STATEMENTS,
    **functions.STATEMENTS,
}


def lowered(function: FunctionType, pushes: bool = False) -> Factory | str:
    """The factory of the traced form of a function, or why it has none."""
    tree, context = prepared(function)
    if pushes:
        push_yields(tree, context)
    why = reason_against(tree)
    if why:
        return why
    low, module = module_of(tree, context)
    return compiled(low, module, function.__code__.co_name)


def text_of(function: FunctionType) -> str:
    """The traced form of a function as text, to be read."""
    tree, context = prepared(function)
    why = reason_against(tree)
    return why or ast.unparse(module_of(tree, context)[1])


def prepared(function: FunctionType) -> tuple[Node, Context]:
    """The tree of a function, with names as the compiler sees them."""
    source = find_source(function)
    tree = _as_definition(gast.ast_to_gast(source.node))
    if source.owner is not None:
        _mangle(tree, source.owner)
    return tree, Context(function, identifiers(tree) | set(function.__code__.co_freevars))


def module_of(tree: Node, context: Context) -> tuple[Lowering, ast.Module]:
    """Rewrite and lower a function."""
    _prepare(tree)
    local = bound_in(NameTable().inside(tree), tree)
    _rewrite(tree, context)
    inner = InnerCodes(context.function)
    names = analyse(tree, local, inner.captured, context)
    low = Lowering(context, names, inner, _EXPRESSIONS, _STATEMENTS)
    place = low.place(tree)
    body = low.block(split_docstring(tree.body)[1])
    start = [*_cells(low, tree), *_unbound(low, tree)]
    body = [*start, *body] or [ast.Pass(**place)]
    return low, factory_tree(low, tree, body, place)


def _as_definition(tree: Node) -> Node:
    """A lambda as the function that it is."""
    if not isinstance(tree, gast.Lambda):
        return tree
    body = [at(tree.body, gast.Return(tree.body))]
    made = gast.FunctionDef("<lambda>", tree.args, body, [], None, None, [])
    return at(tree, made)


def _mangle(tree: Node, owner: str) -> None:
    """Private names, as the compiler makes them of the names in a class."""
    fields = ("id", "attr", "name", "rest")
    for node in walk(tree):
        if isinstance(node, gast.Global | gast.Nonlocal):
            node.names = [mangle(name, owner) for name in node.names]
        if isinstance(node, gast.alias):
            private = mangle(node.asname or node.name, owner)
            node.asname = node.asname if private == (node.asname or node.name) else private
            continue
        for name in fields:
            value = getattr(node, name, None)
            if isinstance(value, str) and value.startswith("__"):
                setattr(node, name, mangle(value, owner))


def _prepare(tree: Node) -> None:
    """Functions inside stay as they are, and `(x): int` says nothing of x."""
    for node in walk(tree):
        if node is not tree and isinstance(node, FUNCTIONS):
            node.untouched = True
        if isinstance(node, gast.AnnAssign) and not node.simple and node.value is None:
            node.target.ctx = gast.Load()


def _rewrite(tree: Node, context: Context) -> None:
    """No jumps, no `match`, no `super()` that looks into the frame."""
    _name_super(tree, context)
    context.kinds = kinds_in(tree)
    if context.has(gast.Match):
        match.transform(tree, context)
        context.kinds = kinds_in(tree)
    early_return.transform(tree, context, (*CONTROL, *TRIES, gast.With))
    break_continue.transform(tree, context)


def _name_super(tree: Node, context: Context) -> None:
    """`super()` becomes `super(__class__, self)`."""
    if "__class__" not in context.function.__code__.co_freevars:
        return
    first = [*tree.args.posonlyargs, *tree.args.args][:1]
    if not first or "super" in context.function.__globals__:
        return
    for statement in tree.body:
        for node in () if isinstance(statement, SCOPES) else walk_scope(statement):
            if is_bare_super(node):
                node.args = [at(node, gast_load("__class__")), at(node, gast_load(first[0].id))]


def _cells(low: Lowering, tree: Node) -> list[ast.stmt]:
    """Cells of the function's own, with the values of its parameters."""
    place = low.place(tree)
    parameters = {node.id for node in parameter_nodes(tree)}
    out = []
    for name in sorted(low.names.scope.cells):
        given = [load(place, name)] if name in parameters else []
        out.append(assign_name(place, low.cell(name), low.call(place, "new_cell", *given)))
    return out


def _unbound(low: Lowering, tree: Node) -> list[ast.stmt]:
    place = low.place(tree)
    return [assign_name(place, name, low.unbound(place)) for name in sorted(low.names.starts)]
