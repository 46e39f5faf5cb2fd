"""A table of the networks: how each is built, its published size and a small one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import dy2st
from dy2st import nn
from dy2st.static import InputSpec
from examples.zoo.blocks import ConvNorm
from examples.zoo.googlenet import GoogLeNet
from examples.zoo.resnet import ResNet, resnet50
from examples.zoo.statistics import AnyLayer
from examples.zoo.yolo import YOLOv3

from .densenet import DenseNet
from .lenet import LeNet
from .mobilenet_v1 import MobileNetV1
from .resnet20 import ResNet20
from .squeezenet import SqueezeNet
from .statistics import Array, images, settle
from .tiny_yolo import SLOPE, TinyYOLO
from .vgg import VGG16
from .yolo_v2 import YOLOv2

SEED = 2024
Shape = tuple[int, int, int, int]


@dataclass(frozen=True)
class Model:
    """One network: the published size and a small one of the same structure, for one image.

    macs   multiplications of convolutions and matrices of the published size.
    """

    build: Callable[[], nn.Layer]
    build_small: Callable[[], nn.Layer]
    shape: Shape
    small_shape: Shape
    macs: int

    def make(self, small: bool = False) -> nn.Layer:
        """The network in eval mode, with the same random parameters at every call."""
        dy2st.seed(SEED)
        net = self.build_small() if small else self.build()
        _, channels, height, width = self.small_shape if small else self.shape
        return settle(net, (4 if small else 1, channels, height, width), SEED)

    def specs(self, small: bool = False) -> list[InputSpec]:
        """What the network takes: sizes are numbers, as the OPU wants them."""
        return [InputSpec(list(self.small_shape if small else self.shape), "float32", "image")]

    def inputs(self, generator: np.random.Generator, small: bool = False) -> list[Array]:
        """An image."""
        return [images(generator, self.small_shape if small else self.shape)]


def shifting(layer: AnyLayer) -> AnyLayer:
    """Give every leaky relu behind a batch norm the slope 1/8, in place."""
    for inner in layer.sublayers(include_self=True):
        if isinstance(inner, ConvNorm) and isinstance(inner.activation, nn.LeakyReLU):
            inner.activation = nn.LeakyReLU(SLOPE)
    return layer


def colour(size: int) -> Shape:
    """The shape of one image of three colours."""
    return (1, 3, size, size)


FEW_BLOCKS = ((64, 1), (128, 2), (128, 1), (256, 2), (512, 2))

MODELS: dict[str, Model] = {
    "lenet": Model(LeNet, LeNet, (1, 1, 28, 28), (1, 1, 28, 28), 416_520),
    "tiny_yolo": Model(TinyYOLO, lambda: TinyYOLO(4), colour(416), colour(64), 3_501_000_000),
    "vgg16": Model(
        VGG16,
        lambda: VGG16(1 / 4, inner=96, classes=10, size=32),
        *(colour(224), colour(32), 15_470_000_000),
    ),
    "resnet20": Model(ResNet20, lambda: ResNet20(depth=1), colour(32), colour(32), 40_813_000),
    "resnet50": Model(
        resnet50,
        lambda: ResNet(depths=(1, 2, 1, 1), width=8, classes=5),
        *(colour(224), colour(64), 4_089_000_000),
    ),
    "yolo_v2": Model(YOLOv2, lambda: YOLOv2(4, 3), colour(416), colour(64), 14_732_000_000),
    "yolo_v3": Model(
        lambda: shifting(YOLOv3()),
        lambda: shifting(YOLOv3(width=4, depths=(1, 1, 1, 1, 1), classes=2)),
        *(colour(416), colour(64), 32_930_000_000),
    ),
    "mobilenet_v1": Model(
        MobileNetV1,
        lambda: MobileNetV1(0.25, FEW_BLOCKS, classes=10),
        *(colour(224), colour(64), 569_000_000),
    ),
    "squeezenet": Model(
        SqueezeNet, lambda: SqueezeNet(0.5, classes=10), colour(224), colour(64), 349_000_000
    ),
    "googlenet": Model(
        GoogLeNet, lambda: GoogLeNet(1 / 4, classes=10), colour(224), colour(64), 1_498_000_000
    ),
    "densenet": Model(
        DenseNet,
        lambda: DenseNet(growth=12, depths=(2, 3), classes=10),
        *(colour(224), colour(64), 2_834_000_000),
    ),
}
"""Name -> network; the first sentence of each file says which variant it is."""
