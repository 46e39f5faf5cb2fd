"""Normalisation layers; those that few models use stand in `layers/normalisation.py`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F
from dy2st_runtime.ir.arguments import as_ints
from dy2st_runtime.nn.initializer import Constant
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.tensor import EagerTensor

Sizes = int | list[int] | tuple[int, ...]


class _BatchNorm(Layer, private="_num_features _momentum _epsilon _data_format _use_global_stats"):
    """y = (x - mean) / sqrt(variance + epsilon) * weight + bias, channel by channel.

    While training, mean and variance are the batch's, and the running ones move towards them:
    running = momentum * running + (1 - momentum) * batch. With `use_global_stats` the running ones
    are taken always, or, if it is False, never.
    """

    axes: tuple[int, ...] = (4,)
    default_format = "NCHW"
    _names_in_torch = {
        "running_mean": ("_mean",),
        "running_var": ("_variance",),
        "num_batches_tracked": (),
    }

    _mean: EagerTensor
    _variance: EagerTensor

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
        """Make parameters and running statistics; an attribute that is False leaves one out."""
        super().__init__()
        self._num_features, self._momentum, self._epsilon = num_features, momentum, epsilon
        self._data_format = data_format or self.default_format
        self._use_global_stats, self._name, self._in_place = use_global_stats, name, False
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self.weight = self.create_parameter(
            [num_features], weight_attr, default_initializer=Constant(1.0)
        )
        self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)
        self.register_buffer("_mean", EagerTensor(np.zeros(num_features, self._dtype)))
        self.register_buffer("_variance", EagerTensor(np.ones(num_features, self._dtype)))

    def forward(self, x: Any) -> Any:
        """Same shape."""
        if x.ndim not in self.axes:
            raise ArgumentError(
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
            momentum=self._momentum,
            epsilon=self._epsilon,
            data_format=self._data_format,
            use_global_stats=self._use_global_stats,
        )

    def extra_repr(self) -> str:
        """Size and settings."""
        shown = f"num_features={self._num_features}, momentum={self._momentum}"
        shown += f", epsilon={self._epsilon}"
        usual = self._data_format == "NCHW"
        return shown if usual else f"{shown}, data_format={self._data_format}"


class BatchNorm1D(_BatchNorm):
    """Batch normalisation of (n, c) or (n, c, l) (Ioffe and Szegedy 2015).

    While training by the batch's mean and variance, else by the running ones; see `BatchNorm2D`.

    >>> y = dy2st.nn.BatchNorm1D(1)(dy2st.to_tensor([[1.0], [3.0]]))
    >>> print(y.flatten().round(3))
    [-1.  1.]
    """

    axes, default_format = (2, 3), "NCL"


class BatchNorm2D(_BatchNorm):
    """Batch normalisation of (n, c, h, w) (Ioffe and Szegedy 2015).

    y = (x - mean) / sqrt(variance + epsilon) * weight + bias, channel by channel. While training,
    mean and variance are the batch's, and the running ones move towards them:
    running = momentum * running + (1 - momentum) * batch. ValueError for another number of axes.

    Parameters
    ----------
    num_features
        The number of channels.
    momentum
        The share of the running statistics that stays at each step.
    epsilon
        What is added to the variance.
    weight_attr, bias_attr
        ParamAttrs; False leaves the parameter out.
    use_global_stats
        True takes the running statistics always, False never.

    Examples
    --------
    >>> norm = dy2st.nn.BatchNorm2D(3)
    >>> norm(dy2st.ones([2, 3, 4, 4])).shape
    [2, 3, 4, 4]
    >>> sorted(norm.state_dict())
    ['_mean', '_variance', 'bias', 'weight']
    """


class LayerNorm(Layer, private="_normalized_shape _epsilon"):
    """y = (x - mean) / sqrt(variance + epsilon) * weight + bias over the last axes (Ba 2016).

    `normalized_shape` are the sizes of these axes, n elements in all; weight and bias are (n,).

    >>> y = dy2st.nn.LayerNorm(2)(dy2st.to_tensor([[1.0, 3.0]]))
    >>> print(y[0].round(3))
    [-1.  1.]
    """

    def __init__(
        self,
        normalized_shape: Sizes,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
        *,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        """Take the sizes of the last axes, n elements in all; weight and bias are (n,)."""
        super().__init__()
        self._normalized_shape, self._epsilon = _sizes(normalized_shape), epsilon
        self._weight_attr = weight_attr if elementwise_affine else False
        self._bias_attr = bias_attr if elementwise_affine and bias else False
        flat = [math.prod(self._normalized_shape)]  # as PaddlePaddle keeps them
        self.weight = self.create_parameter(
            flat, self._weight_attr, dtype, default_initializer=Constant(1.0)
        )
        self.bias = self.create_parameter(flat, self._bias_attr, dtype, is_bias=True)

    def forward(self, x: Any) -> Any:
        """Same shape."""
        return F.layer_norm(x, self._normalized_shape, self.weight, self.bias, self._epsilon)

    def extra_repr(self) -> str:
        """Sizes."""
        return f"normalized_shape={self._normalized_shape}, epsilon={self._epsilon}"


class GroupNorm(Layer, private="_num_groups _num_channels _epsilon _data_format"):
    """Normalise groups of channels of (n, c, ...) (Wu and He 2018).

    ValueError if the groups do not divide the channels.

    Parameters
    ----------
    num_groups, num_channels
        How many groups, and channels in all.
    weight_attr, bias_attr
        ParamAttrs; False leaves the parameter out.
    affine
        False leaves both parameters out.

    Examples
    --------
    >>> norm = dy2st.nn.GroupNorm(2, 4)
    >>> norm(dy2st.ones([1, 4, 5, 5])).shape, norm.weight.shape
    ([1, 4, 5, 5], [4])
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
        *,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        """Take the number of groups; ValueError if they do not divide the channels."""
        super().__init__()
        if num_channels % num_groups:
            raise ArgumentError(f"{num_channels} channels cannot be split into {num_groups} groups")
        self._num_groups, self._num_channels = num_groups, num_channels
        self._epsilon, self._data_format = epsilon, data_format
        self._weight_attr = weight_attr if affine else False
        self._bias_attr = bias_attr if affine else False
        self.weight = self.create_parameter(
            [num_channels], self._weight_attr, dtype, default_initializer=Constant(1.0)
        )
        self.bias = self.create_parameter([num_channels], self._bias_attr, dtype, is_bias=True)

    def forward(self, x: Any) -> Any:
        """Same shape."""
        groups = (self._num_groups, self._epsilon)
        return F.group_norm(x, *groups, self.weight, self.bias, self._data_format)

    def extra_repr(self) -> str:
        """Groups and channels."""
        sizes = f"num_groups={self._num_groups}, num_channels={self._num_channels}"
        return f"{sizes}, epsilon={self._epsilon}"


