"""ResNet (He et al. 2015), with the stride in the 3 x 3 convolution of a bottleneck."""

from __future__ import annotations

from collections.abc import Sequence

from dy2st import Tensor, nn

from .blocks import ConvNorm


class Basic(nn.Layer):
    """Two 3 x 3 convolutions beside a shortcut: ResNet-18 and -34."""

    expansion = 1

    def __init__(self, inputs: int, width: int, stride: int):
        super().__init__()
        self.first = ConvNorm(inputs, width, 3, stride, activation=nn.ReLU())
        self.second = ConvNorm(width, width, 3)
        self.shortcut = _shortcut(inputs, width, stride)
        self.relu = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        return self.relu(self.second(self.first(x)) + self.shortcut(x))


class Bottleneck(nn.Layer):
    """1 x 1, 3 x 3 and 1 x 1 convolutions beside a shortcut: ResNet-50 and deeper."""

    expansion = 4

    def __init__(self, inputs: int, width: int, stride: int):
        super().__init__()
        self.reduce = ConvNorm(inputs, width, 1, activation=nn.ReLU())
        self.middle = ConvNorm(width, width, 3, stride, activation=nn.ReLU())
        self.expand = ConvNorm(width, 4 * width, 1)
        self.shortcut = _shortcut(inputs, 4 * width, stride)
        self.relu = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        return self.relu(self.expand(self.middle(self.reduce(x))) + self.shortcut(x))


def _shortcut(inputs: int, outputs: int, stride: int) -> nn.Layer:
    if stride == 1 and inputs == outputs:
        return nn.Identity()
    return ConvNorm(inputs, outputs, 1, stride)


class ResNet(nn.Layer):
    """Images (n, 3, h, w) -> logits (n, classes)."""

    def __init__(
        self,
        block: type[Basic] | type[Bottleneck] = Bottleneck,
        depths: Sequence[int] = (3, 4, 6, 3),
        width: int = 64,
        classes: int = 1000,
    ):
        super().__init__()
        self.stem = ConvNorm(3, width, 7, 2, activation=nn.ReLU())
        self.pool = nn.MaxPool2D(3, 2, 1)
        blocks, inputs = [], width
        for stage, depth in enumerate(depths):
            inner = width * 2**stage
            for place in range(depth):
                stride = 2 if stage > 0 and place == 0 else 1
                blocks.append(block(inputs, inner, stride))
                inputs = inner * block.expansion
        self.blocks = nn.Sequential(*blocks)
        self.mean = nn.AdaptiveAvgPool2D(1)
        self.classify = nn.Linear(inputs, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.blocks(self.pool(self.stem(x)))
        return self.classify(self.mean(x).flatten(1))


def resnet50() -> ResNet:
    """The published ResNet-50."""
    return ResNet(Bottleneck, (3, 4, 6, 3))


def resnet18() -> ResNet:
    """The published ResNet-18."""
    return ResNet(Basic, (2, 2, 2, 2))
