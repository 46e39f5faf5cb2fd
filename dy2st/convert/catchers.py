"""Whether the user's code could catch an exception that the Program raises when it runs.

Python would catch it, the Program cannot: its `try` ran while the Program was made. So it is
refused where a `try`, `with` or `finally` of the user, between here and the traced function, may
stop the exception.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import lru_cache
from types import BuiltinFunctionType, CodeType, FrameType
from typing import Any

from dy2st.transpiler import statement_info
from dy2st_runtime.by_identity import ByIdentity
from dy2st_runtime.errors import Location, UnsupportedSyntax
from dy2st_runtime.ir import user_location
from dy2st_runtime.ir.location import is_own_file
from dy2st_runtime.thread_state import ThreadState

_TRIES = (ast.Try, *([ast.TryStar] if sys.version_info >= (3, 11) else []))
_WITHS = (ast.With, ast.AsyncWith)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_JUMPS = (ast.Return, ast.Break, ast.Continue)
_SWALLOWING_MODULES = frozenset({"contextlib", "unittest", "asyncio"})
_MANAGERS = (redirect_stdout, redirect_stderr)
_CATCHES = "a `try` whose `except` may catch it"
_UNKNOWN = object()

Path = tuple[tuple[str, int], ...]


class _Refused(ThreadState):
    """The last refusal, and who hears of exceptions instead of refusing them."""

    # The same `with` or `finally` may swallow it, too.
    error: UnsupportedSyntax | None = None
    # Hears of the files and lines that an exception passes on its way to a `try`. It returns
    # whether the trace is begun anew for that; until then it goes on, to meet more of them.
    note: Callable[[Path], bool] | None = None


refused = _Refused()


class _Passed(ThreadState):
    """The `finally` and `with` statements through which an exception of the Program may pass."""

    def __init__(self) -> None:
        self.ends: dict[tuple[CodeType, int, int], str] = {}


passed = _Passed()

# The functions that trace: what is outside of them sees the Program run.
tracing_codes: list[CodeType] = []


def refuse_if_caught(
    kind: type[BaseException], at: Location | None = None, raised: BaseException | None = None
) -> bool:
    """Raise UnsupportedSyntax if the user's code may catch an exception of this class here.

    `raised`: the exception itself, if a statement of the user's has raised it.
    Returns whether it would leave a `finally` or `with` of the user's.
    """
    refuse_if_ending(at, raised)
    leaves = False
    stop: tuple[str, int, str] | None = None
    path = [] if raised is None else _path_of(raised)
    for frame in user_frames():
        path.append((frame.f_code, frame.f_lineno))
        for statement in _around_frame(frame):
            what = _stops(statement, kind, frame)
            if what and stop is None:
                stop = frame.f_code.co_filename, statement.lineno, what
            if what == _CATCHES and raised is not None and _comes_anew(path):
                return leaves
            if stop is not None and what == _CATCHES:
                raise _caught(kind, at, *stop)
            leaves = _pass(frame.f_code, statement) or leaves
    if stop is not None:
        raise _caught(kind, at, *stop)
    return leaves


def refuse_if_leaving(kind: type[BaseException], until: CodeType) -> None:
    """Raise UnsupportedSyntax if a `with` of the function that `until` has called may look at an
    exception: the function relays it as its result. A `finally` runs as it does at a `return`."""
    refuse_if_ending()
    for frame in user_frames(until):
        for statement in _around_frame(frame):
            is_with = isinstance(statement, _WITHS)
            what = _stops(statement, kind, frame) if is_with else ""
            if what:
                raise _caught(kind, None, frame.f_code.co_filename, statement.lineno, what)


def _comes_anew(path: Sequence[tuple[CodeType, int]]) -> bool:
    """Whether the trace begins anew for an exception, and goes on until then, to meet others.

    Not in a `while`: perhaps only the exception ends it.
    """
    if refused.note is None or not refused.note(_called_on(path)):
        return False
    around = (node for frame in user_frames() for node in _statements_at(frame))
    return not any(isinstance(node, ast.While) for node in around)


def _path_of(error: BaseException) -> list[tuple[CodeType, int]]:
    """The user's code and lines in the traceback of an exception, the innermost first."""
    found, trace = [], error.__traceback__
    while trace is not None:
        if not is_own_file(trace.tb_frame.f_code.co_filename):
            found.append((trace.tb_frame.f_code, trace.tb_lineno))
        trace = trace.tb_next
    return found[::-1]


def _called_on(path: Sequence[tuple[CodeType, int]]) -> Path:
    """The lines at which something is raised, or called; a branch is code of its own, too."""
    inner = [None, *(code for code, _ in path)]
    return tuple(
        (code.co_filename, line)
        for called, (code, line) in zip(inner, path, strict=False)
        if called is None or statement_info(called) is None
    )


