"""Numbers of Python and NumPy, and the values of which there is one."""

from __future__ import annotations

import struct
from operator import eq
from typing import Any

import numpy as np

from dy2st.convert.types.row import row


def _same_bits(left: Any, right: Any) -> bool:
    """A nan is itself, and 0.0 is not -0.0."""
    one, other = ((value.real, value.imag) for value in (left, right))
    return struct.pack("<dd", *one) == struct.pack("<dd", *other)


_NUMBER: dict[str, Any] = {
    "family": "number",
    "is_atom": True,
    "is_plain": True,
    "is_unchanging": True,
}
row(bool, **_NUMBER, is_value=True, is_single=True, same=eq, dtype=np.dtype("bool"))
row(int, **_NUMBER, is_value=True, same=eq, dtype=np.dtype("int64"))
row(float, **_NUMBER, is_value=True, same=_same_bits, dtype=np.dtype("float64"))
row(complex, **_NUMBER, same=_same_bits)
row(type(None), is_atom=True, is_plain=True, is_unchanging=True, is_single=True)
row(type(...), type(NotImplemented), is_atom=True, is_unchanging=True, is_single=True)
row(np.generic, is_open=True, same=lambda left, right: left.tobytes() == right.tobytes())
row(np.dtype, is_open=True, same=eq)
