"""Writes at each call the places outside that the trace has written, with their values at its end.

The trace changes nothing of the user's. What a container holds is written as a difference, so that
what it depends on is no more than what the code has asked.

Programs of a file keep places outside that they read and write from call to call: a number or
tensor of such a place is a buffer of the file, read when a call begins, and written when it ends.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from types import CellType, ModuleType
from typing import Any

from dy2st.convert.objects import native_attribute, set_variable, setter_of
from dy2st.convert.replay.places import PLACES, ReadKey, is_plain_tensor, like
from dy2st.convert.replay.result import Given, Known, Made, Taker, rebuild
from dy2st.convert.trace import Place, Trace, label
from dy2st.convert.types.values import fill, write_state
from dy2st.convert.values.layout import number_kind
from dy2st.convert.values.special import CONTENT, MISSING, STATE, SymbolicSequence, Union
from dy2st_runtime.errors import ConversionError, Location
from dy2st_runtime.ir import Tensor
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.nn.layer_tree import stores_of
from dy2st_runtime.tensor import EagerTensor


@dataclass(eq=False)
class Effect:
    """A place outside that every call writes."""

    owner: Known | Given
    name: Any
    write: Callable[[Any, Any], None]  # takes the owner and the value
    value: Any
    # The tensor of a buffer of a Layer, whose place another one takes
    buffer: EagerTensor | None = None
    at: Location | None = None
    what: str = ""  # what it does, in words; empty where it sets a variable
    place: Any = None  # the place that it writes, by owner and name

    def owner_now(self) -> Any:
        """The object from outside that it changes; None if each call is given its own."""
        return self.owner.get() if isinstance(self.owner, Known) else None


def effects_of(trace: Trace, taker: Taker) -> list[Effect]:
    """The effects of a trace at its end, in the order in which the places were first written."""
    found = []
    layers = [owner for owner, *_ in trace.reads.values() if isinstance(owner, Layer)]
    tables = {id(one): layer for layer in layers for one in stores_of(layer)}
    for place in list(trace.over.values()):
        if id(place.owner) in tables:
            kind = type(tables[id(place.owner)]).__name__
            raise ConversionError(
                f"a table of parameters, buffers, sublayers or hooks of a {kind} is changed itself",
                at=place.at,
                why=f"the {kind} would not know that it holds others, nor would its Programs",
                hint="set an attribute, or call add_sublayer(), register_buffer() and their like",
            )
        if not trace.is_place_outside(place.owner, place.name):
            continue
        if place.name is STATE:
            owner = taker.owner(place.owner)
            made = [Effect(owner, STATE, write_state, taker.take(place.value), None, place.at)]
        else:
            made = (_of_content if place.name is CONTENT else _of_place)(trace, taker, place)
        for effect in made:
            effect.place, effect.what = place.key, _what(place)
        found += made
    return found


def _what(place: Place) -> str:
    """What an effect does to an object; nothing of a variable, which is more than that."""
    owner, kind = place.owner, type(place.owner).__name__
    if isinstance(owner, (CellType, type)):
        return ""
    if place.name is CONTENT or place.name is STATE:
        return f"the {kind} in {place.at} is changed"
    if type(owner) is dict or isinstance(owner, ModuleType):
        return ""
    return f"the attribute `{place.name}` of {kind} is set at {place.at}"


def written_by(trace: Trace) -> set[ReadKey]:
    """The places outside that a trace has written, by each way to read them."""
    found = set()
    for place in trace.over.values():
        owner = place.owner
        if place.name is not CONTENT:
            found |= {(id(owner), kind, place.name) for kind in PLACES}
        elif isinstance(owner, dict) and isinstance(place.value, dict):
            found |= {(id(owner), "item", key) for key in place.value}
        elif isinstance(owner, list):
            found |= {(id(owner), "item", index) for index in range(-len(owner), len(owner))}
    return found


def perform(effects: Sequence[Effect], outputs: Sequence[Any], known: dict[int, Any]) -> None:
    """Write all places: owners and values are found before the first is written."""
    made = [[rebuild(one, outputs, known) for one in (e.owner, e.value)] for e in effects]
    for effect, (owner, value) in zip(effects, made, strict=True):
        effect.write(owner, value)


# -- attributes, globals and cells ------------------------------------------------------------


def _of_place(trace: Trace, taker: Taker, place: Place) -> list[Effect]:
    owner, name, value = place.owner, place.name, place.value
    before = native_attribute(owner, name)
    keys = [(id(owner), kind, name) for kind in PLACES]
    given = [trace.inputs.get(key, before) for key in keys]
    if any(key in trace.reads and value is one for key, one in zip(keys, given, strict=True)):
        return []
    is_buffer = isinstance(owner, Layer) and name in owner._buffers and is_plain_tensor(before)
    is_tensor = isinstance(value, Tensor) and number_kind(value) is None
    # The tensor that was a buffer, if a tensor takes its place
    is_buffer = is_buffer and keys[0] not in trace.inputs  # of a file it is an input then
    buffer = before if is_buffer and (is_tensor or type(value) is Union) else None
    if buffer is not None:
        trace.tracer.captured(buffer)
    words = label(trace, place) if isinstance(owner, CellType) else name
    # It may have been set and deleted.
    put = _set_in_layer if isinstance(owner, Layer) else _set_attribute
    put = set_variable if type(owner) in (CellType, dict) else put
    write = lambda now, new: put(now, name, new)  # noqa: E731
    return [Effect(taker.owner(owner), words, write, taker.take(value), buffer, place.at)]


def _set_attribute(owner: Any, name: str, value: Any) -> None:
    """What a method of the class does beside it is an effect of its own."""
    if value is not MISSING:
        setter_of(owner, "__setattr__")(owner, name, value)
    elif native_attribute(owner, name) is not MISSING:
        setter_of(owner, "__delattr__")(owner, name)


def _set_in_layer(owner: Layer, name: str, value: Any) -> None:
    """A buffer that stays of its type is no change of the Layer."""
    held = owner._buffers.get(name)
    if isinstance(held, EagerTensor) and like(value, held.array.dtype, held.array.shape):
        OrderedDict.__setitem__(owner._buffers, name, value)  # guards ask for its type alone
    else:
        _set_attribute(owner, name, value)


# -- what containers hold ---------------------------------------------------------------------


def _of_content(trace: Trace, taker: Taker, place: Place) -> list[Effect]:
    before, after, is_whole = place.owner, place.value, id(place.owner) in trace.record.emptied
    if type(after) in (SymbolicSequence, Union):
        if not is_whole:
            trace.read_content(before)
        return [_effect(taker, place, fill, taker.take(after))]
    if isinstance(after, dict):
        return _of_dict(trace, taker, place, is_whole)
    if isinstance(after, set):
        gone, new = (None, after) if is_whole else (before - after, after - before)
        change = partial(_change_set, gone)
        is_other = is_whole or gone or new
        return [_effect(taker, place, change, _keys(taker, new, before))] if is_other else []
    given, count, items = _given(trace, before), len(before), list(after)
    kept, tail = items[:count], items[count:]
    changed = [i for i, item in enumerate(kept) if item is not given[i]]
    is_other = len(kept) < count or len(changed) == count > 1 or getattr(before, "maxlen", None)
    if is_whole or is_other:
        if after is not before and not is_whole:
            trace.read_content(before)
        return [_effect(taker, place, fill, _taken(taker, after))]
    found = []
    if changed:
        trace.read("length", before, None, count)
        pairs = Made(list, (), [changed, _taken(taker, (kept[i] for i in changed))])
        found.append(_effect(taker, place, _set_keys, pairs))
    extend = lambda owner, items: owner.extend(items)  # noqa: E731
    return found + ([_effect(taker, place, extend, _taken(taker, tail))] if tail else [])


def _effect(taker: Taker, place: Place, write: Callable[[Any, Any], None], tree: Any) -> Effect:
    return Effect(taker.owner(place.owner), CONTENT, write, tree, None, place.at)


def _taken(taker: Taker, items: Iterable[Any]) -> Any:
    """New trees in a list that is made at each call."""
    return Made(list, (), [taker.take(item) for item in items])


# What is emptied first (`is_whole`) does not depend on what it held.


def _given(trace: Trace, owner: Any) -> Any:
    """What a container holds when the trace begins: inputs in the places of their numbers."""
    found = {key[2]: one for key, one in trace.inputs.items() if key[:2] == (id(owner), "item")}
    if not found:
        return owner
    held = owner.copy()
    for name, one in found.items():
        held[name] = one
    return held


def _of_dict(trace: Trace, taker: Taker, place: Place, is_whole: bool) -> list[Effect]:
    before, after = place.owner, place.value
    given = _given(trace, before)
    kept = [key for key in before if key in after]
    if is_whole or list(after)[: len(kept)] != kept:
        if not is_whole:
            trace.read_content(before)
        pairs = Made(list, (), [_keys(taker, after, before), _taken(taker, after.values())])
        return [_effect(taker, place, _refill, pairs)]
    gone = [key for key in before if key not in after]
    ways = [[(id(before), kind, key) in trace.reads for kind in ("item", "has")] for key in gone]
    if not all(map(any, ways)):
        trace.read_content(before)
    new = [key for key in after if key not in before or after[key] is not given[key]]
    changed = [*gone, *new]
    values = _taken(taker, [after.get(key, MISSING) for key in changed])
    pairs = Made(list, (), [_keys(taker, changed, before), values])
    return [_effect(taker, place, _set_keys, pairs)] if changed else []


def _keys(taker: Taker, keys: Iterable[Any], before: Any) -> Any:
    """Keys, or elements of a set, in a list: what the function has made is made at each call."""
    return Made(list, (), [key if key in before else taker.key(key) for key in keys])


def _refill(owner: dict[Any, Any], pairs: list[list[Any]]) -> None:
    owner.clear()
    _set_keys(owner, pairs)


def _set_keys(owner: Any, pairs: list[list[Any]]) -> None:
    """Set items; entries that the path of the call does not have go, if they were there."""
    for key, value in zip(*pairs, strict=True):
        set_variable(owner, key, value)


def _change_set(gone: set[Any] | None, owner: set[Any], items: list[Any]) -> None:
    """Take elements away, all if nobody knows which ones, and put others in."""
    owner.clear() if gone is None else owner.difference_update(gone)
    owner.update(items)
