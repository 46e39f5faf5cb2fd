"""Trees over the outputs of a Program: what a call returns, and what it writes outside.

Values of Python are made of them after a run, and files hold their structure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from enum import Enum
from types import CellType, CoroutineType, FunctionType, MethodType
from typing import Any

import numpy as np

from dy2st.convert.objects import fields_in, is_namespace, slots_of
from dy2st.convert.replay.places import found_by, owners_of
from dy2st.convert.trace import Trace
from dy2st.convert.types import bare, info
from dy2st.convert.types.objects import set_attributes
from dy2st.convert.types.values import emptied, fill
from dy2st.convert.values.flatten import build, flatten
from dy2st.convert.values.layout import (
    Cases,
    Layout,
    Leaf,
    Number,
    Reference,
    Same,
    SequenceLayout,
    count,
    holds_itself,
    number_kind,
    opened,
    width,
)
from dy2st.convert.values.special import (
    CONTENT,
    COUNT,
    MISSING,
    STATE,
    Special,
    SymbolicSequence,
    Union,
    is_changed,
)
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import ConversionError, Location
from dy2st_runtime.ir import Output, Variable, structure
from dy2st_runtime.ir.choice import Choice, Text
from dy2st_runtime.nn.tables import Table
from dy2st_runtime.tensor import EagerTensor


class Tree:
    """What is made of the outputs at a call."""


@dataclass(frozen=True)
class Out(Tree):
    """The output of that index; a Python number of that kind where Python has one.

    np.generic stands for what NumPy has: a number, or an array.
    """

    index: int
    number: type | None = None


@dataclass(frozen=True)
class Known(Tree):
    """An object of the user's, as it is."""

    get: Callable[[], Any]


@dataclass(eq=False)
class Given(Tree):
    """A list, dict or set that the call is given, by its place among them."""

    place: int
    made: Any = None  # what a file makes in its place, where a result holds it


@dataclass(frozen=True)
class Older(Tree):
    """What is older than the list or choice in whose elements or cases it stands."""

    tree: Any


@dataclass(eq=False)
class Made(Tree):
    """A new list, dict or object at each call; one that is met twice is made once."""

    kind: type
    keys: Sequence[Any]
    items: list[Any]
    like: Any = None  # an empty one, where it has more than parts; or what a copy is made of


@dataclass(eq=False)
class Derived(Made):
    """An object of a class derived from one of Python's: that value, attributes, and its items."""


@dataclass(eq=False)
class Several(Tree):
    """One of several values, by a tag: for each the outputs that it is made of, lists of one."""

    tag: Out
    cases: list[tuple[list[Out], Any]]


@dataclass(eq=False)
class Rows(Tree):
    """A list of a length: arrays, side by side, and the tree of one element over their items.

    That is MISSING where there are no elements.
    """

    kind: type
    arrays: list[Out]
    element: Any
    like: Any = None


@dataclass(eq=False)
class Objects(Tree):
    """The objects of a class that lie in a table: lists of what each of them has."""

    kind: type
    count: Any
    like: Any = None
    columns: dict[Any, Any] = field(default_factory=dict)


@dataclass(eq=False)
class Located(Tree):
    """The object at a place of a table."""

    objects: Any
    place: Any


@dataclass(eq=False)
class Written(Tree):
    """A text with trees in its holes."""

    text: Text


