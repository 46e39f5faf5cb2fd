"""Convolutions along any number of axes, as cross-correlations.

Three primitives are each other's gradients, because a convolution is linear in both operands:

conv            x (n, c, ...), w (o, c/groups, *kernel), bias (o) -> (n, o, ...)
conv_transpose  the gradient of conv with respect to x
conv_weight     the gradient of conv with respect to w
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from dy2st_runtime.dims import Size, less_equal, product, require, require_equal
from dy2st_runtime.errors import DTypeError, ShapeError
from dy2st_runtime.ir import (
    F,
    Kind,
    Sample,
    TensorType,
    apply,
    define,
)
from dy2st_runtime.ir.attribute_kinds import FRAME, SIZES, STEP, STEPS, each_axis

Pads = tuple[tuple[int, int], ...]
Shape = tuple[Size, ...]
_GEOMETRY: dict[str, Any] = {
    "strides": each_axis(STEPS, after=2),
    "pads": each_axis(FRAME, after=2),
    "dilations": each_axis(STEPS, after=2),
    "groups": STEP.or_else(1),
}


def window_count(
    size: Size, kernel: int, stride: int, pads: tuple[Size, Size], dilation: int
) -> Size:
    """How many windows fit: (size + pads - dilation*(kernel-1) - 1) // stride + 1."""
    require(kernel > 0, f"a window has the size {kernel}")
    room = _room(size, kernel, pads, dilation)
    fits = less_equal(0, room)
    if fits is False:
        raise ShapeError(f"a window of {dilation * (kernel - 1) + 1} does not fit the size {size}")
    if fits is None:
        require(room >= 0, f"a window of {dilation * (kernel - 1) + 1} must fit the size {size}")
    return room // stride + 1


def _room(size: Size, kernel: int, pads: tuple[Size, Size], dilation: int) -> Size:
    """How far a window can be moved."""
    return size + pads[0] + pads[1] - dilation * (kernel - 1) - 1


def _check_bias(name: str, bias: Sequence[TensorType], channels: Size) -> None:
    """One number for every output channel."""
    if not bias:
        return
    if bias[0].rank != 1:
        raise ShapeError(f"{name}: a bias is one number a channel, not {list(bias[0].shape)}")
    reason = f"{name}: {channels} output channels and {bias[0].shape[0]} numbers of the bias"
    require_equal(bias[0].shape[0], channels, reason)


def _conv_infer(
    x: TensorType,
    w: TensorType,
    *bias: TensorType,
    strides: Any,
    pads: Pads,
    dilations: Any,
    groups: Size,
) -> TensorType:
    if x.rank != w.rank or x.rank < 3:
        raise ShapeError(f"conv: x of shape {list(x.shape)} and weight {list(w.shape)} do not fit")
    if x.dtype.kind == "b":
        raise DTypeError("conv takes numbers, not bools")
    require_equal(
        x.shape[1],
        w.shape[1] * groups,
        f"conv: x has {x.shape[1]} channels, the weight {list(w.shape)} in {groups} groups takes "
        f"{w.shape[1] * groups}",
    )
    _check_groups("conv", w.shape[0], groups)
    _check_bias("conv", bias, w.shape[0])
    spatial = [
        window_count(size, kernel, stride, pad, dilation)  # type: ignore[arg-type]
        for size, kernel, stride, pad, dilation in zip(
            x.shape[2:], w.shape[2:], strides, pads, dilations, strict=True
        )
    ]
    return x.with_shape([x.shape[0], w.shape[0], *spatial])


def padded(x: Any, pads: Pads, value: float = 0.0) -> Any:
    """x (n, c, ...) with constant elements around its spatial axes."""
    if not any(before or after for before, after in pads):
        return x
    shape = [size + b + a for size, (b, a) in zip(x.shape[2:], pads, strict=True)]
    result = np.full((*x.shape[:2], *shape), value, x.dtype)
    inside = tuple(slice(b, b + size) for size, (b, _) in zip(x.shape[2:], pads, strict=True))
    result[(slice(None), slice(None), *inside)] = x
    return result


def padded_shape(x: TensorType, pads: Pads) -> Shape:
    """The shape of `padded`."""
    return (*x.shape[:2], *(n + b + a for n, (b, a) in zip(x.shape[2:], pads, strict=True)))


