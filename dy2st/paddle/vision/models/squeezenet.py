"""Builds SqueezeNet (Iandola 2016), versions 1.0 and 1.1."""

from __future__ import annotations

from typing import Any

from dy2st.paddle.vision.models.pretrained import refuse_pretrained
from dy2st_runtime import nn
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir

# squeezed channels of the eight fire modules; each of the two expansions has four times as many
SQUEEZED = (16, 16, 32, 32, 48, 48, 64, 64)
# channels, size, padding of the first convolution, and before which modules images are halved
VERSIONS = {"1.0": (96, 7, 0, (1, 4, 8)), "1.1": (64, 3, 1, (1, 3, 5))}


class MakeFireConv(nn.Layer):
    """relu(conv(x)).

    >>> MakeFireConv(4, 8, 1)(dy2st.ones([1, 4, 6, 6])).shape
    [1, 8, 6, 6]
    """

    def __init__(self, inputs: int, outputs: int, size: int, padding: int = 0) -> None:
        """Make the convolution."""
        super().__init__()
        self._conv = nn.Conv2D(inputs, outputs, size, padding=padding)

    def forward(self, x: Any) -> Any:
        """(n, inputs, h, w) -> (n, outputs, h, w)."""
        return nn.functional.relu(self._conv(x))


class MakeFire(nn.Layer):
    """Squeeze the channels, then expand them by pixels and by 3 by 3 pixels.

    >>> MakeFire(4, 2, 8)(dy2st.ones([1, 4, 6, 6])).shape
    [1, 16, 6, 6]
    """

    def __init__(self, inputs: int, squeezed: int, expanded: int) -> None:
        """Make the three convolutions."""
        super().__init__()
        self._conv = MakeFireConv(inputs, squeezed, 1)
        self._conv_path1 = MakeFireConv(squeezed, expanded, 1)
        self._conv_path2 = MakeFireConv(squeezed, expanded, 3, 1)

    def forward(self, inputs: Any) -> Any:
        """(n, inputs, h, w) -> (n, 2 * expanded, h, w)."""
        x = self._conv(inputs)
        return F.concat([self._conv_path1(x), self._conv_path2(x)], 1)


class SqueezeNet(nn.Layer):
    """(n, 3, h, w) -> (n, num_classes) (Iandola et al. 2016), of version "1.0" or "1.1".

    >>> net = dy2st.vision.models.SqueezeNet("1.1", num_classes=10).eval()
    >>> net(dy2st.ones([1, 3, 64, 64])).shape
    [1, 10]
    """

    def __init__(self, version: str, num_classes: int = 1000, with_pool: bool = True) -> None:
        """Make the layers of version "1.0" or "1.1"."""
        super().__init__()
        if version not in VERSIONS:
            raise ArgumentError(f"SqueezeNet has the versions {list(VERSIONS)}, not {version!r}")
        self.version, self.num_classes, self.with_pool = version, num_classes, with_pool
        channels, size, padding, self._halved = VERSIONS[version]
        self._conv = nn.Conv2D(3, channels, size, 2, padding)
        self._pool = nn.MaxPool2D(3, 2)
        for index, squeezed in enumerate(SQUEEZED, 1):
            self.add_sublayer(f"_conv{index}", MakeFire(channels, squeezed, 4 * squeezed))
            channels = 8 * squeezed
        self._drop = nn.Dropout(0.5, mode="downscale_in_infer")
        if num_classes > 0:
            self._conv9 = nn.Conv2D(channels, num_classes, 1)
        self._avg_pool = nn.AdaptiveAvgPool2D(1)

    def forward(self, inputs: Any) -> Any:
        """(n, 3, h, w) -> (n, num_classes)."""
        x = nn.functional.relu(self._conv(inputs))
        for index in range(1, len(SQUEEZED) + 1):
            if index in self._halved:
                x = self._pool(x)
            x = getattr(self, f"_conv{index}")(x)
        if self.num_classes > 0:
            x = nn.functional.relu(self._conv9(self._drop(x)))
        if self.with_pool:
            x = F.squeeze(self._avg_pool(x), [2, 3])
        return x


def squeezenet1_0(pretrained: bool = False, **kwargs: Any) -> SqueezeNet:
    """SqueezeNet 1.0 (Iandola et al. 2016).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.squeezenet1_0(num_classes=10)
    >>> sum(one.size for one in net.parameters())
    740554
    """
    refuse_pretrained("squeezenet1_0", pretrained)
    return SqueezeNet("1.0", **kwargs)


def squeezenet1_1(pretrained: bool = False, **kwargs: Any) -> SqueezeNet:
    """SqueezeNet 1.1 (Iandola et al. 2016).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.squeezenet1_1(num_classes=10)
    >>> sum(one.size for one in net.parameters())
    727626
    """
    refuse_pretrained("squeezenet1_1", pretrained)
    return SqueezeNet("1.1", **kwargs)


__dir__ = public_dir(__name__)
