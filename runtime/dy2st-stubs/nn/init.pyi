"""First values for tensors that are there already, in torch's order of arguments."""

from dy2st_runtime.ir.tensor import Tensor, TensorLike
from dy2st_runtime.nn.initializer import calculate_gain as calculate_gain

def constant_(tensor: TensorLike, val: float) -> Tensor:
    """Every element is `val`; gives the tensor, as all functions here."""
def dirac_(tensor: TensorLike, groups: int = 1) -> Tensor:
    """A convolution that gives its input."""
def kaiming_normal_(tensor: TensorLike, a: float = 0, mode: str = 'fan_in', nonlinearity: str = 'leaky_relu') -> Tensor:
    """Normal with variance gain**2 / fan_in, for layers before an activation (He et al. 2015)."""
def kaiming_uniform_(tensor: TensorLike, a: float = 0, mode: str = 'fan_in', nonlinearity: str = 'leaky_relu') -> Tensor:
    """Uniform with variance gain**2 / fan_in, for layers before an activation (He et al. 2015)."""
def normal_(tensor: TensorLike, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Normal with a mean and a standard deviation."""
def ones_(tensor: TensorLike) -> Tensor:
    """Every element is 1."""
def orthogonal_(tensor: TensorLike, gain: float = 1) -> Tensor:
    """A matrix whose rows or columns are orthonormal, times `gain` (Saxe et al. 2013)."""
def trunc_normal_(tensor: TensorLike, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0) -> Tensor:
    """Normal, drawn again where it lies outside of [a, b]."""
def uniform_(tensor: TensorLike, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Uniform in [a, b)."""
def xavier_normal_(tensor: TensorLike, gain: float = 1.0, fan_in: float | None = None, fan_out: float | None = None) -> Tensor:
    """Normal with variance 2 * gain**2 / (fan_in + fan_out) (Glorot and Bengio 2010)."""
def xavier_uniform_(tensor: TensorLike, gain: float = 1.0, fan_in: float | None = None, fan_out: float | None = None) -> Tensor:
    """Uniform with variance 2 * gain**2 / (fan_in + fan_out) (Glorot and Bengio 2010)."""
def zeros_(tensor: TensorLike) -> Tensor:
    """Every element is 0."""
