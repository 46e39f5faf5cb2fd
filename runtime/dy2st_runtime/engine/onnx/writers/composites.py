"""Operators that ONNX lacks, as operators of ours that it has; and sizes that tensors hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dy2st_runtime.engine.onnx.graph import Graph
from dy2st_runtime.engine.onnx.nodes import FLOAT64, INT64, Value
from dy2st_runtime.engine.onnx.table import made_of, write
from dy2st_runtime.engine.onnx.writers.shapes import is_positive
from dy2st_runtime.ir import F, apply
from dy2st_runtime.ops.control_flow import while_loop


@made_of("atan2")
def _atan2(y: Any, x: Any) -> Any:
    """By the quadrant; zeros and infinities as C has them."""
    y, x = _as_floats(y), _as_floats(x)
    both = F.logical_and(F.isinf(y), F.isinf(x))
    ratio = F.where(both, F.sign(y) * F.sign(x), y / F.where(F.equal(x, 0), F.ones_like(x), x))
    down = F.logical_or(F.less_than(y, 0), apply("signbit", y))
    half = F.where(down, F.full_like(y, -math.pi), F.full_like(y, math.pi))
    is_left = F.logical_or(F.less_than(x, 0), F.logical_and(F.equal(x, 0), apply("signbit", x)))
    plain = F.atan(ratio) + F.where(is_left, half, F.zeros_like(half))
    upright = F.where(F.equal(y, 0), F.where(is_left, half, y), half / 2)
    made = F.where(F.logical_and(F.equal(x, 0), F.equal(y, y)), upright, plain)
    is_flat = F.logical_and(F.equal(y, 0), F.greater_than(F.abs(x), 0))
    return F.where(is_flat, F.where(is_left, half, y), made)


def _as_floats(x: Any) -> Any:
    return x if x.dtype.kind in "fV" else F.cast(x, "float64")


@made_of("gcd")
def _gcd(x: Any, y: Any) -> Any:
    x, y = F.abs(x + F.zeros_like(y)), F.abs(y + F.zeros_like(x))

    def step(a: Any, b: Any) -> Any:
        is_over = F.equal(b, 0)
        rest = F.remainder(a, F.where(is_over, F.ones_like(b), b))
        return [F.where(is_over, a, b), F.where(is_over, b, rest)]

    return while_loop(lambda a, b: F.any(F.not_equal(b, 0)), step, [x, y])[0]


@made_of("lcm")
def _lcm(x: Any, y: Any) -> Any:
    common = _gcd(x, y)
    one = F.where(F.equal(common, 0), F.ones_like(common), common)
    return F.abs(x) // one * F.abs(y)


def _power_of_two(y: Any) -> Any:
    """2**y of int64, for y from 0 to 63."""
    table = F.assign(np.left_shift(np.int64(1), np.arange(64, dtype=np.int64)))
    return apply("index", table, F.clip(F.cast(y, "int64"), 0, 63), axes=(0,))


@made_of("left_shift")
def _left_shift(x: Any, y: Any) -> Any:
    bits = x.dtype.itemsize * 8
    inside = F.logical_and(F.greater_equal(y, 0), F.less_than(y, bits))
    made = F.cast(F.cast(x, "int64") * _power_of_two(y), x.dtype)
    return F.where(inside, made, F.zeros_like(made))


@made_of("right_shift")
def _right_shift(x: Any, y: Any) -> Any:
    bits = x.dtype.itemsize * 8
    inside = F.logical_and(F.greater_equal(y, 0), F.less_than(y, min(bits, 63)))
    wide = F.cast(x, "int64")
    made = F.floor_divide(wide, F.where(inside, _power_of_two(y), F.ones_like(_power_of_two(y))))
    rest = F.where(F.less_than(wide, 0), F.full_like(wide, -1), F.zeros_like(wide))
    return F.cast(F.where(inside, made, rest), x.dtype)


@made_of("frexp")
def _frexp(x: Any) -> Any:
    """By the logarithm, put right where it is off by one."""
    own = x.dtype
    x = F.cast(x, "float64") if own.itemsize < 8 else x
    is_plain = F.logical_and(F.isfinite(x), F.not_equal(x, 0))
    safe = F.where(is_plain, F.abs(x), F.ones_like(x))
    exponent = F.floor(apply("log2", safe)) + 1.0
    half = F.floor(exponent / 2.0)
    part = safe * F.pow(F.full_like(x, 2.0), -half) * F.pow(F.full_like(x, 2.0), half - exponent)
    is_much, is_little = F.greater_equal(part, 1.0), F.less_than(part, 0.5)
    part = F.where(is_much, part * 0.5, F.where(is_little, part * 2.0, part))
    exponent = exponent + F.cast(is_much, x.dtype) - F.cast(is_little, x.dtype)
    mantissa = F.where(is_plain, F.sign(x) * part, x)
    return F.cast(mantissa, own), F.cast(F.where(is_plain, exponent, F.zeros_like(x)), "int32")


@made_of("lgamma")
def _lgamma(x: Any) -> Any:
    """Lanczos' series, and the reflection of it below 1/2."""
    own = x.dtype
    x = F.cast(x, "float64")
    is_low = F.less_than(x, 0.5)
    z = F.where(is_low, 1.0 - x, x) - 1.0
    total = F.full_like(z, _LANCZOS[0])
    for place, factor in enumerate(_LANCZOS[1:], 1):
        total = total + factor / (z + float(place))
    t = z + 7.5
    made = 0.5 * math.log(2 * math.pi) + (z + 0.5) * F.log(t) - t + F.log(total)
    whole = F.equal(x, F.floor(x))
    sine = F.abs(F.sin(math.pi * (x - F.floor(x))))
    low = math.log(math.pi) - F.log(F.where(whole, F.ones_like(x), sine)) - made
    pole = F.logical_and(whole, F.less_equal(x, 0))
    found = F.where(is_low, low, made)
    infinite = F.logical_or(pole, F.isinf(x))
    return F.cast(F.where(infinite, F.full_like(x, math.inf), found), own)


