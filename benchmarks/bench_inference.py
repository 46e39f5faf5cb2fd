"""What `build_strategy="inference"` makes of the time of a call, on each engine: never more."""

from __future__ import annotations

from copy import deepcopy

import pytest
from measuring import times

import dy2st
from dy2st import nn
from dy2st.paddle.vision import models
from dy2st.static import InputSpec


class UNet(nn.Layer):
    """Two levels down and up, joined."""

    def __init__(self):
        super().__init__()
        block = lambda a, b: nn.Sequential(  # noqa: E731
            *(nn.Conv2D(a, b, 3, padding=1), nn.BatchNorm2D(b), nn.ReLU()),
            *(nn.Conv2D(b, b, 3, padding=1), nn.BatchNorm2D(b), nn.ReLU()),
        )
        self.first, self.second, self.third = block(3, 16), block(16, 32), block(32, 64)
        self.ups = nn.LayerList([nn.Conv2DTranspose(b, b // 2, 2, 2) for b in (64, 32)])
        self.back = nn.LayerList([block(64, 32), block(32, 16)])
        self.head, self.pool = nn.Conv2D(16, 2, 1), nn.MaxPool2D(2)

    def forward(self, x):
        """(n, 3, h, w) -> (n, 2, h, w)."""
        first = self.first(x)
        second = self.second(self.pool(first))
        y = self.third(self.pool(second))
        for up, back, beside in zip(self.ups, self.back, (second, first)):
            y = back(dy2st.concat([up(y), beside], axis=1))
        return self.head(y)


class Newton(nn.Layer):
    """A root by a loop that the data ends."""

    def forward(self, x):
        """The square roots of (n,)."""
        y = x
        while (y * y - x).abs().max() > 1e-4:
            y = (y + x / y) / 2
        return y


PICTURE = [1, 3, 64, 64]
NETWORKS = {
    "MobileNetV3": (models.mobilenet_v3_large, PICTURE),
    "ResNet-18": (models.resnet18, PICTURE),
    "SqueezeNet": (models.squeezenet1_1, PICTURE),
    "ShuffleNetV2": (models.shufflenet_v2_x1_0, PICTURE),
    "U-Net": (UNet, PICTURE),
    "Newton": (Newton, [8]),
    "an LSTM": (lambda: nn.LSTM(32, 64, 2), [4, 20, 32]),
    "a transformer": (lambda: nn.TransformerEncoderLayer(64, 4, 128), [4, 20, 64]),
    "dense layers": (
        lambda: nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8)),
        [4, 64],
    ),
}


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("name", NETWORKS)
def test_no_call_takes_longer(figure, name, engine):
    make, sizes = NETWORKS[name]
    x = dy2st.rand(sizes) + 0.5
    plain = make().eval()
    better, specs = deepcopy(plain), [InputSpec([None, *sizes[1:]])]
    dy2st.to_static(plain, specs, engine=engine)
    dy2st.to_static(better, specs, "inference", engine=engine)

    def ratio():
        with dy2st.no_grad():
            return times(lambda: better(x), lambda: plain(x), 41)

    figure(f"{name} with `inference` against without, {engine}", ratio, "times", 1.05)
