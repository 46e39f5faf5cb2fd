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
    """Every element is `val`; gives the tensor, as all functions here.

    >>> dy2st.nn.init.constant_(dy2st.zeros([2]), 3.0).tolist()
    [3.0, 3.0]
    """
    return first.Constant(val)(tensor)


def ones_(tensor: Any) -> Any:
    """Every element is 1.

    >>> dy2st.nn.init.ones_(dy2st.zeros([2])).tolist()
    [1.0, 1.0]
    """
    return constant_(tensor, 1.0)


def zeros_(tensor: Any) -> Any:
    """Every element is 0.

    >>> dy2st.nn.init.zeros_(dy2st.ones([2])).tolist()
    [0.0, 0.0]
    """
    return constant_(tensor, 0.0)


def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0) -> Any:
    """Normal with a mean and a standard deviation.

    >>> dy2st.nn.init.normal_(dy2st.zeros([2]), 7.0, 0.0).tolist()
    [7.0, 7.0]
    """
    return first.Normal(mean, std)(tensor)


def trunc_normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0
) -> Any:
    """Normal, drawn again where it lies outside of [a, b].

    >>> values = dy2st.nn.init.trunc_normal_(dy2st.zeros([100]), a=-1.0, b=1.0)
    >>> bool((values.abs() <= 1.0).all())
    True
    """
    return first.TruncatedNormal(mean, std, a, b)(tensor)


def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0) -> Any:
    """Uniform in [a, b).

    >>> bool((dy2st.nn.init.uniform_(dy2st.zeros([100]), 2.0, 3.0) >= 2.0).all())
    True
    """
    return first.Uniform(a, b)(tensor)


def kaiming_normal_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Any:
    """Normal with variance gain**2 / fan_in, for layers before an activation (He et al. 2015).

    `a` is the slope of leaky_relu, `mode` 'fan_in' or 'fan_out'.

    >>> values = dy2st.nn.init.kaiming_normal_(dy2st.zeros([200, 50]), nonlinearity="relu")
    >>> abs(values.std().item() - 0.1) < 0.01
    True
    """
    return first.KaimingNormal(None, a, nonlinearity, mode)(tensor)


def kaiming_uniform_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Any:
    """Uniform with variance gain**2 / fan_in, for layers before an activation (He et al. 2015).

    `a` is the slope of leaky_relu, `mode` 'fan_in' or 'fan_out'.

    >>> values = dy2st.nn.init.kaiming_uniform_(dy2st.zeros([6, 2]), nonlinearity="relu")
    >>> bool((values.abs() <= 1.0).all())
    True
    """
    return first.KaimingUniform(None, a, nonlinearity, mode)(tensor)


def xavier_normal_(
    tensor: Any, gain: float = 1.0, fan_in: float | None = None, fan_out: float | None = None
) -> Any:
    """Normal with variance 2 * gain**2 / (fan_in + fan_out) (Glorot and Bengio 2010).

    >>> values = dy2st.nn.init.xavier_normal_(dy2st.zeros([100, 100]))
    >>> abs(values.std().item() - 0.1) < 0.01
    True
    """
    return first.XavierNormal(fan_in, fan_out, gain=gain)(tensor)


def xavier_uniform_(
    tensor: Any, gain: float = 1.0, fan_in: float | None = None, fan_out: float | None = None
) -> Any:
    """Uniform with variance 2 * gain**2 / (fan_in + fan_out) (Glorot and Bengio 2010).

    >>> bool((dy2st.nn.init.xavier_uniform_(dy2st.zeros([4, 2])).abs() <= 1.0).all())
    True
    """
    return first.XavierUniform(fan_in, fan_out, gain=gain)(tensor)


def dirac_(tensor: Any, groups: int = 1) -> Any:
    """A convolution that gives its input.

    >>> dy2st.nn.init.dirac_(dy2st.zeros([2, 2, 1])).squeeze(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return Dirac(groups)(tensor)


def orthogonal_(tensor: Any, gain: float = 1) -> Any:
    """A matrix whose rows or columns are orthonormal, times `gain` (Saxe et al. 2013).

    >>> q = dy2st.nn.init.orthogonal_(dy2st.zeros([2, 3]))
    >>> np.allclose((q @ q.t()).numpy(), np.eye(2), atol=1e-6)
    True
    """
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
