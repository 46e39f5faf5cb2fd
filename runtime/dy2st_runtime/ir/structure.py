"""Takes nested tuples, lists and dicts of tensors apart into leaves, and puts them together.

The structure of a value is the value itself with `Output(i)` in place of its i-th tensor, so it
can be read, compared and saved.

>>> flatten((1, [2.5, {"a": "text"}]), lambda leaf: isinstance(leaf, float))
([2.5], (1, [Output(index=0, as_number=False), {'a': 'text'}]))
"""

from __future__ import annotations

import re
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import is_normalized

import numpy as np

from dy2st_runtime.errors import FormatError
from dy2st_runtime.ir.choice import Choice, Hole, Text, is_format
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType, element_text

_MAX_NESTING = 30
_EMPTY = ArrayType(None)
# Of three digits: a text may not ask for more memory than it takes itself, by far.
_LARGE_NUMBER = r"\d{4}"


@dataclass(frozen=True, slots=True)
class Output:
    """Stands for the `index`-th output of a Program in its `structure`.

    `as_number`: the user's function returned a Python int or bool there, such as `x.shape[0]`.

    >>> f = dy2st.to_static(lambda x: {"double": x * 2, "size": x.shape[0]})
    >>> y = f(dy2st.ones([2]))
    >>> f.main_program.structure
    {'double': Output(index=0, as_number=False), 'size': 2}
    """

    index: int
    as_number: bool = False


@dataclass(frozen=True, slots=True)
class Rows:
    """A list of `entry`, once for each item of the lists that its Outputs stand for.

    `length` is the Output of one of these lists. `kind` is list, tuple, set, or dict: then an
    entry is a tuple of key and value.
    """

    length: Output
    entry: Any
    kind: str = "list"

    def mapped(self, function: Callable[[Any], Any]) -> Rows:
        """The same with `function` applied to both."""
        return Rows(function(self.length), function(self.entry), self.kind)


@dataclass(frozen=True, slots=True)
class Container:
    """A container of Python's library, of what the list, set or dict that `entry` gives holds.

    `kind` is one of CONTAINERS. `setting` is the maxlen of a deque, or what a defaultdict calls for
    a missing key, one of FACTORIES.

    >>> rebuild(Container("deque", [Output(0), 2], 3), ["a"])
    deque(['a', 2], maxlen=3)
    """

    kind: str
    entry: Any
    setting: Any = None

    def mapped(self, function: Callable[[Any], Any]) -> Container:
        """The same with `function` applied to the entry."""
        return Container(self.kind, function(self.entry), self.setting)


@dataclass(frozen=True, slots=True)
class Only:
    """`entry`, of lists of one item: what a Choice gives that is in no other case."""

    entry: Any

    def mapped(self, function: Callable[[Any], Any]) -> Only:
        """The same with `function` applied to the entry."""
        return Only(function(self.entry))


@dataclass(frozen=True, slots=True)
class At:
    """The list, dict or set at a place of a table: the same one wherever that place is named."""

    table: int
    place: Output | int

    def mapped(self, function: Callable[[Any], Any]) -> At:
        """The same with `function` applied to the place."""
        return At(self.table, function(self.place))


@dataclass(frozen=True, slots=True)
class Tables:
    """`entry`, in which, as in the tables, an At stands for what lies in one of them.

    Each is Rows, whose kind is that of what lies there, and whose entry says what it holds; or a
    tuple of what lists or dicts hold.

    >>> one = Tables((Rows(Output(0), [Output(0)]),), (At(0, 1), At(0, 1), At(0, 0)))
    >>> left, same, other = rebuild(one, [["a", "b"]])
    >>> left is same, left, other
    (True, ['b'], ['a'])
    """

    tables: tuple[Rows | tuple[Any, ...], ...]
    entry: Any

    def mapped(self, function: Callable[[Any], Any]) -> Tables:
        """The same with `function` applied to tables and entry."""
        return Tables(tuple(map(function, self.tables)), function(self.entry))


ROW_KINDS: dict[str, Callable[[Iterable[Any]], Any]] = {
    one.__name__: one for one in (list, tuple, dict, set)
}
# A file names these, and no function else.
FACTORIES: dict[str | None, Any] = {
    None: None,
    **{one.__name__: one for one in (bool, int, float, str, list, dict, set, tuple)},
}
CONTAINERS: dict[str, Callable[[Any, Any], Any]] = {
    "Counter": lambda held, _: Counter(held),
    "OrderedDict": lambda held, _: OrderedDict(held),
    "defaultdict": lambda held, factory: defaultdict(FACTORIES[factory], held),
    "deque": deque,
    "frozenset": lambda held, _: frozenset(held),
    "set": lambda held, _: set(held),
}


