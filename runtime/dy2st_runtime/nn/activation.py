"""Activations as layers: each names one function of `nn.functional` and its settings."""

from __future__ import annotations

from typing import Any, ClassVar

from dy2st_runtime.errors import WrongKind
from dy2st_runtime.ir import F, Tensor
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
        if any(isinstance(value, Tensor) for value in (*settings, name, *named.values())):
            kind = type(self).__name__
            raise WrongKind(f"{kind} is a layer, which is made before it is called: {kind}()(x)")
        unknown = [key for key in named if key not in self.defaults]
        if unknown or len(settings) > len(self.defaults) + 1:
            raise WrongKind(f"{type(self).__name__} takes {[*self.defaults, 'name']}")
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
    """max(x, 0), of any shape.

    >>> print(dy2st.nn.ReLU()(dy2st.to_tensor([-1.0, 0.0, 2.0])))
    [0. 0. 2.]
    """

    function = "relu"


class ReLU6(_Activation):
    """min(max(x, 0), 6), of any shape.

    >>> print(dy2st.nn.ReLU6()(dy2st.to_tensor([-1.0, 2.0, 8.0])))
    [0. 2. 6.]
    """

    function = "relu6"


class Sigmoid(_Activation):
    """1 / (1 + exp(-x)), of any shape.

    >>> print(dy2st.nn.Sigmoid()(dy2st.to_tensor([-1.0, 0.0, 1.0])).round(4))
    [0.2689 0.5    0.7311]
    """

    function = "sigmoid"


class Tanh(_Activation):
    """tanh(x), of any shape.

    >>> print(dy2st.nn.Tanh()(dy2st.to_tensor([-100.0, 0.0, 100.0])))
    [-1.  0.  1.]
    """

    function = "tanh"


class GELU(_Activation):
    """x * (1 + erf(x / sqrt(2))) / 2 (Hendrycks and Gimpel 2016).

    `approximate` takes tanh for erf: x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2.

    >>> y = dy2st.nn.GELU()(dy2st.to_tensor([-1.0, 0.0, 1.0]))
    >>> print(y.round(4))
    [-0.1587  0.      0.8413]
    """

    function = "gelu"
    defaults: ClassVar[dict[str, Any]] = {"approximate": False}


class Silu(_Activation):
    """x * sigmoid(x), of any shape (Ramachandran et al. 2017).

    >>> print(dy2st.nn.Silu()(dy2st.to_tensor([-1.0, 0.0, 1.0])).round(4))
    [-0.2689  0.      0.7311]
    """

    function = "silu"
    defaults: ClassVar[dict[str, Any]] = {"inplace": False}


class Swish(_Activation):
    """x * sigmoid(x): `Silu` under another name.

    >>> print(dy2st.nn.Swish()(dy2st.to_tensor([-1.0, 0.0, 1.0])).round(4))
    [-0.2689  0.      0.7311]
    """

    function = "swish"


class Mish(_Activation):
    """x * tanh(log(1 + exp(x))) (Misra 2019).

    >>> print(dy2st.nn.Mish()(dy2st.to_tensor([-1.0, 0.0, 1.0])).round(4))
    [-0.3034  0.      0.8651]
    """

    function = "mish"


class LeakyReLU(_Activation):
    """max(x, 0) + negative_slope * min(x, 0).

    >>> print(dy2st.nn.LeakyReLU(0.5)(dy2st.to_tensor([-2.0, 3.0])))
    [-1.  3.]
    """

    function = "leaky_relu"
    defaults: ClassVar[dict[str, Any]] = {"negative_slope": 0.01}


class ELU(_Activation):
    """x where x > 0, else alpha * (exp(x) - 1) (Clevert et al. 2015).

    >>> print(dy2st.nn.ELU(alpha=2.0)(dy2st.to_tensor([-1.0, 3.0])).round(4))
    [-1.2642  3.    ]
    """

    function = "elu"
    defaults: ClassVar[dict[str, Any]] = {"alpha": 1.0}


class CELU(_Activation):
    """max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0) (Barron 2017).

    >>> print(dy2st.nn.CELU(alpha=2.0)(dy2st.to_tensor([-2.0, 3.0])).round(4))
    [-1.2642  3.    ]
    """

    function = "celu"
    defaults: ClassVar[dict[str, Any]] = {"alpha": 1.0}


class SELU(_Activation):
    """scale * elu(x, alpha), which keeps mean 0 and variance 1 (Klambauer et al. 2017).

    scale is 1.0507... and alpha 1.6732..., as in the paper.

    >>> print(dy2st.nn.SELU()(dy2st.to_tensor([-1.0, 1.0])).round(4))
    [-1.1113  1.0507]
    """

    function = "selu"


