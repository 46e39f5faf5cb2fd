"""LeNet-5 (LeCun et al. 1998) with relus and max pools."""

from __future__ import annotations

from dy2st import Tensor, nn


class LeNet(nn.Layer):
    """Images (n, 1, 28, 28) -> logits (n, classes)."""

    def __init__(self, classes: int = 10):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2D(1, 6, 5, padding=2),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
            nn.Conv2D(6, 16, 5),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
        )
        self.classify = nn.Sequential(
            nn.Linear(16 * 5 * 5, 120),
            nn.ReLU(),
            nn.Linear(120, 84),
            nn.ReLU(),
            nn.Linear(84, classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.classify(self.features(x).flatten(1))
