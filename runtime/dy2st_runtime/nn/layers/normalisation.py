"""Normalisation layers that fewer models use."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F, apply
from dy2st_runtime.nn.functions.activations import thresholded_relu
from dy2st_runtime.nn.functions.normalisation import local_response_norm
from dy2st_runtime.nn.initializer import Normal
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.nn.normalisation import _BatchNorm, _InstanceNorm
from dy2st_runtime.nn.parameters import ParamAttr
from dy2st_runtime.ops.normalisation import batch_norm_by
from dy2st_runtime.processes.group import world

# PaddlePaddle's operators that have another name as functions, some with constants of their own.
_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "brelu": lambda y: F.hardtanh(y, 0.0, 24.0),
    "hard_shrink": lambda y: F.hardshrink(y),
    "hard_sigmoid": lambda y: F.hardsigmoid(y, slope=0.2),
    "hard_swish": lambda y: F.hardswish(y),
    "leaky_relu": lambda y: F.leaky_relu(y, 0.02),
    "logsigmoid": lambda y: F.log_sigmoid(y),
    "tanh_shrink": lambda y: F.tanhshrink(y),
    "thresholded_relu": thresholded_relu,
}


class BatchNorm3D(_BatchNorm):
    """Batch normalisation of (n, c, d, h, w) (Ioffe and Szegedy 2015); see `BatchNorm2D`.

    >>> dy2st.nn.BatchNorm3D(2)(dy2st.ones([1, 2, 3, 3, 3])).shape
    [1, 2, 3, 3, 3]
    """

    axes, default_format = (5,), "NCDHW"


class BatchNorm(_BatchNorm, private="_act _trainable_statistics num_channels:_num_features"):
    """Batch normalisation of (n, c, ...), then the activation `act` by its name.

    With `use_global_stats` the running statistics are taken while training too; with
    `trainable_statistics` those of the batch are taken in inference mode too. `is_test`, `in_place`
    and `do_model_average_for_mean_and_var` have no effect.

    Parameters
    ----------
    num_channels
        The number of channels.
    act
        The name of an operator for the result.
    param_attr, bias_attr
        ParamAttrs of weight and bias.
    moving_mean_name, moving_variance_name
        What the running statistics are called.

    Examples
    --------
    >>> dy2st.nn.BatchNorm(3, act="relu")(dy2st.ones([2, 3, 4])).shape
    [2, 3, 4]
    """

    axes = (2, 3, 4, 5)

    def __init__(
        self,
        num_channels: int,
        act: str | None = None,
        is_test: bool = False,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        param_attr: Any = None,
        bias_attr: Any = None,
        dtype: Any = "float32",
        data_layout: str = "NCHW",
        in_place: bool = False,
        moving_mean_name: str | None = None,
        moving_variance_name: str | None = None,
        do_model_average_for_mean_and_var: bool = True,
        use_global_stats: bool = False,
        trainable_statistics: bool = False,
    ):
        """Make parameters and statistics.

        `is_test`, `in_place` and `do_model_average_for_mean_and_var` have no effect.
        """
        super().__init__(num_channels, momentum, epsilon, param_attr, bias_attr, data_layout)
        self._act, self._in_place, self._is_test = act, in_place, is_test
        self._param_attr, self._data_layout = param_attr, data_layout
        self._use_global_stats = use_global_stats
        self._trainable_statistics = trainable_statistics
        self._mean.name, self._variance.name = moving_mean_name or "", moving_variance_name or ""
        if dtype != "float32":
            self.to(dtype=dtype)

    def forward(self, input: Any) -> Any:
        """Same shape."""
        y = F.batch_norm(
            input,
            self._mean,
            self._variance,
            self.weight,
            self.bias,
            training=self.training,
            momentum=self._momentum,
            epsilon=self._epsilon,
            data_format=self._data_format,
            use_global_stats=bool(
                self._use_global_stats or not (self.training or self._trainable_statistics)
            ),
        )
        if self._act is None:
            return y
        return _ACTIVATIONS[self._act](y) if self._act in _ACTIVATIONS else getattr(F, self._act)(y)


def _mean_over_all(x: Any, axis: list[int]) -> Any:
    """Means over the elements that all processes have; they may have different numbers of them."""
    sums = F.concat([F.sum(x, axis=axis), F.sum(F.ones_like(x), axis=axis)])
    sums = apply("all_reduce", sums, op="sum", ranks=tuple(world().ranks))
    total, count = F.split(sums, 2)
    return total / count


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over the batches of all processes: while training, means are theirs.

    One process alone computes what `BatchNorm2D` does.

    >>> net = dy2st.nn.Sequential(dy2st.nn.Conv2D(1, 2, 3), dy2st.nn.BatchNorm2D(2))
    >>> type(dy2st.nn.SyncBatchNorm.convert_sync_batchnorm(net)[1]).__name__
    'SyncBatchNorm'
    """

    axes = (2, 3, 4, 5)

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ):
        """Make parameters and running statistics; an attribute that is False leaves one out."""
        attrs = (weight_attr, bias_attr)
        super().__init__(num_features, momentum, epsilon, *attrs, data_format, None, name)

    def forward(self, x: Any) -> Any:
        """Same shape."""
        if world().nranks == 1 or not self.training or self._use_global_stats:
            return super().forward(x)
        running, affine = (self._mean, self._variance), (self.weight, self.bias)
        settings = (self._momentum, self._epsilon, self._data_format)
        return batch_norm_by(_mean_over_all, x, running, affine, *settings)

    @classmethod
    def convert_sync_batchnorm(cls, layer: Any) -> Any:
        """The Layer with a SyncBatchNorm in the place of every batch normalisation inside.

        They share parameters and statistics with what they replace. A `BatchNorm` stays.
        """
        if isinstance(layer, _BatchNorm) and not isinstance(layer, (SyncBatchNorm, BatchNorm)):
            made = cls(
                layer._num_features,
                layer._momentum,
                layer._epsilon,
                layer._weight_attr,
                layer._bias_attr,
                layer._data_format,
                layer._name,
            )
            made.weight, made.bias = layer.weight, layer.bias
            made._mean, made._variance = layer._mean, layer._variance
            made.train(layer.training)
            return made
        for name, child in layer.named_children():
            converted = cls.convert_sync_batchnorm(child)
            if converted is not child:
                layer.add_sublayer(name, converted)
        return layer


