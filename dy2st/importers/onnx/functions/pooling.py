"""Pooling as ONNX has it: windows with holes, cut windows, places, and the way back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import product as places_of
from typing import Any, NamedTuple

import numpy as np

from dy2st.errors import ArgumentError
from dy2st.importers.onnx.functions.geometry import Pairs, pairs, per_axis, window_pads
from dy2st.importers.onnx.functions.late import as_whole
from dy2st.importers.onnx.functions.late import sizes as whole
from dy2st_runtime.dims import Size, ceil_divide, maximum, minimum, product, same_shape
from dy2st_runtime.ir import F, apply, is_floating


class _Windows(NamedTuple):
    """Where the windows of an image lie; `room` is the pads and what the last windows lack."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: Pairs
    room: Pairs

    @property
    def plain(self) -> dict[str, Any]:
        """As the operators of the runtime take them, which know no holes."""
        return {"kernel": self.kernel, "strides": self.strides, "pads": self.room}

    @property
    def have_holes(self) -> bool:
        """Whether elements of a window are apart."""
        return any(d != 1 and k != 1 for d, k in zip(self.dilations, self.kernel, strict=True))


def _windows(
    x: Any,
    kernel_shape: Sequence[int],
    strides: Sequence[int] | None,
    dilations: Sequence[int] | None,
    pads: Sequence[int] | None,
    auto_pad: str,
    ceil_mode: int,
) -> _Windows:
    axes, sizes = x.ndim - 2, x.shape[2:]
    if len(kernel_shape) != axes:
        raise ArgumentError(f"pooling: a window of {list(kernel_shape)} for {axes} axes")
    kernel, steps = tuple(kernel_shape), per_axis(strides, axes)
    holes = per_axis(dilations, axes)
    own = window_pads(sizes, kernel, steps, holes, pads, auto_pad)
    room = own
    if ceil_mode and auto_pad == "NOTSET":
        room = tuple(
            (before, after + _missing(n, d * (k - 1) + 1, s, before, after))
            for n, k, s, d, (before, after) in zip(sizes, kernel, steps, holes, own, strict=True)
        )
    return _Windows(kernel, steps, holes, own, room)


def _missing(size: Size, reach: int, stride: int, before: Size, after: Size) -> Size:
    """What a last window that is cut needs; none if it would begin behind the image."""
    # By `ceil_mode` a last window may be cut, but must begin in the image or the pads before it.
    have = size + before + after
    count = minimum(ceil_divide(have - reach, stride) + 1, ceil_divide(size + before, stride))
    return maximum((count - 1) * stride + reach - have, 0)


def _lowest(dtype: np.dtype[Any]) -> float:
    return -np.inf if is_floating(dtype) else int(np.iinfo(dtype).min)


def _padded(x: Any, room: Pairs, value: float) -> Any:
    if same_shape(sum(room, ()), (0,) * (2 * len(room))) is True:
        return x
    return F.pad(x, [0, 0, 0, 0, *[size for pair in room for size in pair]], value=value)


def _shifted(wide: Any, w: _Windows) -> Iterator[tuple[tuple[int, ...], Any]]:
    """For every place of a window, the elements that windows have there."""
    axes = range(2, wide.ndim)
    counts = [
        (n - d * (k - 1) - 1) // s + 1
        for n, k, s, d in zip(wide.shape[2:], w.kernel, w.strides, w.dilations, strict=True)
    ]
    for place in places_of(*map(range, w.kernel)):
        starts = [k * d for k, d in zip(place, w.dilations, strict=True)]
        ends = [a + s * (n - 1) + 1 for a, s, n in zip(starts, w.strides, counts, strict=True)]
        yield place, F.strided_slice(wide, [*axes], starts, ends, [*w.strides])


def max_pool(
    X: Any,
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Sequence[int] | None = None,
    kernel_shape: Sequence[int] = (),
    pads: Sequence[int] | None = None,
    storage_order: int = 0,
    strides: Sequence[int] | None = None,
    outputs: int = 1,
) -> Any:
    """The largest element of every window; with two `outputs` its place in the flattened X too.

    >>> from dy2st_runtime.tensor import to_tensor
    >>> max_pool(to_tensor([[[1.0, 3.0, 2.0]]]), kernel_shape=[2]).tolist()
    [[[3.0, 3.0]]]
    """
    w = _windows(X, kernel_shape, strides, dilations, pads, auto_pad, ceil_mode)
    if not w.have_holes:
        values, places = apply("max_pool", X, **w.plain)
    elif outputs == 1:
        parts = (part for _, part in _shifted(_padded(X, w.room, _lowest(X.dtype)), w))
        values = reduce(F.maximum, parts)
    else:
        values, places = _largest(X, w)
    return values if outputs == 1 else (values, _flat_places(places, X, storage_order))