class Taker:
    """Takes values apart; what the Program computes becomes an output."""

    def __init__(
        self, trace: Trace, places: Mapping[int, int], what: str, at: Location | None = None
    ):
        """Each call has containers of its own in the `places`, by the id of those of the trace.

        what, at: what a refusal says of a value, and of which place.
        """
        self.trace = trace
        self.of_call = places
        self.given: dict[int, Given] = {}
        self.is_of_result = True
        self.is_for_file = False  # whose results are values
        self.leaves: list[Variable] = []
        self.known: dict[int, Any] = {}
        self.kept: list[Any] = []  # so that no other object gets the id of one that is known
        self.places: dict[Variable, int] = {}
        self.chosen: list[Union] = []  # those that are being taken, from the outside in
        self._owner = owners_of(trace.reads.values())
        self.what, self.at = what, at

    def out(self, variable: Variable, number: type | None = None) -> Out:
        """The output that gives a Variable."""
        local = self.trace.tracer.local(variable)
        if local not in self.places:
            self.places[local] = len(self.leaves)
            self.leaves.append(local)
        return Out(self.places[local], number)

    def take(self, value: Any) -> Any:
        """The tree of a value; the value itself if it is a constant."""
        if isinstance(value, (Variable, Dim, Condition)):
            is_numpy = isinstance(value, Variable) and value.is_numpy
            kind = np.generic if is_numpy else number_kind(value)
            return self.out(self.trace.tracer.variable(value), kind)
        if isinstance(value, EagerTensor):
            return self.out(self.trace.tracer.captured(value))
        if type(value) is Union:
            return self._union(value)
        if type(value) is Text:
            return Written(value.mapped(self.take))
        if isinstance(value, tuple) and not fields_in(value):
            items = [self.take(item) for item in value]
            # A tuple of constants is a constant, and stays the object that it is.
            is_made = any(isinstance(item, Tree) for item in items)
            return Made(type(value), (), items) if is_made else value
        if type(value) is SymbolicSequence:
            self.trace.alias_tracker.check(value)
            return self._of_layout(value, map(self.out, value.arrays))
        if id(value) in self.known:
            return self.known[id(value)]
        trace, kind = self.trace, type(value)
        if info(kind).is_atom or isinstance(value, np.generic):
            return value
        trace.alias_tracker.check(value)
        if trace.is_outside(value) and self.is_for_file and self.is_of_result:
            if info(kind).is_container:
                trace.read_content(value)
        elif trace.is_outside(value):
            owner = self.owner(value)
            if self.is_of_result and isinstance(owner, Given) and owner.made is None:
                owner.made = self._container(value, kind)
                self._note(value, owner)
            return owner
        place = trace.locations.of(value)
        if place is not None:
            return self._note(value, Located(self._objects(trace.node(value)), self.take(place)))
        if info(kind).is_container:
            return self._container(value, kind)
        held = trace.fields(value)
        if held is None:
            return self._other(value)
        # Noted before its parts are taken: they may hold it.
        made = self._note(value, Made(kind, list(held), []))
        made.items += [self.take(item) for item in held.values()]
        return made

    def owner(self, value: Any) -> Known | Given:
        """What finds an object from outside at a call."""
        place = self.of_call.get(id(value))
        if place is None:
            return Known(self._owner(value))
        return self.given.setdefault(place, Given(place))

    def containers_outside(self) -> list[Callable[[], Any]]:
        """What finds the containers from outside that the code has met or changed at a call.

        But for those that the call is given.
        """
        trace = self.trace
        touched = {key[0] for key in (*trace.reads, *trace.over)}
        found = (read for read in trace.reads.values() if read[1] != "code")
        touched |= {id(one) for read in found for one in found_by(read)}
        held = [trace.outside[key] for key in touched if key in trace.outside]
        held = [one for one in held if info(type(one)).is_container]
        others = [one for one in held if not (type(one) is Table or is_namespace(one))]
        return [self._owner(one) for one in others if id(one) not in self.of_call]

    def key(self, value: Any) -> Any:
        """The tree of a key or an element of a set: of the user's objects it is that object."""
        if self._is_known(value):
            return value
        if isinstance(value, (FunctionType, MethodType)):
            raise self._refusal(value)
        return self.take(value)

    def _is_known(self, value: Any) -> bool:
        if isinstance(value, (tuple, frozenset)):
            return all(map(self._is_known, value))
        is_atom = info(type(value)).is_atom or isinstance(value, (np.generic, type, Enum))
        return is_atom or self.trace.is_outside(value)

    def _other(self, value: Any) -> Any:
        """An object that C code keeps: as it is if nobody can tell it from that of another call."""
        kind = type(value)
        row = info(kind)
        if row.state in ("hidden", "array") and (id(value), STATE) not in self.trace.over:
            try:
                return self._note(value, Made(kind, (), [], copy(value)))
            except TypeError:  # Python cannot copy it: it looks into another one
                raise self._refusal(value) from None
        is_plain = row.base.is_plain or row.base.family in ("set", "tuple")
        is_fixed = row.base is not row and row.is_unchanging and not isinstance(value, Enum)
        if row.is_joined or (is_plain and is_fixed):
            return self._derived(value)
        # A method, or a partial, is made of its parts; traced tensors have methods of their own.
        is_of_tensor = isinstance(getattr(value, "__self__", None), Variable)
        if row.family == "bundle" and row.base is row and not is_of_tensor:
            names = row.names(value)
            trees = [self.take(one) for one in row.parts(value, names)]
            return self._note(value, Made(kind, names, trees))
        parts = _parts(self.trace, value)
        if parts is None:
            raise self._refusal(value)
        known = self._note(value, Known(lambda: value))
        # It is kept as it is, so nothing in it may be other at the next call.
        for tree in map(self.take, parts):
            if isinstance(tree, Tree) and not isinstance(tree, Known):
                raise self._refusal(value)
        return known

    def _derived(self, value: Any) -> Derived:
        kind, row = type(value), info(type(value))
        made: Derived = self._note(value, Derived(kind, (), []))
        held = dict(fields_in(value) or ())
        held |= {name: getattr(value, name) for name in slots_of(kind) if hasattr(value, name)}
        made.items += [self.take(row.base.settings(value)), self._container(held, dict)]
        made.items += [self.take(self.trace.held(value, STATE))] if row.state else []
        return made

    def _note(self, value: Any, tree: Any) -> Any:
        """The tree of an object, which is one however often it is met."""
        self.kept.append(value)
        self.known[id(value)] = tree
        return tree

    def _refusal(self, value: Any, what: str = "") -> ConversionError:
        kind = type(value)
        if kind is CoroutineType:
            value.close()  # nobody will await it
        return ConversionError(
            f"{self.what} a {what or info(kind).word or kind.__name__}",
            at=self.at,
            why="a Program gives back tensors, Python constants, and lists, tuples, dicts and "
            "objects of them",
            hint="return the tensors and build the object outside",
        )

    def _container(self, value: Any, kind: type) -> Any:
        self.trace.alias_tracker.look(value)
        held = self.trace.raw(value)
        if type(held) is Union:  # it stands for one of its cases, which is perhaps not there
            return self._note(value, self._union(held, held.place_of(kind)))
        content = self.trace.content(value)
        if type(content) is SymbolicSequence:
            return self._note(value, self._of_layout(content, map(self.out, content.arrays)))
        keys = list(content) if isinstance(content, dict) else ()
        if any(is_computed(self.take(key)) for key in keys):
            raise self._refusal(value, "dict with a tensor as a key")
        like = emptied(kind, value) if info(kind).keeps_more else None
        made = self._note(value, Made(kind, keys, [], like))
        items = content.values() if isinstance(content, dict) else content
        made.items += [self.take(item) for item in items]
        return made

    def _union(self, value: Union, place: int | None = None) -> Several:
        """One of several values; of no other case than that in `place`, if there is one."""
        if any(value is one for one in self.chosen):
            raise holds_itself(value, self.at)
        self.chosen.append(value)
        # A value with what the objects that it may be hold now
        for one in value.objects.values():
            self.trace.alias_tracker.check(one)
        now, trace = value, self.trace
        if any(is_changed(value, place, trace) for place in value.objects):
            # Once more by value: the arrays of the cases are those of before the change.
            node = opened(Same(value, trace))
            now = build(trace, node, iter(flatten(trace, value, node, trace)))
        tag, cases = self.out(now.tag, int), []
        for i, (layout, arrays) in enumerate(zip(now.layouts, now.arrays, strict=True)):
            outs = [self.out(array) for array in arrays]
            is_one = place is None or i == place
            cases.append((outs, self._of_layout(layout, iter(outs)) if is_one else None))
        self.chosen.pop()
        return Several(tag, cases)

    def _objects(self, table: Reference | None) -> Objects:
        assert table is not None, "it has no location"
        if id(table) not in self.known:
            # Noted before what they hold is taken, which may be one of them.
            size = self.take(self.trace.held(table, COUNT))
            made = self._note(table, Objects(table.kind, size, table.like))
            for name, column in table.columns.items():
                made.columns[name] = self.take(column)
        found: Objects = self.known[id(table)]
        return found

    def _of_layout(self, node: Layout | SymbolicSequence, outs: Iterator[Out]) -> Any:
        """The tree of what has a layout, over the outputs of its leaves or those in a row."""
        if isinstance(node, Same):
            tree = self.take(node.value)
            return tree if type(tree) is Known or not isinstance(tree, Tree) else Older(tree)
        if isinstance(node, Reference):
            place = replace(next(outs), number=int)
            return Located(Older(self._objects(node)), place)
        if isinstance(node, Number):
            return replace(next(outs), number=node.kind)
        if isinstance(node, Leaf):
            return replace(next(outs), number=np.generic) if node.is_numpy else next(outs)
        if isinstance(node, (SequenceLayout, SymbolicSequence)):
            arrays = [next(outs) for _ in range(width(node.element))]
            inner = node.element
            element = MISSING if inner is None else self._of_layout(inner, iter(arrays))
            return Rows(node.kind, arrays, element, node.like)
        if isinstance(node, Cases):
            tag = replace(next(outs), number=int)
            own = [[next(outs) for _ in range(count(case))] for case in node.cases]
            pairs = zip(own, node.cases, strict=True)
            return Several(tag, [(some, self._of_layout(one, iter(some))) for some, one in pairs])
        if info(node.kind).family == "bound in C":  # of a new list, which nobody else would have
            raise self._refusal(node, f"method {node.names[0]}")
        items = [self._of_layout(item, outs) for item in node.items]
        if node.kind is Text:
            return Written(node.like.with_values(items))
        like = None if node.like is None else emptied(node.kind, node.like)
        return Made(node.kind, node.names, items, like)


