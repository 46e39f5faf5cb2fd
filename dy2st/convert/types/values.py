"""Lists, deques, tuples, sets, dicts, and what shows them; numbers, texts, and other constants."""

from __future__ import annotations

import re
import struct
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from operator import attrgetter, eq, is_
from pathlib import PurePath
from types import GenericAlias, MappingProxyType, UnionType
from typing import Any

import numpy as np

from dy2st.convert.types.row import info, row, same, same_items
from dy2st.convert.values.special import MISSING, SymbolicSequence
from dy2st_runtime.ir.choice import Hole, Text, values_in
from dy2st_runtime.ir.structure import Rows, map_entries
from dy2st_runtime.nn.tables import Table

# -- containers -----------------------------------------------------------------------------------


def by_name(held: Any, names: Any) -> list[Any]:
    """What a dict holds under some names."""
    return [held.get(name, MISSING) for name in names]


def fill(owner: Any, value: Any) -> None:
    """Let a container of Python hold what another one holds."""
    if isinstance(owner, bytearray):
        owner[:] = value  # which somebody may look into
    elif type(owner) is set:
        _fill_in_order(owner, value)
    elif owner is not value:
        items = value.copy()
        owner.clear()
        owner.extend(items) if hasattr(owner, "extend") else owner.update(items)


def copy_of(held: Any) -> Any:
    """A copy of a container, with all in the same order."""
    return _fill_in_order(set(), held) if type(held) is set else held.copy()


