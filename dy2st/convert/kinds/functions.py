"""Functions of functools and operator, len, and special methods that are called by their names."""

from __future__ import annotations

import functools
import importlib.util
import operator
import sys
import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from dy2st.convert.call_context import Answer
from dy2st.convert.kinds.dicts import length_of_view
from dy2st.convert.kinds.lists import length_of
from dy2st.convert.kinds.objects import class_of
from dy2st.convert.kinds.scalars import is_traced
from dy2st.convert.kinds.side_effects import check_side_effects, note_abstract
from dy2st.convert.kinds.table import (
    SPECIAL,
    code_row,
    for_each,
    function_row,
    method_row,
    operator_row,
)
from dy2st.convert.kinds.text import as_codes, length_of_text
from dy2st.convert.kinds.traced_keys import entry_count, is_sure
from dy2st.convert.polyfills.methods import cleared, memoised
from dy2st.convert.stage.branch import end_region
from dy2st.convert.stage.recursion import tried
from dy2st.convert.trace import EACH_CALL, Trace, own_method
from dy2st.convert.types import info, kinds_of
from dy2st.convert.types.values import is_of_codes
from dy2st.convert.values.layout import is_traced_number, number_kind
from dy2st.convert.values.special import Indexed, Special, SymbolicSequence, Union
from dy2st_runtime.errors import ConversionError, UnsupportedSyntax
from dy2st_runtime.ir import Operator, Tensor
from dy2st_runtime.ir.dispatch import eagerly
from dy2st_runtime.tensor import EagerTensor

# -- functools ------------------------------------------------------------------------------------

_CACHED: Any = type(functools.lru_cache(lambda: None))
_ANEW = Special("a function under a cache that was called with values of the Program")


@function_row(importlib.import_module)
def _import_module(trace: Trace, name: str, package: str | None = None) -> Any:
    found = importlib.import_module(name, package)
    path = importlib.util.resolve_name(name, package)
    return trace.read("item", sys.modules, path, found)


@for_each(functools.partial, weakref.ref)
def _made_of_arguments(kind: Any) -> None:
    @function_row(kind)
    def row(trace: Trace, /, *args: Any, **options: Any) -> Any:
        return trace.made(kind(*args, **options))


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
    effects: list[bool]  # whether a call changes anything else; False while that is asked


# Of the functions that the trace has put under lru_cache or cache.
_MEMOS: weakref.WeakKeyDictionary[Any, _Memo] = weakref.WeakKeyDictionary()


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
        memo = _MEMOS[function] = _Memo(trace.made({}), trace.made([0, 0]), most, typed, [])
    return memo


@method_row(_CACHED, name="__call__")
def cached(trace: Trace, function: Any, /, *args: Any, **options: Any) -> Any:
    """A function under lru_cache or cache: the user's own cache answers.

    Tensors of a Program must not get into it: what has to do with one is computed anew. What the
    trace has made itself keeps its results in a dict of the trace, those that are tensors, too.
    """
    given = (*args, *options.values())
    if not trace.is_outside(function):
        behind, memo = function.__wrapped__, _memo_of(trace, function)
        is_eager = any(isinstance(one, EagerTensor) for one in given)
        has_tensors = is_eager or any(_is_of_program(one, False) for one in given)
        if (has_tensors or any(map(_is_of_program, given))) and memo.maxsize != 0:
            if not _has_effects(trace, memo, lambda: trace.call(behind, *args, **options)):
                return _anew(trace, function, behind, args, options)
            if has_tensors:
                raise _refused(function, "gets a tensor", "it does more than to give a value")
        classes = tuple(map(class_of, given)) if memo.typed else ()
        key: Any = args, (*options.items(),), classes
        if len(given) == len(args) == 1 and not classes and class_of(args[0]) in (int, str):
            key = args[0]  # as Python does, so that 1 finds 1, but neither True nor 1.0
        return trace.call(memoised, memo, key, behind, args, options)
    tensors = [value for value in given if isinstance(value, EagerTensor)]
    now = map(trace.tracer.captured_already, tensors)
    if any(one is not None and isinstance(one.maker, Operator) for one in now):
        raise _refused(function, "gets a tensor that was changed", "the cache keeps what it held")
    if any(map(_is_of_program, given)):
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
            why="it would be computed while the function is traced, on every path",
            hint="call it once before the `if` or loop",
        )
    trace.record.answers.append(Answer(function, args, options, found))
    return trace.mark_outside(found)


