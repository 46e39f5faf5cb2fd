"""Turns, shifts and tilts pictures: each new pixel is read where it comes from.

Points are (x, y) from the upper left corner, and a pixel is a square around its centre: a turn by
90 degrees about the middle exchanges pixels. That is what PIL computes. (PaddlePaddle has OpenCV
turn arrays, about a point half a pixel further.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st.paddle.vision.transforms.pictures import Array, as_type, on_arrays
from dy2st.paddle.vision.transforms.resizing import WEIGHTS
from dy2st_runtime.errors import ArgumentError

__all__ = ["affine", "perspective", "rotate"]

Point = Sequence[float]


@on_arrays
def rotate(
    img: Any,
    angle: float,
    interpolation: str = "nearest",
    expand: bool = False,
    center: Point | None = None,
    fill: Any = 0,
) -> Array:
    """The picture rotated by so many degrees against the clock, about its middle or `center`.

    `expand` makes it so large that all of it can be seen. `fill` is the colour of what was outside.

    >>> import numpy as np
    >>> rotate(np.array([[1, 2], [3, 4]]), 90)
    array([[2, 4],
           [1, 3]])
    """
    height, width = img.shape[:2]
    middle = (width / 2, height / 2) if center is None else center
    rotation = _shift(*middle) @ _rotation(-angle) @ _shift(-middle[0], -middle[1])
    if not expand:
        return _warp(img, np.linalg.inv(rotation), (height, width), interpolation, fill)
    corners = rotation @ np.array([[0, width, width, 0], [0, 0, height, height], [1, 1, 1, 1]])
    low, high = (np.round(end(corners[:2], axis=1), 9) for end in (np.min, np.max))
    if angle % 90:  # as PIL: a pixel that is seen in part is a whole one
        low, high = np.floor(low), np.ceil(high)
    new_width, new_height = np.rint(high - low).astype(int)
    rotation = _shift((new_width - width) / 2, (new_height - height) / 2) @ rotation
    return _warp(img, np.linalg.inv(rotation), (new_height, new_width), interpolation, fill)


@on_arrays
def affine(
    img: Any,
    angle: float,
    translate: Point,
    scale: float,
    shear: Any,
    interpolation: str = "nearest",
    fill: Any = 0,
    center: Point | None = None,
) -> Array:
    """The picture scaled, slanted, rotated about its middle or `center`, and shifted.

    Parameters
    ----------
    angle
        degrees with the clock
    translate
        pixels to the right, and down
    shear
        degrees along x, or (along x, along y)

    Examples
    --------
    >>> import numpy as np
    >>> affine(np.array([[1, 2], [3, 4]]), 0, (1, 0), 1.0, 0)
    array([[0, 1],
           [0, 3]])
    """
    if scale <= 0:
        raise ArgumentError(f"scale is above 0, not {scale!r}")
    along = (shear, 0.0) if isinstance(shear, (int, float)) else tuple(shear)
    if len(along) != 2 or len(translate) != 2:
        raise ArgumentError(f"two numbers are translate={translate!r} and shear={shear!r}")
    height, width = img.shape[:2]
    x, y = (width / 2, height / 2) if center is None else center
    slant_x, slant_y = np.eye(3), np.eye(3)
    slant_x[0, 1], slant_y[1, 0] = (-math.tan(math.radians(degrees)) for degrees in along)
    change = _rotation(angle) @ slant_y @ slant_x @ np.diag([scale, scale, 1.0])
    whole = _shift(x + translate[0], y + translate[1]) @ change @ _shift(-x, -y)
    return _warp(img, np.linalg.inv(whole), (height, width), interpolation, fill)


@on_arrays
def perspective(
    img: Any,
    startpoints: Sequence[Point],
    endpoints: Sequence[Point],
    interpolation: str = "nearest",
    fill: Any = 0,
) -> Array:
    """The picture seen from elsewhere: four points (x, y) come to stand at four others.

    >>> import numpy as np
    >>> corners = [[0, 0], [2, 0], [2, 2], [0, 2]]
    >>> perspective(np.array([[1, 2], [3, 4]]), corners, corners[1:] + corners[:1])
    array([[3, 1],
           [4, 2]])
    """
    rows: list[list[float]] = []
    for (x, y), (u, v) in zip(endpoints, startpoints, strict=True):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y])
    if len(rows) != 8:
        raise ArgumentError(f"four points determine a perspective, not {len(startpoints)}")
    wanted = np.asarray(startpoints, "float64").ravel()
    back = np.append(np.linalg.solve(np.array(rows, "float64"), wanted), 1.0).reshape(3, 3)
    return _warp(img, back, img.shape[:2], interpolation, fill)


def _shift(x: float, y: float) -> Array:
    return np.array([[1.0, 0.0, x], [0.0, 1.0, y], [0.0, 0.0, 1.0]])


def _rotation(degrees: float) -> Array:
    """With the clock, for y points down."""
    cos, sin = (round(f(math.radians(degrees)), 15) for f in (math.cos, math.sin))
    return np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])


def _warp(image: Array, back: Array, size: tuple[int, int], interpolation: str, fill: Any) -> Array:
    """The picture of that size whose point p is `back @ p` of the old one."""
    rows, columns = np.meshgrid(np.arange(size[0]) + 0.5, np.arange(size[1]) + 0.5, indexing="ij")
    x, y, z = back @ np.stack([columns.ravel(), rows.ravel(), np.ones(rows.size)])
    with np.errstate(divide="ignore", invalid="ignore"):
        # A point on the edge of a pixel stays on its side of it.
        x, y = np.round(x / z, 9), np.round(y / z, 9)
    inside = (x >= 0) & (x < image.shape[1]) & (y >= 0) & (y < image.shape[0])
    result = np.empty((rows.size, *image.shape[2:]), image.dtype)
    result[...] = np.reshape(fill, (-1, *[1] * (image.ndim - 3)))
    result[inside] = _read(image, x[inside], y[inside], interpolation)
    return result.reshape(*size, *image.shape[2:])


def _read(image: Array, x: Array, y: Array, interpolation: str) -> Array:
    """The values at points inside, read from the pixels next to them."""
    if interpolation == "nearest":
        nearest: Array = image[y.astype("int64"), x.astype("int64")]
        return nearest
    if interpolation not in WEIGHTS:
        known = ", ".join(map(repr, ["nearest", *WEIGHTS]))
        raise ArgumentError(f"interpolation is one of {known}, not {interpolation!r}")
    weights = WEIGHTS[interpolation]
    shape = (-1, *[1] * (image.ndim - 2))
    left, top = np.floor(x - 0.5), np.floor(y - 0.5)
    total: Any = 0
    for down, by_row in weights(y - 0.5 - top).items():
        row = np.clip(top + down, 0, image.shape[0] - 1).astype("int64")
        for right, by_column in weights(x - 0.5 - left).items():
            column = np.clip(left + right, 0, image.shape[1] - 1).astype("int64")
            total = total + image[row, column] * (by_row * by_column).reshape(shape)
    return as_type(total, image.dtype)
