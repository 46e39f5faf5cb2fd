"""TinyYOLO for one class: nine convolutions on 416 x 416 pixels.

Its leaky relus have the slope 1/8, which is a shift.
"""

from __future__ import annotations

from dy2st import Tensor, nn
from examples.zoo.blocks import ConvNorm

SLOPE = 0.125


def convolution(inputs: int, outputs: int, kernel: int = 3) -> ConvNorm:
    """Convolution, batch norm, leaky relu."""
    return ConvNorm(inputs, outputs, kernel, activation=nn.LeakyReLU(SLOPE))


class WideConvolution(nn.Layer):
    """3 x 3 with one more row and column, so that a pool of stride 1 gives the size of x again."""

    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.pad = nn.Pad2D([1, 2, 1, 2])
        self.conv = nn.Conv2D(inputs, outputs, 3, bias_attr=False)
        self.norm = nn.BatchNorm2D(outputs)
        self.activation = nn.LeakyReLU(SLOPE)
        self.pool = nn.MaxPool2D(2, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.pool(self.activation(self.norm(self.conv(self.pad(x)))))


class TinyYOLO(nn.Layer):
    """Images (n, 3, h, w) -> predictions (n, anchors * (5 + classes), h / 32, w / 32)."""

    def __init__(self, width: int = 16, classes: int = 1, anchors: int = 5):
        super().__init__()
        blocks: list[nn.Layer] = []
        inputs = 3
        for outputs in (width, 2 * width, 4 * width, 8 * width, 16 * width):
            blocks += [convolution(inputs, outputs), nn.MaxPool2D(2, 2)]
            inputs = outputs
        self.backbone = nn.Sequential(*blocks)
        self.wide = WideConvolution(16 * width, 32 * width)
        self.head = nn.Sequential(
            convolution(32 * width, 64 * width),
            convolution(64 * width, 64 * width),
            nn.Conv2D(64 * width, anchors * (5 + classes), 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.wide(self.backbone(x)))
