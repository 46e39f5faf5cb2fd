"""The trace: all that is known while a function runs on placeholders, in one object.

An object is *outside* if it was reached from outside: arguments, globals, cells, `self`, and what
is loaded from such an object. What code does to an object that was made on the path that is traced
now is done natively. To all others it is written into the heap of the state of the path: so a
branch leaves nothing behind, and the trace changes nothing of the user's.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from gc import get_referents
from pathlib import PurePath
from types import CellType, FunctionType
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from dy2st.convert.aliases import AliasTracker, Locations
from dy2st.convert.call_context import CallContext, Repeats
from dy2st.convert.dy2static import Vocabulary
from dy2st.convert.objects import (
    attributes_of,
    check_held,
    held_by,
    is_namespace,
    is_ours,
    names_now,
    native_attribute,
)
from dy2st.convert.record import Record
from dy2st.convert.types import info
from dy2st.convert.types.row import HEAP_TYPE
from dy2st.convert.types.values import copy_of, fill, read_state, write_state
from dy2st.convert.values.flatten import case_content
from dy2st.convert.values.layout import Reference
from dy2st.convert.values.special import (
    CONTENT,
    GROWN,
    LOCATION,
    MISSING,
    STATE,
    Older,
    Special,
    SymbolicSequence,
    Union,
)
from dy2st_runtime.errors import Location, UnsupportedSyntax
from dy2st_runtime.ir import ArrayType, Tensor, Tracer, Variable, user_location
from dy2st_runtime.ir.tracing.path_state import Path, Table
from dy2st_runtime.size_list import SizeList
from dy2st_runtime.tensor import wrapped
from dy2st_runtime.thread_state import collection_as_before

Key: TypeAlias = "tuple[int, Any]"
Origin = TypeVar("Origin")

EACH_CALL = "each call"  # the kind of a read that nothing can ask again: its value says what
_CHANGING = frozenset({EACH_CALL, "volatile"})  # what may be another thing at the next read


@dataclass(eq=False)
class Place:
    """What an owner holds under a name, in the overlay."""

    owner: Any
    name: Any
    value: Any
    at: Location | None = None

    @property
    def key(self) -> Key:
        """What the overlay has it by."""
        return id(self.owner), self.name


@dataclass(eq=False, kw_only=True)
class Region(Path):
    """What a branch or body has left behind: a view of values as they were at its end."""

    trace: Trace
    results: tuple[Any, ...] | None = ()
    raised: BaseException | None = None
    outcome: Any = None

    @property
    def changes(self) -> dict[Key, Place]:
        """The places that were written."""
        return self.changed.get("heap", {})

    def raw(self, owner: Any) -> Any:
        """What a container held at the end."""
        place = self.changes.get((id(owner), CONTENT))
        return self.trace.raw(owner) if place is None else place.value

    def fields(self, owner: Any) -> dict[str, Any] | None:
        """The attributes that an object had at the end; None if it is no plain object."""
        return _with_changes(owner, self.trace.fields(owner), self.changes)

    def taken(self, owner: Any) -> Any:
        """What a container or object held at the end, to be carried by value."""
        place = self.changes.get((id(owner), CONTENT))
        if place is not None:
            return place.value
        return _with_changes(owner, self.trace.taken(owner), self.changes)

    def is_new(self, owner: Any) -> bool:
        """Whether an object was made in the region: nobody else knows it."""
        return id(owner) in self.changed["born"]

    is_local = is_new  # and ends with it

    def has_grown(self, owner: Any) -> bool:
        """Whether a set was made empty, and nothing was taken away from it."""
        return self.trace.has_grown(owner)

    def node(self, owner: Any) -> Reference | None:
        """The layout of an object that has a location, or may get one; None of all others."""
        return self.trace.locations.node(owner)

    @property
    def moved(self) -> list[Any]:
        """The objects older than the region that have got a location in it."""
        found = (one.owner for (_, name), one in self.changes.items() if name is LOCATION)
        return [one for one in found if not self.is_new(one)]

    def value_of(self, place: Place) -> Any:
        """What a place held at the end."""
        now = self.changes.get(place.key)
        return self.trace.kept(place.owner, place.name) if now is None else now.value


@dataclass(eq=False)
class PendingHandlerPath:
    """A path that has raised what a handler may catch; all else runs in `rest`, until that ends."""

    pred: Variable
    raised_if: bool  # which value of `pred` leads to the path that has raised
    raised: Region
    rest: Region
    running: ExitStack


@dataclass(eq=False)
class Test:
    """What is known of a value that decides: its truth, and the cases of values for either."""

    truth: Any = ...  # as long as it is unknown
    # By the truth, values each of which is one of several, with the cases that it can be
    facts: dict[bool, list[tuple[Union, frozenset[int]]]] = field(default_factory=dict)


class Remaker(NamedTuple):
    """Makes an iterator over one of several again, which nobody has asked for an item."""

    make: Callable[..., Any]
    parts: tuple[Any, ...]


class DictView(NamedTuple):
    """A view of a dict: that, and the method that gave it."""

    owner: Any
    name: str
    is_of_path: bool  # the dict ends with the branch or iteration that has made it


class Sizes:
    """A list is the shape of a tensor, or made of one."""


@dataclass(eq=False)
class Source:
    """A generator that may be run by giving each item to its consumer."""

    found: Callable[[], Any]  # the generator, which lives no longer for that
    # Gives each item to a function, and returns what the generator returns
    run: Callable[[Callable[[Any], Any]], Any]
    at: tuple[Any, ...] = ()  # where it was made, and on which path
    is_left: bool = False  # whether its consumer has left it before its end
    # Whether the rest of its iterable makes its own, as of a `filter`; None: it ends with an error.
    restarts: bool | None = None


class Trace(Vocabulary):
    """One trace of a function; `Machine` binds the functions of its vocabulary."""

    def __init__(
        self,
        tracer: Tracer,
        record: Record | None = None,
        call_context: CallContext | None = None,
        locations: Locations | None = None,
    ):
        """It records operators by a tracer of the runtime, and what it meets in a record."""
        self.tracer = tracer
        self.record = record or Record()
        self.call_context = call_context or CallContext()
        self.state = tracer.state
        self.outside: dict[int, Any] = {}
        # What is not among these ids holds just what Python has of it: the rest is looked up.
        self.watched: set[int] = set()
        self.own: dict[int, Any] = {}  # the classes, functions and cells that the trace has made
        self.inputs: dict[tuple[int, str, Any], Any] = {}
        self.reads: dict[tuple[int, str, Any], tuple[Any, str, Any, Any]] = {}
        self.forms: dict[int, tuple[Any, Callable[..., Any]]] = {}  # of functions, once called
        # What globals and classes were found to hold, until the code changes any of them.
        self.fixed: dict[tuple[Any, ...], Any] = {}
        self.changes_names = False
        self.alias_tracker = AliasTracker(self)
        self.repeats = Repeats()
        self.locations = locations or Locations()
        self.locations.begin(self)
        # How objects came about, and what is known of values that decide, with these
        self.origins: dict[int, tuple[Any, Any]] = {}
        self.handlers: list[Any] = []
        self.giving: list[Source] = []  # the generators whose items others give away
        self.rounds: Any = None  # of the loop that is staged
        self.undo_stack: list[Callable[[], None]] = []  # what gives objects back what they had

    def end(self) -> None:
        """Let go of all that the trace knows: objects of the user's live no longer than before."""
        known = (self, self.state, self.locations)
        for held in (held for one in known for held in vars(one).values()):
            if isinstance(held, (dict, list, set)):
                held.clear()
        self.repeats, self.record = Repeats(), Record()

    @property
    def over(self) -> Table[Key, Place]:
        """What the code has written, over what the objects hold themselves."""
        return self.state.heap

    @property
    def is_nested(self) -> bool:
        """Whether code runs in a branch or loop that a tensor decides on."""
        return bool(self.state.paths)

    def give_back(self) -> None:
        """Let all objects of the user's have what they had; a second time does nothing."""
        for undo in reversed(self.undo_stack):
            undo()

    # -- who made what --------------------------------------------------------------------------

    def made(self, value: Any) -> Any:
        """Note that a mutable object was made on this path; returns it."""
        if self.state.paths:
            self.state.born[id(value)] = value
        if type(value) is set and len(value) <= 1:
            self.origins[id(value)] = value, GROWN
        if self.locations.of_containers:
            self.locations.note_made(value)
        return value

    def sized(self, value: Any) -> Any:
        """Note that a new list is the shape of a tensor, or made of one; returns it."""
        self.origins[id(value)] = value, Sizes()
        return self.made(value)

    def origin(self, value: Any, kind: type[Origin]) -> Origin | None:
        """How an object came about, or what is known of it, of a kind; None of all others."""
        found = self.origins.get(id(value))
        return found[1] if found is not None and isinstance(found[1], kind) else None

    def view_of(self, value: Any) -> DictView | None:
        """The dict that a view shows, and the method that gave it; None of all else."""
        found = self.origin(value, DictView)
        if found is None and info(type(value)).is_view and self.is_outside(value):
            owner, name = get_referents(value)[0], type(value).__name__.rpartition("_")[2]
            if info(type(owner)).is_container:
                found = DictView(self.mark_outside(owner), name, False)
        return found

    def is_made_here(self, owner: Any) -> bool:
        """Whether an object is changed natively: the path that made it is the one that runs."""
        if self.state.paths:
            return self.state.born.is_set_here(id(owner))
        # The trunk notes nothing in `born`: what is not from outside was made by it.
        return id(owner) not in self.outside

    def mark_outside(self, value: Any) -> Any:
        """Note that an object was reached from outside; returns it."""
        if info(type(value)).is_atom or id(value) in self.outside:
            return value
        if not is_ours(value):
            self.outside[id(value)] = value
            self.watched.add(id(value))
        for part in held_by(value):
            self.mark_outside(part)
        return value

    def is_outside(self, owner: Any) -> bool:
        """Whether an object was reached from outside of the trace."""
        return id(owner) in self.outside

    def is_local(self, owner: Any) -> bool:
        """Whether an object ends with what is looked at: the trace goes on."""
        return False

    def is_place_outside(self, owner: Any, name: Any) -> bool:
        """Whether a place is one of an object from outside, or a global variable."""
        return self.is_outside(owner) or (type(owner) is dict and isinstance(name, str))

    def is_new(self, owner: Any) -> bool:
        """Whether an object was made in the trace: what it holds may be carried by value."""
        return not self.is_outside(owner)

    def node(self, owner: Any) -> Reference | None:
        """The layout of an object that has a location, or may get one; None of all others."""
        return self.locations.node(owner)

    def has_grown(self, owner: Any) -> bool:
        """Whether a set was made empty, and nothing was taken away from it."""
        return self.origin(owner, Special) is GROWN

    def is_as_found(self, owner: Any) -> bool:
        """Whether a container may hold what it held before the call: all of it, or some."""
        return id(owner) in self.outside and id(owner) not in self.record.emptied

    def read(self, kind: str, owner: Any, name: Any, value: Any) -> Any:
        """Note what a place outside holds that nothing has written; what is there is outside."""
        key = id(owner), kind, name
        if self.repeats.depth:
            self.repeats.log.append((owner, kind, name, value))
            self.repeats.disturbed += kind in _CHANGING
        if key not in self.reads:
            if kind == EACH_CALL and self.call_context.is_tentative:
                self.refuse_effect(value)
            self.reads[key] = owner, kind, name, value
            # An array may change where it lies, while its place holds the same object.
            if isinstance(value, np.ndarray):
                self.reads[id(value), "array", None] = value, "array", None, None
            elif type(value) is SizeList:  # ours, so that its items are read with no more ado
                self.reads[id(value), "length", None] = value, "length", None, len(value)
                for place, size in enumerate(value):
                    self.reads[id(value), "item", place] = value, "item", place, size
        return self.mark_outside(self.inputs.get(key, value) if self.inputs else value)

    def refuse_effect(self, what: str) -> None:
        """Refuse what Python must do at each call, in a trace that may be in vain."""
        at = user_location()
        raise UnsupportedSyntax(
            what.replace(f" at {at}", "").rstrip(","),
            at=at,
            why="Python must do it, at each call; a trace for it would take longer than the call",
            hint="do it before or after, or in a function of its own",
        )

    def seen(self, kind: str, owner: Any, name: Any, value: Any) -> Any:
        """As `read`; of an object that the trace has made nothing is noted."""
        return self.read(kind, owner, name, value) if self.is_outside(owner) else value

    def read_item(self, owner: Any, name: Any, found: Any) -> Any:
        """Note that an item was found, or MISSING; not if the code itself has put it there."""
        if not self.is_as_found(owner):
            return found
        if isinstance(owner, dict):
            held = owner.get(name, MISSING)
        else:
            held = owner[name] if -len(owner) <= name < len(owner) else MISSING
            if name >= len(owner):  # what stands there depends on how many there were
                self.read_length(owner)
        return self.read("item", owner, name, found) if held is found else found

    def read_length(self, owner: Any) -> None:
        """Note that the code has asked how many items there are."""
        if self.is_as_found(owner):
            self.read("length", owner, None, len(owner))

    def read_content(self, owner: Any) -> None:
        """Note that the code has looked at all items."""
        if self.is_as_found(owner) and (id(owner), "content", None) not in self.reads:
            self.read("content", owner, None, None)
            for item in owner.values() if isinstance(owner, dict) else owner:
                self.mark_outside(item)

    def read_volatile(self, function: Callable[..., Any], /, *args: Any, **options: Any) -> Any:
        """What a function says of the process, or of what it alone knows: asked at each call."""
        try:
            with collection_as_before():
                found = function(*args, **options)
        except Exception:  # whatever the process says, the next call asks again
            self.read(EACH_CALL, function, "", f"{function.__name__}() raises")
            raise
        is_new = type(found) in (list, dict, set) or isinstance(found, (PurePath, date))
        known = copy(found) if is_new else found
        self.read("volatile", function, (args, tuple(options.items())), known)
        return self.made(found) if is_new else self.mark_outside(found)

    # -- places ---------------------------------------------------------------------------------

    def held(self, owner: Any, name: Any) -> Any:
        """What a place holds: the overlay first, then the object itself; MISSING if nothing."""
        place = self.over.get((id(owner), name))
        if place is not None:
            return place.value
        if name is CONTENT:
            return owner
        if isinstance(owner, Variable):  # whose gradient alone has a place
            return None
        return read_state(owner) if name is STATE else native_attribute(owner, name)

    def kept(self, owner: Any, name: Any) -> Any:
        """As `held`, where it stays so on some paths: it is as if the code had read it."""
        value = self.held(owner, name)
        if name is STATE:
            return info(type(owner)).as_value(value)
        if (id(owner), name) in self.over or name is CONTENT:
            return value
        if type(owner) is dict:  # the globals of a module
            return self.read("item", owner, name, value)
        kind = "cell" if type(owner) is CellType else "attr"
        return self.seen(kind, owner, name, value)

    def content(self, owner: Any) -> Any:
        """What a container holds now: itself, its working copy, or a SymbolicSequence."""
        if id(owner) not in self.watched:
            return owner
        owner = self.locations.holder(owner)
        self.alias_tracker.look(owner)
        place = self.over.get((id(owner), CONTENT))
        if place is None:
            return names_now(owner, self.over) if is_namespace(owner) else owner
        held = place.value
        return case_content(self, held, type(owner)) if type(held) is Union else held

    def raw(self, owner: Any) -> Any:
        """As `content`, but one of several contents as that."""
        owner = self.locations.holder(owner)
        place = self.over.get((id(owner), CONTENT))
        return owner if place is None else place.value

    def fields(self, owner: Any) -> dict[str, Any] | None:
        """The attributes of an object now; None if it is no plain object."""
        if self.locations.of(owner) is not None:
            return self.locations.fields(owner)
        return _with_changes(owner, attributes_of(owner), self.over)

    def taken(self, owner: Any) -> Any:
        """What a container or object holds, to be carried by value: all of it is read."""
        is_container = info(type(owner)).is_container
        held = self.raw(owner) if is_container else self.fields(owner)
        if held is None or not self.is_outside(owner) or isinstance(owner, BaseException):
            return held
        if not is_container:
            new = [name for name in held if (id(owner), name) not in self.over]
            read = {name: self.read("attr", owner, name, held[name]) for name in new}
            return {name: read.get(name, one) for name, one in held.items()}
        self.read_content(owner)
        return held

    def writable(self, owner: Any) -> Any:
        """The content of a container, to be changed natively, or a SymbolicSequence to replace."""
        if id(owner) not in self.watched and self.is_made_here(owner):
            return owner
        owner = self.locations.holder(owner)
        self.alias_tracker.look(owner)
        self.alias_tracker.check_change(owner)
        self.alias_tracker.change(owner)
        place = self.over.get((id(owner), CONTENT))
        if place is None and self.is_made_here(owner):
            return owner
        if place is not None and type(place.value) is SymbolicSequence:
            return place.value
        if place is not None and type(place.value) is Union:
            content = case_content(self, place.value, type(owner))
            self.write(owner, CONTENT, content)
            return content
        # The working copy of a path around is what the other side begins with: it stays as it is.
        if place is not None and self.state.heap.is_set_here((id(owner), CONTENT)):
            self.repeats.version += self.is_outside(owner)
            return place.value
        # A branch joins all that it holds; a deque that is full moves all that it holds.
        if place is None and (self.is_nested or getattr(owner, "maxlen", None) is not None):
            self.read_content(owner)
        held = self.content(owner) if place is None else place.value
        copy = copy_of(held)
        if self.has_grown(held):
            self.origins[id(copy)] = copy, GROWN
        self.write(owner, CONTENT, copy)
        return copy

    def empty(self, owner: Any) -> None:
        """Let a container hold nothing, whatever it has held."""
        if not self.is_nested and self.is_outside(owner):
            self.record.emptied[id(owner)] = owner
        self.writable(owner).clear()

    def write(self, owner: Any, name: Any, value: Any) -> None:
        """Let a place hold a value from now on, until the end of the path."""
        self.watched.add(id(owner))
        is_outside = self.is_place_outside(owner, name)
        self.record.has_written |= is_outside
        if name is STATE and info(type(owner)).is_drawn:
            self.repeats.disturbed += 1  # who reads it, writes it, too
        elif is_outside or isinstance(owner, type):
            self.repeats.write(value if id(value) not in self.outside else None)
        # Names of a module or class have changed: what was looked up there may be found elsewhere.
        if isinstance(owner, (type, dict)) and isinstance(name, str):
            self.changes_names = True
            self.fixed.clear()
        if type(value) is SymbolicSequence:
            self.alias_tracker.note_elements(owner, value.element)
        self.over[id(owner), name] = Place(owner, name, value, user_location())

    def begin_place(self, owner: Any, name: Any, value: Any) -> None:
        """Let a place hold a value on all paths, if it was not written so far."""
        self.state.heap.put((id(owner), name), Place(owner, name, value))

    def begin_state(self, owner: Any) -> None:
        """Let what an object from outside keeps in C be an input, as it is when a call begins."""
        given, states = [], self.record.states
        for index, part in enumerate(self.kept(owner, STATE)):
            tensor: Any = part if isinstance(part, Tensor) else wrapped(np.asarray(part))
            tensor.name = f"state_{len(states)}"
            states[tensor.name] = owner, index
            given.append(self.tracer.captured(tensor))
            given[-1].number = None if tensor is part else type(part)
        self.begin_place(owner, STATE, tuple(given))

    def hold(self, owner: Any, content: Any) -> None:
        """Let a container hold other things than a Python container can."""
        owner = self.locations.holder(owner)
        self.alias_tracker.check_change(owner)
        self.alias_tracker.change(owner)
        self.alias_tracker.end(owner)
        self.write(owner, CONTENT, content)

    def set_field(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute: natively if the object was made here, else in the overlay."""
        if self.locations.of(owner) is None:
            self.alias_tracker.change(owner)
        self._set_field(owner, name, value)

    def _set_field(self, owner: Any, name: str, value: Any) -> None:
        if self.locations.of(owner) is not None:
            self.locations.set(owner, name, value)
            return
        is_native = self.is_made_here(owner) and (id(owner), name) not in self.over
        if is_native and type(owner) not in (CellType, dict):
            kind: Any = type if isinstance(owner, type) else object
            if value is not MISSING:
                kind.__setattr__(owner, name, value)
            elif kind is type or name in (self.fields(owner) or ()):  # else no path has left it
                kind.__delattr__(owner, name)
        else:
            self.write(owner, name, value)

    def put_place(self, place: Place, value: Any) -> None:
        """Let a place hold what a join has made of it: natively where its owner was made here.

        It is no change: each path has noted what it has changed, and written back elements.
        """
        owner = place.owner
        if place.name is CONTENT:
            held = self.over.get((id(value), CONTENT))
            # A SymbolicSequence stands in the overlay of a list of its own.
            if held is not None:
                self.state.holders.pop(id(value))  # what it holds, the owner does from now on
                value = held.value
            if self.is_made_here(owner) and info(type(value)).is_container:
                fill(owner, value)
                self.over.pop((id(owner), CONTENT), None)
                return
            self.write(owner, CONTENT, value)
        elif isinstance(place.name, str) and not isinstance(owner, Variable):
            self._set_field(owner, place.name, value)
        elif info(type(owner)).state == "derived" and self.is_made_here(owner):
            check_held(owner, value)
            write_state(owner, value)
            self.over.pop((id(owner), STATE), None)
        else:  # the gradient of an argument has its place here alone
            self.write(owner, place.name, value)

    def note_generator(self, made: Any, run: Callable[[Callable[[Any], Any]], Any]) -> Any:
        """Note how a generator that has not begun can be run; returns it.

        One that the code drops half way ends there and then, as in Python.
        """
        found = weakref.ref(made, partial(self.origins.pop, id(made)))
        self.origins[id(made)] = found, Source(found, run, self.locations.here())
        return self.made(made)

    # -- regions --------------------------------------------------------------------------------

    @contextmanager
    def region(self, condition: Any = None) -> Iterator[Region]:
        """Record into a new Block; at the end all is as before, and the region has its changes."""
        self.alias_tracker.return_all()  # not in that branch alone which looks first
        with self.tracer.path(partial(Region, trace=self), condition) as region:
            yield region
            self.alias_tracker.return_all()
            self.alias_tracker.leave()
        self._note_left(region)

    @contextmanager
    def resumed(self, region: Region) -> Iterator[None]:
        """Go on in a region as if it had not ended."""
        with self.tracer.resumed(region):
            yield
            self.alias_tracker.return_all()
        self._note_left(region)

    def _note_left(self, region: Region) -> None:
        """What a region has written outside holds no more: a function may read other things."""
        self.alias_tracker.note_left(region)
        self.repeats.version += sum(key[0] in self.outside for key in region.changes)

    # -- cases that are known -------------------------------------------------------------------

    def cases_of(self, value: Union) -> list[int]:
        """Which cases a value can be here."""
        known = self.state.cases.get(id(value.tag))
        if known is not None:
            return sorted(known[1])
        # What nothing has been put into yet, as in the first round of a loop, it cannot be.
        empty = ArrayType(None)
        found = [i for i, own in enumerate(value.arrays) if all(a.type != empty for a in own)]
        return found or list(range(len(value.layouts)))

    def know_cases(self, value: Union, cases: frozenset[int]) -> None:
        """Note which cases a value can be on this path."""
        self.state.cases[id(value.tag)] = value, cases & frozenset(self.cases_of(value))


def _with_changes(
    owner: Any, held: dict[str, Any] | None, changes: dict[Key, Place]
) -> dict[str, Any] | None:
    if held is None or not changes:
        return held
    own = changes.get((id(getattr(owner, "__dict__", None)), CONTENT))
    if own is not None and isinstance(own.value, dict):  # attributes were set as its entries
        held = {name: one for name, one in held.items() if name not in vars(owner)} | own.value
    for (key, name), place in changes.items():
        if key == id(owner) and isinstance(name, str):
            held[name] = place.value
            if place.value is MISSING:
                del held[name]
    return held


def before_all(trace: Trace) -> Older:
    """How values are looked at that are older than the loop."""
    return Older(trace.raw, trace.fields, trace.taken, node=trace.node, has_grown=trace.has_grown)


def label(trace: Trace, place: Place) -> str:
    """The name of a place, or words for it."""
    if place.name is CONTENT or place.name is STATE:
        return f"what a {type(place.owner).__name__} holds"
    return trace.origin(place.owner, str) or str(place.name)


def in_words(name: str) -> str:
    """A variable as messages show it; what has no name is in words already."""
    return f"`{name}`" if name.isidentifier() else name


_GET = "__getattribute__"


def of_class(trace: Trace, kind: type, name: str, behind: type | None = None) -> Any:
    """What a class or one of its bases, those `behind` one alone, hold; MISSING if nothing."""
    key = kind, name, behind
    is_new = key not in trace.fixed
    found = MISSING
    mro = kind.__mro__
    for one in mro if behind is None else mro[mro.index(behind) + 1 :]:
        if trace.over:
            place = trace.over.get((id(one), name))
            if place is not None and place.value is not MISSING:
                return place.value
        found = one.__dict__.get(name, MISSING)
        if is_new and one.__flags__ & HEAP_TYPE and id(one) not in trace.own:
            trace.read("class", one, name, found)
        if found is not MISSING:
            break
    if is_new:
        trace.fixed[key] = None
        if name != _GET:  # a class that gets one answers for all names
            of_class(trace, kind, _GET)
    return found


def special(trace: Trace, value: Any, name: str) -> Any:
    """The special method of the class of a value; None if there is none."""
    if info(type(value)).is_traced:
        return getattr(type(value), name, None)
    found = of_class(trace, type(value), name)
    return None if found is MISSING else found


def own_method(trace: Trace, value: Any, *names: str) -> FunctionType | None:
    """The first of some special methods that the user's class has written in Python."""
    if info(type(value)).is_traced:
        return None
    for name in names:
        method = special(trace, value, name)
        if method is not None:
            return method if type(method) is FunctionType else None
    return None
