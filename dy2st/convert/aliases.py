"""Who holds an object that a list keeps by value, or that a join has made one with another.

A Program keeps the elements of a list of a length by value, and joins the objects of two paths. So
an object may have other forms that do not change with it:

    fragile  nobody may change it: a list keeps it by value, or it is put together at each look
    stale    nobody may read it: another form of it has changed
    merged   a join has made several objects one: once one changes, all others are stale
    borrows  elements that were looked up, `rows[i].append(x)`: what changes in them is written
             back before anybody looks at the list again
    holders  lists that were made of one another, as `sorted(rows)` of `rows`, hold the same
             elements, each by value: once one changes in one of them, all others are stale

Each of these belongs to the path on which it arose: what a branch puts into a list may not change
on that path, and may on the other one. After the join the marks of both branches apply.

Where that is refused, since one of two names for an object would not see a change, the function is
traced once more with objects in tables of the Program, one for each class: a list for each
attribute, in which an object has one place, its location. A name holds the number of that place, so
two names hold equal numbers; what an attribute is at some moment is what its list holds then, which
branches and loops carry as any other list. An object moves into its table when a branch, a loop or
a list of a length has to carry it. Until then it is an object of Python, and costs nothing.

Where that is refused, too, containers of Python get locations. Those that are made in one line lie
in one table, which has boxes: containers that nobody else knows, each of which holds what one of
them does. A box is an element of a list of a length, borrowed like any other.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Hashable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from dy2st.convert.objects import attributes_of, parts_of
from dy2st.convert.types import bare, info
from dy2st.convert.types.values import emptied, fill
from dy2st.convert.values.flatten import copied, copied_parts, refuse_change
from dy2st.convert.values.layout import Layout, Reference, Same, View, all_of, has_objects
from dy2st.convert.values.special import (
    ATTRIBUTES,
    CONTENT,
    COUNT,
    GROWN,
    LOCATION,
    MISSING,
    SymbolicSequence,
    Union,
)
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import Variable, user_location
from dy2st_runtime.ir.location import user_place
from dy2st_runtime.ir.tracing.path_state import Path

if TYPE_CHECKING:
    from dy2st.convert.trace import Trace


@dataclass(eq=False)
class Part:
    """A list, dict or object that a path carries by value to a join, with its layout there."""

    layout: Layout
    value: Any
    is_fragile: bool
    is_stale: bool
    held: Sequence[Layout]  # the elements of lists that it is, or holds


@dataclass(eq=False)
class BorrowedElement:
    """An element that was looked up."""

    owner: Any  # the list
    index: Any  # its place, from the beginning
    item: Any  # the element
    parts: list[Any]  # the lists and objects in it that may be changed
    is_chosen: bool  # whether it may be looked up in each iteration of a loop
    is_changed: bool = False

    def may_be(self, other: BorrowedElement) -> bool:
        """Whether another one may be of the same element."""
        is_known = type(self.index) is int and type(other.index) is int
        return self is not other and (not is_known or self.index == other.index)


class AliasTracker:
    """What a trace knows of them where it is now."""

    def __init__(self, trace: Trace):
        """Nobody holds anything."""
        self._trace, self._state = trace, trace.state
        # What is made of a list has the layout of its elements, or one that is above it: those of
        # one root are elements that lists share.
        self._roots: dict[Layout, Layout] = {}
        self._elements: dict[int, tuple[Any, Layout]] = {}  # the first one of each list
        self._fixed: set[Layout] = set()  # roots of elements that something unknown holds, too

    def check(self, owner: Any) -> None:
        """Refuse to read an object whose other form has changed."""
        stale = self._state.stale
        if not stale or id(owner) not in stale:
            return
        _, at, is_shared = stale[id(owner)]
        kind = getattr(owner, "kind", type(owner)).__name__
        if is_shared:
            raise ConversionError(
                f"a {kind} is used of which another list or dict has an element that has changed",
                why="where a tensor decides how many elements there are, each holds them by value: "
                f"the change (at {at}) is in one of them alone",
                hint="change the elements before the second one is made, or use only that which "
                "was changed",
            )
        raise ConversionError(
            f"a {kind} is used that a branch or loop may have made one with another, which has "
            "changed since",
            why=f"whether it is the one that changed (at {at}) is known only when the Program runs",
            hint=f"make a copy where the {kind} gets its second name",
        )

    def may_be_one(self, left: Any, right: Any) -> bool:
        """Whether a join has made two objects one on some path, or lists hold both by value."""
        if id(left) in self._state.stale or id(right) in self._state.stale:
            return True
        are_held = all(self._is_held(one) for one in (left, right))
        group = self._state.merged.get(id(left))
        return are_held or (group is not None and group is self._state.merged.get(id(right)))

    def _is_held(self, owner: Any) -> bool:
        return id(owner) in self._state.fragile or id(owner) in self._state.borrowed

    def refuse_identity(self, owner: Any) -> None:
        """Refuse to tell which object it is that is put together anew, or is one of several."""
        key = id(owner)
        is_shared = self._is_held(owner) or key in self._state.stale or key in self._state.merged
        if is_shared or self._trace.locations.of(owner) is not None:
            raise ConversionError(
                f"the identity of a {type(owner).__name__} that a branch, loop or list has chosen",
                why="which object it is, is known only when the Program runs",
                hint="compare the objects by `is`, or give each a number of its own",
            )

    def check_outside(self) -> None:
        """Refuse a change of what may be an object from outside: that one would stay as it is."""
        for owner, at, _ in self._state.stale.values():
            if self._trace.is_outside(owner):
                kind = type(owner).__name__
                raise ConversionError(
                    f"a {kind} is changed that may be a new one, or one from outside of the "
                    "function",
                    at=at,
                    why="a branch or loop that depends on a tensor has made the two one value, and "
                    "which of them changes is known only when the Program runs",
                    hint=f"change it in the branch, where it is known which, or take a copy of the "
                    f"{kind} from outside",
                )

    def look(self, owner: Any) -> None:
        """A container is looked at: what has changed of its elements is written back."""
        self.check(owner)
        self._return(self._state.borrows.get(id(owner), ()))

    def check_change(self, owner: Any) -> None:
        """Refuse to change what is kept by value."""
        if self._trace.origins.get(id(owner), (None, None))[1] is ATTRIBUTES:
            raise ConversionError(
                "attributes are set in the `__dict__` of an object of which others were set before",
                why="that dict is put together anew at each look, so the change would be lost",
                hint="set them by name: setattr(obj, name, value)",
            )
        if id(owner) in self._state.fragile:
            refuse_change(owner)

    def change(self, owner: Any) -> None:
        """An object is about to change: others that stand for it, too, are out of date."""
        # A borrowed element merged with the owner would be written back without this change.
        parted = self.part(owner)
        if any(id(other) in self._state.borrowed for other in parted):
            refuse_change(owner)
        borrow = self._state.borrowed.get(id(owner))
        if borrow is not None:
            borrow.is_changed = True
            # Another look at what may be the same place holds the element as it was before.
            for one in filter(borrow.may_be, self._state.borrows[id(borrow.owner)]):
                self._outdate(one.parts)
            self._outdate(self._others(borrow.owner, owner, *parted), is_shared=True)

    # -- lists that hold the same elements by value -----------------------------------------------

    def root(self, node: Layout) -> Layout:
        """What all layouts of elements that may be the same objects have in common."""
        while node in self._roots:
            node = self._roots[node]
        return node

    def link(self, one: Layout, other: Layout) -> None:
        """Note that elements of a layout are elements of another one, too."""
        one, other = self.root(one), self.root(other)
        if one is not other and has_objects(one):
            self._roots[one] = other
            self._fixed |= {other} if one in self._fixed else set()

    def fix(self, element: Layout | None) -> None:
        """Note that one object may be several elements: a change of one would not reach others."""
        if element is not None and has_objects(element):
            self._fixed.add(self.root(element))

    def is_fixed(self, element: Layout) -> bool:
        """Whether something unknown may hold elements of a layout, too."""
        return self.root(element) in self._fixed

    def are_linked(self, one: Layout, other: Layout) -> bool:
        """Whether elements of two layouts may be the same objects."""
        return self.root(one) is self.root(other)

    def _element(self, owner: Any) -> Layout | None:
        """The layout of the elements of a list of a length; None of all else."""
        return getattr(self._trace.raw(owner), "element", None)

    def note_elements(self, owner: Any, element: Layout | None) -> None:
        """A container holds elements of a layout from now on."""
        if element is None or not has_objects(element):
            return
        _, known = self._elements.setdefault(id(owner), (owner, element))
        self.link(known, element)
        self._hold(element, [owner])

    def _hold(self, element: Layout, holders: Iterable[Any]) -> None:
        """Objects are, or hold, elements of a layout."""
        root = self.root(element)
        for one in holders:
            _, known = self._state.holders.get(id(one), (one, ()))
            if not any(self.root(node) is root for node in known):
                self._state.holders[id(one)] = one, (*known, element)

    def _note_originals(self, parts: Iterable[Any], element: Layout | None) -> None:
        """A list keeps objects by value; what they are elements of has the same elements."""
        if element is None:
            return
        for part in parts:
            borrow = self._state.borrowed.get(id(part))
            own = None if borrow is None else self._element(borrow.owner)
            if own is not None:
                self.link(own, element)
        self._hold(element, parts)

    def _others(self, owner: Any, *changed: Any) -> list[Any]:
        """Who holds elements of a list beside itself, and but for what changes."""
        element = self._element(owner)
        root = None if element is None else self.root(element)
        known = self._state.holders.values() if element is not None else ()
        holders = [one for one, nodes in known if any(self.root(node) is root for node in nodes)]
        merged = self._state.merged_with
        mine = {id(one) for own in (owner, *changed) for one in merged(own)}
        others = [one for one in holders if len(holders) > 1 and id(one) not in mine]
        return [same for one in others for same in merged(one)]

    def take_out(self, owner: Any, item: Any) -> Any:
        """An element that a list gives away may be changed, unless somebody has it as well."""
        self.keep(parts_of(item) if self._others(owner) else ())
        return item

    # -- objects that a join has merged -----------------------------------------------------------

    def join(self, values: Sequence[Any]) -> None:
        """Note that objects stand for one after a join."""
        known = self._state.merge([one for one in values if _may_change(one)])
        if len(known) > 1:
            self._trace.locations.wanted.add(True)
            self._trace.watched.update(id(one) for objects in known for one in objects)
        every = (one for objects in known for one in objects) if self._elements else ()
        elements = [self._elements[id(one)][1] for one in every if id(one) in self._elements]
        for one in elements[1:]:
            self.link(elements[0], one)

    def part(self, owner: Any) -> list[Any]:
        """An object is about to change: those merged with it, which nobody may read any more."""
        others = self._state.part(owner)
        self._outdate(others)
        return others

    def _outdate(self, others: Iterable[Any], is_shared: bool = False) -> None:
        for other in others:
            was_shared = self._state.stale.get(id(other), (0, 0, False))[2]
            self._state.stale[id(other)] = other, user_location(), is_shared or was_shared
            self._trace.watched.add(id(other))

    # -- what is kept by value --------------------------------------------------------------------

    def keep(self, values: Iterable[Any], alone: bool = False) -> None:
        """Note objects, and all that may be one with them, that nobody may change."""
        every = (one for part in values for one in self._state.merged_with(part))
        for value in values if alone else every:
            if self._trace.locations.of(value) is not None:
                continue
            self._state.fragile[id(value)] = value
            self._trace.watched.add(id(value))
            self._trace.locations.wanted.add(True)

    def keep_made(self, value: Any) -> None:
        """Note an object that is put together anew at each look: a change would be lost."""
        if info(type(value)).is_container or attributes_of(value) is not None:
            self.keep((value,))

    def keep_copied(self, parts: Sequence[Any], element: Layout | None = None) -> None:
        """Note objects that a list keeps by value: a change of them would be lost."""
        self._note_originals(parts, element)
        for part in parts:
            self.check(part)
            borrow = self._state.borrowed.get(id(part))
            if borrow is not None:  # to change them in one place would be wrong
                self._return(self._state.borrows.get(id(borrow.owner), ()))
                del self._state.borrowed[id(part)]
        self.keep(part for part in parts if not self._trace.is_outside(part))

    # -- elements that are borrowed ---------------------------------------------------------------

    def borrow_element(self, owner: Any, index: Any, item: Any, is_chosen: bool = False) -> Any:
        """An element of a list of a length: what it holds may be changed in place."""
        owner, fragile = self._trace.locations.holder(owner), self._state.fragile
        element = self._element(owner) if self._fixed else None
        if element is not None and self.is_fixed(element):
            return item
        # While it is borrowed it may change, so the mark is dropped; `_end` sets it again.
        parts = [part for part in parts_of(item) if fragile.pop(id(part), None) is not None]
        if parts:
            place = self._trace.place_of_index(owner, index)
            borrow = BorrowedElement(owner, place, item, parts, is_chosen)
            self._state.borrows[id(owner)] = *self._state.borrows.get(id(owner), ()), borrow
            self._state.borrowed.update(dict.fromkeys(map(id, parts), borrow))
        return item

    def put(self, owner: Any, item: Any, element: Layout | None) -> bool:
        """A list gets an element by value; whether it is the first one to keep it so."""
        parts, state = copied(self._trace, item, element, self._trace), self._state
        others = [part for part in parts if id(part) in state.fragile]
        if not self._trace.is_made_here(owner):  # it may have got what the data choose once more
            borrows = ((part, state.borrowed.get(id(part))) for part in parts)
            others += [part for part, one in borrows if one is not None and one.is_chosen]
        for part in others:  # a change through this one would not reach those that know it
            for one in (element, *state.holders.get(id(part), (part, ()))[1]):
                self.fix(one)
        self.keep_copied(parts, element)
        return bool(parts) and not others

    def give(self, owner: Any, index: Any, item: Any, element: Layout | None) -> None:
        """An element was put into a list of a length: until that changes, it may be changed."""
        if self.put(owner, item, element):
            self.borrow_element(owner, index, item)

    def end(self, owner: Any) -> None:
        """The places of a list have changed: what was borrowed is nobody's element any more."""
        owner = self._trace.locations.holder(owner)
        self._end(self._state.borrows.pop(id(owner), ()))

    def return_all(self) -> None:
        """Write back all that has changed; inner lists first."""
        # An inner list was borrowed from an outer one, so it was noted later.
        for borrows in reversed([*self._state.borrows.values()]):
            self._return(borrows)

    def note_returned(self, owner: Any) -> None:
        """What is changed is an element as it stands in its list."""
        if id(owner) in self._state.borrowed:
            self._state.borrowed[id(owner)].is_changed = False

    def _return(self, borrows: Iterable[BorrowedElement]) -> None:
        for borrow in borrows:
            if borrow.is_changed:
                borrow.is_changed = False
                self._trace.write_back(borrow)

    def _end(self, borrows: Iterable[BorrowedElement]) -> None:
        for borrow in borrows:
            for part in borrow.parts:
                if self._state.borrowed.get(id(part)) is borrow:
                    del self._state.borrowed[id(part)]
                    self.keep((part,))

    # -- paths and joins --------------------------------------------------------------------------

    def leave(self) -> None:
        """A path ends, and what was borrowed in it."""
        borrowed = self._state.borrowed
        self._end([one for key, one in borrowed.items() if borrowed.is_set_here(key)])

    def note_left(self, path: Path) -> None:
        """What a path has merged stays merged behind it."""
        for objects in path.left_in("groups").values():
            self.join(objects)
        # What was made in it ends, too: what goes on is put together anew.
        for key, (one, nodes) in path.left_in("holders").items():
            for node in nodes if key not in path.changed["born"] else ():
                self._hold(node, [one])

    def parts_of(
        self, value: Any, layout: Layout, view: View, path: Path | None = None
    ) -> list[Part]:
        """What a value carries, with what is known of it here, or behind a path."""
        kept, stale, holders = (
            ChainMap({} if path is None else path.left_in(one), getattr(self._state, one))
            for one in ("fragile", "stale", "holders")
        )
        return [
            Part(key, part, id(part) in kept, id(part) in stale, holders.get(id(part), (0, ()))[1])
            for key, part in copied_parts(self._trace, value, layout, view)
            if not isinstance(key, Reference)
        ]

    def join_parts(
        self, parts: Iterable[Part], known: dict[Any, Any], paths: Iterable[Path] = ()
    ) -> None:
        """What was put together stands for objects of all paths; `known`: by its layout."""
        hidden = []
        for part in parts:
            node = id(part.layout)
            made = known.get(node, known.get(("case", node)))
            if made is None:
                hidden.append(part.value)  # it is put together anew at each look
            elif made is not part.value:
                self.join([made, part.value])
                for element in part.held:
                    self._hold(element, [made])
                self.keep([made] if part.is_fragile or part.is_stale else [])
                self._outdate([made] if part.is_stale else [])
        self.keep_copied(hidden)
        for path in paths:  # of which closures alone know the objects themselves
            places = path.left_in("heap").values() if self._trace.locations.is_on else ()
            moved = [place.owner for place in places if place.name is LOCATION]
            self._outdate(one for one in moved if id(one) in path.changed["born"])


