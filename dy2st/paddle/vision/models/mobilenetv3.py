"""Builds MobileNetV3 (Howard 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from dy2st.paddle.vision.models.mobilenetv2 import divisible
from dy2st.paddle.vision.models.pretrained import refuse_pretrained
from dy2st.paddle.vision.ops import ConvNormActivation
from dy2st_runtime import nn
from dy2st_runtime.lazy import public_dir


class Block(NamedTuple):
    """A row of the paper's tables.

    >>> row = Block(3, 64, 24, False, dy2st.nn.ReLU, 2)
    >>> row.kernel, row.inner, row.outputs, row.stride
    (3, 64, 24, 2)
    """

    kernel: int
    inner: int
    outputs: int
    squeezes: bool
    activation: type[nn.Layer]
    stride: int


R, H = nn.ReLU, nn.Hardswish
LARGE = (
    Block(3, 16, 16, False, R, 1),
    Block(3, 64, 24, False, R, 2),
    Block(3, 72, 24, False, R, 1),
    Block(5, 72, 40, True, R, 2),
    Block(5, 120, 40, True, R, 1),
    Block(5, 120, 40, True, R, 1),
    Block(3, 240, 80, False, H, 2),
    Block(3, 200, 80, False, H, 1),
    Block(3, 184, 80, False, H, 1),
    Block(3, 184, 80, False, H, 1),
    Block(3, 480, 112, True, H, 1),
    Block(3, 672, 112, True, H, 1),
    Block(5, 672, 160, True, H, 2),
    Block(5, 960, 160, True, H, 1),
    Block(5, 960, 160, True, H, 1),
)
SMALL = (
    Block(3, 16, 16, True, R, 2),
    Block(3, 72, 24, False, R, 2),
    Block(3, 88, 24, False, R, 1),
    Block(5, 96, 40, True, H, 2),
    Block(5, 240, 40, True, H, 1),
    Block(5, 240, 40, True, H, 1),
    Block(5, 120, 48, True, H, 1),
    Block(5, 144, 48, True, H, 1),
    Block(5, 288, 96, True, H, 2),
    Block(5, 576, 96, True, H, 1),
    Block(5, 576, 96, True, H, 1),
)
_norm = partial(nn.BatchNorm2D, epsilon=0.001, momentum=0.99)


class SqueezeExcitation(nn.Layer):
    """x times a share for each channel, which follows from the means of all (Hu 2017).

    >>> SqueezeExcitation(4, 2)(dy2st.ones([1, 4, 6, 6])).shape
    [1, 4, 6, 6]
    """

    def __init__(
        self,
        input_channels: int,
        squeeze_channels: int,
        activation: type[nn.Layer] = nn.ReLU,
        scale_activation: type[nn.Layer] = nn.Sigmoid,
    ) -> None:
        """Make the two layers that work on the means."""
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2D(1)
        self.fc1 = nn.Conv2D(input_channels, squeeze_channels, 1)
        self.fc2 = nn.Conv2D(squeeze_channels, input_channels, 1)
        self.activation = activation()
        self.scale_activation = scale_activation()

    def forward(self, input: Any) -> Any:
        """(n, c, h, w) -> (n, c, h, w)."""
        share = self.activation(self.fc1(self.avgpool(input)))
        return input * self.scale_activation(self.fc2(share))


class InvertedResidual(nn.Layer):
    """Widen, convolve each channel by itself, weigh the channels, narrow; plus x if it fits.

    >>> row = Block(3, 64, 24, False, dy2st.nn.ReLU, 2)
    >>> InvertedResidual(16, row, 1.0)(dy2st.ones([1, 16, 6, 6])).shape
    [1, 24, 3, 3]
    """

    def __init__(self, inputs: int, block: Block, scale: float) -> None:
        """Make what a row of the table says, `scale` times as wide."""
        super().__init__()
        inner, outputs = divisible(block.inner * scale), divisible(block.outputs * scale)
        self.use_res_connect = block.stride == 1 and inputs == outputs
        self.use_se, self.expand = block.squeezes, inner != inputs
        make = partial(ConvNormActivation, norm_layer=_norm)
        acts = partial(make, activation_layer=block.activation)
        if self.expand:
            self.expand_conv = acts(inputs, inner, 1)
        self.bottleneck_conv = acts(inner, inner, block.kernel, block.stride, groups=inner)
        if self.use_se:
            self.mid_se = SqueezeExcitation(
                inner, divisible(inner // 4), scale_activation=nn.Hardsigmoid
            )
        self.linear_conv = make(inner, outputs, 1, activation_layer=None)

    def forward(self, x: Any) -> Any:
        """(n, inputs, h, w) -> (n, outputs, h', w')."""
        y = self.expand_conv(x) if self.expand else x
        y = self.bottleneck_conv(y)
        if self.use_se:
            y = self.mid_se(y)
        y = self.linear_conv(y)
        return x + y if self.use_res_connect else y


class MobileNetV3(nn.Layer):
    """(n, 3, h, w) -> (n, num_classes).

    >>> row = Block(3, 16, 16, True, dy2st.nn.ReLU, 2)
    >>> net = MobileNetV3([row], last_channel=8, num_classes=10)
    >>> net.eval()(dy2st.ones([1, 3, 32, 32])).shape
    [1, 10]
    """

    def __init__(
        self,
        config: Sequence[Block],
        last_channel: int,
        scale: float = 1.0,
        num_classes: int = 1000,
        with_pool: bool = True,
    ) -> None:
        """Make the blocks of a table."""
        super().__init__()
        self.scale, self.num_classes, self.with_pool = scale, num_classes, with_pool
        ends = partial(ConvNormActivation, norm_layer=_norm, activation_layer=nn.Hardswish)
        inputs = divisible(16 * scale)
        self.conv = ends(3, inputs, 3, 2)
        blocks = []
        for block in config:
            blocks.append(InvertedResidual(inputs, block, scale))
            inputs = divisible(block.outputs * scale)
        self.blocks = nn.Sequential(*blocks)
        outputs = 6 * inputs
        self.lastconv = ends(inputs, outputs, 1)
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.classifier = nn.Sequential(
                nn.Linear(outputs, last_channel),
                nn.Hardswish(),
                nn.Dropout(0.2),
                nn.Linear(last_channel, num_classes),
            )

    def forward(self, x: Any) -> Any:
        """(n, 3, h, w) -> (n, num_classes)."""
        x = self.lastconv(self.blocks(self.conv(x)))
        if self.with_pool:
            x = self.avgpool(x)
        if self.num_classes > 0:
            x = self.classifier(x.flatten(1))
        return x


class MobileNetV3Small(MobileNetV3):
    """The smaller one: (n, 3, h, w) -> (n, num_classes) (Howard et al. 2019).

    >>> net = dy2st.vision.models.MobileNetV3Small(scale=0.5, num_classes=10).eval()
    >>> net(dy2st.ones([1, 3, 32, 32])).shape
    [1, 10]
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        """Make 11 blocks of `scale` times as many channels."""
        super().__init__(SMALL, divisible(1024 * scale), scale, num_classes, with_pool)


