"""Normalisation layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.ir import F
from dy2st_runtime.nn.initializer import Constant
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.tensor import EagerTensor


class _BatchNorm(Layer):
    """y = (x - mean) / sqrt(variance + epsilon) * weight + bias, channel by channel.

    While training, mean and variance are the batch's, and the running ones move towards them:
    running = momentum * running + (1 - momentum) * batch.
    """

    axes: tuple[int, ...] = (4,)
    default_format = "NCHW"

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str | None = None,
        use_global_stats: bool | None = None,
        name: str | None = None,
    ):
        """Make parameters and running statistics."""
        super().__init__(name)
        self.num_features, self.momentum, self.epsilon = num_features, momentum, epsilon
        self.data_format = data_format or self.default_format
        self.use_global_stats = use_global_stats
        self.weight = self.create_parameter(
            [num_features], weight_attr, default_initializer=Constant(1.0)
        )
        self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)
        self.register_buffer("_mean", EagerTensor(np.zeros(num_features, "float32")))
        self.register_buffer("_variance", EagerTensor(np.ones(num_features, "float32")))

    def forward(self, x: Any) -> Any:
        """Same shape."""
        if x.ndim not in self.axes:
            raise ValueError(
                f"{type(self).__name__} takes {' or '.join(map(str, self.axes))} axes, "
                f"not shape {x.shape}"
            )
        return F.batch_norm(
            x,
            self._mean,
            self._variance,
            self.weight,
            self.bias,
            training=self.training,
            momentum=self.momentum,
            epsilon=self.epsilon,
            data_format=self.data_format,
            use_global_stats=self.use_global_stats,
        )

    def extra_repr(self) -> str:
        """Size and settings."""
        return f"{self.num_features}, momentum={self.momentum}, epsilon={self.epsilon}"


class BatchNorm1D(_BatchNorm):
    """Batch normalisation of (n, c) or (n, c, l) (Ioffe and Szegedy 2015)."""

    axes, default_format = (2, 3), "NCL"


class BatchNorm2D(_BatchNorm):
    """Batch normalisation of (n, c, h, w) (Ioffe and Szegedy 2015)."""


class LayerNorm(Layer):
    """y = (x - mean) / sqrt(variance + epsilon) * weight + bias over the last axes (Ba 2016)."""

    def __init__(
        self,
        normalized_shape: int | list[int] | tuple[int, ...],
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ):
        """Take the sizes of the last axes."""
        super().__init__(name)
        is_int = isinstance(normalized_shape, int)
        self.normalized_shape = [normalized_shape] if is_int else list(normalized_shape)  # type: ignore[arg-type]
        self.epsilon = epsilon
        self.weight = self.create_parameter(
            self.normalized_shape, weight_attr, default_initializer=Constant(1.0)
        )
        self.bias = self.create_parameter(self.normalized_shape, bias_attr, is_bias=True)

    def forward(self, x: Any) -> Any:
        """Same shape."""
        return F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.epsilon)

    def extra_repr(self) -> str:
        """Sizes."""
        return f"{self.normalized_shape}, epsilon={self.epsilon}"


class GroupNorm(Layer):
    """Normalise groups of channels of (n, c, ...) (Wu and He 2018)."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
    ):
        """Take the number of groups; ValueError if they do not divide the channels."""
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"{num_channels} channels cannot be split into {num_groups} groups")
        self.num_groups, self.num_channels = num_groups, num_channels
        self.epsilon, self.data_format = epsilon, data_format
        self.weight = self.create_parameter(
            [num_channels], weight_attr, default_initializer=Constant(1.0)
        )
        self.bias = self.create_parameter([num_channels], bias_attr, is_bias=True)

    def forward(self, x: Any) -> Any:
        """Same shape."""
        return F.group_norm(
            x, self.num_groups, self.epsilon, self.weight, self.bias, self.data_format
        )


class InstanceNorm2D(Layer):
    """Normalise every channel of every image of (n, c, h, w)."""

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ):
        """Take the number of channels."""
        super().__init__()
        self.epsilon = epsilon
        self.weight = self.create_parameter(
            [num_features], weight_attr, default_initializer=Constant(1.0)
        )
        self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)

    def forward(self, x: Any) -> Any:
        """Same shape."""
        return F.instance_norm(x, weight=self.weight, bias=self.bias, eps=self.epsilon)


class RMSNorm(Layer):
    """y = x / sqrt(mean(x**2) + epsilon) * weight over the last axes (Zhang, Sennrich 2019)."""

    def __init__(self, normalized_shape: int | list[int], epsilon: float = 1e-6):
        """Take the sizes of the last axes."""
        super().__init__()
        is_int = isinstance(normalized_shape, int)
        shape = [normalized_shape] if is_int else list(normalized_shape)  # type: ignore[arg-type]
        self.epsilon, self._axes = epsilon, list(range(-len(shape), 0))
        self.weight = self.create_parameter(shape, default_initializer=Constant(1.0))

    def forward(self, x: Any) -> Any:
        """Same shape."""
        mean = F.mean(F.square(x), axis=self._axes, keepdim=True)
        return x * F.rsqrt(mean + self.epsilon) * self.weight
