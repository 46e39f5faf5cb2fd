"""Builds VGG (Simonyan and Zisserman 2014)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st.paddle.vision.models.pretrained import refuse_pretrained
from dy2st_runtime import nn
from dy2st_runtime.lazy import public_dir

CHANNELS = (64, 128, 256, 512, 512)
"""Of the five stages."""
REPEATS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}
"""How many convolutions each stage has, by the number of layers with weights."""


def make_layers(cfg: Sequence[int | str], batch_norm: bool = False) -> nn.Sequential:
    """Convolutions of as many channels as a number says, and a pooling for every "M".

    >>> make_layers([8, "M"])(dy2st.ones([1, 3, 6, 6])).shape
    [1, 8, 3, 3]
    """
    layers: list[nn.Layer] = []
    inputs = 3
    for entry in cfg:
        if isinstance(entry, str):
            layers.append(nn.MaxPool2D(2, 2))
            continue
        layers.append(nn.Conv2D(inputs, entry, 3, padding=1))
        if batch_norm:
            layers.append(nn.BatchNorm2D(entry))
        layers.append(nn.ReLU())
        inputs = entry
    return nn.Sequential(*layers)


class VGG(nn.Layer):
    """(n, 3, h, w) -> (n, num_classes) (Simonyan and Zisserman 2014).

    `features` are the convolutions; without `num_classes` (0) what they give is pooled to 7 x 7.

    >>> net = dy2st.vision.models.VGG(dy2st.nn.Conv2D(3, 4, 3), num_classes=0)
    >>> net(dy2st.ones([1, 3, 32, 32])).shape
    [1, 4, 7, 7]
    """

    def __init__(self, features: nn.Layer, num_classes: int = 1000, with_pool: bool = True) -> None:
        """Take the convolutions, make the rest."""
        super().__init__()
        self.features = features
        self.num_classes, self.with_pool = num_classes, with_pool
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D((7, 7))
        if num_classes > 0:
            self.classifier = nn.Sequential(
                nn.Linear(512 * 7 * 7, 4096),
                nn.ReLU(),
                nn.Dropout(),
                nn.Linear(4096, 4096),
                nn.ReLU(),
                nn.Dropout(),
                nn.Linear(4096, num_classes),
            )

    def forward(self, x: Any) -> Any:
        """(n, 3, h, w) -> (n, num_classes)."""
        x = self.features(x)
        if self.with_pool:
            x = self.avgpool(x)
        if self.num_classes > 0:
            x = self.classifier(x.flatten(1))
        return x


def _vgg(depth: int, pretrained: bool, batch_norm: bool, settings: dict[str, Any]) -> VGG:
    refuse_pretrained(f"vgg{depth}", pretrained)
    entries: list[int | str] = []
    for channels, repeats in zip(CHANNELS, REPEATS[depth], strict=True):
        entries += [*[channels] * repeats, "M"]
    return VGG(make_layers(entries, batch_norm), **settings)


def vgg11(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG of 11 layers with weights (Simonyan and Zisserman 2014).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.vgg11(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    128807306
    """
    return _vgg(11, pretrained, batch_norm, kwargs)


def vgg13(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG of 13 layers with weights (Simonyan and Zisserman 2014).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.vgg13(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    128991818
    """
    return _vgg(13, pretrained, batch_norm, kwargs)


def vgg16(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG of 16 layers with weights (Simonyan and Zisserman 2014).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.vgg16(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    134301514
    """
    return _vgg(16, pretrained, batch_norm, kwargs)


def vgg19(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG of 19 layers with weights (Simonyan and Zisserman 2014).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.vgg19(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    139611210
    """
    return _vgg(19, pretrained, batch_norm, kwargs)


__dir__ = public_dir(__name__)
