"""Exceptions of regions: what the user's code raises in a branch becomes an operator of it."""

from __future__ import annotations

import builtins
import linecache
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from dy2st.convert.dy2static import is_named, users_limit
from dy2st.convert.effect_table import is_ignored_module, is_polyfill
from dy2st.convert.objects import members_of
from dy2st.convert.trace import Trace
from dy2st.convert.types import info
from dy2st.convert.types.values import with_lists
from dy2st_runtime.dims import Condition, Dim, operations
from dy2st_runtime.errors import (
    ConversionError,
    Dy2stError,
    MissingAttribute,
    PassError,
    PlaceError,
    SourceUnavailable,
    UndecidedDim,
    VerifyError,
    listener,
)
from dy2st_runtime.ir import F, Tensor, user_location
from dy2st_runtime.ir.exceptions import ErrorKind
from dy2st_runtime.ir.location import entries_of, is_own_file, is_reraise, location_of
from dy2st_runtime.ir.structure import flatten, is_container
from dy2st_runtime.ir.tracing import python_numbers
from dy2st_runtime.ir.tracing.gradient_flow import refuse_leaf


class AlwaysRaises(BaseException):
    """What follows is never run: the Program has raised on every path."""


class Carried(BaseException):
    """An exception of the user's, or one of several, which is `args`, on its way to a handler."""


class Refused(BaseException):
    """A refusal, which is `args`, on its way out of handlers of the user's that may catch it."""


@dataclass(eq=False)
class Handler:
    """What may catch an exception of the code that runs.

    classes: those that are caught, or an iterator of what each clause names: it is asked when there
    is an exception, and no further than Python asks.
    is_staged: whether an exception can be carried to it; else one in a branch is refused.
    ends_loop: whether it is the end of a loop over an object of the user's.
    lets_pass: whether every exception goes on behind it, as behind `finally`.
    """

    classes: Callable[[], Any]
    is_staged: bool = True
    ends_loop: bool = False
    lets_pass: bool = False

    def catches(self, kind: type[BaseException]) -> bool:
        """Whether a clause catches exceptions of a class."""
        classes = self.classes()
        clauses = classes if isinstance(classes, Iterator) else (classes,)
        return any(is_named(kind, one) for one in clauses)


def is_refusal(error: BaseException) -> bool:
    """Whether it says that the trace cannot go on, and not what the code would raise."""
    return isinstance(error, REFUSALS)


REFUSALS = (ConversionError, UndecidedDim, VerifyError, PassError)


def is_thrown(trace: Trace, error: BaseException) -> bool:
    """Whether the code has raised it; Ctrl-C comes from elsewhere."""
    is_plain = isinstance(error, (Exception, GeneratorExit))
    return is_plain or any(error is one for one in trace.record.thrown)


@contextmanager
def reraise_swallowed_refusals(function: Any) -> Iterator[None]:
    """What a function of a library catches that refuses the trace is raised when it has ended."""
    if str(getattr(function, "__module__", "")).startswith("dy2st"):  # ours may catch refusals
        yield
        return
    heard: list[Dy2stError] = []
    outer, listener.hear = listener.hear, heard.append
    try:
        yield
    finally:
        listener.hear = outer
    for one in heard:
        if not isinstance(one, SourceUnavailable):
            raise one


def is_caught(trace: Trace, kind: type[BaseException]) -> bool:
    """Whether an exception of a class is carried to a handler."""
    for handler in reversed(trace.handlers):
        if handler.catches(kind):
            if handler.ends_loop:
                raise ConversionError(
                    f"a loop over an object ends with a {kind.__name__} that a tensor decides on",
                    why="the loop is unrolled, and how often it would run is known only later",
                    hint="write a generator with `yield`, or a `while` loop on the tensor",
                )
            if not handler.is_staged:
                raise ConversionError(
                    f"{kind.__name__} is raised in a branch or loop that depends on a tensor, in a "
                    "`try` or `with` that may catch it and that stays Python's own",
                    why="whether it is raised is known only when the Program runs",
                    hint="let no `yield`, and no `return` in `finally`, stand in the `try` or "
                    "`with`",
                )
            return True
    return False