def _caught(
    kind: type[BaseException], at: Location | None, file: str, line: int, what: str
) -> UnsupportedSyntax:
    refused.error = UnsupportedSyntax(
        f"a tensor decides whether {kind.__name__} is raised, inside {what} at line {line}"
        + ("" if at is None or at.file == file else f" of {file}"),
        at=at or user_location(),
        why="the exception is raised when the Program runs, and then no Python code catches it",
        hint="compute what the handler computes in an `if` on the same condition, or raise after "
        f"the {what.split('`')[1]} statement",
    )
    return refused.error


def user_frames(until: CodeType | None = None) -> Iterator[FrameType]:
    """The user's frames of the trace, the innermost first, up to that of `until`."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not any(frame.f_code is code for code in tracing_codes):
        if frame.f_code is until:
            return
        if not is_own_file(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


def _pass(code: CodeType, statement: Any) -> bool:
    """Note where the end of a statement runs, which Python runs also after an exception."""
    if isinstance(statement, _WITHS):
        first, last = statement.lineno, statement.items[-1].context_expr.end_lineno
        passed.ends[code, first, last or first] = "with"
    elif statement.finalbody:
        first, last = statement.finalbody[0].lineno, statement.finalbody[-1].end_lineno
        passed.ends[code, first, last] = "finally"
    else:
        return False
    return True


def refuse_if_ending(at: Location | None = None, raised: BaseException | None = None) -> None:
    """Raise UnsupportedSyntax if what is printed or raised here, or was `raised`, comes from the
    end of a statement that an exception of the Program may leave: it would not be then."""
    if not passed.ends:
        return
    path = [(frame.f_code, frame.f_lineno) for frame in user_frames()]
    for place, line in [*path, *([] if raised is None else _path_of(raised))]:
        for (code, first, last), word in passed.ends.items():
            if code is place and first <= line <= last:
                raise UnsupportedSyntax(
                    f"the end of the `{word}` at line {first} prints or raises, after a tensor has "
                    "decided whether an exception is raised in it",
                    at=at or user_location(),
                    why="the Program stops at the exception, and no Python code runs then",
                    hint=f"print or raise after the `{word}` statement",
                )


def _around_frame(frame: FrameType) -> Sequence[Any]:
    """The `try` and `with` statements in whose body a frame is, the innermost first."""
    if not getattr(frame.f_code, "co_exceptiontable", b"any"):
        return ()
    return [node for node in _statements_at(frame) if _is_watched(node, frame.f_lineno)]


def _statements_at(frame: FrameType) -> Sequence[Any]:
    """The statements of its function in which a frame is, the innermost first."""
    code, line = frame.f_code, frame.f_lineno
    known = _statements.get(code)
    if known is None:
        known = _statements[code] = {}
    if line not in known:
        text = "".join(linecache.getlines(code.co_filename, frame.f_globals))
        known[line] = tuple(_around(text, line))
    return known[line]


# By code and line.
_statements: ByIdentity[CodeType, dict[int, tuple[Any, ...]]] = ByIdentity()


@lru_cache(maxsize=64)
def tree_of(text: str) -> ast.Module | None:
    """A text as Python reads it; None if it does not."""
    try:
        return ast.parse(text)
    except SyntaxError:
        return None


def _around(text: str, line: int) -> Iterator[Any]:
    """The `try`, `with` and `while` statements in which a line is, within its function."""
    tree = tree_of(text)
    found: list[Any] = []
    nodes: list[ast.AST] = [] if tree is None else [tree]
    while nodes:
        node = nodes.pop()
        inside = [child for child in ast.iter_child_nodes(node) if covers(child, line)]
        for child in inside:
            if isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
                found.clear()
            elif isinstance(child, (*_WITHS, *_TRIES, ast.While)):
                found.append(child)
        nodes += inside
    yield from reversed(found)


def covers(node: ast.AST, line: int) -> bool:
    """Whether a line is one of a node's."""
    if not hasattr(node, "lineno"):
        return any(covers(child, line) for child in ast.iter_child_nodes(node))
    return bool(node.lineno <= line <= node.end_lineno)  # type: ignore[attr-defined]


def _holds(block: list[ast.stmt], line: int) -> bool:
    return any(covers(statement, line) for statement in block)


def _is_watched(node: Any, line: int) -> bool:
    """Whether this is a `with`, or a `try` whose handlers or `finally` see what a line raises."""
    if isinstance(node, _WITHS):
        return _holds(node.body, line)
    if type(node) not in _TRIES:
        return False
    return _holds(node.body, line) or (bool(node.finalbody) and not _holds(node.finalbody, line))


