"""Find the tree of a live function: by line and name in its text, which must give its code."""

from __future__ import annotations
import __future__

import ast
import sys
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any, TypeAlias

from dy2st.transpiler.texts import is_guess, texts_of
from dy2st.transpiler.warning_filters import quiet
from dy2st_runtime.errors import Location, SourceUnavailable

AnyFunction: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda"


@dataclass(frozen=True, eq=False, repr=False)
class Source:
    """The tree of one function, and the class whose name mangles `__names` in it."""

    node: AnyFunction
    owner: str | None


@dataclass(frozen=True, eq=False, repr=False)
class _File:
    lines: list[str]
    functions: dict[tuple[int, str], list[Source]]
    codes: dict[tuple[int, str], list[CodeType]]


_FUTURE = 0
for _name in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _name).compiler_flag

# A cell of a notebook may `await`; what it defines is compiled as ever.
_FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT

# By name and future features; the last text of each, for files are edited and names used again.
_files: dict[tuple[str, int], _File] = {}
_MOST_FILES = 512


def find_source(function: FunctionType) -> Source:
    """The tree of a function, or SourceUnavailable.

    Lines and columns in it are those of the file. The text is compiled and must give the code that
    the function has. Raises SourceUnavailable if there is no text, or if it gives other code.
    """
    why = "there is no text of it: neither a file nor a cell"
    for lines in texts_of(function):
        try:
            file = _file_of(function, lines)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            if not is_guess(function):
                why = f"its file cannot be parsed ({error})"
            continue
        source = _fitting(file, function)
        if source is not None:
            return source
        if not is_guess(function):
            why = "its text has changed since the function was made"
    code = function.__code__
    raise SourceUnavailable(
        f"the source of {function.__qualname__} is not available",
        at=Location(code.co_filename, code.co_firstlineno),
        why=why,
        hint="define it in a file, a notebook cell or an interactive session, and after an edit "
        "import its module again; or mark it with not_to_static",
    )


def _file_of(function: FunctionType, lines: list[str]) -> _File:
    """The functions of a text; parsed again only if the lines are other ones."""
    filename = function.__code__.co_filename
    features = function.__code__.co_flags & _FUTURE
    known = _files.get((filename, features))
    if known is not None and (known.lines is lines or known.lines == lines):
        return known
    text = "".join(lines)
    with quiet.held():  # the compiler has warned when the function was made
        tree = ast.parse(text, filename)
        module = compile(text, filename, "exec", features | _FLAGS, dont_inherit=True)
    while len(_files) >= _MOST_FILES:
        _files.pop(next(iter(_files)), None)
    known = _files[filename, features] = _File(lines, _index(tree), _index_codes(module))
    return known


def _fitting(file: _File, function: FunctionType) -> Source | None:
    """The one node that gives the function's code."""
    code = function.__code__
    place = (code.co_firstlineno, code.co_name)
    found = file.functions.get(place, [])
    variadic = bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + variadic]
    fitting = [source for source in found if _parameters(source) == names]
    codes = file.codes.get(place, [])
    if not any(one == code and _lines(one) == _lines(code) for one in codes):
        # Import hooks, such as that of pytest, add to what is written.
        loader = type(function.__globals__.get("__loader__")).__module__.partition(".")[0]
        is_hooked = loader not in _PLAIN_LOADERS
        is_hooked = is_hooked and any(_names(one) <= _names(code) for one in codes)
        return fitting[0] if is_hooked and len(fitting) == 1 else None
    if len(fitting) > 1:
        covering = [source for source in fitting if _covers(source.node, code)]
        if len(covering) == 1:
            return covering[0]
        numbers = [n for n, source in enumerate(found) if source in fitting]
        # From the last to the first: what stands inside of a lambda is moved with it.
        numbers.sort(key=lambda n: (found[n].node.lineno, found[n].node.col_offset), reverse=True)
        equal = [n for n in numbers if _gives(file, code, n)]
        return found[equal[0]] if equal else None  # equal code: either will do
    return fitting[0] if fitting else None


_PLAIN_LOADERS = frozenset(
    {"builtins", "importlib", "_frozen_importlib", "_frozen_importlib_external", "zipimport"}
)


def _names(code: CodeType) -> set[str]:
    """Every name in a code object and in those inside it."""
    names = {*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            names |= _names(inner)
    return names


def _lines(code: CodeType) -> list[Any]:
    """The lines of all instructions: before Python 3.12 equal code objects may differ in them."""
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return [list(code.co_lines()), *map(_lines, inner)]


def _gives(file: _File, code: CodeType, number: int) -> bool:
    """Whether the candidate of that number gives this code: it alone is moved to other lines."""
    text, features = "".join(file.lines), code.co_flags & _FUTURE
    tree = ast.parse(text, code.co_filename)
    node = _index(tree)[code.co_firstlineno, code.co_name][number].node
    ast.increment_lineno(node, len(file.lines))
    module = compile(tree, code.co_filename, "exec", features | _FLAGS, dont_inherit=True)
    place = (code.co_firstlineno + len(file.lines), code.co_name)
    return any(_unplaced(one) == _unplaced(code) for one in _index_codes(module).get(place, []))


def _unplaced(code: CodeType) -> CodeType:
    """The same code, wherever it stands."""
    consts = [_unplaced(one) if isinstance(one, CodeType) else one for one in code.co_consts]
    return code.replace(co_firstlineno=1, co_linetable=b"", co_consts=tuple(consts))


def _index_codes(module: CodeType) -> dict[tuple[int, str], list[CodeType]]:
    """All code objects of a file by first line and name."""
    found: dict[tuple[int, str], list[CodeType]] = {}
    todo = [module]
    while todo:
        for inner in todo.pop().co_consts:
            if isinstance(inner, CodeType):
                found.setdefault((inner.co_firstlineno, inner.co_name), []).append(inner)
                todo.append(inner)
    return found


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
