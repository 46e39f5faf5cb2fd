"""Elementwise arithmetic of two tensors, with broadcasting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st_runtime import dims
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F, Sample, Tensor, apply, method
from dy2st_runtime.ir.arguments import dtype_of
from dy2st_runtime.ops.rules import PAIRS, define_binary, holomorphic, of_sizes

_POSITIVE = tuple(Sample(s.shapes, low=0.5, high=2.0) for s in PAIRS)
_INTS = (Sample(((2, 3), (3,)), dtypes=("int64", "int64"), low=1, high=9),)


@holomorphic
def _multiply_gradient(g: Any, z: Any, x: Any, y: Any) -> Any:
    return lambda: F.sum_to(g * y, x.shape), lambda: F.sum_to(g * x, y.shape)


@holomorphic
def _divide_gradient(g: Any, z: Any, x: Any, y: Any) -> Any:
    return lambda: F.sum_to(g / y, x.shape), lambda: F.sum_to(-g * z / y, y.shape)


@holomorphic
def _pow_gradient(g: Any, z: Any, x: Any, y: Any) -> Any:
    def base() -> Any:
        # Where the exponent is 0 the power is constant, also at 0**0.
        slope = F.where(F.equal(y, 0), F.zeros_like(y), y * F.pow(x, y - 1))
        return F.sum_to(g * slope, x.shape)

    def exponent() -> Any:
        # log(0) stands where 0**y is 0: the slope there is 0, as the limit is.
        safe = F.where(F.equal(x, 0), F.ones_like(x), x)
        slope = F.where(F.equal(x, 0), F.zeros_like(z), z * F.log(safe))
        return F.sum_to(g * slope, y.shape)

    return base, exponent


def _larger_gradient(wins: str) -> Callable[..., Any]:
    """The larger (or smaller) operand gets the gradient; equal ones get half each."""

    def gradient(g: Any, z: Any, x: Any, y: Any) -> Any:
        def share(mine: Any, other: Any) -> Any:
            half = F.cast(F.equal(mine, other), g.dtype) * 0.5
            whole = F.cast(getattr(F, wins)(mine, other), g.dtype)
            return F.sum_to(g * (whole + half), mine.shape)

        return lambda: share(x, y), lambda: share(y, x)

    return gradient


def _atan2_gradient(g: Any, z: Any, x: Any, y: Any) -> Any:
    square = x * x + y * y
    return lambda: F.sum_to(g * y / square, x.shape), lambda: F.sum_to(-g * x / square, y.shape)


def _may_be_zero(x: Any, y: Any) -> bool:
    """Whether an integer division has no result."""
    if isinstance(y, np.ndarray):
        return y.dtype.kind in "iub" and not y.all()
    return y.dtype.kind in "iub"


def _dividing(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that raises for integers what Python does; NumPy gives 0 and a warning."""

    def kernel(x: Any, y: Any, out: Any = None) -> Any:
        if y.dtype.kind in "iub" and not (y.all() if y.ndim else y):
            raise ZeroDivisionError("an integer is divided by 0")
        return function(x, y, out=out)

    return kernel


