"""The code objects inside a function: where they lie, and functions and classes made of them."""

from __future__ import annotations

import ast
import builtins
import dis
import sys
from collections.abc import Sequence
from types import CellType, CodeType, FunctionType
from typing import Any, TypeAlias

import gast

from dy2st.transpiler.nodes import Node, first_line
from dy2st.transpiler.source import find_source

Path: TypeAlias = "tuple[int, ...]"
Found: TypeAlias = "tuple[Path, CodeType]"

_AT_ONCE = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})
_COMPREHENSIONS = _AT_ONCE | {"<genexpr>"}


class InnerCodes:
    """The code objects of functions, lambdas and classes that a function makes itself."""

    def __init__(self, function: FunctionType):
        """Look through the constants, and those of comprehensions."""
        self._function = function
        self._found: dict[tuple[str, int], list[Found]] = {}
        self._collect(function.__code__, ())

    def _collect(self, code: CodeType, path: Path) -> None:
        for index, value in enumerate(code.co_consts):
            if not isinstance(value, CodeType):
                continue
            here = (*path, index)
            key = (value.co_name, value.co_firstlineno)
            self._found.setdefault(key, []).append((here, value))
            # A comprehension with code of its own holds the functions that are made in it.
            if value.co_name in _COMPREHENSIONS:
                self._collect(value, here)

    @property
    def captured(self) -> set[str]:
        """The variables that functions, classes and generators inside take as cells."""
        codes = [code for found in self._found.values() for _, code in found]
        # A list comprehension runs at once: nobody reads its cells later.
        lasting = [code for code in codes if code.co_name not in _AT_ONCE]
        return {name for code in lasting for name in code.co_freevars}

    def find(self, node: Node) -> Found | None:
        """The code object of a function, lambda or class; None if the compiler has dropped it."""
        if isinstance(node, gast.Lambda):
            found = self._found.get(("<lambda>", node.lineno), [])
        else:
            # What makes a function or class with type parameters is a function around it.
            name = f"<generic parameters of {node.name}>" if is_generic(node) else node.name
            found = self._found.get((name, first_line(node)), [])
        if len(found) < 2:
            return found[0] if found else None
        fitting = [one for one in found if _covers(node, one[1])]
        return fitting[0] if len(fitting) == 1 else self._by_source(node, found)

    def _by_source(self, node: Node, found: list[Found]) -> Found:
        """One of several in a line: that which has this source, or one like it."""
        sources = []
        for _, code in found:
            # A function with this code, to be looked at only.
            cells = tuple(CellType() for _ in code.co_freevars)
            bare = FunctionType(code, self._function.__globals__, code.co_name, None, cells)
            sources.append(find_source(bare).node)
        place, text = (node.lineno, node.col_offset), ast.dump(gast.gast_to_ast(node))
        for source, one in zip(sources, found, strict=True):
            if (source.lineno, source.col_offset) == place:
                return one
        for source, one in zip(sources, found, strict=True):
            if ast.dump(source) == text:  # equal code objects are but one
                return one
        raise LookupError(f"no code object for line {node.lineno}")


def is_generic(node: Node) -> bool:
    """Whether a function or class has type parameters: `def f[T](x)`, since Python 3.12."""
    return bool(getattr(node, "type_params", None))


def _covers(node: Node, code: CodeType) -> bool:
    """Whether the instructions of a code object lie inside a lambda: sure from Python 3.11 on."""
    if sys.version_info < (3, 11) or not isinstance(node, gast.Lambda):
        return False
    body = node.body
    start, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    return all(
        start <= (line, column) and (end_line, end_column) <= end
        for line, end_line, column, end_column in code.co_positions()
        if line is not None and column is not None and end_column
    )


def code_at(function: FunctionType, path: Path) -> CodeType:
    """The code object at a path in the constants of a function."""
    code: Any = function.__code__
    for index in path:
        code = code.co_consts[index]
    found: CodeType = code
    return found


def user_function(
    outer: FunctionType,
    path: Path,
    cells: tuple[CellType, ...] | None,
    defaults: tuple[object, ...] | None,
    kwdefaults: dict[str, object] | None,
    annotations: dict[str, object] | None = None,
) -> FunctionType:
    """The function that a `def` or `lambda` in `outer` makes."""
    code = code_at(outer, path)
    made = FunctionType(code, outer.__globals__, code.co_name, defaults, cells)
    made.__kwdefaults__ = kwdefaults
    if annotations:
        made.__annotations__ = annotations
    if sys.version_info < (3, 11) and not _is_global(outer, code.co_name):
        made.__qualname__ = f"{outer.__qualname__}.<locals>.{code.co_name}"
    return made


def _is_global(outer: FunctionType, name: str) -> bool:
    """Whether a function assigns a name that it declares global."""
    steps = dis.get_instructions(outer.__code__)
    return any(step.opname == "STORE_GLOBAL" and step.argval == name for step in steps)


def user_class(
    outer: FunctionType,
    path: Path,
    cells: tuple[CellType, ...],
    name: str,
    bases: Sequence[object],
    keywords: dict[str, Any],
) -> Any:
    """The class that a `class` statement in `outer` makes; its body runs as it is."""
    body = FunctionType(code_at(outer, path), outer.__globals__, name, None, cells)
    build: Any = builtins.__build_class__
    return build(body, name, *bases, **keywords)
