"""First values of parameters.

Weights have the shape (in, out) in Linear, (out, in/groups, *kernel) in convolutions; fan_in and
fan_out follow from that. Random values come from the one generator that `seed` sets.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from dy2st_runtime.errors import ArgumentError, ShapeError, WrongKind
from dy2st_runtime.ir import current_tracer
from dy2st_runtime.ir.location import without_own_frames_in
from dy2st_runtime.ir.tracing.changes import state_made
from dy2st_runtime.lazy import lazy_names, places, public_dir
from dy2st_runtime.ops.generator import generator

Array = np.ndarray[Any, Any]
DType = np.dtype[Any]


class Initializer:
    """Gives a parameter its first values: `initializer(parameter)`.

    A class of one's own writes `values`, or `forward`, which changes the parameter itself.
    ConversionError in a trace: values would be drawn at conversion, not at every call.

    >>> class Ramp(dy2st.nn.initializer.Initializer):
    ...     def values(self, shape, dtype):
    ...         return np.arange(np.prod(shape), dtype=dtype).reshape(shape)
    >>> Ramp()(dy2st.zeros([3])).tolist()
    [0.0, 1.0, 2.0]
    >>> Ramp().forward(dy2st.zeros([2])).tolist(), Ramp().values((2,), "int64").tolist()
    ([0.0, 1.0], [0, 1])
    """

    def __call__(self, param: Any, block: Any = None) -> Any:
        """Fill the parameter and return it; `block` is accepted and has no effect."""
        return self.forward(param, block)

    def forward(self, var: Any, block: Any = None) -> Any:
        """Fill the parameter with `values` of its shape and dtype, and return it."""
        tracer = current_tracer()
        if tracer is not None:
            what = f"{type(self).__name__} fills a tensor while the function is traced"
            raise state_made(tracer, what)
        var.put(self.values(tuple(var.shape), var.dtype))
        return var

    def values(self, shape: tuple[int, ...], dtype: DType) -> Array:
        """An array of first values."""
        raise NotImplementedError


class Constant(Initializer):
    """Every element is `value`.

    >>> dy2st.nn.initializer.Constant(3.0)(dy2st.zeros([2])).tolist()
    [3.0, 3.0]
    """

    def __init__(self, value: float = 0.0):
        """Take the value."""
        self.value = value

    def values(self, shape: tuple[int, ...], dtype: DType) -> Array:
        """The first values."""
        return np.full(shape, self.value, dtype)


class Assign(Initializer):
    """The elements are given: an array, a nested list or a tensor.

    As in PaddlePaddle, a parameter has the shape of what it is given, whatever shape was asked for.

    >>> attr = dy2st.ParamAttr(initializer=dy2st.nn.initializer.Assign([[1.0, 2.0]]))
    >>> dy2st.nn.Linear(1, 2, weight_attr=attr).weight.tolist()
    [[1.0, 2.0]]
    """

    def __init__(self, value: Any, name: str | None = None):
        """Take the values."""
        self.value = np.asarray(value)

    def values(self, shape: tuple[int, ...], dtype: DType) -> Array:
        """The first values, of their own shape."""
        return self.value.astype(dtype)


class Uniform(Initializer):
    """Uniform in [low, high).

    >>> values = dy2st.nn.initializer.Uniform(2.0, 3.0)(dy2st.zeros([100]))
    >>> bool(((values >= 2.0) & (values <= 3.0)).all())
    True
    """

    def __init__(self, low: float = -1.0, high: float = 1.0, name: str | None = None):
        """Take the limits."""
        self.low, self.high = low, high

    def values(self, shape: tuple[int, ...], dtype: DType) -> Array:
        """The first values."""
        return generator().uniform(self.low, self.high, shape).astype(dtype)


class Normal(Initializer):
    """Normal with the given mean and standard deviation.

    >>> dy2st.nn.initializer.Normal(7.0, 0.0)(dy2st.zeros([2])).tolist()
    [7.0, 7.0]
    """

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None):
        """Take mean and standard deviation."""
        self.mean, self.std = mean, std

    def values(self, shape: tuple[int, ...], dtype: DType) -> Array:
        """The first values."""
        return generator().normal(self.mean, self.std, shape).astype(dtype)


class TruncatedNormal(Initializer):
    """Normal, drawn again where it lies outside of [a, b].

    ValueError if next to nothing lies between a and b.

    >>> values = dy2st.nn.initializer.TruncatedNormal(a=-1.0, b=1.0)(dy2st.zeros([100]))
    >>> bool((values.abs() <= 1.0).all())
    True
    """

    def __init__(
        self,
        mean: float = 0.0,
        std: float = 1.0,
        a: float = -2.0,
        b: float = 2.0,
        name: str | None = None,
    ):
        """Take the limits; ValueError if next to nothing lies between them."""
        self.mean, self.std, self.a, self.b = mean, std, a, b
        if not isinstance(mean, (int, float)):
            return  # some models give a tensor, and never fill one
        below = [0.5 * (1 + math.erf((x - mean) / (std * math.sqrt(2)))) for x in (a, b)]
        if not below[1] - below[0] > 1e-4:
            raise ArgumentError(f"next to no values of mean {mean} and std {std} are in [{a}, {b}]")

    def values(self, shape: tuple[int, ...], dtype: DType) -> Array:
        """The first values."""
        draw = generator()
        values = draw.normal(self.mean, self.std, shape)
        while (outside := (values < self.a) | (values > self.b)).any():
            values[outside] = draw.normal(self.mean, self.std, int(outside.sum()))
        return values.astype(dtype)


class _Scaled(Initializer):
    """Random values whose spread follows from the fans of the weight."""

    uniform = True

    def __init__(
        self,
        fan_in: float | None = None,
        fan_out: float | None = None,
        gain: float = 1.0,
        name: str | None = None,
    ):
        """Take fans that replace those of the shape."""
        self.fan_in, self.fan_out, self.gain = fan_in, fan_out, gain

    def variance(self, fan_in: float, fan_out: float) -> float:
        """The variance of the values."""
        raise NotImplementedError

    def values(self, shape: tuple[int, ...], dtype: DType) -> Array:
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
    """Uniform with variance 2 / (fan_in + fan_out) (Glorot and Bengio 2010).

    The limits are +-gain * sqrt(6 / (fan_in + fan_out)); the fans are those of the shape unless
    given.

    >>> values = dy2st.nn.initializer.XavierUniform()(dy2st.zeros([4, 2]))
    >>> bool((values.abs() <= 1.0).all())
    True
    """

    def variance(self, fan_in: float, fan_out: float) -> float:
        """2 / (fan_in + fan_out)."""
        return 2.0 / (fan_in + fan_out)


class XavierNormal(XavierUniform):
    """Normal with variance 2 / (fan_in + fan_out) (Glorot and Bengio 2010).

    >>> dy2st.nn.initializer.XavierNormal(gain=0.0)(dy2st.zeros([4, 2])).abs().max().item()
    0.0
    """

    uniform = False


class KaimingUniform(_Scaled):
    """Uniform with variance gain**2 / fan_in, or fan_out where that is the mode (He et al. 2015).

    The gain is sqrt(2) for relu, sqrt(2 / (1 + negative_slope**2)) for leaky_relu.

    >>> values = dy2st.nn.initializer.KaimingUniform()(dy2st.zeros([6, 2]))
    >>> bool((values.abs() <= 1.0).all())
    True
    """

    def __init__(
        self,
        fan_in: float | None = None,
        negative_slope: float = 0.0,
        nonlinearity: str = "relu",
        mode: str = "fan_in",
    ):
        """Take the nonlinearity that follows; `fan_in` replaces that of the shape."""
        if mode not in ("fan_in", "fan_out"):
            raise ArgumentError(f"mode is 'fan_in' or 'fan_out', not {mode!r}")
        super().__init__(fan_in, gain=calculate_gain(nonlinearity, negative_slope))
        self.mode = mode

    def variance(self, fan_in: float, fan_out: float) -> float:
        """1 / fan_in, or 1 / fan_out."""
        return 1.0 / (fan_in if self.mode == "fan_in" else fan_out)


class KaimingNormal(KaimingUniform):
    """Normal with variance gain**2 / fan_in, or fan_out where that is the mode (He et al. 2015).

    >>> values = dy2st.nn.initializer.KaimingNormal()(dy2st.zeros([200, 50]))
    >>> abs(values.std().item() - 0.1) < 0.01
    True
    """

    uniform = False


class Orthogonal(Initializer):
    """Rows (or columns, whichever are fewer) are orthonormal, times `gain` (Saxe et al. 2013).

    ShapeError for fewer than two axes.

    >>> q = dy2st.nn.initializer.Orthogonal()(dy2st.zeros([2, 3]))
    >>> np.allclose((q @ q.t()).numpy(), np.eye(2), atol=1e-6)
    True
    """

    def __init__(self, gain: float = 1.0, name: str | None = None):
        """Take the factor."""
        self.gain = gain

    def values(self, shape: tuple[int, ...], dtype: DType) -> Array:
        """The first values; ShapeError for fewer than two axes."""
        if len(shape) < 2:
            raise ShapeError(f"Orthogonal needs at least two axes, not shape {shape}")
        rows, columns = shape[0], math.prod(shape[1:])
        tall = (max(rows, columns), min(rows, columns))
        q, r = np.linalg.qr(generator().standard_normal(tall))
        q = q * np.sign(np.diag(r))
        q = q.T if rows < columns else q
        return (self.gain * q.reshape(shape)).astype(dtype)


# Of layers without a nonlinearity, and of the nonlinearities that have no parameter.
_LINEAR = "linear sigmoid conv1d conv2d conv3d conv1d_transpose conv2d_transpose conv3d_transpose "
_LINEAR += "conv_transpose1d conv_transpose2d conv_transpose3d"
_GAINS = {
    **dict.fromkeys(_LINEAR.split(), 1.0),
    "tanh": 5.0 / 3.0,
    "relu": math.sqrt(2.0),
    "selu": 0.75,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor that keeps the variance through a nonlinearity (He et al. 2015).

    `param` is the slope of leaky_relu, 0.01 if it is left out.

    >>> calculate_gain("leaky_relu", 1.0)
    1.0
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else float(param)
        return math.sqrt(2.0 / (1.0 + slope**2))
    if nonlinearity not in _GAINS:
        raise ArgumentError(f"no gain for {nonlinearity!r}: leaky_relu, {', '.join(_GAINS)}")
    return _GAINS[nonlinearity]


_global: list[Initializer | None] = [None, None]


def set_global_initializer(
    weight_init: Initializer | None, bias_init: Initializer | None = None
) -> None:
    """What fills the parameters made from now on that have no ParamAttr with an initializer.

    None gives the default of each layer back.

    >>> dy2st.nn.initializer.set_global_initializer(dy2st.nn.initializer.Constant(1.0))
    >>> dy2st.nn.Linear(1, 2).weight.tolist()
    [[1.0, 1.0]]
    >>> dy2st.nn.initializer.set_global_initializer(None)
    """
    for given in (weight_init, bias_init):
        if not isinstance(given, (Initializer, type(None))):
            raise WrongKind(f"an initializer is expected, not {type(given).__name__}")
    _global[:] = [weight_init, bias_init]


def global_initializer(is_bias: bool) -> Initializer | None:
    """What `set_global_initializer` has set for biases, or for weights.

    >>> dy2st.nn.initializer.global_initializer(is_bias=False) is None
    True
    """
    return _global[is_bias]


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


LATE = places(
    {
        "dy2st_runtime.nn.rare_initializers": "Bilinear ConstantInitializer Dirac MSRAInitializer "
        "NormalInitializer NumpyArrayInitializer TruncatedNormalInitializer UniformInitializer "
        "XavierInitializer"
    }
)

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, LATE)

__all__ = [
    "Assign",
    "Constant",
    "Initializer",
    "KaimingNormal",
    "KaimingUniform",
    "Normal",
    "Orthogonal",
    "TruncatedNormal",
    "Uniform",
    "XavierNormal",
    "XavierUniform",
    "calculate_gain",
    "fans_of",
    "global_initializer",
    "set_global_initializer",
]
__dir__ = public_dir(__name__)
without_own_frames_in(__name__)
