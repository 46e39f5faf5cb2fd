"""Builds AlexNet (Krizhevsky 2012, in the form for one device)."""

from __future__ import annotations

import math
from typing import Any

from dy2st.paddle.vision.models.pretrained import refuse_pretrained
from dy2st_runtime import nn


def _within(bound: float) -> nn.initializer.Uniform:
    return nn.initializer.Uniform(-bound, bound)


def _bound(inputs: int) -> float:
    return 1.0 / math.sqrt(inputs)


def _convolution(inputs: int, outputs: int, size: int, stride: int, padding: int) -> nn.Conv2D:
    first = _within(_bound(inputs * size * size))
    return nn.Conv2D(inputs, outputs, size, stride, padding, weight_attr=first, bias_attr=first)


def _linear(inputs: int, outputs: int) -> nn.Linear:
    first = _within(_bound(inputs))
    return nn.Linear(inputs, outputs, weight_attr=first, bias_attr=first)


class ConvPoolLayer(nn.Layer):
    """A convolution, ReLU, and the largest of every 3 by 3 pixels."""

    def __init__(self, inputs: int, outputs: int, size: int, stride: int, padding: int) -> None:
        """Make the layers."""
        super().__init__()
        self._conv = _convolution(inputs, outputs, size, stride, padding)
        self._pool = nn.MaxPool2D(3, 2)

    def forward(self, inputs: Any) -> Any:
        """(n, inputs, h, w) -> (n, outputs, h', w')."""
        return self._pool(nn.functional.relu(self._conv(inputs)))


class AlexNet(nn.Layer):
    """(n, 3, 224, 224) -> (n, num_classes).

    >>> net = dy2st.vision.models.AlexNet(num_classes=0)  # without classes the convolutions alone
    >>> net(dy2st.ones([1, 3, 64, 64])).shape
    [1, 256, 1, 1]
    """

    def __init__(self, num_classes: int = 1000) -> None:
        """Make the layers; without classes only the convolutions."""
        super().__init__()
        self.num_classes = num_classes
        self._conv1 = ConvPoolLayer(3, 64, 11, 4, 2)
        self._conv2 = ConvPoolLayer(64, 192, 5, 1, 2)
        self._conv3 = _convolution(192, 384, 3, 1, 1)
        self._conv4 = _convolution(384, 256, 3, 1, 1)
        self._conv5 = ConvPoolLayer(256, 256, 3, 1, 1)
        if num_classes > 0:
            self._drop1 = nn.Dropout(0.5, mode="downscale_in_infer")
            self._fc6 = _linear(256 * 6 * 6, 4096)
            self._drop2 = nn.Dropout(0.5, mode="downscale_in_infer")
            self._fc7 = _linear(4096, 4096)
            self._fc8 = _linear(4096, num_classes)

    def forward(self, inputs: Any) -> Any:
        """(n, 3, 224, 224) -> (n, num_classes)."""
        relu = nn.functional.relu
        x = self._conv2(self._conv1(inputs))
        x = relu(self._conv4(relu(self._conv3(x))))
        x = self._conv5(x)
        if self.num_classes > 0:
            x = relu(self._fc6(self._drop1(x.flatten(1))))
            x = self._fc8(relu(self._fc7(self._drop2(x))))
        return x


def alexnet(pretrained: bool = False, **kwargs: Any) -> AlexNet:
    """AlexNet (Krizhevsky et al. 2012).

    Further arguments: `num_classes`, as of the class. `pretrained=True` is refused: no weights are
    fetched.

    >>> net = dy2st.vision.models.alexnet(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    57044810
    """
    refuse_pretrained("alexnet", pretrained)
    return AlexNet(**kwargs)
