"""The table of ATen's operators: a row is a function of a Call and of the operator's arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ir.types import is_floating, named_dtype

Row = Callable[..., Any]
ROWS: dict[str, Row] = {}
"""By the full name of an overload, such as `aten.add.Tensor`."""
_ORDER = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128"


class Call:
    """One node as it is recorded: what torch says of its results."""

    __slots__ = ("dtypes", "name", "shapes")

    def __init__(self, name: str, dtypes: Sequence[Any], shapes: Sequence[Any]):
        """The dtypes and shapes of all results that are tensors."""
        self.name, self.dtypes, self.shapes = name, dtypes, shapes

    @property
    def dtype(self) -> Any:
        """The dtype of the (first) result."""
        return self.dtypes[0]

    def cast(self, value: Any) -> Any:
        """A tensor or a number in the dtype of the result."""
        return as_tensor(value, self.dtype)


def row(*names: str) -> Callable[[Row], Row]:
    """Register a function for overloads of ATen, by their full names."""

    def register(function: Row) -> Row:
        for name in names:
            assert name not in ROWS, name
            ROWS[name] = function
        return function

    return register


def rows(table: Mapping[str, Row]) -> None:
    """Register many of ATen's; a key may name several overloads."""
    for names, function in table.items():
        full = [f"aten.{name}" if "." in name else f"aten.{name}.default" for name in names.split()]
        row(*full)(function)


# -- values -----------------------------------------------------------------------------------


def dtype_of(dtype: Any) -> Any:
    """NumPy's dtype for one of torch; ArgumentError where there is none."""
    name = str(dtype).removeprefix("torch.")
    if name in _ORDER.split() or name in ("uint16", "uint32", "uint64"):
        found = named_dtype(name)
        if found is not None:
            return found
    raise ArgumentError(f"torch's dtype {name} has no counterpart here")


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor of the Program."""
    return isinstance(value, Variable)


def as_tensor(value: Any, dtype: Any = None) -> Any:
    """A tensor of a tensor or number."""
    if isinstance(value, Variable):
        return value if dtype is None or value.dtype == dtype else F.cast(value, dtype)
    if isinstance(value, (Dim, Condition)):
        made = F.full([], value, "int64" if isinstance(value, Dim) else "bool")
        return made if dtype is None else F.cast(made, dtype)
    if isinstance(value, complex) and (dtype is None or dtype.kind != "c"):
        return F.assign(np.asarray(value, "complex64"))
    if dtype is None:
        dtype = {bool: "bool", int: "int64"}.get(type(value), "float32")
    dtype = np.dtype(dtype)
    if isinstance(value, int) and dtype.kind in "iu":  # wraps round as torch
        bits = dtype.itemsize * 8
        value &= (1 << bits) - 1
        if dtype.kind == "i" and value >> (bits - 1):
            value -= 1 << bits
    return F.assign(np.asarray(value).astype(dtype))


def _kind(dtype: Any) -> int:
    return 2 if is_floating(dtype) else {"b": 0, "c": 3}.get(dtype.kind, 1)


def promoted(*values: Any) -> Any:
    """torch's common dtype: of tensors with axes, then of those without, then of numbers.

    Later ones count only where they are of a higher category: bool, integer, float, complex.
    """
    ranked: list[Any] = [None, None, None]
    for value in values:
        if value is None:
            continue
        is_number = not isinstance(value, Variable) or value.number is not None
        place, dtype = 2, _dtype_of_number(value)
        if not is_number:
            place, dtype = (0 if value.ndim else 1), value.dtype
        ranked[place] = dtype if ranked[place] is None else _joined(ranked[place], dtype)
    return _over(ranked[0], _over(ranked[1], ranked[2]))


def _over(high: Any, low: Any) -> Any:
    if high is None or low is None:
        return low if high is None else high
    if _kind(high) == 2 and _kind(low) == 3:
        return np.dtype("complex128" if high.itemsize == 8 else "complex64")
    if _kind(high) >= 2 or (_kind(high) == 1 and _kind(low) < 2):
        return high
    return _joined(high, low)


def _dtype_of_number(value: Any) -> Any:
    kind = value.number if isinstance(value, Variable) else type(value)
    if kind in (bool, Condition):
        return np.dtype("bool")
    if kind in (int, Dim):
        return np.dtype("int64")
    return np.dtype("complex64" if kind is complex else "float32")


def _joined(left: Any, right: Any) -> Any:
    """The common dtype of two of one rank."""
    if left == right:
        return left
    if _kind(left) != _kind(right):
        high, low = (left, right) if _kind(left) > _kind(right) else (right, left)
        return np.dtype("complex128") if _kind(high) == 3 and low.name == "float64" else high
    if _kind(left) == 2 and left.itemsize == right.itemsize:
        return np.dtype("float32")  # of float16 and bfloat16
    if _kind(left) == 1:
        return np.promote_types(left, right)
    return left if left.itemsize > right.itemsize else right


def together(*values: Any) -> list[Any]:
    """Tensors and numbers in their common dtype."""
    dtype = promoted(*values)
    return [as_tensor(value, dtype) for value in values]


def truth(value: Any) -> Any:
    """A tensor or number as a bool."""
    return as_tensor(value, np.dtype("bool"))


def is_real(value: Any) -> bool:
    """Whether a tensor has real floats."""
    return is_floating(value.dtype)


def is_known(size: Any, number: int) -> bool:
    """Whether a size is that number, whatever the symbols are."""
    return type(size) is int and size == number


def listed(value: Any) -> list[Any]:
    """A list of one number or several."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def axis_of(axis: int, rank: int) -> int:
    """From 0 up; tensors without axes have one for this."""
    return axis % max(rank, 1)


def axes_of(axes: Any, rank: int) -> list[int]:
    """From 0 up, all if none are named."""
    if axes is None or axes == [] or axes == ():
        return list(range(rank))
    return [axis_of(one, rank) for one in (axes if isinstance(axes, (list, tuple)) else [axes])]
