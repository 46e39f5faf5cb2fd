"""Resize: an axis at a time, as sums of neighbours that a table of modes weighs.

The place in x of an element of the result is a float64, by the mode of coordinates; then come the
neighbours of that place and their weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np

from dy2st.errors import ArgumentError
from dy2st.importers.onnx.functions.late import as_float, as_whole, elements
from dy2st.importers.onnx.functions.late import sizes as whole
from dy2st_runtime.dims import Size, ceil_divide, equal, maximum, minimum
from dy2st_runtime.ir import F, is_floating


class _How(NamedTuple):
    """What is the same for all axes."""

    mode: str
    nearest_mode: str
    coordinates: str
    antialias: bool
    exclude_outside: bool
    slope: float
    beyond: float


class _Axis(NamedTuple):
    """One axis: its sizes before and after, the factor between them, and the part that is taken."""

    number: int
    old: Size
    new: Size
    factor: Any
    roi: tuple[Any, Any]


def resize(
    X: Any,
    roi: Any = None,
    scales: Any = None,
    sizes: Any = None,
    *,
    antialias: int = 0,
    axes: Sequence[int] | None = None,
    coordinate_transformation_mode: str = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: str = "stretch",
    mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
) -> Any:
    """X of other sizes, by `scales` or `sizes` of all axes or of `axes`; both lists or tensors.

    >>> from dy2st_runtime.tensor import to_tensor
    >>> resize(to_tensor([1, 2]), None, [2.0]).tolist()
    [1, 1, 2, 2]
    """
    how = _How(
        mode,
        nearest_mode,
        coordinate_transformation_mode,
        bool(antialias),
        bool(exclude_outside),
        cubic_coeff_a,
        extrapolation_value,
    )
    _check(how, scales, sizes)
    chosen = [axis % X.ndim for axis in (range(X.ndim) if axes is None else axes)]
    before = [X.shape[axis] for axis in chosen]
    after, factors = _targets(before, scales, sizes, keep_aspect_ratio_policy)
    parts = [] if roi is None else elements(roi)
    if not parts:
        parts = [0.0] * len(chosen) + [1.0] * len(chosen)
    wide = X
    if mode != "nearest":
        exact = "float64" if not is_floating(X.dtype) or X.dtype.itemsize == 8 else "float32"
        wide = F.cast(X, exact)
    for n, (number, old, new, factor) in enumerate(
        zip(chosen, before, after, factors, strict=True)
    ):
        axis = _Axis(number, old, new, factor, (parts[n], parts[n + len(chosen)]))
        if not _is_identity(axis, how):
            wide = _resized(wide, axis, how)
    return _narrow(wide, X.dtype)


def upsample(X: Any, scales: Any, *, mode: str = "nearest") -> Any:
    """X with each axis as many times as large: Upsample, and Resize of opset 10."""
    return resize(
        X,
        None,
        scales,
        mode=mode,
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )


def _check(how: _How, scales: Any, sizes: Any) -> None:
    if how.mode not in ("nearest", "linear", "cubic"):
        raise ArgumentError(f"Resize: mode is nearest, linear or cubic, not {how.mode!r}")
    if how.coordinates not in _PLACES:
        known = ", ".join(_PLACES)
        raise ArgumentError(f"Resize: the coordinates are one of {known}, not {how.coordinates!r}")
    if how.nearest_mode not in _NEAREST:
        known = ", ".join(_NEAREST)
        raise ArgumentError(f"Resize: nearest_mode is one of {known}, not {how.nearest_mode!r}")
    if how.mode == "nearest" and how.antialias:
        raise ArgumentError("Resize: the mode nearest has no antialias")
    if (scales is None) == (sizes is None):
        raise ArgumentError("Resize: give either scales or sizes")


def _narrow(x: Any, dtype: Any) -> Any:
    """x in the dtype that it had: integers are rounded, and never overflow."""
    if x.dtype == dtype or is_floating(dtype):
        return F.cast(x, dtype)
    limits = np.iinfo(dtype)
    return F.cast(F.clip(F.round(x), float(limits.min), float(limits.max)), dtype)


def _targets(
    before: Sequence[Size], scales: Any, sizes: Any, policy: str
) -> tuple[list[Size], list[Any]]:
    """The sizes afterwards, and how many elements come of one."""
    given = elements(scales) if sizes is None else whole(sizes)
    if len(given) != len(before):
        raise ArgumentError(f"Resize: {len(given)} scales or sizes for {len(before)} axes")
    if sizes is None:
        factors = [
            float(np.float32(one)) if isinstance(one, (int, float)) else as_float(one)
            for one in given
        ]
        return [_scaled(n, factor) for n, factor in zip(before, factors, strict=True)], factors
    ratios = [as_float(new) / as_float(old) for new, old in zip(given, before, strict=True)]
    if policy == "stretch":
        return given, ratios
    if policy not in ("not_larger", "not_smaller"):
        raise ArgumentError(
            f"Resize: the policy is stretch, not_larger or not_smaller, not {policy!r}"
        )
    smaller = policy == "not_larger"
    ratio = reduce(partial(_bound, largest=not smaller), ratios)
    choose = minimum if smaller else maximum
    after = [
        reduce(
            choose,
            [(2 * new * size + old) // (2 * old) for new, old in zip(given, before, strict=True)],
        )
        for size in before
    ]
    return after, [ratio] * len(before)


def _bound(left: Any, right: Any, largest: bool = False) -> Any:
    """The smaller of two floats, or the larger; of Python's or tensors."""
    if isinstance(left, float) and isinstance(right, float):
        return max(left, right) if largest else min(left, right)
    return F.maximum(left, right) if largest else F.minimum(left, right)