class NotPlain(Exception):
    """Something that no structure holds; the text says what."""


def container(kind: type, held: Any, setting: Any = None) -> Container:
    """The Container of a kind, which holds what the structure `held` does.

    >>> container(set, ["b", "a"])
    Container(kind='set', entry=['a', 'b'], setting=None)
    """
    name = kind.__name__
    if kind in (set, frozenset) and isinstance(held, list):
        if not all(map(may_be_key, held)):
            raise NotPlain(f"a {name} of other things than numbers and texts")
        held = sorted(held, key=repr)  # the same whatever the hashes of this process
    if kind is defaultdict:
        factory = getattr(setting, "__name__", None)
        if factory not in FACTORIES or FACTORIES[factory] is not setting:
            raise NotPlain("a defaultdict with a function of its own")
        setting = factory
    return Container(name, held, setting)


def flatten(value: Any, is_leaf: Callable[[Any], bool]) -> tuple[list[Any], Any]:
    """Leaves in order, and the structure around them; what is no leaf stays in the structure."""
    leaves: list[Any] = []
    return leaves, _without_leaves(value, is_leaf, leaves)


def _without_leaves(entry: Any, is_leaf: Callable[[Any], bool], leaves: list[Any]) -> Any:
    if is_leaf(entry):
        leaves.append(entry)
        return Output(len(leaves) - 1)
    # No function that knows itself: it would hold the leaves until garbage is searched for.
    return map_entries(entry, lambda inner: _without_leaves(inner, is_leaf, leaves))


def rebuild(structure: Any, leaves: Sequence[Any]) -> Any:
    """The value that has this structure around the given leaves.

    >>> rebuild([Output(1), "a"], [1, 2])
    [2, 'a']
    """

    return _built(structure, leaves.__getitem__)


def _built(entry: Any, leaf: Callable[[int], Any], tables: Sequence[Any] = ()) -> Any:
    if isinstance(entry, Output):
        found = leaf(entry.index)
        return found.item() if entry.as_number else found
    if isinstance(entry, Choice):
        tag = int(leaf(entry.tag.index))
        if not 0 <= tag < len(entry.cases):
            raise FormatError(f"a choice of {len(entry.cases)} values by the number {tag}")
        return _built(entry.cases[tag], leaf, tables)
    if isinstance(entry, Rows):
        count = len(leaf(entry.length.index))
        rows = (_built(entry.entry, _of_row(leaf, place), tables) for place in range(count))
        return ROW_KINDS[entry.kind](rows)
    if isinstance(entry, Container):
        return CONTAINERS[entry.kind](_built(entry.entry, leaf, tables), entry.setting)
    if isinstance(entry, Only):
        return _built(entry.entry, _of_row(leaf, 0), tables)
    if isinstance(entry, At):
        place = entry.place if isinstance(entry.place, int) else int(leaf(entry.place.index))
        table = tables[entry.table]
        if not 0 <= place < len(table):
            raise FormatError(f"place {place} of a table of {len(table)}")
        return table[place]
    if isinstance(entry, Tables):
        # All are there before what they hold is made, which may be one of them.
        tables = [[*_empty(table, leaf)] for table in entry.tables]
        for table, each in zip(tables, entry.tables, strict=True):
            for place, one in enumerate(table):
                of_row = each.entry if isinstance(each, Rows) else each[place]
                items = _of_row(leaf, place) if isinstance(each, Rows) else leaf
                held = _built(of_row, items, tables)
                one.extend(held) if isinstance(one, list) else one.update(held)
        return _built(entry.entry, leaf, tables)
    filled = map_entries(entry, lambda inner: _built(inner, leaf, tables))
    return filled.filled() if isinstance(entry, Text) else filled


def _empty(table: Rows | tuple[Any, ...], leaf: Callable[[int], Any]) -> Iterator[Any]:
    """What lies in a table, before it holds anything."""
    if isinstance(table, Rows):
        return (ROW_KINDS[table.kind](()) for _ in leaf(table.length.index))
    return (ROW_KINDS["list" if isinstance(t, Output) else _kind_of(t)](()) for t in table)


def _of_row(leaf: Callable[[int], Any], place: int) -> Callable[[int], Any]:
    """What stands at a place of each list."""

    def found(index: int) -> Any:
        items = leaf(index)
        if place >= len(items):
            raise FormatError(f"output {index} is a list of {len(items)}, shorter than another")
        return items[place]

    return found


