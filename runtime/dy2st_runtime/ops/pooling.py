"""Pooling: the largest element or the mean of every window."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from dy2st_runtime.dims import (
    Dim,
    Size,
    ceil_divide,
    equal,
    maximum,
    minimum,
    product,
    require,
    require_equal,
    same_shape,
)
from dy2st_runtime.errors import ArgumentError, DTypeError, ShapeError
from dy2st_runtime.ir import F, Sample, Scales, TensorType, apply, define, is_floating, public
from dy2st_runtime.ir.arguments import as_int, as_size, pair
from dy2st_runtime.ir.attribute_kinds import FRAME, SIZES, STEPS, each_axis
from dy2st_runtime.ops.convolution import Pads, Shape, padded, padded_shape, window_count
from dy2st_runtime.ops.convolve import channels_back, channels_first, explicit_pads
from dy2st_runtime.ops.short_floats import in_float32

_WINDOW: dict[str, Any] = {
    "kernel": each_axis(STEPS, after=2),
    "strides": each_axis(STEPS, after=2),
    "pads": each_axis(FRAME, after=2),
}


def _spatial(x: TensorType, **_: Any) -> range:
    """The axes that windows are along."""
    return range(2, x.rank)


def _pooled(x: TensorType, kernel: Any, strides: Any, pads: Pads) -> TensorType:
    if x.dtype.kind == "b":
        raise DTypeError("pooling takes numbers, not bools")
    counts = [
        window_count(size, k, s, p, 1)
        for size, k, s, p in zip(x.shape[2:], kernel, strides, pads, strict=True)
    ]
    return x.with_shape([*x.shape[:2], *counts])


def _max_infer(x: TensorType, **window: Any) -> tuple[TensorType, TensorType]:
    values = _pooled(x, **window)
    return values, values.with_dtype("int64")


def _pooled_scratch(y: Any, x: TensorType, pads: Pads, **_: Any) -> list[Shape]:
    return [padded_shape(x, pads)]


def _lowest(dtype: np.dtype[Any]) -> float:
    """What is never the largest, unless all is equal to it."""
    if is_floating(dtype):
        return -math.inf
    return 0 if dtype.kind == "b" else int(np.iinfo(dtype).min)


def _max_kernel(x: Any, kernel: Any, strides: Any, pads: Any) -> tuple[Any, Any]:
    """The largest elements, and their places in the flattened spatial axes."""
    wide = padded(x, pads, _lowest(x.dtype))
    counts = _counts(wide, kernel, strides)
    parts = _shifted(wide, kernel, strides, counts)
    values = next(parts).copy()
    numbers = np.min_scalar_type(math.prod(kernel)).type
    inside = np.zeros(values.shape, numbers)
    for number, part in enumerate(parts, 1):
        # The first NaN is the largest of all; of two bools, `a > b` is `a and not b`.
        is_larger = (values == values) > (part <= values)
        np.maximum(values, part, out=values)
        np.maximum(inside, is_larger * numbers(number), out=inside)
    # Where elements are in flattened axes, by the numbers of their places in their windows.
    sizes = x.shape[2:]
    steps = [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    moves = [np.dot(place, steps) for place in np.ndindex(*kernel)]
    starts = np.zeros((1,) * len(sizes), np.int64)
    for axis, step in enumerate(steps):
        along = np.arange(inside.shape[2 + axis]) * strides[axis] - pads[axis][0]
        starts = starts + (along * step).reshape(-1, *[1] * (len(sizes) - 1 - axis))
    places = np.asarray(moves, np.int64)[inside] + starts
    return values, places


def _max_gradient(g: Any, y: Any, x: Any, kernel: Any, strides: Any, pads: Any) -> Any:
    """To the first largest element of every window."""
    places = y[1]
    overlapping = any(k > s for k, s in zip(kernel, strides, strict=True))
    flat = [x.shape[0], x.shape[1], product(x.shape[2:])]
    zeros = F.zeros(flat, x.dtype)
    picked = F.flatten(places, 2)
    moved = F.put_along_axis(
        zeros, picked, F.flatten(g[0], 2), 2, "add" if overlapping else "assign"
    )
    return F.reshape(moved, x.shape)


define(
    "max_pool",
    doc="The largest element of every window, and its place.",
    inputs="x",
    scales=Scales.POSITIVE,
    along=_spatial,
    attributes=_WINDOW,
    infer=_max_infer,
    kernel=_max_kernel,
    scratch=_pooled_scratch,
    gradient=_max_gradient,
    samples=(
        Sample(((2, 2, 4, 4),), {"kernel": (2, 2), "strides": (2, 2), "pads": ((0, 0), (0, 0))}),
        Sample(((1, 1, 5, 5),), {"kernel": (3, 2), "strides": (1, 2), "pads": ((1, 1), (0, 1))}),
    ),
)


def _shifted(x: Any, kernel: Any, strides: Any, counts: Any) -> Iterator[Any]:
    """For every place of the kernel, the elements of x that windows have there."""
    for place in np.ndindex(*kernel):
        steps = tuple(
            slice(k, k + s * (n - 1) + 1, s) for k, s, n in zip(place, strides, counts, strict=True)
        )
        yield x[(slice(None), slice(None), *steps)]


def _counts(wide: Any, kernel: Any, strides: Any) -> list[int]:
    """How many windows fit along every spatial axis; ShapeError if none does."""
    if any(n < k for n, k in zip(wide.shape[2:], kernel, strict=True)):
        raise ShapeError(f"a window of {list(kernel)} does not fit {list(wide.shape[2:])}")
    return [(n - k) // s + 1 for n, k, s in zip(wide.shape[2:], kernel, strides, strict=True)]


def _largest_kernel(x: Any, kernel: Any, strides: Any, pads: Any) -> Any:
    wide = padded(x, pads, _lowest(x.dtype))
    parts = _shifted(wide, kernel, strides, _counts(wide, kernel, strides))
    result = next(parts).copy()
    for part in parts:
        np.maximum(result, part, out=result)
    return result


@in_float32
def _sum_kernel(x: Any, kernel: Any, strides: Any, pads: Any) -> Any:
    wide = padded(x, pads)
    counts = _counts(wide, kernel, strides)
    result = np.zeros((*x.shape[:2], *counts), x.dtype)
    for part in _shifted(wide, kernel, strides, counts):
        result += part
    return result


def _spread_infer(x: TensorType, sizes: Any, kernel: Any, strides: Any, pads: Pads) -> TensorType:
    """x has an element for each window that its result has."""
    result = x.with_shape([*x.shape[:2], *sizes])
    for have, want in zip(
        x.shape[2:], _pooled(result, kernel, strides, pads).shape[2:], strict=True
    ):
        require_equal(have, want, f"window_spread: {want} windows, and x has {have} elements")
    return result


@in_float32
def _spread_kernel(x: Any, sizes: Any, kernel: Any, strides: Any, pads: Any) -> Any:
    wide = [n + b + a for n, (b, a) in zip(sizes, pads, strict=True)]
    result = np.zeros((*x.shape[:2], *wide), x.dtype)
    for part in _shifted(result, kernel, strides, x.shape[2:]):
        part += x
    cut = tuple(slice(b, b + n) for n, (b, _) in zip(sizes, pads, strict=True))
    return result[(slice(None), slice(None), *cut)]


define(
    "window_max",
    doc="The largest element of every window: max_pool where nobody asks for the places.",
    inputs="x",
    scales=Scales.POSITIVE,
    along=_spatial,
    attributes=_WINDOW,
    infer=_pooled,
    kernel=_largest_kernel,
    scratch=_pooled_scratch,
    decompose=lambda x, **window: apply("max_pool", x, **window)[0],
    samples=(
        Sample(((2, 2, 4, 4),), {"kernel": (2, 2), "strides": (2, 1), "pads": ((0, 1), (1, 0))}),
        Sample(((1, 1, 5, 5),), {"kernel": (3, 2), "strides": (1, 2), "pads": ((1, 1), (0, 1))}),
    ),
)
define(
    "window_sum",
    doc="The sum of every window.",
    inputs="x",
    scales=Scales.ALL,
    along=_spatial,
    attributes=_WINDOW,
    infer=_pooled,
    kernel=_sum_kernel,
    scratch=_pooled_scratch,
    gradient=lambda g, y, x, **w: apply("window_spread", g, sizes=tuple(x.shape[2:]), **w),
    samples=(
        Sample(((2, 2, 4, 4),), {"kernel": (2, 2), "strides": (2, 1), "pads": ((0, 1), (1, 0))}),
    ),
)
define(
    "window_spread",
    doc="Every element of x added to all of its window.",
    inputs="x",
    along=_spatial,
    attributes={"sizes": each_axis(SIZES, after=2), **_WINDOW},
    infer=_spread_infer,
    kernel=_spread_kernel,
    scratch=lambda y, x, pads, **_: [padded_shape(y, pads)],
    gradient=lambda g, y, x, sizes, **w: apply("window_sum", g, **w),
    samples=(
        Sample(
            ((2, 2, 2, 4),),
            {"sizes": (4, 4), "kernel": (2, 2), "strides": (2, 1), "pads": ((0, 1), (1, 0))},
        ),
    ),
)


def _window(
    x: Any, axes: int, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, last: bool
) -> tuple[dict[str, Any], Pads]:
    """Kernel, strides, and pads with the room that ceil_mode wants; and the user's own pads."""
    sizes = x.shape[2:]
    kernel = pair(kernel_size, axes, "kernel_size")
    strides = kernel if stride is None else pair(stride, axes, "stride")
    pads = explicit_pads(padding, x.shape[2:], kernel, strides, (1,) * axes, last)
    for (before, after), k in zip(pads, kernel, strict=True):
        if not isinstance(padding, str) and max(before, after) > k // 2:
            raise ArgumentError(f"pooling: a padding of {max(before, after)} exceeds half of {k}")
    for n in sizes:
        require(n > 0, f"pooling: the image of {list(sizes)} is empty")
    lacking = _missing if ceil_mode else _lacking
    room = tuple(
        (before, after + lacking(n, k, s, before, after))
        for n, k, s, (before, after) in zip(x.shape[2:], kernel, strides, pads, strict=True)
    )
    return {"kernel": kernel, "strides": strides, "pads": room}, pads


