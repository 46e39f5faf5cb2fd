"""`convert_call`: what rewritten code calls instead of a function.

Python functions, generator and `async` functions, methods and callable objects are converted when
they are first called; classes, C functions, library code and what not_to_static marks are not.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import inspect
import sys
import weakref
from collections.abc import Callable, Iterable
from functools import partial
from types import (
    BuiltinFunctionType,
    CodeType,
    FrameType,
    FunctionType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

from dy2st.convert import library
from dy2st.convert.asked import untraced
from dy2st.convert.assert_ import convert_assert
from dy2st.convert.attribute_builtins import OF_OBJECTS
from dy2st.convert.builtins_ import BUILTINS, any_staged, convert_class
from dy2st.convert.by_turns import (
    are_by_turns,
    convert_generator,
    convert_stops,
    convert_taken,
    turning_lines,
)
from dy2st.convert.cached import cached_call
from dy2st.convert.callbacks import sort_of, table
from dy2st.convert.caught import (
    convert_catches,
    convert_caught_error,
    convert_in_branch,
    convert_is_traced,
    convert_place,
    convert_raised,
)
from dy2st.convert.choices import Method, spread
from dy2st.convert.compare import (
    convert_chain,
    convert_in,
    convert_is,
    convert_is_not,
    convert_not_in,
)
from dy2st.convert.comprehensions import (
    CONSUMING,
    convert_comprehension,
    convert_filter,
    convert_gathered,
    convert_generated,
    convert_held,
    convert_list,
    convert_turns,
    convert_untraced,
)
from dy2st.convert.containers import (
    convert_append,
    convert_change,
    convert_delitem,
    convert_pop,
    convert_setitem,
)
from dy2st.convert.generators import convert_resumed, convert_started
from dy2st.convert.ifelse import convert_ifelse, convert_ifexp, convert_kept
from dy2st.convert.left import (
    convert_caught,
    convert_python_bool,
    convert_python_iter,
    convert_swallowed,
)
from dy2st.convert.logical import convert_and, convert_not, convert_or
from dy2st.convert.loop import (
    convert_for_loop,
    convert_range,
    convert_rest_of_for,
    convert_rest_of_while,
    convert_turn,
    convert_while_loop,
    held_iter,
    recorded_operators,
)
from dy2st.convert.matching import PLAIN_SUBJECTS, convert_match, is_plain_subject
from dy2st.convert.once import LRU_CACHE
from dy2st.convert.outer import convert_module_variable, convert_outer, convert_own
from dy2st.convert.outward import outward
from dy2st.convert.reads import PERHAPS_UNBOUND, convert_cell, defined
from dy2st.convert.record import note_call
from dy2st.convert.relays import (
    are_relaying,
    convert_has_raised,
    convert_heard,
    convert_relayed,
    convert_relayed_error,
    convert_result,
    relaying_call,
    relays_of,
)
from dy2st.convert.staging import is_staged_iterable, is_staged_list
from dy2st.convert.stale import check_fresh
from dy2st.convert.swapping import as_written, own_code
from dy2st.convert.text import convert_format, convert_percent, convert_text, text_method
from dy2st.convert.traced import (
    FRESH_CONTAINERS,
    FRESH_LOOKUPS,
    PLAIN_CONTAINERS,
    PLAIN_SCALARS,
    PLAIN_TYPES,
    PLAIN_VALUES,
    SAME_AS_TYPES,
)
from dy2st.convert.ufuncs import checked_ufunc
from dy2st.convert.undefined import undefined
from dy2st.convert.watching import Era, is_noted, now, watched
from dy2st.transpiler import Converted, is_converted, transpile
from dy2st_runtime.by_identity import ByIdentity
from dy2st_runtime.errors import SourceUnavailable
from dy2st_runtime.ir.choice import Choice
from dy2st_runtime.ir.location import explain_frames

IGNORED_PACKAGES = frozenset({"dy2st", "dy2st_runtime", "numpy", *sys.stdlib_module_names})
# Our own functions that are written like the user's.
_CONVERTED_MODULES = frozenset({"dy2st.static.nn"})
IGNORE_MARK = "__dy2st_ignore__"


# Called with every function that is converted, once.
on_conversion: list[Callable[[FunctionType], None]] = []
_ignored_modules: set[str] = set()


def ignore_module(modules: Iterable[ModuleType]) -> None:
    """Leave the functions of these modules, and of modules inside them, as they are.

    >>> import json
    >>> ignore_module([json])
    """
    for module in modules:
        if not isinstance(module, ModuleType):
            raise TypeError(f"ignore_module takes a list of modules, not {module!r}")
        _ignored_modules.add(module.__name__)
    _conversions.clear()


def is_ignored_module(name: str) -> bool:
    """Whether the functions of a module are called as they are: libraries, and as asked for."""
    if name.partition(".")[0] in IGNORED_PACKAGES:
        return name not in _CONVERTED_MODULES
    return any(name == known or name.startswith(known + ".") for known in _ignored_modules)


def _is_ignored(function: FunctionType) -> bool:
    name = str(function.__globals__.get("__name__", ""))
    return is_ignored_module(name) or getattr(function, IGNORE_MARK, False)


def convert_call(function: Any) -> Any:
    """What to call instead of `function`: its converted form, or itself.

    >>> convert_call(abs) is abs, convert_call(bytes) is bytes
    (False, True)
    """
    if type(function) is FunctionType:
        return _convert_function(function)
    kind = type(function)
    if kind is MethodType:
        if watched.meet is not None:
            watched.meet(type(function.__self__), False)
        if is_staged_list(function.__self__):
            return function.__self__.list_method(function.__name__)
        inner = convert_call(function.__func__)
        if inner is not function.__func__:
            return MethodType(inner, function.__self__)
        return outward(function)
    if kind is type:
        note_call(function)
        if watched.meet is not None:
            watched.meet(function, True)
        return _BUILTINS.get(id(function), function)
    if kind is BuiltinFunctionType:
        note_call(function)
        own = _BUILTINS.get(id(function))
        if own is None:
            own = text_method(function)
        if own is not None:
            return own
        check_fresh(function.__self__)
        if function.__name__ == "sort":
            return sort_of(function, convert_call)
        return outward(function)
    if kind is partial:
        inner = convert_call(function.func)
        if inner is function.func:
            return function
        return partial(inner, *function.args, **function.keywords)
    return _convert_object(function, kind)


class Known:
    """What a call site knows of what it has called; it lives in the frames that call it.

    era: the time in which nobody needs to note its calls, and its defaults cannot change.
    """

    __slots__ = ("__weakref__", "code", "converted", "era", "function")

    def __init__(self, function: Any, converted: Any):
        """Begin with nothing known of the time."""
        self.function, self.converted = function, converted
        self.code = function.__code__ if type(function) is FunctionType else None
        self.era: Era | None = None


class CallSite:
    """A place that calls a function by a name with so many arguments, and what it called last.

    Rewritten code looks at `known` itself: is it this function, with this code, in this era?
    """

    __slots__ = ("count", "known")

    def __init__(self, count: int):
        """Begin with nothing known."""
        self.count = count
        self.known: Callable[[], Known | None] = _nothing


def _nothing() -> None:
    """What a call site knows before its first call."""


def convert_call_at(site: CallSite, function: Any) -> Known:
    """`convert_call` where the same function is called again and again."""
    known = site.known()
    if type(function) is not FunctionType or are_by_turns() or are_relaying():
        return Known(function, convert_call(function))
    if known is None or known.function is not function or known.code is not function.__code__:
        known = Known(function, convert_call(function))
        if type(known.converted) is FunctionType and is_converted(known.converted.__code__):
            site.known = weakref.ref(known)
        return known
    era = now.era
    is_known = is_noted(function)
    known.converted.__defaults__ = function.__defaults__
    known.converted.__kwdefaults__ = function.__kwdefaults__
    holds = function.__defaults__ or function.__kwdefaults__
    is_whole = not holds and known.code.co_argcount == site.count
    known.era = era if is_known and is_whole else None
    return known


def reason_not_converted(function: FunctionType) -> str:
    """Why a function is called as it is; empty if it is not."""
    if getattr(function, IGNORE_MARK, False):
        return "it is marked with not_to_static"
    if _is_ignored(function):
        return (
            f"functions of the module {function.__globals__.get('__name__')} are left as they are"
        )
    try:
        require_source(function)
    except SourceUnavailable as error:
        return f"its source is not available: {error.why}"
    conversion = conversion_of(function)
    if conversion is not None and conversion.untouched:
        return "it calls locals(), eval(), exec(), vars() or dir(), which would see the rewrite"
    return ""


def require_source(function: Any) -> None:
    """Raise SourceUnavailable for a function (also in a method or partial) without readable text.

    What is called as it is on purpose needs none.
    """
    while isinstance(function, (partial, MethodType)):
        function = function.func if isinstance(function, partial) else function.__func__
    if type(function) is FunctionType:
        code = function.__code__
        if not (is_converted(code) or _is_ignored(function)):
            transpile(function)


def _reason_of_frame(frame: FrameType) -> str:
    """Why the code of a frame runs as it is, if converted code has called it."""
    for function in (watched.functions or {}).values():
        conversion = conversion_of(function)
        code = conversion.code_object(HELPERS) if conversion else function.__code__
        if code is frame.f_code:
            reason = reason_not_converted(function)
            return reason and f"{function.__qualname__}() runs as Python, since {reason}"
    return ""


explain_frames(_reason_of_frame)


def _convert_object(function: Any, kind: type) -> Any:
    """An object with `__call__`; that of Layer is ours and converts its forward itself."""
    if issubclass(kind, type):
        if watched.meet is not None:
            watched.meet(function, True)
        return function
    if kind is np.ufunc:
        return checked_ufunc(function)
    if kind is LRU_CACHE:
        return cached_call(function, convert_call)
    if kind is Choice or kind is Method:
        return _each_converted(function)
    if watched.meet is not None:
        watched.meet(kind, False)
    call = inspect.getattr_static(kind, "__call__", None)
    if type(call) is not FunctionType:
        return function
    converted = _convert_function(call)
    return function if converted is call else MethodType(converted, function)


def _each_converted(function: Any) -> Callable[..., Any]:
    """A call of whichever function, or method, it is: each in its converted form."""

    def call(*arguments: Any, **keywords: Any) -> Any:
        if isinstance(function, Method):
            return function.call(lambda method: convert_call(method)(*arguments, **keywords))
        return spread(lambda case: convert_call(case)(*arguments, **keywords), function)

    return call


def converted_code(function: FunctionType) -> CodeType | None:
    """The converted code for a function in place; None if it is called as it is."""
    conversion = conversion_of(function)
    code = None if conversion is None else conversion.code_object(HELPERS)
    if code is None or code.co_freevars != function.__code__.co_freevars:
        return None
    return code


# What contextlib makes of a generator function is its own code; the user's is in its closure.
_DECORATORS: tuple[Any, ...] = (contextlib.contextmanager, contextlib.asynccontextmanager)
_MANAGERS: dict[int, Any] = {id(made(lambda: None).__code__): made for made in _DECORATORS}


_dispatching: Any = functools.singledispatch(lambda value: value)
_DISPATCHING: CodeType = _dispatching.__code__


def _convert_dispatch(function: Any) -> Any:
    """A singledispatch function: a number or size of a Program is one of Python to it."""

    def call(*arguments: Any, **options: Any) -> Any:
        if not arguments or not any_staged(arguments[0]):
            return function(*arguments, **options)

        def of_case(case: Any) -> Any:
            chosen = function.dispatch(convert_class(case))
            return convert_call(chosen)(case, *arguments[1:], **options)

        return spread(of_case, arguments[0])

    return call


def _convert_manager(function: FunctionType) -> FunctionType:
    """The context manager made of the converted generator function."""
    inner = inspect.getclosurevars(function).nonlocals["func"]
    converted = convert_call(inner)
    if converted is inner:
        return function
    made: FunctionType = _MANAGERS[id(function.__code__)](converted)
    return made


def _convert_function(function: FunctionType) -> FunctionType:
    if id(function.__code__) in _MANAGERS:
        return _convert_manager(function)
    if function.__code__ is _DISPATCHING:
        dispatched: FunctionType = _convert_dispatch(function)
        return dispatched
    if id(function) in OF_OBJECTS:
        each: FunctionType = OF_OBJECTS[id(function)]
        return each
    is_noted(function)
    conversion = conversion_of(function)
    if conversion is None:
        called: FunctionType = outward(function)
        return called
    return _in_mode(function, conversion.function(function, HELPERS))


def _in_mode(function: FunctionType, converted: FunctionType) -> FunctionType:
    """A function in the form that this trace needs: one with generators runs their consumers, one
    with lines that exceptions pass relays them."""
    if not (are_by_turns() or are_relaying()):
        return converted
    written = as_written(function)
    relays = relays_of(written.__code__)
    if relays is not None:
        converted = transpile(written, relays=relays).function(function, HELPERS)
    lines = turning_lines(written.__code__)
    if not lines:
        return converted
    turns = transpile(written, by_turns=lines, relays=relays)
    made = turns.function(function, HELPERS)
    return convert_generator(converted, made) if turns.takes_turns else made


def conversion_of(function: FunctionType) -> Converted | None:
    """The conversion of a function's code, or None if it is called as it is."""
    code = own_code(function)
    known = _conversions.get(code)
    if known is None:
        known = _conversions[code] = (_decide(function),)
    return known[0]


