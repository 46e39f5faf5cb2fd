"""Builds residual networks: ResNet (He 2015), ResNeXt (Xie 2016), wide ones (Zagoruyko 2016)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from dy2st.paddle.vision.models.pretrained import refuse_pretrained
from dy2st_runtime import nn
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.lazy import public_dir

REPEATS = {
    18: (2, 2, 2, 2),
    34: (3, 4, 6, 3),
    50: (3, 4, 6, 3),
    101: (3, 4, 23, 3),
    152: (3, 8, 36, 3),
}
"""How many blocks each stage has, by the number of layers with weights."""
CHANNELS = (64, 128, 256, 512)
"""Of the four stages, inside of a block."""

Norm = Callable[[int], nn.Layer]


class BasicBlock(nn.Layer):
    """relu(bn(conv3(relu(bn(conv3(x))))) + x).

    Parameters
    ----------
    inplanes, planes
        Channels before, and of the block.
    downsample
        What makes x fit where size or channels change.
    norm_layer
        The class of norms, BatchNorm2D if it is left out.

    Examples
    --------
    >>> BasicBlock(4, 4)(dy2st.ones([1, 4, 6, 6])).shape
    [1, 4, 6, 6]
    """

    expansion: ClassVar[int] = 1

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: nn.Layer | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Norm | None = None,
    ) -> None:
        """Make the layers; ValueError for dilation, which this block does not have."""
        super().__init__()
        if dilation > 1:
            raise ArgumentError("BasicBlock has no dilation: use BottleneckBlock")
        norm = norm_layer or nn.BatchNorm2D
        self.conv1 = nn.Conv2D(inplanes, planes, 3, stride, 1, bias_attr=False)
        self.bn1 = norm(planes)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2D(planes, planes, 3, padding=1, bias_attr=False)
        self.bn2 = norm(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Any) -> Any:
        """(n, inplanes, h, w) -> (n, planes, h', w')."""
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return self.relu(y + (x if self.downsample is None else self.downsample(x)))


class BottleneckBlock(nn.Layer):
    """relu(bn(conv1(relu(bn(conv3(relu(bn(conv1(x)))))))) + x).

    Parameters
    ----------
    inplanes, planes
        Channels before, and of the block, which gives four times as many.
    downsample
        What makes x fit where size or channels change.
    norm_layer
        The class of norms, BatchNorm2D if it is left out.

    Examples
    --------
    >>> BottleneckBlock(16, 4)(dy2st.ones([1, 16, 6, 6])).shape
    [1, 16, 6, 6]
    """

    expansion: ClassVar[int] = 4

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: nn.Layer | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Norm | None = None,
    ) -> None:
        """Make the layers; the inner ones have planes * base_width / 64 channels a group."""
        super().__init__()
        norm = norm_layer or nn.BatchNorm2D
        width = int(planes * (base_width / 64.0)) * groups
        outputs = planes * self.expansion
        self.conv1 = nn.Conv2D(inplanes, width, 1, bias_attr=False)
        self.bn1 = norm(width)
        self.conv2 = nn.Conv2D(width, width, 3, stride, dilation, dilation, groups, bias_attr=False)
        self.bn2 = norm(width)
        self.conv3 = nn.Conv2D(width, outputs, 1, bias_attr=False)
        self.bn3 = norm(outputs)
        self.relu = nn.ReLU()
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Any) -> Any:
        """(n, inplanes, h, w) -> (n, 4 * planes, h', w')."""
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return self.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Layer):
    """(n, 3, h, w) -> (n, num_classes) (He et al. 2015).

    `block` is BasicBlock or BottleneckBlock, `depth` 18, 34, 50, 101 or 152; `width` and `groups`
    are those of the blocks. Without `num_classes` (0) the features are given, without `with_pool`
    all places of them.

    >>> from dy2st.paddle.vision.models.resnet import BasicBlock
    >>> net = dy2st.vision.models.ResNet(BasicBlock, 18, num_classes=10).eval()
    >>> net(dy2st.ones([1, 3, 32, 32])).shape
    [1, 10]
    """

    layer1: nn.Sequential
    layer2: nn.Sequential
    layer3: nn.Sequential
    layer4: nn.Sequential

    def __init__(
        self,
        block: type[BasicBlock] | type[BottleneckBlock],
        depth: int = 50,
        width: int = 64,
        num_classes: int = 1000,
        with_pool: bool = True,
        groups: int = 1,
    ) -> None:
        """Make four stages of blocks; `width` and `groups` are those of the blocks."""
        super().__init__()
        self.groups, self.base_width = groups, width
        self.num_classes, self.with_pool = num_classes, with_pool
        self.inplanes, self.dilation = CHANNELS[0], 1
        self.conv1 = nn.Conv2D(3, self.inplanes, 7, 2, 3, bias_attr=False)
        self.bn1 = nn.BatchNorm2D(self.inplanes)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2D(3, 2, 1)
        for index, (planes, repeats) in enumerate(zip(CHANNELS, REPEATS[depth], strict=True)):
            stride = 1 if index == 0 else 2
            setattr(self, f"layer{index + 1}", self._make_layer(block, planes, repeats, stride))
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D((1, 1))
        if num_classes > 0:
            self.fc = nn.Linear(CHANNELS[-1] * block.expansion, num_classes)

    def _make_layer(
        self,
        block: type[BasicBlock] | type[BottleneckBlock],
        planes: int,
        blocks: int,
        stride: int = 1,
        dilate: bool = False,
    ) -> nn.Sequential:
        """A stage; with `dilate` it keeps the size of the image and looks farther instead."""
        before = self.dilation
        if dilate:
            self.dilation, stride = self.dilation * stride, 1
        outputs = planes * block.expansion
        downsample = None
        if stride != 1 or self.inplanes != outputs:
            downsample = nn.Sequential(
                nn.Conv2D(self.inplanes, outputs, 1, stride, bias_attr=False),
                nn.BatchNorm2D(outputs),
            )
        wide = (self.groups, self.base_width)
        layers = [block(self.inplanes, planes, stride, downsample, *wide, before)]
        self.inplanes = outputs
        for _ in range(1, blocks):
            layers.append(block(outputs, planes, 1, None, *wide, self.dilation))
        return nn.Sequential(*layers)

    def forward(self, x: Any) -> Any:
        """(n, 3, h, w) -> (n, num_classes)."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        if self.with_pool:
            x = self.avgpool(x)
        if self.num_classes > 0:
            x = self.fc(x.flatten(1))
        return x