class MobileNetV3Large(MobileNetV3):
    """The larger one: (n, 3, h, w) -> (n, num_classes) (Howard et al. 2019).

    >>> net = dy2st.vision.models.MobileNetV3Large(scale=0.5, num_classes=10).eval()
    >>> net(dy2st.ones([1, 3, 32, 32])).shape
    [1, 10]
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        """Make 15 blocks of `scale` times as many channels."""
        super().__init__(LARGE, divisible(1280 * scale), scale, num_classes, with_pool)


def mobilenet_v3_small(
    pretrained: bool = False, scale: float = 1.0, **kwargs: Any
) -> MobileNetV3Small:
    """The smaller MobileNetV3 (Howard et al. 2019).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.mobilenet_v3_small(num_classes=10)
    >>> sum(one.size for one in net.parameters())
    1528106
    """
    refuse_pretrained("mobilenet_v3_small", pretrained)
    return MobileNetV3Small(scale, **kwargs)


def mobilenet_v3_large(
    pretrained: bool = False, scale: float = 1.0, **kwargs: Any
) -> MobileNetV3Large:
    """The larger MobileNetV3 (Howard et al. 2019).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.mobilenet_v3_large(num_classes=10)
    >>> sum(one.size for one in net.parameters())
    4214842
    """
    refuse_pretrained("mobilenet_v3_large", pretrained)
    return MobileNetV3Large(scale, **kwargs)


__dir__ = public_dir(__name__)
