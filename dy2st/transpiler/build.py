"""From a rewritten tree to a function: compiled under the user's file name, with live globals.

The tree is compiled inside a factory, whose parameters stand for the closure of the user's
function. The factory never runs: the code of the function is taken out of it, and a function is
made with the user's own globals, cells and defaults. The functions of `convert` are constants of
the code: they need no name that a user could see.
"""

from __future__ import annotations
import __future__

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import CO_ITERABLE_COROUTINE, CO_NEWLOCALS
from types import CodeType, FunctionType
from typing import Any

import gast

from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import Node
from dy2st.transpiler.quiet import quiet
from dy2st.transpiler.source import Source

# How the constant begins that stands for a function of `convert` until it is bound.
_HELPER = "\0dy2st."
_UNBOUND = _HELPER + "undefined "
_SITE = _HELPER + "site "

_HAS_QUALNAME = hasattr(CodeType, "co_qualname")
_FUTURE = 0
for _name in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _name).compiler_flag


def compile_code(tree: Node, source: Source, context: Context) -> CodeType:
    """The code object of a rewritten function."""
    original = context.function.__code__
    module = _wrapped(tree, source, list(original.co_freevars))
    _name_constants(module, _constants(context))
    # What the compiler warns of it has warned of when the user's file was compiled.
    with quiet.held():
        code = compile(
            module,
            original.co_filename,
            "exec",
            flags=original.co_flags & _FUTURE,
            dont_inherit=True,
        )
    found, known = _find(code, original.co_name)
    names = ((known, context.function.__qualname__),)
    named = _Renaming(frozenset(context.statements), names).renamed(found)
    # What types.coroutine says of a generator stands in its code alone.
    return named.replace(co_flags=named.co_flags | (original.co_flags & CO_ITERABLE_COROUTINE))


def to_ast(tree: Node) -> ast.AST:
    """The rewritten tree in Python's own nodes."""
    result: ast.AST = gast.gast_to_ast(tree)
    return result


def bind_helpers(code: CodeType, helpers: Mapping[str, Any]) -> CodeType:
    """The code with the functions of `convert` in the place of their names."""
    consts: list[object] = []
    for value in code.co_consts:
        if isinstance(value, CodeType):
            value = bind_helpers(value, helpers)
        elif isinstance(value, str) and value.startswith(_HELPER):
            value = _bound(value, helpers)
        consts.append(value)
    return code.replace(co_consts=tuple(consts))


def _bound(text: str, helpers: Mapping[str, Any]) -> object:
    """The function of `convert` that a constant stands for, an unbound variable, or a call site."""
    if text.startswith(_UNBOUND):
        return helpers["undefined"](text.removeprefix(_UNBOUND))
    if text.startswith(_SITE):
        return helpers["CallSite"](int(text.rpartition(" ")[2]))
    return helpers[text.removeprefix(_HELPER)]


def make_function(code: CodeType, original: FunctionType) -> FunctionType:
    """A function that is the original but for its code."""
    cells = dict(zip(original.__code__.co_freevars, original.__closure__ or (), strict=True))
    closure = tuple(cells[name] for name in code.co_freevars)
    made = FunctionType(
        code, original.__globals__, original.__name__, original.__defaults__, closure
    )
    made.__kwdefaults__ = original.__kwdefaults__
    made.__annotations__ = original.__annotations__
    made.__doc__ = original.__doc__
    made.__module__ = original.__module__
    made.__qualname__ = original.__qualname__
    if original.__dict__:
        made.__dict__.update(original.__dict__)
        made.__dict__.pop("__wrapped__", None)
    if hasattr(original, "__type_params__"):
        setattr(made, "__type_params__", original.__type_params__)  # noqa: B010
    return made


def _constants(context: Context) -> dict[str, str]:
    """What stands for a constant in the tree -> the text that stands for it in the code."""
    names = {known: _HELPER + name for name, known in context.helpers.items()}
    names |= {known: _UNBOUND + name for known, name in context.unbound.items()}
    sites = {known: f"{_SITE}{name} {count}" for (name, count), known in context.sites.items()}
    return names | sites


def _name_constants(tree: ast.AST, names: Mapping[str, str]) -> None:
    """Read what `convert` gives as constants: `names` are those in the tree."""
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.Name) and value.id in names:
                setattr(node, field, _constant(value, names))
            elif isinstance(value, list):
                value[:] = [
                    _constant(entry, names)
                    if isinstance(entry, ast.Name) and entry.id in names
                    else entry
                    for entry in value
                ]


