"""Shape and dtype rules that many operators share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import Size, broadcast, less, less_equal, require
from dy2st_runtime.errors import DTypeError, PlaceError, ShapeError
from dy2st_runtime.ir import F, Kind, Sample, Shape, TensorType, define, is_floating
from dy2st_runtime.ir.arguments import dtype_of
from dy2st_runtime.ir.data import has_conditions
from dy2st_runtime.ir.dispatch import active


def broadcast_shapes(name: str, *shapes: Shape) -> Shape:
    """The shape that all broadcast to; ShapeError names the operator and the shapes."""
    rank = max(map(len, shapes))
    result: list[Size] = []
    for axis in range(-rank, 0):
        size: Size | None = None
        for shape in shapes:
            if -axis > len(shape) or size is shape[axis]:
                continue
            try:
                size = shape[axis] if size is None else broadcast(size, shape[axis])
            except ShapeError as error:
                shown = " and ".join(str(list(one)) for one in shapes)
                raise ShapeError(f"{name}: the shapes {shown} do not fit: {error}") from None
        result.append(1 if size is None else size)
    return tuple(result)


def broadcasting(name: str, dtype: Any = None) -> Callable[..., TensorType]:
    """The rule of elementwise operators: shapes broadcast, the dtype stays or is `dtype`."""

    def rule(*types: TensorType, **_: Any) -> TensorType:
        shape = broadcast_shapes(name, *(t.shape for t in types))
        return TensorType(types[0].dtype if dtype is None else dtype, shape)

    return rule


def of_sizes(function: Callable[..., Any]) -> Callable[..., Any]:
    """The rule for data: a function of two sizes, elementwise, where both are known."""

    def rule(x: Any, y: Any) -> Any:
        known = all(isinstance(one, np.ndarray) and not has_conditions(one) for one in (x, y))
        return np.frompyfunc(function, 2, 1)(x, y) if known else None

    return rule


def created(name: str, dtype: Any, shape: Sequence[Size]) -> TensorType:
    """The type of a new tensor; its sizes are, or must turn out, not negative."""
    for size in shape:
        require(less_equal(0, size) is True or size >= 0, f"{name}: the size {size} is negative")
    return TensorType(dtype, shape)


def same_type(x: TensorType, **_: Any) -> TensorType:
    """The rule of operators that keep shape and dtype."""
    return x


def float_result(ufunc: Callable[..., Any]) -> Callable[[Any], np.dtype[Any]]:
    """The dtype that a NumPy function of one argument gives for a dtype."""
    cache: dict[np.dtype[Any], np.dtype[Any]] = {}

    def result(dtype: np.dtype[Any]) -> np.dtype[Any]:
        if dtype not in cache:
            with np.errstate(all="ignore"):
                cache[dtype] = np.asarray(ufunc(np.ones((), dtype))).dtype
        return cache[dtype]

    return result


_float_of = float_result(np.exp)


def float_type(x: TensorType, **_: Any) -> TensorType:
    """The rule of functions that keep floats, and make integers floats as `exp` does."""
    if x.is_floating or x.dtype.kind == "c":
        return x
    return x.with_dtype(_float_of(x.dtype))


def as_floats(x: Any) -> Any:
    """An array, as floats if it holds integers."""
    return x if is_floating(x.dtype) else x.astype(_float_of(x.dtype))


def on_floats(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel of one array whose integers become floats before anything is computed."""

    def run(x: Any, **attributes: Any) -> Any:
        return kernel(as_floats(x), **attributes)

    return run


def are_inside(places: Any, size: Size, from_end: bool = False) -> bool:
    """Whether integers, an array if they are known, are proved to be in 0 .. size - 1.

    With `from_end` they may also be in -size .. -1.

    >>> are_inside(np.array([0, 3]), 4), are_inside(np.array([-1]), 4, from_end=True)
    (True, True)
    """
    if not isinstance(places, np.ndarray):
        return False
    if not places.size:
        return True
    least, largest = int(places.min()), int(places.max())
    if least < 0 and not (from_end and less_equal(-least, size) is True):
        return False
    return less(largest, size) is True


