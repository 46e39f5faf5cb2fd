"""YOLOv3 (Redmon and Farhadi 2018): Darknet-53 and three heads, from coarse to fine."""

from __future__ import annotations

from collections.abc import Sequence

import dy2st
from dy2st import Tensor, nn

from .blocks import ConvNorm


def convolution(inputs: int, outputs: int, kernel: int, stride: int = 1) -> ConvNorm:
    """Convolution, batch norm, leaky relu."""
    return ConvNorm(inputs, outputs, kernel, stride, activation=nn.LeakyReLU(0.1))


class Residual(nn.Layer):
    """1 x 1 and 3 x 3 convolutions beside x itself."""

    def __init__(self, channels: int):
        super().__init__()
        self.reduce = convolution(channels, channels // 2, 1)
        self.expand = convolution(channels // 2, channels, 3)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.expand(self.reduce(x))


class Darknet(nn.Layer):
    """Images -> the results of every stage, each half the size of the one before."""

    def __init__(self, width: int, depths: Sequence[int]):
        super().__init__()
        self.stem = convolution(3, width, 3)
        self.stages = nn.LayerList()
        for depth in depths:
            blocks = [Residual(2 * width) for _ in range(depth)]
            self.stages.append(nn.Sequential(convolution(width, 2 * width, 3, 2), *blocks))
            width = 2 * width

    def forward(self, x: Tensor) -> list[Tensor]:
        x = self.stem(x)
        results = []
        for stage in self.stages:
            x = stage(x)
            results.append(x)
        return results


class Head(nn.Layer):
    """Five convolutions, then one result for this size and one for the next."""

    def __init__(self, inputs: int, width: int, outputs: int):
        super().__init__()
        self.five = nn.Sequential(
            convolution(inputs, width, 1),
            convolution(width, 2 * width, 3),
            convolution(2 * width, width, 1),
            convolution(width, 2 * width, 3),
            convolution(2 * width, width, 1),
        )
        self.last = convolution(width, 2 * width, 3)
        self.predict = nn.Conv2D(2 * width, outputs, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        x = self.five(x)
        return x, self.predict(self.last(x))


class Finer(nn.Layer):
    """Half the channels at twice the size, joined with a result of the backbone."""

    def __init__(self, inputs: int):
        super().__init__()
        self.reduce = convolution(inputs, inputs // 2, 1)
        self.enlarge = nn.Upsample(scale_factor=2, mode="nearest")

    def forward(self, x: Tensor, backbone: Tensor) -> Tensor:
        return dy2st.concat([self.enlarge(self.reduce(x)), backbone], axis=1)


class YOLOv3(nn.Layer):
    """Images (n, 3, h, w) -> predictions (n, anchors * (5 + classes), h / s, w / s), s = 32, 16, 8.

    h and w are multiples of 32.
    """

    def __init__(
        self,
        width: int = 32,
        depths: Sequence[int] = (1, 2, 8, 8, 4),
        classes: int = 80,
        anchors: int = 3,
    ):
        super().__init__()
        outputs = anchors * (5 + classes)
        self.backbone = Darknet(width, depths)
        self.coarse = Head(32 * width, 16 * width, outputs)
        self.to_middle = Finer(16 * width)
        self.middle = Head(24 * width, 8 * width, outputs)
        self.to_fine = Finer(8 * width)
        self.fine = Head(12 * width, 4 * width, outputs)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        *_, at8, at16, at32 = self.backbone(x)
        x, coarse = self.coarse(at32)
        x, middle = self.middle(self.to_middle(x, at16))
        _, fine = self.fine(self.to_fine(x, at8))
        return coarse, middle, fine
