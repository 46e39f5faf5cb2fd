"""What the Programs of a file keep outside from call to call.

A number or tensor of a place that they read and write is a buffer of the file, read when a call
begins, and written when it ends.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import IOBase
from typing import Any, NamedTuple

import numpy as np

from dy2st.convert.call_context import free_name
from dy2st.convert.objects import native_attribute
from dy2st.convert.replay.places import PLACES, AnyNumber, ReadKey, is_plain_tensor
from dy2st.convert.replay.result import Finished, Taker
from dy2st.convert.trace import Place, Trace
from dy2st.convert.types import info
from dy2st.convert.values.layout import number_kind
from dy2st.convert.values.special import CONTENT, MISSING, STATE, UNBOUND, SymbolicSequence, Union
from dy2st_runtime.errors import ConversionError, Location
from dy2st_runtime.ir import Program, Tensor, TensorType
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.nn.tables import Table
from dy2st_runtime.tensor import EagerTensor, wrapped

_NAME = re.compile(r"[A-Za-z0-9_.]+")


class Change(NamedTuple):
    """What a call changes: a value in a place, before and after, and where it is written."""

    home: Home
    before: Any
    after: Any
    at: Location | None
    is_read: bool  # whether the code has read it


class Home(NamedTuple):
    """Where a value is found: an attribute, variable or container, and keys in what it holds."""

    owner: Any
    name: Any
    steps: tuple[Any, ...] = ()

    @property
    def key(self) -> tuple[int, Any, tuple[Any, ...]]:
        """What tells it from others."""
        return id(self.owner), self.name, self.steps

    def at(self, *steps: Any) -> Home:
        """A place in what is there."""
        return Home(self.owner, self.name, (*self.steps, *steps))


@dataclass(eq=False)
class Kept:
    """A place that is kept, under a name of the state that begins with a tensor."""

    home: Home
    tensor: EagerTensor
    number: type | None  # the kind of a number of Python; None of a tensor
    label: str = ""


@dataclass(eq=False)
class Keeping:
    """The places that the Programs of a file keep, as far as their traces have found them."""

    names: Mapping[int, str]  # of the Layers that are saved, by id
    taken: frozenset[str] = frozenset()  # the names that their tensors have
    # What the trace of now has found in the places, by the names of the state
    found: dict[str, Any] = field(default_factory=dict)
    # What any trace has read: another one may write it
    read: set[ReadKey] = field(default_factory=set)
    kept: dict[Any, Kept] = field(default_factory=dict)

    def begin(self, trace: Trace) -> None:
        """Let a trace find the state in the places."""
        roots: dict[Any, list[Kept]] = {}
        self.found = {}
        for one in self.kept.values():
            self.found[one.label] = one.tensor
            if one.number is not None:
                variable = self.found[one.label] = trace.tracer.captured(one.tensor)
                variable.number = one.number
            roots.setdefault(one.home.key[:2], []).append(one)
        for found in roots.values():
            owner, name, _ = found[0].home
            before = owner if name is CONTENT else native_attribute(owner, name)
            values = {one.home.steps: self.found[one.label] for one in found}
            after = _with_values(trace, before, values)
            if after is not before:
                trace.mark_outside(owner)
                for kind in PLACES:
                    trace.inputs[id(owner), kind, name] = after
                trace.write(owner, name, after)

    def end(self, trace: Trace, reads: Reads, taker: Taker, finished: Finished) -> None:
        """Take what the places hold at the end; note those that the next trace is to keep."""
        for place in list(trace.over.values()):
            owner, name = place.owner, place.name
            # Those of gradients and buffers are known, and each call is given its arguments.
            is_known = isinstance(owner, (Tensor, type)) or id(owner) in taker.of_call
            is_known |= isinstance(owner, Layer) and owner._buffers.get(name) is not None
            if is_known or not trace.is_place_outside(owner, name):
                continue
            changes = list(reads.changes(place))
            if changes and not any(one.is_read or one.home.key in self.kept for one in changes):
                continue
            noted = [self._note(trace, reads, one, finished) for one in changes]
            if all(noted):
                finished.kept_places.add(place.key)
        for one in self.kept.values():
            value = _value_now(trace, one.home)
            if one.number is not None and type(value) is one.number:
                value = trace.tracer.number(value)
            if value is not self.found.get(one.label) and _fits(trace, one, value):
                trace.tracer.captured(one.tensor)  # a buffer, though its elements may not be read
                finished.kept[one.label] = taker.out(trace.tracer.variable(value)).index

    def _note(self, trace: Trace, reads: Reads, change: Change, finished: Finished) -> bool:
        """Whether a changed place is one that is kept, or will be."""
        home, before, after, _, is_read = change
        known = self.kept.get(home.key)
        one = known or _kept(home, before)
        if one is None or not _fits(trace, one, after) or reads.are_several(before):
            if known is not None or is_read:
                finished.lost = finished.lost or _lost(trace, change, reads.are_several(before))
            return False
        if known is None:
            # A name for the state: that of the attribute or variable, and the keys.
            words = [word for word in reads.path(home, self.names) if _NAME.fullmatch(word)]
            taken = self.taken | {kept.label for kept in self.kept.values()}
            one.label = free_name(".".join(words) or "state", taken, 2)
            self.kept[home.key] = one
        return True

    @property
    def size(self) -> int:
        """How much is known: what grows no more is all."""
        return len(self.kept) + len(self.read)

    def labels(self) -> dict[int, str]:
        """The names of the state, by the tensors that it begins with."""
        return {id(one.tensor): one.label for one in self.kept.values()}

    def drop_unused(self, program: Program, state: dict[str, EagerTensor], kept: Any) -> None:
        """Take out of a Program what others of the file keep, and it does not."""
        block = program.block
        used = {one for operator in block.operators for one in operator.operands} | {*block.yields}
        used |= {program.buffers[label] for label in kept if label in program.buffers}
        for one in self.kept.values():
            variable = program.buffers.get(one.label)
            if variable is not None and variable not in used:
                del program.buffers[one.label], state[one.label]


class Reads:
    """What a trace has read, by owner and name, and where it has found containers."""

    def __init__(self, trace: Trace, keeping: Keeping):
        keeping.read.update(trace.reads)
        self.keys = {*keeping.read}
        self.trace = trace
        self.touched = {key[0] for key in self.keys if key[1] not in ("attr", "cell", "class")}
        self.homes: dict[int, Home] = {}
        self.owners: dict[int, Home] = {}
        self.found: Counter[int] = Counter()  # tensors, by id
        self.attributes: set[tuple[int, Any]] = set()  # that were read, by the id of a `__dict__`
        for owner, kind, name, value in trace.reads.values():
            home = self.homes.get(id(owner))
            if kind == "content" and isinstance(owner, (dict, list, deque)):
                for key, one in _items(owner):
                    self._find((home or Home(owner, CONTENT)).at(key), one)
            elif kind in PLACES:
                self.attributes.add((id(getattr(owner, "__dict__", None)), name))
                self._find(Home(owner, name) if home is None else home.at(name), value)
                self.found[id(value)] += isinstance(value, EagerTensor)

    def _find(self, home: Home, value: Any) -> None:
        if isinstance(value, tuple):
            for index, one in enumerate(value):
                self._find(home.at(index), one)
        elif info(type(value)).is_container and type(value) is not Table:
            self.homes.setdefault(id(value), home)
        else:
            self.owners.setdefault(id(value), home)

    def changes(self, place: Place) -> Iterator[Change]:
        """What is changed in a place that was written, value by value."""
        owner, name = place.owner, place.name
        if name is STATE:
            is_read = not isinstance(owner, IOBase)
            yield Change(Home(owner, STATE), owner, place.value, place.at, is_read)
            return
        home = self.homes.get(id(owner), Home(owner, CONTENT))
        if name is not CONTENT:
            home, before = Home(owner, name), native_attribute(owner, name)
        else:
            before = owner
        for steps, old, new in _differences(self.trace, before, place.value):
            there = home.at(*steps)
            is_read = self._has(there, old, name is CONTENT)
            yield Change(there, old, new, place.at, is_read)

    def _has(self, home: Home, before: Any, is_content: bool) -> bool:
        """Whether the code has read what it changes: a value, or which ones a container holds."""
        owner, name, steps = home
        if name is CONTENT and type(owner) is dict:
            names = steps[:1] or self.trace.raw(owner).keys() ^ owner.keys()
            if any((id(owner), one) in self.attributes for one in names):
                return True
        if info(type(before)).is_container and is_content:
            return id(before) in self.touched
        held = owner if name is CONTENT else native_attribute(owner, name)
        is_read = (id(owner), "layer", "all") in self.keys
        is_read = is_read or any((id(owner), kind, name) in self.keys for kind in PLACES)
        for step in steps:
            if not isinstance(held, tuple):
                names = (step, step - len(held)) if isinstance(held, (list, deque)) else (step,)
                is_read = any((id(held), "item", name) in self.keys for name in names)
                is_read = is_read or (id(held), "content", None) in self.keys
            held = held[step]
        return is_read

    def are_several(self, value: Any) -> bool:
        """Whether a tensor was found in more places than one."""
        return isinstance(value, EagerTensor) and self.found[id(value)] > 1

    def path(self, home: Home, names: Mapping[int, str]) -> list[str]:
        """The names by which a place is reached from what is saved."""
        path: list[str] = []
        seen: set[int] = set()
        found: Home | None = home
        while found is not None and id(found.owner) not in seen:
            owner, name, steps = found
            seen.add(id(owner))
            first = self.trace.origin(owner, str) or name
            path = [*([first] if isinstance(first, str) else []), *map(str, steps), *path]
            if id(owner) in names:
                return [names[id(owner)], *path]
            found = self.owners.get(id(owner))
        return path


def _items(owner: Any) -> list[tuple[Any, Any]]:
    return list(owner.items() if isinstance(owner, dict) else enumerate(owner))


def _differences(trace: Trace, before: Any, after: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Where two values differ: the keys down to it, and what is there, before and after."""
    new = after if isinstance(after, tuple) else trace.raw(after)
    is_same = type(before) is type(new) and (before is not after or new is not after)
    if not is_same or not isinstance(before, (tuple, dict, list, deque)):
        if before is not after:
            yield (), before, after
        return
    old, found = _items(before), _items(new)
    if [key for key, _ in old] != [key for key, _ in found]:
        yield (), before, after
        return
    for (key, one), (_, other) in zip(old, found, strict=True):
        for steps, left, right in _differences(trace, one, other) if one is not other else ():
            yield (key, *steps), left, right