def windows(x: Any, kernel: Any, strides: Any, dilations: Any) -> Any:
    """A view (n, c, *counts, *kernel) of all windows."""
    reach = tuple(d * (k - 1) + 1 for k, d in zip(kernel, dilations, strict=True))
    axes = tuple(range(2, x.ndim))
    view = sliding_window_view(x, reach, axis=axes)
    steps = tuple(slice(None, None, s) for s in strides)
    inner = tuple(slice(None, None, d) for d in dilations)
    return view[(slice(None), slice(None), *steps, *inner)]


def _columns(view: Any, spatial: int) -> Any:
    """(n, c, *counts, *kernel) -> (n * counts, c * kernel)."""
    order = (0, *range(2, 2 + spatial), 1, *range(2 + spatial, 2 + 2 * spatial))
    rows = int(np.prod([view.shape[0], *view.shape[2 : 2 + spatial]]))
    return (
        view.transpose(order).reshape(rows, -1)
        if rows
        else np.zeros((0, int(np.prod([view.shape[1], *view.shape[2 + spatial :]]))), view.dtype)
    )


# From so many windows on, one product a sample is as fast as one for the whole batch.
_MANY_WINDOWS = 64


def _conv_kernel(
    x: Any, w: Any, bias: Any = None, *, strides: Any, pads: Any, dilations: Any, groups: int
) -> Any:
    _check_channels(x, w.shape[1] * groups)
    spatial = x.ndim - 2
    view = windows(padded(x, pads), w.shape[2:], strides, dilations)
    counts = view.shape[2 : 2 + spatial]
    if w.shape[1] == 1 and w.shape[0] == groups and groups > 1:
        # With one filter a channel it is a sum over the places of the kernel.
        result = np.zeros(view.shape[: 2 + spatial], view.dtype)
        for place in np.ndindex(*w.shape[2:]):
            weight = w[(slice(None), 0, *place)].reshape(1, -1, *[1] * spatial)
            result += view[(..., *place)] * weight
        y = result
    elif x.shape[0] == 1 or math.prod(counts) >= _MANY_WINDOWS:
        # w (o, c * kernel) @ windows (c * kernel, counts): the result is contiguous.
        counts = view.shape[2 : 2 + spatial]
        inside, outside = w.shape[1], w.shape[0] // groups
        rows = inside * math.prod(w.shape[2:])
        result = np.empty((view.shape[0], groups, outside, math.prod(counts)), view.dtype)
        weights = w.reshape(groups, outside, rows)
        order = (0, *range(1 + spatial, 1 + 2 * spatial), *range(1, 1 + spatial))
        for sample, target in zip(view, result, strict=True):
            for g in range(groups):
                part = sample[g * inside : (g + 1) * inside].transpose(order)
                np.matmul(weights[g], part.reshape(rows, -1), out=target[g])
        y = result.reshape(view.shape[0], w.shape[0], *counts)
    else:
        # windows (n * counts, c * kernel) @ w (c * kernel, o).
        counts = view.shape[2 : 2 + spatial]
        inside, outside = w.shape[1], w.shape[0] // groups
        parts = [
            _columns(view[:, g * inside : (g + 1) * inside], spatial)
            @ w[g * outside : (g + 1) * outside].reshape(outside, math.prod(w.shape[1:])).T
            for g in range(groups)
        ]
        flat = parts[0] if groups == 1 else np.concatenate(parts, axis=1)
        flat = flat.astype(view.dtype, copy=False)  # products of bfloat16 are float32
        if bias is not None:
            flat += bias
        return np.moveaxis(flat.reshape(view.shape[0], *counts, w.shape[0]), -1, 1)
    if bias is not None:
        y += bias.reshape(-1, *[1] * spatial)
    return y


def _conv_scratch(
    y: TensorType, x: TensorType, w: TensorType, *_: TensorType, pads: Pads, groups: Size, **__: Any
) -> list[Shape]:
    """The image with its pads, and the windows that are laid side by side for a product."""
    wide = padded_shape(x, pads)
    if w.shape[1] == 1 and w.shape[0] == groups and groups > 1:
        return [wide]
    return [wide, *_rows_of_windows(x.shape[0], y.shape[2:], w.shape[1:])]


def _rows_of_windows(samples: Size, counts: Shape, one: Shape) -> list[Shape]:
    """Those of one sample, and of all samples where there are few of them."""
    rows = [(*counts, *one)]
    if less_equal(_MANY_WINDOWS, product(counts)) is not True:
        rows.append((samples, _MANY_WINDOWS, *one))
    return rows


