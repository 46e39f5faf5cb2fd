"""First values that few models ask for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.nn.initializer import (
    Array,
    Assign,
    Constant,
    DType,
    Initializer,
    KaimingUniform,
    Normal,
    TruncatedNormal,
    Uniform,
    XavierUniform,
)


class Bilinear(Initializer):
    """The weight of a transposed convolution that enlarges images by interpolation.

    weight[o, i, y, x] = t(y) t(x) with the triangle t(x) = 1 - |x / f - c|, f = ceil(k / 2),
    c = (2 f - 1 - f % 2) / (2 f).

    >>> weight = dy2st.nn.initializer.Bilinear()(dy2st.zeros([1, 1, 4, 4]))
    >>> weight[0, 0, 1].tolist()
    [0.1875, 0.5625, 0.5625, 0.1875]
    """

    def values(self, shape: tuple[int, ...], dtype: DType) -> Array:
        """The first values; ShapeError unless the shape is (out, in, k, k)."""
        if len(shape) != 4 or shape[2] != shape[3]:
            raise ShapeError(f"Bilinear fills weights of shape (out, in, k, k), not {shape}")
        half = math.ceil(shape[3] / 2)
        centre = (2 * half - 1 - half % 2) / (2 * half)
        triangle = 1 - np.abs(np.arange(shape[3]) / half - centre)
        return np.broadcast_to(np.outer(triangle, triangle), shape).astype(dtype)


class Dirac(Initializer):
    """The weight of a convolution that gives its input, as many channels as there are.

    In each of the groups weight[i, i, middle] is 1, all else 0.

    >>> dy2st.nn.initializer.Dirac()(dy2st.zeros([2, 2, 1])).squeeze(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    def __init__(self, groups: int = 1, name: str | None = None):
        """Take the number of groups of output channels."""
        if groups < 1:
            raise ArgumentError(f"groups is above 0, not {groups}")
        self.groups = groups

    def values(self, shape: tuple[int, ...], dtype: DType) -> Array:
        """The first values; ShapeError unless it is a convolution's that has such groups."""
        if len(shape) not in (3, 4, 5) or shape[0] % self.groups:
            raise ShapeError(
                f"Dirac fills weights of shape (out, in, k, ...) whose {self.groups} groups divide "
                f"out, not {shape}"
            )
        rows = shape[0] // self.groups
        channels = np.arange(min(rows, shape[1]))
        middle = [size // 2 for size in shape[2:]]
        values = np.zeros(shape, dtype)
        for group in range(self.groups):
            place: tuple[Any, ...] = (group * rows + channels, channels, *middle)
            values[place] = 1
        return values


# -- names of before, with the arguments of then -------------------------------------------------


class ConstantInitializer(Constant):
    """Every element is `value`; `force_cpu` has no effect.

    >>> dy2st.nn.initializer.ConstantInitializer(3.0)(dy2st.zeros([2])).tolist()
    [3.0, 3.0]
    """

    def __init__(self, value: float = 0.0, force_cpu: bool = False):
        """Take the value."""
        super().__init__(value)


class NormalInitializer(Normal):
    """Normal with mean `loc` and standard deviation `scale`; `seed` has no effect.

    >>> dy2st.nn.initializer.NormalInitializer(7.0, 0.0)(dy2st.zeros([2])).tolist()
    [7.0, 7.0]
    """

    def __init__(self, loc: float = 0.0, scale: float = 1.0, seed: int = 0):
        """Take mean and standard deviation."""
        super().__init__(loc, scale)


class TruncatedNormalInitializer(TruncatedNormal):
    """Normal, drawn again where it lies outside of [a, b]; `seed` has no effect.

    >>> values = dy2st.nn.initializer.TruncatedNormalInitializer(a=-1.0, b=1.0)(dy2st.zeros([9]))
    >>> bool((values.abs() <= 1.0).all())
    True
    """

    def __init__(
        self, loc: float = 0.0, scale: float = 1.0, seed: int = 0, a: float = -2.0, b: float = 2.0
    ):
        """Take mean, standard deviation and limits."""
        super().__init__(loc, scale, a, b)


class UniformInitializer(Uniform):
    """Uniform in [low, high); `seed` has no effect.

    >>> values = dy2st.nn.initializer.UniformInitializer(2.0, 3.0)(dy2st.zeros([9]))
    >>> bool((values >= 2.0).all())
    True
    """

    def __init__(self, low: float = -1.0, high: float = 1.0, seed: int = 0):
        """Take the limits."""
        super().__init__(low, high)


class XavierInitializer(XavierUniform):
    """Uniform or normal with variance 2 / (fan_in + fan_out); `seed` has no effect.

    >>> values = dy2st.nn.initializer.XavierInitializer()(dy2st.zeros([4, 2]))
    >>> bool((values.abs() <= 1.0).all())
    True
    """

    def __init__(
        self,
        uniform: bool = True,
        fan_in: float | None = None,
        fan_out: float | None = None,
        seed: int = 0,
        gain: float = 1.0,
    ):
        """Take fans that replace those of the shape."""
        super().__init__(fan_in, fan_out, gain)
        self.uniform = uniform


class MSRAInitializer(KaimingUniform):
    """Uniform or normal with variance gain**2 / fan_in; `seed` has no effect.

    >>> values = dy2st.nn.initializer.MSRAInitializer()(dy2st.zeros([6, 2]))
    >>> bool((values.abs() <= 1.0).all())
    True
    """

    def __init__(
        self,
        uniform: bool = True,
        fan_in: float | None = None,
        seed: int = 0,
        negative_slope: float = 0.0,
        nonlinearity: str = "relu",
        mode: str = "fan_in",
    ):
        """Take the nonlinearity that follows."""
        super().__init__(fan_in, negative_slope, nonlinearity, mode)
        self.uniform = uniform


class NumpyArrayInitializer(Assign):
    """The elements are given by an array.

    >>> first = dy2st.nn.initializer.NumpyArrayInitializer(np.ones(2))
    >>> first(dy2st.zeros([2])).tolist()
    [1.0, 1.0]
    """


__all__ = [
    "Bilinear",
    "ConstantInitializer",
    "Dirac",
    "MSRAInitializer",
    "NormalInitializer",
    "NumpyArrayInitializer",
    "TruncatedNormalInitializer",
    "UniformInitializer",
    "XavierInitializer",
]