def _decide(function: FunctionType) -> Converted | None:
    code = function.__code__
    if is_converted(code) or _is_ignored(function):
        return None
    try:
        conversion = transpile(function)
    except SourceUnavailable:
        # Python runs it; a condition on a tensor inside is refused where it stands.
        return None
    for hook in on_conversion:
        hook(function)
    return conversion


def _turned(function: FunctionType) -> FunctionType:
    """A generator function of dy2st's own in the form that runs its consumer."""
    lines = frozenset({function.__code__.co_firstlineno})
    made = transpile(function, by_turns=lines).function(function, HELPERS)
    return convert_generator(function, made)


# What is called instead of builtins, and of functions that take a callback.
_BUILTINS: dict[int, Callable[..., Any]] = {
    **(consuming := BUILTINS | CONSUMING),
    **(calling := table(convert_call, consuming)),
    **library.table(convert_call, _turned, consuming | calling),
    id(list): convert_list,
}

# By code: None if the function is called as it is.
_conversions: ByIdentity[CodeType, tuple[Converted | None]] = ByIdentity()


# Constants and builtins that rewritten code looks at.
_LOOKED_AT: dict[str, Any] = {
    **{f"builtin_{f.__name__}": f for f in (abs, bool, float, int, iter, len, list, range)},
    "same_as_types": SAME_AS_TYPES,
    "plain_containers": PLAIN_CONTAINERS,
    "plain_scalars": PLAIN_SCALARS,
    "plain_types": PLAIN_TYPES,
    "now": now,
    "plain_subjects": PLAIN_SUBJECTS,
    "plain_values": PLAIN_VALUES,
    "fresh_containers": FRESH_CONTAINERS,
    "fresh_lookups": FRESH_LOOKUPS,
    "type_of": type,
    "perhaps_unbound": PERHAPS_UNBOUND,
}