class InstanceNorm1D(_InstanceNorm):
    """Normalise every channel of every sequence of (n, c, l), or of (n, c) as of length 1.

    >>> y = dy2st.nn.InstanceNorm1D(1)(dy2st.to_tensor([[[1.0, 3.0]]]))
    >>> print(y.flatten().round(3))
    [-1.  1.]
    """

    axes, default_format = (2, 3), "NCL"


class InstanceNorm3D(_InstanceNorm):
    """Normalise every channel of every volume of (n, c, d, h, w).

    >>> dy2st.nn.InstanceNorm3D(2)(dy2st.ones([1, 2, 3, 3, 3])).shape
    [1, 2, 3, 3, 3]
    """

    axes, default_format = (5,), "NCDHW"


class LocalResponseNorm(Layer):
    """y = x / (k + alpha * the mean of x**2 over `size` channels around)**beta.

    Krizhevsky, Sutskever and Hinton 2012; channels past the ends count as zeros.

    >>> norm = dy2st.nn.LocalResponseNorm(2, alpha=2.0, beta=1.0)
    >>> print(norm(dy2st.ones([1, 2, 1]))[0, 0])
    [0.5]
    """

    def __init__(
        self,
        size: int,
        alpha: float = 0.0001,
        beta: float = 0.75,
        k: float = 1.0,
        data_format: str = "NCHW",
        name: str | None = None,
    ):
        """Take how many channels count."""
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k
        self.data_format, self.name = data_format, name

    def forward(self, input: Any) -> Any:
        """Same shape."""
        settings = (self.size, self.alpha, self.beta, self.k, self.data_format)
        return local_response_norm(input, *settings)

    def extra_repr(self) -> str:
        """The settings."""
        return f"size={self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class SpectralNorm(Layer, private="_weight_shape _dim _power_iters _eps"):
    """y = x / sigma, the largest singular value of x as a matrix (Miyato et al. 2018).

    The matrix has axis `dim` as rows and all others as columns. sigma comes from `power_iters`
    iterations of the power iteration from `weight_u` and `weight_v`, which stay as they are.
    ValueError for a shape without elements.

    >>> norm = dy2st.nn.SpectralNorm([2, 2], power_iters=20)
    >>> y = norm(dy2st.to_tensor([[4.0, 0.0], [0.0, 1.0]]))
    >>> print(y.flatten().round(2))
    [1.   0.   0.   0.25]
    """

    def __init__(
        self,
        weight_shape: Any,
        dim: int = 0,
        power_iters: int = 1,
        eps: float = 1e-12,
        dtype: Any = "float32",
    ):
        """Take the shape of the weight; ValueError if it has no elements."""
        super().__init__(dtype=dtype)
        self._weight_shape = [int(size) for size in weight_shape]
        self._dim, self._power_iters, self._eps = dim, power_iters, eps
        if math.prod(self._weight_shape) <= 0:
            raise ArgumentError(f"a weight of shape {self._weight_shape} has no elements")
        rows = self._weight_shape[dim]
        columns = math.prod(self._weight_shape) // rows
        attr = ParamAttr(trainable=False, initializer=Normal(0.0, 1.0))
        self.weight_u = self.create_parameter([rows], attr)
        self.weight_v = self.create_parameter([columns], attr)

    def forward(self, x: Any) -> Any:
        """Same shape."""
        rows = F.reshape(F.moveaxis(x, self._dim, 0), [self._weight_shape[self._dim], -1])
        matrix, u, v = F.detach(rows), self.weight_u, self.weight_v
        for _ in range(self._power_iters):
            v = F.matmul(u, matrix)
            v = v / (F.sqrt(F.sum(v * v)) + self._eps)
            u = F.matmul(matrix, v)
            u = u / (F.sqrt(F.sum(u * u)) + self._eps)
        return x / F.sum(u * F.matmul(rows, v))


__all__ = [
    "BatchNorm",
    "BatchNorm3D",
    "InstanceNorm1D",
    "InstanceNorm3D",
    "LocalResponseNorm",
    "SpectralNorm",
    "SyncBatchNorm",
]
