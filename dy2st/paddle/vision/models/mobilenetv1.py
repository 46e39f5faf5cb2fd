"""Builds MobileNet (Howard 2017)."""

from __future__ import annotations

from typing import Any

from dy2st.paddle.vision.models.pretrained import refuse_pretrained
from dy2st.paddle.vision.ops import ConvNormActivation
from dy2st_runtime import nn
from dy2st_runtime.lazy import public_dir

# name, inputs, outputs, stride of each block
BLOCKS = (
    ("conv2_1", 32, 64, 1),
    ("conv2_2", 64, 128, 2),
    ("conv3_1", 128, 128, 1),
    ("conv3_2", 128, 256, 2),
    ("conv4_1", 256, 256, 1),
    ("conv4_2", 256, 512, 2),
    *((f"conv5_{index}", 512, 512, 1) for index in range(1, 6)),
    ("conv5_6", 512, 1024, 2),
    ("conv6", 1024, 1024, 1),
)


class DepthwiseSeparable(nn.Layer):
    """A convolution of each channel by itself, then one of each pixel by itself.

    >>> DepthwiseSeparable(4, 8, 2)(dy2st.ones([1, 4, 6, 6])).shape
    [1, 8, 3, 3]
    """

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        """Make the two, each with its norm and ReLU."""
        super().__init__()
        self._depthwise_conv = ConvNormActivation(inputs, inputs, 3, stride, 1, inputs)
        self._pointwise_conv = ConvNormActivation(inputs, outputs, 1, 1, 0)

    def forward(self, x: Any) -> Any:
        """(n, inputs, h, w) -> (n, outputs, h', w')."""
        return self._pointwise_conv(self._depthwise_conv(x))


class MobileNetV1(nn.Layer):
    """(n, 3, h, w) -> (n, num_classes) (Howard et al. 2017), with `scale` times as many channels.

    >>> net = dy2st.vision.models.MobileNetV1(scale=0.25, num_classes=10).eval()
    >>> net(dy2st.ones([1, 3, 32, 32])).shape
    [1, 10]
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        """Make 13 blocks of `scale` times as many channels."""
        super().__init__()
        self.scale, self.num_classes, self.with_pool = scale, num_classes, with_pool
        self.conv1 = ConvNormActivation(3, int(32 * scale), 3, 2, 1)
        for name, inputs, outputs, stride in BLOCKS:
            block = DepthwiseSeparable(int(inputs * scale), int(outputs * scale), stride)
            self.add_sublayer(name, block)
        if with_pool:
            self.pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.fc = nn.Linear(int(1024 * scale), num_classes)

    def forward(self, x: Any) -> Any:
        """(n, 3, h, w) -> (n, num_classes)."""
        x = self.conv1(x)
        for name, *_ in BLOCKS:
            x = getattr(self, name)(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        if self.num_classes > 0:
            x = self.fc(x.flatten(1))
        return x


def mobilenet_v1(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV1:
    """MobileNet (Howard et al. 2017).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.mobilenet_v1(num_classes=10)
    >>> sum(one.size for one in net.parameters())
    3217226
    """
    refuse_pretrained("mobilenet_v1", pretrained)
    return MobileNetV1(scale, **kwargs)


__dir__ = public_dir(__name__)