define_binary(
    "add",
    "x + y.",
    np.add,
    lambda g, z, x, y: (lambda: F.sum_to(g, x.shape), lambda: F.sum_to(g, y.shape)),
    PAIRS + _INTS,
    data=True,
    commutes=True,
    takes_complex=True,
    cheap=True,
)
define_binary(
    "subtract",
    "x - y.",
    np.subtract,
    lambda g, z, x, y: (lambda: F.sum_to(g, x.shape), lambda: F.sum_to(-g, y.shape)),
    PAIRS + _INTS,
    no_bool=True,
    data=True,
    takes_complex=True,
    cheap=True,
)
define_binary(
    "multiply",
    "x * y.",
    np.multiply,
    _multiply_gradient,
    PAIRS + _INTS,
    takes_complex=True,
    data=True,
    commutes=True,
    cheap=True,
)
define_binary(
    "divide",
    "x / y; integers give a float.",
    np.true_divide,
    _divide_gradient,
    _POSITIVE + _INTS,
    takes_complex=True,
    gives_floats=np.true_divide,
    cheap=True,
)
define_binary(
    "floor_divide",
    "floor(x / y).",
    _dividing(np.floor_divide),
    None,
    (Sample(((2, 3), (3,)), low=0.6, high=0.9),) + _INTS,
    data=True,
    takes_out=True,
    raises=ZeroDivisionError,
    fails=_may_be_zero,
)
define_binary(
    "remainder",
    "x - floor(x / y) * y: has the sign of y.",
    _dividing(np.remainder),
    lambda g, z, x, y: (
        lambda: F.sum_to(g, x.shape),
        lambda: F.sum_to(-g * F.floor(x / y), y.shape),
    ),
    (Sample(((2, 3), (3,)), low=0.6, high=0.9),) + _INTS,
    data=True,
    takes_out=True,
    raises=ZeroDivisionError,
    fails=_may_be_zero,
)
define_binary(
    "pow",
    "x**y.",
    np.power,
    _pow_gradient,
    _POSITIVE + _INTS,
    takes_complex=True,
    raises=ValueError,
    # A power of integers may be no integer.
    fails=lambda x, y: (
        y.dtype.kind in "iu" and (not isinstance(y, np.ndarray) or bool((y < 0).any()))
    ),
)
define_binary(
    "maximum",
    "The larger of x and y; NaN wins.",
    np.maximum,
    _larger_gradient("greater_than"),
    PAIRS + _INTS,
    data=of_sizes(dims.maximum),
    commutes=True,
    same_bits=False,
    cheap=True,
)
define_binary(
    "minimum",
    "The smaller of x and y; NaN wins.",
    np.minimum,
    _larger_gradient("less_than"),
    PAIRS + _INTS,
    data=of_sizes(dims.minimum),
    commutes=True,
    same_bits=False,
    cheap=True,
)
define_binary(
    "atan2",
    "The angle of the point (y, x), in (-pi, pi].",
    lambda x, y: np.arctan2(x, y),
    _atan2_gradient,
    _POSITIVE,
    gives_floats=np.arctan2,
)


@method
def add(x: Any, y: Any, name: str | None = None, alpha: Any = 1) -> Tensor:
    """x + alpha * y, elementwise with broadcasting: (...,) + (...,) -> (...,).

    Tensors of two dtypes give the one that holds both, as `dy2st.set_promotion` says; ShapeError
    if the shapes do not broadcast.

    >>> dy2st.add(dy2st.to_tensor([1, 2]), dy2st.to_tensor([[10], [20]])).tolist()
    [[11, 12], [21, 22]]
    """
    return apply("add", x, _times(y, alpha))  # type: ignore[no-any-return]


@method
def subtract(x: Any, y: Any, name: str | None = None, alpha: Any = 1) -> Tensor:
    """x - alpha * y, elementwise with broadcasting: (...,) - (...,) -> (...,).

    >>> dy2st.subtract(dy2st.to_tensor([5, 7]), 2).tolist()
    [3, 5]
    """
    return apply("subtract", x, _times(y, alpha))  # type: ignore[no-any-return]


def _times(y: Any, alpha: Any) -> Any:
    return y if isinstance(alpha, int) and alpha == 1 else apply("multiply", y, alpha)