# Under which name rewritten code finds what.
HELPERS: dict[str, Any] = _LOOKED_AT | {
    function.__name__: function
    for function in (
        convert_and,
        convert_append,
        convert_assert,
        CallSite,
        convert_call,
        convert_call_at,
        convert_catches,
        convert_caught,
        convert_cell,
        convert_chain,
        convert_class,
        convert_caught_error,
        convert_comprehension,
        convert_filter,
        convert_in_branch,
        convert_is_traced,
        convert_place,
        convert_raised,
        convert_change,
        convert_delitem,
        convert_for_loop,
        convert_gathered,
        convert_generated,
        convert_generator,
        convert_has_raised,
        convert_heard,
        convert_held,
        convert_relayed,
        convert_relayed_error,
        relaying_call(convert_call),
        convert_result,
        convert_ifelse,
        convert_ifexp,
        convert_in,
        convert_is,
        convert_is_not,
        convert_format,
        convert_kept,
        convert_match,
        convert_not,
        convert_not_in,
        convert_or,
        convert_module_variable,
        convert_outer,
        convert_own,
        convert_percent,
        convert_pop,
        convert_python_bool,
        convert_python_iter,
        convert_range,
        convert_rest_of_for,
        convert_rest_of_while,
        convert_resumed,
        convert_setitem,
        convert_started,
        convert_stops,
        convert_swallowed,
        convert_taken,
        convert_text,
        convert_turn,
        convert_turns,
        convert_untraced,
        convert_while_loop,
        defined,
        held_iter,
        is_plain_subject,
        is_staged_iterable,
        recorded_operators,
        undefined,
        untraced,
        builtins.list,
        builtins.slice,
        builtins.AssertionError,
        builtins.BaseException,
    )
}
