"""What the Programs of a file keep from call to call, of what they read and write outside.

Calls are to such a Program what iterations are to a loop: what is in a place before a call and
behind it has one layout, which rises from trace to trace until it serves for every call. A leaf of
known sizes is a buffer of the file. Any other, a list or a tensor that grows, is an input that the
loaded model keeps, with an output that is its new value.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from io import IOBase
from types import NoneType
from typing import Any, NamedTuple

import numpy as np

from dy2st.convert.call_context import free_name
from dy2st.convert.objects import attributes_of, native_attribute, objects_in, parts_of
from dy2st.convert.replay.places import PLACES, AnyNumber, ReadKey, is_plain_tensor
from dy2st.convert.replay.result import Finished, Taker
from dy2st.convert.trace import Place, Trace, before_all
from dy2st.convert.types import info
from dy2st.convert.types.values import copy_of
from dy2st.convert.values.flatten import build, case_of, flatten
from dy2st.convert.values.layout import (
    Cases,
    Layout,
    Leaf,
    Lub,
    Number,
    Parts,
    Reference,
    Same,
    SequenceLayout,
    Unlike,
    all_of,
    as_value_layout,
    count,
    has_objects,
    leaves_of,
    number_kind,
    opened,
    width,
    with_leaves,
)
from dy2st.convert.values.special import (
    CONTENT,
    MISSING,
    STATE,
    Older,
    Special,
    SymbolicSequence,
)
from dy2st_runtime.dims import Dim, symbols
from dy2st_runtime.errors import ConversionError, Location
from dy2st_runtime.ir import (
    ArrayType,
    Program,
    Tensor,
    TensorType,
    Tracer,
    ValueType,
    Variable,
)
from dy2st_runtime.ir.choice import Text
from dy2st_runtime.ir.join import any_size, join_elements, join_types, renewed
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.tensor import EagerTensor, wrapped

_NAME = re.compile(r"[A-Za-z0-9_.]+")


class Change(NamedTuple):
    """What a call changes: a place, the value before it, and where it is written."""

    home: Home
    before: Any
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


class _NoForm(Exception):
    """A value that a file has no form for."""


class _Shared(_NoForm):
    """A value that another place holds, too."""

    why = "a Program that is saved or compiled has a value of its own for each name"
    hint = "give the other name a copy: clone()"


class _Located(_NoForm):
    """A value with objects of which only the run knows which one is which."""

    why = "it is kept by value, and the code asks which of its objects is another one"
    hint = "find them by a place or key: `del items[i]`, `items[i].n += 1`"


@dataclass(eq=False)
class Kept:
    """A place that is kept.

    change  the first one that a trace has found.
    label   the name of its leaf in the state, with a number where there are several.
    layout  what is in it before any call.
    held    the objects and tensors in it before the first one.
    leaves  what the value is then: tensors, and lists of them.
    types   what the leaves are before any call.
    aliases  for each leaf its place, and the first one that is the same tensor at first.
    """

    change: Change
    label: str
    layout: Layout
    held: list[Any]
    leaves: list[Any] = field(default_factory=list)
    types: list[ValueType] = field(default_factory=list)
    aliases: list[tuple[int, int]] = field(default_factory=list)
    is_by_value: bool = True  # whether nothing in it had a location at the end of the last trace

    @property
    def home(self) -> Home:
        """Where it is."""
        return self.change.home

    def by_name(self, values: Sequence[Any]) -> Iterator[tuple[str, Any]]:
        """What belongs to each leaf, with its name."""
        for place, value in enumerate(values):
            yield f"{self.label}.{place}" if len(values) > 1 else self.label, value

    def rises(self, trace: Trace, value: Any, arguments: Mapping[int, int], view: Older) -> bool:
        """Let the layout serve for a value, too; whether it rises.

        What an argument holds is another object at each call, so it is kept by value.
        """
        is_new: Callable[[Any], bool] = lambda one: (  # noqa: E731
            trace.is_new(one) or id(one) in arguments or view.is_new(one)
        )
        now = replace(before_all(trace), is_new=is_new, is_local=is_new)
        found = as_value_layout(Same(value, now))
        node = _by_value(trace, found)
        self.is_by_value = node is found
        joined = Lub(widens=True)(self.layout, node)
        # Another name for an object from outside would not see what changes in a copy of it.
        known, left = _objects(self.layout, node), _objects(joined)
        if not all(view.is_new(one) for key, one in known.items() if key not in left):
            raise _Shared
        return joined is not self.layout and self._begin_with(_as_found(trace, joined, view), view)

    def opens(self, view: Older) -> bool:
        """Let it begin with a copy of the object that it has; whether there is any."""
        node = as_value_layout(self.layout)
        return node is not self.layout and self._begin_with(node, view)

    def _begin_with(self, layout: Layout, view: Older) -> bool:
        self.layout = layout
        self.leaves = _leaves(self.change.before, layout, view)
        first: dict[int, int] = {}
        self.aliases = [(n, first.setdefault(id(one), n)) for n, one in enumerate(self.leaves)]
        if not isinstance(layout, Leaf):  # a tensor may be there twice, or in two places
            self.leaves = [one if type(one) is list else wrapped(one.array) for one in self.leaves]
        self.types = [*map(_type_of, self.leaves)]
        return True

    def rises_in_types(self, leaves: Sequence[Variable], free: set[Dim]) -> bool:
        """Let the types serve for leaves, too; whether one of them rises."""
        pairs = zip(self.types, leaves, strict=True)
        types = [join_types(old, _of_any_size(new.type), _NoForm, free) for old, new in pairs]
        rises = any(a is not b for a, b in zip(self.types, types, strict=True))
        self.types = types
        return rises


@dataclass(eq=False)
class Keeping:
    """The places that the Programs of a file keep, as far as their traces have found them."""

    names: Mapping[int, str]  # of the Layers that are saved, by id
    taken: frozenset[str] = frozenset()  # the names that their tensors have
    arguments: frozenset[str] = frozenset()  # and those of what calls are given
    has_inputs: bool = False  # whether somebody keeps inputs from call to call
    # What the trace of now has found in the places, by the names of the state
    found: dict[str, Any] = field(default_factory=dict)
    inputs: dict[str, Variable] = field(default_factory=dict)  # of the trace of now
    # What any trace has read: another one may write it
    read: set[ReadKey] = field(default_factory=set)
    kept: dict[Any, Kept] = field(default_factory=dict)
    free: set[Dim] = field(default_factory=set)  # the sizes that stand for any
    # Where the traces have found objects; and those of them that lie in what is kept
    places: dict[int, tuple[Any, dict[Any, Home]]] = field(default_factory=dict)
    owned: dict[int, Any] = field(default_factory=dict)
    is_only_written: bool = False  # whether something was changed, and not read
    # Whether that is kept, too, and containers with all that they hold, where they have one name
    is_whole: bool = False
    rises: int = 0  # how often a trace has found something new

    def begin(self, trace: Trace) -> None:
        """Let a trace find the state in the places."""
        inputs = self.inputs = self._add_inputs(trace)
        roots: dict[Any, list[Kept]] = {}
        self.found = {}
        for one in self.kept.values():
            pairs = one.by_name(one.leaves)
            captured = trace.tracer.captured
            leaves = [inputs[name] if name in inputs else captured(leaf) for name, leaf in pairs]
            for place, other in one.aliases:  # what changes in one of them, does in the other
                trace.tracer.aliases.note(leaves[place], leaves[other])
            is_tensor = isinstance(one.layout, Leaf) and one.label not in inputs
            value = one.leaves[0] if is_tensor else build(trace, one.layout, iter(leaves))
            self.found[one.label] = value
            roots.setdefault(one.home.key[:2], []).append(one)
        for found in roots.values():
            owner, name, _ = found[0].home
            before = owner if name is CONTENT else native_attribute(owner, name)
            values = {one.home.steps: self.found[one.label] for one in found}
            after = _with_values(trace, before, values)
            if after is not before:
                trace.mark_outside(owner)
                if name is CONTENT:
                    trace.put_place(Place(owner, name, after, None), after)
                    continue
                for kind in PLACES:
                    trace.inputs[id(owner), kind, name] = after
                trace.write(owner, name, after)

    def _add_inputs(self, trace: Trace) -> dict[str, Variable]:
        """The inputs of the Program for what no buffer holds, by name."""
        program, found = trace.tracer.program, dict[str, Variable]()
        for one in self.kept.values():
            for name, type in one.by_name(one.types):
                if not _is_of_a_buffer(type):
                    found[name] = program.block.add_parameter(renewed(type, self.free), name)
                    trace.tracer.flags.given[found[name]] = True
        program.inputs += found.values()
        return found

    def end(self, trace: Trace, reads: Reads, taker: Taker, finished: Finished) -> None:
        """Take what the places hold at the end; note those that the next trace is to keep."""
        rises = self.rises
        for place in list(trace.over.values()):
            owner, name = place.owner, place.name
            # Those of gradients and buffers are known, and each call is given its arguments.
            is_known = isinstance(owner, (Tensor, type)) or id(owner) in taker.of_call
            is_known |= isinstance(owner, Layer) and _stays_a_buffer(trace, owner, name)
            if is_known or not trace.is_place_outside(owner, name):
                continue
            changes = [one for one in reads.changes(place) if not self._holds(one.home)]
            is_buffer = isinstance(owner, Layer) and owner._buffers.get(name) is not None
            is_wanted = self.is_whole or is_buffer or any(one.is_read for one in changes)
            if changes and not is_wanted:
                self.is_only_written = True
                continue
            if all([self._note(trace, reads, one, finished) for one in changes]):
                finished.kept_places.add(place.key)
        values = {one: _value_now(trace, one.home) for one in self.kept.values()}
        shared, left = _shared(trace, [*values.values()]), dict[Kept, list[Variable]]()
        for one, value in values.items():
            # Of a tensor that changes in place the trace itself says that it does.
            if value is self.found.get(one.label, MISSING) and not parts_of(value):
                continue
            try:
                self.rises += one.rises(trace, value, taker.of_call, self.view)
                if not one.is_by_value:  # the next trace may do without
                    raise _Located
                left[one] = flatten(trace, value, one.layout, trace)
                self.rises += one.rises_in_types(left[one], self.free)
                if not (self.has_inputs or all(map(_is_of_a_buffer, one.types))):
                    raise _NoForm
            except (_NoForm, Unlike, ConversionError) as error:
                self.rises += one.opens(self.view)
                finished.lost = finished.lost or _lost(trace, one.change, error)
        # Until it has settled, something may be held in a place that nobody reads any more.
        if self.rises > rises or finished.lost:
            return
        for number, one in enumerate(values):
            known = _objects(one.layout).values()
            is_owned = any(id(it) in self.owned and it is not one.change.before for it in known)
            is_elsewhere = reads.are_elsewhere(one.held, one.home, self.owned)
            if number in shared or is_owned or is_elsewhere:
                finished.lost = finished.lost or _lost(trace, one.change, _Shared())
        for one, leaves in left.items():
            self._leave(trace.tracer, one, leaves, taker, finished)
        for name, variable in self.inputs.items():
            at = trace.tracer.flags.value_of(trace.tracer.captured(variable)).overwritten
            if at is not None and name not in finished.kept:
                raise overwritten(trace.tracer.program, name, at)
            finished.changed_inputs.update([name] if at is not None else [])
        finished.changed_inputs |= self.inputs.keys() & trace.tracer.program.changes.keys()

    def _leave(
        self, tracer: Tracer, one: Kept, leaves: list[Variable], taker: Taker, finished: Finished
    ) -> None:
        """Let the Program give what a place is left with."""
        for place, (name, leaf) in enumerate(one.by_name(leaves)):
            if _is_of_a_buffer(one.types[place]):
                tracer.captured(one.leaves[place])  # though its elements may not be read
            if leaf is not self.inputs.get(name, tracer.program.buffers.get(name)):
                finished.kept[name] = taker.out(leaf).index

    def _holds(self, home: Home) -> bool:
        """Whether a place, or what it lies in, is kept."""
        if id(home.owner) in self.owned:
            return True
        ways = (home.steps[:count] for count in range(len(home.steps) + 1))
        return any(Home(home.owner, home.name, steps).key in self.kept for steps in ways)

    def _note(self, trace: Trace, reads: Reads, change: Change, finished: Finished) -> bool:
        """Whether a changed place is one that is kept from now on."""
        home, before, _, is_read = change
        _, places = self.places.get(id(home.owner), (None, dict[Any, Home]()))
        if self.is_whole and home.name is CONTENT and len(places) == 1:
            (home,), before = places.values(), home.owner
            change = change._replace(home=home, before=before)
        is_content = home.name is CONTENT and not home.steps
        held = [one for one in objects_in(before, ("tuple",)) if not (is_content and one is before)]
        objects = [one for one in held if not isinstance(one, Tensor)]
        own = {id(one): one for one in objects}
        are_several = len(own) < len(objects) or reads.are_elsewhere(held, home, own)
        is_hidden = home.name is STATE and before is home.owner
        if is_hidden or home.name == "__dict__" or are_several:
            if is_read:
                lost = _lost(trace, change, _Shared() if are_several else None)
                finished.lost = finished.lost or lost
            return False
        for key in [*self.kept]:
            is_inner = key[:2] == home.key[:2] and key[2][: len(home.steps)] == home.steps
            if is_inner or key[0] in own:
                del self.kept[key]  # it lies in this one
        # A name for the state: that of the attribute or variable, and the keys.
        words = [word for word in reads.path(home, self.names) if _NAME.fullmatch(word)]
        name, taken = ".".join(words), self.arguments.union(k.label for k in self.kept.values())
        is_buffer = isinstance(home.owner, Layer) and home.name in home.owner._buffers
        label = free_name(
            name or "state", taken | (self.taken - {name} if is_buffer else self.taken), 2
        )
        self.owned |= own
        if is_content:
            change = change._replace(before=copy_of(before))
        layout: Layout = Same(change.before, self.view)
        layout = opened(layout, True) if is_content else layout
        self.kept[home.key] = Kept(change, label, layout, held)
        self.rises += 1
        return True

    @property
    def view(self) -> Older:
        """How objects from outside are looked at: as they are before any call."""
        is_whole: Callable[[Any], bool] = lambda one: info(type(one)).is_container  # noqa: E731
        taken: Callable[[Any], Any] = lambda one: one if is_whole(one) else attributes_of(one)  # noqa: E731
        owned: Callable[[Any], bool] = lambda one: id(one) in self.owned  # noqa: E731
        return Older(fields=attributes_of, taken=taken, is_new=owned)

    def begin_anew(self) -> bool:
        """A trace has failed: keep more, if there is more."""
        has_contents = any(one.home.name is CONTENT for one in self.kept.values())
        is_new, self.is_whole = not self.is_whole and (has_contents or self.is_only_written), True
        if is_new:
            self.kept, self.owned, self.rises = {}, {}, self.rises + 1
        return is_new

    @property
    def size(self) -> int:
        """How much is known: what grows no more is all."""
        return self.rises + len(self.read)

    def labels(self) -> dict[int, str]:
        """The names of the state, by the tensors that it begins with."""
        found: dict[int, str] = {}
        for one in self.kept.values():
            for (name, leaf), type in zip(one.by_name(one.leaves), one.types, strict=True):
                found.update({id(leaf): name} if _is_of_a_buffer(type) else {})
        return found

    def drop_unused(
        self, program: Program, state: dict[str, EagerTensor], finished: Finished
    ) -> None:
        """Take out of a Program what others of the file keep, and it does not."""
        used = {one for operator in program.operators for one in operator.operands}
        used |= {*program.block.yields}
        inputs = {one.name: one for one in program.inputs}
        for one in self.kept.values():
            for name, leaf in one.by_name(one.leaves):
                variable = program.buffers.get(name, inputs.get(name))
                if variable in used or name in finished.kept:
                    finished.kept_inputs.update({name: leaf} if name in inputs else {})
                elif name in inputs:
                    program.inputs = [one for one in program.inputs if one is not variable]
                elif name in program.buffers:
                    program.drop_state(name)
                    del state[name]


class Reads:
    """What a trace has read, by owner and name, and where it has found containers."""

    def __init__(self, trace: Trace, keeping: Keeping):
        keeping.read.update(trace.reads)
        self.keys = {*keeping.read}
        self.trace = trace
        self.touched = {key[0] for key in self.keys if key[1] not in ("attr", "cell", "class")}
        self.homes: dict[int, Home] = {}  # where objects were found first
        self.places = keeping.places
        self.attributes: set[tuple[int, Any]] = set()  # that were read, by the id of a `__dict__`
        for owner, kind, name, value in trace.reads.values():
            if kind == "content" and isinstance(owner, (dict, list, deque)):
                for key, one in _items(owner):
                    self._find(Home(owner, CONTENT, (key,)), one)
            elif kind in PLACES:
                self.attributes.add((id(getattr(owner, "__dict__", None)), name))
                home = Home(owner, name)
                if kind == "item":
                    key = name if isinstance(owner, dict) else name % max(1, len(owner))
                    home = Home(owner, CONTENT, (key,))
                self._find(home, value)

    def _find(self, home: Home, value: Any) -> None:
        for index, one in enumerate(value) if isinstance(value, tuple) else ():
            self._find(home.at(index), one)
        if isinstance(value, Tensor) or not info(type(value)).is_value:
            self.homes.setdefault(id(value), home)
            self.places.setdefault(id(value), (value, {}))[1][home.key] = home

    def changes(self, place: Place) -> Iterator[Change]:
        """What is changed in a place that was written, value by value."""
        owner, name = place.owner, place.name
        if name is STATE:
            is_read, row = not isinstance(owner, IOBase), info(type(owner))
            before = row.as_value(row.snapshot(owner)) if row.is_drawn else owner
            yield Change(Home(owner, STATE), before, place.at, is_read)
            return
        home = Home(owner, name)
        before = owner if name is CONTENT else native_attribute(owner, name)
        is_open = name is CONTENT or isinstance(before, tuple)
        found = [((), before)] if before is not place.value else []
        for steps, old in _differences(before, place.value) if is_open else found:
            there = home.at(*steps)
            yield Change(there, old, place.at, self._has(there, old, name is CONTENT))

    def _has(self, home: Home, before: Any, is_content: bool) -> bool:
        """Whether the code has read what it changes: a value, or which ones a container holds."""
        owner, name, steps = home
        if name is CONTENT and type(owner) is dict:
            now = self.trace.raw(owner)
            names = steps[:1] or (now.keys() if isinstance(now, dict) else set()) ^ owner.keys()
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

    def are_elsewhere(self, held: Sequence[Any], home: Home, own: Container[int]) -> bool:
        """Whether objects were found outside of the place that holds them all, some in `own`."""
        owner, name, steps = home.key
        places = (key for one in held for key in self.places.get(id(one), (one, ()))[1])
        return any(
            key[0] not in own and (key[:2] != (owner, name) or key[2][: len(steps)] != steps)
            for key in places
        )

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
            found = self.homes.get(id(owner))
        return path


def _items(owner: Any) -> list[tuple[Any, Any]]:
    return list(owner.items() if isinstance(owner, dict) else enumerate(owner))


def _differences(before: Any, after: Any) -> Iterator[tuple[Any, Any]]:
    """Where two tuples, or contents, differ: the keys down to it, and what was there before."""
    if type(before) is not type(after) or not isinstance(before, (tuple, dict, list, deque)):
        yield (), before
        return
    old, new = _items(before), _items(after)
    if [key for key, _ in old] != [key for key, _ in new]:
        yield (), before
        return
    for (key, one), (_, other) in zip(old, new, strict=True):
        if isinstance(one, tuple) and one is not other:
            for steps, left in _differences(one, other):
                yield (key, *steps), left
        elif one is not other:
            yield (key,), one


def _value_now(trace: Trace, home: Home) -> Any:
    """What is in a place at the end; MISSING if it is not there any more."""
    if home.name is CONTENT and not home.steps:
        return trace.raw(home.owner)
    find = trace.kept if home.name is STATE else trace.held
    value = home.owner if home.name is CONTENT else find(home.owner, home.name)
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


# -- layouts of all calls -----------------------------------------------------------------------


def _as_found(trace: Trace, node: Layout, view: Older) -> Layout:
    """A layout as each trace sees it; _NoForm of what a trace alone knows."""
    if isinstance(node, Same):
        row = info(type(node.value))
        if not (row.is_atom or row.is_constant or trace.is_outside(node.value)):
            raise _NoForm
        return Same(node.value, view)
    if getattr(node, "is_numpy", False):
        raise _NoForm
    return with_leaves(node, [_as_found(trace, one, view) for one in leaves_of(node)])


def _by_value(trace: Trace, node: Layout, inside: tuple[Layout, ...] = ()) -> Layout:
    """A layout with what objects hold in the place of their locations; _NoForm if it has no end."""
    if isinstance(node, Reference):
        if node in inside:
            raise _NoForm
        columns = [opened(Same(one, trace)) for one in node.columns.values()]
        rows: list[Any] = [Lub()(SequenceLayout(list, None), one) for one in columns]
        items = [_by_value(trace, one.element, (*inside, node)) for one in rows]
        return items[0] if CONTENT in node.columns else Parts(node.kind, items, [*node.columns])
    found = with_leaves(node, [_by_value(trace, one, inside) for one in leaves_of(node)])
    return reduce(Lub(), found.cases) if found is not node and isinstance(found, Cases) else found


def _objects(*nodes: Layout) -> dict[int, Any]:
    """The objects that layouts name, of those that could be changed in place."""
    known = [node.value for node in all_of(nodes) if isinstance(node, Same)]
    return {id(one): one for one in known if parts_of(one)}


def _leaves(value: Any, node: Layout, view: Older) -> list[Any]:
    """The leaves of a value from outside: tensors, and lists of these."""
    if isinstance(node, Same):
        return []
    if isinstance(node, Leaf) and number_kind(value) is None:
        if not is_plain_tensor(value):
            raise _NoForm
        return [value]
    if isinstance(node, (Leaf, Number)):
        if type(value) is not bool and not AnyNumber(type(value)).fits(value):
            raise _NoForm
        dtype = node.dtype if isinstance(node, Leaf) else info(node.kind).dtype
        return [wrapped(np.asarray(value, dtype))]
    if isinstance(node, SequenceLayout):
        items = value.items() if isinstance(value, dict) else value
        zero = _leaves(0, Number(int), view)
        rows = [_leaves(item, node.element, view) or zero for item in items if node.element]
        return [[row[place] for row in rows] for place in range(width(node.element))]
    if isinstance(node, Cases):
        place = case_of(node, Same(value, view))
        found = _leaves(place, Number(int), view)
        for index, case in enumerate(node.cases):
            if index == place:
                found += [[leaf] for leaf in _leaves(value, case, view)]
            else:
                found += [[] for _ in range(count(case))]
        return found
    if isinstance(node, Parts):
        held = value if info(node.kind).is_value else view.taken(value)
        parts = info(node.kind).parts(held, node.like if node.kind is Text else node.names)
        return [
            leaf for pair in zip(parts, node.items, strict=True) for leaf in _leaves(*pair, view)
        ]
    raise _NoForm


def _type_of(leaf: Any) -> ValueType:
    if not isinstance(leaf, list):
        return TensorType(leaf.dtype, leaf.array.shape)
    element: ValueType | None = None
    for one in leaf:
        element = join_elements(element, _type_of(one), _NoForm)
    return ArrayType(element)


def _of_any_size(type: ValueType) -> ValueType:
    """The type of a list whose elements may differ in all sizes that are no numbers."""
    if isinstance(type, TensorType) or type.element is None:
        return type
    inner = type.element
    return ArrayType(_of_any_size(inner) if isinstance(inner, ArrayType) else any_size(inner))


def _stays_a_buffer(trace: Trace, owner: Layer, name: Any) -> bool:
    """Whether a place of a Layer has a buffer of the type that it had."""
    before, after = owner._buffers.get(name), trace.held(owner, name)
    if before is None or not isinstance(after, Tensor) or number_kind(after) is not None:
        return False
    return bool(trace.tracer.variable(after).type == TensorType(before.dtype, before.array.shape))


def _is_of_a_buffer(type: ValueType) -> bool:
    return isinstance(type, TensorType) and not symbols(type.shape)


def _shared(trace: Trace, values: Sequence[Any]) -> set[int]:
    """The places of values that hold what another one may hold: a change would reach one alone."""
    state, holders = trace.state, dict[int, list[int]]()
    found = set[int]()
    for place, value in enumerate(values):
        for part in [value] if type(value) is SymbolicSequence else parts_of(value):
            if trace.is_outside(part):
                continue
            held = [state.merged.get(id(part), part)]
            if any(id(part) in one for one in (state.fragile, state.borrowed, state.stale)):
                found.add(place)
            element = getattr(trace.raw(part), "element", None)
            if element is not None and has_objects(element):
                held.append(trace.alias_tracker.root(element))
                found |= {place} if trace.alias_tracker.is_fixed(element) else set()
            for one in held:
                holders.setdefault(id(one), []).append(place)
    return found.union(*(several for several in holders.values() if len(several) > 1))


def _lost(trace: Trace, change: Change, error: Exception | None = None) -> ConversionError:
    """What refuses a Program that would forget what a call leaves for the next one."""
    why = "no form of it serves for every call of a Program that is saved or compiled"
    hint = "keep a number, or a tensor of one dtype and shape, or return it and pass it in again"
    kind = type(change.before)
    if kind in (NoneType, Special) or info(kind).is_container:
        hint = "call the function once before, or begin with a tensor of one dtype and shape"
    if isinstance(error, ConversionError):
        why = str(error).splitlines()[0]
    elif isinstance(error, (_Shared, _Located)):
        why, hint = error.why, error.hint
    what = f"{trace.tracer.program.name}() reads {_place_in_words(trace, change.home)}"
    what += ", and changes it for the next call"
    return ConversionError(what, at=change.at, why=why, hint=hint)


def overwritten(program: Program, name: str, at: Location) -> ConversionError:
    """The refusal of a change in place of what may be an input."""
    return ConversionError(
        f"{program.name}() changes a tensor in place that may be its argument `{name}`",
        at=at,
        why="a branch, loop or list that depends on a tensor has chosen which one it is",
        hint="change it where it is chosen: `if p: a.add_(1)`, `else: b.add_(1)`",
    )


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