def substitute(structure: Any, entries: Sequence[Any]) -> Any:
    """The structure with other entries in place of its Outputs."""
    if isinstance(structure, Output):
        return entries[structure.index]
    return map_entries(structure, lambda entry: substitute(entry, entries))


def map_entries(value: Any, function: Callable[[Any], Any]) -> Any:
    """A container of the same kind with `function` applied to its entries; others unchanged."""
    kind = type(value)
    if kind is list or kind is tuple:
        return kind(function(entry) for entry in value)
    if kind is dict or kind is OrderedDict:
        return kind((key, function(entry)) for key, entry in value.items())
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return kind(*(function(entry) for entry in value))
    if kind in _WITH_MAPPED:
        return value.mapped(function)
    return value


def is_container(value: Any) -> bool:
    """Whether `flatten` looks inside."""
    kind = type(value)
    return kind in (list, tuple, dict, OrderedDict, *_WITH_MAPPED) or (
        isinstance(value, tuple) and hasattr(kind, "_fields")
    )


def containers_of(values: Iterable[Any]) -> list[Any]:
    """The lists, dicts and sets among arguments, each before what it holds.

    >>> containers_of([([1], {"a": [2]}), 3])
    [[1], {'a': [2]}, [2]]
    """
    found: list[Any] = []
    for value in values:
        if is_container(value) or type(value) is set:
            found += [] if isinstance(value, tuple) else [value]
            found += containers_of(value.values() if isinstance(value, dict) else value)
    return found


_WITH_MAPPED = (Choice, Text, Rows, Container, Only, At, Tables)


# -- what a structure may hold ----------------------------------------------------------------


def wrong_entries(
    value: Any, types: Sequence[ValueType | None], depth: int = 0, tables: int = 0
) -> Iterator[str]:
    """What is wrong with a structure around values of these types, a sentence each.

    It nests constants and Outputs that there are; numbers, tags of choices and places are 0-d.
    """
    if depth > _MAX_NESTING:
        yield f"it is nested deeper than {_MAX_NESTING}"
    elif isinstance(value, Output):
        if not 0 <= value.index < len(types):
            yield f"there are {len(types)} outputs, none with index {value.index}"
        else:
            type = types[value.index]
            if type is None:
                yield f"output {value.index} is no list"
            else:
                is_number = type == _EMPTY or (isinstance(type, TensorType) and type.rank == 0)
                if value.as_number and not is_number:
                    yield f"output {value.index} is {type} and cannot be a number"
    elif isinstance(value, (Rows, Only)):
        # The type of what stands in a list; its own if nothing ever does, None of what is no
        # list.
        items = [(type.element or type) if isinstance(type, ArrayType) else None for type in types]
        if isinstance(value, Rows):
            yield from wrong_entries(value.length, items, depth + 1)
            yield from _wrong_keys(value)
        yield from wrong_entries(value.entry, items, depth + 1, tables)
    elif isinstance(value, Container):
        yield from _wrong_container(value, types)
        yield from wrong_entries(value.entry, types, depth + 1, tables)
    elif isinstance(value, At):
        is_place = isinstance(value.place, Output) and _is_whole_number(value.place, types)
        if not isinstance(value.place, int) and not is_place:
            yield f"a place {value.place!r:.80}, which is no 0-d integer"
        if not 0 <= value.table < tables:
            yield f"there are {tables} tables, none with index {value.table!r:.80}"
    elif isinstance(value, Tables):
        for table in value.tables:
            is_rows = isinstance(table, Rows)
            items = [one.element if isinstance(one, ArrayType) else None for one in types]
            held = (table.entry,) if isinstance(table, Rows) else table
            found = {_kind_of(one, items if is_rows else types) for one in held}
            kinds = {table.kind} if isinstance(table, Rows) else found
            if found != kinds or not kinds <= {"list", "dict", "set"}:
                yield f"a table {table!r:.80}, which is not of what lists, dicts or sets hold"
            whole = (Only(held[0]), Rows(table.length, None)) if isinstance(table, Rows) else table
            for part in whole:
                yield from wrong_entries(part, types, depth + 1, len(value.tables))
        yield from wrong_entries(value.entry, types, depth + 1, len(value.tables))
    elif is_container(value):
        # What is wrong with a container besides its entries.
        if isinstance(value, Choice):
            if not isinstance(value.tag, Output) or not _is_whole_number(value.tag, types):
                yield f"a choice by {value.tag!r:.80}, which is no 0-d integer"
        elif isinstance(value, Text):
            for part in value.parts:
                if isinstance(part, Hole) and re.search(_LARGE_NUMBER, part.spec):
                    yield f"the format {part.spec!r:.80} has a number of more than three digits"
                elif isinstance(part, Hole) and not is_format(part.conversion, part.spec):
                    yield f"{part.spec!r:.80} is no format of one value"
        elif isinstance(value, dict):
            yield from (f"a dict has the key {key!r:.80}" for key in value if not _is_key(key))
        elif hasattr(value, "_fields") and not all(is_normalized("NFKC", n) for n in value._fields):
            yield f"the fields of {value._fields!s:.80} are no names of Python"
        # What a container holds, but for keys and texts.
        if isinstance(value, Choice):
            entries = [value.tag, *value.cases]
        elif isinstance(value, Text):
            entries = [part.value for part in value.parts if isinstance(part, Hole)]
        else:
            entries = list(value.values() if isinstance(value, dict) else value)
        for entry in entries:
            yield from wrong_entries(entry, types, depth + 1, tables)
    elif not _is_constant(value):
        yield f"it holds {value!r:.80}"