def _check_channels(x: Any, wanted: int) -> None:
    """Parts of a group would be cut from channels that are too many without a word."""
    if x.shape[1] != wanted:
        raise ValueError(f"conv: {x.shape[1]} channels in place of {wanted}")


def _transpose_infer(
    x: TensorType,
    w: TensorType,
    *bias: TensorType,
    sizes: Any,
    strides: Any,
    pads: Pads,
    dilations: Any,
    groups: Size,
) -> TensorType:
    if x.rank != w.rank or x.rank < 3:
        raise ShapeError(
            f"conv_transpose: x of shape {list(x.shape)} and weight {list(w.shape)} do not fit"
        )
    require_equal(
        x.shape[1],
        w.shape[0],
        f"conv_transpose: x has {x.shape[1]} channels, the weight takes {w.shape[0]}",
    )
    _check_groups("conv_transpose", w.shape[0], groups)
    _check_bias("conv_transpose", bias, w.shape[1] * groups)
    _check_counts("conv_transpose", x.shape[2:], sizes, w.shape[2:], strides, pads, dilations)
    return x.with_shape([x.shape[0], w.shape[1] * groups, *sizes])


def _check_groups(name: str, channels: Size, groups: Size) -> None:
    """As many channels in each group."""
    reason = f"{name}: {channels} output channels do not fall into {groups} equal groups"
    require(channels % groups == 0, reason)


def _check_counts(
    name: str,
    counts: Any,
    sizes: Any,
    kernel: Any,
    strides: Any,
    pads: Pads,
    dilations: Any,
) -> None:
    """Elements along spatial axes are no more than the windows that there are."""
    geometry = zip(sizes, kernel, strides, pads, dilations, strict=True)
    for count, (size, width, stride, pair, dilation) in zip(counts, geometry, strict=True):
        room = _room(size, width, pair, dilation) // stride + 1
        if less_equal(count, room) is not True:
            require(count <= room, f"{name}: {count} windows where there are {room}")


def _transpose_kernel(
    x: Any,
    w: Any,
    bias: Any = None,
    *,
    sizes: Any,
    strides: Any,
    pads: Any,
    dilations: Any,
    groups: int,
) -> Any:
    """Every element of x adds its filter to the result."""
    _check_channels(x, w.shape[0])
    # The pads of the convolution of x that is the same, which costs half; None without one.
    if any(stride != 1 for stride in strides) or 0 in sizes:
        around = None
    else:
        found = []
        for n, k, size, (before, _), d in zip(
            x.shape[2:], w.shape[2:], sizes, pads, dilations, strict=True
        ):
            found.append((d * (k - 1) - before, size + before - n))
        around = tuple(found) if all(min(pair) >= 0 for pair in found) else None
    if around is None:
        outside, inside, kernel = w.shape[0] // groups, w.shape[1], w.shape[2:]
        wide = [size + b + a for size, (b, a) in zip(sizes, pads, strict=True)]
        result: Any = np.zeros((x.shape[0], groups, inside, *wide), x.dtype)
        products = _products_of_filters(x, w.reshape(groups, outside, inside, -1))
        for number, place in enumerate(itertools.product(*map(range, kernel))):
            steps: Any = tuple(
                slice(k * d, k * d + s * (n - 1) + 1, s)
                for k, d, s, n in zip(place, dilations, strides, x.shape[2:], strict=True)
            )
            result[(..., *steps)] += products(number)
        cut = tuple(slice(b, b + size) for size, (b, _) in zip(sizes, pads, strict=True))
        y = result.reshape(x.shape[0], groups * inside, *wide)[(..., *cut)]
        if bias is not None:
            y += bias.reshape(-1, *[1] * (x.ndim - 2))
        return y
    # Filters of that convolution: (o, c/groups, *kernel) -> (c, o/groups, *kernel).
    outside, inside, kernel = w.shape[0] // groups, w.shape[1], w.shape[2:]
    parts = w.reshape(groups, outside, inside, *kernel).swapaxes(1, 2)
    backwards = (slice(None, None, -1),) * len(kernel)
    flipped = parts[(..., *backwards)].reshape(groups * inside, outside, *kernel)
    ones = (1,) * len(sizes)
    return _conv_kernel(
        x, flipped, bias, strides=ones, pads=around, dilations=dilations, groups=groups
    )