def _largest(x: Any, w: _Windows) -> tuple[Any, Any]:
    """The first largest element of windows with holes, and its place in the spatial axes."""
    parts = [*_shifted(_padded(x, w.room, _lowest(x.dtype)), w)]
    values = reduce(F.maximum, [part for _, part in parts])
    place = None
    # Backwards, so that of equal elements the first has the last word.
    for inside, part in reversed(parts):
        here = _place(inside, values.shape[2:], x.shape[2:], w)
        here = F.broadcast_to(here, values.shape)
        place = here if place is None else F.where(F.equal(part, values), here, place)
    return values, place


def _place(inside: Sequence[int], counts: Any, sizes: Any, w: _Windows) -> Any:
    """Where, in the flattened image, a place of each window lies: (1, 1, *counts)."""
    total: Any = None
    for axis, count in enumerate(counts):
        first = inside[axis] * w.dilations[axis] - w.pads[axis][0]
        along = F.arange(count) * w.strides[axis] + as_whole(first)
        shape = [1, 1, *[1] * len(counts)]
        shape[2 + axis] = count
        along = F.reshape(along, shape) * as_whole(product(sizes[axis + 1 :]))
        total = along if total is None else total + along
    return total


def _flat_places(places: Any, x: Any, storage_order: int) -> Any:
    """Places in all of x, of places in its spatial axes; the last axis first if it is asked for."""
    sizes = x.shape[2:]
    if storage_order and len(sizes) > 1:
        rest, step = places, product(sizes)
        found: list[Any] = []
        for size in sizes:
            step = step // size if isinstance(step, int) else product(sizes[len(found) + 1 :])
            found.append(F.floor_divide(rest, as_whole(step)))
            rest = F.remainder(rest, as_whole(step))
        places, step = None, 1
        for size, along in zip(sizes, found, strict=True):
            part = along * as_whole(step)
            places, step = (part if places is None else places + part), step * size
    image, samples, channels = product(sizes), x.shape[0], x.shape[1]
    starts = F.reshape(F.arange(samples * channels), [samples, channels, *[1] * len(sizes)])
    return places + starts * as_whole(image)


def average_pool(
    X: Any,
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    dilations: Sequence[int] | None = None,
    kernel_shape: Sequence[int] = (),
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Any:
    """The mean of every window; pads count if asked for, what ceil_mode adds never does.

    >>> from dy2st_runtime.tensor import to_tensor
    >>> average_pool(to_tensor([[[1.0, 3.0, 2.0]]]), kernel_shape=[2]).tolist()
    [[[2.0, 2.5]]]
    """
    w = _windows(X, kernel_shape, strides, dilations, pads, auto_pad, ceil_mode)
    wide = F.cast(X, "float32") if X.dtype.itemsize == 2 else X
    total, axes = _summed(wide, w), len(w.kernel)
    own = w.pads if count_include_pad else ((0, 0),) * axes
    if same_shape(sum(w.room, ()), sum(own, ())) is True:
        return F.cast(total / float(product(w.kernel)), X.dtype)
    ones = _padded(F.ones([1, 1, *X.shape[2:]], wide.dtype), own, 1.0)
    rest = tuple((a - b, c - d) for (a, c), (b, d) in zip(w.room, own, strict=True))
    return F.cast(total / _summed(ones, w._replace(room=rest)), X.dtype)


def _summed(x: Any, w: _Windows) -> Any:
    """The sum of every window; there are zeros around."""
    if not w.have_holes:
        return apply("window_sum", x, **w.plain)
    return reduce(F.add, (part for _, part in _shifted(_padded(x, w.room, 0.0), w)))


def lp_pool(
    X: Any,
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Sequence[int] | None = None,
    kernel_shape: Sequence[int] = (),
    p: int = 2,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Any:
    """The p-norm of every window; there are zeros around."""
    w = _windows(X, kernel_shape, strides, dilations, pads, auto_pad, ceil_mode)
    wide = F.cast(X, "float32") if X.dtype.itemsize == 2 else X
    power = _power(F.abs(wide), float(p))
    return F.cast(_power(_summed(power, w), 1.0 / p), X.dtype)


def _power(x: Any, exponent: float) -> Any:
    if exponent == 1.0:
        return x
    return F.square(x) if exponent == 2.0 else F.pow(x, exponent)


def max_unpool(
    X: Any,
    I: Any,  # noqa: E741
    output_shape: Any = None,
    *,
    kernel_shape: Sequence[int] = (),
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Any:
    """Zeros, and the elements of X at the places that max_pool told.

    With zeros behind where `output_shape` is larger.
    """
    axes = X.ndim - 2
    steps, around = per_axis(strides, axes), pairs(pads, axes)
    sizes = [
        (n - 1) * s - before - after + k
        for n, s, k, (before, after) in zip(X.shape[2:], steps, kernel_shape, around, strict=True)
    ]
    shape = [X.shape[0], X.shape[1], *sizes]
    flat = F.zeros([product(shape)], X.dtype)
    flat = F.put_along_axis(flat, F.flatten(I), F.flatten(X), 0)
    y = F.reshape(flat, shape)
    if output_shape is None:
        return y
    room = [end for n, m in zip(shape, whole(output_shape), strict=True) for end in (0, m - n)]
    return F.pad(y, room)


__all__ = ["average_pool", "lp_pool", "max_pool", "max_unpool"]