def _stops(node: Any, kind: type[BaseException], frame: FrameType) -> str:
    """How a statement may stop an exception, "" if it cannot."""
    if isinstance(node, _WITHS):
        safe = all(_never_swallows(item.context_expr, frame) for item in node.items)
        return "" if safe else "a `with` whose context may swallow it, print or raise"
    if _holds(node.body, frame.f_lineno):
        for handler in node.handlers:
            if handler.type is None or _may_catch(_value(handler.type, frame), kind):
                return _CATCHES
    if any(isinstance(inner, _JUMPS) for s in node.finalbody for inner in ast.walk(s)):
        return "a `try` whose `finally` may swallow it"
    if _shows(node.finalbody):
        return "a `try` whose `finally` prints or raises"
    return ""


def _shows(block: Sequence[ast.AST]) -> bool:
    """Whether a statement prints or raises: a Program that has raised would not do it."""
    return any(
        isinstance(inner, (ast.Raise, ast.Assert))
        or (isinstance(inner, ast.Name) and inner.id == "print")
        for statement in block
        for inner in ast.walk(statement)
    )


def _may_catch(classes: Any, kind: type[BaseException]) -> bool:
    if isinstance(classes, tuple):
        return any(_may_catch(entry, kind) for entry in classes)
    return not isinstance(classes, type) or issubclass(kind, classes)


def _value(node: ast.expr, frame: FrameType) -> Any:
    """The value of a name, of attributes of a name, or of a tuple of such."""
    if isinstance(node, ast.Tuple):
        return tuple(_value(entry, frame) for entry in node.elts)
    if isinstance(node, ast.Attribute):
        owner = _value(node.value, frame)
        return _UNKNOWN if owner is _UNKNOWN else inspect.getattr_static(owner, node.attr, _UNKNOWN)
    if not isinstance(node, ast.Name):
        return _UNKNOWN
    for scope in (frame.f_locals, frame.f_globals, vars(builtins)):
        if node.id in scope:
            return scope[node.id]
    return _UNKNOWN


def _never_swallows(node: ast.expr, frame: FrameType) -> bool:
    """Whether a context manager is known to let exceptions pass."""
    if isinstance(node, ast.Call):
        made = _value(node.func, frame)
        if inspect.isfunction(made):
            return _generator_lets_pass(inspect.unwrap(made))
        if isinstance(made, BuiltinFunctionType):  # open(), Lock()
            return made.__module__ in sys.stdlib_module_names
        return isinstance(made, type) and _lets_pass(made)
    value = _value(node, frame)
    return value is not _UNKNOWN and _lets_pass(type(value))


def _lets_pass(kind: type) -> bool:
    leave: Callable[..., Any] = getattr(kind, "__exit__", None) or kind
    module = str(getattr(leave, "__module__", None) or kind.__module__).partition(".")[0]
    if kind in _MANAGERS or is_own_file(getattr(leave, "__code__", _NO_CODE).co_filename):
        return True
    if module in sys.stdlib_module_names:
        return module not in _SWALLOWING_MODULES
    return inspect.isfunction(leave) and _returns_nothing(leave)


_NO_CODE = compile("", "", "exec")


def _returns_nothing(function: Callable[..., Any]) -> bool:
    """Whether a function surely returns None, and shows nothing, as far as its text tells."""
    node = _definition(function)
    if node is None or _shows([node]):
        return False
    values = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Return)]
    return all(v is None or (isinstance(v, ast.Constant) and not v.value) for v in values)


def _generator_lets_pass(function: Callable[..., Any]) -> bool:
    """Whether a generator function of @contextmanager has no `except` and no `with`."""
    node = _definition(function)
    if node is None or not inspect.isgeneratorfunction(function):
        return False
    kinds = (ast.ExceptHandler, ast.With, ast.AsyncWith)
    tries: list[Any] = [inner for inner in ast.walk(node) if isinstance(inner, _TRIES)]
    finals = [s for inner in tries for s in inner.finalbody]
    jumps = [n for s in finals for n in ast.walk(s) if isinstance(n, _JUMPS)]
    if _shows(finals):
        return False
    return not jumps and not any(isinstance(inner, kinds) for inner in ast.walk(node))


def _definition(function: Callable[..., Any]) -> ast.AST | None:
    code: CodeType = getattr(function, "__code__", _NO_CODE)
    text = "".join(linecache.getlines(code.co_filename))
    tree = tree_of(text)
    for node in () if tree is None else ast.walk(tree):
        if isinstance(node, _FUNCTIONS) and node.name == code.co_name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first == code.co_firstlineno:
                return node
    return None
