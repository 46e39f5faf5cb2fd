"""Images of another size: `interpolate`, axis by axis, by one table of methods."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dy2st_runtime.dims import less_equal, minimum, require
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F, public
from dy2st_runtime.ir.arguments import as_integers, as_shape, is_unknown
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.ops.rules import created

_RANKS = {
    "nearest": (3, 4, 5),
    "linear": (3,),
    "bilinear": (3, 4, 5),
    "bicubic": (4,),
    "trilinear": (5,),
    "area": (3, 4, 5),
}
MODES = tuple(_RANKS)
_SLOPE = -0.75
"""Of the cubic kernel at a distance of 1 pixel."""


class _How(NamedTuple):
    """What is the same for all axes."""

    mode: str
    align_corners: bool
    align_mode: int


@public
def interpolate(
    x: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
    name: str | None = None,
) -> Any:
    """Images of another size: (n, c, h, w) -> (n, c, h', w'), and so with one or three axes.

    Pixel i of the result lies at (i + 0.5) * ratio - 0.5, with `align_mode=1` at i * ratio; the
    ratio is h / h', or 1 / scale_factor unless `recompute_scale_factor`. With `align_corners` it
    lies at i * (h - 1) / (h' - 1). 'nearest' takes floor(i * ratio), 'area' the mean of a part.

    >>> x = dy2st.to_tensor([[[[1.0, 2.0]]]])
    >>> dy2st.nn.functional.interpolate(x, size=[1, 4]).tolist()
    [[[[1.0, 1.0, 2.0, 2.0]]]]
    >>> dy2st.nn.functional.interpolate(x, size=[1, 4], mode="bilinear").tolist()
    [[[[1.0, 1.25, 1.75, 2.0]]]]
    """
    if mode not in _RANKS:
        known = ", ".join(map(repr, MODES))
        raise ArgumentError(f"interpolate: mode is one of {known}, not {mode!r}")
    if x.ndim not in _RANKS[mode]:
        wanted = " or ".join(map(str, _RANKS[mode]))
        raise ShapeError(f"interpolate: {mode!r} is for {wanted} axes, the shape is {x.shape}")
    if (size is None) == (scale_factor is None):
        raise ArgumentError("interpolate: give either size or scale_factor")
    if align_corners and mode in ("nearest", "area"):
        raise ArgumentError(f"interpolate: {mode!r} has no align_corners")
    if antialias:
        raise ArgumentError("interpolate has no antialias: blur the image before, by avg_pool2d")
    how = _How(mode, bool(align_corners), align_mode)
    if data_format is not None and data_format[-1] == "C":
        y = _interpolate(F.moveaxis(x, -1, 1), size, scale_factor, how, recompute_scale_factor)
        return F.moveaxis(y, 1, -1)
    return _interpolate(x, size, scale_factor, how, recompute_scale_factor)


def _interpolate(x: Any, size: Any, factor: Any, how: _How, recomputed: bool | None) -> Any:
    if is_unknown(size):
        wanted, known = as_integers(size)
        return F.dynamic("resize", x, wanted, known=known, **how._asdict())
    if is_unknown(factor):
        # A tensor of one or several numbers, whole or not.
        as_tensor = F.stack(list(factor)) if isinstance(factor, (list, tuple)) else factor
        return F.dynamic("upsampling", x, as_tensor, **how._asdict())
    given: Any = factor
    if size is not None:
        given = as_shape(size)
    elif isinstance(factor, Tensor) and not isinstance(factor, Variable):
        given = np.asarray(factor)
    if isinstance(given, np.ndarray):
        given = given.item() if given.size == 1 else given.tolist()
    given = given if isinstance(given, (list, tuple)) else [given] * (x.ndim - 2)
    if len(given) != x.ndim - 2:
        raise ShapeError(f"interpolate: {list(given)} for the axes behind (n, c) of {x.shape}")
    if size is None:
        if any(isinstance(one, (int, float)) and not one > 0 for one in given):
            raise ArgumentError(f"interpolate: scale_factor is above 0, not {factor}")
        sizes = [_scaled(n, factor) for n, factor in zip(x.shape[2:], given, strict=True)]
    else:
        created("interpolate", x.dtype, given)
        sizes = list(given)
    if how.mode == "area":
        return getattr(F, f"adaptive_avg_pool{x.ndim - 2}d")(x, sizes)
    factors = [None] * len(sizes) if size is not None or recomputed else given
    for axis, (wanted, scale) in enumerate(zip(sizes, factors, strict=True), 2):
        least, old = minimum(wanted, 1), x.shape[axis]
        are_there = size is None or less_equal(least, old) is True or least <= old
        require(are_there, f"interpolate: an image of {x.shape[2:]} has no pixels to repeat")
        x = _resized(x, axis, wanted, scale, how)
    return x


_FINEST_FACTOR = 1024


def _scaled(size: Any, factor: Any) -> Any:
    if isinstance(size, int):
        return int(size * factor)
    above, below = float(factor).as_integer_ratio()
    if below > _FINEST_FACTOR:  # floats would round the product
        raise ArgumentError(
            f"interpolate: the factor {factor} needs a known size, not {size}; a factor such as "
            "1.5, that is a fraction by a power of two, does not"
        )
    return size * above // below


def _resized(x: Any, axis: int, size: Any, factor: Any, how: _How) -> Any:
    """x with another size along one axis."""
    old = x.shape[axis]
    if how.mode == "nearest":
        # Rounded as PaddlePaddle rounds: a place may fall a pixel short where old / size is odd.
        ratio = _ratio(old, size, factor, "float32")
        places = F.cast(F.floor(F.cast(F.arange(size), "float32") * ratio), "int64")
        return F.gather(x, _inside(places, old), axis)
    steps = F.cast(F.arange(size), "float64")
    if how.align_corners:
        places = steps * F.cast(old - 1, "float64") / F.maximum(F.cast(size - 1, "float64"), 1.0)
    elif how.align_mode == 1 and how.mode != "bicubic":
        places = steps * _ratio(old, size, factor, "float64", x.dtype == "float64")
    else:
        ratio = _ratio(old, size, factor, "float64", x.dtype == "float64")
        places = (steps + 0.5) * ratio - 0.5
    return (_cubic if how.mode == "bicubic" else _linear)(x, axis, size, places)


def _ratio(old: Any, size: Any, factor: Any, dtype: str, exactly: bool = False) -> Any:
    """How many pixels there were for one that there will be; rounded as PaddlePaddle does."""
    if factor is None:
        return F.cast(old, dtype) / F.cast(size, dtype)
    if exactly:
        return F.full([], 1.0 / factor, dtype)
    return F.cast(float(np.float32(1) / np.float32(factor)), dtype)


def _inside(places: Any, old: Any) -> Any:
    return F.maximum(F.minimum(places, F.cast(old - 1, "int64")), 0)


def _share(share: Any, x: Any, axis: int, size: Any) -> Any:
    """Numbers along one axis, in the dtype of x."""
    shape: list[Any] = [1] * x.ndim
    shape[axis] = size
    return F.cast(F.reshape(share, shape), x.dtype)


def _linear(x: Any, axis: int, size: Any, places: Any) -> Any:
    places = F.maximum(places, 0.0)
    index = _inside(F.cast(F.floor(places), "int64"), x.shape[axis])
    share = _share(places - F.cast(index, "float64"), x, axis, size)
    first = F.gather(x, index, axis)
    second = F.gather(x, _inside(index + 1, x.shape[axis]), axis)
    return first * (1.0 - share) + second * share


def _cubic(x: Any, axis: int, size: Any, places: Any) -> Any:
    """The sum of four pixels by the kernel of Keys, with the outermost repeated."""
    low = F.floor(places)
    t = places - low
    index = F.cast(low, "int64")
    taps = [_far(t + 1.0), _near(t), _near(1.0 - t), _far(2.0 - t)]
    total = None
    for offset, share in enumerate(taps, -1):
        pixels = F.gather(x, _inside(index + offset, x.shape[axis]), axis)
        part = pixels * _share(share, x, axis, size)
        total = part if total is None else total + part
    return total


def _near(t: Any) -> Any:
    """The kernel at a distance up to 1."""
    return ((_SLOPE + 2.0) * t - (_SLOPE + 3.0)) * t * t + 1.0


def _far(t: Any) -> Any:
    """The kernel at a distance from 1 to 2."""
    return ((t - 5.0) * t + 8.0) * t * _SLOPE - 4.0 * _SLOPE


@public
def upsample(
    x: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str | None = None,
    name: str | None = None,
) -> Any:
    """`interpolate` under another name.

    >>> dy2st.nn.functional.upsample(dy2st.ones([1, 3, 4, 4]), scale_factor=2).shape
    [1, 3, 8, 8]
    """
    return interpolate(x, size, scale_factor, mode, align_corners, align_mode, data_format)


__all__ = ["interpolate", "upsample"]