def is_computed(tree: Any) -> bool:
    """Whether a value depends on the outputs of the Program."""
    if isinstance(tree, Made):
        return any(map(is_computed, tree.items))
    return isinstance(tree, Tree) and not isinstance(tree, (Known, Given))


def _parts(trace: Trace, value: Any) -> Sequence[Any] | None:
    """What an object of Python's own holds that never changes; None if nobody knows."""
    kind = type(value)
    if kind is CellType:
        return (trace.held(value, "cell_contents"),)
    if kind is FunctionType:
        defaults = value.__defaults__ or (), (value.__kwdefaults__ or {}).values()
        own = vars(value).values()
        return [*(value.__closure__ or ()), *defaults[0], *defaults[1], *own]
    row = info(kind)
    if row.is_unchanging and row.base is row and not row.is_constant:
        return row.parts(value, ())
    if isinstance(value, type):
        return [one for one in vars(value).values() if isinstance(one, Variable)]
    is_constant = row.is_constant or isinstance(value, Enum)
    return () if is_constant or kind.__module__.startswith("dy2st_runtime.") else None


@dataclass(eq=False)
class Finished:
    """What a call gives back, and what it writes."""

    result: Any = None
    outputs: int = 0  # how many outputs the result takes; those of the effects come after
    outputs_of_files: int = 0  # as many, and those that are new values of arguments
    # What of the result the structure of the Program cannot say; empty if it says all
    not_plain: str = "all of it"
    effects: list[Any] = field(default_factory=list)
    # The buffers that are replaced, by name, of which nobody knows what they hold then, and where
    # they may have been changed
    unknown: list[tuple[str, Location]] = field(default_factory=list)
    writes: bool = False  # whether a call writes anything outside, be it before it raises
    # Whether Python may then make the call: nothing that was seen is done twice
    may_run_again: bool = True
    has_gone_back: bool = False  # whether backward() was called: no gradient flows back from a call
    # The outputs that were computed by what it has gone through, or might have
    freed: list[int] = field(default_factory=list)
    # What stands for the lists, dicts and sets that a call is given
    given: list[Given] = field(default_factory=list)
    # What finds the containers from outside that the code has met, if it changes any
    outside: list[Callable[[], Any]] = field(default_factory=list)
    # The arguments in which gradients end, by place, and the gradient of each
    leaves: list[tuple[int, Any]] = field(default_factory=list)
    # The outputs that a file keeps for the next call, by the names of its state
    kept: dict[str, int] = field(default_factory=dict)
    # The inputs that the model of a file keeps, and what they are at first
    kept_inputs: dict[str, Any] = field(default_factory=dict)
    changed_inputs: set[str] = field(default_factory=set)  # those of them that change in place
    # The places outside that it keeps whole, by owner and name
    kept_places: set[Any] = field(default_factory=set)
    # What refuses a file, since it would forget what it reads again
    lost: ConversionError | None = None


