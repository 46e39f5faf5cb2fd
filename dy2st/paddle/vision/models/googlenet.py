"""Builds GoogLeNet (Szegedy 2014), with its two side outputs."""

from __future__ import annotations

import math
from typing import Any

from dy2st.paddle.vision.models.pretrained import refuse_pretrained
from dy2st_runtime import nn
from dy2st_runtime.ir import F

# name, inputs, then the paper's columns: 1x1, 3x3 reduced, 3x3, 5x5 reduced, 5x5, pool projected
MODULES = (
    ("_ince3a", 192, 64, 96, 128, 16, 32, 32),
    ("_ince3b", 256, 128, 128, 192, 32, 96, 64),
    ("_ince4a", 480, 192, 96, 208, 16, 48, 64),
    ("_ince4b", 512, 160, 112, 224, 24, 64, 64),
    ("_ince4c", 512, 128, 128, 256, 24, 64, 64),
    ("_ince4d", 512, 112, 144, 288, 32, 64, 64),
    ("_ince4e", 528, 256, 160, 320, 32, 128, 128),
    ("_ince5a", 832, 256, 160, 320, 32, 128, 128),
    ("_ince5b", 832, 384, 192, 384, 48, 128, 128),
)


class ConvLayer(nn.Layer):
    """A convolution that keeps the size of the image, but for its stride."""

    def __init__(self, inputs: int, outputs: int, size: int, stride: int = 1) -> None:
        """Make the convolution."""
        super().__init__()
        self._conv = nn.Conv2D(inputs, outputs, size, stride, (size - 1) // 2, bias_attr=False)

    def forward(self, inputs: Any) -> Any:
        """(n, inputs, h, w) -> (n, outputs, h', w')."""
        return self._conv(inputs)


class Inception(nn.Layer):
    """Four ways through convolutions of several sizes, side by side, then ReLU."""

    def __init__(
        self, inputs: int, one: int, reduced3: int, three: int, reduced5: int, five: int, proj: int
    ) -> None:
        """Make the convolutions of a row of the paper's table."""
        super().__init__()
        self._conv1 = ConvLayer(inputs, one, 1)
        self._conv3r = ConvLayer(inputs, reduced3, 1)
        self._conv3 = ConvLayer(reduced3, three, 3)
        self._conv5r = ConvLayer(inputs, reduced5, 1)
        self._conv5 = ConvLayer(reduced5, five, 5)
        self._pool = nn.MaxPool2D(3, 1, 1)
        self._convprj = ConvLayer(inputs, proj, 1)

    def forward(self, inputs: Any) -> Any:
        """(n, inputs, h, w) -> (n, one + three + five + proj, h, w)."""
        ways = [
            self._conv1(inputs),
            self._conv3(self._conv3r(inputs)),
            self._conv5(self._conv5r(inputs)),
            self._convprj(self._pool(inputs)),
        ]
        return nn.functional.relu(F.concat(ways, 1))


def _linear(inputs: int, outputs: int, channels: int) -> nn.Linear:
    bound = math.sqrt(3.0 / channels)
    return nn.Linear(inputs, outputs, weight_attr=nn.initializer.Uniform(-bound, bound))


class GoogLeNet(nn.Layer):
    """(n, 3, 224, 224) -> three of (n, num_classes); the last two are for training.

    >>> net = dy2st.vision.models.GoogLeNet(num_classes=0)
    >>> len(net.parameters())
    57
    """

    _ince3a: Inception
    _ince3b: Inception
    _ince4a: Inception
    _ince4b: Inception
    _ince4c: Inception
    _ince4d: Inception
    _ince4e: Inception
    _ince5a: Inception
    _ince5b: Inception
    _conv_o1: ConvLayer
    _fc_o1: nn.Linear
    _drop_o1: nn.Dropout
    _conv_o2: ConvLayer
    _fc_o2: nn.Linear
    _drop_o2: nn.Dropout
    _out1: nn.Linear
    _out2: nn.Linear

    def __init__(self, num_classes: int = 1000, with_pool: bool = True) -> None:
        """Make the layers."""
        super().__init__()
        self.num_classes, self.with_pool = num_classes, with_pool
        self._conv = ConvLayer(3, 64, 7, 2)
        self._pool = nn.MaxPool2D(3, 2)
        self._conv_1 = ConvLayer(64, 64, 1)
        self._conv_2 = ConvLayer(64, 192, 3)
        for name, *channels in MODULES:
            self.add_sublayer(name, Inception(*channels))
        if with_pool:
            self._pool_5 = nn.AdaptiveAvgPool2D(1)
            self._pool_o1 = nn.AvgPool2D(5, 3)
            self._pool_o2 = nn.AvgPool2D(5, 3)
        if num_classes > 0:
            self._drop = nn.Dropout(0.4, mode="downscale_in_infer")
            self._fc_out = _linear(1024, num_classes, 1024)
            for side, inputs in ((1, 512), (2, 528)):
                setattr(self, f"_conv_o{side}", ConvLayer(inputs, 128, 1))
                setattr(self, f"_fc_o{side}", _linear(1152, 1024, 2048))
                setattr(self, f"_drop_o{side}", nn.Dropout(0.7, mode="downscale_in_infer"))
                setattr(self, f"_out{side}", _linear(1024, num_classes, 1024))

    def forward(self, inputs: Any) -> Any:
        """(n, 3, 224, 224) -> three of (n, num_classes)."""
        x = self._pool(self._conv(inputs))
        x = self._pool(self._conv_2(self._conv_1(x)))
        x = self._pool(self._ince3b(self._ince3a(x)))
        side1 = self._ince4a(x)
        side2 = self._ince4d(self._ince4c(self._ince4b(side1)))
        x = self._pool(self._ince4e(side2))
        x = self._ince5b(self._ince5a(x))
        if self.with_pool:
            x, side1, side2 = self._pool_5(x), self._pool_o1(side1), self._pool_o2(side2)
        if self.num_classes > 0:
            x = self._fc_out(F.squeeze(self._drop(x), [2, 3]))
            side1 = F.flatten(self._conv_o1(side1), 1)
            side1 = self._out1(self._drop_o1(nn.functional.relu(self._fc_o1(side1))))
            side2 = F.flatten(self._conv_o2(side2), 1)
            side2 = self._out2(self._drop_o2(self._fc_o2(side2)))
        return [x, side1, side2]


def googlenet(pretrained: bool = False, **kwargs: Any) -> GoogLeNet:
    """GoogLeNet (Szegedy et al. 2014).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.googlenet(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    8491486
    """
    refuse_pretrained("googlenet", pretrained)
    return GoogLeNet(**kwargs)
