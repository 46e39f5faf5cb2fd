"""Builds DenseNet (Huang 2016)."""

from __future__ import annotations

from typing import Any

from dy2st.paddle.vision.models.pretrained import refuse_pretrained
from dy2st_runtime import nn
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir

# channels of the first convolution, channels that a layer adds, layers of each block
SIZES = {
    121: (64, 32, (6, 12, 24, 16)),
    161: (96, 48, (6, 12, 36, 24)),
    169: (64, 32, (6, 12, 32, 32)),
    201: (64, 32, (6, 12, 48, 32)),
    264: (64, 32, (6, 12, 64, 48)),
}


class BNACConvLayer(nn.Layer):
    """conv(relu(bn(x))).

    >>> BNACConvLayer(4, 8, 3, padding=1)(dy2st.ones([1, 4, 6, 6])).shape
    [1, 8, 6, 6]
    """

    def __init__(self, inputs: int, outputs: int, size: int, padding: int = 0) -> None:
        """Make the layers."""
        super().__init__()
        self._batch_norm = nn.BatchNorm2D(inputs)
        self._conv = nn.Conv2D(inputs, outputs, size, padding=padding, bias_attr=False)

    def forward(self, input: Any) -> Any:
        """(n, inputs, h, w) -> (n, outputs, h, w)."""
        return self._conv(nn.functional.relu(self._batch_norm(input)))


class DenseLayer(nn.Layer):
    """x and, as more channels, what two convolutions make of it.

    >>> DenseLayer(4, 2, 4, 0.0)(dy2st.ones([1, 4, 6, 6])).shape
    [1, 6, 6, 6]
    """

    def __init__(self, inputs: int, growth: int, bn_size: int, dropout: float) -> None:
        """Make the layers; the first convolution gives `bn_size * growth` channels."""
        super().__init__()
        self.bn_ac_func1 = BNACConvLayer(inputs, bn_size * growth, 1)
        self.bn_ac_func2 = BNACConvLayer(bn_size * growth, growth, 3, 1)
        self.dropout = dropout
        if dropout:
            self.dropout_func = nn.Dropout(dropout, mode="downscale_in_infer")

    def forward(self, input: Any) -> Any:
        """(n, inputs, h, w) -> (n, inputs + growth, h, w)."""
        y = self.bn_ac_func2(self.bn_ac_func1(input))
        if self.dropout:
            y = self.dropout_func(y)
        return F.concat([input, y], 1)


