"""MobileNetV2 (Sandler et al. 2018): inverted residuals with depthwise convolutions."""

from __future__ import annotations

from collections.abc import Sequence

from dy2st import Tensor, nn

from .blocks import ConvNorm

# expansion, channels, depth, stride of the first block
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
    """Expand, filter every channel alone, project; added to x where the shapes are equal."""

    def __init__(self, inputs: int, outputs: int, stride: int, expansion: int):
        super().__init__()
        inner = inputs * expansion
        self.expand = nn.Identity()
        if expansion != 1:
            self.expand = ConvNorm(inputs, inner, 1, activation=nn.ReLU6())
        self.depthwise = ConvNorm(inner, inner, 3, stride, inner, nn.ReLU6())
        self.project = ConvNorm(inner, outputs, 1)
        self.is_residual = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        y = self.project(self.depthwise(self.expand(x)))
        if self.is_residual:
            y = y + x
        return y


class MobileNetV2(nn.Layer):
    """Images (n, 3, h, w) -> logits (n, classes); channels are scaled by `width`."""

    def __init__(
        self,
        width: float = 1.0,
        stages: Sequence[tuple[int, int, int, int]] = STAGES,
        last: int = 1280,
        classes: int = 1000,
    ):
        super().__init__()
        inputs = scaled(32, width)
        self.stem = ConvNorm(3, inputs, 3, 2, activation=nn.ReLU6())
        blocks = []
        for expansion, channels, depth, first_stride in stages:
            outputs = scaled(channels, width)
            for place in range(depth):
                stride = first_stride if place == 0 else 1
                blocks.append(InvertedResidual(inputs, outputs, stride, expansion))
                inputs = outputs
        self.blocks = nn.Sequential(*blocks)
        self.last = ConvNorm(inputs, last, 1, activation=nn.ReLU6())
        self.mean = nn.AdaptiveAvgPool2D(1)
        self.dropout = nn.Dropout(0.2)
        self.classify = nn.Linear(last, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.last(self.blocks(self.stem(x)))
        return self.classify(self.dropout(self.mean(x).flatten(1)))


def scaled(channels: int, width: float, multiple: int = 8) -> int:
    """The nearest multiple of 8 to channels * width, never more than 10 % below."""
    wanted = channels * width
    near = max(multiple, int(wanted + multiple / 2) // multiple * multiple)
    return near if near >= 0.9 * wanted else near + multiple