def _is_whole(x: Any, kernel_size: Any, stride: Any, padding: Any) -> bool:
    """Whether the one window is the image, by sizes of it that are not known."""
    sizes = x.shape[2:]
    if not isinstance(kernel_size, (list, tuple)) or len(kernel_size) != len(sizes):
        return False
    if not any(isinstance(size, Dim) for size in kernel_size) or padding not in (0, "VALID"):
        return False
    steps = kernel_size if stride is None else stride
    return (
        same_shape(kernel_size, sizes) is True
        and same_shape(steps if isinstance(steps, (list, tuple)) else [steps] * len(sizes), sizes)
        is True
    )


def _missing(size: Size, kernel: int, stride: int, before: int, after: int) -> Size:
    """What a last, partial window needs; none if it would begin outside of x."""
    have = size + before + after
    count = minimum(ceil_divide(have - kernel, stride) + 1, ceil_divide(size + before, stride))
    return maximum((count - 1) * stride + kernel - have, 0)


def _lacking(size: Size, kernel: int, stride: int, before: int, after: int) -> Size:
    """What the only window needs that is a little larger than x: less than a stride.

    So PaddlePaddle has it. Of sizes that are not known it would make formulas that nobody reads.
    """
    lack = kernel - size - before - after
    if isinstance(size, int) and isinstance(lack, int):
        return lack if 0 < lack < stride else 0
    require(
        lack <= 0,
        f"a window of {kernel} must fit the size {size}; one that is larger by less than a stride "
        "is taken where InputSpec has the size as a number",
    )
    return 0