@method
def multiply(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * y, elementwise with broadcasting: (...,) * (...,) -> (...,).

    >>> dy2st.multiply(dy2st.to_tensor([1.0, 2.0]), dy2st.to_tensor([[2.0], [3.0]])).tolist()
    [[2.0, 4.0], [3.0, 6.0]]
    """
    return apply("multiply", x, y)  # type: ignore[no-any-return]


@method
def divide(x: Any, y: Any, name: str | None = None, rounding_mode: str | None = None) -> Tensor:
    """x / y, elementwise with broadcasting; integers give a float.

    rounding_mode: 'floor' rounds down and 'trunc' towards 0, in the dtype of the operands.

    >>> x = dy2st.to_tensor([-7, 7])
    >>> dy2st.divide(x, 2).tolist(), dy2st.divide(x, 2, rounding_mode="trunc").tolist()
    ([-3.5, 3.5], [-3, 3])
    """
    if rounding_mode is None:
        return apply("divide", x, y)  # type: ignore[no-any-return]
    if rounding_mode not in ("floor", "trunc"):
        raise ArgumentError(
            f"divide: rounding_mode is None, 'floor' or 'trunc', not {rounding_mode!r}"
        )
    down = apply("floor_divide", x, y)
    if rounding_mode == "floor":
        return down  # type: ignore[no-any-return]
    rest = apply("subtract", x, apply("multiply", down, y))
    is_short = F.logical_and(F.less_than(down, 0), F.not_equal(rest, 0))
    return F.where(is_short, down + 1, down)  # type: ignore[no-any-return]


@method
def floor_divide(x: Any, y: Any, name: str | None = None) -> Tensor:
    """floor(x / y), elementwise with broadcasting, in the dtype of the operands.

    >>> dy2st.floor_divide(dy2st.to_tensor([-7, 7]), 2).tolist()
    [-4, 3]
    """
    return apply("floor_divide", x, y)  # type: ignore[no-any-return]


@method
def remainder(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x - floor(x / y) * y, elementwise with broadcasting: has the sign of y, as in Python.

    >>> dy2st.remainder(dy2st.to_tensor([-7, 7]), 3).tolist()
    [2, 1]
    """
    return apply("remainder", x, y)  # type: ignore[no-any-return]


@method
def mod(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x - floor(x / y) * y: `remainder` under another name.

    >>> dy2st.mod(dy2st.to_tensor([-7, 7]), 3).tolist()
    [2, 1]
    """
    return remainder(x, y)


@method
def pow(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x**y, elementwise with broadcasting.

    >>> dy2st.pow(dy2st.to_tensor([2.0, 3.0]), 2).tolist()
    [4.0, 9.0]
    >>> dy2st.pow(2.0, dy2st.to_tensor([1.0, -1.0])).tolist()
    [2.0, 0.5]
    """
    return apply("pow", x, y)  # type: ignore[no-any-return]


@method
def maximum(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The larger of x and y, elementwise with broadcasting; equal ones share the gradient.

    >>> dy2st.maximum(dy2st.to_tensor([1, 5]), dy2st.to_tensor([3, 2])).tolist()
    [3, 5]
    """
    return apply("maximum", x, y)  # type: ignore[no-any-return]


@method
def minimum(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The smaller of x and y, elementwise with broadcasting; equal ones share the gradient.

    >>> dy2st.minimum(dy2st.to_tensor([1, 5]), dy2st.to_tensor([3, 2])).tolist()
    [1, 2]
    """
    return apply("minimum", x, y)  # type: ignore[no-any-return]


@method
def atan2(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The angle of the point (y, x) in radians, in [-pi, pi], elementwise with broadcasting.

    The first argument is the height: atan2(1, 0) is pi / 2.

    >>> print(dy2st.atan2(dy2st.to_tensor([1.0, 0.0]), dy2st.to_tensor([0.0, -1.0])).round(3))
    [1.571 3.142]
    """
    return apply("atan2", x, y)  # type: ignore[no-any-return]


@method
def lerp(x: Any, y: Any, weight: Any, name: str | None = None) -> Any:
    """x + weight * (y - x), and exactly y where the weight is 1: (...,), (...,), (...,) -> (...,).

    >>> dy2st.lerp(dy2st.to_tensor([0.0, 10.0]), dy2st.to_tensor([4.0, 20.0]), 0.25).tolist()
    [1.0, 12.5]
    """
    apart = y - x
    if not isinstance(weight, Tensor):
        return x + weight * apart if abs(weight) < 0.5 else y - (1 - weight) * apart
    if dtype_of(weight).kind == "c":
        return x + weight * apart
    is_low = F.less_than(F.abs(weight), 0.5)
    return F.where(is_low, x + weight * apart, y - (1.0 - weight) * apart)


@method
def scale(
    x: Any,
    scale: Any = 1.0,
    bias: Any = 0.0,
    bias_after_scale: bool = True,
    act: Any = None,
    name: str | None = None,
) -> Any:
    """x * scale + bias, or (x + bias) * scale without `bias_after_scale`; then `act` by its name.

    (...,) -> (...,).

    >>> dy2st.scale(dy2st.to_tensor([1.0, 2.0]), 10.0, bias=1.0).tolist()
    [11.0, 21.0]
    """
    y = x * scale + bias if bias_after_scale else (x + bias) * scale
    return y if act is None else getattr(F, act)(y)


@method
def increment(x: Any, value: float = 1.0, name: str | None = None) -> Any:
    """x + value in the dtype of x: (...,) -> (...,).

    >>> dy2st.increment(dy2st.to_tensor([3])).tolist()
    [4]
    """
    return F.cast(x + value, x.dtype)
