"""Builds Inception v3 (Szegedy 2015), without its side output."""

from __future__ import annotations

import math
from typing import Any

from dy2st.paddle.vision.models.pretrained import refuse_pretrained
from dy2st.paddle.vision.ops import ConvNormActivation
from dy2st_runtime import nn
from dy2st_runtime.ir import F
from dy2st_runtime.lazy import public_dir

Size = int | tuple[int, int]

# A way through a module: (name, channels, kernel, stride) one after the other. A stride of 2 goes
# without padding, all else keeps the size. "@" and a way splits: both get what comes before.
Step = tuple[str, int, Size, int]


def _step(inputs: int, outputs: int, size: Size, stride: int) -> ConvNormActivation:
    sizes = (size, size) if isinstance(size, int) else size
    padding = (0, 0) if stride > 1 else tuple((side - 1) // 2 for side in sizes)
    return ConvNormActivation(inputs, outputs, size, stride, padding)


class _Module(nn.Layer):
    """Several ways side by side, their results as one after the other's channels."""

    branch_pool: nn.Layer

    def __init__(self, inputs: int, pooled: int, ways: tuple[tuple[Step, ...], ...]) -> None:
        """Make the ways, and one by a pooling of `pooled` channels; 0 pools at every 2nd place."""
        super().__init__()
        self._ways = [[name for name, *_ in way] for way in ways]
        for way in ways:
            channels = inputs
            for name, outputs, size, stride in way:
                self.add_sublayer(name, _step(channels, outputs, size, stride))
                # the second half of a split has the inputs of the first
                channels = channels if name.endswith("a") else outputs
        if pooled:
            self.branch_pool = nn.AvgPool2D(3, 1, 1, exclusive=False)
            self.branch_pool_conv = _step(inputs, pooled, 1, 1)
        else:
            self.branch_pool = nn.MaxPool2D(3, 2)
            self.branch_pool_conv = None

    def forward(self, x: Any) -> Any:
        """(n, inputs, h, w) -> (n, the sum of the ways' channels, h', w')."""
        results = []
        for way in self._ways:
            splits = way[-1].endswith("b")  # in two, at its end
            y = x
            for name in way[:-2] if splits else way:
                y = getattr(self, name)(y)
            results += [getattr(self, name)(y) for name in way[-2:]] if splits else [y]
        pooled = self.branch_pool(x)
        results.append(pooled if self.branch_pool_conv is None else self.branch_pool_conv(pooled))
        return F.concat(results, 1)


class InceptionA(_Module):
    """Kernels of 5 by 5, and of 3 by 3 twice.

    >>> InceptionA(4, 8)(dy2st.ones([1, 4, 5, 5])).shape
    [1, 232, 5, 5]
    """

    def __init__(self, num_channels: int, pool_features: int) -> None:
        """Make the ways."""
        super().__init__(
            num_channels,
            pool_features,
            (
                (("branch1x1", 64, 1, 1),),
                (("branch5x5_1", 48, 1, 1), ("branch5x5_2", 64, 5, 1)),
                (
                    ("branch3x3dbl_1", 64, 1, 1),
                    ("branch3x3dbl_2", 96, 3, 1),
                    ("branch3x3dbl_3", 96, 3, 1),
                ),
            ),
        )


class InceptionB(_Module):
    """Half the size, by kernels of 3 by 3.

    >>> InceptionB(4)(dy2st.ones([1, 4, 5, 5])).shape
    [1, 484, 2, 2]
    """

    def __init__(self, num_channels: int) -> None:
        """Make the ways."""
        super().__init__(
            num_channels,
            0,
            (
                (("branch3x3", 384, 3, 2),),
                (
                    ("branch3x3dbl_1", 64, 1, 1),
                    ("branch3x3dbl_2", 96, 3, 1),
                    ("branch3x3dbl_3", 96, 3, 2),
                ),
            ),
        )


class InceptionC(_Module):
    """Kernels of 7 by 7, as one of rows and one of columns.

    >>> InceptionC(4, 8)(dy2st.ones([1, 4, 5, 5])).shape
    [1, 768, 5, 5]
    """

    def __init__(self, num_channels: int, channels_7x7: int) -> None:
        """Make the ways."""
        wide, high, inner = (1, 7), (7, 1), channels_7x7
        super().__init__(
            num_channels,
            192,
            (
                (("branch1x1", 192, 1, 1),),
                (
                    ("branch7x7_1", inner, 1, 1),
                    ("branch7x7_2", inner, wide, 1),
                    ("branch7x7_3", 192, high, 1),
                ),
                (
                    ("branch7x7dbl_1", inner, 1, 1),
                    ("branch7x7dbl_2", inner, high, 1),
                    ("branch7x7dbl_3", inner, wide, 1),
                    ("branch7x7dbl_4", inner, high, 1),
                    ("branch7x7dbl_5", 192, wide, 1),
                ),
            ),
        )


class InceptionD(_Module):
    """Half the size, by kernels of 3 by 3 and 7 by 7.

    >>> InceptionD(4)(dy2st.ones([1, 4, 5, 5])).shape
    [1, 516, 2, 2]
    """

    def __init__(self, num_channels: int) -> None:
        """Make the ways."""
        super().__init__(
            num_channels,
            0,
            (
                (("branch3x3_1", 192, 1, 1), ("branch3x3_2", 320, 3, 2)),
                (
                    ("branch7x7x3_1", 192, 1, 1),
                    ("branch7x7x3_2", 192, (1, 7), 1),
                    ("branch7x7x3_3", 192, (7, 1), 1),
                    ("branch7x7x3_4", 192, 3, 2),
                ),
            ),
        )


class InceptionE(_Module):
    """Kernels of 3 by 3, by rows and by columns side by side.

    >>> InceptionE(4)(dy2st.ones([1, 4, 3, 3])).shape
    [1, 2048, 3, 3]
    """

    def __init__(self, num_channels: int) -> None:
        """Make the ways."""
        wide, high = (1, 3), (3, 1)
        super().__init__(
            num_channels,
            192,
            (
                (("branch1x1", 320, 1, 1),),
                (
                    ("branch3x3_1", 384, 1, 1),
                    ("branch3x3_2a", 384, wide, 1),
                    ("branch3x3_2b", 384, high, 1),
                ),
                (
                    ("branch3x3dbl_1", 448, 1, 1),
                    ("branch3x3dbl_2", 384, 3, 1),
                    ("branch3x3dbl_3a", 384, wide, 1),
                    ("branch3x3dbl_3b", 384, high, 1),
                ),
            ),
        )


class InceptionStem(nn.Layer):
    """What comes before the modules: (n, 3, 299, 299) -> (n, 192, 35, 35).

    >>> InceptionStem()(dy2st.ones([1, 3, 43, 43])).shape
    [1, 192, 3, 3]
    """

    def __init__(self) -> None:
        """Make the convolutions."""
        super().__init__()
        self.conv_1a_3x3 = ConvNormActivation(3, 32, 3, 2, 0)
        self.conv_2a_3x3 = ConvNormActivation(32, 32, 3, 1, 0)
        self.conv_2b_3x3 = ConvNormActivation(32, 64, 3, 1, 1)
        self.max_pool = nn.MaxPool2D(3, 2)
        self.conv_3b_1x1 = ConvNormActivation(64, 80, 1, 1, 0)
        self.conv_4a_3x3 = ConvNormActivation(80, 192, 3, 1, 0)

    def forward(self, x: Any) -> Any:
        """(n, 3, h, w) -> (n, 192, h', w')."""
        x = self.conv_2b_3x3(self.conv_2a_3x3(self.conv_1a_3x3(x)))
        x = self.conv_4a_3x3(self.conv_3b_1x1(self.max_pool(x)))
        return self.max_pool(x)


class InceptionV3(nn.Layer):
    """(n, 3, 299, 299) -> (n, num_classes) (Szegedy et al. 2015).

    >>> net = dy2st.vision.models.InceptionV3(num_classes=10)  # doctest: +SKIP
    >>> net(dy2st.ones([1, 3, 299, 299])).shape  # doctest: +SKIP
    [1, 10]
    """

    def __init__(self, num_classes: int = 1000, with_pool: bool = True) -> None:
        """Make the stem and eleven modules."""
        super().__init__()
        self.num_classes, self.with_pool = num_classes, with_pool
        self.inception_stem = InceptionStem()
        self.inception_block_list = nn.LayerList(
            [
                InceptionA(192, 32),
                InceptionA(256, 64),
                InceptionA(288, 64),
                InceptionB(288),
                *(InceptionC(768, channels) for channels in (128, 160, 160, 192)),
                InceptionD(768),
                InceptionE(1280),
                InceptionE(2048),
            ]
        )
        if with_pool:
            self.avg_pool = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.dropout = nn.Dropout(0.2, mode="downscale_in_infer")
            bound = 1.0 / math.sqrt(2048)
            first = nn.initializer.Uniform(-bound, bound)
            self.fc = nn.Linear(2048, num_classes, weight_attr=first)

    def forward(self, x: Any) -> Any:
        """(n, 3, h, w) -> (n, num_classes)."""
        x = self.inception_stem(x)
        for block in self.inception_block_list:
            x = block(x)
        if self.with_pool:
            x = self.avg_pool(x)
        if self.num_classes > 0:
            x = self.fc(self.dropout(x.reshape([-1, 2048])))
        return x


def inception_v3(pretrained: bool = False, **kwargs: Any) -> InceptionV3:
    """Inception v3 (Szegedy et al. 2015).

    Further arguments: `num_classes`, `with_pool`, as of the class. `pretrained=True` is refused: no
    weights are fetched.

    >>> net = dy2st.vision.models.inception_v3(num_classes=10)  # doctest: +SKIP
    >>> sum(one.size for one in net.parameters())  # doctest: +SKIP
    21806058
    """
    refuse_pretrained("inception_v3", pretrained)
    return InceptionV3(**kwargs)


__dir__ = public_dir(__name__)