_ENTRIES = "a dict, or an object, of which a tensor decides the entries"
_MOST_OPTIONAL = 6  # each doubles the dicts of which a file has one


def structure_of(tree: Any) -> tuple[Any, str]:
    """The tree as a structure, or what in it files cannot hold, in words."""
    try:
        return _Plain().whole(tree), ""
    except structure.NotPlain as error:
        return None, str(error)


class _Twice(Exception):
    """A list or dict is met twice, which must lie in a table."""


class _Plain:
    """Makes the structure of one result: an object that is met twice is none that a file keeps."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._tables: list[Any] = []

    def whole(self, tree: Any) -> Any:
        """The structure of a tree, with the tables of which it names places."""
        while True:
            try:
                self._seen.clear()
                found = self.of(tree)
                tables = [self._table(one) for one in self._tables]
            except _Twice as error:
                self._tables += error.args
            else:
                return structure.Tables(tuple(tables), found) if tables else found

    def _table(self, one: Any) -> Any:
        if type(one) is not Objects:  # it is met twice
            held = self._of(one, False)
            if isinstance(held, Choice):  # of dicts, by the entries that are there
                raise structure.NotPlain("one object in two places")
            return (held,)
        (rows,) = one.columns.values()
        first = Output(rows.arrays[0].index)
        return structure.Rows(first, self.of(rows.element, True), one.kind.__name__)

    def _at(self, one: Any, place: Any) -> Any:
        if not any(one is table for table in self._tables):
            self._tables.append(one)
        return structure.At(next(i for i, t in enumerate(self._tables) if t is one), place)

    def of(self, tree: Any, is_inside: bool = False) -> Any:
        """The structure of a tree; `is_inside`: its outputs are lists of what is wanted."""
        is_shared = isinstance(tree, Tree) and any(tree is one for one in self._tables)
        return self._at(tree, 0) if is_shared else self._of(tree, is_inside)

    def _of(self, tree: Any, is_inside: bool) -> Any:
        kind = type(tree)
        if kind is Out:
            return Output(tree.index, tree.number not in (None, np.generic))
        if kind is Written:
            return tree.text.mapped(lambda inner: self.of(inner, is_inside))
        if kind is Rows:
            return self._rows(tree, is_inside)
        if kind is Given:
            return self.of(tree.made)
        if kind is Older:
            found = self.of(tree.tree)
            # An output would be one of all rows, and not of one.
            if structure.flatten(found, lambda entry: isinstance(entry, Output))[0]:
                raise structure.NotPlain("one tensor in all elements of a list")
            return found
        if kind is Several:
            cases = [
                structure.Only(self.of(case, True)) if is_inside else self._case(case)
                for _, case in tree.cases
            ]
            return Choice(Output(tree.tag.index), tuple(cases))
        if kind is Made:
            return self._made(tree, lambda item: self.of(item, is_inside), not is_inside)
        if kind is Located:
            table = tree.objects.tree if type(tree.objects) is Older else tree.objects
            if table.kind not in (list, dict, set):
                raise structure.NotPlain(f"a {table.kind.__name__}")
            return self._at(table, self.of(tree.place))
        if not isinstance(tree, Tree):
            return tree
        held = tree.get() if isinstance(tree, Known) else None
        if type(held) is frozenset:
            return structure.container(frozenset, list(held))
        if isinstance(held, Special):
            raise structure.NotPlain(_ENTRIES)
        kind = tree.kind if isinstance(tree, (Objects, Derived)) else type(held)
        raise structure.NotPlain(f"a {kind.__name__}")

    def _case(self, tree: Any) -> Any:
        """A case of a choice; one that is older than the branch has its outputs to itself."""
        if type(tree) is Older:
            return self.of(tree.tree)
        if _is_missing(tree):  # an entry that was read is there
            return None
        if type(tree) is Made and any(type(item) is Older for item in tree.items):
            return self._made(tree, self._case)
        return structure.Only(self.of(tree, True)) if isinstance(tree, Tree) else tree

    def _made(self, tree: Made, of: Callable[[Any], Any], may_miss: bool = False) -> Any:
        kind = _held_as(tree.kind)
        if not issubclass(kind, (list, tuple, dict)):
            raise structure.NotPlain(f"a {kind.__name__}")
        self._meet(tree, not may_miss or issubclass(kind, tuple) or kind is not tree.kind)
        if not may_miss or kind is not dict:
            made = info(kind).make(kind, [of(item) for item in tree.items], tree.keys, None)
        elif sum(map(_may_miss, tree.items)) > _MOST_OPTIONAL:
            raise structure.NotPlain(_ENTRIES)
        else:
            made = _either({}, list(zip(tree.keys, map(self._entry, tree.items), strict=True)))
        return made if kind is tree.kind else _contained(tree, made)

    def _entry(self, item: Any) -> Any:
        """An entry of a dict: where it may miss, a Choice with MISSING among its cases."""
        if not _may_miss(item):
            return self.of(item)
        cases = [MISSING if _is_missing(case) else self._case(case) for _, case in item.cases]
        return Choice(Output(item.tag.index), tuple(cases))

    def _meet(self, tree: Any, is_alone: bool) -> None:
        if id(tree) in self._seen:
            raise structure.NotPlain("one object in two places") if is_alone else _Twice(tree)
        self._seen.add(id(tree))

    def _rows(self, tree: Rows, is_inside: bool) -> Any:
        """A list, tuple, set or dict; a list of tensors is an output as it is."""
        self._meet(tree, is_inside or tree.kind not in (list, set, dict))
        kind: Any = set if tree.kind is set else _held_as(tree.kind)
        if kind not in structure.ROW_KINDS.values():
            what = "keys" if issubclass(tree.kind, dict) else "elements"
            raise structure.NotPlain(f"a {tree.kind.__name__} of which a tensor decides the {what}")
        first, element = Output(tree.arrays[0].index), tree.element
        made: Any = first
        if not (kind is list and type(element) is Out and element.number is None):
            if element is MISSING:
                element = (None, None) if kind is dict else None
            made = structure.Rows(first, self.of(element, True), kind.__name__)
        return made if kind is tree.kind else _contained(tree, made)


def _is_missing(tree: Any) -> bool:
    return type(tree) is Known and tree.get() is MISSING


def _may_miss(item: Any) -> bool:
    return isinstance(item, Several) and any(_is_missing(case) for _, case in item.cases)


def _either(made: dict[Any, Any], left: Sequence[tuple[Any, Any]]) -> Any:
    """A dict of what is made and of what is left; where an entry may miss, a Choice of dicts."""
    if not left:
        return made
    (key, entry), *left = left
    if not (isinstance(entry, Choice) and any(case is MISSING for case in entry.cases)):
        return _either({**made, key: entry}, left)
    dicts = [made if case is MISSING else {**made, key: case} for case in entry.cases]
    return Choice(entry.tag, tuple(_either(one, left) for one in dicts))


def _held_as(kind: type) -> type:
    """What a file makes a container of the library of; any other kind as it is."""
    if info(kind).base.kind is not kind or kind.__name__ not in structure.CONTAINERS:
        return kind
    return dict if issubclass(kind, dict) else list


def _contained(tree: Made | Rows, made: Any) -> structure.Container:
    """A container of Python's library, of what the list, set or dict `made` holds."""
    row = info(tree.kind)
    return structure.container(tree.kind, made, *row.settings(tree.like)[-1:])


