"""Resizing of arrays: each axis by itself, where a pixel is a square around its centre.

Nothing is smoothed when a picture shrinks. It is what OpenCV computes, but for roundings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st.paddle.vision.transforms.pictures import Array, as_type
from dy2st_runtime.errors import ArgumentError

Weights = dict[int, Array]
"""The weight of the pixel so many steps behind the one at or before the place."""


def resize_array(image: Array, size: tuple[int, int], interpolation: str) -> Array:
    """The picture (h, w, c) with another height and width."""
    if interpolation == "nearest":
        rows, columns = (_nearest(image.shape[axis], size[axis]) for axis in (0, 1))
        return image[rows][:, columns]
    if interpolation not in WEIGHTS:
        raise ArgumentError(
            f"interpolation={interpolation!r} of arrays and tensors: "
            f"write one of {', '.join(map(repr, ['nearest', *WEIGHTS]))}, or give an image of PIL"
        )
    values = image.astype("float64" if image.dtype == "float64" else "float32")
    for axis in (0, 1):
        values = _along(values, axis, size[axis], WEIGHTS[interpolation])
    return as_type(values, image.dtype)


def _nearest(old: int, new: int) -> Array:
    places: Array = np.minimum(np.arange(new) * (old / new), old - 1).astype("int64")
    return places


def _along(values: Array, axis: int, new: int, weights: Callable[[Array], Weights]) -> Array:
    old = values.shape[axis]
    if old == new:
        return values
    places = (np.arange(new) + 0.5) * (old / new) - 0.5
    before = np.floor(places)
    shape = [-1 if other == axis else 1 for other in range(values.ndim)]
    total: Any = 0
    for step, weight in weights(places - before).items():
        taken = values.take(np.clip(before + step, 0, old - 1).astype("int64"), axis)
        total = total + taken * weight.reshape(shape).astype(values.dtype)
    result: Array = total
    return result


def _linear(rest: Array) -> Weights:
    return {0: 1 - rest, 1: rest}


def _cubic(rest: Array) -> Weights:
    """Keys' cubic with a = -0.75."""
    a = -0.75

    def near(x: Array) -> Array:
        result: Array = ((a + 2) * x - (a + 3)) * x * x + 1
        return result

    def far(x: Array) -> Array:
        result: Array = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return result

    return {-1: far(rest + 1), 0: near(rest), 1: near(1 - rest), 2: far(2 - rest)}


WEIGHTS = {"bilinear": _linear, "bicubic": _cubic}
"""The interpolations that read several pixels."""
