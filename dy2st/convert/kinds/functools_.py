"""functools: reduce, partial, functions with a cache."""

from __future__ import annotations

import functools
import importlib.util
import sys
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from dy2st.convert.call_context import Answer
from dy2st.convert.kinds.attributes import class_of
from dy2st.convert.kinds.scalars import is_traced
from dy2st.convert.kinds.side_effects import check_side_effects, note_abstract
from dy2st.convert.kinds.table import code_row, function_row, method_row
from dy2st.convert.polyfills.functools_ import cleared, memoised
from dy2st.convert.trace import EACH_CALL, Trace
from dy2st.convert.types import info
from dy2st.convert.values.layout import is_traced_number
from dy2st.convert.values.special import SymbolicSequence, Union
from dy2st_runtime.errors import ConversionError, UnsupportedSyntax
from dy2st_runtime.ir import Operator, user_location
from dy2st_runtime.ir.dispatch import eagerly
from dy2st_runtime.tensor import EagerTensor

_CACHED: Any = type(functools.lru_cache(lambda: None))


@function_row(importlib.import_module)
def _import_module(trace: Trace, name: str, package: str | None = None) -> Any:
    found = importlib.import_module(name, package)
    path = importlib.util.resolve_name(name, package)
    return trace.read("item", sys.modules, path, found)


@function_row(functools.partial)
def _partial(trace: Trace, *args: Any, **options: Any) -> Any:
    make: Any = functools.partial
    return trace.made(make(*args, **options))


@code_row(functools.cached_property.__get__.__code__)
def cached_property(trace: Trace, function: Any, made: Any, owner: Any, kind: Any = None) -> Any:
    """The attribute that a `functools.cached_property` gives an object when it is first asked."""
    if owner is None:
        return made
    if made.attrname is None or not hasattr(owner, "__dict__"):
        return made.__get__(owner, kind)  # raises, in Python's words
    found = trace.call(made.func, owner)
    trace.set_field(owner, made.attrname, found)
    return found


class _Memo(NamedTuple):
    """What lru_cache or cache keeps: results by arguments, the last used one last."""

    results: dict[Any, Any]
    counts: list[int]  # hits and misses
    maxsize: int | None
    typed: bool | None


# Of the functions that the trace has put under lru_cache or cache.
_MEMOS: WeakKeyDictionary[Any, _Memo] = WeakKeyDictionary()


@function_row(_CACHED)
def _made_with_a_cache(
    trace: Trace, function: Any, maxsize: int | None, typed: bool, *options: Any
) -> Any:
    made = trace.made(_CACHED(function, maxsize, typed, *options))
    _memo_of(trace, made, typed)
    return made


def _memo_of(trace: Trace, function: Any, typed: bool | None = None) -> _Memo:
    memo = _MEMOS.get(function)
    if memo is None:
        if typed is None:  # of a class that was made here
            typed = function.cache_parameters()["typed"]
        most = function.cache_info().maxsize
        memo = _MEMOS[function] = _Memo(trace.made({}), trace.made([0, 0]), most, typed)
    return memo


@method_row(_CACHED, name="__call__")
def cached(trace: Trace, function: Any, *args: Any, **options: Any) -> Any:
    """A function under lru_cache or cache: the user's own cache answers.

    Tensors of a Program must not get into it: what has to do with one is computed anew. What the
    trace has made itself keeps its results in a dict of the trace, those that are tensors, too.
    """
    given = (*args, *options.values())
    is_of_program = any(map(_is_of_program, given))
    if not trace.is_outside(function):
        behind, memo = function.__wrapped__, _memo_of(trace, function)
        has_tensors = is_of_program or any(isinstance(one, EagerTensor) for one in given)
        if has_tensors and memo.maxsize != 0:
            return _anew(trace, function, behind, args, options)
        classes = tuple(map(class_of, given)) if memo.typed else ()
        key: Any = args, (*options.items(),), classes
        if len(given) == len(args) == 1 and not classes and type(args[0]) in (int, str):
            key = args[0]  # as Python does, so that 1 finds 1, but neither True nor 1.0
        return trace.call(memoised, memo, key, behind, args, options)
    tensors = [value for value in given if isinstance(value, EagerTensor)]
    now = map(trace.tracer.captured_already, tensors)
    if any(one is not None and isinstance(one.maker, Operator) for one in now):
        raise _refused(function, "gets a tensor that was changed", "the cache keeps what it held")
    if is_of_program:
        behind = trace.seen("attr", function, "__wrapped__", function.__wrapped__)
        return _anew(trace, function, behind, args, options)
    before = function.cache_info().misses
    written = [place.owner for place in trace.over.values()]

    def run() -> Any:
        with eagerly():
            return trace.call_context.ask(function, args, options)

    found = trace.with_overlay_materialised(written, run)
    if trace.is_nested and function.cache_info().misses != before:
        raise UnsupportedSyntax(
            f"{function.__name__}() has a cache and is called for the first time in a branch or "
            "loop that depends on a tensor",
            at=user_location(),
            why="it would be computed while the function is traced, on every path",
            hint="call it once before the `if` or loop",
        )
    trace.answers.append(Answer(function, args, options, found))
    return trace.mark_outside(found)


