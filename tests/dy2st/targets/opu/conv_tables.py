"""Layer tables of known networks: the convolutions with the figures of a published tool chain.

Where a row has two elements, the second is the cycles that the tool chain prints. Edges have the
padding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dy2st.targets.opu.layer import Layer
from dy2st.targets.opu.network import Network


@dataclass(frozen=True)
class ConvShape:
    """A square convolution and the pooling behind it; the edge has the padding."""

    edge: int
    channels: int
    outputs: int
    kernel: int
    stride: int = 1
    pool: int = 1
    pool_stride: int = 1

    @property
    def made(self) -> int:
        """The edge before pooling."""
        return (self.edge - self.kernel) // self.stride + 1

    @property
    def macs(self) -> int:
        """Useful multiplications."""
        return self.made**2 * self.kernel**2 * self.channels * self.outputs

    def network(self) -> Network:
        """The convolution alone, with weights of zeros, as columns where the tool chain does so."""
        pooled = (self.made - self.pool) // self.pool_stride + 1
        layer = Layer(
            1, 1, [0], [-1],
            [1, self.edge, self.edge, self.channels], [1, pooled, pooled, self.outputs],
            [1, self.kernel, self.kernel], [1, self.stride, self.stride],
            [1, self.pool, self.pool], [1, self.pool_stride, self.pool_stride], int(self.pool > 1),
            weight_fraclen=7, bias_fraclen=10,
            enhanced=int(self.kernel > 1 and self.kernel**2 * self.channels < 64),
        )  # fmt: skip
        network = Network([layer], input_sizes=[(1, self.edge, self.edge, self.channels)])
        shape = (self.kernel, self.kernel, self.channels, self.outputs)
        network.int_weights[1] = np.zeros(shape, np.int8)
        network.int_biases[1] = np.zeros(self.outputs, np.int16)
        network.outputs = [1]
        return network


def conv(
    edge: int, channels: int, outputs: int, kernel: int, stride: int = 1, pool: int = 1, by: int = 0
) -> ConvShape:
    """A square convolution."""
    return ConvShape(edge, channels, outputs, kernel, stride, pool, by or pool)


TINY_YOLO = [
    (conv(418, 3, 16, 3, pool=2), 218467),
    (conv(210, 16, 32, 3, pool=2), 401783),
    (conv(106, 32, 64, 3, pool=2), 199127),
    (conv(54, 64, 128, 3, pool=2), 198063),
    (conv(28, 128, 256, 3, pool=2), 196727),
    (conv(16, 256, 512, 3, pool=2, by=1), 227979),
    (conv(15, 512, 1024, 3), 782260),
    (conv(15, 1024, 1024, 3), 1561012),
    (conv(13, 1024, 30, 1), 5781),
]

VGG16 = [
    (conv(226, 3, 64, 3), 152007),
    (conv(226, 64, 64, 3, pool=2), 1820903),
    (conv(114, 64, 128, 3), 930204),
    (conv(114, 128, 128, 3, pool=2), 1814556),
    (conv(58, 128, 256, 3), 917735),
    (conv(58, 256, 256, 3), 1820903),
    (conv(58, 256, 256, 3, pool=2), 1811495),
    (conv(30, 256, 512, 3), 910919),
    (conv(30, 512, 512, 3), 1814087),
    (conv(30, 512, 512, 3, pool=2), 1809383),
    (conv(16, 512, 512, 3), 453987),
    (conv(16, 512, 512, 3), 453987),
    (conv(16, 512, 512, 3, pool=2), 452811),
]


def _resnet50() -> list[ConvShape]:
    shapes = [conv(230, 3, 64, 7, 2)]
    channels = 64
    for edge, middle, blocks in ((56, 64, 3), (28, 128, 4), (14, 256, 6), (7, 512, 3)):
        for block in range(blocks):
            stride = 2 if block == 0 and middle > 64 else 1
            above = edge * stride
            if block == 0:
                shapes.append(conv(above, channels, middle * 4, 1, stride))
            shapes.append(conv(above, channels, middle, 1))
            shapes.append(conv(above + 2, middle, middle, 3, stride))
            shapes.append(conv(edge, middle, middle * 4, 1))
            channels = middle * 4
    return shapes


def _yolov2(edge: int) -> list[ConvShape]:
    shapes = [conv(edge + 2, 3, 32, 3, pool=2), conv(edge // 2 + 2, 32, 64, 3, pool=2)]
    for step, channels, blocks in ((4, 64, 3), (8, 128, 3), (16, 256, 5), (32, 512, 5)):
        here = edge // step
        last = blocks - 1
        for block in range(blocks):
            pool = 2 if block == last and step < 32 else 1
            if block % 2 == 0:
                shapes.append(conv(here + 2, channels, channels * 2, 3, pool=pool))
            else:
                shapes.append(conv(here, channels * 2, channels, 1))
    here = edge // 32
    shapes += [conv(here + 2, 1024, 1024, 3), conv(here + 2, 1024, 1024, 3)]
    shapes += [conv(here * 2, 512, 64, 1), conv(here + 2, 1280, 1024, 3)]
    return [*shapes, conv(here, 1024, 425, 1)]


def _yolov3() -> list[ConvShape]:
    shapes = [conv(418, 3, 32, 3)]
    channels = 32
    for edge, blocks in ((208, 1), (104, 2), (52, 8), (26, 8), (13, 4)):
        shapes.append(conv(edge * 2 + 1, channels, channels * 2, 3, 2))
        channels *= 2
        for _ in range(blocks):
            shapes.append(conv(edge, channels, channels // 2, 1))
            shapes.append(conv(edge + 2, channels // 2, channels, 3))
    for edge, channels, before in ((13, 1024, 1024), (26, 512, 768), (52, 256, 384)):
        for block in range(3):
            entering = before if block == 0 else channels
            shapes.append(conv(edge, entering, channels // 2, 1))
            shapes.append(conv(edge + 2, channels // 2, channels, 3))
        shapes.append(conv(edge, channels, 255, 1))
        if edge < 52:
            shapes.append(conv(edge, channels // 2, channels // 4, 1))
    return shapes


RESNET50 = _resnet50()
YOLOV2 = _yolov2(416)
YOLOV2_608 = _yolov2(608)
YOLOV3 = _yolov3()
