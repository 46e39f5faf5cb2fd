"""Calls that reach beyond what a trace sees: streams, clocks, random numbers, objects kept in C.

Python makes them while the function is traced: once a call, as each call is traced anew for them.
In a branch or loop that a tensor decides on they would happen on every path, so they are refused.
What is quickly read of the process is asked again at each call. Functions that are not known to
read their arguments alone are called at each call, too: it is traced anew.
"""

from __future__ import annotations

import dis
import inspect
import io
import os
import re
import sys
from _thread import LockType, RLock
from abc import get_cache_token
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from types import CodeType, FrameType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

import numpy as np

from dy2st.convert import dy2static
from dy2st.convert.dy2static import users_limit
from dy2st.convert.effect_table import (
    KINDS,
    MUTATES,
    SEED,
    Effect,
    EffectRow,
    changed,
    draws,
    is_of_library,
    module_of,
    module_of_code,
    row_of,
)
from dy2st.convert.kinds.scalars import refuse_native_key
from dy2st.convert.kinds.table import code_row, function_row, method_row
from dy2st.convert.trace import EACH_CALL, Trace
from dy2st.convert.types import info
from dy2st.convert.values.special import CONTENT
from dy2st.transpiler.compile import is_part
from dy2st_runtime.errors import ConversionError, UnsupportedSyntax
from dy2st_runtime.ir import user_location
from dy2st_runtime.ir.location import holds, is_own_file, user_frame

# -- functions that look at the frame that calls them ---------------------------------------------
# They see one of the user's function.


def user_frames(frame: FrameType | None = None) -> Iterator[FrameType]:
    """The frames of the user's functions, innermost first: the body of a statement is no other."""
    frame, inside = frame or user_frame(), None
    while frame is not None:
        code = frame.f_code
        if not is_own_file(code.co_filename):
            if inside is None or not holds(code, inside):
                yield frame
                inside = code
            if not is_part(code):
                inside = None
        frame = frame.f_back


