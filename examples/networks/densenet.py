"""DenseNet-121 (Huang et al. 2016) with batch norm and relu behind a convolution, not before it.

So every norm belongs to one convolution. Sizes and multiplications are those of DenseNet-121.
"""

from __future__ import annotations

from collections.abc import Sequence

import dy2st
from dy2st import Tensor, nn
from examples.zoo.blocks import ConvNorm


def convolution(inputs: int, outputs: int, kernel: int, stride: int = 1) -> ConvNorm:
    """Convolution, batch norm, relu."""
    return ConvNorm(inputs, outputs, kernel, stride, activation=nn.ReLU())


class Dense(nn.Layer):
    """1 x 1 and 3 x 3 convolutions on everything before them."""

    def __init__(self, inputs: int, growth: int):
        super().__init__()
        self.reduce = convolution(inputs, 4 * growth, 1)
        self.grow = convolution(4 * growth, growth, 3)

    def forward(self, parts: list[Tensor]) -> Tensor:
        x = dy2st.concat(parts, axis=1) if len(parts) > 1 else parts[0]
        return self.grow(self.reduce(x))


class DenseBlock(nn.Layer):
    """Each step adds `growth` channels to what the next ones see."""

    def __init__(self, inputs: int, growth: int, depth: int):
        super().__init__()
        self.steps = nn.LayerList(Dense(inputs + step * growth, growth) for step in range(depth))

    def forward(self, x: Tensor) -> Tensor:
        parts = [x]
        for step in self.steps:
            parts = [*parts, step(parts)]
        return dy2st.concat(parts, axis=1)


class DenseNet(nn.Layer):
    """Images (n, 3, h, w) -> logits (n, classes)."""

    def __init__(
        self, growth: int = 32, depths: Sequence[int] = (6, 12, 24, 16), classes: int = 1000
    ):
        super().__init__()
        inputs = 2 * growth
        blocks: list[nn.Layer] = [convolution(3, inputs, 7, 2), nn.MaxPool2D(3, 2, 1)]
        for number, depth in enumerate(depths):
            if number:
                blocks += [convolution(inputs, inputs // 2, 1), nn.AvgPool2D(2, 2)]
                inputs //= 2
            blocks.append(DenseBlock(inputs, growth, depth))
            inputs += depth * growth
        self.blocks = nn.Sequential(*blocks)
        self.mean = nn.AdaptiveAvgPool2D(1)
        self.classify = nn.Linear(inputs, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.classify(self.mean(self.blocks(x)).flatten(1))
