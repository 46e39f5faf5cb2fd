"""ResNet-20 for CIFAR (He et al. 2015), with 1 x 1 convolutions where a shortcut changes size."""

from __future__ import annotations

from dy2st import Tensor, nn
from examples.zoo.blocks import ConvNorm
from examples.zoo.resnet import Basic


class ResNet20(nn.Layer):
    """Images (n, 3, h, w), 32 x 32 as published -> logits (n, classes)."""

    def __init__(self, width: int = 16, depth: int = 3, classes: int = 10):
        super().__init__()
        self.stem = ConvNorm(3, width, 3, activation=nn.ReLU())
        blocks, inputs = [], width
        for stage in range(3):
            for place in range(depth):
                stride = 2 if stage > 0 and place == 0 else 1
                blocks.append(Basic(inputs, width * 2**stage, stride))
                inputs = width * 2**stage
        self.blocks = nn.Sequential(*blocks)
        self.mean = nn.AdaptiveAvgPool2D(1)
        self.classify = nn.Linear(inputs, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.classify(self.mean(self.blocks(self.stem(x))).flatten(1))