def _scaled(size: Size, factor: Any) -> Size:
    """floor(size * factor), exactly: a factor is a fraction by a power of two."""
    if not isinstance(factor, float):
        return whole(F.floor(factor * as_float(size)))[0]
    above, below = factor.as_integer_ratio()
    return size * above // below


def _is_identity(axis: _Axis, how: _How) -> bool:
    if equal(axis.old, axis.new) is not True:
        return False
    if how.coordinates == "tf_crop_and_resize" and not (
        all(isinstance(end, (int, float)) for end in axis.roi) and axis.roi == (0.0, 1.0)
    ):
        return False
    return not isinstance(axis.factor, float) or math.isclose(axis.factor, 1.0)


def _resized(x: Any, axis: _Axis, how: _How) -> Any:
    places = _PLACES[how.coordinates](F.cast(F.arange(axis.new), "float64"), axis)
    if how.mode == "nearest":
        index = F.cast(_NEAREST[how.nearest_mode](places), "int64")
        y = F.gather(x, _inside(index, axis.old), axis.number)
    elif how.antialias:
        y = _filtered(x, axis, places, how)
    else:
        y = _interpolated(x, axis, places, how)
    if how.coordinates != "tf_crop_and_resize":
        return y
    last = as_float(axis.old) - 1.0
    beyond = F.logical_or(F.less_than(places, 0.0), F.greater_than(places, last))
    value = F.full([], how.beyond, y.dtype)
    return F.where(F.reshape(beyond, _along(axis, y.ndim)), value, y)


def _along(axis: _Axis, rank: int) -> list[Any]:
    shape: list[Any] = [1] * rank
    shape[axis.number] = axis.new
    return shape


def _inside(index: Any, size: Size) -> Any:
    return F.maximum(F.minimum(index, as_whole(size - 1)), 0)


# Places


_PLACES: dict[str, Callable[[Any, _Axis], Any]] = {
    "asymmetric": lambda steps, axis: steps / axis.factor,
}


def _coordinates(mode: str) -> Callable[[Callable[[Any, _Axis], Any]], Callable[[Any, _Axis], Any]]:
    """Enter a function as the meaning of a mode: where in x the elements of the result lie."""

    def enter(function: Callable[[Any, _Axis], Any]) -> Callable[[Any, _Axis], Any]:
        _PLACES[mode] = function
        return function

    return enter


@_coordinates("half_pixel")
def _half_pixel(steps: Any, axis: _Axis) -> Any:
    return (steps + 0.5) / axis.factor - 0.5


@_coordinates("half_pixel_symmetric")
def _symmetric(steps: Any, axis: _Axis) -> Any:
    """The centre of x is the centre of the result, where its size is no whole multiple."""
    old = as_float(axis.old)
    share = as_float(axis.new) / (old * axis.factor)
    return (steps + 0.5) / axis.factor - 0.5 + old / 2.0 * (1.0 - share)


def _chosen(width: Any, if_one: Any, otherwise: Callable[[Any], Any]) -> Any:
    """What is right where the result has one element, else what `otherwise` makes of its size."""
    if isinstance(width, float):
        return if_one if width == 1.0 else otherwise(width)
    is_one = F.equal(width, 1.0)
    return F.where(is_one, if_one, otherwise(F.where(is_one, F.full_like(width, 2.0), width)))


