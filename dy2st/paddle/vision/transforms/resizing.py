"""Resizes arrays: each axis by itself, where a pixel is a square around its centre.

Nothing is smoothed when a picture shrinks. It is what OpenCV computes, but for roundings.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st.paddle.vision.transforms.pictures import Array, as_type
from dy2st_runtime.errors import ArgumentError

Weights = dict[int, Array]
"""The weight of the pixel so many steps behind the one at or before the place."""


def resize_array(image: Array, size: tuple[int, int], interpolation: str) -> Array:
    """The picture (h, w, c) with another height and width."""
    if interpolation == "nearest":
        rows, columns = (
            np.minimum(np.arange(new) * (old / new), old - 1).astype("int64")
            for old, new in zip(image.shape, size)
        )
        nearest: Array = image[rows][:, columns]
        return nearest
    if interpolation not in WEIGHTS:
        raise ArgumentError(
            f"interpolation={interpolation!r} of arrays and tensors: "
            f"write one of {', '.join(map(repr, ['nearest', *WEIGHTS]))}, or give an image of PIL"
        )
    values = image.astype("float64" if image.dtype == "float64" else "float32")
    for axis in (0, 1):
        old, new = image.shape[axis], size[axis]
        if old == new:
            continue
        places = (np.arange(new) + 0.5) * (old / new) - 0.5
        before = np.floor(places)
        shape = [-1 if other == axis else 1 for other in range(values.ndim)]
        total: Any = 0
        for step, weight in WEIGHTS[interpolation](places - before).items():
            taken = values.take(np.clip(before + step, 0, old - 1).astype("int64"), axis)
            total = total + taken * weight.reshape(shape).astype(values.dtype)
        values = total
    return as_type(values, image.dtype)


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


WEIGHTS = {"bilinear": lambda rest: {0: 1 - rest, 1: rest}, "bicubic": _cubic}
"""The interpolations that read several pixels."""