_LANCZOS = (
    *(0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313),
    *(-176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6),
    1.5056327351493116e-7,
)


# -- sizes that tensors hold ---------------------------------------------------------------------


@write("dynamic_reshape")
def _reshape(g: Graph, x: Value, shape: Value, known: Any) -> Value:
    """0 is the size of x, and -1 what is left, as ONNX has it; of no elements 0 is 0."""
    wanted, own = _vector(g, shape), x.shape or ()
    if all(map(is_positive, own)) or g.opset < 14:
        return g.op("Reshape", x, wanted)
    count = g.result.rank
    sizes = g.ints([*own, *[1] * (count - len(own))][:count])
    is_zero = g.op("Equal", wanted, g.int64s([0]))
    has_none = g.op("Equal", g.op("Size", x, dtype=INT64, shape=()), g.const(np.int64(0)))
    is_copied = g.op("And", is_zero, g.op("Not", has_none))
    return g.op("Reshape", x, g.where(is_copied, sizes, wanted), allowzero=1)


def _vector(g: Graph, x: Value) -> Value:
    return g.op("Reshape", g.cast(x, INT64), g.int64s([-1]))


@write("dynamic_squeeze")
def _squeeze(g: Graph, x: Value, axis: Value) -> Value:
    return g.op("Squeeze", x, _vector(g, axis))


@write("dynamic_unsqueeze")
def _unsqueeze(g: Graph, x: Value, axis: Value) -> Value:
    return g.op("Unsqueeze", x, _vector(g, axis))


@write("dynamic_full")
def _full(g: Graph, shape: Value, value: Any, dtype: Any, known: Any) -> Value:
    return g.op("Expand", g.const(np.asarray(value).astype(dtype)), _vector(g, shape))


@write("dynamic_broadcast_to")
def _broadcast_to(g: Graph, x: Value, shape: Value, known: Any) -> Value:
    """-1 is the size of x, which 1 leaves as it is."""
    wanted = _vector(g, shape)
    is_own = g.op("Less", wanted, g.const(np.int64(0)))
    return g.op("Expand", x, g.where(is_own, g.const(np.int64(1)), wanted))


@write("dynamic_tile")
def _tile(g: Graph, x: Value, repeats: Value) -> Value:
    rank, count = x.rank, g.result.rank
    times = _vector(g, repeats)
    own = (repeats.shape or (1,))[0] if repeats.shape else 1
    if rank < count:
        x = g.unsqueeze(x, list(range(count - rank)))
    if isinstance(own, int) and own < count:
        times = g.concat([g.int64s([1] * (count - own)), times], 0)
    return g.op("Tile", x, times)


@write("dynamic_arange")
def _arange(g: Graph, start: Value, end: Value, step: Value, dtype: Any) -> Value:
    parts = (start, end, step)
    is_float = any(part.dtype.kind not in "iub" for part in parts)
    own = FLOAT64 if is_float else INT64
    values = [g.reshape(g.cast(part, own), ()) for part in parts]
    g.require(g.op("Not", g.op("Equal", values[2], g.const(0, own)), shape=()))
    return g.cast(g.op("Range", *values), np.dtype(dtype))


@write("dynamic_strided_slice")
def _strided_slice(
    g: Graph, x: Value, starts: Value, ends: Value, strides: Value, axes: Any
) -> Value:
    bounds = [_vector(g, one) for one in (starts, ends)]
    return g.op("Slice", x, *bounds, g.int64s(axes), _vector(g, strides))
