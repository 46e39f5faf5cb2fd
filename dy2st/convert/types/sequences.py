"""Lists, deques, tuples, ranges and slices."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from operator import eq
from typing import Any

from dy2st.convert.types.containers import container, emptied
from dy2st.convert.types.row import row, same_items


def _parts(held: Any, names: Any) -> list[Any]:
    return list(held)


def _extended(kind: Any, parts: Sequence[Any], names: Any, like: Any) -> Any:
    made = emptied(kind, like)
    made.extend(parts)
    return made


def _tuple(kind: Any, parts: Sequence[Any], names: Any, like: Any) -> Any:
    return kind(*parts) if hasattr(kind, "_fields") else kind(parts)


def _ends(bounds: Any, names: Any) -> list[Any]:
    return [bounds.start, bounds.stop, bounds.step]


_LIST: dict[str, Any] = {"parts": _parts, "names": lambda held: (), "make": _extended}
container(list, list, list.__iter__, list.append, family="list", **_LIST)
container(
    deque,
    list,
    deque.__iter__,
    deque.append,
    family="list",
    keeps_more=True,
    empty=lambda like: deque(maxlen=like.maxlen),
    **_LIST,
)
_TUPLE: dict[str, Any] = {
    "parts": _parts,
    "names": lambda held: (),
    "make": _tuple,
    "same": same_items,
}
row(
    tuple,
    family="tuple",
    is_value=True,
    is_unchanging=True,
    # Those of a namedtuple are its fields.
    derived=lambda kind: {**_TUPLE, "is_value": hasattr(kind, "_fields")},
    **_TUPLE,
)
row(range, family="range", is_atom=True, is_unchanging=True, same=eq)
row(
    slice,
    family="bundle",
    is_atom=True,
    is_value=True,
    is_unchanging=True,
    same=lambda left, right: same_items(_ends(left, ()), _ends(right, ())),
    parts=_ends,
    names=lambda held: (),
    make=lambda kind, parts, names, like: slice(*parts),
)