class TransitionLayer(nn.Layer):
    """A convolution of each pixel by itself, and the mean of every 2 by 2 pixels.

    >>> TransitionLayer(4, 2)(dy2st.ones([1, 4, 6, 6])).shape
    [1, 2, 3, 3]
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        """Make the layers."""
        super().__init__()
        self.conv_ac_func = BNACConvLayer(inputs, outputs, 1)
        self.pool2d_avg = nn.AvgPool2D(2, 2)

    def forward(self, input: Any) -> Any:
        """(n, inputs, h, w) -> (n, outputs, h // 2, w // 2)."""
        return self.pool2d_avg(self.conv_ac_func(input))


class ConvBNLayer(nn.Layer):
    """relu(bn(conv(x))), of 7 by 7 pixels at every second place.

    >>> ConvBNLayer(3, 4)(dy2st.ones([1, 3, 8, 8])).shape
    [1, 4, 4, 4]
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        """Make the layers."""
        super().__init__()
        self._conv = nn.Conv2D(inputs, outputs, 7, 2, 3, bias_attr=False)
        self._batch_norm = nn.BatchNorm2D(outputs)

    def forward(self, input: Any) -> Any:
        """(n, inputs, h, w) -> (n, outputs, h', w')."""
        return nn.functional.relu(self._batch_norm(self._conv(input)))


class DenseNet(nn.Layer):
    """(n, 3, h, w) -> (n, num_classes) (Huang et al. 2016).

    `layers` is 121, 161, 169, 201 or 264. Without `num_classes` (0) the features are given, without
    `with_pool` all places of them.

    >>> net = dy2st.vision.models.DenseNet(num_classes=0, with_pool=False)
    >>> len(net.parameters())
    362
    """

    db_conv_2: nn.Sequential
    db_conv_3: nn.Sequential
    db_conv_4: nn.Sequential
    db_conv_5: nn.Sequential
    tr_conv2_blk: TransitionLayer
    tr_conv3_blk: TransitionLayer
    tr_conv4_blk: TransitionLayer

    def __init__(
        self,
        layers: int = 121,
        bn_size: int = 4,
        dropout: float = 0.0,
        num_classes: int = 1000,
        with_pool: bool = True,
    ) -> None:
        """Make four blocks and what lies between them."""
        super().__init__()
        if layers not in SIZES:
            raise ArgumentError(f"DenseNet has {list(SIZES)} layers, not {layers}")
        self.num_classes, self.with_pool = num_classes, with_pool
        channels, growth, repeats = SIZES[layers]
        self.conv1_func = ConvBNLayer(3, channels)
        self.pool2d_max = nn.MaxPool2D(3, 2, 1)
        for block, count in enumerate(repeats, 2):
            dense = nn.Sequential()
            for index in range(1, count + 1):
                layer = DenseLayer(channels, growth, bn_size, dropout)
                dense.add_sublayer(f"conv{block}_{index}", layer)
                channels += growth
            self.add_sublayer(f"db_conv_{block}", dense)
            if block < 5:
                self.add_sublayer(f"tr_conv{block}_blk", TransitionLayer(channels, channels // 2))
                channels //= 2
        self.batch_norm = nn.BatchNorm2D(channels)
        if with_pool:
            self.pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.out = nn.Linear(channels, num_classes)

    def forward(self, input: Any) -> Any:
        """(n, 3, h, w) -> (n, num_classes)."""
        x = self.pool2d_max(self.conv1_func(input))
        x = self.tr_conv2_blk(self.db_conv_2(x))
        x = self.tr_conv3_blk(self.db_conv_3(x))
        x = self.tr_conv4_blk(self.db_conv_4(x))
        x = nn.functional.relu(self.batch_norm(self.db_conv_5(x)))
        if self.with_pool:
            x = self.pool2d_avg(x)
        if self.num_classes > 0:
            x = self.out(x.flatten(1))
        return x


def _densenet(layers: int, pretrained: bool, settings: dict[str, Any]) -> DenseNet:
    refuse_pretrained(f"densenet{layers}", pretrained)
    return DenseNet(layers, **settings)


def densenet121(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet of 121 layers (Huang et al. 2016).

    Further arguments: `bn_size`, `dropout`, `num_classes`, `with_pool`, as of the class.
    `pretrained=True` is refused: no weights are fetched.

    >>> net = dy2st.vision.models.densenet121(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    6964106
    """
    return _densenet(121, pretrained, kwargs)


def densenet161(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet of 161 layers (Huang et al. 2016).

    Further arguments: `bn_size`, `dropout`, `num_classes`, `with_pool`, as of the class.
    `pretrained=True` is refused: no weights are fetched.

    >>> net = dy2st.vision.models.densenet161(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    26494090
    """
    return _densenet(161, pretrained, kwargs)


def densenet169(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet of 169 layers (Huang et al. 2016).

    Further arguments: `bn_size`, `dropout`, `num_classes`, `with_pool`, as of the class.
    `pretrained=True` is refused: no weights are fetched.

    >>> net = dy2st.vision.models.densenet169(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    12501130
    """
    return _densenet(169, pretrained, kwargs)


def densenet201(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet of 201 layers (Huang et al. 2016).

    Further arguments: `bn_size`, `dropout`, `num_classes`, `with_pool`, as of the class.
    `pretrained=True` is refused: no weights are fetched.

    >>> net = dy2st.vision.models.densenet201(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    18112138
    """
    return _densenet(201, pretrained, kwargs)


def densenet264(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet of 264 layers (Huang et al. 2016).

    Further arguments: `bn_size`, `dropout`, `num_classes`, `with_pool`, as of the class.
    `pretrained=True` is refused: no weights are fetched.

    >>> net = dy2st.vision.models.densenet264(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    30675594
    """
    return _densenet(264, pretrained, kwargs)


__dir__ = public_dir(__name__)
