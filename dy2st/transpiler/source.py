"""Find the tree of a live function: its file is parsed once, its node found by line and name."""

from __future__ import annotations

import ast
import linecache
import sys
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import TypeAlias

from dy2st_runtime.errors import Location, SourceUnavailable

AnyFunction: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda"


@dataclass(frozen=True)
class Source:
    """The tree of one function, and the class whose name mangles `__names` in it."""

    node: AnyFunction
    owner: str | None


@dataclass(frozen=True)
class _File:
    lines: list[str]
    functions: dict[tuple[int, str], list[Source]]


_files: dict[str, _File] = {}


def find_source(function: FunctionType) -> Source:
    """The tree of a function, or SourceUnavailable.

    Lines and columns in it are those of the file. Raises SourceUnavailable if there is no text, if
    the text does not hold the function, or if several lambdas could be meant.
    """
    code = function.__code__
    found = _file_of(function).functions.get((code.co_firstlineno, code.co_name), [])
    fitting = [source for source in found if _parameters(source) == _code_parameters(code)]
    if len(fitting) > 1:
        fitting = [source for source in fitting if _covers(source.node, code)]
    if len(fitting) != 1:
        raise _unavailable(
            function,
            "several lambdas on this line could be meant" if fitting else "its text has changed",
        )
    return fitting[0]


def _file_of(function: FunctionType) -> _File:
    """The functions of a file; parsed again only if the lines are other ones."""
    filename = function.__code__.co_filename
    linecache.checkcache(filename)
    lines = linecache.getlines(filename, function.__globals__)
    known = _files.get(filename)
    if known is not None and known.lines is lines:
        return known
    if not lines:
        raise _unavailable(function, "its file cannot be read")
    try:
        tree = ast.parse("".join(lines), filename)
    except SyntaxError as error:
        raise _unavailable(function, f"its file cannot be parsed ({error})") from error
    known = _files[filename] = _File(lines, _index(tree))
    return known


def _index(tree: ast.Module) -> dict[tuple[int, str], list[Source]]:
    """All functions of a file by first line and name, as a code object names them."""
    found: dict[tuple[int, str], list[Source]] = {}
    todo: list[tuple[ast.AST, str | None]] = [(tree, None)]
    while todo:
        node, owner = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            found.setdefault((first, node.name), []).append(Source(node, owner))
        elif isinstance(node, ast.Lambda):
            found.setdefault((node.lineno, "<lambda>"), []).append(Source(node, owner))
        elif isinstance(node, ast.ClassDef):
            owner = node.name
        todo.extend((child, owner) for child in ast.iter_child_nodes(node))
    return found


def _parameters(source: Source) -> tuple[str, ...]:
    a = source.node.args
    names = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    names += [p.arg for p in (a.vararg, a.kwarg) if p is not None]
    return tuple(mangle(name, source.owner) for name in names)


def _code_parameters(code: CodeType) -> tuple[str, ...]:
    variadic = bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + variadic]


def mangle(name: str, owner: str | None) -> str:
    """The name as the compiler sees it inside class `owner`: `__x` becomes `_Owner__x`."""
    if owner is None or not name.startswith("__") or name.endswith("__") or "." in name:
        return name
    stripped = owner.lstrip("_")
    return f"_{stripped}{name}" if stripped else name


def _covers(node: AnyFunction, code: CodeType) -> bool:
    """Whether the instructions of the code lie inside the node: sure from Python 3.11 on."""
    if sys.version_info < (3, 11):
        return True
    if not isinstance(node, ast.Lambda):
        return True
    body = node.body
    start = (body.lineno, body.col_offset)
    end = (body.end_lineno or 0, body.end_col_offset or 0)
    places = [
        ((line, column), (end_line, end_column))
        for line, end_line, column, end_column in code.co_positions()
        if line is not None and end_line is not None and column is not None and end_column
    ]
    return bool(places) and all(start <= first and last <= end for first, last in places)


def _unavailable(function: FunctionType, why: str) -> SourceUnavailable:
    code = function.__code__
    return SourceUnavailable(
        f"the source of {function.__qualname__} is not available",
        at=Location(code.co_filename, code.co_firstlineno),
        why=why,
        hint="define the function with `def` in a file or notebook cell, "
        "or mark it with not_to_static",
    )
