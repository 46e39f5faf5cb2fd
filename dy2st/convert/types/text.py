"""Texts and bytes, and texts of which only the Program knows some parts."""

from __future__ import annotations

from operator import eq
from typing import Any

from dy2st.convert.types.row import row
from dy2st.convert.values.special import SymbolicSequence
from dy2st_runtime.ir.choice import Hole, Text
from dy2st_runtime.ir.structure import Rows

# A text whose characters the data decides: its code points, in a tuple.
CODES = Text((Hole((), "chr"),))


def with_lists(value: Any) -> Any:
    """A text with lists of its code points, as a Program shows it; other values as they are."""
    if type(value) is not Text:
        return value
    return value.mapped(lambda one: _rows(one) if type(one) is SymbolicSequence else one)


def _rows(codes: SymbolicSequence) -> Rows:
    array: Any = codes.arrays[0]  # a Variable, where a structure has an Output
    return Rows(array, array)


def _values_in(text: Any, names: Any) -> list[Any]:
    """The values in a text; of a str its code points, in a tuple."""
    return [tuple(map(ord, text))] if type(text) is str else [one.value for one in text.holes]


row(str, family="text", is_atom=True, is_plain=True, is_unchanging=True, same=eq)
row(bytes, family="bytes", is_atom=True, is_plain=True, is_unchanging=True, same=eq)
row(
    bytearray,
    family="bytes",
    is_container=True,
    state="items",
    snapshot=bytearray.copy,
    restore=lambda owner, value: owner.__setitem__(slice(None), value),
)
row(
    Text,
    family="text",
    is_traced=True,
    is_value=True,
    is_unchanging=True,
    keeps_more=True,
    parts=_values_in,
    names=lambda text: (),
    make=lambda kind, parts, names, like: like.with_values(parts),
)
