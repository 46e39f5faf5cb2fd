"""Numbers, texts, and other values that nobody can change."""

from __future__ import annotations

import re
import struct
from datetime import date, time, timedelta, tzinfo
from operator import eq
from pathlib import PurePath
from typing import Any

import numpy as np

from dy2st.convert.types.containers import fill
from dy2st.convert.types.row import row
from dy2st.convert.values.special import SymbolicSequence
from dy2st_runtime.ir.choice import Hole, Text
from dy2st_runtime.ir.structure import Rows, map_entries


def _same_bits(left: Any, right: Any) -> bool:
    """A nan is itself, and 0.0 is not -0.0."""
    one, other = ((value.real, value.imag) for value in (left, right))
    return struct.pack("<dd", *one) == struct.pack("<dd", *other)


_ATOM: dict[str, Any] = {"is_atom": True, "is_unchanging": True, "is_fixed": True}
_NUMBER: dict[str, Any] = {**_ATOM, "family": "number", "is_plain": True}
row(bool, **_NUMBER, is_value=True, is_single=True, same=eq, dtype=np.dtype("bool"))
row(int, **_NUMBER, is_value=True, same=eq, dtype=np.dtype("int64"))
row(float, **_NUMBER, is_value=True, same=_same_bits, dtype=np.dtype("float64"))
row(complex, **_NUMBER, same=_same_bits)
row(type(None), **_ATOM, is_plain=True, is_single=True)
row(type(...), type(NotImplemented), **_ATOM, is_single=True)
_OF_NUMPY: dict[str, Any] = {"is_open": True, "is_constant": True, "is_fixed": True}
row(np.generic, **_OF_NUMPY, family="array", same=lambda a, b: a.tobytes() == b.tobytes())
row(np.dtype, **_OF_NUMPY, same=eq)
row(np.ufunc, is_fixed=True)
# Equal ones are the same, so that a new one is no reason to trace anew.
row(date, timedelta, is_atom=True, is_unchanging=True, same=eq)
row(PurePath, time, tzinfo, family="value", is_fixed=True)
row(re.Match, re.Pattern, struct.Struct, is_fixed=True)
row("fractions.Fraction", is_constant=True, same=eq)
row("decimal.Decimal", **_ATOM, same=lambda a, b: repr(a) == repr(b))  # 1.0 equals 1.00


# A text whose characters the data decides: its code points, in a tuple.
CODES = Text((Hole((), "chr"),))


def with_lists(value: Any) -> Any:
    """A text with lists of its code points, as a Program shows it; other values as they are."""
    if type(value) is SymbolicSequence:
        return _rows(value)
    return value.mapped(with_lists) if type(value) is Text else map_entries(value, with_lists)


def _rows(codes: SymbolicSequence) -> Rows:
    array: Any = codes.arrays[0]  # a Variable, where a structure has an Output
    return Rows(array, array)


row(str, **_ATOM, family="text", is_plain=True, same=eq)
row(bytes, **_ATOM, family="bytes", is_plain=True, same=eq)
_ITEMS: dict[str, Any] = {"is_container": True, "state": "items"}
row(
    bytearray,
    **_ITEMS,
    family="bytes",
    make=lambda kind, parts, names, like: kind(parts),
    snapshot=bytearray.copy,
    restore=fill,
)
_TEXT: dict[str, Any] = {"is_value": True, "is_unchanging": True, "is_fixed": True}
row(
    Text,
    **_TEXT,
    family="text",
    is_traced=True,
    keeps_more=True,
    # Of a str its code points, in a tuple.
    parts=lambda text, names: (
        [tuple(map(ord, text))] if type(text) is str else [hole.value for hole in text.holes]
    ),
    make=lambda kind, parts, names, like: like.with_values(parts),
)