def _transpose_scratch(
    y: TensorType,
    x: TensorType,
    w: TensorType,
    *_: TensorType,
    sizes: Any,
    strides: Any,
    pads: Pads,
    dilations: Any,
    groups: Size,
) -> list[Shape]:
    """That of the convolution of x that is the same, or a product for each place of the filters."""
    wide = padded_shape(y, pads)
    inside, kernel = w.shape[0] // groups, w.shape[2:]
    # Pads wider than the filters leave out windows: then each element adds its filter, as by steps.
    reach = [d * (k - 1) for d, k in zip(dilations, kernel, strict=True)]
    fits = all(
        less_equal(pad, most) is True
        for pair, most in zip(pads, reach, strict=True)
        for pad in pair
    )
    if fits and all(stride == 1 for stride in strides):
        padded_x = [n + most for n, most in zip(sizes, reach, strict=True)]
        rows = _rows_of_windows(x.shape[0], tuple(sizes), (inside, *kernel))
        return [wide, (*x.shape[:2], *padded_x), *rows]
    return [wide, (*y.shape[:2], *kernel, *x.shape[2:])]


def _products_of_filters(x: Any, w: Any) -> Callable[[int], Any]:
    """What x adds to the result at a place of the filters (g, outside, inside, places)."""
    groups, outside, inside, places = w.shape
    if outside == 1:
        parts = x.reshape(x.shape[0], groups, 1, *x.shape[2:])
        ones = (1,) * (x.ndim - 2)
        return lambda number: parts * w[:, 0, :, number].reshape(1, groups, inside, *ones)
    filters = w.transpose(0, 3, 2, 1).reshape(groups, places * inside, outside)
    flat = x.reshape(x.shape[0], groups, outside, math.prod(x.shape[2:]))
    columns = (filters @ flat).reshape(x.shape[0], groups, places, inside, *x.shape[2:])
    return lambda number: columns[:, :, number]