def _value_now(trace: Trace, home: Home) -> Any:
    """What is in a place at the end; MISSING if it is not there any more."""
    value = home.owner if home.name is CONTENT else trace.held(home.owner, home.name)
    for step in home.steps:
        held = value if isinstance(value, tuple) else trace.raw(value)
        if not isinstance(held, (tuple, dict, list, deque)):
            return MISSING
        value = dict(_items(held)).get(step, MISSING)
    return value


def _with_values(trace: Trace, before: Any, values: Mapping[tuple[Any, ...], Any]) -> Any:
    """A value in which other ones stand at the ends of keys; containers get them in the overlay."""
    if () in values:
        return values[()]
    inner: dict[Any, dict[tuple[Any, ...], Any]] = {}
    for (key, *steps), one in values.items():
        inner.setdefault(key, {})[tuple(steps)] = one
    found = {key: _with_values(trace, before[key], one) for key, one in inner.items()}
    if all(found[key] is before[key] for key in found):
        return before
    if isinstance(before, tuple):
        items = [found.get(key, one) for key, one in enumerate(before)]
        return info(type(before)).make(type(before), items, (), None)
    copy = before.copy()
    for key, one in found.items():
        copy[key] = one
    trace.mark_outside(before)
    trace.write(before, CONTENT, copy)
    return before


