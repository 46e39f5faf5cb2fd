"""Functions and classes that a function makes: they are the user's, made of the user's code."""

from __future__ import annotations

import ast
from typing import Any

import gast

from dy2st.transpiler.expressions import keywords_as_dict, own_lambda, spread
from dy2st.transpiler.lowering import Lowering
from dy2st.transpiler.nodes import Node, is_own
from dy2st.transpiler.source import is_generic
from dy2st.transpiler.trees import LOAD, Place, call_of, constant, load, tuple_of


def lambda_(low: Lowering, node: Node) -> ast.expr:
    """`lambda x: v`; one that a rewrite has made stays."""
    return own_lambda(low, node) if is_own(node) else _made(low, node)


def define_function(low: Lowering, node: Node) -> list[ast.stmt]:
    """`def f(x): ...`."""
    return _bound(low, node, lambda: _made(low, node))


def define_class(low: Lowering, node: Node) -> list[ast.stmt]:
    """`class C(Base, key=v): ...`."""
    return _bound(low, node, lambda: _class(low, node))


def _bound(low: Lowering, node: Node, make: object) -> list[ast.stmt]:
    """Decorators are evaluated first, and called from the last one up."""
    assert callable(make)
    place = low.place(node)
    decorators = [(low.place(one), low.expression(one)) for one in node.decorator_list]
    value: ast.expr = make()
    for where, decorator in decorators[::-1]:
        value = call_of(where, low.call(where, "convert_call", decorator), [value])
    return [low.write(place, node.name, value)]


def _made(low: Lowering, node: Node) -> ast.expr:
    place = low.place(node)
    a = node.args
    defaults = constant(place, None)
    if a.defaults:
        defaults = tuple_of(place, low.expressions(a.defaults))
    named = [(p.id, d) for p, d in zip(a.kwonlyargs, a.kw_defaults) if d is not None]
    kwdefaults = constant(place, None)
    if named:
        keys = [constant(place, key) for key, _ in named]
        values = [low.expression(value) for _, value in named]
        kwdefaults = ast.Dict(keys=[*keys], values=values, **place)
    if is_generic(node):
        given = [one for one, has in ((defaults, a.defaults), (kwdefaults, named)) if has]
        return _call(low, place, "make_generic", node, given)
    values = [defaults, kwdefaults, *_annotations(low, place, node)]
    return _call(low, place, "make_function", node, values)


def _call(low: Lowering, place: Place, maker: str, node: Node, values: list[ast.expr]) -> ast.expr:
    """Make it of the function, where its code lies in it, and the cells that the code takes."""
    found = low.inner.find(node)
    if found is None:
        return constant(place, None)  # no way leads here, so the compiler has dropped it
    path, code = found
    cells = [load(place, low.cell(name)) for name in code.co_freevars]
    where = [load(place, low.function), constant(place, path), tuple_of(place, cells)]
    made: Any = low.call(place, maker, *where, *values)
    made.written = node  # as its text shows it
    return made  # type: ignore[no-any-return]


def _annotations(low: Lowering, place: Place, node: Node) -> list[ast.expr]:
    if isinstance(node, gast.Lambda):
        return []
    a = node.args
    in_order = [*a.args, *a.posonlyargs, a.vararg, *a.kwonlyargs, a.kwarg]  # that of CPython
    found = [(p.id, p.annotation) for p in in_order if p is not None and p.annotation is not None]
    found += [("return", node.returns)] if node.returns is not None else []
    if not found:
        return []
    keys = [constant(place, name) for name, _ in found]
    values = [_annotation(low, place, annotation) for _, annotation in found]
    return [ast.Dict(keys=[*keys], values=values, **place)]


def _annotation(low: Lowering, place: Place, node: Node) -> ast.expr:
    if low.has_lazy_annotations:
        return constant(place, ast.unparse(gast.gast_to_ast(node)))
    if isinstance(node, gast.Starred):  # `*args: *Ts` has the one value that it spreads
        only = low.call(place, "unpack", low.expression(node.value), constant(place, 1))
        return ast.Subscript(value=only, slice=constant(place, 0), ctx=LOAD, **place)
    return low.expression(node)


def _class(low: Lowering, node: Node) -> ast.expr:
    place = low.place(node)
    if is_generic(node):
        return _call(low, place, "make_generic", node, [])
    bases = ast.Tuple(elts=spread(low, node.bases), ctx=LOAD, **place)
    keywords = keywords_as_dict(low, place, node.keywords)
    name = constant(place, node.name)
    return _call(low, place, "make_class", node, [name, bases, keywords])


EXPRESSIONS = {gast.Lambda: lambda_}
STATEMENTS = {
    gast.FunctionDef: define_function,
    gast.AsyncFunctionDef: define_function,
    gast.ClassDef: define_class,
}