def _resnet(name: str, depth: int, pretrained: bool, **settings: Any) -> ResNet:
    refuse_pretrained(name, pretrained)
    return ResNet(BasicBlock if depth < 50 else BottleneckBlock, depth, **settings)


def resnet18(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 18 layers (He et al. 2015).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.resnet18(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    11181642
    """
    return _resnet("resnet18", 18, pretrained, **kwargs)


def resnet34(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 34 layers (He et al. 2015).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.resnet34(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    21289802
    """
    return _resnet("resnet34", 34, pretrained, **kwargs)


def resnet50(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 50 layers (He et al. 2015).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.resnet50(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    23528522
    """
    return _resnet("resnet50", 50, pretrained, **kwargs)


def resnet101(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 101 layers (He et al. 2015).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.resnet101(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    42520650
    """
    return _resnet("resnet101", 101, pretrained, **kwargs)


def resnet152(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 152 layers (He et al. 2015).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.resnet152(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    58164298
    """
    return _resnet("resnet152", 152, pretrained, **kwargs)


def resnext50_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt of 50 layers, 32 groups of 4 channels (Xie et al. 2016).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.resnext50_32x4d(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    23000394
    """
    return _resnet("resnext50_32x4d", 50, pretrained, **{"width": 4, "groups": 32, **kwargs})


def resnext50_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt of 50 layers, 64 groups of 4 channels (Xie et al. 2016).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.resnext50_64x4d(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    43163978
    """
    return _resnet("resnext50_64x4d", 50, pretrained, **{"width": 4, "groups": 64, **kwargs})


def resnext101_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt of 101 layers, 32 groups of 4 channels (Xie et al. 2016).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.resnext101_32x4d(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    42149194
    """
    return _resnet("resnext101_32x4d", 101, pretrained, **{"width": 4, "groups": 32, **kwargs})


def resnext101_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt of 101 layers, 64 groups of 4 channels (Xie et al. 2016).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.resnext101_64x4d(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    81426762
    """
    return _resnet("resnext101_64x4d", 101, pretrained, **{"width": 4, "groups": 64, **kwargs})


def resnext152_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt of 152 layers, 32 groups of 4 channels (Xie et al. 2016).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.resnext152_32x4d(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    57922890
    """
    return _resnet("resnext152_32x4d", 152, pretrained, **{"width": 4, "groups": 32, **kwargs})


def resnext152_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt of 152 layers, 64 groups of 4 channels (Xie et al. 2016).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.resnext152_64x4d(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    112943434
    """
    return _resnet("resnext152_64x4d", 152, pretrained, **{"width": 4, "groups": 64, **kwargs})


def wide_resnet50_2(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 50 layers, twice as wide inside (Zagoruyko and Komodakis 2016).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.wide_resnet50_2(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    66854730
    """
    return _resnet("wide_resnet50_2", 50, pretrained, **{"width": 128, **kwargs})


def wide_resnet101_2(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 101 layers, twice as wide inside (Zagoruyko and Komodakis 2016).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.wide_resnet101_2(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    124858186
    """
    return _resnet("wide_resnet101_2", 101, pretrained, **{"width": 128, **kwargs})


__dir__ = public_dir(__name__)