def _kind_of(entry: Any, types: Sequence[ValueType | None] = ()) -> str:
    """The kind of container that a structure gives."""
    if isinstance(entry, Output) and 0 <= entry.index < len(types):
        return "list" if isinstance(types[entry.index], (ArrayType, type(None))) else "tensor"
    return entry.kind if isinstance(entry, Rows) else type(entry).__name__


def _wrong_keys(rows: Rows) -> Iterator[str]:
    """What is wrong with the keys of a dict, or the elements of a set, by rows."""
    if rows.kind not in ROW_KINDS:
        yield f"rows of a {rows.kind!r:.80}"
    elif rows.kind == "dict" and not (type(rows.entry) is tuple and len(rows.entry) == 2):
        yield "the rows of a dict are no pairs"
    elif rows.kind in ("dict", "set"):
        key = rows.entry[0] if rows.kind == "dict" else rows.entry
        if not may_be_key(key):
            yield f"a {rows.kind} has the key {key!r:.80}"


def _wrong_container(value: Container, types: Sequence[ValueType | None]) -> Iterator[str]:
    """What is wrong with a container besides its entry."""
    kind, setting = value.kind, value.setting
    if kind not in CONTAINERS:
        yield f"a container {kind!r:.80}"
        return
    wanted = {"deque": ("list",), "set": ("list", "set"), "frozenset": ("list", "set")}
    cases = value.entry.cases if isinstance(value.entry, Choice) else (value.entry,)
    held = [case.entry if isinstance(case, Only) else case for case in cases]
    if not all(_kind_of(one, types) in wanted.get(kind, ("dict",)) for one in held):
        yield f"a {kind} made of {value.entry!r:.80}"
    elif kind in ("set", "frozenset"):
        elements = [one for each in held if isinstance(each, list) for one in each]
        is_tensors = any(isinstance(each, Output) for each in held)
        if is_tensors or not all(map(may_be_key, elements)):
            yield f"a {kind} of {value.entry!r:.80}"
    is_length = kind == "deque" and type(setting) is int and 0 <= setting <= sys.maxsize
    is_factory = kind == "defaultdict" and isinstance(setting, str) and setting in FACTORIES
    if setting is not None and not (is_length or is_factory):
        yield f"a {kind} with {setting!r:.80}"


def may_be_key(key: Any) -> bool:
    """Whether an entry of a structure gives a key of a dict, or an element of a set."""
    if isinstance(key, Output):
        return key.as_number
    if isinstance(key, Choice):
        return all(may_be_key(case) for case in key.cases)
    if isinstance(key, Only):
        return may_be_key(key.entry)
    if type(key) is tuple:
        return all(map(may_be_key, key))
    return isinstance(key, Text) or _is_key(key)


def _is_whole_number(tag: Output, types: Sequence[ValueType | None]) -> bool:
    type = types[tag.index] if 0 <= tag.index < len(types) else None
    return isinstance(type, TensorType) and type.rank == 0 and type.dtype.kind in "biu"


def _is_constant(value: Any) -> bool:
    if isinstance(value, np.generic):
        return element_text(value.dtype) is not None
    return type(value) in (bool, int, float, str, bytes, type(None))


def _is_key(key: Any) -> bool:
    return all(map(_is_constant, key)) if type(key) is tuple else _is_constant(key)