class _Row(dict[int, Any]):
    """The items of arrays that stand in one row, by the outputs; `call`: those, and what is known.

    To each row belongs what is made of it, so that each has objects of its own.
    """

    call: tuple[Any, dict[int, Any]]


def rebuild(tree: Any, outputs: Any, known: dict[int, Any]) -> Any:
    """The value of a tree over the outputs; what is met twice is one object."""
    kind = type(tree)
    if kind is Out:
        return _number(outputs[tree.index], tree.number)
    make: Any = _made if kind is Made else _rows if kind is Rows else None
    make = _several if kind is Several else _objects if kind is Objects else make
    make = _derived if kind is Derived else make
    if make is not None:
        if id(tree) not in known:
            known[id(tree)] = make(tree, outputs, known)
        return known[id(tree)]
    if kind is Known:
        return tree.get()
    if kind is Older:
        return rebuild(tree.tree, *outputs.call)
    if kind is Given:
        return known[id(tree)] if id(tree) in known else rebuild(tree.made, outputs, known)
    if kind is Written:
        return tree.text.mapped(lambda inner: rebuild(inner, outputs, known)).filled()
    if kind is Located:
        return rebuild(tree.objects, outputs, known)[rebuild(tree.place, outputs, known)]
    return tree


def _objects(tree: Objects, outputs: Any, known: dict[int, Any]) -> list[Any]:
    # They are known before what they hold is made, which may be one of them.
    count, like = rebuild(tree.count, outputs, known), tree.like
    made = [bare(tree.kind) if like is None else copy(like) for _ in range(count)]
    known[id(tree)] = made
    for name, column in tree.columns.items():
        for one, value in zip(made, rebuild(column, outputs, known), strict=True):
            if name is CONTENT:
                fill(one, value)
            else:
                set_attributes(one, [name], [value])
    return made