def _has_effects(trace: Trace, memo: _Memo, call: Callable[[], Any]) -> bool:
    """Whether a call changes anything but the caches: then it matters how often it is made."""
    if not memo.effects:
        memo.effects.append(False)  # until then, calls inside of it
        with tried(trace) as trial, trace.region() as region:
            end_region(trace, region, lambda: (call(),))
        trace.repeats.names.update(trace.tracer.program.functions)  # those that it has left there
        memo.effects.pop()
        kept = {id(one) for other in _MEMOS.values() for one in (other.results, other.counts)}
        changed = [one.owner for one in region.changes.values() if id(one.owner) not in kept]
        if trial.why is None and (region.tensors or not all(map(region.is_new, changed))):
            memo.effects.append(True)
    return True in memo.effects


def _anew(trace: Trace, function: Any, behind: Any, args: Any, options: dict[str, Any]) -> Any:
    """The result for tensors, by which Python's cache finds nothing: each call has others."""
    before, mark = trace.repeats.version, len(trace.tracer.block.operators)
    trace.origins[id(function)] = function, _ANEW
    found = trace.call(behind, *args, **options)
    operators = trace.tracer.block.operators[mark:]
    if trace.repeats.version != before or any(map(_writes, operators)):
        raise _refused(function, "gets a tensor", "it does more than to give a value")
    if info(type(found)).is_container:
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
    if trace.origin(function, Special) is _ANEW:
        why = "which calls found a result is known only when the Program runs"
        raise _refused(function, "is asked what it counts, and was called with a tensor", why)
    if not trace.is_outside(function):
        memo, native = _memo_of(trace, function), function.cache_info()  # of what C has called
        hits = trace.add(native.hits, trace.item(memo.counts, 0))
        misses = trace.add(native.misses, trace.item(memo.counts, 1))
        size = trace.add(native.currsize, trace.call(len, memo.results))
        return type(native)(hits, misses, native.maxsize, size)
    if any(answer.is_of(function) for answer in trace.record.answers):
        what = f"what it counts in the cache of {function.__name__}() is asked"
        trace.read(EACH_CALL, function, "", what)
        return trace.call_context.ask(function.cache_info, (), {})
    return trace.read_volatile(function.cache_info)


def _is_of_program(value: Any, with_numbers: bool = True) -> bool:
    if isinstance(value, EagerTensor):
        return False
    if isinstance(value, tuple):
        return any(_is_of_program(one, with_numbers) for one in value)
    if is_traced_number(value):
        return with_numbers
    return is_traced(value) or type(value) in (Union, SymbolicSequence)


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


# -- operator -------------------------------------------------------------------------------------


@function_row(operator.index)
def _index(trace: Trace, value: Any) -> Any:
    own = own_method(trace, value, "__index__")
    if own is not None:
        return trace.call(own, value)
    is_number = number_kind(value) in (bool, int) and is_traced(value)
    return trace.call(int, value) if is_number else operator.index(value)


# -- functions that are made of names ---------------------------------------------------------


@method_row(operator.attrgetter, name="__call__")
def _attrgetter(trace: Trace, getter: Any, owner: Any) -> Any:
    names = getter.__reduce__()[1]
    found = [functools.reduce(trace.attr, name.split("."), owner) for name in names]
    return found[0] if len(found) == 1 else tuple(found)


@method_row(operator.itemgetter, name="__call__")
def _itemgetter(trace: Trace, getter: Any, owner: Any) -> Any:
    found = [trace.item(owner, place) for place in getter.__reduce__()[1]]
    return found[0] if len(found) == 1 else tuple(found)