def may_be_caught(trace: Trace, kind: type[BaseException]) -> bool:
    """Whether an exception of a class that only data decide on ends at a handler.

    One that goes on behind all of them is raised by the Program, where it stands.
    """
    ends = (one for one in trace.handlers if not one.lets_pass and not one.ends_loop)
    return any(handler.catches(kind) for handler in ends)


@contextmanager
def under(trace: Trace, *handlers: Handler) -> Iterator[None]:
    """Code whose exceptions these handlers may catch, the last one first."""
    trace.handlers += handlers
    try:
        yield
    finally:
        # Wherever they stand: generators are left and gone on with in any order.
        trace.handlers[:] = [one for one in trace.handlers if one not in handlers]


@contextmanager
def ending(trace: Trace, *kinds: type[Exception]) -> Iterator[None]:
    """What the user's code raises inside ends a loop of Python's."""
    with under(trace, Handler(lambda: kinds, is_staged=False, ends_loop=True)):
        yield


def is_endless(error: BaseException) -> bool:
    """Whether Python's limit of calls in each other is reached."""
    return isinstance(error, RecursionError) and str(error).startswith("maximum recursion depth")


def endless(reason: Exception | None = None) -> ConversionError:
    """The refusal of code in a branch or body that calls itself again and again."""
    why = f"up to Python's limit of {users_limit()} calls in each other"
    if reason is not None:
        why = f"and no function of the Program can stand for it: {str(reason).strip()}"
    return ConversionError(
        "a recursion whose end depends on a tensor, or that is too deep to be traced",
        why="both branches of an `if` on a tensor are traced, so every call makes the next one, "
        + why,
        hint="let every call get and give values of the same kinds, and change nothing that it is "
        "given: then it becomes a function of the Program that calls itself; or write it as a "
        "`while` loop; if a number of Python ends it, raise the limit with "
        "sys.setrecursionlimit(...)",
    )


CODE_FAULTS = (AttributeError, NameError, TypeError)  # unless it is `raise` that says so


def note_raise(trace: Trace, error: BaseException, of_cases: bool = False) -> None:
    """Let the Block raise what the user's code raised; an error of the code itself goes on.

    A wrong name or type is a fault of the code whether or not the branch is taken, but not where
    it is one of several values that has no such operation (`of_cases`), nor what `raise` raises,
    nor what None has not: where there is no value, code that asks for one is not meant to run.
    What a variable or object has not yet, an iteration before may give it.
    """
    is_wrong = isinstance(error, CODE_FAULTS) and type(error) is not UnboundLocalError
    is_wrong = is_wrong and not any(error is one for one in trace.record.thrown)
    holder = info(type(getattr(error, "obj", error))).family
    is_wrong = is_wrong and "NoneType" not in str(error) and holder not in ("object", "layer")
    is_ours = isinstance(error, Dy2stError) or not _is_of_the_user(error)
    # That a tensor has no such position, Python says on that path alone.
    if not of_cases and (is_wrong or (is_ours and type(error) is not PlaceError)):
        raise error
    record(trace, error)
    entries = entries_of(error.__traceback__)
    users = [one for one in entries if not is_own_file(one.tb_frame.f_code.co_filename)]
    if users:
        # The operator that `record` has appended stands where the user's innermost frame has
        # raised.
        trace.tracer.block.operators[-1].location = location_of(users[-1])


