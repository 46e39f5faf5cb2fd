"""GoogLeNet (Szegedy et al. 2014) with batch norms, without its auxiliary classifiers.

As in the widespread version with batch norms, the third branch has 3 x 3 instead of 5 x 5.
"""

from __future__ import annotations

from collections.abc import Sequence

import dy2st
from dy2st import Tensor, nn

from .blocks import ConvNorm

# channels of: 1 x 1; 3 x 3 reduced, 3 x 3; second 3 x 3 reduced, second 3 x 3; behind the pool
STAGES = (
    ((64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64)),
    (
        (192, 96, 208, 16, 48, 64),
        (160, 112, 224, 24, 64, 64),
        (128, 128, 256, 24, 64, 64),
        (112, 144, 288, 32, 64, 64),
        (256, 160, 320, 32, 128, 128),
    ),
    ((256, 160, 320, 32, 128, 128), (384, 192, 384, 48, 128, 128)),
)


def convolution(inputs: int, outputs: int, kernel: int, stride: int = 1) -> ConvNorm:
    """Convolution, batch norm, relu."""
    return ConvNorm(inputs, outputs, kernel, stride, activation=nn.ReLU(), epsilon=1e-3)


class Inception(nn.Layer):
    """Four branches side by side, joined along the channels."""

    def __init__(self, inputs: int, one: int, a: int, three: int, b: int, last: int, pooled: int):
        super().__init__()
        self.branch1 = convolution(inputs, one, 1)
        self.branch2 = nn.Sequential(convolution(inputs, a, 1), convolution(a, three, 3))
        self.branch3 = nn.Sequential(convolution(inputs, b, 1), convolution(b, last, 3))
        self.branch4 = nn.Sequential(nn.MaxPool2D(3, 1, 1), convolution(inputs, pooled, 1))

    def forward(self, x: Tensor) -> Tensor:
        branches = [self.branch1(x), self.branch2(x), self.branch3(x), self.branch4(x)]
        return dy2st.concat(branches, axis=1)


class GoogLeNet(nn.Layer):
    """Images (n, 3, h, w) -> logits (n, classes); channels are scaled by `width`."""

    def __init__(
        self,
        width: float = 1.0,
        stages: Sequence[Sequence[Sequence[int]]] = STAGES,
        classes: int = 1000,
    ):
        super().__init__()
        narrow, inputs = int(64 * width), int(192 * width)
        self.stem = nn.Sequential(
            convolution(3, narrow, 7, 2),
            nn.MaxPool2D(3, 2, 0, ceil_mode=True),
            convolution(narrow, narrow, 1),
            convolution(narrow, inputs, 3),
            nn.MaxPool2D(3, 2, 0, ceil_mode=True),
        )
        blocks: list[nn.Layer] = []
        for number, stage in enumerate(stages):
            if number == 1:
                blocks.append(nn.MaxPool2D(3, 2, 0, ceil_mode=True))
            elif number == 2:
                blocks.append(nn.MaxPool2D(2, 2, 0, ceil_mode=True))
            for channels in stage:
                sizes = [int(size * width) for size in channels]
                blocks.append(Inception(inputs, *sizes))
                inputs = sizes[0] + sizes[2] + sizes[4] + sizes[5]
        self.blocks = nn.Sequential(*blocks)
        self.mean = nn.AdaptiveAvgPool2D(1)
        self.dropout = nn.Dropout(0.2)
        self.classify = nn.Linear(inputs, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.mean(self.blocks(self.stem(x)))
        return self.classify(self.dropout(x.flatten(1)))