def _may_change(value: Any) -> bool:
    row = info(type(value))
    return row.is_container or (not row.is_atom and attributes_of(value) is not None)


class MoreIsKnown(ConversionError):
    """The tables lack something, which the next trace knows: an attribute, or what lies in one."""


class Locations:
    """The tables of a trace; what traces have learned of them is known to the next one.

    is_on          whether objects get locations.
    of_containers  whether containers of Python do, too.
    wanted         what would help if the trace is refused: False for objects, True for containers.
    given          how many have got one.
    carried        the places that make iterators of which the Program carries how far they are.
    """

    def __init__(self) -> None:
        """Nothing is known, and objects are carried by value."""
        self.is_on = self.of_containers = False
        self.wanted: set[bool] = set()
        self.given = 0
        self.carried: set[Any] = set()
        self._names: dict[str, dict[str, None]] = {}
        self._joined: dict[Any, Any] = {}  # keys of tables that must be one
        self._trace: Trace

    def rise(self) -> bool:
        """Let more get locations in the next trace: objects first; whether that may help."""
        may_help = bool(self.wanted) and not self.of_containers
        self.of_containers = self.is_on or False not in self.wanted
        self.is_on = True
        return may_help

    def begin(self, trace: Trace) -> None:
        """Serve a trace."""
        self._trace = trace
        self._tables: dict[Any, Reference] = {}
        self._made: dict[int, tuple[Any, Any]] = {}  # containers, and where they were made
        self._homes: dict[int, tuple[Any, Any]] = {}  # the tables of containers; boxes have none
        self.iterators: dict[int, tuple[Any, Any, Any]] = {}  # where, and on which path
        trace.repeats.is_off = trace.repeats.is_off or self.is_on

    def here(self) -> tuple[Any, Any]:
        """Where the user's code is, and on which path."""
        return user_place(), self._trace.state.paths[-1] if self._trace.state.paths else None

    def is_carried(self, iterator: Any) -> bool:
        """Whether the Program is to carry how far an iterator is that is made here."""
        self.iterators[id(iterator)] = iterator, *self.here()
        return self.iterators[id(iterator)][1] in self.carried

    def carry(self, iterator: Any, at: tuple[Any, ...] = ()) -> None:
        """Let the Program carry how far an iterator is, in the next trace, if it does not yet."""
        place, path = at or self.iterators.get(id(iterator), (None, None, None))[1:]
        is_here = path is None or any(path is one for one in self._trace.state.paths)
        if place is not None and is_here and place not in self.carried:
            self.carried.add(place)
            raise MoreIsKnown(f"a tensor decides how far a {type(iterator).__name__} has come")

    # -- what has a location ----------------------------------------------------------------------

    def note_made(self, value: Any) -> None:
        """Note where a container is made: those that are made there lie in one table."""
        self._made[id(value)] = value, user_place()

    def node(self, value: Any) -> Reference | None:
        """The table of what has a location, or may get one; None of all others."""
        if not self.is_on:
            return None
        if id(value) in self._homes:
            found: Reference | None = self._homes[id(value)][1]
            return found
        kind, row = type(value), info(type(value))
        if row.is_atom or row.is_value or self._trace.is_outside(value):
            return None
        where, depth, settings = None, 0, tuple[Any, ...]()
        if row.is_container:
            settings = tuple(row.settings(value)) if row.keeps_more else ()
            is_pythons = row.state == "items" and row.family != "bytes"
            is_known = is_pythons and all(isinstance(one, Hashable) for one in settings)
            if not (self.of_containers and is_known):
                return None
            if self._trace.origins.get(id(value), (None, GROWN))[1] is not GROWN:
                return None  # attributes, or a shape
            where, depth = self._made.get(id(value), (None, None))[1], self._depth(value)
        elif isinstance(value, BaseException) or attributes_of(value) is None:
            return None
        key = kind, where, depth, settings
        while key in self._joined:
            key = self._joined[key]
        if key not in self._tables:
            like = emptied(kind, value if row.keeps_more else None) if row.is_container else None
            self._tables[key] = Reference(kind, key, self, like)
            self._trace.begin_place(self._tables[key], COUNT, 0)
        self._homes[id(value)] = value, self._tables[key]
        return self._tables[key]

    def _depth(self, value: Any) -> int:
        """How many containers lie in one another, as lists of lists do that one line makes."""
        held = self._trace.raw(value)
        if type(held) is SymbolicSequence:
            return held.element.key[2] + 1 if isinstance(held.element, Reference) else 0
        first = next(iter(held_in(held)), None)
        return self._depth(first) + 1 if info(type(first)).is_container else 0

    def is_box(self, value: Any) -> bool:
        """Whether a container holds what another one does that has a location."""
        return self._homes.get(id(value), (None, ...))[1] is None

    def join(self, key: Any, other: Any) -> NoReturn:
        """Let containers of two tables lie in one, in the next trace."""
        if key[3] == other[3]:
            self._joined[key] = other
        raise MoreIsKnown(f"{key[0].__name__}s that are made in two places may be one")

    def of(self, value: Any, view: View | None = None) -> Any:
        """The number of an object's place; None if it has none."""
        if not self.is_on:
            return None
        key = id(value), LOCATION
        place = getattr(view, "changes", {}).get(key) or self._trace.over.get(key)
        return None if place is None else place.value

    def object_at(self, node: Reference, index: Variable) -> Any:
        """What stands for an object of which the place alone is known."""
        index.number = int
        made = self._trace.made(bare(node.kind) if node.like is None else copy(node.like))
        self._homes[id(made)] = made, node
        self._trace.write(made, LOCATION, index)
        return made

    # -- what it holds ----------------------------------------------------------------------------

    def holder(self, owner: Any) -> Any:
        """What holds what a container does: its box if it has a location, else itself."""
        if not (self.of_containers and info(type(owner)).is_container) or self.of(owner) is None:
            return owner
        box = self.get(owner, CONTENT)
        self._homes[id(box)] = box, None
        return box

    def get(self, owner: Any, name: Any) -> Any:
        """An attribute of an object that has a location; MISSING if there is none."""
        column = self._homes[id(owner)][1].columns.get(name)
        return MISSING if column is None else self._trace.item_at(column, self.of(owner))

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute of an object that has a location; MISSING deletes it."""
        column = self._homes[id(owner)][1].columns.get(name)
        if column is None:
            raise self._new_attribute(type(owner), [name])
        self.enter([value])
        self._trace.put_at(column, self.of(owner), value)

    def fields(self, owner: Any) -> dict[str, Any]:
        """All attributes of an object that has a location."""
        found = {name: self.get(owner, name) for name in self._homes[id(owner)][1].columns}
        return {name: value for name, value in found.items() if value is not MISSING}

    def _new_attribute(self, kind: type, names: Sequence[str]) -> MoreIsKnown:
        self._names.setdefault(_name_of(kind), {}).update(dict.fromkeys(names))
        return MoreIsKnown(
            f"a {kind.__name__} gets an attribute that none of its kind has had",
            at=user_location(),
            why="the objects of a class lie in tables, which have columns for all attributes",
            hint="set all attributes in `__init__`",
        )

    # -- objects that get a location --------------------------------------------------------------

    def enter(self, values: Sequence[Any]) -> None:
        """Give all that can be reached from values a location."""
        trace = self._trace
        new = self._without(values) if self.is_on else []
        held = [self._held(one) for one in new]  # as long as they are found in themselves
        for one, fields in zip(new, held, strict=True):
            table = self._homes[id(one)][1]
            number = trace.held(table, COUNT)
            # Every column begins with the first object, so that all paths have the same ones.
            names = self._names.setdefault(_name_of(type(one)), dict.fromkeys(fields))
            missing = [name for name in fields if name not in names]
            if missing:
                raise self._new_attribute(type(one), missing)
            for name in names:
                column = table.columns.setdefault(name, [])
                self._homes[id(column)] = column, None  # as a box, it is nobody's
            self.given += 1
            trace.write(one, LOCATION, number)
            trace.write(table, COUNT, trace.add(number, 1))
        for one, fields in zip(new, held, strict=True):
            for name, column in self._homes[id(one)][1].columns.items():
                trace.append_to(column, fields.get(name, MISSING))

    def _held(self, one: Any) -> dict[Any, Any]:
        """What an object brings into its table."""
        trace = self._trace
        if not info(type(one)).is_container:
            return trace.fields(one) or {}
        held = trace.content(one)
        trace.alias_tracker.end(one)  # what was looked up in it
        box = trace.made(copy(self._homes[id(one)][1].like))
        self._homes[id(box)] = box, None
        if info(type(held)).is_container:
            fill(box, held)
        else:
            trace.hold(box, held)
        return {CONTENT: box}

    def _without(self, values: Sequence[Any]) -> list[Any]:
        """The objects that have no location, in the order in which they are reached."""
        trace, found, seen = self._trace, list[Any](), dict[int, Any]()
        waiting = [*values]
        while waiting:
            one = waiting.pop()
            row = info(type(one))
            if id(one) in seen or row.is_atom or trace.is_outside(one):
                continue
            seen[id(one)] = one
            if type(one) is Union:
                waiting += [*_constants(one.layouts), *one.objects.values()]
            elif type(one) is SymbolicSequence:
                waiting += _constants([one.element] if one.element is not None else [])
            elif row.family in ("tuple", "bundle"):
                waiting += row.parts(one, ())
            elif self.of(one) is None:
                is_new = self.node(one) is not None
                found += [one] if is_new else []
                if row.is_container:
                    waiting += held_in(trace.raw(one))
                elif is_new:
                    waiting += (trace.fields(one) or {}).values()
        return found


def held_in(content: Any) -> list[Any]:
    """What lies in the content of a container."""
    if isinstance(content, dict):
        return [*content, *content.values()]
    return [*content] if info(type(content)).is_container else [content]


def _name_of(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _constants(nodes: Sequence[Layout]) -> list[Any]:
    """The values of Python in layouts."""
    return [node.value for node in all_of(nodes) if isinstance(node, Same)]
