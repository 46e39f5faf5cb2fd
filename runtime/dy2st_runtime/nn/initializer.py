"""First values of parameters.

Weights have the shape (in, out) in Linear, (out, in/groups, *kernel) in convolutions; fan_in and
fan_out follow from that. Random values come from the one generator that `seed` sets.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from dy2st_runtime.errors import ShapeError
from dy2st_runtime.late import late_names
from dy2st_runtime.ops.generator import generator

Array = np.ndarray[Any, Any]
DType = np.dtype[Any]


class Initializer:
    """Makes an array of a shape and dtype."""

    def __call__(self, shape: tuple[int, ...], dtype: DType) -> Array:
        """The first values."""
        raise NotImplementedError


class Constant(Initializer):
    """Every element is `value`."""

    def __init__(self, value: float = 0.0):
        """Take the value."""
        self.value = value

    def __call__(self, shape: tuple[int, ...], dtype: DType) -> Array:
        """The first values."""
        return np.full(shape, self.value, dtype)


class Assign(Initializer):
    """The elements are given: an array, a nested list or a tensor."""

    def __init__(self, value: Any):
        """Take the values."""
        self.value = np.asarray(value)

    def __call__(self, shape: tuple[int, ...], dtype: DType) -> Array:
        """The first values; ShapeError if the shape differs."""
        if self.value.shape != shape:
            raise ShapeError(f"Assign has shape {self.value.shape}, the parameter {shape}")
        return self.value.astype(dtype)


class Uniform(Initializer):
    """Uniform in [low, high)."""

    def __init__(self, low: float = -1.0, high: float = 1.0):
        """Take the limits."""
        self.low, self.high = low, high

    def __call__(self, shape: tuple[int, ...], dtype: DType) -> Array:
        """The first values."""
        return generator().uniform(self.low, self.high, shape).astype(dtype)


class Normal(Initializer):
    """Normal with the given mean and standard deviation."""

    def __init__(self, mean: float = 0.0, std: float = 1.0):
        """Take mean and standard deviation."""
        self.mean, self.std = mean, std

    def __call__(self, shape: tuple[int, ...], dtype: DType) -> Array:
        """The first values."""
        return generator().normal(self.mean, self.std, shape).astype(dtype)


class TruncatedNormal(Normal):
    """Normal, drawn again where it lies more than two standard deviations from the mean."""

    def __call__(self, shape: tuple[int, ...], dtype: DType) -> Array:
        """The first values."""
        draw = generator()
        values = draw.standard_normal(shape)
        while (outside := np.abs(values) > 2.0).any():
            values[outside] = draw.standard_normal(int(outside.sum()))
        return (self.mean + self.std * values).astype(dtype)


class _Scaled(Initializer):
    """Random values whose spread follows from the fans of the weight."""

    uniform = True

    def __init__(self, fan_in: float | None = None, fan_out: float | None = None, gain: float = 1):
        """Take fans that replace those of the shape."""
        self.fan_in, self.fan_out, self.gain = fan_in, fan_out, gain

    def variance(self, fan_in: float, fan_out: float) -> float:
        """The variance of the values."""
        raise NotImplementedError

    def __call__(self, shape: tuple[int, ...], dtype: DType) -> Array:
        """The first values."""
        fans = fans_of(shape)
        fan_in = fans[0] if self.fan_in is None else self.fan_in
        fan_out = fans[1] if self.fan_out is None else self.fan_out
        std = self.gain * math.sqrt(self.variance(max(fan_in, 1), max(fan_out, 1)))
        if self.uniform:
            limit = math.sqrt(3.0) * std
            return generator().uniform(-limit, limit, shape).astype(dtype)
        return generator().normal(0.0, std, shape).astype(dtype)


class XavierUniform(_Scaled):
    """Uniform with variance 2 / (fan_in + fan_out) (Glorot and Bengio 2010)."""

    def variance(self, fan_in: float, fan_out: float) -> float:
        """2 / (fan_in + fan_out)."""
        return 2.0 / (fan_in + fan_out)


class XavierNormal(XavierUniform):
    """Normal with variance 2 / (fan_in + fan_out) (Glorot and Bengio 2010)."""

    uniform = False


class KaimingUniform(_Scaled):
    """Uniform with variance gain**2 / fan_in (He et al. 2015).

    The gain is sqrt(2) for relu, sqrt(2 / (1 + negative_slope**2)) for leaky_relu.
    """

    def __init__(
        self,
        fan_in: float | None = None,
        negative_slope: float = 0.0,
        nonlinearity: str = "relu",
    ):
        """Take the nonlinearity that follows."""
        super().__init__(fan_in, gain=calculate_gain(nonlinearity, negative_slope))

    def variance(self, fan_in: float, fan_out: float) -> float:
        """1 / fan_in."""
        return 1.0 / fan_in


class KaimingNormal(KaimingUniform):
    """Normal with variance gain**2 / fan_in (He et al. 2015)."""

    uniform = False


class Orthogonal(Initializer):
    """Rows (or columns, whichever are fewer) are orthonormal, times `gain` (Saxe et al. 2013)."""

    def __init__(self, gain: float = 1.0):
        """Take the factor."""
        self.gain = gain

    def __call__(self, shape: tuple[int, ...], dtype: DType) -> Array:
        """The first values; ShapeError for fewer than two axes."""
        if len(shape) < 2:
            raise ShapeError(f"Orthogonal needs at least two axes, not shape {shape}")
        rows, columns = shape[0], math.prod(shape[1:])
        tall = (max(rows, columns), min(rows, columns))
        q, r = np.linalg.qr(generator().standard_normal(tall))
        q = q * np.sign(np.diag(r))
        q = q.T if rows < columns else q
        return (self.gain * q.reshape(shape)).astype(dtype)


def calculate_gain(nonlinearity: str, param: float = 0.01) -> float:
    """The factor that keeps the variance through a nonlinearity (He et al. 2015)."""
    gains = {
        "linear": 1.0,
        "conv1d": 1.0,
        "conv2d": 1.0,
        "sigmoid": 1.0,
        "tanh": 5.0 / 3.0,
        "relu": math.sqrt(2.0),
        "leaky_relu": math.sqrt(2.0 / (1.0 + param**2)),
        "selu": 0.75,
    }
    if nonlinearity not in gains:
        raise ValueError(f"no gain for {nonlinearity!r}: one of {', '.join(gains)}")
    return gains[nonlinearity]


def fans_of(shape: tuple[int, ...]) -> tuple[int, int]:
    """How many inputs an output has, and how many outputs an input has.

    >>> fans_of((10, 3)), fans_of((16, 8, 3, 3))
    ((10, 3), (72, 144))
    """
    if len(shape) < 2:
        size = shape[0] if shape else 1
        return size, size
    if len(shape) == 2:
        return shape[0], shape[1]
    kernel = math.prod(shape[2:])
    return shape[1] * kernel, shape[0] * kernel


if not TYPE_CHECKING:
    __getattr__ = late_names(__name__)
