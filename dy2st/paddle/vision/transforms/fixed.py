"""Defines transforms that do the same to every picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st.paddle.vision.transforms import functional as F
from dy2st.paddle.vision.transforms.base import BaseTransform
from dy2st.paddle.vision.transforms.pictures import to_array
from dy2st_runtime.tensor import EagerTensor


class ToTensor(BaseTransform):
    """The picture as a tensor; uint8 becomes float32 from 0 to 1.

    >>> import numpy as np
    >>> ToTensor()(np.zeros((4, 5, 3), "uint8")).shape
    [3, 4, 5]
    """

    def __init__(self, data_format: str = "CHW", keys: Sequence[str] | None = None) -> None:
        """Take the order of axes of the tensor."""
        super().__init__(keys)
        self.data_format = data_format

    def _apply_image(self, image: Any) -> Any:
        return F.to_tensor(image, self.data_format)


class Resize(BaseTransform):
    """The picture with this (height, width), or with the shorter side that long.

    >>> import numpy as np
    >>> Resize(6)(np.zeros((4, 8, 3), "uint8")).shape
    (6, 12, 3)
    """

    def __init__(
        self, size: Any, interpolation: str = "bilinear", keys: Sequence[str] | None = None
    ) -> None:
        """Take the size, and how pixels between others are made."""
        super().__init__(keys)
        self.size, self.interpolation = size, interpolation

    def _apply_image(self, image: Any) -> Any:
        return F.resize(image, self.size, self.interpolation)


class CenterCrop(BaseTransform):
    """The middle of the picture.

    >>> import numpy as np
    >>> CenterCrop(2)(np.zeros((4, 8, 3), "uint8")).shape
    (2, 2, 3)
    """

    def __init__(self, size: Any, keys: Sequence[str] | None = None) -> None:
        """Take (height, width), or the side of a square."""
        super().__init__(keys)
        self.size = F.pair("size", size)

    def _apply_image(self, image: Any) -> Any:
        return F.center_crop(image, self.size)


class Pad(BaseTransform):
    """The picture with a border, as `pad` makes it.

    >>> import numpy as np
    >>> Pad(1)(np.zeros((4, 8, 3), "uint8")).shape
    (6, 10, 3)
    """

    def __init__(
        self,
        padding: Any,
        fill: Any = 0,
        padding_mode: str = "constant",
        keys: Sequence[str] | None = None,
    ) -> None:
        """Take the widths of the border and what it is filled with."""
        super().__init__(keys)
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def _apply_image(self, image: Any) -> Any:
        return F.pad(image, self.padding, self.fill, self.padding_mode)


class Normalize(BaseTransform):
    """(image - mean) / std, channel by channel, in float32.

    >>> import numpy as np
    >>> Normalize(127.5, 127.5)(np.full((3, 1, 1), 255, "uint8")).ravel()
    array([1., 1., 1.], dtype=float32)
    """

    def __init__(
        self,
        mean: Any = 0.0,
        std: Any = 1.0,
        data_format: str = "CHW",
        to_rgb: bool = False,
        keys: Sequence[str] | None = None,
    ) -> None:
        """Take means and deviations, one for each channel or one for all."""
        super().__init__(keys)
        self.mean = mean if isinstance(mean, Sequence) else [mean]
        self.std = std if isinstance(std, Sequence) else [std]
        self.data_format, self.to_rgb = data_format, to_rgb

    def _apply_image(self, image: Any) -> Any:
        return F.normalize(image, self.mean, self.std, self.data_format, self.to_rgb)


class Transpose(BaseTransform):
    """The picture as an array (or tensor) with its axes in another order.

    >>> import numpy as np
    >>> Transpose()(np.zeros((4, 5, 3), "uint8")).shape
    (3, 4, 5)
    """

    def __init__(self, order: Sequence[int] = (2, 0, 1), keys: Sequence[str] | None = None) -> None:
        """Take which axis comes first, second, third."""
        super().__init__(keys)
        self.order = order

    def _apply_image(self, image: Any) -> Any:
        if isinstance(image, EagerTensor):
            return image.transpose(list(self.order))
        return to_array(image).transpose(self.order)


class Grayscale(BaseTransform):
    """The lightness of the picture, in one or three channels.

    >>> import numpy as np
    >>> Grayscale()(np.zeros((4, 5, 3), "uint8")).shape
    (4, 5, 1)
    """

    def __init__(self, num_output_channels: int = 1, keys: Sequence[str] | None = None) -> None:
        """Take the number of channels: 1 or 3."""
        super().__init__(keys)
        self.num_output_channels = num_output_channels

    def _apply_image(self, image: Any) -> Any:
        return F.to_grayscale(image, self.num_output_channels)
