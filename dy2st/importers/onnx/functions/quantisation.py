"""Quantised numbers: to and from them, products and convolutions of them.

Products of 8-bit integers are computed in floats that hold every sum exactly: a product of floats
is a call of BLAS, one of integers is a loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st.errors import ArgumentError
from dy2st.importers.onnx.functions.casts import LARGEST, cast
from dy2st.importers.onnx.functions.geometry import per_axis, window_pads
from dy2st_runtime.dims import Size, equal, product
from dy2st_runtime.ir import F, apply

RANGES = {
    "uint8": (0, 255),
    "int8": (-128, 127),
    "uint16": (0, 65535),
    "int16": (-32768, 32767),
    "uint4": (0, 15),
    "int4": (-8, 7),
    "uint2": (0, 3),
    "int2": (-2, 1),
}
"""The least and the largest number of each quantised integer."""
_SCALES = ("float16", "bfloat16", "float32", "float64")


def quantize_linear(
    x: Any,
    y_scale: Any,
    y_zero_point: Any = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: Any = None,
    precision: Any = None,
    saturate: int = 1,
) -> Any:
    """x / y_scale, rounded to the nearest (halves to even), + y_zero_point, within the dtype.

    >>> from dy2st_runtime.tensor import to_tensor
    >>> quantize_linear(to_tensor([-1.0, 3.0, 999.0]), to_tensor(2.0)).tolist()
    [0, 2, 255]
    """
    dtype = np.dtype("uint8") if output_dtype is None else np.dtype(output_dtype)
    if y_zero_point is not None:
        dtype = np.dtype(y_zero_point.dtype)
    exact = y_scale.dtype if precision is None else np.dtype(precision)
    if exact.name not in _SCALES:
        exact = x.dtype if x.dtype.name in _SCALES else np.dtype("float32")
    scale = _spread(F.cast(y_scale, exact), x, axis, block_size)
    ratio = F.cast(x, exact) / scale
    if dtype.name in LARGEST:
        return cast(ratio, to=dtype, saturate=saturate)
    zero = None
    if y_zero_point is not None:
        zero = _spread(F.cast(y_zero_point, "float32"), x, axis, block_size)
    if dtype.name not in RANGES:  # float4: its cast saturates
        return F.cast(ratio if zero is None else ratio + F.cast(zero, ratio.dtype), dtype)
    return _saturated(ratio, zero, dtype)


def _saturated(ratio: Any, zero: Any, dtype: Any) -> Any:
    """Rounded, moved by the zero point, and within the integers of the dtype."""
    # The zero point is added after rounding, as the standard's text has it: halves go to even.
    wide = F.round(ratio if ratio.dtype == "float64" else F.cast(ratio, "float32"))
    if zero is not None:
        wide = wide + F.cast(zero, wide.dtype)
    low, high = RANGES[np.dtype(dtype).name]
    return F.cast(F.clip(wide, float(low), float(high)), dtype)


def dequantize_linear(
    x: Any,
    x_scale: Any,
    x_zero_point: Any = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: Any = None,
) -> Any:
    """(x - x_zero_point) * x_scale, in the dtype of the scale unless another is asked for.

    >>> from dy2st_runtime.tensor import to_tensor
    >>> x = to_tensor([0, 3, 128], dtype="uint8")
    >>> dequantize_linear(x, to_tensor(2.0), to_tensor(128, dtype="uint8")).tolist()
    [-256.0, -250.0, 0.0]
    """
    dtype = x_scale.dtype if output_dtype is None else np.dtype(output_dtype)
    # A float32 has not all int32, which biases are.
    exact = "float64" if dtype == "float64" or x.dtype == "int32" else "float32"
    wide = F.cast(x, exact)
    if x_zero_point is not None:
        wide = wide - _spread(F.cast(x_zero_point, exact), x, axis, block_size)
    return F.cast(wide * _spread(F.cast(x_scale, exact), x, axis, block_size), dtype)


def _spread(value: Any, x: Any, axis: int, block_size: int) -> Any:
    """Scales or zero points so that they broadcast with x: of all of it, an axis, or blocks."""
    if value.ndim == 0:
        return value
    if not block_size:
        if value.ndim != 1:
            raise ArgumentError(f"scales of an axis have one axis, not {value.shape}")
        if equal(value.shape[0], 1) is True:
            return F.reshape(value, [])
        shape: list[Any] = [1] * x.ndim
        shape[axis] = value.shape[0]
        return F.reshape(value, shape)
    axis %= x.ndim
    blocks = F.expand(
        F.unsqueeze(value, [axis + 1]),
        [*value.shape[: axis + 1], block_size, *value.shape[axis + 1 :]],
    )
    shape = list(value.shape)
    shape[axis] = shape[axis] * block_size
    return F.slice(F.reshape(blocks, shape), [axis], [0], [x.shape[axis]])


def dynamic_quantize_linear(x: Any) -> tuple[Any, Any, Any]:
    """x as uint8, and the scale and zero point by which all of it, and 0, is in 0 .. 255."""
    largest, smallest = F.maximum(F.max(x), 0.0), F.minimum(F.min(x), 0.0)
    whole = F.cast(largest - smallest, x.dtype)
    scale = F.where(F.equal(whole, 0.0), F.ones_like(whole), whole) / F.full([], 255.0, x.dtype)
    zero = F.round(F.clip(0.0 - smallest / scale, 0.0, 255.0))
    return _saturated(x / scale, zero, "uint8"), scale, F.cast(zero, "uint8")


def matmul_integer(A: Any, B: Any, a_zero_point: Any = None, b_zero_point: Any = None) -> Any:
    """The product of 8-bit integers less their zero points, as int32."""
    return F.cast(_product(A, a_zero_point, B, b_zero_point), "int32")


def _product(a: Any, a_zero: Any, b: Any, b_zero: Any) -> Any:
    """(a - a_zero) @ (b - b_zero) in floats that hold it."""
    exact = _float_for([a.dtype, b.dtype], a.shape[-1])
    return F.matmul(_moved(a, _of_rows(a_zero, a), exact), _moved(b, _of_columns(b_zero, b), exact))


def _float_for(dtypes: Sequence[Any], terms: Size) -> str:
    """The float in which a sum of so many products of 8-bit integers is exact."""
    is_small = isinstance(terms, int) and terms <= _most_terms(dtypes)
    return "float32" if is_small else "float64"


def _most_terms(dtypes: Sequence[Any]) -> int:
    """So many products of two integers less their zero points add up in a float32."""
    return 2**24 // 255**2 if all(np.dtype(one).itemsize == 1 for one in dtypes) else 0


def _moved(x: Any, zero: Any, dtype: str) -> Any:
    wide = F.cast(x, dtype)
    return wide if zero is None else wide - F.cast(zero, dtype)


def _of_rows(value: Any, x: Any) -> Any:
    """One number for each row; a vector of several is a column."""
    if value is None or value.ndim != 1 or x.ndim < 2 or equal(value.shape[0], 1) is True:
        return value if value is None or value.ndim != 1 else _flat(value, x)
    return F.unsqueeze(value, [1])


def _of_columns(value: Any, x: Any) -> Any:
    return value if value is None or value.ndim != 1 else _flat(value, x)


def _flat(value: Any, x: Any) -> Any:
    """The only number of a vector as a scalar, so that products of vectors keep their axes."""
    return F.reshape(value, []) if equal(value.shape[0], 1) is True else value


def qlinear_matmul(
    a: Any,
    a_scale: Any,
    a_zero_point: Any,
    b: Any,
    b_scale: Any,
    b_zero_point: Any,
    y_scale: Any,
    y_zero_point: Any,
) -> Any:
    """The product of quantised matrices, quantised; scales of all, of rows or of columns."""
    total = F.cast(_product(a, a_zero_point, b, b_zero_point), "float64")
    scales = [_of_rows(a_scale, a), _of_columns(b_scale, b), _of_rows(y_scale, a)]
    first, second, last = (F.cast(scale, "float32") for scale in scales)
    ratio = total * F.cast(first * second / last, "float64")
    return _quantised(ratio, _of_rows(y_zero_point, a), y_zero_point, a.dtype)


def _quantised(ratio: Any, zero: Any, given: Any, otherwise: Any) -> Any:
    dtype = otherwise if given is None else given.dtype
    if np.dtype(dtype).name in LARGEST:
        return cast(ratio, to=dtype)
    return _saturated(ratio, zero, dtype)


def conv_integer(
    x: Any,
    w: Any,
    x_zero_point: Any = None,
    w_zero_point: Any = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Sequence[int] | None = None,
    group: int = 1,
    kernel_shape: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Any:
    """The convolution of 8-bit integers less their zero points, as int32.

    There are zeros around, after the zero point was taken from x.
    """
    geometry = (auto_pad, dilations, group, pads, strides)
    return F.cast(_convolution(x, x_zero_point, w, w_zero_point, *geometry), "int32")


def _convolution(
    x: Any,
    x_zero: Any,
    w: Any,
    w_zero: Any,
    auto_pad: str,
    dilations: Sequence[int] | None,
    group: int,
    pads: Sequence[int] | None,
    strides: Sequence[int] | None,
) -> Any:
    """(x - x_zero) convolved with (w - w_zero), in a dtype that holds it."""
    axes = x.ndim - 2
    steps, holes = per_axis(strides, axes), per_axis(dilations, axes)
    around = window_pads(x.shape[2:], w.shape[2:], steps, holes, pads, auto_pad)
    place: dict[str, Any] = {"strides": steps, "pads": around, "dilations": holes}
    channels, area = w.shape[1], product(w.shape[2:])
    exact = _float_for([x.dtype, w.dtype], channels * area)
    each = _most_terms([x.dtype, w.dtype]) // area if isinstance(area, int) else 0
    in_parts = exact == "float64" and group == 1 and isinstance(channels, int) and each > 0
    exact = "float32" if in_parts else exact
    x = _moved(x, x_zero if x_zero is None else F.reshape(x_zero, []), exact)
    w = _moved(w, _of_channels(w_zero, w.ndim), exact)
    if not in_parts:
        return apply("conv", x, w, **place, groups=group)
    # Few channels at a time are exact in float32, which is twice as fast as float64.
    total = None
    for start in range(0, channels, each):
        part = [F.slice(one, [1], [start], [min(start + each, channels)]) for one in (x, w)]
        found = F.cast(apply("conv", *part, **place), "int32")
        total = found if total is None else total + found
    return total


def _of_channels(value: Any, rank: int) -> Any:
    """One number for each filter, along the first axis of `rank`."""
    if value is None or value.ndim == 0:
        return value
    return F.reshape(value, [value.shape[0], *[1] * (rank - 1)])


def qlinear_conv(
    x: Any,
    x_scale: Any,
    x_zero_point: Any,
    w: Any,
    w_scale: Any,
    w_zero_point: Any,
    y_scale: Any,
    y_zero_point: Any,
    B: Any = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Sequence[int] | None = None,
    group: int = 1,
    kernel_shape: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Any:
    """The convolution of quantised numbers, quantised; scales of w may be one for each filter."""
    geometry = (auto_pad, dilations, group, pads, strides)
    total = F.cast(_convolution(x, x_zero_point, w, w_zero_point, *geometry), "float64")
    if B is not None:
        total = total + F.cast(_of_channels(B, x.ndim - 1), "float64")
    one, result = (F.cast(F.reshape(scale, []), "float32") for scale in (x_scale, y_scale))
    filters = F.cast(_of_channels(w_scale, x.ndim - 1), "float32")
    ratio = total * F.cast(one * filters / result, "float64")
    zero = None if y_zero_point is None else F.reshape(y_zero_point, [])
    return _quantised(ratio, zero, y_zero_point, x.dtype)


__all__ = [
    "RANGES",
    "conv_integer",
    "dequantize_linear",
    "dynamic_quantize_linear",
    "matmul_integer",
    "qlinear_conv",
    "qlinear_matmul",
    "quantize_linear",
]