def _weight_kernel(
    x: Any, g: Any, kernel: Any, strides: Any, pads: Any, dilations: Any, groups: int
) -> Any:
    spatial = x.ndim - 2
    view = windows(padded(x, pads), kernel, strides, dilations)
    counts = tuple(slice(0, n) for n in g.shape[2:])
    view = view[(slice(None), slice(None), *counts)]
    is_large = math.prod(g.shape[2:]) >= _MANY_WINDOWS
    weight = _weight_by_sample if is_large else _weight_at_once
    inside, outside = view.shape[1] // groups, g.shape[1] // groups
    parts = [
        weight(
            view[:, i * inside : (i + 1) * inside], g[:, i * outside : (i + 1) * outside], spatial
        )
        for i in range(groups)
    ]
    made = np.concatenate(parts, axis=0).astype(x.dtype, copy=False)
    return made.reshape(g.shape[1], x.shape[1] // groups, *kernel)


def _weight_by_sample(view: Any, g: Any, spatial: int) -> Any:
    """The sum of g (o, counts) @ windows (counts, c * kernel), in float32 if floats are short."""
    order = (0, *range(1 + spatial, 1 + 2 * spatial), *range(1, 1 + spatial))
    count = math.prod(g.shape[2:])
    rows = view.shape[1] * math.prod(view.shape[-spatial:])
    total = np.zeros((g.shape[1], rows), np.promote_types(g.dtype, np.float32))
    for sample, target in zip(view, g, strict=True):
        # No name holds the columns of a sample while those of the next one are made.
        total += target.reshape(-1, count) @ sample.transpose(order).reshape(rows, count).T
    return total


def _weight_at_once(view: Any, g: Any, spatial: int) -> Any:
    rows = np.moveaxis(g, 1, -1).reshape(-1, g.shape[1])
    return rows.T @ _columns(view, spatial)


def _weight_infer(
    x: TensorType, g: TensorType, kernel: Any, strides: Any, pads: Any, dilations: Any, groups: Size
) -> TensorType:
    if x.rank != g.rank or x.rank < 3:
        raise ShapeError(f"conv_weight: x of shape {list(x.shape)} and {list(g.shape)} do not fit")
    reason = f"conv_weight: {x.shape[0]} samples of x, and {g.shape[0]} of what was made of them"
    require_equal(x.shape[0], g.shape[0], reason)
    for channels in (x.shape[1], g.shape[1]):
        _check_groups("conv_weight", channels, groups)
    _check_counts("conv_weight", g.shape[2:], x.shape[2:], kernel, strides, pads, dilations)
    return x.with_shape([g.shape[1], x.shape[1] // groups, *kernel])


def _kernel_of(w: Any) -> tuple[int, ...]:
    return tuple(w.shape[2:])


def _bias_gradient(g: Any, bias: Sequence[Any]) -> tuple[Any, ...]:
    axes = [axis for axis in range(g.ndim) if axis != 1]
    return tuple((lambda: F.sum(g, axis=axes)) for _ in bias)


def _cut_to(y: Any, like: Any) -> Any:
    """The windows that there were: an output padding leaves room for more."""
    spatial = list(range(2, y.ndim))
    return F.slice(y, spatial, [0] * len(spatial), like.shape[2:])


_PLAIN = {"strides": (1, 1), "pads": ((1, 0), (0, 1)), "dilations": (1, 1)}
_WIDE = {"strides": (2, 1), "pads": ((1, 1), (0, 0)), "dilations": (1, 2), "groups": 2}

define(
    "conv",
    doc="The products of a filter with every window of x, and a bias by output channel.",
    inputs="x, w, bias?",
    along=lambda x, *_, **__: range(1, x.rank),
    kind=Kind.CONTRACTION,
    promote=True,
    attributes=_GEOMETRY,
    infer=_conv_infer,
    kernel=_conv_kernel,
    scratch=_conv_scratch,
    gradient=lambda g, y, x, w, *bias, **geometry: (
        lambda: apply("conv_transpose", g, w, sizes=tuple(x.shape[2:]), **geometry),
        lambda: apply("conv_weight", x, g, kernel=_kernel_of(w), **geometry),
        *_bias_gradient(g, bias),
    ),
    samples=(
        Sample(((2, 3, 4, 4), (2, 3, 2, 2)), _PLAIN),
        Sample(((1, 4, 5, 5), (2, 2, 3, 2)), _WIDE),
        Sample(
            ((1, 2, 5), (2, 1, 3)),
            {"strides": (1,), "pads": ((0, 0),), "dilations": (1,), "groups": 2},
        ),
        Sample(((2, 3, 4, 4), (2, 3, 2, 2), (2,)), _PLAIN),
        Sample(((2, 2, 20, 20), (4, 1, 3, 2), (4,)), _WIDE),
    ),
)
define(
    "conv_transpose",
    doc="The gradient of conv with respect to x, and a bias by output channel.",
    inputs="x, w, bias?",
    along=lambda x, *_, **__: range(1, x.rank),
    kind=Kind.CONTRACTION,
    promote=True,
    attributes={"sizes": each_axis(SIZES, after=2), **_GEOMETRY},
    infer=_transpose_infer,
    kernel=_transpose_kernel,
    scratch=_transpose_scratch,
    gradient=lambda g, y, x, w, *bias, sizes, **geometry: (
        lambda: _cut_to(apply("conv", g, w, **geometry), x),
        lambda: apply("conv_weight", g, x, kernel=_kernel_of(w), **geometry),
        *_bias_gradient(g, bias),
    ),
    samples=(
        Sample(((2, 2, 4, 4), (2, 3, 2, 2)), {"sizes": (4, 4), **_PLAIN}),
        Sample(((1, 2, 3, 3), (2, 2, 3, 2)), {"sizes": (6, 5), **_WIDE}),
        Sample(((1, 2, 3, 3), (2, 2, 3, 2), (4,)), {"sizes": (6, 5), **_WIDE}),
    ),
)
define(
    "conv_weight",
    doc="The gradient of conv with respect to w.",
    inputs="x, g",
    promote=True,
    attributes={"kernel": each_axis(SIZES, after=2), **_GEOMETRY},
    infer=_weight_infer,
    kernel=_weight_kernel,
    scratch=lambda y, x, g, kernel, pads, groups, **_: [
        padded_shape(x, pads),
        *_rows_of_windows(x.shape[0], g.shape[2:], (x.shape[1] // groups, *kernel)),
    ],
    gradient=lambda h, y, x, g, kernel, **geometry: (
        lambda: apply("conv_transpose", g, h, sizes=tuple(x.shape[2:]), **geometry),
        lambda: _cut_to(apply("conv", x, h, **geometry), g),
    ),
    samples=(Sample(((2, 3, 4, 4), (2, 2, 4, 4)), {"kernel": (2, 2), **_PLAIN}),),
)


# -- the functions of nn.functional -----------------------------------------------------------
