"""Gives rows and native code what they need of the protocol."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from gc import get_referents
from operator import is_
from typing import Any

import numpy as np

from dy2st.convert.kinds.dicts import shown_by
from dy2st.convert.kinds.scalars import as_number
from dy2st.convert.kinds.traced_keys import check_sure, is_entry, is_sure, missing_key, presence
from dy2st.convert.objects import check_held
from dy2st.convert.protocol.ifelse import if_exp, not_, or_, test_of
from dy2st.convert.protocol.materialise import (
    note_fields,
    note_reached,
    viewed,
    with_overlay_materialised,
)
from dy2st.convert.protocol.operators import binary
from dy2st.convert.stage.branch import known, stage_if, truth_of
from dy2st.convert.stage.loop import stage_while
from dy2st.convert.trace import STATE, DictView, Trace
from dy2st.convert.types import info
from dy2st.convert.values.layout import Leaf, Number
from dy2st.convert.values.special import MISSING, Generated, Indexed, SymbolicSequence, Union
from dy2st_runtime.dims import Condition
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import F, Variable, user_location
from dy2st_runtime.ir.tracing.traced_list import TracedList


def exported(trace: Trace, values: Any) -> Any:
    """Arguments for native code: containers as they are now, lists of a length as arrays."""
    kind = type(values)
    if kind is tuple:
        return tuple(native(trace, value) for value in values)
    return {name: native(trace, value) for name, value in values.items()}


def native(trace: Trace, value: Any, around: tuple[Any, ...] = ()) -> Any:
    """A value for native code. `around`: the containers that it stands in."""
    kind = type(value)
    row = info(kind)
    if row.is_container:
        if any(value is one for one in around):
            return value  # it holds itself
        around = (*around, value)
    if kind is SymbolicSequence:
        return _array(trace, value)
    if kind is Condition:  # a bool, wherever Python has numbers
        return trace.tracer.number(value)
    if kind is tuple or kind is slice:
        parts = row.parts(value, ())
        new = [native(trace, one, around) for one in parts]
        # Native code may ask for identity: what holds nothing of the trace stays the same object.
        return value if all(map(is_, new, parts)) else row.make(kind, new, (), None)
    if row.is_container:
        content = trace.content(value)
        if type(content) is SymbolicSequence:
            return _array(trace, content)
        trace.read_content(value)
        if row.family not in ("list", "dict"):
            return content
        # A container of Python: itself, if native code may see all that it holds
        names = row.names(content)
        parts = row.parts(content, names)
        new = [native(trace, one, around) for one in parts]
        is_same = content is value and all(map(is_, new, parts))
        return value if is_same else row.make(kind, new, names, value)
    if kind is Indexed:
        return native(trace, trace.call(list, value))
    if trace.origin(value, DictView):
        shown = shown_by(trace, value)
        return shown if info(type(shown)).is_view else native(trace, shown)
    if kind is Generated:
        items = native(trace, trace.call(list, value))
        return items if type(items) is TracedList else (one for one in items)
    if kind is Union:
        found = trace.known(value)
        if type(found) is not Union:  # on this path it is one of them
            return native(trace, found, around)
        raise ConversionError(
            "one of several values is given to code that is not converted",
            at=user_location(),
            why="which of them it is, is known only when the Program runs",
            hint="decide with an `if` first, and call it in both branches",
        )
    if trace.is_outside(value):
        note_reached(trace, (value,))
    if not trace.over:
        return value
    if row.state == "derived":
        return _derived_now(trace, value)
    if row.is_view:  # of an object of a class derived from dict
        owner = get_referents(value)[0]
        now = native(trace, owner)
        return value if now is owner else getattr(now, kind.__name__.rpartition("_")[2])()
    return _array_now(trace, value) if issubclass(kind, np.ndarray) else value


def _derived_now(trace: Trace, value: Any) -> Any:
    """An object of a class derived from a container, with what the code has put into it."""
    place = trace.over.get((id(value), STATE))
    if place is None:
        return value
    check_held(value, place.value)
    row, fields = info(type(value)), dict(getattr(value, "__dict__", ()))
    kind: Any = row.base.kind
    made = kind.__new__(type(value))
    row.restore(made, place.value)
    names = {name: one.value for (of, name), one in trace.over.items() if of == id(value)}
    for name, one in {**fields, **names}.items():
        if isinstance(name, str) and one is not MISSING:
            object.__setattr__(made, name, one)
    return made


def _array_now(trace: Trace, value: Any) -> Any:
    """An array as the code has changed it, or that into whose memory it looks."""
    place = trace.over.get((id(value), STATE))
    if place is not None:
        return place.value
    if (id(viewed(trace, value)), STATE) not in trace.over:
        return value
    return with_overlay_materialised(trace, [value], value.copy, only_reads=True)


def _array(trace: Trace, content: SymbolicSequence) -> TracedList:
    """A list of tensors, of which the Program has an array."""
    is_list, element = content.kind in (list, tuple, deque), content.element
    if not is_list or not (element is None or isinstance(element, (Number, Leaf))):
        raise ConversionError(
            f"a {content.kind.__name__} whose length depends on a tensor is given to code that is "
            "not converted",
            at=user_location(),
            why="it is no list of tensors",
            hint="gather the tensors in a list of their own",
        )
    number = element.kind if isinstance(element, Number) else None
    return TracedList(trace.tracer.local(content.arrays[0]), number)


def dict_of(trace: Trace, owner: Any) -> Any:
    """`owner.__dict__`, as it is now."""
    held = owner.__dict__
    if not isinstance(held, dict) or trace.is_made_here(owner):
        return held
    if not any(key == id(owner) and isinstance(name, str) for key, name in trace.over):
        return trace.mark_outside(held)
    note_fields(trace, owner)
    fields = trace.fields(owner)
    return seen_now(trace, held if fields is None else fields)


def seen_now(trace: Trace, fields: Any) -> Any:
    """Attributes as they are now, as a dict of its own: what is set there would be lost."""
    made = trace.made(dict(fields))
    trace.alias_tracker.keep_view(made)
    return made


def truth_value(trace: Trace, value: Any) -> Any:
    """The truth of a value, as a value."""
    found = test_of(trace, value)
    return as_number(trace, found, bool) if isinstance(found, Variable) else found


def equals(trace: Trace, left: Any, right: Any) -> Any:
    """Whether two values are equal, as a bool or a bool of the Program."""
    return test_of(trace, binary(trace, "eq", left, right))


def any_of(trace: Trace, holds: Callable[[Any], Any], items: Iterable[Any]) -> Any:
    """Whether something holds for one of some items of Python."""
    found: Any = False
    for item in items:
        found = or_(trace, found, lambda item=item: holds(item))  # type: ignore[misc]
        if found is True:
            return True
    return truth_value(trace, found)


def any_in(trace: Trace, holds: Callable[[Any], Any], length: Any) -> Any:
    """Whether something holds for one of the places of a list of a length."""

    def more(index: Any, found: Any) -> Any:
        return F.logical_and(truth_of(trace, index < length), F.logical_not(found))

    def iteration(index: Any, found: Any) -> Any:
        return index + 1, as_number(trace, truth_of(trace, holds(index)), bool)

    start = trace.tracer.number(False)
    result = stage_while(trace, more, iteration, (0, start), ("the place", "whether it is found"))[
        1
    ]
    if isinstance(result, Variable):
        result.number = bool
    return result


def value_at(trace: Trace, content: dict[Any, Any], key: Any, default: Any = None) -> Any:
    """`content[key]` for a traced key; a default is called where there is none."""
    keys = list(content)

    def pick(place: int) -> Any:
        if place == len(keys):
            if default is None:
                raise missing_key(key)
            return default()
        value = content[keys[place]]
        here = is_entry(trace, keys[place], value, key)
        return if_exp(trace, here, lambda: known(trace, value), lambda: pick(place + 1))

    return pick(0)


def compare(trace: Trace, name: str, left: Any, right: Any) -> Any:
    """Two containers of Python, element by element."""
    if name in ("eq", "ne"):
        same = _is_same(trace, left, right)
        if isinstance(same, bool):
            return same is (name == "eq")
        result = same if name == "eq" else F.logical_not(same)
        result.number = bool
        return result
    lengths = len(left), len(right)
    return _in_order(trace, name, list(zip(left, right, strict=False)), lengths)


def _in_order(trace: Trace, name: str, pairs: list[Any], lengths: tuple[int, int]) -> Any:
    """The comparison of the first two that differ; if none do, of the lengths."""
    for place, (a, b) in enumerate(pairs):
        same = True if a is b else equals(trace, a, b)
        if same is True:
            continue
        # As Python does, ask only the first pair that differs for its order: others may have none.
        if same is False:
            return binary(trace, name, a, b)
        rest = pairs[place + 1 :]
        equal = lambda: _in_order(trace, name, rest, lengths)  # noqa: B023, E731  called here
        differ = lambda: binary(trace, name, a, b)  # noqa: B023, E731
        return stage_if(trace, same, equal, differ, (), "a comparison", of_cases=True)[0]
    return binary(trace, name, *lengths)


def _is_same(trace: Trace, left: Any, right: Any) -> Any:
    """Whether two containers are equal: dicts of any class, others of one."""
    if isinstance(left, set):
        return left == right
    are_dicts = isinstance(left, dict) and isinstance(right, dict)
    if are_dicts and not (is_sure(trace, left) and is_sure(trace, right)):
        # Whether two dicts are equal that have entries which may be missing
        if isinstance(left, OrderedDict) and isinstance(right, OrderedDict):
            check_sure(trace, left)  # their order counts, too
            check_sure(trace, right)
        alike: Any = True
        for key in {**left, **right}:
            one, other = left.get(key, MISSING), right.get(key, MISSING)
            alike = _both(alike, _is_same_entry(trace, one, other))
        return alike
    are_tuples = isinstance(left, tuple) and isinstance(right, tuple)
    if not (are_dicts or are_tuples or type(left) is type(right)) or len(left) != len(right):
        return False
    # The order of two dicts counts where both are ordered ones.
    are_ordered = isinstance(left, OrderedDict) and isinstance(right, OrderedDict)
    pairs: Iterable[tuple[Any, Any]]
    if not are_dicts:
        pairs = zip(left, right, strict=True)
    elif left.keys() != right.keys() or (are_ordered and list(left) != list(right)):
        return False
    else:
        pairs = [(left[key], right[key]) for key in left]
    same: Any = True
    for a, b in pairs:
        if a is b or same is False:
            continue
        here = equals(trace, a, b)
        same = here if same is True else _both(same, here)
    return same


def _is_same_entry(trace: Trace, left: Any, right: Any) -> Any:
    first, second = presence(trace, left), presence(trace, right)
    alike = lambda: equals(trace, trace.known(left), trace.known(right))  # noqa: E731
    both = lambda: if_exp(trace, second, alike, lambda: False)  # noqa: E731
    return test_of(trace, if_exp(trace, first, both, lambda: not_(trace, second)))


def _both(left: Any, right: Any) -> Any:
    return False if right is False else left if right is True else F.logical_and(left, right)
