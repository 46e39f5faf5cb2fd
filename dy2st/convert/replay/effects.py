"""Writes at each call the places outside that the trace has written, with their values at its end.

The trace changes nothing of the user's. What a container holds is written as a difference, so that
what it depends on is no more than what the code has asked.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from types import CellType, ModuleType
from typing import Any

from dy2st.convert.objects import setter_of
from dy2st.convert.replay.places import ReadKey, cell_value, like, stores_of
from dy2st.convert.replay.result import Given, Known, Made, Taker, rebuild
from dy2st.convert.trace import CONTENT, MISSING, STATE, Place, Trace, label, native_attribute
from dy2st.convert.types.containers import fill, write_state
from dy2st.convert.values.layout import number_kind
from dy2st.convert.values.special import UNBOUND, SymbolicSequence, Union
from dy2st_runtime.errors import ConversionError, Location
from dy2st_runtime.ir import Tensor
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.tensor import EagerTensor, Parameter


@dataclass(eq=False)
class Effect:
    """A place outside that every call writes.

    write   takes the owner and the value.
    buffer  the tensor of a buffer of a Layer, whose place another one takes.
    what    what it does, in words; empty where it sets a variable.
    place   the place that it writes, by owner and name.
    """

    owner: Known | Given
    name: Any
    write: Callable[[Any, Any], None]
    value: Any
    buffer: EagerTensor | None = None
    at: Location | None = None
    what: str = ""
    place: Any = None

    def owner_now(self) -> Any:
        """The object from outside that it changes; None if each call is given its own."""
        return self.owner.get() if isinstance(self.owner, Known) else None


def effects_of(trace: Trace, taker: Taker) -> list[Effect]:
    """The effects of a trace at its end, in the order in which the places were first written."""
    found = []
    tables = {id(one): owner for owner, *_ in trace.reads.values() for one in stores_of(owner)}
    for place in list(trace.over.values()):
        if id(place.owner) in tables:
            kind = type(tables[id(place.owner)]).__name__
            raise ConversionError(
                f"a table of parameters, buffers, sublayers or hooks of a {kind} is changed itself",
                at=place.at,
                why=f"the {kind} would not know that it holds others, nor would its Programs",
                hint="set an attribute, or call add_sublayer(), register_buffer() and their like",
            )
        is_global = type(place.owner) is dict and place.name is not CONTENT
        if trace.is_outside(place.owner) or is_global:
            kind = type(place.owner).__name__
            if place.name is STATE:
                owner = taker.owner(place.owner)
                made = [Effect(owner, STATE, write_state, taker.take(place.value), None, place.at)]
            else:
                made = (_of_content if place.name is CONTENT else _of_place)(trace, taker, place)
            for effect in made:
                effect.place = id(place.owner), place.name
                if not isinstance(place.owner, (CellType, type)):
                    # What it does to an object; nothing of a variable, which is more than that.
                    if place.name is CONTENT or place.name is STATE:
                        effect.what = f"the {kind} in {place.at} is changed"
                    elif type(place.owner) is not dict and not isinstance(place.owner, ModuleType):
                        effect.what = f"the attribute `{place.name}` of {kind} is set at {place.at}"
            found += made
    return found


def written_by(trace: Trace) -> set[ReadKey]:
    """The places outside that a trace has written, by each way to read them."""
    found = set()
    for place in trace.over.values():
        owner = place.owner
        if place.name is not CONTENT:
            found |= {(id(owner), kind, place.name) for kind in ("attr", "cell", "item")}
        elif isinstance(owner, dict) and isinstance(place.value, dict):
            found |= {(id(owner), "item", key) for key in place.value}
        elif isinstance(owner, list):
            found |= {(id(owner), "item", index) for index in range(-len(owner), len(owner))}
    return found


def perform(effects: Sequence[Effect], outputs: Sequence[Any], known: dict[int, Any]) -> None:
    """Write all places: owners and values are found before the first is written."""
    found = [
        (rebuild(effect.owner, outputs, known), effect, rebuild(effect.value, outputs, known))
        for effect in effects
    ]
    for owner, effect, value in found:
        effect.write(owner, value)


# -- attributes, globals and cells ------------------------------------------------------------


def _of_place(trace: Trace, taker: Taker, place: Place) -> list[Effect]:
    owner, name, value = place.owner, place.name, place.value
    before = native_attribute(owner, name)
    keys = [(id(owner), kind, name) for kind in ("attr", "cell", "item")]
    given = [trace.inputs.get(key, before) for key in keys]
    if any(key in trace.reads and value is one for key, one in zip(keys, given, strict=True)):
        return []
    # The tensor that was a buffer, if a tensor takes its place
    if not isinstance(owner, Layer) or not isinstance(before, EagerTensor):
        buffer = None
    else:
        is_tensor = isinstance(value, Tensor) and number_kind(value) is None
        is_tensor = is_tensor or type(value) is Union
        if isinstance(before, Parameter) or not is_tensor or name not in owner._buffers:
            buffer = None
        else:
            trace.tracer.captured(before)
            buffer = before
    words = label(trace, place) if isinstance(owner, CellType) else name
    write = partial(_writer(owner), name)
    return [Effect(taker.owner(owner), words, write, taker.take(value), buffer, place.at)]


def _writer(owner: Any) -> Callable[[Any, Any, Any], None]:
    """What sets a place of an object, or deletes it: it may have been set and deleted."""
    if isinstance(owner, CellType):
        return _set_cell
    if type(owner) is dict:  # the globals of a module
        return _set_key
    if isinstance(owner, Layer):
        return _set_in_layer
    return _set_attribute


def _set_cell(name: str, owner: CellType, value: Any) -> None:
    if value is not UNBOUND:
        owner.cell_contents = value
    elif cell_value(owner) is not UNBOUND:
        del owner.cell_contents


def _set_key(name: Any, owner: dict[Any, Any], value: Any) -> None:
    if value is MISSING:
        owner.pop(name, None)
    else:
        owner[name] = value


def _set_attribute(name: str, owner: Any, value: Any) -> None:
    """What a method of the class does beside it is an effect of its own."""
    if value is not MISSING:
        setter_of(owner, "__setattr__")(owner, name, value)
    elif native_attribute(owner, name) is not MISSING:
        setter_of(owner, "__delattr__")(owner, name)


def _set_in_layer(name: str, owner: Layer, value: Any) -> None:
    """A buffer that stays of its type is no change of the Layer."""
    held = owner._buffers.get(name)
    if isinstance(held, EagerTensor) and like(value, held.array.dtype, held.array.shape):
        OrderedDict.__setitem__(owner._buffers, name, value)  # guards ask for its type alone
    else:
        _set_attribute(name, owner, value)


# -- what containers hold ---------------------------------------------------------------------


def _of_content(trace: Trace, taker: Taker, place: Place) -> list[Effect]:
    content, is_whole = place.value, id(place.owner) in trace.emptied
    if type(content) in (SymbolicSequence, Union):
        if not is_whole:
            trace.read_content(place.owner)
        return [_effect(taker, place, fill, taker.take(content))]
    if isinstance(content, dict):
        return _of_dict(trace, taker, place, is_whole)
    if isinstance(content, set):
        before = place.owner
        if is_whole:
            keys = _keys(taker, content, before)
            return [_effect(taker, place, partial(_change_set, None), keys)]
        gone, new = before - content, content - before
        change = partial(_change_set, gone)
        return [_effect(taker, place, change, _keys(taker, new, before))] if gone or new else []
    before, after = place.owner, place.value
    given, count = _given(trace, before), len(before)
    kept = after[:count] if isinstance(after, (list, bytearray)) else list(after)[:count]
    changed = [i for i, item in enumerate(kept) if item is not given[i]]
    found = []
    is_other = len(kept) < count or len(changed) == count > 1 or getattr(before, "maxlen", None)
    if is_whole or is_other:
        if after is not before and not is_whole:
            trace.read_content(before)
        return [_effect(taker, place, fill, _taken(taker, after))]
    if changed:
        trace.read("length", before, None, count)
        items = _taken(taker, (kept[i] for i in changed))
        found.append(_effect(taker, place, partial(_set_items, changed), items))
    tail = list(after)[count:]
    if tail:
        extend = lambda owner, items: owner.extend(items)  # noqa: E731
        found.append(_effect(taker, place, extend, _taken(taker, tail)))
    return found


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


def _set_items(places: list[int], owner: Any, values: list[Any]) -> None:
    for place, value in zip(places, values, strict=True):
        owner[place] = value


def _set_keys(owner: dict[Any, Any], pairs: list[list[Any]]) -> None:
    """Entries that the path of the call does not have go, if they were there."""
    for key, value in zip(*pairs, strict=True):
        _set_key(key, owner, value)


def _change_set(gone: set[Any] | None, owner: set[Any], items: list[Any]) -> None:
    """Take elements away, all if nobody knows which ones, and put others in."""
    owner.clear() if gone is None else owner.difference_update(gone)
    owner.update(items)
