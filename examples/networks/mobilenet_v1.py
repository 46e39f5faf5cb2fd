"""MobileNetV1 (Howard et al. 2017): depthwise convolutions, each with a 1 x 1 behind it."""

from __future__ import annotations

from collections.abc import Sequence

from dy2st import Tensor, nn
from examples.zoo.blocks import ConvNorm

BLOCKS = (
    (64, 1),
    (128, 2),
    (128, 1),
    (256, 2),
    (256, 1),
    (512, 2),
    *[(512, 1)] * 5,
    (1024, 2),
    (1024, 1),
)
"""Channels and stride."""


class MobileNetV1(nn.Layer):
    """Images (n, 3, h, w) -> logits (n, classes); channels are scaled by `width`."""

    def __init__(
        self,
        width: float = 1.0,
        blocks: Sequence[tuple[int, int]] = BLOCKS,
        classes: int = 1000,
    ):
        super().__init__()
        inputs = int(32 * width)
        layers = [ConvNorm(3, inputs, 3, 2, activation=nn.ReLU())]
        for channels, stride in blocks:
            outputs = int(channels * width)
            layers.append(ConvNorm(inputs, inputs, 3, stride, inputs, nn.ReLU()))
            layers.append(ConvNorm(inputs, outputs, 1, activation=nn.ReLU()))
            inputs = outputs
        self.blocks = nn.Sequential(*layers)
        self.mean = nn.AdaptiveAvgPool2D(1)
        self.classify = nn.Linear(inputs, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.classify(self.mean(self.blocks(x)).flatten(1))
