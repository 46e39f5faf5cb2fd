"""Handles every kind of picture: an array (h, w, c) or (h, w), a tensor (c, h, w), a PIL image."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.location import without_own_frames
from dy2st_runtime.tensor import EagerTensor

Array = np.ndarray[Any, Any]
"""A picture (h, w, c): all functions of the package work on that."""

# Axes of a tensor as those of a picture, and back; of several pictures, they come last.
_AXES = {3: ((1, 2, 0), (2, 0, 1)), 4: ((2, 3, 1, 0), (3, 2, 0, 1))}
_MODES = ("L", "RGB", "RGBA", "I", "F")


def is_pil(image: Any) -> bool:
    """Whether it is an image of PIL, which is not loaded for that."""
    pil = sys.modules.get("PIL.Image")
    return pil is not None and isinstance(image, pil.Image)


def size_of(image: Any) -> tuple[int, int]:
    """Height and width."""
    height, width = image.size[::-1] if is_pil(image) else to_array(image).shape[:2]
    return height, width


def to_array(image: Any) -> Array:
    """The picture as (h, w, c), without a copy where that can be."""
    if isinstance(image, EagerTensor) and image.ndim in _AXES:
        return image.array.transpose(_AXES[image.ndim][0])
    if is_pil(image):
        if image.mode not in _MODES:
            raise ArgumentError(
                f"an image of PIL in mode {image.mode!r}: write image.convert('RGB') before"
            )
        return to_array(np.asarray(image))
    if isinstance(image, np.ndarray) and image.ndim in (2, 3):
        return image if image.ndim == 3 else image[:, :, np.newaxis]
    what = f"an array of {image.ndim} axes" if hasattr(image, "ndim") else type(image).__name__
    raise ArgumentError(
        f"{what} is no picture: give an array (h, w) or (h, w, c), a tensor (c, h, w) or "
        "(n, c, h, w), or an image of PIL"
    )


def like(image: Any, array: Array) -> Any:
    """A picture (h, w, c) as what the other one is."""
    if isinstance(image, EagerTensor):
        back = _AXES[image.ndim][1]
        return EagerTensor(np.ascontiguousarray(array.transpose(back)))
    if is_pil(image):
        flat = array[:, :, 0] if array.shape[2] == 1 else array
        return sys.modules["PIL.Image"].fromarray(np.ascontiguousarray(flat))
    return array[:, :, 0] if image.ndim == 2 and array.shape[2] == 1 else array


def on_arrays(change: Callable[..., Array]) -> Callable[..., Any]:
    """A function of a picture (h, w, c) as one of any picture, which gives back its like."""

    @without_own_frames
    @wraps(change)
    def changed(img: Any, *arguments: Any, **named: Any) -> Any:
        return like(img, change(to_array(img), *arguments, **named))

    return changed


def as_type(values: Array, dtype: np.dtype[Any]) -> Array:
    """Computed values in the type of a picture: rounded and cut off where it has whole numbers."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        values = np.clip(np.rint(values), limits.min, limits.max)
    return values.astype(dtype, copy=False)
