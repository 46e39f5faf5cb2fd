"""What the image models share: a convolution, its batch norm and an activation."""

from __future__ import annotations

from dy2st import Tensor, nn


class ConvNorm(nn.Layer):
    """Convolution without bias, batch norm, activation; the padding keeps the size at stride 1."""

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel: int,
        stride: int = 1,
        groups: int = 1,
        activation: nn.Layer | None = None,
        epsilon: float = 1e-5,
    ):
        super().__init__()
        padding = (kernel - 1) // 2
        self.conv = nn.Conv2D(
            inputs, outputs, kernel, stride, padding, groups=groups, bias_attr=False
        )
        self.norm = nn.BatchNorm2D(outputs, epsilon=epsilon)
        self.activation = activation or nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return self.activation(self.norm(self.conv(x)))