def _is_of_the_user(error: BaseException) -> bool:
    """Whether user code raised it, or what stands for a function of Python: no fault of ours."""
    # Whoever stands last has raised it; all others have let it pass, as what hides frames of ours.
    entries = [one for one in entries_of(error.__traceback__) if not is_reraise(one)]
    if not entries:
        return False
    frame = entries[-1].tb_frame
    name = frame.f_code.co_filename
    if not is_own_file(name) or name.startswith(_STAND_INS) or frame.f_code is _LEAF:
        return True
    module = str(frame.f_globals.get("__name__"))
    return is_polyfill(module) or not is_ignored_module(module)


_LEAF = refuse_leaf.__code__  # says what Python says of a change in place
# Their functions raise what Python would.
_STAND_INS = (
    *(str(Path(__file__).parents[1] / name) for name in ("kinds", "protocol", "stage/checks.py")),
    *(python_numbers.__file__, operations.__file__),
)


def record(trace: Trace, error: BaseException) -> None:
    """Let the Program raise an exception, with the values of its tensors, where this stands."""
    if isinstance(error, MissingAttribute):
        # Its text is looked for when somebody reads it, in what no Program can keep.
        error = AttributeError(str(error))
    kind, state = type(error), vars(error) | members_of(error)
    # One of Python's own is found by its name; other classes, and causes, the Program keeps.
    is_builtin = getattr(builtins, kind.__name__, None) is kind and issubclass(kind, Exception)
    name: Any = ErrorKind.of(error)
    name.take_cause(error, state, trace.fields)
    args = tuple(map(with_lists, error.args))
    is_live = lambda one: is_container(one) or isinstance(one, (Tensor, Dim, Condition))  # noqa: E731
    if any(isinstance(entry, Enum) for entry in args) and not any(map(is_live, args)):
        name.arguments = args
        args = tuple(repr(entry) if isinstance(entry, Enum) else entry for entry in args)
    elif is_builtin and error.__cause__ is None:
        name = kind.__name__
    kept = (bool, int, float, str, bytes, type(None), Tensor, Dim, Condition)
    wrong, _ = flatten((args, state), lambda v: not is_container(v) and not isinstance(v, kept))
    if wrong and kind is KeyError and not any(error is one for one in trace.record.thrown):
        args = ("a key that is known only when the Program runs",)  # a dict has raised it
    elif wrong:
        raise ConversionError(
            f"{kind.__name__} is raised with a {type(wrong[0]).__name__} in a branch or loop that "
            "depends on a tensor",
            why="a Program can keep tensors, Python constants, and lists, tuples and dicts of them",
            hint="raise it with the text or numbers that it needs",
        )
    plain = len(args) < 2 and all(isinstance(entry, str) for entry in args)
    message = (args or (None,))[0] if plain else args
    F.raise_(name, message, state)


def noted(trace: Trace) -> tuple[int, ...]:
    """What has happened so far that no function does."""
    tracer, record = trace.tracer, trace.record
    logs = tracer.flags.asked, tracer.made, record.distinct, record.apart, record.answers
    return trace.repeats.disturbed, *map(len, logs)


@contextmanager
def staging(trace: Trace, kind: str, ends: bool = True) -> Iterator[None]:
    """A statement or expression is staged: an error that leaves it gets a note of where it is.

    `kind` is its word in Python, none for that of the statement around it; `ends`: it surely does.
    """
    place = user_location() if kind else None
    if place is not None:
        trace.record.staged[kind, place.file, place.line, place.column] = None
    trace.record.ends.append(ends)
    try:
        yield
    except (AlwaysRaises, Carried):  # what the trace itself raises is no error
        raise
    except BaseException as raised:  # any: it goes on
        error = raised.args[0] if isinstance(raised, Refused) else raised
        if place is not None and sys.version_info >= (3, 11):  # 3.10 has no notes
            text = linecache.getline(place.file, place.line).strip()
            note = f"in the staged `{kind}` of {place}" + (f": {text}" if text else "")
            if note not in getattr(error, "__notes__", ()):
                error.add_note(note)
        raise
    finally:
        trace.record.ends.pop()