def _anew(trace: Trace, function: Any, behind: Any, args: Any, options: dict[str, Any]) -> Any:
    """The result for tensors, by which Python's cache finds nothing: each call has others."""
    before, mark = trace.repeats.version, len(trace.tracer.block.operators)
    found = trace.call(behind, *args, **options)
    operators = trace.tracer.block.operators[mark:]
    if trace.repeats.version != before or any(map(_writes, operators)):
        raise _refused(function, "gets a tensor", "it does more than to give a value")
    if info(type(found)).is_container or trace.is_plain(found):
        what = f"gets a tensor and gives a {type(found).__name__}"
        why = "what is put into it lasts until the next call with the same tensor"
        raise _refused(function, what, why)
    return found


def _writes(operator: Operator) -> bool:
    inner = (one for block in operator.blocks for one in block.operators)
    return operator.name in ("log_message", "print", "warn", "write") or any(map(_writes, inner))


def _refused(function: Any, what: str, why: str) -> ConversionError:
    name = function.__name__
    return ConversionError(
        f"{name}(), which is under lru_cache or cache, {what}",
        at=user_location(),
        why=f"Python finds tensors in a cache by which object they are, a Program has none; {why}",
        hint=f"call the function without its cache: {name}.__wrapped__(...)",
    )


@method_row(_CACHED)
def cache_clear(trace: Trace, function: Any) -> None:
    """`function.cache_clear()`, which each call does."""
    if not trace.is_outside(function):
        function.cache_clear()
        trace.call(cleared, _memo_of(trace, function))
        return
    check_side_effects(trace, function.cache_clear, (function,))
    trace.call_context.ask(function.cache_clear, (), {})


@method_row(_CACHED)
def _cache_info(trace: Trace, function: Any) -> Any:
    if not trace.is_outside(function):
        memo, native = _memo_of(trace, function), function.cache_info()  # of what C has called
        hits = trace.add(native.hits, trace.item(memo.counts, 0))
        misses = trace.add(native.misses, trace.item(memo.counts, 1))
        size = trace.add(native.currsize, trace.call(len, memo.results))
        return type(native)(hits, misses, native.maxsize, size)
    if any(answer.is_of(function) for answer in trace.answers):
        what = f"what it counts in the cache of {function.__name__}() is asked"
        trace.read(EACH_CALL, function, "", what)
        return trace.call_context.ask(function.cache_info, (), {})
    return trace.read_volatile(function.cache_info)


def _is_of_program(value: Any) -> bool:
    if isinstance(value, EagerTensor):
        return False
    if isinstance(value, tuple):
        return any(map(_is_of_program, value))
    return is_traced(value) or is_traced_number(value) or type(value) in (Union, SymbolicSequence)


_dispatching: Any = functools.singledispatch(lambda value: value)


@code_row(_dispatching.__code__)
def dispatched(trace: Trace, function: Any, /, *args: Any, **options: Any) -> Any:
    """A function under singledispatch: by the class that Python sees of the first argument."""
    if not args:
        return function()  # raises, in Python's words
    if type(args[0]) is Union:
        return trace.map_cases(lambda one: dispatched(trace, function, one, *args[1:]), args[0])
    trace.read("content", function.registry, None, None)
    note_abstract(trace)
    return trace.call(function.dispatch(class_of(args[0])), *args, **options)
