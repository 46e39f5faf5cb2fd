"""First values for tensors that are there already, in torch's order of arguments.

>>> from dy2st_runtime.ops import ones
>>> constant_(ones([2]), 3.0).tolist()
[3.0, 3.0]
"""

from __future__ import annotations

from typing import Any

from dy2st_runtime.lazy import public_dir
from dy2st_runtime.nn import initializer as first
from dy2st_runtime.nn.initializer import calculate_gain
from dy2st_runtime.nn.rare_initializers import Dirac


def constant_(tensor: Any, val: float) -> Any:
    """Every element is `val`."""
    return first.Constant(val)(tensor)


def ones_(tensor: Any) -> Any:
    """Every element is 1."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Any) -> Any:
    """Every element is 0."""
    return constant_(tensor, 0.0)


def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0) -> Any:
    """Normal with a mean and a standard deviation."""
    return first.Normal(mean, std)(tensor)


def trunc_normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0
) -> Any:
    """Normal, drawn again where it lies outside of [a, b]."""
    return first.TruncatedNormal(mean, std, a, b)(tensor)


def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0) -> Any:
    """Uniform in [a, b)."""
    return first.Uniform(a, b)(tensor)


def kaiming_normal_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Any:
    """Normal, for layers before an activation (He et al. 2015)."""
    return first.KaimingNormal(None, a, nonlinearity, mode)(tensor)


def kaiming_uniform_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Any:
    """Uniform, for layers before an activation (He et al. 2015)."""
    return first.KaimingUniform(None, a, nonlinearity, mode)(tensor)


def xavier_normal_(
    tensor: Any, gain: float = 1.0, fan_in: float | None = None, fan_out: float | None = None
) -> Any:
    """Normal, for layers on both sides alike (Glorot and Bengio 2010)."""
    return first.XavierNormal(fan_in, fan_out, gain=gain)(tensor)


def xavier_uniform_(
    tensor: Any, gain: float = 1.0, fan_in: float | None = None, fan_out: float | None = None
) -> Any:
    """Uniform, for layers on both sides alike (Glorot and Bengio 2010)."""
    return first.XavierUniform(fan_in, fan_out, gain=gain)(tensor)


def dirac_(tensor: Any, groups: int = 1) -> Any:
    """A convolution that gives its input."""
    return Dirac(groups)(tensor)


def orthogonal_(tensor: Any, gain: float = 1) -> Any:
    """A matrix whose rows or columns are orthonormal, times `gain`."""
    return first.Orthogonal(gain)(tensor)


__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]
__dir__ = public_dir(__name__)
