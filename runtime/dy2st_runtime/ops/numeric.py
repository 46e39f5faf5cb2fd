"""Arithmetic element by element that few models use: composites of other operators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import Size, equal
from dy2st_runtime.dims import broadcast as joined
from dy2st_runtime.errors import ArgumentError, DTypeError
from dy2st_runtime.ir import F, Kind, Sample, Tensor, TensorType, apply, define, method, public
from dy2st_runtime.ir.arguments import as_shape, dtype_of, shape_of
from dy2st_runtime.ir.tracing.traced_list import TracedList
from dy2st_runtime.ir.types import largest
from dy2st_runtime.ops.rules import PAIRS, define_binary, with_floats
from dy2st_runtime.ops.short_floats import in_float32

# -- signs and parts --------------------------------------------------------------------------

define(
    "signbit",
    doc="Whether the sign is a minus, that of -0.0 too.",
    inputs="x",
    infer=lambda x: x.with_dtype("bool"),
    kernel=np.signbit,
    kind=Kind.ELEMENTWISE,
    samples=(Sample(((2, 3),)), Sample(((),)), Sample(((0, 2),))),
)


@method
def signbit(x: Any, name: str | None = None) -> Any:
    """Whether the sign is a minus, that of -0.0 too: (...,) -> (...,), bool.

    >>> dy2st.signbit(dy2st.to_tensor([-1.0, -0.0, 2.0])).tolist()
    [True, True, False]
    """
    return apply("signbit", x if dtype_of(x).kind != "b" else F.cast(x, "uint8"))


@method
def copysign(x: Any, y: Any, name: str | None = None) -> Any:
    """|x| with the sign of y, elementwise with broadcasting.

    >>> dy2st.copysign(dy2st.to_tensor([1.0, -2.0]), dy2st.to_tensor([-5.0, 5.0])).tolist()
    [-1.0, 2.0]
    """
    x, y = with_floats(x), with_floats(y)
    return F.where(F.equal(signbit(x), signbit(y)), x, F.neg(x))


@method
def frac(x: Any, name: str | None = None) -> Any:
    """x without its whole part: x - trunc(x).

    (...,) -> (...,).

    >>> dy2st.frac(dy2st.to_tensor([1.75, -1.25])).tolist()
    [0.75, -0.25]
    """
    return F.subtract(x, F.trunc(x))


@method
def sgn(x: Any, name: str | None = None) -> Any:
    """-1, 0 or 1; of complex numbers x / |x|, and 0 of 0.

    (...,) -> (...,).

    >>> dy2st.sgn(dy2st.to_tensor([-3.0, 0.0])).tolist()
    [-1.0, 0.0]
    """
    return F.sign(x)


@method
def positive(x: Any, name: str | None = None) -> Any:
    """+x, which is x: (...,) -> (...,).

    >>> dy2st.positive(dy2st.to_tensor([-3.0, 2.0])).tolist()
    [-3.0, 2.0]
    """
    return F.assign(x)


def _frexp_infer(x: TensorType) -> tuple[TensorType, TensorType]:
    if not x.is_floating:
        raise DTypeError(f"frexp takes floats, not a tensor of dtype {x.dtype}")
    return x, x


def _frexp_kernel(x: Any) -> Any:
    mantissa, exponent = np.frexp(x)
    return mantissa, exponent.astype(x.dtype)


define(
    "frexp",
    doc="m and e with x = m * 2**e and 0.5 <= |m| < 1.",
    inputs="x",
    infer=_frexp_infer,
    kernel=_frexp_kernel,
    # m is x * 2**-e, and e does not change with x.
    gradient=lambda g, y, x: None if g[0] is None else g[0] * F.pow(2.0, -F.detach(y[1])),
    samples=(Sample(((2, 3),)), Sample(((),))),
)


@method
def frexp(x: Any, name: str | None = None) -> Any:
    """m and e with x = m * 2**e and 0.5 <= |m| < 1; both have the dtype of x.

    (...,) -> two of (...,).

    >>> mantissa, exponent = dy2st.frexp(dy2st.to_tensor([8.0, 0.75]))
    >>> mantissa.tolist(), exponent.tolist()
    ([0.5, 0.75], [4.0, 0.0])
    """
    return apply("frexp", x)


# -- two tensors ------------------------------------------------------------------------------


for _name, _doc, _kernel in (
    ("gcd", "The greatest common divisor.", np.gcd),
    ("lcm", "The least common multiple.", np.lcm),
    ("left_shift", "x * 2**y, without the bits that leave on the left.", np.left_shift),
    ("right_shift", "floor(x / 2**y).", np.right_shift),
):
    define_binary(
        _name,
        _doc,
        _kernel,
        None,
        samples=tuple(
            Sample(pair.shapes, dtypes=("int64", "int64"), low=1, high=9) for pair in PAIRS
        ),
        takes=("iu", "integers"),
    )
define_binary(
    "nextafter", "The next float from x on to y.", np.nextafter, None, gives_floats=np.nextafter
)


@method
def gcd(x: Any, y: Any, name: str | None = None) -> Any:
    """The greatest common divisor of integers, elementwise with broadcasting.

    Raises DTypeError for other dtypes.

    >>> dy2st.gcd(dy2st.to_tensor([12, 7]), dy2st.to_tensor([18, 5])).tolist()
    [6, 1]
    """
    _require_integers("gcd", x, y)
    return apply("gcd", x, y)


@method
def lcm(x: Any, y: Any, name: str | None = None) -> Any:
    """The least common multiple of integers, elementwise with broadcasting.

    Raises DTypeError for other dtypes.

    >>> dy2st.lcm(dy2st.to_tensor([4, 3]), dy2st.to_tensor([6, 5])).tolist()
    [12, 15]
    """
    _require_integers("lcm", x, y)
    return apply("lcm", x, y)


@method
def bitwise_left_shift(
    x: Any, y: Any, is_arithmetic: bool = True, out: Any = None, name: str | None = None
) -> Any:
    """x * 2**y of integers, without the bits that leave on the left: (...,), (...,) -> (...,).

    >>> dy2st.bitwise_left_shift(dy2st.to_tensor([1, 5]), 2).tolist()
    [4, 20]
    """
    _require_integers("bitwise_left_shift", x, y)
    return apply("left_shift", x, y)


@method
def bitwise_right_shift(
    x: Any, y: Any, is_arithmetic: bool = True, out: Any = None, name: str | None = None
) -> Any:
    """floor(x / 2**y) of integers; without is_arithmetic zeros come in from the left.

    (...,), (...,) -> (...,).

    >>> dy2st.bitwise_right_shift(dy2st.to_tensor([20, -5]), 2).tolist()
    [5, -2]
    """
    _require_integers("bitwise_right_shift", x, y)
    dtype = dtype_of(x)
    if is_arithmetic or dtype.kind == "u":
        return apply("right_shift", x, y)
    unsigned = np.dtype(f"uint{8 * dtype.itemsize}")
    return F.cast(apply("right_shift", F.cast(x, unsigned), F.cast(y, unsigned)), dtype)


def _require_integers(name: str, *values: Any) -> None:
    for value in values:
        if dtype_of(value).kind not in "iu":
            raise DTypeError(f"{name} takes integers, not a tensor of dtype {dtype_of(value)}")


@method
def nextafter(x: Any, y: Any, name: str | None = None) -> Any:
    """The next float from x towards y, elementwise with broadcasting.

    >>> dy2st.nextafter(dy2st.to_tensor(1.0), dy2st.to_tensor(2.0)).item() == 1 + 2**-23
    True
    """
    return apply("nextafter", F.detach(x), F.detach(y))


@method
def heaviside(x: Any, y: Any, name: str | None = None) -> Any:
    """0 where x is below 0, y where x is 0, 1 above; NaN of NaN.

    (...,), (...,) -> (...,).

    >>> dy2st.heaviside(dy2st.to_tensor([-2.0, 0.0, 2.0]), dy2st.to_tensor(0.5)).tolist()
    [0.0, 0.5, 1.0]
    """
    above = F.cast(F.greater_than(x, 0), F.add(x, y).dtype)
    return F.where(F.isnan(x), F.cast(x, above.dtype), F.where(F.equal(x, 0), y, above))


@method
def hypot(x: Any, y: Any, name: str | None = None) -> Any:
    """sqrt(x**2 + y**2), elementwise with broadcasting.

    >>> dy2st.hypot(dy2st.to_tensor([3.0, 5.0]), dy2st.to_tensor([4.0, 12.0])).tolist()
    [5.0, 13.0]
    """
    return F.sqrt(F.add(F.square(with_floats(x)), F.square(with_floats(y))))


@method
def ldexp(x: Any, y: Any, name: str | None = None) -> Any:
    """x * 2**y, elementwise with broadcasting.

    >>> dy2st.ldexp(dy2st.to_tensor([1.0, 3.0]), dy2st.to_tensor([3, -1])).tolist()
    [8.0, 1.5]
    """
    return F.multiply(with_floats(x), F.pow(2.0, with_floats(y)))


@method
def fmax(x: Any, y: Any, name: str | None = None) -> Any:
    """The larger one, elementwise; the other one where one is NaN, the first of equal ones.

    >>> dy2st.fmax(dy2st.to_tensor([1.0, np.nan]), dy2st.to_tensor([2.0, 3.0])).tolist()
    [2.0, 3.0]
    """
    return F.where(F.logical_or(F.greater_equal(x, y), F.isnan(y)), x, y)


@method
def fmin(x: Any, y: Any, name: str | None = None) -> Any:
    """The smaller one, elementwise; the other one where one is NaN, the first of equal ones.

    >>> dy2st.fmin(dy2st.to_tensor([1.0, np.nan]), dy2st.to_tensor([2.0, 3.0])).tolist()
    [1.0, 3.0]
    """
    return F.where(F.logical_or(F.less_equal(x, y), F.isnan(y)), x, y)


# -- functions --------------------------------------------------------------------------------


@method
def deg2rad(x: Any, name: str | None = None) -> Any:
    """Degrees as radians: x * pi / 180.

    (...,) -> (...,).

    >>> print(dy2st.deg2rad(dy2st.to_tensor([180.0, 90.0])).round(3))
    [3.142 1.571]
    """
    return F.multiply(with_floats(x), math.pi / 180)


@method
def rad2deg(x: Any, name: str | None = None) -> Any:
    """Radians as degrees: x * 180 / pi.

    (...,) -> (...,).

    >>> print(dy2st.rad2deg(dy2st.to_tensor([np.pi, np.pi / 2])).round(3))
    [180.  90.]
    """
    return F.multiply(with_floats(x), 180 / math.pi)


@method
@in_float32
def logit(x: Any, eps: float | None = None, name: str | None = None) -> Any:
    """log(x / (1 - x)); x is limited to [eps, 1 - eps] first if eps is given.

    (...,) -> (...,).

    >>> print(dy2st.logit(dy2st.to_tensor([0.5, 0.9])).round(3))
    [0.    2.197]
    """
    if eps:
        x = F.clip(x, eps, 1 - eps)
    # x / (1 - x) near 1 has lost the digits of how near it is
    is_middle = F.less_than(F.abs(F.subtract(x, 0.5)), 0.25)
    inner, outer = F.where(is_middle, x, 0.5), F.where(is_middle, 0.5, x)
    near = F.log1p(F.divide(F.subtract(F.multiply(inner, 2.0), 1.0), F.subtract(1.0, inner)))
    return F.where(is_middle, near, F.log(F.divide(outer, F.subtract(1.0, outer))))


@method
@in_float32
def stanh(x: Any, scale_a: float = 0.67, scale_b: float = 1.7159, name: str | None = None) -> Any:
    """scale_b * tanh(scale_a * x): (...,) -> (...,).

    >>> print(dy2st.stanh(dy2st.to_tensor([0.0, 1.0])).round(3))
    [0.    1.004]
    """
    return F.multiply(F.tanh(F.multiply(x, scale_a)), scale_b)


@method
@in_float32
def sinc(x: Any, name: str | None = None) -> Any:
    """sin(pi x) / (pi x), 1 at 0: (...,) -> (...,).

    >>> print(dy2st.sinc(dy2st.to_tensor([0.0, 0.5])).round(3))
    [1.    0.637]
    """
    is_zero = F.equal(x, 0)
    x = F.where(is_zero, F.ones_like(x), x)
    half_periods = F.round(F.real(x))  # without them the angle is exact, and 0 at whole numbers
    wave = F.sin(F.multiply(F.subtract(x, half_periods), math.pi))
    is_odd = F.not_equal(F.floor(F.multiply(half_periods, 0.5)), F.multiply(half_periods, 0.5))
    wave = F.divide(F.where(is_odd, F.neg(wave), wave), math.pi)
    return F.where(is_zero, F.ones_like(x), F.divide(wave, x))


@method
def nan_to_num(
    x: Any,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
    name: str | None = None,
) -> Any:
    """x with numbers in place of NaN, inf and -inf: the largest of the dtype if none is given.

    (...,) -> (...,).

    >>> x = dy2st.to_tensor([np.nan, np.inf, 1.0])
    >>> dy2st.nan_to_num(x, posinf=99.0).tolist()
    [0.0, 99.0, 1.0]
    """
    if x.dtype.kind in "iub":
        return F.assign(x)
    limit = float(largest(x.dtype))
    most = limit if posinf is None else posinf
    least = -limit if neginf is None else neginf
    x = F.masked_fill(x, F.isnan(x), nan)
    return F.masked_fill(F.masked_fill(x, isposinf(x), most), isneginf(x), least)


@method
def isposinf(x: Any, name: str | None = None) -> Any:
    """Whether an element is inf: (...,) -> (...,), bool.

    >>> dy2st.isposinf(dy2st.to_tensor([np.inf, -np.inf, 1.0])).tolist()
    [True, False, False]
    """
    return F.equal(x, math.inf)


@method
def isneginf(x: Any, name: str | None = None) -> Any:
    """Whether an element is -inf: (...,) -> (...,), bool.

    >>> dy2st.isneginf(dy2st.to_tensor([np.inf, -np.inf, 1.0])).tolist()
    [False, True, False]
    """
    return F.equal(x, -math.inf)


@method
def isreal(x: Any, name: str | None = None) -> Any:
    """Whether the imaginary part of an element is 0: (...,) -> (...,), bool.

    >>> dy2st.isreal(dy2st.to_tensor([1 + 0j, 1j])).tolist()
    [True, False]
    """
    return F.equal(F.imag(x), 0)


@method
def isin(
    x: Any, test_x: Any, assume_unique: bool = False, invert: bool = False, name: str | None = None
) -> Any:
    """Whether each element is one of those of `test_x`, or with `invert` whether it is none.

    (...,), (n,) -> (...,), bool.

    >>> dy2st.isin(dy2st.to_tensor([1, 2, 3]), dy2st.to_tensor([3, 1])).tolist()
    [True, False, True]
    """
    found = F.any(F.equal(F.unsqueeze(x, -1), F.flatten(test_x)), axis=-1)
    return F.logical_not(found) if invert else found


# -- what a tensor is -------------------------------------------------------------------------


@method
def is_complex(x: Any) -> bool:
    """Whether the elements are complex numbers.

    >>> dy2st.is_complex(dy2st.to_tensor([1j])), dy2st.is_complex(dy2st.to_tensor([1.0]))
    (True, False)
    """
    return dtype_of(x).kind == "c"


@method
def is_floating_point(x: Any) -> bool:
    """Whether the dtype is a float.

    >>> x = dy2st.to_tensor([1.0])
    >>> dy2st.is_floating_point(x), x.astype("int64").is_floating_point()
    (True, False)
    """
    return TensorType(dtype_of(x), ()).is_floating


@method
def is_integer(x: Any) -> bool:
    """Whether the dtype is an integer.

    >>> dy2st.is_integer(dy2st.to_tensor([1])), dy2st.is_integer(dy2st.to_tensor([1.0]))
    (True, False)
    """
    return dtype_of(x).kind in "iu"


@method
def is_empty(x: Any, name: str | None = None) -> Any:
    """Whether there are no elements: a 0-d bool tensor.

    >>> dy2st.is_empty(dy2st.zeros([0, 3])).item()
    True
    """
    return F.equal(F.numel(x), 0)


@method
def equal_all(x: Any, y: Any, name: str | None = None) -> Any:
    """Whether two tensors have the same shape and elements: a 0-d bool tensor.

    >>> x = dy2st.to_tensor([1, 2])
    >>> dy2st.equal_all(x, x).item(), dy2st.equal_all(x, dy2st.to_tensor([1])).item()
    (True, False)
    """
    left, right = shape_of(x), shape_of(y)
    pairs = zip(left, right, strict=False)
    if len(left) != len(right) or any(equal(a, b) is False for a, b in pairs):
        return F.full([], False, "bool")
    return F.all(F.equal(x, y))


@public
def broadcast_shape(x_shape: Sequence[Size], y_shape: Sequence[Size]) -> list[Size]:
    """The shape of what is computed of two tensors element by element.

    Raises ShapeError if they do not broadcast.

    >>> dy2st.broadcast_shape([2, 1, 3], [4, 1])
    [2, 4, 3]
    """
    rank = max(len(x_shape), len(y_shape))
    left = [1] * (rank - len(x_shape)) + list(as_shape(x_shape))
    right = [1] * (rank - len(y_shape)) + list(as_shape(y_shape))
    return [joined(a, b) for a, b in zip(left, right, strict=True)]


@public
def broadcast_shapes(*shapes: Sequence[Size]) -> list[Size]:
    """The shape of what is computed of several tensors element by element.

    >>> dy2st.broadcast_shapes([2, 1, 3], [4, 1], [3])
    [2, 4, 3]
    """
    found: list[Size] = []
    for shape in shapes:
        found = broadcast_shape(found, shape)
    return found


# -- several tensors --------------------------------------------------------------------------


@method
def add_n(inputs: Any, name: str | None = None) -> Any:
    """The sum of tensors of one shape: a list of (...,) -> (...,).

    >>> dy2st.add_n([dy2st.to_tensor([1, 2]), dy2st.to_tensor([3, 4])]).tolist()
    [4, 6]
    """
    if isinstance(inputs, Tensor):
        return F.assign(inputs)
    if type(inputs) is TracedList:
        summed = inputs.of_python()
        return F.cast(F.sum(summed, 0), summed.dtype)
    if not inputs:
        raise ArgumentError("add_n of an empty list")
    total = F.assign(inputs[0])
    for tensor in inputs[1:]:
        total = F.add(total, tensor)
    return total


@method
def multiplex(inputs: Any, index: Any, name: str | None = None) -> Any:
    """Row i of the tensor that index[i] chooses: several of (n, ...), (n, 1) -> (n, ...).

    >>> rows = [dy2st.to_tensor([[1, 2], [3, 4]]), dy2st.to_tensor([[5, 6], [7, 8]])]
    >>> dy2st.multiplex(rows, dy2st.to_tensor([[1], [0]])).tolist()
    [[5, 6], [3, 4]]
    """
    stacked, chosen = F.stack(list(inputs)), F.flatten(index)
    return stacked[F.cast(chosen, "int64"), F.arange(shape_of(inputs[0])[0])]


@method
def shard_index(
    input: Any, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1
) -> Any:
    """Places within shard `shard_id` of `nshards`; `ignore_value` for those of other shards.

    (...,) -> (...,).

    Each shard has ceil(index_num / nshards) of the `index_num` places.

    >>> dy2st.shard_index(dy2st.to_tensor([[1], [6], [12]]), 20, 2, 0).tolist()
    [[1], [6], [-1]]
    >>> dy2st.shard_index(dy2st.to_tensor([[1], [6], [12]]), 20, 2, 1).tolist()
    [[-1], [-1], [2]]
    """
    if not 0 <= shard_id < nshards:
        raise ArgumentError(f"shard_index: shard {shard_id} of {nshards}")
    size = (index_num + nshards - 1) // nshards
    is_here = F.equal(F.floor_divide(input, size), shard_id)
    return F.where(is_here, F.remainder(input, size), F.full_like(input, ignore_value))


@method
def reduce_as(x: Any, target: Any, name: str | None = None) -> Any:
    """The sums of x in the shape of `target`, which broadcasts to that of x: (n, m), (m,) -> (m,).

    >>> dy2st.reduce_as(dy2st.ones([2, 3]), dy2st.zeros([3])).tolist()
    [2.0, 2.0, 2.0]
    """
    return F.sum_to(F.cast(x, "int64") if x.dtype.kind == "b" else x, shape_of(target))


define_binary(
    "logaddexp",
    "log(exp(x) + exp(y)), without overflow.",
    np.logaddexp,
    lambda g, z, x, y: (
        lambda: F.sum_to(g * F.exp(x - z), x.shape),
        lambda: F.sum_to(g * F.exp(y - z), y.shape),
    ),
    gives_floats=np.logaddexp,
    commutes=True,
)


@method
def logaddexp(x: Any, y: Any, name: str | None = None) -> Tensor:
    """log(exp(x) + exp(y)) without overflow, elementwise with broadcasting.

    >>> print(dy2st.logaddexp(dy2st.to_tensor([1000.0, 2000.0]), 0.0))
    [1000. 2000.]
    """
    return apply("logaddexp", x, y)  # type: ignore[no-any-return]
