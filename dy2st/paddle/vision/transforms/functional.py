"""Changes pictures: arrays (h, w, c) or (h, w), tensors (c, h, w), images of PIL.

Each gives back what it was given, without history. Colours are in the order red, green, blue.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dy2st.paddle.mirrors import names_of
from dy2st.paddle.vision.transforms.pictures import (
    Array,
    as_type,
    is_pil,
    like,
    on_arrays,
    size_of,
    to_array,
)
from dy2st.paddle.vision.transforms.resizing import resize_array
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.tensor import EagerTensor

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_hue",
    "adjust_saturation",
    "center_crop",
    "crop",
    "erase",
    "hflip",
    "normalize",
    "pad",
    "resize",
    "to_grayscale",
    "to_tensor",
    "vflip",
]

_PAD_MODES = {"edge": "edge", "reflect": "reflect", "symmetric": "symmetric"}


def to_tensor(pic: Any, data_format: str = "CHW") -> Any:
    """The picture as a tensor (c, h, w), or (h, w, c); uint8 becomes float32 from 0 to 1.

    >>> import numpy as np
    >>> to_tensor(np.full((2, 3, 1), 51, "uint8")).numpy()[0, 0]
    array([0.2, 0.2, 0.2], dtype=float32)
    """
    _one_of("data_format", data_format, ("CHW", "HWC"))
    array = to_array(pic)
    if array.dtype == np.uint8:
        array = array.astype("float32") / np.float32(255)
    if data_format == "CHW":
        array = np.moveaxis(array, 2, 0)
    return EagerTensor(np.array(array, order="C"))


def resize(img: Any, size: Any, interpolation: str = "bilinear") -> Any:
    """The picture with this (height, width), or with the shorter side that long.

    Of arrays and tensors "nearest", "bilinear" and "bicubic" read the pixels next to a place; an
    image of PIL is resized by PIL, which smooths what shrinks.

    >>> import numpy as np
    >>> resize(np.arange(4, dtype="float32").reshape(2, 2), (2, 4))[0]
    array([0.  , 0.25, 0.75, 1.  ], dtype=float32)
    """
    height, width = size_of(img)
    if isinstance(size, (int, np.integer)):
        shorter = min(height, width)
        wanted = int(size * height / shorter), int(size * width / shorter)
    else:
        wanted = pair("size", size)
    if wanted == (height, width):
        return img
    if is_pil(img):
        sampling = sys.modules["PIL.Image"].Resampling
        names = {"area": "BOX", "lanczos": "LANCZOS"}
        method = getattr(sampling, names.get(interpolation, interpolation.upper()), None)
        if method is None:
            raise ArgumentError(f"interpolation={interpolation!r} is not known to PIL")
        return img.resize(wanted[::-1], method)
    return like(img, resize_array(to_array(img), wanted, interpolation))


@on_arrays
def pad(img: Any, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> Array:
    """The picture with a border: all around, (left and right, top and bottom), or each of
    (left, top, right, bottom).

    `fill` is a number, or one for each channel; padding_mode may be "edge", "reflect" or
    "symmetric" instead.

    >>> import numpy as np
    >>> pad(np.ones((1, 2)), (1, 0), fill=7)
    array([[7., 1., 1., 7.]])
    """
    sides = [padding] * 4 if isinstance(padding, (int, np.integer)) else [*padding]
    if len(sides) not in (2, 4):
        raise ArgumentError(f"padding is a number, two or four of them, not {padding!r}")
    left, top, right, bottom = sides * (4 // len(sides))
    widths: Any = [(top, bottom), (left, right)] + [(0, 0)] * (img.ndim - 2)
    if padding_mode != "constant":
        mode: Any = _PAD_MODES[_one_of("padding_mode", padding_mode, tuple(_PAD_MODES))]
        return np.pad(img, widths, mode)
    size = (img.shape[0] + top + bottom, img.shape[1] + left + right, *img.shape[2:])
    framed = np.empty(size, img.dtype)
    framed[...] = np.reshape(fill, (-1, *[1] * (img.ndim - 3)))
    framed[top : top + img.shape[0], left : left + img.shape[1]] = img
    return framed


@on_arrays
def crop(img: Any, top: int, left: int, height: int, width: int) -> Array:
    """The part of the picture from (top, left) on with this height and width.

    >>> import numpy as np
    >>> crop(np.arange(9).reshape(3, 3), 1, 1, 2, 2)
    array([[4, 5],
           [7, 8]])
    """
    if min(top, left) < 0 or top + height > img.shape[0] or left + width > img.shape[1]:
        raise ArgumentError(
            f"a part of {height} x {width} from ({top}, {left}) on is not inside a picture of "
            f"{img.shape[0]} x {img.shape[1]}: pad it, or resize it, before"
        )
    part: Array = img[top : top + height, left : left + width]
    return part


def center_crop(img: Any, output_size: Any) -> Any:
    """The middle of the picture, with this (height, width), or as large a square.

    >>> import numpy as np
    >>> center_crop(np.arange(9).reshape(3, 3), 1)
    array([[4]])
    """
    height, width = pair("output_size", output_size)
    old_height, old_width = size_of(img)
    top, left = round((old_height - height) / 2), round((old_width - width) / 2)
    return crop(img, top, left, height, width)


@on_arrays
def hflip(img: Any) -> Array:
    """The picture with left and right exchanged.

    >>> import numpy as np
    >>> hflip(np.array([[1, 2, 3]]))
    array([[3, 2, 1]])
    """
    flipped: Array = img[:, ::-1].copy()
    return flipped


@on_arrays
def vflip(img: Any) -> Array:
    """The picture upside down.

    >>> import numpy as np
    >>> vflip(np.array([[1], [2]]))
    array([[2],
           [1]])
    """
    flipped: Array = img[::-1].copy()
    return flipped


def normalize(img: Any, mean: Any, std: Any, data_format: str = "CHW", to_rgb: bool = False) -> Any:
    """(img - mean) / std, channel by channel, in float32; an array or a tensor is given back.

    The channels are the first axis, or with data_format="HWC" the last. `to_rgb` reverses them.

    >>> import numpy as np
    >>> normalize(np.full((1, 2, 2), 3.0, "float32"), [1.0], [2.0])[0, 0]
    array([1., 1.], dtype=float32)
    """
    _one_of("data_format", data_format, ("CHW", "HWC"))
    is_tensor = isinstance(img, EagerTensor)
    values = img.array if is_tensor else np.asarray(img, "float32" if is_pil(img) else None)
    axis = -3 if data_format == "CHW" else -1
    if to_rgb:
        values = np.flip(values, axis)
    shape = (-1, 1, 1) if axis == -3 else (-1,)
    middle, spread = (np.asarray(entry, "float32").reshape(shape) for entry in (mean, std))
    result = (values - middle) / spread
    return EagerTensor(np.ascontiguousarray(result)) if is_tensor else result


@on_arrays
def to_grayscale(img: Any, num_output_channels: int = 1) -> Array:
    """The lightness, 0.299 r + 0.587 g + 0.114 b, in one or three channels.

    >>> import numpy as np
    >>> to_grayscale(np.array([[[255, 0, 0], [0, 255, 0]]], "uint8")).ravel()
    array([ 76, 150], dtype=uint8)
    """
    if num_output_channels not in (1, 3):
        raise ArgumentError(f"num_output_channels is 1 or 3, not {num_output_channels!r}")
    return np.repeat(_lightness(img), num_output_channels, axis=2)


def _lightness(img: Array) -> Array:
    """Of one channel that channel; of whole numbers in 16 binary digits, as PIL does."""
    if img.shape[2] == 1:
        return img
    if img.shape[2] != 3:
        raise ArgumentError(f"a picture has 1 or 3 channels here, not {img.shape[2]}")
    red, green, blue = (img[:, :, [place]] for place in range(3))
    if img.dtype != np.uint8:
        light: Array = (0.299 * red + 0.587 * green + 0.114 * blue).astype(img.dtype)
        return light
    total: Any = red * np.uint32(19595) + green * np.uint32(38470) + blue * np.uint32(7471)
    rounded: Array = ((total + 0x8000) >> 16).astype("uint8")
    return rounded


@on_arrays
def adjust_brightness(img: Any, brightness_factor: float) -> Array:
    """The picture mixed with black: 0 is black, 1 the picture, 2 twice as bright.

    >>> import numpy as np
    >>> adjust_brightness(np.array([[100, 200]], "uint8"), 1.5)
    array([[150, 255]], dtype=uint8)
    """
    return _mix(np.zeros_like(img), img, brightness_factor)


@on_arrays
def adjust_contrast(img: Any, contrast_factor: float) -> Array:
    """The picture mixed with its mean lightness: 0 is grey, 1 the picture, 2 twice the contrast.

    >>> import numpy as np
    >>> adjust_contrast(np.array([[100, 200]], "uint8"), 0.5)
    array([[125, 175]], dtype=uint8)
    """
    light = _lightness(img)
    mean = light.mean(axis=(0, 1, 2))
    if img.dtype.kind in "iu":
        mean = np.floor(mean + 0.5)
    return _mix(np.broadcast_to(mean.astype(img.dtype), img.shape), img, contrast_factor)


@on_arrays
def adjust_saturation(img: Any, saturation_factor: float) -> Array:
    """The picture mixed with its lightness: 0 is without colours, 1 the picture.

    >>> import numpy as np
    >>> adjust_saturation(np.array([[[255, 0, 0]]], "uint8"), 0.5)
    array([[[165,  38,  38]]], dtype=uint8)
    """
    return _mix(_lightness(img), img, saturation_factor)


def _mix(other: Array, img: Array, factor: float) -> Array:
    """other + factor (img - other); whole numbers are cut off, as PIL does."""
    if factor < 0:
        raise ArgumentError(f"a factor of colours is not negative, as {factor!r} is")
    if img.dtype.kind == "f":
        return (other + factor * (img - other)).astype(img.dtype)
    start = other.astype("float32")
    mixed = start + np.float32(factor) * (img.astype("float32") - start)
    return as_type(np.floor(np.maximum(mixed, 0)), img.dtype)


@on_arrays
def adjust_hue(img: Any, hue_factor: float) -> Array:
    """The colours shifted around the circle of hues by so much of it, -0.5 to 0.5.

    >>> import numpy as np
    >>> adjust_hue(np.array([[[255, 0, 0]]], "uint8"), 1 / 3)
    array([[[  0, 255,   0]]], dtype=uint8)
    """
    if not -0.5 <= hue_factor <= 0.5:
        raise ArgumentError(f"hue_factor lies between -0.5 and 0.5, not {hue_factor!r}")
    if img.shape[2] == 1:
        return np.asarray(img)
    top, low = img.max(axis=2).astype("float64"), img.min(axis=2).astype("float64")
    spread = top - low
    # where on the circle of 6 a colour stands: red at 0, green at 2, blue at 4
    wide = np.where(spread == 0, 1, spread)
    red, green, blue = (img.astype("float64")[:, :, place] for place in range(3))
    by_red, by_green = (green - blue) / wide, 2 + (blue - red) / wide
    by_blue = 4 + (red - green) / wide
    hue = np.where(top == red, by_red, np.where(top == green, by_green, by_blue)) + 6 * hue_factor
    # Each channel is at its largest around its own hue, and falls off on both sides.
    places = (hue[:, :, np.newaxis] + np.array([5.0, 3.0, 1.0])) % 6
    share = np.clip(np.minimum(places, 4 - places), 0, 1)
    return as_type(top[..., np.newaxis] - spread[..., np.newaxis] * share, img.dtype)


def erase(img: Any, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Any:
    """The picture with the values v in the part from (i, j) on of height h and width w.

    `v` has the axes of the picture: (h, w, c) of an array, (c, h, w) of a tensor; sizes may be 1.
    An array may be changed itself.

    >>> import numpy as np
    >>> erase(np.ones((2, 2, 1)), 0, 0, 1, 2, 0.0).ravel()
    array([0., 0., 1., 1.])
    """
    if inplace and not isinstance(img, np.ndarray):
        raise ArgumentError("inplace=True is for arrays: tensors and images are never changed")
    array = to_array(img) if inplace else to_array(img).copy()
    value = np.asarray(v.array if isinstance(v, EagerTensor) else v)
    if isinstance(img, EagerTensor) and value.ndim == 3:
        value = value.transpose(1, 2, 0)
    array[i : i + h, j : j + w] = value if array.ndim == 3 or value.ndim < 3 else value[..., None]
    return img if inplace else like(img, array)


def pair(name: str, size: Any) -> tuple[int, int]:
    """Height and width, both the same if it is one number."""
    if isinstance(size, (int, float, np.number)):
        return int(size), int(size)
    if isinstance(size, Sequence) and len(size) == 2:
        return int(size[0]), int(size[1])
    raise ArgumentError(f"{name} is a number or (height, width), not {size!r}")


def _one_of(name: str, value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise ArgumentError(f"{name} is one of {', '.join(map(repr, known))}, not {value!r}")
    return value


if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, ["dy2st.paddle.vision.transforms"])
