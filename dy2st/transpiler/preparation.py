"""The tree of a function, as it is before the first rewrite."""

from __future__ import annotations

import ast
from types import FunctionType

import gast

from dy2st.transpiler.context import Context, identifiers
from dy2st.transpiler.nodes import SCOPES, Node, at, is_bare_super, load, walk, walk_scope
from dy2st.transpiler.source import find_source, mangle


def prepared(function: FunctionType) -> tuple[Node, Context]:
    """The tree of a function, with names as the compiler sees them."""
    source = find_source(function)
    tree = gast.ast_to_gast(source.node)
    if isinstance(tree, gast.Lambda):  # as the function that it is
        body = [at(tree.body, gast.Return(tree.body))]
        made = gast.FunctionDef("<lambda>", tree.args, body, [], None, None, [])
        tree = at(tree, made)
    if source.owner is not None:
        _mangle(tree, source.owner)
    return tree, Context(function, identifiers(tree) | set(function.__code__.co_freevars))


def without_decorators(tree: Node) -> ast.AST:
    """A function in Python's own nodes, as it is converted."""
    tree.decorator_list = []
    made: ast.AST = gast.gast_to_ast(tree)
    return made


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


def name_super(tree: Node, context: Context) -> None:
    """`super()` becomes `super(__class__, self)`."""
    if "__class__" not in context.function.__code__.co_freevars:
        return
    first = [*tree.args.posonlyargs, *tree.args.args][:1]
    if not first or "super" in context.function.__globals__:
        return
    for statement in tree.body:
        for node in () if isinstance(statement, SCOPES) else walk_scope(statement):
            if is_bare_super(node):
                node.args = [at(node, load("__class__")), at(node, load(first[0].id))]
