"""Small builders of Python's own nodes, each at the place of the user's code that it stands for."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

Place: TypeAlias = "dict[str, Any]"

# One of each serves all nodes: the compiler asks for their class alone.
LOAD, STORE = ast.Load(), ast.Store()


def load(place: Place, name: str) -> ast.expr:
    """Read a name."""
    return ast.Name(id=name, ctx=LOAD, **place)


def store(place: Place, name: str) -> ast.expr:
    """Bind a name."""
    return ast.Name(id=name, ctx=STORE, **place)


def constant(place: Place, value: Any) -> ast.expr:
    """A literal."""
    return ast.Constant(value=value, **place)


def call(place: Place, function: str, *arguments: ast.expr) -> ast.expr:
    """Call what has a name in the factory."""
    return ast.Call(func=load(place, function), args=list(arguments), keywords=[], **place)


def call_of(
    place: Place,
    function: ast.expr,
    arguments: list[ast.expr],
    keywords: Sequence[ast.keyword] = (),
) -> ast.expr:
    """Call what an expression gives."""
    return ast.Call(func=function, args=arguments, keywords=list(keywords), **place)


def tuple_of(place: Place, values: Iterable[ast.expr]) -> ast.expr:
    """`(a, b)`."""
    return ast.Tuple(elts=list(values), ctx=LOAD, **place)


def loads(place: Place, names: Iterable[str]) -> ast.expr:
    """`(a, b)` of what variables hold."""
    return tuple_of(place, [load(place, name) for name in names])


def texts(place: Place, values: Iterable[str]) -> ast.expr:
    """A tuple of strings."""
    # One constant of the code: a display would be built again at each call.
    return constant(place, tuple(values))


def assign(place: Place, target: ast.expr, value: ast.expr) -> ast.stmt:
    """`target = value`."""
    return ast.Assign(targets=[target], value=value, **place)


def assign_name(place: Place, name: str, value: ast.expr) -> ast.stmt:
    """`name = value`."""
    return assign(place, store(place, name), value)


def assign_names(place: Place, names: Sequence[str], value: ast.expr) -> ast.stmt:
    """`(a, b) = value`; without names the value alone."""
    if not names:
        return ast.Expr(value=value, **place)
    targets: list[ast.expr] = [store(place, name) for name in names]
    return assign(place, ast.Tuple(elts=targets, ctx=STORE, **place), value)


def bind(place: Place, name: str, value: ast.expr) -> ast.expr:
    """`(name := value)`."""
    return ast.NamedExpr(target=store(place, name), value=value, **place)  # type: ignore[arg-type]


def arguments(place: Place, names: Iterable[str], own: Sequence[str] = ()) -> ast.arguments:
    """Plain parameters; those of `own` start as what has their name outside."""
    return ast.arguments(
        posonlyargs=[],
        args=[ast.arg(arg=name, **place) for name in (*names, *own)],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[load(place, name) for name in own],
    )


def thunk(place: Place, body: ast.expr, names: Iterable[str] = ()) -> ast.expr:
    """`lambda names: body`."""
    return ast.Lambda(args=arguments(place, names), body=body, **place)


def define(place: Place, name: str, parameters: ast.arguments, body: list[ast.stmt]) -> ast.stmt:
    """`def name(parameters): body`."""
    # `type_params` must be there from Python 3.12 on; before, nobody reads it.
    made: Any = ast.FunctionDef
    rest: dict[str, Any] = {"decorator_list": [], "type_params": [], **place}
    function: ast.stmt = made(name=name, args=parameters, body=body, returns=None, **rest)
    return function


def give(place: Place, value: ast.expr) -> ast.stmt:
    """`return value`."""
    return ast.Return(value=value, **place)