def largest_of_windows(
    x: Any,
    axes: int,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    return_mask: bool,
    ceil_mode: bool,
    data_format: str,
) -> Any:
    """The largest element of every window along `axes` axes, and its place if asked for."""
    x, last = channels_first(x, data_format, axes)
    if not return_mask and _is_whole(x, kernel_size, stride, padding):
        return channels_back(F.max(x, axis=[*range(2, x.ndim)], keepdim=True), last)
    window, _ = _window(x, axes, kernel_size, stride, padding, ceil_mode, last)
    values, places = apply("max_pool", x, **window)
    values = channels_back(values, last)
    return (values, channels_back(F.cast(places, "int32"), last)) if return_mask else values


@in_float32
def means_of_windows(
    x: Any,
    axes: int,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    exclusive: bool,
    ceil_mode: bool,
    divisor: Any,
    data_format: str,
) -> Any:
    """The mean of every window along `axes` axes."""
    x, last = channels_first(x, data_format, axes)
    if divisor is None and _is_whole(x, kernel_size, stride, padding):
        require(product(x.shape[2:]) > 0, f"pooling: the image of {x.shape[2:]} is empty")
        return channels_back(F.mean(x, axis=[*range(2, x.ndim)], keepdim=True), last)
    window, own = _window(x, axes, kernel_size, stride, padding, ceil_mode, last)
    mean = _means(x, axes, window, own, exclusive)
    if divisor is not None:  # of whole windows, and it corrects the others in proportion
        mean = mean * (product(window["kernel"]) / float(divisor))
    return channels_back(mean, last)