def _kept(home: Home, before: Any) -> Kept | None:
    """What keeps a value; None if no state can."""
    kind = type(before)
    if home.name in (STATE, "__dict__"):
        return None
    if is_plain_tensor(before):
        return Kept(home, before, None)
    if info(kind).dtype is not None and (kind is bool or AnyNumber(kind).fits(before)):
        return Kept(home, wrapped(np.asarray(before, info(kind).dtype)), kind)
    return None


def _fits(trace: Trace, one: Kept, value: Any) -> bool:
    """Whether a value is of the type that a place had."""
    kind = number_kind(value)
    if one.number is not None:
        is_known = isinstance(value, (bool, int, float))
        return kind is one.number and (not is_known or kind is bool or AnyNumber(kind).fits(value))
    if kind is not None or not isinstance(value, Tensor) or getattr(value, "is_numpy", False):
        return False
    variable = trace.tracer.variable(value)
    return bool(variable.type == TensorType(one.tensor.dtype, one.tensor.array.shape))


def _lost(trace: Trace, change: Change, are_several: bool) -> ConversionError:
    """What refuses a Program that would forget what a call leaves for the next one."""
    before, after = _in_words(change.before), _in_words(change.after)
    why = f"in a Program that is saved or compiled it is a buffer of one type, and {before} "
    why += f"becomes {after}" if before != after else "is none"
    if info(type(change.before)).is_container:
        why = "what a Program that is saved or compiled keeps has its place before the call"
    if are_several:
        why = "a Program that is saved or compiled has a value of its own for each name"
    return ConversionError(
        f"{trace.tracer.program.name}() reads {_place_in_words(trace, change.home)}, and changes "
        "it for the next call",
        at=change.at,
        why=why,
        hint="give the other name a copy: clone()" if are_several else _hint(change),
    )