class Softplus(_Activation):
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold.

    >>> print(dy2st.nn.Softplus()(dy2st.to_tensor([0.0, 30.0])).round(4))
    [ 0.6931 30.    ]
    """

    function = "softplus"
    defaults: ClassVar[dict[str, Any]] = {"beta": 1.0, "threshold": 20.0}


class Softsign(_Activation):
    """x / (1 + |x|).

    >>> print(dy2st.nn.Softsign()(dy2st.to_tensor([-1.0, 0.0, 3.0])))
    [-0.5   0.    0.75]
    """

    function = "softsign"


class Softmax(_Activation):
    """exp(x) / sum(exp(x)) along an axis, the last one if it is not said.

    >>> print(dy2st.nn.Softmax()(dy2st.zeros([2, 4])))
    [[0.25 0.25 0.25 0.25]
     [0.25 0.25 0.25 0.25]]
    """

    function = "softmax"
    defaults: ClassVar[dict[str, Any]] = {"axis": -1}


class LogSoftmax(_Activation):
    """x - log(sum(exp(x))) along an axis, the last one if it is not said.

    >>> print(dy2st.nn.LogSoftmax()(dy2st.zeros([2])).round(4))
    [-0.6931 -0.6931]
    """

    function = "log_softmax"
    defaults: ClassVar[dict[str, Any]] = {"axis": -1}


class LogSigmoid(_Activation):
    """-log(1 + exp(-x)).

    >>> print(dy2st.nn.LogSigmoid()(dy2st.to_tensor([0.0, 100.0])).round(4))
    [-0.6931 -0.    ]
    """

    function = "log_sigmoid"


class Hardsigmoid(_Activation):
    """min(max(x / 6 + 1/2, 0), 1): straight lines for a sigmoid (Courbariaux et al. 2015).

    >>> print(dy2st.nn.Hardsigmoid()(dy2st.to_tensor([-3.0, 0.0, 3.0])))
    [0.  0.5 1. ]
    """

    function = "hardsigmoid"


class Hardswish(_Activation):
    """x * min(max(x + 3, 0), 6) / 6 (Howard et al. 2019).

    >>> print(dy2st.nn.Hardswish()(dy2st.to_tensor([0.0, 3.0, 4.0])))
    [0. 3. 4.]
    """

    function = "hardswish"


class Hardtanh(_Activation):
    """min(max(x, min), max).

    >>> print(dy2st.nn.Hardtanh(-2.0, 2.0)(dy2st.to_tensor([-3.0, 0.5, 3.0])))
    [-2.   0.5  2. ]
    """

    function = "hardtanh"
    defaults: ClassVar[dict[str, Any]] = {"min": -1.0, "max": 1.0}


class Hardshrink(_Activation):
    """x where |x| > threshold, else 0.

    >>> print(dy2st.nn.Hardshrink()(dy2st.to_tensor([-1.0, 0.25, 2.0])))
    [-1.  0.  2.]
    """

    function = "hardshrink"
    defaults: ClassVar[dict[str, Any]] = {"threshold": 0.5}


class Softshrink(_Activation):
    """sign(x) * max(|x| - threshold, 0).

    >>> print(dy2st.nn.Softshrink()(dy2st.to_tensor([-1.0, 0.25, 2.0])))
    [-0.5  0.   1.5]
    """

    function = "softshrink"
    defaults: ClassVar[dict[str, Any]] = {"threshold": 0.5}


class Tanhshrink(_Activation):
    """x - tanh(x).

    >>> print(dy2st.nn.Tanhshrink()(dy2st.to_tensor([0.0, 1.0])).round(4))
    [0.     0.2384]
    """

    function = "tanhshrink"


class GLU(_Activation):
    """a * sigmoid(b), with a and b the halves of an axis: (n, 2*c) -> (n, c) (Dauphin et al. 2016).

    >>> dy2st.nn.GLU()(dy2st.ones([2, 6])).shape
    [2, 3]
    """

    function = "glu"
    defaults: ClassVar[dict[str, Any]] = {"axis": -1}


class PReLU(Layer, private="_weight _num_parameters _init _data_format"):
    """max(x, 0) + weight * min(x, 0), the weight is trained (He et al. 2015).

    `num_parameters` is 1, or the number of channels; `init` is the first value of the weight.

    >>> print(dy2st.nn.PReLU(init=0.5)(dy2st.to_tensor([[-2.0, 3.0]])))
    [[-1.  3.]]
    """

    _names_in_torch = {"weight": ("_weight",)}

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