def _number(value: Any, kind: type | None) -> Any:
    if kind is np.generic:
        return value.numpy()[()]
    return value if kind is None else kind(value.item())


def _made(tree: Made, outputs: Any, known: dict[int, Any]) -> Any:
    kind, row = tree.kind, info(tree.kind)
    items = (rebuild(item, outputs, known) for item in tree.items)
    made: Any
    if issubclass(kind, tuple) or row.family == "bundle":
        return row.make(kind, [rebuild(one, outputs, known) for one in tree.items], tree.keys, None)
    # All others are known before their items are made, among which they may be.
    if row.state:
        made = known[id(tree)] = kind() if tree.like is None else copy(tree.like)
        if tree.items:
            fill(made, row.make(kind, [*items], tree.keys, tree.like))
    else:
        made = known[id(tree)] = bare(kind)
        set_attributes(made, tree.keys, items)
    return made


def _derived(tree: Derived, outputs: Any, known: dict[int, Any]) -> Any:
    """An object of a class derived from one of Python's, which no method of that class has made."""
    row, items = info(tree.kind), (rebuild(item, outputs, known) for item in tree.items)
    base: Any = row.base.kind
    settings = next(items)
    made = known[id(tree)] = base.__new__(tree.kind, *settings)
    if row.state and settings:
        base.__init__(made, *settings)
    attributes, *held = items
    set_attributes(made, attributes, attributes.values())
    if row.state:
        row.restore(made, *held)
    return made


def _rows(tree: Rows, outputs: Any, known: dict[int, Any]) -> Any:
    element, row = tree.element, info(tree.kind)
    if element is MISSING:
        items: list[Any] = []
    elif type(element) is Out:
        items = [_number(one, element.number) for one in outputs[element.index]]
    else:
        places = [one.index for one in tree.arrays]
        items = []
        for one in zip(*[outputs[place] for place in places], strict=True):
            found = _Row(zip(places, one, strict=True))
            found.call = outputs.call if type(outputs) is _Row else (outputs, known)
            items.append(rebuild(element, found, {}))
    keys = [key for key, _ in items] if row.family == "dict" else ()
    return row.make(tree.kind, [one for _, one in items] if keys else items, keys, tree.like)


def _several(tree: Several, outputs: Any, known: dict[int, Any]) -> Any:
    outs, case = tree.cases[int(outputs[tree.tag.index].item())]
    row = _Row((one.index, outputs[one.index][0]) for one in outs)
    row.call = outputs.call if type(outputs) is _Row else (outputs, known)
    return rebuild(case, row, {})
