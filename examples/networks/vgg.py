"""VGG16 (Simonyan and Zisserman 2014), the configuration D of the paper."""

from __future__ import annotations

from dy2st import Tensor, nn

STAGES = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))
"""Channels and convolutions between two pools."""


class VGG16(nn.Layer):
    """Images (n, 3, size, size) -> logits (n, classes); with `classes` 0, the features."""

    def __init__(self, width: float = 1.0, inner: int = 4096, classes: int = 1000, size: int = 224):
        super().__init__()
        blocks: list[nn.Layer] = []
        inputs = 3
        for channels, depth in STAGES:
            outputs = int(channels * width)
            for _ in range(depth):
                blocks += [nn.Conv2D(inputs, outputs, 3, padding=1), nn.ReLU()]
                inputs = outputs
            blocks.append(nn.MaxPool2D(2, 2))
        self.features = nn.Sequential(*blocks)
        self.classify = None
        if classes:
            self.classify = nn.Sequential(
                nn.Linear(inputs * (size // 32) ** 2, inner),
                nn.ReLU(),
                nn.Dropout(0.5),
                nn.Linear(inner, inner),
                nn.ReLU(),
                nn.Dropout(0.5),
                nn.Linear(inner, classes),
            )

    def forward(self, x: Tensor) -> Tensor:
        x = self.features(x)
        if self.classify is not None:
            x = self.classify(x.flatten(1))
        return x
