"""Builds ShuffleNetV2 (Ma 2018)."""

from __future__ import annotations

from functools import partial
from typing import Any

from dy2st.paddle.vision.models.pretrained import refuse_pretrained
from dy2st.paddle.vision.ops import ConvNormActivation
from dy2st_runtime import nn
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir
from dy2st_runtime.nn.functions.pixels import channel_shuffle

REPEATS = (4, 8, 4)
"""Units of the three stages."""
CHANNELS = {
    0.25: (24, 24, 48, 96, 512),
    0.33: (24, 32, 64, 128, 512),
    0.5: (24, 48, 96, 192, 1024),
    1.0: (24, 116, 232, 464, 1024),
    1.5: (24, 176, 352, 704, 1024),
    2.0: (24, 224, 488, 976, 2048),
}
"""Of the first convolution, the three stages and the last convolution, by the scale."""
ACTIVATIONS: dict[str | None, type[nn.Layer] | None] = {
    "relu": nn.ReLU,
    "swish": nn.Swish,
    None: None,
}


class InvertedResidual(nn.Layer):
    """Half of the channels through convolutions, the other half untouched, then shuffled.

    >>> InvertedResidual(4, 4, 1)(dy2st.ones([1, 4, 6, 6])).shape
    [1, 4, 6, 6]
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        stride: int,
        activation_layer: type[nn.Layer] | None = nn.ReLU,
    ) -> None:
        """Make three convolutions of half of the channels."""
        super().__init__()
        half, inputs = out_channels // 2, in_channels // 2
        acts = partial(ConvNormActivation, activation_layer=activation_layer)
        self._conv_pw = acts(inputs, half, 1, 1, 0)
        self._conv_dw = ConvNormActivation(half, half, 3, stride, 1, half, activation_layer=None)
        self._conv_linear = acts(half, half, 1, 1, 0)

    def forward(self, inputs: Any) -> Any:
        """(n, c, h, w) -> (n, c, h, w)."""
        kept, x = F.split(inputs, 2, 1)
        x = self._conv_linear(self._conv_dw(self._conv_pw(x)))
        return channel_shuffle(F.concat([kept, x], 1), 2)


class InvertedResidualDS(nn.Layer):
    """All channels through both ways, at every second place, then shuffled.

    >>> InvertedResidualDS(4, 8, 2)(dy2st.ones([1, 4, 6, 6])).shape
    [1, 8, 3, 3]
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        stride: int,
        activation_layer: type[nn.Layer] | None = nn.ReLU,
    ) -> None:
        """Make two and three convolutions, each way of half of the channels."""
        super().__init__()
        half = out_channels // 2
        acts = partial(ConvNormActivation, activation_layer=activation_layer)
        alone = partial(ConvNormActivation, activation_layer=None)
        self._conv_dw_1 = alone(in_channels, in_channels, 3, stride, 1, in_channels)
        self._conv_linear_1 = acts(in_channels, half, 1, 1, 0)
        self._conv_pw_2 = acts(in_channels, half, 1, 1, 0)
        self._conv_dw_2 = alone(half, half, 3, stride, 1, half)
        self._conv_linear_2 = acts(half, half, 1, 1, 0)

    def forward(self, inputs: Any) -> Any:
        """(n, in, h, w) -> (n, out, h', w')."""
        x1 = self._conv_linear_1(self._conv_dw_1(inputs))
        x2 = self._conv_linear_2(self._conv_dw_2(self._conv_pw_2(inputs)))
        return channel_shuffle(F.concat([x1, x2], 1), 2)


class ShuffleNetV2(nn.Layer):
    """(n, 3, h, w) -> (n, num_classes) (Ma et al. 2018); `act` is "relu", "swish" or None.

    >>> net = dy2st.vision.models.ShuffleNetV2(scale=0.25, num_classes=10).eval()
    >>> net(dy2st.ones([1, 3, 32, 32])).shape
    [1, 10]
    """

    def __init__(
        self,
        scale: float = 1.0,
        act: str | None = "relu",
        num_classes: int = 1000,
        with_pool: bool = True,
    ) -> None:
        """Make three stages; `act` is "relu", "swish" or None."""
        super().__init__()
        if scale not in CHANNELS:
            raise ArgumentError(f"ShuffleNetV2 has the scales {list(CHANNELS)}, not {scale}")
        if act not in ACTIVATIONS:
            raise ArgumentError(
                f"ShuffleNetV2 has the activations {list(ACTIVATIONS)}, not {act!r}"
            )
        self.scale, self.num_classes, self.with_pool = scale, num_classes, with_pool
        activation = ACTIVATIONS[act]
        acts = partial(ConvNormActivation, activation_layer=activation)
        first, *stages, last = CHANNELS[scale]
        self._conv1 = acts(3, first, 3, 2, 1)
        self._max_pool = nn.MaxPool2D(3, 2, 1)
        self._names: list[str] = []
        inputs = first
        for stage, (channels, repeats) in enumerate(zip(stages, REPEATS, strict=True), 2):
            for unit in range(1, repeats + 1):
                make: Any = InvertedResidualDS if unit == 1 else InvertedResidual
                block = make(inputs, channels, 2 if unit == 1 else 1, activation)
                self._names.append(f"{stage}_{unit}")
                self.add_sublayer(self._names[-1], block)
                inputs = channels
        self._last_conv = acts(inputs, last, 1, 1, 0)
        if with_pool:
            self._pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self._fc = nn.Linear(last, num_classes)

    def forward(self, inputs: Any) -> Any:
        """(n, 3, h, w) -> (n, num_classes)."""
        x = self._max_pool(self._conv1(inputs))
        for name in self._names:
            x = getattr(self, name)(x)
        x = self._last_conv(x)
        if self.with_pool:
            x = self._pool2d_avg(x)
        if self.num_classes > 0:
            x = self._fc(x.flatten(1))
        return x


