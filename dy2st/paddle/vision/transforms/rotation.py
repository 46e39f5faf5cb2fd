"""Defines transforms that draw how a picture is rotated, shifted and tilted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st.paddle.vision.transforms.base import BaseTransform
from dy2st.paddle.vision.transforms.pictures import size_of
from dy2st.paddle.vision.transforms.random_transforms import Keys, ascending, probability
from dy2st.paddle.vision.transforms.warping import affine, perspective, rotate
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ops.generator import generator


class RandomRotation(BaseTransform):
    """The picture rotated by -degrees to degrees, or between two angles, as `rotate` does.

    Parameters
    ----------
    interpolation
        'nearest', 'bilinear' or 'bicubic'.
    expand
        Make the picture so large that all of it stays.
    center
        About which point (x, y); the middle if it is not said.
    fill
        What stands in the corners.
    keys
        What of a sample is a picture; see `BaseTransform`.

    Examples
    --------
    >>> import numpy as np
    >>> RandomRotation((90, 90))(np.array([[1, 2], [3, 4]]))
    array([[2, 4],
           [1, 3]])
    """

    def __init__(
        self,
        degrees: Any,
        interpolation: str = "nearest",
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill: Any = 0,
        keys: Keys = None,
    ) -> None:
        """Take the angles, and how pixels are made."""
        super().__init__(keys)
        self.degrees = _angles("degrees", degrees)
        self.interpolation, self.expand = interpolation, expand
        self.center, self.fill = center, fill

    def _apply_image(self, image: Any) -> Any:
        angle = _between(self.degrees)
        return rotate(image, angle, self.interpolation, self.expand, self.center, self.fill)


class RandomAffine(BaseTransform):
    """The picture rotated, shifted, scaled and slanted, as `affine` does.

    Parameters
    ----------
    degrees
        angles from -degrees to degrees, or between two
    translate
        the largest shifts to the sides, and up and down, as shares of the picture
    scale
        (least, most)
    shear
        angles from -shear to shear along x, or between two; two more are along y
    interpolation, fill, center, keys
        As of `RandomRotation`.

    Examples
    --------
    >>> import numpy as np
    >>> RandomAffine(10, (0.1, 0.1), (0.9, 1.1), 5)(np.zeros((4, 6, 3))).shape
    (4, 6, 3)
    """

    def __init__(
        self,
        degrees: Any,
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: Any = None,
        interpolation: str = "nearest",
        fill: Any = 0,
        center: Sequence[float] | None = None,
        keys: Keys = None,
    ) -> None:
        """Take how much each of them may be, and how pixels are made."""
        super().__init__(keys)
        self.degrees = _angles("degrees", degrees)
        self.translate = (0.0, 0.0) if translate is None else tuple(translate)
        if len(self.translate) != 2 or not all(0 <= share <= 1 for share in self.translate):
            raise ArgumentError(f"translate is two shares from 0 to 1, not {translate!r}")
        self.scale = (1.0, 1.0) if scale is None else ascending("scale", scale)
        pairs = [shear]
        if not isinstance(shear, (int, float)):
            angles = shear or (0.0, 0.0)
            if len(angles) not in (2, 4):
                raise ArgumentError(f"shear is one, two or four angles, not {angles!r}")
            pairs = [angles[place : place + 2] for place in range(0, len(angles), 2)]
        self.shear = [_angles("shear", pair) for pair in [*pairs, (0.0, 0.0)][:2]]
        self.interpolation, self.fill, self.center = interpolation, fill, center

    def _apply_image(self, image: Any) -> Any:
        height, width = size_of(image)
        angle = _between(self.degrees)
        most = self.translate[0] * width, self.translate[1] * height
        shift = [int(_between((-pixels, pixels))) for pixels in most]
        scale, shear = _between(self.scale), [_between(pair) for pair in self.shear]
        return affine(image, angle, shift, scale, shear, self.interpolation, self.fill, self.center)


class RandomPerspective(BaseTransform):
    """The picture seen from elsewhere, with this probability, as `perspective` does.

    Parameters
    ----------
    distortion_scale
        how far a corner may come inwards, as a share of half the picture
    prob
        The probability.
    interpolation, fill, keys
        As of `RandomRotation`.

    Examples
    --------
    >>> import numpy as np
    >>> RandomPerspective(1.0)(np.zeros((4, 6, 3))).shape
    (4, 6, 3)
    """

    def __init__(
        self,
        prob: float = 0.5,
        distortion_scale: float = 0.5,
        interpolation: str = "nearest",
        fill: Any = 0,
        keys: Keys = None,
    ) -> None:
        """Take the probability, how much is changed, and how pixels are made."""
        super().__init__(keys)
        self.prob = probability(prob)
        if not 0 <= distortion_scale <= 1:
            raise ArgumentError(f"distortion_scale is from 0 to 1, not {distortion_scale!r}")
        self.distortion_scale = distortion_scale
        self.interpolation, self.fill = interpolation, fill

    def get_params(
        self, width: int, height: int, distortion_scale: float
    ) -> tuple[list[list[int]], list[list[int]]]:
        """The four corners, and where they come to stand.

        >>> corners, ends = dy2st.vision.transforms.RandomPerspective().get_params(8, 6, 0.0)
        >>> corners
        [[0, 0], [7, 0], [7, 5], [0, 5]]
        """
        right, bottom = width - 1, height - 1
        corners = [[0, 0], [right, 0], [right, bottom], [0, bottom]]
        most = [int(distortion_scale * (size // 2)) for size in (width, height)]
        ends = []
        for x, y in corners:
            inwards = [int(generator().integers(pixels + 1)) for pixels in most]
            ends.append([abs(x - inwards[0]), abs(y - inwards[1])])
        return corners, ends

    def _apply_image(self, image: Any) -> Any:
        if generator().random() >= self.prob:
            return image
        height, width = size_of(image)
        corners, ends = self.get_params(width, height, self.distortion_scale)
        return perspective(image, corners, ends, self.interpolation, self.fill)


def _between(pair: Sequence[float]) -> float:
    return float(generator().uniform(pair[0], pair[1]))


def _angles(name: str, value: Any) -> tuple[float, float]:
    if not isinstance(value, (int, float)):
        return ascending(name, value)
    if value < 0:
        raise ArgumentError(f"{name}={value!r} is negative; two angles may be")
    return -value, value
