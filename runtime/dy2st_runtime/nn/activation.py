"""Activations as layers: each names one function of `nn.functional` and its settings."""

from __future__ import annotations

from typing import Any, ClassVar

from dy2st_runtime.ir import F
from dy2st_runtime.nn.initializer import Constant
from dy2st_runtime.nn.layer import Layer


class _Activation(Layer):
    """Calls `nn.functional.<function>` with settings that are fixed when the layer is made."""

    function = ""
    defaults: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls, private: str = "", **others: Any) -> None:
        """Keep the settings as private attributes."""
        super().__init_subclass__(" ".join(f"_{name}" for name in cls.defaults), **others)

    def __init__(self, *settings: Any, name: str | None = None, **named: Any):
        """Take the settings by position or name, as the function does, and then a name."""
        super().__init__()
        unknown = [key for key in named if key not in self.defaults]
        if unknown or len(settings) > len(self.defaults) + 1:
            raise TypeError(f"{type(self).__name__} takes {[*self.defaults, 'name']}")
        positional = dict(zip(self.defaults, settings, strict=False))
        self._name = name if len(settings) <= len(self.defaults) else settings[-1]
        for key, value in {**self.defaults, **positional, **named}.items():
            setattr(self, f"_{key}", value)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings by name."""
        return {name: getattr(self, f"_{name}") for name in self.defaults}

    def forward(self, x: Any) -> Any:
        """Same shape (GLU: half of an axis)."""
        return getattr(F, self.function)(x, **self.settings)

    def extra_repr(self) -> str:
        """The settings."""
        return ", ".join(f"{name}={value}" for name, value in self.settings.items())


class ReLU(_Activation):
    """max(x, 0)."""

    function = "relu"


class ReLU6(_Activation):
    """min(max(x, 0), 6)."""

    function = "relu6"


class Sigmoid(_Activation):
    """1 / (1 + exp(-x))."""

    function = "sigmoid"


class Tanh(_Activation):
    """tanh(x)."""

    function = "tanh"


class GELU(_Activation):
    """x * (1 + erf(x / sqrt(2))) / 2; `approximate` takes tanh for erf."""

    function = "gelu"
    defaults: ClassVar[dict[str, Any]] = {"approximate": False}


class Silu(_Activation):
    """x * sigmoid(x)."""

    function = "silu"
    defaults: ClassVar[dict[str, Any]] = {"inplace": False}


class Swish(_Activation):
    """x * sigmoid(x)."""

    function = "swish"


class Mish(_Activation):
    """x * tanh(softplus(x))."""

    function = "mish"


class LeakyReLU(_Activation):
    """max(x, 0) + negative_slope * min(x, 0)."""

    function = "leaky_relu"
    defaults: ClassVar[dict[str, Any]] = {"negative_slope": 0.01}


class ELU(_Activation):
    """max(x, 0) + alpha * (exp(min(x, 0)) - 1)."""

    function = "elu"
    defaults: ClassVar[dict[str, Any]] = {"alpha": 1.0}


class CELU(_Activation):
    """max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0)."""

    function = "celu"
    defaults: ClassVar[dict[str, Any]] = {"alpha": 1.0}


class SELU(_Activation):
    """scale * elu(x, alpha), with the constants of Klambauer 2017."""

    function = "selu"


class Softplus(_Activation):
    """log(1 + exp(beta * x)) / beta, x above the threshold."""

    function = "softplus"
    defaults: ClassVar[dict[str, Any]] = {"beta": 1.0, "threshold": 20.0}


class Softsign(_Activation):
    """x / (1 + |x|)."""

    function = "softsign"


class Softmax(_Activation):
    """exp(x) / sum(exp(x)) along an axis."""

    function = "softmax"
    defaults: ClassVar[dict[str, Any]] = {"axis": -1}


class LogSoftmax(_Activation):
    """x - log(sum(exp(x))) along an axis."""

    function = "log_softmax"
    defaults: ClassVar[dict[str, Any]] = {"axis": -1}


class LogSigmoid(_Activation):
    """-log(1 + exp(-x))."""

    function = "log_sigmoid"


class Hardsigmoid(_Activation):
    """min(max(x / 6 + 1/2, 0), 1)."""

    function = "hardsigmoid"


class Hardswish(_Activation):
    """x * min(max(x + 3, 0), 6) / 6."""

    function = "hardswish"


class Hardtanh(_Activation):
    """min(max(x, min), max)."""

    function = "hardtanh"
    defaults: ClassVar[dict[str, Any]] = {"min": -1.0, "max": 1.0}


class Hardshrink(_Activation):
    """x where |x| > threshold, else 0."""

    function = "hardshrink"
    defaults: ClassVar[dict[str, Any]] = {"threshold": 0.5}


class Softshrink(_Activation):
    """sign(x) * max(|x| - threshold, 0)."""

    function = "softshrink"
    defaults: ClassVar[dict[str, Any]] = {"threshold": 0.5}


class Tanhshrink(_Activation):
    """x - tanh(x)."""

    function = "tanhshrink"


class GLU(_Activation):
    """a * sigmoid(b), with a and b the halves of an axis."""

    function = "glu"
    defaults: ClassVar[dict[str, Any]] = {"axis": -1}


class PReLU(Layer, private="_weight _num_parameters _init _data_format"):
    """max(x, 0) + weight * min(x, 0), the weight is trained (He et al. 2015)."""

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        weight_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ):
        """One weight for all, or one a channel."""
        super().__init__()
        self._num_parameters, self._init, self._name = num_parameters, init, name
        self._data_format, self._weight_attr = data_format, weight_attr
        self._weight = self.create_parameter(
            [num_parameters], weight_attr, default_initializer=Constant(init)
        )

    def forward(self, x: Any) -> Any:
        """Same shape."""
        return F.prelu(x, self._weight, data_format=self._data_format)

    def extra_repr(self) -> str:
        """The settings."""
        shown = f"num_parameters={self._num_parameters}, data_format={self._data_format}"
        return f"{shown}, init={self._init}, dtype={self._dtype}"