def _shufflenet(name: str, pretrained: bool, scale: float, **settings: Any) -> ShuffleNetV2:
    refuse_pretrained(name, pretrained)
    return ShuffleNetV2(scale, **settings)


def shufflenet_v2_x0_25(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 with the channels of 0.25 (Ma et al. 2018).

    Further arguments: `act`, `num_classes`, `with_pool`, as of the class. `pretrained=True` is
    refused: no weights are fetched.

    >>> net = dy2st.vision.models.shufflenet_v2_x0_25(num_classes=10)
    >>> sum(one.size for one in net.parameters())
    95818
    """
    return _shufflenet("shufflenet_v2_x0_25", pretrained, 0.25, **kwargs)


def shufflenet_v2_x0_33(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 with the channels of 0.33 (Ma et al. 2018).

    Further arguments: `act`, `num_classes`, `with_pool`, as of the class. `pretrained=True` is
    refused: no weights are fetched.

    >>> net = dy2st.vision.models.shufflenet_v2_x0_33(num_classes=10)
    >>> sum(one.size for one in net.parameters())
    139402
    """
    return _shufflenet("shufflenet_v2_x0_33", pretrained, 0.33, **kwargs)


def shufflenet_v2_x0_5(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 with the channels of 0.5 (Ma et al. 2018).

    Further arguments: `act`, `num_classes`, `with_pool`, as of the class. `pretrained=True` is
    refused: no weights are fetched.

    >>> net = dy2st.vision.models.shufflenet_v2_x0_5(num_classes=10)
    >>> sum(one.size for one in net.parameters())
    352042
    """
    return _shufflenet("shufflenet_v2_x0_5", pretrained, 0.5, **kwargs)


def shufflenet_v2_x1_0(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 with the channels of 1.0 (Ma et al. 2018).

    Further arguments: `act`, `num_classes`, `with_pool`, as of the class. `pretrained=True` is
    refused: no weights are fetched.

    >>> net = dy2st.vision.models.shufflenet_v2_x1_0(num_classes=10)
    >>> sum(one.size for one in net.parameters())
    1263854
    """
    return _shufflenet("shufflenet_v2_x1_0", pretrained, 1.0, **kwargs)


def shufflenet_v2_x1_5(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 with the channels of 1.5 (Ma et al. 2018).

    Further arguments: `act`, `num_classes`, `with_pool`, as of the class. `pretrained=True` is
    refused: no weights are fetched.

    >>> net = dy2st.vision.models.shufflenet_v2_x1_5(num_classes=10)
    >>> sum(one.size for one in net.parameters())
    2488874
    """
    return _shufflenet("shufflenet_v2_x1_5", pretrained, 1.5, **kwargs)


def shufflenet_v2_x2_0(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 with the channels of 2.0 (Ma et al. 2018).

    Further arguments: `act`, `num_classes`, `with_pool`, as of the class. `pretrained=True` is
    refused: no weights are fetched.

    >>> net = dy2st.vision.models.shufflenet_v2_x2_0(num_classes=10)
    >>> sum(one.size for one in net.parameters())
    5338026
    """
    return _shufflenet("shufflenet_v2_x2_0", pretrained, 2.0, **kwargs)


def shufflenet_v2_swish(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 with the channels of 1.0 and swish (Ma et al. 2018).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.shufflenet_v2_swish(num_classes=10)
    >>> sum(one.size for one in net.parameters())
    1263854
    """
    return _shufflenet("shufflenet_v2_swish", pretrained, 1.0, act="swish", **kwargs)


__dir__ = public_dir(__name__)