@_coordinates("pytorch_half_pixel")
def _pytorch_half_pixel(steps: Any, axis: _Axis) -> Any:
    alone = F.full_like(steps, -0.5)
    width = axis.factor * as_float(axis.old)
    return _chosen(width, alone, lambda _: _half_pixel(steps, axis))


@_coordinates("align_corners")
def _align_corners(steps: Any, axis: _Axis) -> Any:
    old = as_float(axis.old)
    width = axis.factor * old
    return _chosen(width, F.zeros_like(steps), lambda w: steps * (old - 1.0) / (w - 1.0))


@_coordinates("tf_crop_and_resize")
def _cropped(steps: Any, axis: _Axis) -> Any:
    start, end = axis.roi
    last = as_float(axis.old) - 1.0
    width = axis.factor * as_float(axis.old)
    middle = F.zeros_like(steps) + (end - start) * last / 2.0
    places = _chosen(width, middle, lambda w: steps * (end - start) * last / (w - 1.0))
    return places + start * last


_NEAREST: dict[str, Callable[[Any], Any]] = {
    "round_prefer_floor": lambda places: F.ceil(places - 0.5),
    "round_prefer_ceil": lambda places: F.floor(places + 0.5),
    "floor": lambda places: F.floor(places),
    "ceil": lambda places: F.ceil(places),
}


# Weights


def _keys(distance: Any, a: float) -> Any:
    """The cubic kernel of Keys, which is 0 from a distance of 2 on."""
    x = F.abs(distance)
    near = ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
    far = ((x - 5.0) * x + 8.0) * x * a - 4.0 * a
    zero = F.zeros_like(x)
    return F.where(F.less_equal(x, 1.0), near, F.where(F.less_than(x, 2.0), far, zero))


_KERNELS: dict[str, tuple[int, Callable[[Any, float], Any]]] = {
    "linear": (1, lambda distance, _: F.maximum(1.0 - F.abs(distance), 0.0)),
    "cubic": (2, _keys),
}


def _interpolated(x: Any, axis: _Axis, places: Any, how: _How) -> Any:
    """The sum of the neighbours on both sides; the outermost elements are repeated."""
    radius, kernel = _KERNELS[how.mode]
    low = F.floor(places)
    index = F.cast(low, "int64")
    offsets = range(1 - radius, 1 + radius)
    weights = [kernel(low + float(offset) - places, how.slope) for offset in offsets]
    if how.exclude_outside:
        weights = [
            F.where(_is_inside(index + offset, axis.old), weight, F.zeros_like(weight))
            for offset, weight in zip(offsets, weights, strict=True)
        ]
        whole = _unless_zero(reduce(F.add, weights))
        weights = [weight / whole for weight in weights]
    total = None
    for offset, weight in zip(offsets, weights, strict=True):
        pixels = F.gather(x, _inside(index + offset, axis.old), axis.number)
        part = pixels * F.cast(F.reshape(weight, _along(axis, x.ndim)), x.dtype)
        total = part if total is None else total + part
    return total


def _is_inside(index: Any, size: Size) -> Any:
    return F.logical_and(F.greater_equal(index, 0), F.less_than(index, as_whole(size)))


def _unless_zero(total: Any) -> Any:
    return F.where(F.equal(total, 0.0), F.ones_like(total), total)


def _filtered(x: Any, axis: _Axis, places: Any, how: _How) -> Any:
    """A product with the kernel, stretched where x has more elements than the result.

    As many elements as it reaches are repeated, or left out, on both sides of x.
    """
    radius, kernel = _KERNELS[how.mode]
    if isinstance(axis.factor, float):
        reach: Size = math.ceil(radius / min(axis.factor, 1.0)) + 1
    else:
        reach = ceil_divide(radius * axis.old, maximum(axis.new, 1)) + radius + 1
    index = F.arange(axis.old + 2 * reach) - reach
    distance = F.unsqueeze(F.cast(index, "float64"), [0]) - F.unsqueeze(places, [1])
    weights = kernel(distance * _bound(axis.factor, 1.0), how.slope)
    if how.exclude_outside:
        inside = F.unsqueeze(_is_inside(index, axis.old), [0])
        weights = F.where(inside, weights, F.zeros_like(weights))
    weights = weights / _unless_zero(F.sum(weights, axis=1, keepdim=True))
    last = F.moveaxis(F.gather(x, _inside(index, axis.old), axis.number), axis.number, -1)
    y = F.matmul(last, F.transpose(F.cast(weights, x.dtype), [1, 0]))
    return F.moveaxis(y, -1, axis.number)


__all__ = ["resize", "upsample"]