def sums_of_windows(
    x: Any,
    axes: int,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    data_format: str,
) -> Any:
    """The sum of every window along `axes` axes; there are zeros around."""
    x, last = channels_first(x, data_format, axes)
    window, _ = _window(x, axes, kernel_size, stride, padding, ceil_mode, last)
    return channels_back(apply("window_sum", x, **window), last)


def _means(x: Any, axes: int, window: dict[str, Any], own: Pads, exclusive: bool) -> Any:
    """The mean of every window; what is beyond the user's own pads never counts."""
    total, pads = apply("window_sum", x, **window), window["pads"]
    if same_shape(sum(pads, ()), (0,) * 2 * axes) or (
        not exclusive and same_shape(sum(pads, ()), sum(own, ())) is True
    ):
        return total / float(product(window["kernel"]))
    ones = F.ones([1, 1, *x.shape[2:]], x.dtype)
    if not exclusive:
        flat = [size for sides in ((0, 0), (0, 0), *own) for size in sides]
        ones = F.pad(ones, flat, value=1.0)
        extra = tuple((a - b, c - d) for (a, c), (b, d) in zip(pads, own, strict=True))
        window = {**window, "pads": extra}
    return total / apply("window_sum", ones, **window)


@public
def max_pool1d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Any:
    """(n, c, l) -> (n, c, l'): the largest element of every window.

    The stride is the kernel's size by default; `ceil_mode` keeps a last window that is cut; with
    `return_mask` also the places of the elements. Raises ArgumentError for a padding of more than
    half of the kernel.

    >>> dy2st.nn.functional.max_pool1d(dy2st.to_tensor([[[1.0, 4.0, 2.0, 3.0]]]), 2).tolist()
    [[[4.0, 3.0]]]
    """
    return largest_of_windows(x, 1, kernel_size, stride, padding, return_mask, ceil_mode, "NCL")


@public
def max_pool2d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """(n, c, h, w) -> (n, c, h', w'): the largest element of every window.

    With `return_mask` also their places in the flattened image.

    The stride is the kernel's size by default; `padding` is as in conv2d, at most half of the
    kernel (ArgumentError), and never the largest; `ceil_mode` keeps a last window that is cut.

    >>> x = dy2st.arange(16.0).reshape([1, 1, 4, 4])
    >>> dy2st.nn.functional.max_pool2d(x, 2).tolist()
    [[[[5.0, 7.0], [13.0, 15.0]]]]
    """
    return largest_of_windows(
        x, 2, kernel_size, stride, padding, return_mask, ceil_mode, data_format
    )