def _fill_in_order(made: set[Any], items: Iterable[Any]) -> set[Any]:
    """Let a set have its items in their order: they may have come out of a larger table."""
    order = [*items]
    for size in (0, 8, 32, 128, 512, 0):
        used = {hash(one) % size for one in order if size}
        # So many more make Python choose a table of this size, which stays when they have gone.
        others = [place for place in range(size) if place not in used]
        others = others[: max(0, size // 5 - len(order))]
        made.clear()
        made.update([*order, *others] if size else items)
        for one in others:
            made.discard(one)
        if all(map(is_, made, order)):
            break
    return made


def read_state(owner: Any) -> Any:
    """What an object holds, as a copy."""
    return info(type(owner)).snapshot(owner)


def write_state(owner: Any, state: Any) -> None:
    """Let an object hold what `read_state` has given."""
    info(type(owner)).restore(owner, state)


def same_state(left: Any, right: Any) -> bool:
    """Whether two states cannot be distinguished."""
    if isinstance(left, np.ndarray):
        return bool(left.shape == right.shape and left.tobytes() == right.tobytes())
    if isinstance(left, dict):
        # As lists, since the order of the keys counts.
        left, right = [*left, *left.values()], [*right, *right.values()]
    if type(left) is tuple:
        return same(left, right)
    if info(type(left)).family == "list":
        return len(left) == len(right) and all(map(is_, left, right))
    return bool(left == right)


def emptied(kind: type, like: Any) -> Any:
    """A new empty container; a deque has its maxlen, a defaultdict its factory."""
    return kind() if like is None else kind(*info(kind).settings(like))


def container(kind: Any, items: Any, put: Any, **fields: Any) -> None:
    """Give a class of containers its row.

    items, put: methods that give what an object of a derived class holds, and put one of these
    into it, past what that class says.
    """

    def restore(owner: Any, state: Any) -> None:
        kind.clear(owner)
        for one in state:
            put(owner, one)

    derived = {"snapshot": lambda owner: tuple(items(owner)), "restore": restore}
    row(
        kind,
        is_container=True,
        state="items",
        snapshot=lambda owner: owner.copy(),
        restore=fill,
        derived=lambda _: {"state": "derived", "is_joined": True, **derived},  # of as many items
        **fields,
    )


def _extended(kind: Any, parts: Sequence[Any], names: Any, like: Any) -> Any:
    made = emptied(kind, like)
    made.extend(parts)
    return made


def _ends(bounds: Any, names: Any) -> list[Any]:
    return [bounds.start, bounds.stop, bounds.step]


_LIST: dict[str, Any] = {"family": "list", "make": _extended}
container(list, list.__iter__, list.append, display="[{}]", **_LIST)
_SETTINGS = {"keeps_more": True, "settings": lambda like: ((), like.maxlen)}
container(deque, deque.__iter__, deque.append, **_SETTINGS, **_LIST)
# Nobody asks which of two equal ones a value is: what they hold never changes.
BUNDLE: dict[str, Any] = {"family": "bundle", "is_value": True, "is_unchanging": True}
_TUPLE: dict[str, Any] = {
    # Those of a namedtuple are its fields.
    "make": lambda kind, parts, names, like: (
        kind(*parts) if hasattr(kind, "_fields") else kind(parts)
    ),
    "same": same_items,
}
row(
    tuple,
    **{**BUNDLE, "family": "tuple"},
    display="({},)",
    settings=lambda like: (list(like),),
    derived=lambda kind: {**_TUPLE, "is_value": hasattr(kind, "_fields")},
    **_TUPLE,
)
row(range, family="range", is_atom=True, is_unchanging=True, is_fixed=True, same=eq)
row(
    slice,
    **BUNDLE,
    is_fixed=True,
    same=lambda left, right: same_items(_ends(left, ()), _ends(right, ())),
    parts=_ends,
    make=lambda kind, parts, names, like: slice(*parts),
)


def _set(kind: Any, parts: Sequence[Any], names: Any, like: Any) -> Any:
    return _fill_in_order(set(), parts) if kind is set else kind(parts)


_SET: dict[str, Any] = {"family": "set", "make": _set}
container(set, set.__iter__, set.add, **_SET)
row(
    frozenset,
    **_SET,
    is_unchanging=True,
    is_fixed=True,
    settings=lambda like: ([*frozenset.__iter__(like)],),
    same=lambda left, right: (
        len(left) == len(right) and all(any(same(one, two) for two in right) for one in left)
    ),
)


def _dict(kind: Any, parts: Sequence[Any], names: Any, like: Any) -> Any:
    made = emptied(kind, like)
    pairs = zip(names, parts, strict=True)
    made.update({name: part for name, part in pairs if part is not MISSING})
    return made


def _give_row(kind: Any, **fields: Any) -> None:
    fields = {"family": "dict", "parts": by_name, "names": list, "make": _dict, **fields}
    container(kind, kind.items, lambda owner, pair: kind.__setitem__(owner, *pair), **fields)


_give_row(dict, display="{{{}}}")
for _kind in (OrderedDict, Table, Counter):
    _give_row(_kind)
_give_row(defaultdict, keeps_more=True, settings=lambda like: (like.default_factory,))

row(MappingProxyType, family="mapping")
# Those of keys and items have the operators of sets; an OrderedDict has its own.
for _name, _family in (("keys", "keys"), ("items", "keys"), ("values", "values")):
    for _dict_kind in (dict, OrderedDict):
        row(type(getattr(_dict_kind(), _name)()), family=_family, is_view=True)

# -- numbers, texts, and other values that nobody can change --------------------------------------


def _same_bits(left: Any, right: Any) -> bool:
    """A nan is itself, and 0.0 is not -0.0."""
    one, other = ((value.real, value.imag) for value in (left, right))
    return struct.pack("<dd", *one) == struct.pack("<dd", *other)


_ATOM: dict[str, Any] = {"is_atom": True, "is_unchanging": True, "is_fixed": True}
_NUMBER: dict[str, Any] = {**_ATOM, "family": "number", "is_plain": True}
row(bool, **_NUMBER, is_value=True, is_single=True, same=eq, dtype=np.dtype("bool"))
row(int, **_NUMBER, is_value=True, same=eq, dtype=np.dtype("int64"), settings=int.__getnewargs__)
row(
    float,
    **_NUMBER,
    is_value=True,
    same=_same_bits,
    dtype=np.dtype("float64"),
    settings=float.__getnewargs__,
)
row(complex, **_NUMBER, same=_same_bits, settings=attrgetter("real", "imag"))
row(type(None), **_ATOM, is_plain=True, is_single=True)
row(type(...), type(NotImplemented), **_ATOM, is_single=True)
_OF_NUMPY: dict[str, Any] = {"is_open": True, "is_constant": True, "is_fixed": True}
row(np.generic, **_OF_NUMPY, family="array", same=lambda a, b: a.tobytes() == b.tobytes())
row(np.dtype, **_OF_NUMPY, same=eq)
row(np.ufunc, is_constant=True, is_fixed=True)
# Equal ones are the same, so that a new one is no reason to trace anew.
row(date, timedelta, is_atom=True, is_unchanging=True, same=eq)
row(datetime, is_unchanging=True, is_constant=True, is_fixed=True)
row(PurePath, time, timezone, tzinfo, family="value", is_constant=True, is_fixed=True)
row(re.Match, re.Pattern, struct.Struct, GenericAlias, UnionType, is_constant=True, is_fixed=True)
row("fractions.Fraction", is_constant=True, same=eq)
row("dataclasses.Field", is_atom=True)
row("decimal.Decimal", **_ATOM, same=lambda a, b: repr(a) == repr(b))  # 1.0 equals 1.00


# A text whose characters the data decides: its code points, in a tuple.
CODES = Text((Hole((), "chr"),))


def is_of_codes(value: Any) -> bool:
    """Whether a value is a text whose characters the data decides."""
    return type(value) is Text and len(value.parts) == 1 and value.is_like(CODES)


def with_lists(value: Any) -> Any:
    """A text with lists of its code points, as a Program shows it; other values as they are."""
    if type(value) is SymbolicSequence:
        array: Any = value.arrays[0]  # a Variable, where a structure has an Output
        return Rows(array, array)
    return value.mapped(with_lists) if type(value) is Text else map_entries(value, with_lists)


row(str, **_ATOM, family="text", is_plain=True, same=eq, settings=str.__getnewargs__)
row(bytes, **_ATOM, family="bytes", is_plain=True, same=eq, settings=bytes.__getnewargs__)
_BYTES: dict[str, Any] = {"family": "bytes", "make": lambda kind, parts, names, like: kind(parts)}
container(bytearray, bytearray.__iter__, bytearray.append, **_BYTES)
_TEXT: dict[str, Any] = {"is_value": True, "is_unchanging": True, "is_fixed": True}
row(
    Text,
    **_TEXT,
    family="text",
    is_traced=True,
    keeps_more=True,
    # `names` is a text of other texts, too, of which this is one.
    parts=lambda text, names: values_in(text, names if type(names) is Text else text),
    make=lambda kind, parts, names, like: like.with_values(parts),
)