def called_by_the_user(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`function(*args, **kwargs)` by a frame that has the globals, name and line of the user's."""
    frame = user_frame()
    if frame is None:
        return function(*args, **kwargs)
    if (function.__module__, getattr(function, "__name__", "")) == ("pdb", "set_trace"):
        return _stop()
    code = _CALL.replace(
        co_filename=frame.f_code.co_filename,
        co_name=frame.f_code.co_name,
        co_firstlineno=frame.f_lineno - 1,
    )
    try:
        return FunctionType(code, frame.f_globals)(function, args, kwargs)
    except BaseException as error:  # goes on, without the frame
        here = error.__traceback__
        if here is not None and here.tb_next is not None:
            here.tb_next = here.tb_next.tb_next
        raise


def _call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return function(*args, **kwargs)


_OWN = ("dy2st", "numpy")
_CALL: CodeType = _call.__code__


def looks_at_caller(function: Any) -> bool:
    """Whether a function may look at the frame that calls it: one of Python's own, a metaclass."""
    if isinstance(function, type):
        return issubclass(function, type)
    module = str(getattr(function, "__module__", ""))
    return type(function) is FunctionType and not module.startswith(_OWN)


@function_row(sys._getframe)
def _getframe(trace: Trace, depth: int = 0) -> FrameType:
    found = [*user_frames()][depth:]
    if not found:
        raise ValueError("call stack is not deep enough")
    return found[0]


@function_row(inspect.currentframe)
def _currentframe(trace: Trace) -> FrameType | None:
    return next(user_frames(), None)


@function_row(sys.exit)
def exit_(trace: Trace, status: Any = None) -> None:
    """`sys.exit(status)`: an exception like others."""
    args = status if isinstance(status, tuple) else () if status is None else (status,)
    raise trace.raised(SystemExit(*args))


@function_row(breakpoint)
def _breakpoint(trace: Trace, /, *args: Any, **options: Any) -> None:
    if trace.call_context.is_tentative:
        trace.refuse_effect("breakpoint() is called")
    hook = trace.attr(sys, "breakpointhook")
    is_default = hook is sys.__breakpointhook__
    if hook is not sys.breakpointhook:  # the code has set it
        trace.call(hook, *args, **options)
    elif is_default and "PYTHONBREAKPOINT" not in os.environ:  # it names another debugger
        _stop()
    else:
        called_by_the_user(hook, args, options)


def _stop() -> None:
    """Let the debugger of Python stop on the user's next line."""
    frame = user_frame()
    debugger = import_module("pdb").Pdb()  # who debugs waits for it
    debugger.set_trace(frame)
    sys.settrace(None)  # it would stop in the next line of ours
    debugger.set_next(frame)
    sys.settrace(debugger.trace_dispatch)


# -- side effects ---------------------------------------------------------------------------------

_BY_IDENTITY: Any = object.__hash__

_NAMED: Mapping[str, Any] = MappingProxyType({})


@function_row(sys.getrecursionlimit)
def _getrecursionlimit(trace: Trace) -> Any:
    return trace.read("volatile", sys.getrecursionlimit, ((), ()), users_limit())


def is_settled(value: Any) -> bool:
    """Whether a value is asked for by what it is: nobody changes it, or by which object it is."""
    if isinstance(value, tuple) and type(value).__hash__ is tuple.__hash__:
        return all(map(is_settled, value))
    row = info(type(value)).base
    is_value = row.is_atom or row.family in ("class", "value")
    return is_value or _hash_of(type(value)) is _BY_IDENTITY


def _hash_of(kind: type) -> Any:
    """What a class holds as `__hash__`: to ask the class itself may make something new."""
    return next(vars(one)["__hash__"] for one in kind.__mro__ if "__hash__" in vars(one))


def variables() -> Any:
    """The dict in which Python keeps the variables of the environment."""
    return vars(os.environ)["_data"]


def has_set_variables(trace: Trace) -> bool:
    """Whether the code itself has set some: they are where it has set them."""
    return (id(variables()), CONTENT) in trace.over


@function_row(os.getenv)
def getenv_(trace: Trace, key: Any, default: Any = None) -> Any:
    """`os.getenv(key, default)`."""
    return trace.call(os.environ.get, key, default)


def note_environment(trace: Trace, function: Any, args: tuple[Any, ...]) -> bool:
    """Note that a name of the environment was looked up, if that is what a call does."""
    if len(args) < 2 or args[0] is not os.environ or not isinstance(args[1], str):
        return False
    if has_set_variables(trace):
        return False
    is_one = getattr(function, "__name__", "") in ("get", "__getitem__", "__contains__")
    if is_one:
        trace.read_volatile(os.environ.get, args[1])
    return is_one


def note_settings(trace: Trace, *values: Any) -> None:
    """Note the settings of the process that operators and texts of some values depend on."""
    for value in values:
        if issubclass(type(value), (np.ndarray, np.floating)):
            trace.read_volatile(np.get_printoptions)
        elif type(value).__module__ == "decimal":
            trace.read_volatile(_decimal_settings)  # flags, too: what it does sets some


def _decimal_settings() -> str:
    module = sys.modules.get("decimal")  # None where a test has loaded another one
    return "" if module is None else repr(module.getcontext())


def note_abstract(trace: Trace) -> None:
    """Note what abstract classes answer: any class may be registered with one later."""
    trace.read_volatile(get_cache_token)


def _makes_exception(function: Any) -> bool:
    """Whether a call makes an exception, in C alone: it asks of no class what it is."""
    if not isinstance(function, type) or not issubclass(function, BaseException):
        return False
    makers = function.__new__, function.__init__, type(function).__call__
    return not any(isinstance(one, FunctionType) for one in makers)


def is_opaque(value: Any) -> bool:
    """Whether an object of C may change and shows nothing of it: an iterator, a queue."""
    kind = type(value)
    is_by_identity = _hash_of(kind) in (None, _BY_IDENTITY)
    is_seen = hasattr(value, "__dict__") or any("__slots__" in vars(one) for one in kind.__mro__)
    if not is_by_identity or is_seen or kind is object:
        return False
    # What an array holds is noted elsewhere, and locks are a matter of threads.
    row = info(kind)
    return not (row.is_fixed or row.state or isinstance(value, (LockType, RLock)))


_ONCE = "Python runs it while the function is traced"
_OUT = "call it before the branch or loop, or after the call"


def with_owner(function: Any, args: Sequence[Any]) -> tuple[Any, ...]:
    """The arguments of a call, the object of a method in C before them."""
    owner = None if isinstance(function, type) else getattr(function, "__self__", None)
    return (*args,) if owner is None or isinstance(owner, ModuleType) else (owner, *args)


def check_side_effects(
    trace: Trace,
    function: Any,
    args: Sequence[Any],
    named: Mapping[str, Any] = _NAMED,
    row: EffectRow | None = None,
) -> None:
    """Refuse what must not happen here; note what each call is traced anew for.

    args: with the object of a method; `row` is what is known of the call, where it is at hand.
    """
    values = (*args, *named.values())
    subject = next(iter(values), None)
    refuse_native_key(trace, subject, values)
    # By its class: to ask an object that is half made what it is may run code of the user's.
    is_step = getattr(function, "__name__", "") in _ADVANCING
    if is_step and not issubclass(type(subject), io.IOBase) and trace.is_outside(subject):
        refuse_advance_outside(subject)
    row = _row_here(trace, row or row_of(function, values), function, values)
    if row.hint == SEED:
        raise ConversionError(row.what.format(function.__name__), why=_ONCE, hint=SEED)
    if row.effect in (Effect.UNKNOWN, Effect.READS_PROCESS):
        text = f"{_named(function)} is called at {user_location()}"
        trace.read(EACH_CALL, function, "called", text)
    back = next((one for one in values if _may_write(one)), None)
    if back is not None and _is_calling_back(function):
        text = f"{back.__qualname__}() is given to {_named(function)} at {user_location()}"
        trace.read(EACH_CALL, function, "called", text)
    if not module_of(function).startswith("dy2st") and not _makes_exception(function):
        note_abstract(trace)  # ours ask none
    is_once = row.effect in (Effect.IO, Effect.RANDOM, Effect.CLOCK)
    what = row.what.format(getattr(function, "__name__", ""), _called(function)[:-2])
    if trace.call_context.is_tentative and what and not is_once:
        trace.refuse_effect(what)  # Python would do it a second time, if the trace is refused later
    if is_once and not trace.is_nested:
        trace.read(EACH_CALL, function, what, f"{what} at {user_location()}: {row.hint}")
    if not trace.is_nested:
        return
    if is_once or row.effect is Effect.SETS_PROCESS:
        raise _in_a_branch(what, "it would happen on every path", row.hint)
    if row.effect is Effect.UNKNOWN:
        unknown = f"{_named(function)} is called"
        raise _in_a_branch(unknown, "it may do something, on every path", _OUT)
    touched = _reached(changed(row, function, args, named))
    other = next((one for one in touched if _may_change(trace, one)), None)
    if other is not None:
        name, kind = getattr(function, "__name__", "a function"), type(other).__name__
        raise _in_a_branch(
            f"{name}(), which is not converted, gets a {kind} that is made outside",
            "it may change it, on every path",
            f"call it before or after, or give it a {kind} that is made in the branch or loop",
        )


def _row_here(trace: Trace, row: EffectRow, function: Any, values: Sequence[Any]) -> EffectRow:
    """What a call does, seen from outside of the function that is traced."""
    if not values:
        return row
    subject = values[0]
    # A stream in memory, or a generator of numbers, that the code itself has made
    is_own = _is_in_memory(type(subject)) or (
        draws(subject) and (not trace.is_nested or trace.is_made_here(subject))
    )
    if is_own and not trace.is_outside(subject) and row.what != KINDS["FROM_MACHINE"].what:
        return MUTATES
    kinds = [type(one) for one in values]
    has_stream = any(issubclass(k, io.IOBase) and not _is_in_memory(k) for k in kinds)
    if not has_stream or row.effect is Effect.IO or not _is_calling_back(function):
        return row
    return replace(KINDS["STREAMS"], what=f"a stream is given to {_called(function)}")


def _is_calling_back(function: Any) -> bool:
    """Whether a function may call functions that it is given, or write into streams."""
    return module_of(function).partition(".")[0] not in _ASKING_OF_FUNCTIONS


# Modules whose functions look at a function that they are given, and do not call it.
_ASKING_OF_FUNCTIONS = (
    *("abc", "builtins", "collections", "dataclasses", "dy2st", "dy2st_runtime", "enum"),
    *("functools", "inspect", "operator", "types", "typing", "weakref"),
)


def _is_in_memory(kind: type) -> bool:
    """Whether objects of a class are streams in memory."""
    return issubclass(kind, io.IOBase) and info(kind).state == "hidden"


_ADVANCING = frozenset({"__next__", "send", "throw", "close"})


def refuse_advance_outside(iterator: Any) -> None:
    """Refuse to take an item of an iterator, or to go on with a coroutine, that others hold."""
    if hasattr(type(iterator), "__next__") or isinstance(iterator, Coroutine):
        raise UnsupportedSyntax(
            f"a {type(iterator).__name__} from outside of the converted function is advanced",
            why="each call would have to take another item, and a Program has none of them",
            hint="take the item outside, and give it to the function",
        )


def _may_write(value: Any) -> bool:
    """Whether it is a function of the user's that does more than compute from what it reads."""
    function = value.__func__ if type(value) is MethodType else value
    if type(function) is not FunctionType or is_of_library(module_of_code(function)):
        return False
    steps = [step.opname for step in dis.get_instructions(function)]
    sets = any(one.startswith(("STORE_", "DELETE_")) and "_FAST" not in one for one in steps)
    return sets or not {*function.__code__.co_names} <= _HARMLESS


# Names in a function that only computes: of methods of texts and matches, and of Python's own.
_HARMLESS = {*dir(str), *dir(re.Match), *dir(int), *dir(float), "math"} | {
    *("abs", "bool", "chr", "dict", "divmod", "enumerate", "float", "hash", "hex", "int"),
    *("isinstance", "len", "list", "max", "min", "oct", "ord", "pow", "range", "repr", "reversed"),
    *("round", "set", "sorted", "str", "sum", "tuple", "type", "zip"),
}


def _named(function: Any) -> str:
    return f"{_called(function)}, which is not traced,"


def _called(function: Any) -> str:
    return f"{getattr(function, '__qualname__', type(function).__name__)}()"


def refuse_change(trace: Trace, owner: Any) -> None:
    """Refuse to change an object natively, in a branch or body, that is older."""
    # What has no items raises of itself.
    has_items = hasattr(type(owner), "__setitem__") or hasattr(type(owner), "__delitem__")
    if has_items and trace.is_nested and _may_change(trace, owner) and not info(type(owner)).state:
        kind = type(owner).__name__
        raise _in_a_branch(
            f"an item of a {kind} is set or deleted",
            "it would be done on every path",
            "use a dict or list of Python, or change it before or after",
        )


def _in_a_branch(what: str, why: str, hint: str) -> UnsupportedSyntax:
    return UnsupportedSyntax(
        f"{what} in a branch or loop that depends on a tensor", why=f"{_ONCE}: {why}", hint=hint
    )


def is_fresh(row: EffectRow, given: Iterable[Any], found: Any) -> bool:
    """Whether a function has made what it gives: a list of a str's, an array of NumPy's."""
    kind = type(found)  # to ask the object itself may run code of the user's
    is_view = issubclass(kind, np.ndarray) and found.base is not None
    return issubclass(kind, row.makes) and not is_view and all(found is not one for one in given)


def _reached(values: Iterable[Any]) -> list[Any]:
    """The values, and what stands in tuples among them."""
    found: list[Any] = []
    for value in values:
        found += _reached(value) if isinstance(value, tuple) else [value]
    return found


def _may_change(trace: Trace, value: Any) -> bool:
    """Whether somebody else would see a change of a value."""
    row = info(type(value))
    # What a class that is derived from a container holds is compared, and written on each path.
    return not (row.state == "derived" or row.is_fixed or trace.is_made_here(value))


# -- functions of dy2static -----------------------------------------------------------------------
# Code that is converted itself calls them: what `.code` prints runs in a module of the user's, too;
# there its branches are functions as others.

# What prepares a value for Python's own syntax, by which the converted code takes it.
_FOR_SYNTAX = frozenset(
    ("double_star", "iterate", "manager", "raised", "spread_double_star", "spread_star")
)


@dataclass(frozen=True, eq=False)
class _Method:
    """The method that an object, or each of several, has by a name."""

    owner: Any
    name: str


@method_row(_Method, name="__call__")
def _call_method(trace: Trace, method: _Method, /, *args: Any, **kwargs: Any) -> Any:
    return trace.method(method.owner, method.name, *args, **kwargs)


def _statement(trace: Trace, function: FunctionType, /, *args: Any, **kwargs: Any) -> Any:
    """A statement with functions that are traced when they are called."""
    named = {name: _traced(trace, value) for name, value in kwargs.items()}
    return function(*(_traced(trace, value) for value in args), **named)


def _traced(trace: Trace, value: Any) -> Any:
    if type(value) is FunctionType:
        return partial(trace.call, value)
    if type(value) is tuple:
        return tuple(_traced(trace, one) for one in value)
    return value


for _name in dy2static.STATEMENTS:
    code_row(getattr(dy2static, _name).__code__)(_statement)


# A call is no statement, though it has the name of one.
@code_row(dy2static.convert_call.__code__)
def _convert_call(
    trace: Trace, _: FunctionType, function: Any, method: str | None = None, *__: Any
) -> Any:
    """What is called, to be called by the converted code."""
    return function if method is None else _Method(function, method)


@code_row(dy2static.operation("add").__code__)
def _operation(trace: Trace, function: FunctionType, *args: Any) -> Any:
    """An operation of the trace; what it takes are values."""
    return args[0] if function.__name__ in _FOR_SYNTAX else function(*args)