@public
def avg_pool1d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    exclusive: bool = True,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Any:
    """(n, c, l) -> (n, c, l'): the mean of every window; `exclusive` does not count padding.

    The stride is the kernel's size by default; `ceil_mode` keeps a last window that is cut.

    >>> dy2st.nn.functional.avg_pool1d(dy2st.to_tensor([[[1.0, 4.0, 2.0, 3.0]]]), 2).tolist()
    [[[2.5, 2.5]]]
    """
    return means_of_windows(x, 1, kernel_size, stride, padding, exclusive, ceil_mode, None, "NCL")


@public
def avg_pool2d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: Any = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """(n, c, h, w) -> (n, c, h', w'): means of windows; `exclusive` does not count padding.

    The stride is the kernel's size by default; `padding` is as in conv2d, at most half of the
    kernel; `ceil_mode` keeps a last window that is cut; the sum is divided by
    `divisor_override`, if that is given.

    >>> x = dy2st.arange(16.0).reshape([1, 1, 4, 4])
    >>> dy2st.nn.functional.avg_pool2d(x, 2).tolist()
    [[[[2.5, 4.5], [10.5, 12.5]]]]
    """
    return means_of_windows(
        x, 2, kernel_size, stride, padding, exclusive, ceil_mode, divisor_override, data_format
    )


# -- adaptive ---------------------------------------------------------------------------------


