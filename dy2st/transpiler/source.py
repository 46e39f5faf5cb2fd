"""Finds the tree of a live function by line and name in its text, and the code objects inside it.

What is found must give the code of the function when it is compiled.
"""

from __future__ import annotations
import __future__

import ast
import dis
import linecache
import os
import stat
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from types import CellType, CodeType, FunctionType
from typing import Any, TypeAlias

import gast

from dy2st.transpiler.nodes import Node, statements_inside
from dy2st_runtime.errors import Location, SourceUnavailable
from dy2st_runtime.thread_state import Shared

_IGNORED: tuple[Any, ...] = tuple(
    ("ignore", None, category, None, 0) for category in (SyntaxWarning, DeprecationWarning)
)


class _Filters:
    def __init__(self) -> None:
        self.users: Any = warnings.filters
        self.ours: list[Any] | None = None

    def ignore(self) -> None:
        """Put our filters before the user's."""
        if warnings.filters is not self.ours:
            self.users = users = warnings.filters
            self.ours = warnings.filters = [*_IGNORED, *users]

    def restore(self) -> None:
        """Have the user's; who has taken a copy of ours meanwhile sets ours again."""
        if self.ours is not None:
            self.ours[:] = self.users
            if warnings.filters is self.ours:
                warnings.filters = self.users


_filters = _Filters()
quiet = Shared(_filters.ignore, _filters.restore)


# A typed function is looked for in so many places of the history, in so many lines each.
_MOST_STARTS = 50
_MOST_LINES = 200
_MOST_BYTES = 1 << 24


def texts_of(function: FunctionType) -> Iterator[list[str]]:
    """The lines of every text that may define a function, the likeliest first.

    What is yielded is a guess but for files: compile it and compare the code objects.
    """
    code = function.__code__
    filename = code.co_filename
    linecache.checkcache(filename)
    lines = linecache.getlines(filename, function.__globals__)
    if lines:
        yield lines
    elif filename == "<string>":
        # `python -c text`: the interpreter keeps its arguments, before 3.13 nothing else.
        for argument in sys.orig_argv[1:]:
            yield argument.removeprefix("-c").splitlines(keepends=True)
    elif filename.startswith(("<frozen ", "<dy2st ")):  # of the library: its file lies beside
        yield linecache.getlines(str(function.__globals__.get("__file__", "")))
    elif filename in ("<stdin>", "<console>"):
        for typed in (_standard_input(), _history()):
            yield typed
            yield from _statements_of(typed, code)


def is_guess(function: FunctionType) -> bool:
    """Whether the name of the file is one that any executed text may have."""
    return function.__code__.co_filename in ("<string>", "<stdin>", "<console>")


def _standard_input() -> list[str]:
    """`python < file`: the file is still open."""
    try:
        status = os.fstat(0)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
            return []
        text = os.pread(0, status.st_size, 0).decode()
    except (OSError, UnicodeDecodeError, AttributeError):  # closed, no text, not on this system
        return []
    return text.splitlines(keepends=True)


def _history() -> list[str]:
    """What was typed before 3.13: readline has it by line, without the empty ones."""
    readline = sys.modules.get("readline")
    if readline is None:
        return []
    numbers = range(1, readline.get_current_history_length() + 1)
    return [(readline.get_history_item(number) or "") + "\n" for number in numbers]


def _statements_of(typed: list[str], code: CodeType) -> Iterator[list[str]]:
    """What may be the statement that defines a function: at a prompt each begins with line 1."""
    name = "lambda" if code.co_name == "<lambda>" else code.co_name
    starts = 0
    for index in range(len(typed) - 1, -1, -1):
        first = index - code.co_firstlineno + 1
        line = typed[index].lstrip()
        if first < 0 or not (name in line or line.startswith("@")):
            continue
        starts += 1
        if starts > _MOST_STARTS:
            return
        for last in range(index + 1, min(len(typed), index + _MOST_LINES) + 1):
            yield typed[first:last]


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


FUTURE = 0
for _name in __future__.all_feature_names:
    FUTURE |= getattr(__future__, _name).compiler_flag

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
    features = function.__code__.co_flags & FUTURE
    known = _files.get((filename, features))
    if known is not None and (known.lines is lines or known.lines == lines):
        return known
    text = "".join(lines)
    with quiet.held():  # the compiler has warned when the function was made
        tree = ast.parse(text, filename)
        module = compile(text, filename, "exec", features | _FLAGS, dont_inherit=True)
    while len(_files) >= _MOST_FILES:
        _files.pop(next(iter(_files)), None)
    known = _files[filename, features] = _File(lines, _index(tree, text), _index_codes(module))
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
        is_hooked = is_hooked and any(names_in(one) <= names_in(code) for one in codes)
        return fitting[0] if is_hooked and len(fitting) == 1 else None
    if len(fitting) > 1:
        covering = [source for source in fitting if _lies_in(code, source.node) is not False]
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


def names_in(code: CodeType) -> set[str]:
    """Every name in a code object and in those inside it."""
    names = {*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            names |= names_in(inner)
    return names


def _lines(code: CodeType) -> list[Any]:
    """The lines of all instructions: before Python 3.12 equal code objects may differ in them."""
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return [list(code.co_lines()), *map(_lines, inner)]


def _gives(file: _File, code: CodeType, number: int) -> bool:
    """Whether the candidate of that number gives this code: it alone is moved to other lines."""
    text, features = "".join(file.lines), code.co_flags & FUTURE
    tree = ast.parse(text, code.co_filename)
    node = _index(tree, text)[code.co_firstlineno, code.co_name][number].node
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


def _index(tree: ast.Module, text: str) -> dict[tuple[int, str], list[Source]]:
    """All functions of a file by first line and name, as a code object names them."""
    # Expressions hold no functions but lambdas.
    inside: Any = ast.iter_child_nodes if "lambda" in text else statements_inside
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
        todo.extend((child, owner) for child in inside(node))
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


def _lies_in(code: CodeType, node: Node) -> bool | None:
    """Whether the instructions of the code lie inside a lambda; None if that is not known."""
    if sys.version_info < (3, 11) or not isinstance(node, (ast.Lambda, gast.Lambda)):
        return None
    body = node.body
    start, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    inside = [
        start <= (line, column) and (end_line, end_column) <= end
        for line, end_line, column, end_column in code.co_positions()
        if line is not None and column is not None and end_column
    ]
    return bool(inside) and all(inside)


Path: TypeAlias = "tuple[int, ...]"
Found: TypeAlias = "tuple[Path, CodeType]"

_AT_ONCE = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})
COMPREHENSIONS = _AT_ONCE | {"<genexpr>"}


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
            if value.co_name in COMPREHENSIONS:
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
            line = min(one.lineno for one in (node, *node.decorator_list))  # as its code says
            found = self._found.get((name, line), [])
        if len(found) < 2:
            return found[0] if found else None
        fitting = [one for one in found if _lies_in(one[1], node)]
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
    # The name of a function that is assigned to a global has no outer function in it.
    if sys.version_info < (3, 11) and not any(
        step.opname == "STORE_GLOBAL" and step.argval == code.co_name
        for step in dis.get_instructions(outer.__code__)
    ):
        made.__qualname__ = f"{outer.__qualname__}.<locals>.{code.co_name}"
    return made