@method_row(operator.methodcaller, name="__call__")
def _methodcaller(trace: Trace, caller: Any, owner: Any) -> Any:
    kind, parts = caller.__reduce__()
    if kind is operator.methodcaller:
        (name, *args), options = parts, {}
    else:  # with keywords Python makes a partial of it
        name, args, options = kind.args[0], parts, kind.keywords
    return trace.call(trace.attr(owner, name), *args, **options)


# -- len and special methods ----------------------------------------------------------------------


@function_row(len)
def _len(trace: Trace, value: Any) -> Any:
    kind = type(value)
    if info(kind).is_container:
        content = trace.content(value)
        if type(content) is SymbolicSequence:
            return length_of(trace, content)
        trace.read_length(value)
        is_known = not isinstance(content, dict) or is_sure(trace, content)
        return len(content) if is_known else entry_count(trace, content)
    if kind is SymbolicSequence:
        return length_of(trace, value)
    if isinstance(value, Tensor):
        return value.shape[0] if value.ndim else len(value)
    if info(kind).is_view:
        return length_of_view(trace, value)
    own = own_method(trace, value, "__len__")
    if own is not None:
        size = trace.call(own, value)
        if type(size) is int and size < 0:
            raise ValueError("__len__() should return >= 0")
        return size
    if kind is Indexed:
        return value.length
    if isinstance(value, tuple):  # whatever it holds
        return len(value)
    value = as_codes(trace, value)
    if is_of_codes(value):
        return length_of_text(trace, value)
    return len(trace.native(value))


_SETS = ("set", "keys", "values")
_OF_ONE: dict[str, Callable[[Any], Any]] = {
    **{"__iter__": iter, "__reversed__": reversed, "__len__": len, "__repr__": repr},
    "__str__": str,
}
_OF_ANY = {
    **{"__mul__": "mul", "__ior__": "ior_bits", "__iand__": "iand_bits"},
    **{"__isub__": "isub", "__ixor__": "ixor"},
}


def _are_alike(kind: type, other: type) -> bool:
    """Whether an operator of a class of Python's takes an object of another one."""
    families = info(kind).family, info(other).base.family
    is_any = (families[0] in _SETS and families[1] in _SETS) or families == ("dict", "dict")
    return is_any or issubclass(other, kind)


def _of_two(name: str, operator: str) -> Callable[..., Any]:
    def row(trace: Trace, owner: Any, other: Any) -> Any:
        is_one = is_traced(other) or type(other) in (Union, SymbolicSequence)
        if is_one or _are_alike(type(owner), type(other)):
            return getattr(trace, operator)(owner, other)
        return getattr(owner, name)(other)  # NotImplemented, or Python's own error

    return row


@method_row("list", "tuple", name="__contains__")
def _contains_item(trace: Trace, owner: Any, item: Any) -> Any:
    return trace.in_(item, owner)


_ROWS: dict[str, Callable[..., Any]] = {
    name: lambda trace, owner, *, function=function: trace.call(function, owner)
    for name, function in _OF_ONE.items()
}
_ROWS |= {name: _of_two(name, operator) for operator, name in SPECIAL.items()}
_ROWS |= {
    name: lambda trace, owner, other, *, operator=operator: getattr(trace, operator)(owner, other)
    for name, operator in _OF_ANY.items()
}
for _kind in kinds_of("list", "tuple", "dict", *_SETS):
    # A row for each method of the tables that the class has.
    for _name, _row in _ROWS.items():
        if hasattr(_kind, _name):
            method_row(_kind, name=_name)(_row)


# The methods of Counter are written in Python, and are traced as they are.
for _name in vars(Counter):
    info(Counter).methods.pop(_name, None)


@for_each(*((name, vars(Counter)[one]) for name, one in SPECIAL.items() if one in vars(Counter)))
def _as_written(name: str, method: Any) -> None:
    @operator_row(name, Counter)
    def row(trace: Trace, left: Any, right: Any) -> Any:
        return trace.call(method, left, right)