def _bins(size: Size, count: int) -> list[tuple[Size, Size]]:
    """Where the parts begin and end: floor(i * size / count), ceil((i + 1) * size / count)."""
    return [(i * size // count, ceil_divide((i + 1) * size, count)) for i in range(count)]


def _output_sizes(x: Any, output_size: Any, axes: int) -> Iterator[tuple[int, Any]]:
    """The axes that change, and the size that each is to have."""
    sizes = list(output_size) if isinstance(output_size, (list, tuple)) else [output_size] * axes
    if len(sizes) != axes:
        raise ArgumentError(f"adaptive pooling: {axes} sizes, not {sizes}")
    for axis, given in enumerate(sizes, 2):
        size, wanted = x.shape[axis], None if given is None else as_size(given, "an output size")
        if wanted is None or wanted is size or equal(size, wanted) is True:
            continue
        require(size > 0, f"adaptive pooling: there is nothing along axis {axis}")
        yield axis, wanted


def adaptive(x: Any, output_size: Any, axes: int, reduce: str, data_format: str) -> Any:
    """The parts along every axis, one for each element of the result, reduced.

    From the last axis on: so that of equal elements the first one in memory is met first.
    """
    x, last = channels_first(x, data_format, axes)
    reduced = _first_largest if reduce == "max" else F.mean
    for axis, wanted in reversed(list(_output_sizes(x, output_size, axes))):
        if equal(wanted, 1) is True:
            x = reduced(x, axis=axis, keepdim=True)
            continue
        if isinstance(wanted, Dim):
            x = _unlisted(x, axis, wanted, reduce)
            continue
        parts = [
            reduced(F.slice(x, [axis], [a], [b]), axis=axis, keepdim=True)
            for a, b in _bins(x.shape[axis], wanted)
        ]
        x = F.concat(parts, axis=axis)
    return channels_back(x, last)


def _first_largest(x: Any, axis: int, keepdim: bool) -> Any:
    """The largest along an axis; of equal ones the first gets the gradient."""
    return F.take_along_axis(x, F.argmax(x, axis, keepdim=keepdim), axis, broadcast=False)


def _unlisted(x: Any, axis: int, count: Dim, reduce: str) -> Any:
    """So many parts that only the run can list them: all of x for each, where it has elements."""
    require(count > 0, "adaptive pooling: a result of no elements")
    size = x.shape[axis]
    part, place = F.unsqueeze(F.arange(count), 1), F.arange(size)
    first = F.floor_divide(part * size, count)
    behind = F.floor_divide((part + 1) * size + (count - 1), count)
    is_in = F.logical_and(F.less_equal(first, place), F.less_than(place, behind))
    is_in = F.reshape(is_in, [count, size, *[1] * (x.ndim - 1 - axis)])
    other = _lowest(x.dtype) if reduce == "max" else 0
    kept = F.where(is_in, F.unsqueeze(x, [axis]), F.full([], other, x.dtype))
    if reduce == "max":
        return F.squeeze(_first_largest(kept, axis + 1, keepdim=True), [axis + 1])
    made = F.mean(kept, axis=axis + 1)
    lengths = F.reshape(behind - first, [count, *[1] * (x.ndim - 1 - axis)])
    return made * F.cast(F.divide(size, lengths), made.dtype)


def adaptive_with_places(x: Any, output_size: Any, axes: int) -> tuple[Any, Any]:
    """The (first) largest element of every part, and its place in the flattened spatial axes."""
    channels_first(x, "NC", axes)
    spatial = x.shape[2:]
    places = F.broadcast_to(F.reshape(F.arange(product(spatial)), spatial), x.shape)
    # From the last axis on: so that of equal elements the first one in memory is met first.
    for axis, wanted in reversed(list(_output_sizes(x, output_size, axes))):
        values, found = [], []
        for a, b in _bins(x.shape[axis], as_int(wanted, "the output size, with places,")):
            part, numbers = (F.slice(y, [axis], [a], [b]) for y in (x, places))
            largest = F.argmax(part, axis, keepdim=True)
            values.append(F.take_along_axis(part, largest, axis, broadcast=False))
            found.append(F.take_along_axis(numbers, largest, axis, broadcast=False))
        x, places = F.concat(values, axis=axis), F.concat(found, axis=axis)
    return x, F.cast(places, "int32")


@public
def adaptive_avg_pool1d(x: Any, output_size: Any, name: str | None = None) -> Any:
    """(n, c, l) -> (n, c, output_size): means of equal parts.

    >>> x = dy2st.to_tensor([[[1.0, 3.0, 5.0, 7.0]]])
    >>> dy2st.nn.functional.adaptive_avg_pool1d(x, 2).tolist()
    [[[2.0, 6.0]]]
    """
    return adaptive(x, output_size, 1, "mean", "NCL")


@public
def adaptive_avg_pool2d(
    x: Any, output_size: Any, data_format: str = "NCHW", name: str | None = None
) -> Any:
    """(n, c, h, w) -> (n, c, *output_size): means of equal parts; None keeps a size.

    >>> x = dy2st.arange(16.0).reshape([1, 1, 4, 4])
    >>> dy2st.nn.functional.adaptive_avg_pool2d(x, [1, None]).tolist()
    [[[[6.0, 7.0, 8.0, 9.0]]]]
    """
    return adaptive(x, output_size, 2, "mean", data_format)


@public
def adaptive_max_pool1d(
    x: Any, output_size: Any, return_mask: bool = False, name: str | None = None
) -> Any:
    """(n, c, l) -> (n, c, output_size): the largest of equal parts; their places too if asked.

    >>> x = dy2st.to_tensor([[[1.0, 3.0, 5.0, 7.0]]])
    >>> dy2st.nn.functional.adaptive_max_pool1d(x, 2).tolist()
    [[[3.0, 7.0]]]
    """
    if return_mask:
        return adaptive_with_places(x, output_size, 1)
    return adaptive(x, output_size, 1, "max", "NCL")


@public
def adaptive_max_pool2d(
    x: Any, output_size: Any, return_mask: bool = False, name: str | None = None
) -> Any:
    """(n, c, h, w) -> (n, c, *output_size): the largest of equal parts; None keeps a size.

    With `return_mask` also their places in the flattened image.

    >>> x = dy2st.arange(16.0).reshape([1, 1, 4, 4])
    >>> dy2st.nn.functional.adaptive_max_pool2d(x, 2).tolist()
    [[[[5.0, 7.0], [13.0, 15.0]]]]
    """
    if return_mask:
        return adaptive_with_places(x, output_size, 2)
    return adaptive(x, output_size, 2, "max", "NCHW")