def _constant(node: ast.Name, names: Mapping[str, str]) -> ast.Constant:
    return ast.copy_location(ast.Constant(value=names[node.id]), node)


def _wrapped(tree: Node, source: Source, names: list[str]) -> ast.Module:
    """The function inside its class (for `__names`) inside the factory."""
    body: list[ast.stmt] = [_bare(tree)]
    bound = source.owner or getattr(body[0], "name", "")
    if source.owner is not None:
        wrapper = ast.ClassDef(
            name=source.owner, bases=[], keywords=[], body=body, decorator_list=[]
        )
        body = [wrapper]
    if bound and bound not in names:
        # The factory must not bind the name: inside the function it is the user's global.
        body.insert(0, ast.Global(names=[bound]))
    factory = ast.FunctionDef(
        name="factory",
        args=ast.arguments(
            posonlyargs=[],
            args=[ast.arg(arg=name) for name in names],
            kwonlyargs=[],
            kw_defaults=[],
            defaults=[],
        ),
        body=body,
        decorator_list=[],
    )
    module = ast.Module(body=[factory], type_ignores=[])
    return ast.fix_missing_locations(module)


def _bare(tree: Node) -> ast.stmt:
    """The function without what belongs to its definition: defaults, annotations, decorators."""
    node = to_ast(tree)
    if isinstance(node, ast.Lambda):
        return ast.Expr(value=node)
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    node.decorator_list = []
    node.returns = None
    if hasattr(node, "type_params"):
        node.type_params = []
    arguments = node.args
    arguments.defaults = [ast.Constant(value=None) for _ in arguments.defaults]
    arguments.kw_defaults = [
        None if default is None else ast.Constant(value=None) for default in arguments.kw_defaults
    ]
    for parameter in ast.walk(arguments):
        if isinstance(parameter, ast.arg):
            parameter.annotation = None
    return node


def _find(code: CodeType, name: str) -> tuple[CodeType, str]:
    """The first code object of that name inside the factory, and its qualified name there."""
    todo = [(code, "")]
    while todo:
        outer, around = todo.pop(0)
        for inner in outer.co_consts:
            if isinstance(inner, CodeType):
                known = _qualname_of(inner, outer, around)
                is_function = bool(inner.co_flags & CO_NEWLOCALS)
                if inner.co_name == name and is_function and outer.co_name != "<module>":
                    return inner, known
                todo.append((inner, known))
    raise AssertionError(f"no code of the name {name}")


def _qualname_of(inner: CodeType, outer: CodeType, around: str) -> str:
    """The qualified name of a code object; up to Python 3.10 a constant of the one around it."""
    known: str | None = getattr(inner, "co_qualname", None)
    if known is not None:
        return known
    between = ".<locals>." if outer.co_flags & CO_NEWLOCALS else "."
    full = around + between + inner.co_name
    return full if full in outer.co_consts else inner.co_name


@dataclass(frozen=True, eq=False, repr=False)
class _Renaming:
    """Qualified names in the factory and without it, of a function and those around it."""

    generated: frozenset[str]
    names: tuple[tuple[str, str], ...]

    def renamed(self, code: CodeType) -> CodeType:
        """Give the code, and all code inside, the qualified names that they have without."""
        old, new = self.names[0]
        consts = list(code.co_consts)
        for position, inner in enumerate(code.co_consts):
            if not isinstance(inner, CodeType):
                continue
            known = _qualname_of(inner, code, old)
            name = new if inner.co_name in self.generated else self._without(known)
            inside = _Renaming(self.generated, ((known, name), *self.names))
            consts[position] = inside.renamed(inner)
            if not _HAS_QUALNAME:
                consts = [name if isinstance(c, str) and c == known else c for c in consts]
        if not code.co_flags & CO_NEWLOCALS:  # what a class body says of itself
            consts = [new if isinstance(c, str) and c == old else c for c in consts]
        changes: dict[str, Any] = {"co_qualname": new} if _HAS_QUALNAME else {}
        return code.replace(co_consts=tuple(consts), **changes)

    def _without(self, known: str) -> str:
        """A name declared global stands alone; all others follow the function around them."""
        for old, new in self.names:
            if known.startswith(old + "."):
                return new + known[len(old) :]
        return known