def _hint(change: Change) -> str:
    before, kind = change.before, number_kind(change.after)
    if info(type(before)).is_container:
        return (
            "let all that it holds be there before it is saved, for which one call may do, or keep "
            "a tensor of one shape"
        )
    if before is None or before is MISSING or before is UNBOUND:
        return "call the function once before it is saved, so that it is there, or begin with zeros"
    if info(type(before)).dtype is not None:
        wanted = f"Python {kind.__name__}" if kind else "tensor of one shape"
        return f"begin with a {wanted}, and keep its type"
    if isinstance(before, EagerTensor):
        return "keep it in its largest shape, in one dtype, or return it and pass it in again"
    return "keep a number or a tensor in its place, or return it and pass it in again"


def _place_in_words(trace: Trace, home: Home) -> str:
    owner, name, steps = home
    if name is CONTENT or name is STATE:
        return f"what a {type(owner).__name__} holds"
    variable = trace.origin(owner, str)
    if variable is not None or type(owner) is dict:
        found = f"the variable `{variable or name}`"
    else:
        found = f"the attribute `{name}` of a {type(owner).__name__}"
    return f"what {found} holds" if steps else found


def _in_words(value: Any) -> str:
    """What a value is, as messages say it."""
    if value is MISSING or value is UNBOUND:
        return "nothing"
    kind = number_kind(value)
    if value is None or kind is not None:
        return "None" if kind is None else f"a Python {kind.__name__}"
    if isinstance(value, Tensor):
        return f"a tensor {value.tensor_type}"
    if type(value) in (SymbolicSequence, Union):
        return "one of several values" if type(value) is Union else f"a {value.kind.__name__}"
    return f"a {type(value).__name__}"
