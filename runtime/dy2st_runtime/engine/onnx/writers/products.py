"""Products of matrices, convolutions, windows of pooling, and normalisation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import Dim, difference, product
from dy2st_runtime.engine.onnx.graph import Graph
from dy2st_runtime.engine.onnx.nodes import BOOL, FLOAT64, INT32, INT64, Value
from dy2st_runtime.engine.onnx.table import made_of, write
from dy2st_runtime.engine.onnx.writers.shapes import padded
from dy2st_runtime.ir import F, apply, is_floating


@write("matmul")
def _matmul(g: Graph, x: Value, y: Value) -> Value:
    """Vectors as matrices: onnxruntime joins a transposition and a product with one wrongly."""
    is_row, is_column = x.rank == 1, y.rank == 1
    if is_row and is_column:
        x, y = g.unsqueeze(x, [0]), g.unsqueeze(y, [1])
    elif is_row:
        x = g.unsqueeze(x, [0])
    elif is_column:
        y = g.unsqueeze(y, [1])
    gone = [-2] * is_row + [-1] * is_column
    shape = None if gone else g.result.shape
    if x.dtype == BOOL:
        x, y = g.cast(x, INT32), g.cast(y, INT32)
    made = g.op("MatMul", x, y, shape=shape)
    if gone:
        made = g.op("Squeeze", made, g.int64s(gone), shape=g.result.shape)
    return g.cast(made, BOOL) if g.result.dtype == BOOL else made


def _as_floats(g: Graph, *xs: Value | None) -> list[Any]:
    """Integers as float64: ONNX convolves floats alone."""
    return [x if x is None or is_floating(x.dtype) else g.cast(x, FLOAT64) for x in xs]


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(one, int) for pads in values for pair in pads for one in pair)


def _padded(g: Graph, x: Value, pads: Any, number: Any = 0) -> Value:
    """x with pads around its spatial axes, as a node of its own."""
    return padded(g, x, [(0, 0), (0, 0), *pads], number)


def _around(g: Graph, x: Value, pads: Any, number: Any = 0, most: Any = None) -> tuple[Value, Any]:
    """x and the pads that stay for an attribute: numbers from 0 on, below the size of a window."""
    is_plain = _are_numbers(pads) and all(one >= 0 for pair in pads for one in pair)
    if is_plain and most is not None:
        is_plain = all(max(pair) < size for pair, size in zip(pads, most, strict=True))
    if is_plain:
        return x, [*(b for b, _ in pads), *(a for _, a in pads)]
    return _padded(g, x, pads, number), [0] * (2 * len(pads))


@write("conv")
def _conv(
    g: Graph,
    x: Value,
    w: Value,
    bias: Value | None = None,
    *,
    strides: Any,
    pads: Any,
    dilations: Any,
    groups: int,
) -> Value:
    x, w, bias = _as_floats(g, x, w, bias)
    x, around = _around(g, x, pads)
    return g.op(
        "Conv",
        x,
        w,
        bias,
        strides=list(strides),
        pads=around,
        dilations=list(dilations),
        group=groups,
        kernel_shape=_kernel_shape(w),
        shape=g.result.shape,
    )


def _kernel_shape(w: Value) -> list[int] | None:
    sizes = (w.shape or ())[2:]
    return (
        [s for s in sizes if isinstance(s, int)] if all(isinstance(s, int) for s in sizes) else None
    )


@write("conv_transpose")
def _conv_transpose(
    g: Graph,
    x: Value,
    w: Value,
    bias: Value | None = None,
    *,
    sizes: Any,
    strides: Any,
    pads: Any,
    dilations: Any,
    groups: int,
) -> Value:
    x, w, bias = _as_floats(g, x, w, bias)
    kernel, depth = (w.shape or ())[2:], (w.shape or ())[:2]
    if groups > 1:
        # onnx.reference takes the bias of the first group for all, and knows only groups of one.
        how = dict(sizes=sizes, strides=strides, pads=pads, dilations=dilations)
        if depth != (groups, 1):
            return _with_bias(g, _transposed_groups(g, x, w, groups, how), bias)
        if bias is not None:
            made = _conv_transpose(g, x, w, groups=groups, **how)
            return _with_bias(g, made, bias)
    more = []
    for size, count, width, stride, dilation, (before, after) in zip(
        sizes, (x.shape or ())[2:], kernel, strides, dilations, pads, strict=True
    ):
        full = stride * (count - 1) + dilation * (width - 1) + 1
        more.append(difference(size, full - before - after))
    numbers = [n for pair in pads for n in pair]
    is_plain = all(
        isinstance(n, int) and 0 <= n < max(stride, 1) for n, stride in zip(more, strides)
    )
    how = {
        "strides": list(strides),
        "dilations": list(dilations),
        "group": groups,
        "kernel_shape": _kernel_shape(w),
    }
    if is_plain and all(isinstance(n, int) and n >= 0 for n in numbers):
        return g.op(
            "ConvTranspose",
            x,
            w,
            bias,
            output_padding=more if any(more) else None,
            pads=[*(b for b, _ in pads), *(a for _, a in pads)],
            shape=g.result.shape,
            **how,
        )
    made = g.op("ConvTranspose", x, w, **how)
    ends = [(-b if isinstance(b, int) and b < 0 else 0, s) for s, (b, _) in zip(sizes, pads)]
    made = _padded(g, made, ends)
    starts = [b if not (isinstance(b, int) and b < 0) else 0 for b, _ in pads]
    stops = [start + size for start, size in zip(starts, sizes, strict=True)]
    axes = list(range(2, 2 + len(sizes)))
    made = g.slice(made, starts, stops, axes, None, g.result.shape)
    return _with_bias(g, made, bias)


def _with_bias(g: Graph, x: Value, bias: Value | None) -> Value:
    """x and a number for each channel."""
    if bias is None:
        return x
    beside = g.reshape(bias, (1, (bias.shape or ())[0], *[1] * (g.result.rank - 2)))
    return g.op("Add", x, beside, shape=g.result.shape)


def _transposed_groups(g: Graph, x: Value, w: Value, groups: int, how: Any) -> Value:
    """Each group by itself, and the results beside each other."""
    xs = _parts(g, x, groups, 1)
    ws = _parts(g, w, groups, 0)
    made = [_conv_transpose(g, a, b, groups=1, **how) for a, b in zip(xs, ws, strict=True)]
    return g.concat(made, 1, g.result.shape)


def _parts(g: Graph, x: Value, count: int, axis: int) -> list[Value]:
    """x in equal parts along an axis whose size is known."""
    size = (x.shape or ())[axis]
    assert isinstance(size, int)
    shape = (*(x.shape or ())[:axis], size // count, *(x.shape or ())[axis + 1 :])
    made = g.ops("Split", x, g.int64s([size // count] * count), dtypes=[x.dtype] * count, axis=axis)
    return [Value(one.name, one.dtype, shape) for one in made]


@made_of("conv_weight")
def _conv_weight(
    x: Any, y: Any, kernel: Any, strides: Any, pads: Any, dilations: Any, groups: int
) -> Any:
    """A convolution of x with g as its filters, strides and dilations exchanged."""
    count, channels, *sizes = x.shape
    made, own = y.shape[1], channels // groups
    x = F.reshape(x, [count, groups, own, *sizes])
    axes = list(range(3, x.ndim))
    x = F.reshape(F.transpose(x, [2, 1, 0, *axes]), [own, groups * count, *sizes])
    y = F.transpose(y, [1, 0, *range(2, y.ndim)])
    w = apply(
        "conv", x, y, strides=tuple(dilations), pads=pads, dilations=tuple(strides), groups=groups
    )
    w = F.slice(w, list(range(2, w.ndim)), [0] * len(kernel), list(kernel))
    return F.reshape(F.transpose(w, [1, 0, *range(2, w.ndim)]), [made, own, *kernel])


# -- windows -------------------------------------------------------------------------------------


def _in_pool(g: Graph, x: Value) -> Value:
    """x in a dtype of MaxPool."""
    if is_floating(x.dtype) or x.dtype.name in ("int8", "uint8"):
        return g.longer(x)
    return g.cast(x, FLOAT64)


def lowest(dtype: Any) -> Any:
    """What is around a tensor of which the largest elements are sought."""
    return -np.inf if is_floating(dtype) else np.iinfo(dtype).min


def _are_even(pads: Any) -> bool:
    """Whether pads are numbers, as many before as behind: onnx.reference mixes up others."""
    return _are_numbers(pads) and all(before == behind for before, behind in pads)


@write("window_max")
def _window_max(g: Graph, x: Value, kernel: Any, strides: Any, pads: Any) -> Value:
    x = _in_pool(g, x)
    if not _are_even(pads):
        x, pads = _padded(g, x, pads, lowest(x.dtype)), ((0, 0),) * len(kernel)
    x, around = _around(g, x, pads, lowest(x.dtype), kernel)
    return g.op(
        "MaxPool",
        x,
        kernel_shape=list(kernel),
        strides=list(strides),
        pads=around,
        shape=g.result.shape,
    )


@write("max_pool")
def _max_pool(g: Graph, x: Value, kernel: Any, strides: Any, pads: Any) -> list[Value]:
    """ONNX counts places through the whole tensor; here each plane has its own."""
    x = _in_pool(g, x)
    sizes = (x.shape or ())[2:]
    is_plain = _are_even(pads) and all(0 <= pair[0] < k for pair, k in zip(pads, kernel))
    if is_plain:
        around = [*(b for b, _ in pads), *(a for _, a in pads)]
    else:
        x, around = _padded(g, x, pads, lowest(x.dtype)), [0] * (2 * len(kernel))
        widths = [size + b + a for size, (b, a) in zip(sizes, pads, strict=True)]
    values, places = g.ops(
        "MaxPool",
        x,
        dtypes=(None, INT64),
        kernel_shape=list(kernel),
        strides=list(strides),
        pads=around,
    )
    if is_plain:
        return [values, g.op("Mod", places, g.number(product(sizes)))]
    places = g.op("Mod", places, g.number(product(widths)))
    found, step, own = None, 1, 1
    for size, wide, (before, _) in reversed(list(zip(sizes, widths, pads, strict=True))):
        place = g.op("Mod", g.op("Div", places, g.number(step)), g.number(wide))
        place = g.op("Mul", g.op("Sub", place, g.number(before)), g.number(own))
        found = place if found is None else g.op("Add", found, place)
        step, own = step * wide, own * size
    return [values, found] if found is not None else [values, places]


@write("window_sum")
def _window_sum(g: Graph, x: Value, kernel: Any, strides: Any, pads: Any) -> Value:
    x = g.longer(x) if is_floating(x.dtype) else g.cast(x, FLOAT64)
    x, around = _around(g, x, pads, 0, kernel)
    mean = g.op(
        "AveragePool",
        x,
        kernel_shape=list(kernel),
        strides=list(strides),
        pads=around,
        count_include_pad=1,
    )
    return g.op("Mul", mean, g.like(mean, product(kernel)), shape=g.result.shape)


@made_of("window_spread")
def _window_spread(x: Any, sizes: Any, kernel: Any, strides: Any, pads: Any) -> Any:
    count, channels, *own = x.shape
    flat = F.reshape(x, [count * channels, 1, *own])
    made = apply(
        "conv_transpose",
        flat,
        F.full([1, 1, *kernel], 1, x.dtype),
        sizes=tuple(sizes),
        strides=tuple(strides),
        pads=pads,
        dilations=(1,) * len(kernel),
        groups=1,
    )
    return F.cast(F.reshape(made, [count, channels, *sizes]), x.dtype)


# -- normalisation -------------------------------------------------------------------------------


@write("layer_norm")
def _layer_norm(
    g: Graph,
    x: Value,
    weight: Value | None = None,
    bias: Value | None = None,
    *,
    axes: int,
    epsilon: float,
) -> Value:
    sizes = (x.shape or ())[x.rank - axes :]
    has_ones = weight is not None or not any(isinstance(size, Dim) for size in sizes)
    if g.opset < 17 or not has_ones or not is_floating(x.dtype):
        return NotImplemented  # type: ignore[no-any-return]
    if weight is None:
        weight = g.const(np.ones([s for s in sizes if isinstance(s, int)], x.dtype))
    return g.op(
        "LayerNormalization",
        x,
        weight,
        bias,
        axis=x.rank - axes,
        epsilon=float(epsilon),
        shape=x.shape,
    )


@write("batch_norm")
def _batch_norm(
    g: Graph,
    x: Value,
    mean: Value,
    variance: Value,
    weight: Value | None = None,
    bias: Value | None = None,
    *,
    axis: int,
    epsilon: float,
) -> Value:
    given: Sequence[Value] = [one for one in (mean, variance, weight, bias) if one is not None]
    is_plain = axis % max(x.rank, 1) == 1 and all(one.dtype == x.dtype for one in given)
    count = (mean.shape or ())[0]
    if not is_plain or not is_floating(x.dtype) or isinstance(count, Dim):
        return NotImplemented  # type: ignore[no-any-return]
    weight = weight or g.const(np.ones(count, x.dtype))
    bias = bias or g.const(np.zeros(count, x.dtype))
    return g.op(
        "BatchNormalization",
        x,
        weight,
        bias,
        mean,
        variance,
        epsilon=float(epsilon),
        shape=x.shape,
    )


@write("det")
def _det(g: Graph, x: Value) -> Value:
    return g.op("Det", g.floats(x), shape=g.result.shape)