def require_places(what: str, places: Any, size: Size) -> Any:
    """Places along an axis that are not counted from its end: IndexError for those outside of it.

    In a Program a negative one becomes the size, which the operator that reads there refuses.
    """
    if active() is not None:
        return F.where(F.less_than(places, 0), F.cast(size, places.dtype), places)
    numbers = np.asarray(places)
    if numbers.size:
        for number in (int(numbers.min()), int(numbers.max())):
            if not 0 <= number < size:
                raise PlaceError(f"{what} {number} is not in 0 .. {size - 1}")
    return places


def with_floats(x: Any) -> Any:
    """A tensor, as float32 if it holds integers or bools."""
    return F.cast(x, "float32") if dtype_of(x).kind in "iub" else x


def require_fitting(dtype: np.dtype[Any], into: np.dtype[Any]) -> None:
    """DTypeError unless numbers of a dtype may be put among those of another one."""
    if into.kind != "c" and dtype.kind == "c":
        raise DTypeError(f"complex numbers do not fit into {into}: take real(x), imag(x) or abs(x)")


def fitted(value: Any, dtype: np.dtype[Any]) -> Any:
    """A value in the dtype of what it is put into; DTypeError of complex ones for real ones."""
    require_fitting(dtype_of(value), dtype)
    return F.cast(value, dtype)


def holomorphic(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule for gradients of a complex function, of the rule as it is written for a real one.

    Where w = f(z) has a derivative, the gradient dL/d(real z) + i dL/d(imag z) is g * conj(f'(z)):
    the conjugate of what the rule makes of conj(g).
    """

    def gradient(g: Any, y: Any, *inputs: Any, **attributes: Any) -> Any:
        if dtype_of(g).kind != "c":
            return rule(g, y, *inputs, **attributes)
        found = rule(F.conj(g), y, *inputs, **attributes)
        return tuple(map(_conjugate, found)) if isinstance(found, tuple) else _conjugate(found)

    return gradient


def _conjugate(entry: Any) -> Any:
    if entry is None:
        return None
    return (lambda: F.conj(entry())) if callable(entry) else F.conj(entry)


def require_floats(name: str, x: TensorType) -> TensorType:
    """The type of x; DTypeError unless it is a float."""
    if not x.is_floating:
        raise DTypeError(f"{name} takes floats, not a tensor of dtype {x.dtype}")
    return x


def require_dtype(name: str, type: TensorType, kinds: str, wanted: str) -> None:
    """DTypeError unless the kind of the dtype is among `kinds` ("f", "iu", "b")."""
    if type.dtype.kind not in kinds:
        raise DTypeError(f"{name} takes {wanted}, not a tensor of dtype {type.dtype}")


PAIRS = (
    Sample(((2, 3), (2, 3))),
    Sample(((2, 3), (3,))),
    Sample(((2, 1), (1, 3))),
    Sample(((), (2,))),
    Sample(((0, 3), (1, 3))),
)


def define_binary(
    name: str,
    doc: str,
    kernel: Callable[..., Any],
    gradient: Callable[..., Any] | None,
    samples: tuple[Sample, ...] = PAIRS,
    no_bool: bool = False,
    gives_floats: Callable[..., Any] | None = None,
    data: Callable[..., Any] | bool | None = None,
    takes: tuple[str, str] | None = None,
    **facts: Any,
) -> None:
    """Define an operator on two tensors of one dtype whose result has that dtype.

    `takes` are the kinds of dtypes if not all may be, and what they are: ("iu", "integers").
    """
    rule = broadcasting(name)

    def infer(x: TensorType, y: TensorType) -> TensorType:
        if takes is not None:
            require_dtype(name, x, *takes)
        result = x if x.shape is y.shape else rule(x, y)
        if no_bool and result.dtype.kind == "b":
            raise DTypeError(f"{name} takes numbers, not bools: use logical_xor or cast first")
        if gives_floats and result.dtype.kind in "iub":
            return result.with_dtype(gives_floats(np.ones((), x.dtype), np.ones((), x.dtype)).dtype)
        if name in ("floor_divide", "remainder", "pow") and result.dtype.kind == "b":
            return result.with_dtype("int8")
        return result

    define(
        name,
        doc=doc,
        inputs="x, y",
        promote=True,
        infer=infer,
        kernel=kernel,
        gradient=gradient,
        data=data,
        kind=Kind.BROADCAST,
        samples=samples,
        **facts,
    )
