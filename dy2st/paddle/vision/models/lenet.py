"""Builds LeNet-5 (LeCun 1998), for digits of 28 by 28 pixels."""

from __future__ import annotations

from typing import Any

from dy2st_runtime import nn
from dy2st_runtime.lazy import public_dir


class LeNet(nn.Layer):
    """(n, 1, 28, 28) -> (n, num_classes) (LeCun et al. 1998).

    Without classes (0) only the convolutions.

    >>> net = dy2st.vision.models.LeNet()
    >>> net(dy2st.ones([2, 1, 28, 28])).shape
    [2, 10]
    """

    def __init__(self, num_classes: int = 10) -> None:
        """Make the layers; without classes only the convolutions."""
        super().__init__()
        self.num_classes = num_classes
        self.features = nn.Sequential(
            nn.Conv2D(1, 6, 3, stride=1, padding=1),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
            nn.Conv2D(6, 16, 5, stride=1, padding=0),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
        )
        if num_classes > 0:
            self.fc = nn.Sequential(
                nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, num_classes)
            )

    def forward(self, inputs: Any) -> Any:
        """(n, 1, 28, 28) -> (n, num_classes)."""
        x = self.features(inputs)
        if self.num_classes > 0:
            x = self.fc(x.flatten(1))
        return x


__dir__ = public_dir(__name__)
