"""U-Net (Ronneberger et al. 2015), with padded convolutions and batch norms."""

from __future__ import annotations

import dy2st
from dy2st import Tensor, nn

from .blocks import ConvNorm


def double(inputs: int, outputs: int) -> nn.Layer:
    """Two 3 x 3 convolutions, each with batch norm and relu."""
    return nn.Sequential(
        ConvNorm(inputs, outputs, 3, activation=nn.ReLU()),
        ConvNorm(outputs, outputs, 3, activation=nn.ReLU()),
    )


class Up(nn.Layer):
    """Twice the size, joined with what the way down had there."""

    def __init__(self, inputs: int):
        super().__init__()
        self.up = nn.Conv2DTranspose(inputs, inputs // 2, 2, 2)
        self.convolve = double(inputs, inputs // 2)

    def forward(self, x: Tensor, skipped: Tensor) -> Tensor:
        return self.convolve(dy2st.concat([skipped, self.up(x)], axis=1))


class UNet(nn.Layer):
    """Images (n, channels, h, w) -> logits (n, classes, h, w); h, w are multiples of 2**depth."""

    def __init__(self, channels: int = 3, classes: int = 2, width: int = 64, depth: int = 4):
        super().__init__()
        widths = [width * 2**level for level in range(depth + 1)]
        self.stem = double(channels, width)
        self.pool = nn.MaxPool2D(2)
        self.downs = nn.LayerList(double(size, 2 * size) for size in widths[:-1])
        self.ups = nn.LayerList(Up(size) for size in reversed(widths[1:]))
        self.classify = nn.Conv2D(width, classes, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        skipped = []
        for down in self.downs:
            skipped.append(x)
            x = down(self.pool(x))
        for up in self.ups:
            x = up(x, skipped.pop())
        return self.classify(x)
