"""Defines transforms that draw what they do, from the generator that `seed` starts anew."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st.paddle.vision.transforms import functional as F
from dy2st.paddle.vision.transforms.base import BaseTransform, Compose
from dy2st.paddle.vision.transforms.pictures import size_of, to_array
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ops.generator import generator
from dy2st_runtime.tensor import EagerTensor

Keys = Sequence[str] | None

_ATTEMPTS = 10
"""How often a part of another shape is drawn until one fits."""


class RandomHorizontalFlip(BaseTransform):
    """Left and right exchanged, with this probability.

    >>> import numpy as np
    >>> RandomHorizontalFlip(1.0)(np.array([[1, 2, 3]]))
    array([[3, 2, 1]])
    """

    def __init__(self, prob: float = 0.5, keys: Keys = None) -> None:
        """Take the probability."""
        super().__init__(keys)
        self.prob = probability(prob)

    def _apply_image(self, image: Any) -> Any:
        return F.hflip(image) if generator().random() < self.prob else image


class RandomVerticalFlip(BaseTransform):
    """Upside down, with this probability.

    >>> import numpy as np
    >>> RandomVerticalFlip(0.0)(np.array([[1], [2]])).ravel()
    array([1, 2])
    """

    def __init__(self, prob: float = 0.5, keys: Keys = None) -> None:
        """Take the probability."""
        super().__init__(keys)
        self.prob = probability(prob)

    def _apply_image(self, image: Any) -> Any:
        return F.vflip(image) if generator().random() < self.prob else image


class RandomCrop(BaseTransform):
    """A part of the picture with this (height, width), anywhere.

    Parameters
    ----------
    padding
        a border that is put around the picture before, as `pad` makes it
    pad_if_needed
        whether a picture that is too small has a border on both sides
    fill, padding_mode
        What stands in a border, as of `Pad`.

    Examples
    --------
    >>> import numpy as np
    >>> RandomCrop(8, pad_if_needed=True)(np.zeros((4, 9, 3), "uint8")).shape
    (8, 8, 3)
    """

    def __init__(
        self,
        size: Any,
        padding: Any = None,
        pad_if_needed: bool = False,
        fill: Any = 0,
        padding_mode: str = "constant",
        keys: Keys = None,
    ) -> None:
        """Take the size, and how a border is made."""
        super().__init__(keys)
        self.size = F.pair("size", size)
        self.padding, self.pad_if_needed = padding, pad_if_needed
        self.fill, self.padding_mode = fill, padding_mode

    def _apply_image(self, image: Any) -> Any:
        if self.padding is not None:
            image = F.pad(image, self.padding, self.fill, self.padding_mode)
        (height, width), (old_height, old_width) = self.size, size_of(image)
        border = max(width - old_width, 0), max(height - old_height, 0)
        if self.pad_if_needed and any(border):
            image = F.pad(image, border, self.fill, self.padding_mode)
            old_height, old_width = size_of(image)
        top, left = _place(old_height - height), _place(old_width - width)
        return F.crop(image, top, left, height, width)


class RandomResizedCrop(BaseTransform):
    """A part of the picture of any size and shape, anywhere, resized to this (height, width).

    Parameters
    ----------
    scale
        from which to which share of the picture's area
    ratio
        from which to which width by height

    Examples
    --------
    >>> import numpy as np
    >>> RandomResizedCrop(8)(np.zeros((40, 90, 3), "uint8")).shape
    (8, 8, 3)
    """

    def __init__(
        self,
        size: Any,
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3 / 4, 4 / 3),
        interpolation: str = "bilinear",
        keys: Keys = None,
    ) -> None:
        """Take the size, and which parts are drawn."""
        super().__init__(keys)
        self.size, self.interpolation = F.pair("size", size), interpolation
        self.scale, self.ratio = ascending("scale", scale), ascending("ratio", ratio)

    def _apply_image(self, image: Any) -> Any:
        part = F.crop(image, *self._part(*size_of(image)))
        return F.resize(part, self.size, self.interpolation)

    def _part(self, height: int, width: int) -> tuple[int, int, int, int]:
        for _ in range(_ATTEMPTS):
            high, wide = _shape(height * width, self.scale, self.ratio)
            if 0 < high <= height and 0 < wide <= width:
                return _place(height - high), _place(width - wide), high, wide
        narrow, broad = self.ratio
        wide = min(width, round(height * broad))
        high = min(height, round(width / narrow))
        return (height - high) // 2, (width - wide) // 2, high, wide


class RandomErasing(BaseTransform):
    """A part of the picture filled with a value, with this probability.

    Parameters
    ----------
    value
        a number, one for each channel, or "random": normal noise
    prob
        The probability.
    scale, ratio
        The share of the picture, and width through height: the least and the most.
    inplace
        Change the picture itself.

    Examples
    --------
    >>> import numpy as np
    >>> RandomErasing(1.0)(np.ones((8, 8, 3))).min()
    np.float64(0.0)
    """

    def __init__(
        self,
        prob: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: Any = 0,
        inplace: bool = False,
        keys: Keys = None,
    ) -> None:
        """Take which parts are drawn, and what they are filled with."""
        super().__init__(keys)
        if isinstance(value, str) and value != "random":
            raise ArgumentError(f"value is a number, a list of them, or 'random', not {value!r}")
        self.prob, self.value, self.inplace = probability(prob), value, inplace
        self.scale, self.ratio = ascending("scale", scale), ascending("ratio", ratio)

    def _apply_image(self, image: Any) -> Any:
        if generator().random() >= self.prob:
            return image
        (height, width), narrow = size_of(image), (1 / self.ratio[1], 1 / self.ratio[0])
        for _ in range(_ATTEMPTS):
            high, wide = _shape(height * width, self.scale, narrow)
            if 0 < high < height and 0 < wide < width:
                top, left = _place(height - high), _place(width - wide)
                channels, is_tensor = to_array(image).shape[2], isinstance(image, EagerTensor)
                if isinstance(self.value, str):
                    noise = generator().standard_normal((high, wide, channels))
                    value = noise.transpose(2, 0, 1) if is_tensor else noise * 255
                else:
                    values = np.reshape(self.value, -1)
                    if len(values) not in (1, channels):
                        raise ArgumentError(
                            f"value={self.value!r} of a picture with {channels} channels"
                        )
                    value = values.reshape(-1, 1, 1) if is_tensor else values
                return F.erase(image, top, left, high, wide, value, self.inplace)
        return image


class _OneColour(BaseTransform):
    """A function of colours with a factor that is drawn."""

    center, least, most = 1.0, 0.0, math.inf

    def __init__(self, value: Any, keys: Keys = None) -> None:
        super().__init__(keys)
        if isinstance(value, (int, float)):
            if value < 0:
                raise ArgumentError(f"{type(self).__name__}: {value!r} is negative")
            low, high = max(self.center - value, self.least), self.center + value
        else:
            low, high = ascending(type(self).__name__, value)
        if not self.least <= low <= high <= self.most:
            raise ArgumentError(
                f"{type(self).__name__}: factors lie between {self.least} and {self.most}, "
                f"not {value!r}"
            )
        self.value = low, high

    def _apply_image(self, image: Any) -> Any:
        if self.value == (self.center, self.center):
            return image
        return self._change(image, float(generator().uniform(*self.value)))

    def _change(self, image: Any, factor: float) -> Any:
        raise NotImplementedError


class BrightnessTransform(_OneColour):
    """Brightness by a factor from 1 - value to 1 + value, or between two values.

    >>> import numpy as np
    >>> BrightnessTransform((0.5, 0.5))(np.array([[100, 200]], "uint8"))
    array([[ 50, 100]], dtype=uint8)
    """

    def _change(self, image: Any, factor: float) -> Any:
        return F.adjust_brightness(image, factor)


class ContrastTransform(_OneColour):
    """Contrast by a factor from 1 - value to 1 + value, or between two values.

    >>> import numpy as np
    >>> ContrastTransform((0.5, 0.5))(np.array([[100, 200]], "uint8"))
    array([[125, 175]], dtype=uint8)
    """

    def _change(self, image: Any, factor: float) -> Any:
        return F.adjust_contrast(image, factor)


class SaturationTransform(_OneColour):
    """Saturation by a factor from 1 - value to 1 + value, or between two values.

    >>> import numpy as np
    >>> SaturationTransform((0.5, 0.5))(np.array([[[255, 0, 0]]], "uint8"))
    array([[[165,  38,  38]]], dtype=uint8)
    """

    def _change(self, image: Any, factor: float) -> Any:
        return F.adjust_saturation(image, factor)


class HueTransform(_OneColour):
    """Hues shifted by a share of the circle from -value to value, or between two values.

    >>> import numpy as np
    >>> HueTransform((0.5, 0.5))(np.array([[[255, 0, 0]]], "uint8"))
    array([[[  0, 255, 255]]], dtype=uint8)
    """

    center, least, most = 0.0, -0.5, 0.5

    def _change(self, image: Any, factor: float) -> Any:
        return F.adjust_hue(image, factor)


class ColorJitter(BaseTransform):
    """Brightness, contrast, saturation and hue, in an order that is drawn.

    >>> import numpy as np
    >>> ColorJitter(0.4, 0.4, 0.4, 0.1)(np.zeros((4, 5, 3), "uint8")).shape
    (4, 5, 3)
    """

    def __init__(
        self,
        brightness: Any = 0,
        contrast: Any = 0,
        saturation: Any = 0,
        hue: Any = 0,
        keys: Keys = None,
    ) -> None:
        """Take how much each of them may change."""
        super().__init__(keys)
        self.brightness, self.contrast = brightness, contrast
        self.saturation, self.hue = saturation, hue
        self._changes = [
            BrightnessTransform(brightness),
            ContrastTransform(contrast),
            SaturationTransform(saturation),
            HueTransform(hue),
        ]

    def _apply_image(self, image: Any) -> Any:
        order = generator().permutation(len(self._changes))
        return Compose([self._changes[place] for place in order])(image)


def _place(room: int) -> int:
    """Where a part begins that leaves so much room."""
    return int(generator().integers(max(room, 0) + 1))


def _shape(area: int, scale: Sequence[float], ratio: Sequence[float]) -> tuple[int, int]:
    """Height and width of a share of an area; widths by heights are drawn on a log scale."""
    part = area * generator().uniform(scale[0], scale[1])
    shape = math.exp(generator().uniform(math.log(ratio[0]), math.log(ratio[1])))
    return round(math.sqrt(part / shape)), round(math.sqrt(part * shape))


def ascending(name: str, pair: Sequence[float]) -> tuple[float, float]:
    """A pair of numbers, the least and the most.

    >>> ascending("scale", [0.5, 1.0])
    (0.5, 1.0)
    """
    if len(pair) != 2 or not pair[0] <= pair[1]:
        raise ArgumentError(f"{name} is (least, most), not {pair!r}")
    return pair[0], pair[1]


def probability(value: float) -> float:
    """A number from 0 to 1.

    >>> probability(0.5)
    0.5
    """
    if not 0 <= value <= 1:
        raise ArgumentError(f"prob lies between 0 and 1, not {value!r}")
    return value
