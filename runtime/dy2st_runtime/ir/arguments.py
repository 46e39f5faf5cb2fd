"""The forms in which users give axes, shapes and dtypes, brought to the one that operators keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import Dim, Size
from dy2st_runtime.dims.expression import undecided
from dy2st_runtime.errors import ArgumentError, DTypeError, TensorAsPython, WrongKind
from dy2st_runtime.ir.data import data_of
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ir.sizes import fresh_symbol
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.ir.tracing.traced_list import TracedList
from dy2st_runtime.ir.types import DType, given_dtype

Axes = int | Sequence[int] | None


def rank_of(x: Any) -> int:
    """Number of axes of anything an operator accepts."""
    if isinstance(x, Tensor):
        return x.ndim
    return x.tensor().ndim if type(x) is TracedList else np.ndim(x)


def shape_of(x: Any) -> list[Size]:
    """Sizes of anything an operator accepts."""
    if isinstance(x, Tensor):
        return x.shape
    return x.tensor().shape if type(x) is TracedList else list(np.shape(x))


def dtype_of(x: Any) -> DType:
    """Element type of anything an operator accepts; Python floats are float32."""
    if isinstance(x, Tensor):
        return x.dtype
    if type(x) is TracedList:
        return x.tensor().dtype  # type: ignore[no-any-return]
    array: np.ndarray[Any, Any] = np.asarray(x)
    return np.dtype("float32") if isinstance(x, float) else array.dtype


def normalize_axis(axis: Any, rank: int, what: str = "axis") -> int:
    """An axis from 0; ArgumentError if there is no such axis.

    >>> normalize_axis(-1, 3)
    2
    """
    number = as_int(axis, what)
    if not -rank <= number < rank:
        raise ArgumentError(f"{what} {number} does not exist: the tensor has {rank} axes")
    return number + rank if number < 0 else number


def normalize_axes(axis: Axes, rank: int) -> tuple[int, ...]:
    """Axes from 0 in order; None means all. ArgumentError if one is given twice."""
    if axis is None:
        return tuple(range(rank))
    given = as_ints(axis, "an axis")
    if not rank and given in ([0], [-1]):  # as PaddlePaddle: of a number they are no axis at all
        return ()
    axes = tuple(sorted(normalize_axis(a, rank) for a in given))
    if len(set(axes)) != len(axes):
        raise ArgumentError(f"an axis is given twice in {list(given)}")
    return axes


def reduced_axes(axis: Axes, rank: int) -> tuple[int, ...]:
    """The axes that a reduction takes: None and an empty list mean all, as in PaddlePaddle.

    >>> reduced_axes([], 3), reduced_axes(-1, 3)
    ((0, 1, 2), (2,))
    """
    return normalize_axes(axis, rank) or tuple(range(rank))


def as_int(value: Any, what: str) -> int:
    """A Python int of anything that is a known integer, traced tensors of known values too."""
    if value.__class__ is int:
        return value
    if isinstance(value, Variable):
        value = known_dim(value)
        if value is None:
            raise needs_python(what)
    if isinstance(value, Dim):
        raise undecided(
            f"{what} is the size {value}, which is not known while the function is traced, but a "
            "number is needed here; give the size a number in the InputSpec"
        )
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        return int(value.__index__())
    except TensorAsPython:  # a tensor from outside, of which a trace knows no number
        raise
    except (AttributeError, TypeError, ValueError):  # a tensor of several
        raise WrongKind(f"{what} is an integer, not {value!r}") from None


def as_ints(value: Any, what: str) -> list[int]:
    """Python ints of one integer, or of a list or 1-d tensor of them, if they are known."""
    if isinstance(value, Variable) and data_of(value) is not None and value.tensor_type.rank:
        value = data_of(value).tolist()  # type: ignore[union-attr]
    elif isinstance(value, Tensor) and not isinstance(value, Variable):
        value = np.asarray(value).tolist()
    entries = value if isinstance(value, (list, tuple)) else [value]
    return [as_int(entry, what) for entry in entries]


def as_size(value: Any, what: str = "a size") -> Size:
    """An int or a Dim."""
    if value.__class__ is int or isinstance(value, Dim):
        return value
    if isinstance(value, Variable):
        dim = known_dim(value)
        if dim is None:
            raise needs_python(what)
        return dim
    return as_int(value, what)


def as_shape(shape: Any) -> tuple[Size, ...]:
    """A shape of ints and Dims: of a list, an int, or an integer tensor of known values."""
    if isinstance(shape, Variable):
        dims = known_dims(shape)
        if dims is None:
            raise needs_python("a shape")
        return dims
    if isinstance(shape, Tensor):
        shape = np.asarray(shape).tolist()
    if not hasattr(shape, "__iter__"):
        shape = [shape]
    return tuple(as_size(size) for size in shape)


def known_dims(variable: Variable) -> tuple[Size, ...] | None:
    """The values of a traced 1-d integer tensor made of sizes, None if not known."""
    data = data_of(variable)
    if data is None or data.ndim != 1 or variable.dtype.kind == "b":
        return None
    return tuple(data.tolist())


def known_dim(variable: Variable) -> Size | None:
    """The value of a traced integer that is a size (`shape(x)[0]`), None if not known."""
    data = data_of(variable)
    if data is None or data.size != 1 or variable.dtype.kind == "b":
        return None
    value: Size = data.item()
    return value


def is_unknown(value: Any) -> bool:
    """Whether a number or a list of numbers is one, or has one, that is known only at run time."""
    if isinstance(value, (list, tuple)):
        return any(is_unknown(entry) for entry in value)
    return isinstance(value, Variable) and data_of(value) is None


def one_integer(value: Any, what: str) -> Any:
    """A traced tensor of one integer, as a number: for what is computed from it when it runs."""
    if value.dtype.kind not in "iu":
        raise ArgumentError(f"{what} is an integer, not a tensor of {value.dtype}")
    return F.cast(F.reshape(value, []) if value.ndim else value, "int64")


def as_integers(values: Any) -> tuple[Any, tuple[Size | None, ...] | None]:
    """One 1-d tensor of several numbers, and those of them that are sizes already."""
    if not isinstance(values, (list, tuple)):
        return values, None
    known = [
        known_dim(value) if isinstance(value, Variable) else as_size(value) for value in values
    ]
    numbers = [
        value
        if type(value) is int or getattr(value, "number", None) is int
        else F.reshape(F.cast(value, "int64"), [])
        for value in values
    ]
    return F.stack(numbers), tuple(known)


def as_dtype(dtype: Any, default: Any = None) -> DType:
    """A NumPy dtype of a name, type or dtype; `default` for None."""
    try:
        return given_dtype(default if dtype is None else dtype)
    except DTypeError:
        raise
    except TypeError as error:
        raise ArgumentError(str(error)) from None


def pair(value: Any, count: int, what: str, least: int = 1) -> tuple[int, ...]:
    """`count` ints: one int stands for all; ArgumentError for others and those below `least`."""
    given = value if isinstance(value, (list, tuple)) else [value] * count
    if len(given) != count:
        raise ArgumentError(f"{what} takes {count} values, not {list(given)}")
    numbers = tuple(as_int(entry, what) for entry in given)
    if min(numbers, default=least) < least:
        raise ArgumentError(f"{what} is at least {least}, not {min(numbers)}")
    return numbers


def needs_python(what: str) -> TensorAsPython:
    """The refusal for a traced tensor where the structure of the Program depends on it."""
    return TensorAsPython(
        f"{what} is a traced tensor",
        why="its value is known only when the Program runs, but the ranks and sizes of a Program "
        "are part of it",
        hint="take sizes from x.shape[i], or Python numbers",
    )


__all__ = [
    "Axes",
    "as_dtype",
    "as_int",
    "as_shape",
    "as_size",
    "dtype_of",
    "fresh_symbol",
    "known_dim",
    "known_dims",
    "needs_python",
    "normalize_axes",
    "normalize_axis",
    "one_integer",
    "pair",
    "rank_of",
    "shape_of",
]
