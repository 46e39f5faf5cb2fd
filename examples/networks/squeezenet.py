"""SqueezeNet 1.1 (Iandola et al. 2016): narrow 1 x 1 convolutions, then two wide ones, joined."""

from __future__ import annotations

import dy2st
from dy2st import Tensor, nn

FIRES = (((16, 64), (16, 64)), ((32, 128), (32, 128)), ((48, 192), (48, 192), (64, 256), (64, 256)))
"""Between two pools: channels of the narrow convolution, and of each wide one."""


class Fire(nn.Layer):
    """Squeeze to few channels, expand with 1 x 1 and 3 x 3 side by side."""

    def __init__(self, inputs: int, narrow: int, wide: int):
        super().__init__()
        self.squeeze = nn.Conv2D(inputs, narrow, 1)
        self.expand1 = nn.Conv2D(narrow, wide, 1)
        self.expand3 = nn.Conv2D(narrow, wide, 3, padding=1)
        self.relu = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        x = self.relu(self.squeeze(x))
        return dy2st.concat([self.relu(self.expand1(x)), self.relu(self.expand3(x))], axis=1)


class SqueezeNet(nn.Layer):
    """Images (n, 3, h, w) -> logits (n, classes); channels are scaled by `width`."""

    def __init__(self, width: float = 1.0, classes: int = 1000):
        super().__init__()
        inputs = int(64 * width)
        blocks: list[nn.Layer] = [nn.Conv2D(3, inputs, 3, 2), nn.ReLU()]
        for stage in FIRES:
            blocks.append(nn.MaxPool2D(3, 2, ceil_mode=True))
            for narrow, wide in stage:
                blocks.append(Fire(inputs, int(narrow * width), int(wide * width)))
                inputs = 2 * int(wide * width)
        self.features = nn.Sequential(*blocks)
        self.dropout = nn.Dropout(0.5)
        self.classify = nn.Conv2D(inputs, classes, 1)
        self.relu = nn.ReLU()
        self.mean = nn.AdaptiveAvgPool2D(1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.relu(self.classify(self.dropout(self.features(x))))
        return self.mean(x).flatten(1)
