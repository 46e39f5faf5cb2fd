"""Builds MobileNetV2 (Sandler 2018)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.paddle.vision.models.pretrained import refuse_pretrained
from dy2st.paddle.vision.ops import ConvNormActivation
from dy2st_runtime import nn
from dy2st_runtime.lazy import public_dir

# expansion, channels, blocks, stride of the first block
STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


class InvertedResidual(nn.Layer):
    """Widen, convolve each channel by itself, narrow; plus x where the shape stays.

    >>> InvertedResidual(4, 8, 2, 6)(dy2st.ones([1, 4, 6, 6])).shape
    [1, 8, 3, 3]
    """

    def __init__(
        self,
        inp: int,
        oup: int,
        stride: int,
        expand_ratio: float,
        norm_layer: Callable[[int], nn.Layer] = nn.BatchNorm2D,
    ) -> None:
        """Make the layers; `expand_ratio` times as many channels inside."""
        super().__init__()
        self.stride = stride
        inner = round(inp * expand_ratio)
        self.use_res_connect = stride == 1 and inp == oup
        layers: list[nn.Layer] = []
        how: dict[str, Any] = {"norm_layer": norm_layer, "activation_layer": nn.ReLU6}
        if expand_ratio != 1:
            layers.append(ConvNormActivation(inp, inner, 1, **how))
        layers += [
            ConvNormActivation(inner, inner, stride=stride, groups=inner, **how),
            nn.Conv2D(inner, oup, 1, bias_attr=False),
            norm_layer(oup),
        ]
        self.conv = nn.Sequential(*layers)

    def forward(self, x: Any) -> Any:
        """(n, inp, h, w) -> (n, oup, h', w')."""
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MobileNetV2(nn.Layer):
    """(n, 3, h, w) -> (n, num_classes) (Sandler et al. 2018), with `scale` times as many channels.

    >>> net = dy2st.vision.models.MobileNetV2(scale=0.25, num_classes=10).eval()
    >>> net(dy2st.ones([1, 3, 32, 32])).shape
    [1, 10]
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        """Make 17 blocks of `scale` times as many channels."""
        super().__init__()
        self.num_classes, self.with_pool = num_classes, with_pool
        inputs = divisible(32 * scale)
        self.last_channel = divisible(1280 * max(1.0, scale))
        how: dict[str, Any] = {"activation_layer": nn.ReLU6}
        layers: list[nn.Layer] = [ConvNormActivation(3, inputs, stride=2, **how)]
        for ratio, channels, blocks, stride in STAGES:
            outputs = divisible(channels * scale)
            for index in range(blocks):
                layers.append(InvertedResidual(inputs, outputs, 1 if index else stride, ratio))
                inputs = outputs
        layers.append(ConvNormActivation(inputs, self.last_channel, 1, **how))
        self.features = nn.Sequential(*layers)
        if with_pool:
            self.pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.classifier = nn.Sequential(
                nn.Dropout(0.2), nn.Linear(self.last_channel, num_classes)
            )

    def forward(self, x: Any) -> Any:
        """(n, 3, h, w) -> (n, num_classes)."""
        x = self.features(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        if self.num_classes > 0:
            x = self.classifier(x.flatten(1))
        return x


def mobilenet_v2(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV2:
    """MobileNetV2 (Sandler et al. 2018).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.mobilenet_v2(num_classes=10)
    >>> sum(one.size for one in net.parameters())
    2236682
    """
    refuse_pretrained("mobilenet_v2", pretrained)
    return MobileNetV2(scale, **kwargs)


def divisible(channels: float, divisor: int = 8) -> int:
    """The nearest multiple, at least one, that is not more than a tenth below.

    >>> divisible(24 * 0.35), divisible(17)
    (8, 16)
    """
    rounded = max(divisor, int(channels + divisor / 2) // divisor * divisor)
    return rounded + divisor if rounded < 0.9 * channels else rounded


__dir__ = public_dir(__name__)