class _InstanceNorm(Layer, private="_num_features _epsilon _momentum _data_format weight:scale"):
    """Normalise every channel of every sample."""

    axes: tuple[int, ...] = (4,)
    default_format = "NCHW"
    _names_in_torch = {"weight": ("scale",)}

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-5,
        momentum: float = 0.9,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str | None = None,
        name: str | None = None,
    ):
        """Take the number of channels; `momentum` has no effect.

        ValueError if one of the attributes alone is False.
        """
        super().__init__()
        if (weight_attr is False) != (bias_attr is False):
            raise ArgumentError("weight_attr and bias_attr of an instance norm are False together")
        self._num_features, self._epsilon, self._momentum = num_features, epsilon, momentum
        self._data_format = data_format or self.default_format
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self.scale = self.create_parameter(
            [num_features], weight_attr, default_initializer=Constant(1.0)
        )
        self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)

    def forward(self, x: Any) -> Any:
        """Same shape."""
        if x.ndim not in self.axes:
            raise ArgumentError(
                f"{type(self).__name__} takes {' or '.join(map(str, self.axes))} axes, "
                f"not shape {x.shape}"
            )
        return F.instance_norm(
            x,
            weight=self.scale,
            bias=self.bias,
            eps=self._epsilon,
            data_format=self._data_format,
        )

    def extra_repr(self) -> str:
        """Size and settings."""
        return f"num_features={self._num_features}, epsilon={self._epsilon}"


class InstanceNorm2D(_InstanceNorm):
    """Normalise every channel of every image of (n, c, h, w) (Ulyanov et al. 2016).

    `momentum` has no effect. ValueError if one of weight_attr and bias_attr alone is False.

    >>> dy2st.nn.InstanceNorm2D(3)(dy2st.ones([2, 3, 4, 4])).abs().max().item()
    0.0
    """


class RMSNorm(Layer, private="_epsilon"):
    """y = x / sqrt(mean(x**2) + epsilon) * weight over the last axes (Zhang and Sennrich 2019).

    >>> y = dy2st.nn.RMSNorm(2)(dy2st.to_tensor([[3.0, 4.0]]))
    >>> print(y[0].round(3))
    [0.849 1.131]
    """

    def __init__(self, normalized_shape: Sizes, epsilon: float = 1e-6):
        """Take the sizes of the last axes."""
        super().__init__()
        self._normalized_shape, self._epsilon = _sizes(normalized_shape), epsilon
        self.weight = self.create_parameter(
            self._normalized_shape, default_initializer=Constant(1.0)
        )

    def forward(self, x: Any) -> Any:
        """Same shape."""
        last = list(range(-len(self._normalized_shape), 0))
        mean = F.mean(F.square(x), axis=last, keepdim=True)
        return x * F.rsqrt(mean + self._epsilon) * self.weight


def _sizes(shape: Sizes) -> list[int]:
    return as_ints(shape, "normalized_shape")
