"""YOLOv2 (Redmon and Farhadi 2016): Darknet-19, and a shortcut from its finer features.

The shortcut puts each 2 x 2 square of pixels into channels. It is written as four strided
depthwise convolutions, each of which takes one pixel of the square.
"""

from __future__ import annotations

import numpy as np

import dy2st
from dy2st import Tensor, nn

from .tiny_yolo import convolution


class Reorganise(nn.Layer):
    """(n, c, h, w) -> (n, 4 c, h / 2, w / 2): the pixels of a square, row by row, as channels."""

    def __init__(self, channels: int):
        super().__init__()
        self.pixels = nn.LayerList(self.pixel(channels, place) for place in range(4))

    @staticmethod
    def pixel(channels: int, place: int) -> nn.Conv2D:
        """The choice of one pixel of every square."""
        chosen = np.zeros((channels, 1, 2, 2), "float32")
        chosen[:, 0, place // 2, place % 2] = 1.0
        conv = nn.Conv2D(channels, channels, 2, 2, groups=channels, bias_attr=False)
        conv.weight.set_value(chosen)
        conv.weight.stop_gradient = True
        return conv

    def forward(self, x: Tensor) -> Tensor:
        return dy2st.concat([pixel(x) for pixel in self.pixels], axis=1)


def alternating(inputs: int, outputs: int, depth: int) -> list[nn.Layer]:
    """3 x 3 to `outputs` channels, and back with 1 x 1 to half of them, and again."""
    blocks: list[nn.Layer] = [convolution(inputs, outputs)]
    for _ in range(depth // 2):
        blocks += [convolution(outputs, outputs // 2, 1), convolution(outputs // 2, outputs)]
    return blocks


class YOLOv2(nn.Layer):
    """Images (n, 3, h, w) -> predictions (n, anchors * (5 + classes), h / 32, w / 32)."""

    def __init__(self, width: int = 32, classes: int = 80, anchors: int = 5):
        super().__init__()
        blocks: list[nn.Layer] = []
        inputs = 3
        for channels, depth in ((1, 1), (2, 1), (4, 3), (8, 3)):
            outputs = channels * width
            blocks += [*alternating(inputs, outputs, depth), nn.MaxPool2D(2, 2)]
            inputs = outputs
        self.fine = nn.Sequential(*blocks, *alternating(inputs, 16 * width, 5))
        self.coarse = nn.Sequential(
            nn.MaxPool2D(2, 2),
            *alternating(16 * width, 32 * width, 5),
            convolution(32 * width, 32 * width),
            convolution(32 * width, 32 * width),
        )
        self.shortcut = nn.Sequential(convolution(16 * width, 2 * width, 1), Reorganise(2 * width))
        self.head = nn.Sequential(
            convolution(40 * width, 32 * width),
            nn.Conv2D(32 * width, anchors * (5 + classes), 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        fine = self.fine(x)
        return self.head(dy2st.concat([self.shortcut(fine), self.coarse(fine)], axis=1))
