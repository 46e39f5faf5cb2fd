"""Images that are looked at where a grid points, along any number of axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import product as corners_of
from typing import Any

from dy2st.errors import ArgumentError
from dy2st_runtime.dims import Size, product
from dy2st_runtime.ir import F, is_floating

_MODES = {"linear": "linear", "bilinear": "linear", "nearest": "nearest", "cubic": "cubic",
          "bicubic": "cubic"}  # fmt: skip
_PADDINGS = ("zeros", "border", "reflection")
_SLOPE = -0.75
"""Of the cubic kernel at a distance of 1 pixel."""


def grid_sample(
    X: Any,
    grid: Any,
    *,
    align_corners: int = 0,
    mode: str = "linear",
    padding_mode: str = "zeros",
    brings_in: bool = True,
) -> Any:
    """(n, c, *sizes), (n, *points, axes) -> (n, c, *points): X at places from -1 to 1, x first.

    A place beyond the image is brought in by `padding_mode`, as in ONNX; without `brings_in` only
    the pixels around it are, as in torch's cubic mode.

    >>> image = F.reshape(F.arange(4.0), [1, 1, 2, 2])
    >>> grid_sample(image, F.zeros([1, 1, 1, 2])).item()
    1.5
    """
    if mode not in _MODES:
        raise ArgumentError(f"GridSample: mode is linear, nearest or cubic, not {mode!r}")
    if padding_mode not in _PADDINGS:
        raise ArgumentError(f"GridSample: padding_mode is one of {_PADDINGS}, not {padding_mode!r}")
    axes, image, points = X.ndim - 2, X.shape[2:], grid.shape[1:-1]
    flat = F.reshape(grid, [grid.shape[0], product(points), axes])
    exact = "float64" if "float64" in (X.dtype.name, grid.dtype.name) else "float32"
    flat = F.cast(flat, exact)
    wide = F.flatten(F.cast(X, exact), 2)
    taps = []
    for axis, size in enumerate(image):
        coordinate = F.squeeze(F.slice(flat, [2], [axes - 1 - axis], [axes - axis]), [2])
        if align_corners:  # from -1 to 1 as a number of pixels
            place = (coordinate + 1.0) / 2.0 * _number(size - 1, coordinate)
        else:
            place = ((coordinate + 1.0) * _number(size, coordinate) - 1.0) / 2.0
        place = F.round(place) if _MODES[mode] == "nearest" else place
        if brings_in:
            place = _brought_in(place, size, bool(align_corners), padding_mode)
        taps.append(_TAPS[_MODES[mode]](place))
    total = None
    for corner in corners_of(*taps):
        places = [place for place, _ in corner]
        pixels = _pixels(wide, places, image, bool(align_corners), padding_mode)
        weight = reduce(lambda a, b: a * b, [weight for _, weight in corner])
        part = pixels if isinstance(weight, float) else pixels * F.unsqueeze(weight, [1])
        total = part if total is None else total + part
    if not is_floating(X.dtype):
        total = F.trunc(total)
    return F.cast(F.reshape(total, [*X.shape[:2], *points]), X.dtype)


def _number(size: Size, like: Any) -> Any:
    return float(size) if isinstance(size, int) else F.cast(size, like.dtype)


def _brought_in(place: Any, size: Size, align_corners: bool, padding_mode: str) -> Any:
    """A place beyond the image brought to its border, or reflected by it; others as they are."""
    if padding_mode == "zeros":
        return place
    last = _number(size - 1, place)
    edge = 0.0 if align_corners else 0.5
    beyond = F.logical_or(F.less_than(place, -edge), F.greater_than(place, last + edge))
    if padding_mode == "border":
        return F.where(beyond, F.minimum(F.maximum(place, 0.0), last), place)
    period = (last + 2.0 * edge) * 2.0
    period = max(period, 1.0) if isinstance(period, float) else F.maximum(period, 1.0)
    along = F.remainder(F.abs(place + edge), period)
    return F.where(beyond, F.minimum(along, period - along) - edge, place)


def _linear(place: Any) -> list[tuple[Any, Any]]:
    low = F.floor(place)
    share = place - low
    return [(low, 1.0 - share), (low + 1.0, share)]


def _cubic(place: Any) -> list[tuple[Any, Any]]:
    low = F.floor(place)
    share = place - low
    weights = [_far(share + 1.0), _near(share), _near(1.0 - share), _far(2.0 - share)]
    return [(low + float(n), weight) for n, weight in zip(range(-1, 3), weights, strict=True)]


def _near(t: Any) -> Any:
    """The cubic kernel at a distance up to 1."""
    return ((_SLOPE + 2.0) * t - (_SLOPE + 3.0)) * t * t + 1.0


def _far(t: Any) -> Any:
    """The cubic kernel at a distance from 1 to 2."""
    return ((t - 5.0) * t + 8.0) * t * _SLOPE - 4.0 * _SLOPE


_TAPS: dict[str, Callable[[Any], list[tuple[Any, Any]]]] = {
    "nearest": lambda place: [(place, 1.0)],
    "linear": _linear,
    "cubic": _cubic,
}


def _pixels(
    x: Any, places: Sequence[Any], sizes: Sequence[Size], align_corners: bool, padding_mode: str
) -> Any:
    """(n, c, pixels) at whole places (n, points) along each axis -> (n, c, points)."""
    index: Any = None
    valid: Any = None
    for place, size in zip(places, sizes, strict=True):
        place = _brought_in(place, size, align_corners, padding_mode)
        kept = F.minimum(F.maximum(place, 0.0), _number(size - 1, place))
        if padding_mode == "zeros":
            inside = F.equal(kept, place)
            valid = inside if valid is None else F.logical_and(valid, inside)
        whole = F.cast(kept, "int64")
        if index is None:
            index = whole
        else:
            index = index * (size if isinstance(size, int) else F.cast(size, "int64")) + whole
    pixels = F.take_along_axis(x, F.unsqueeze(index, [1]), 2)
    if valid is None:
        return pixels
    return F.where(F.unsqueeze(valid, [1]), pixels, F.zeros_like(pixels))


__all__ = ["grid_sample"]
