"""Tensors and parameters, as users see them."""

import numpy as np
from collections.abc import Sequence
from dy2st_runtime.ir.tensor import Tensor as Tensor, TensorLike
from dy2st_runtime.ir.types import DTypeLike
from dy2st_runtime.place import Place
from typing import Any

EagerTensor = Tensor
class Parameter(Tensor):
    """A tensor that an optimizer trains."""
    optimize_attr: dict[str, Any]
    regularizer: Any
    need_clip: bool
    do_model_average: bool
    is_distributed: bool
    persistable: bool
    is_named: bool
    def __init__(self, data: Any = None, requires_grad: bool = True, name: str = '', *, trainable: bool | None = None) -> None: ...
    @classmethod
    def from_tensor(cls, tensor: Tensor, **options: Any) -> Parameter: ...
    @property
    def block(self) -> None:
        """None: what initialisers may be given beside a parameter, and leave alone."""
    @property
    def trainable(self) -> bool:
        """Whether gradients are computed; the opposite of `stop_gradient`."""
    @trainable.setter
    def trainable(self, value: bool) -> None: ...
def form_of(tensor: Tensor) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """The dtype and the sizes, without fetching the array."""
def from_dlpack(dlpack: Any, device: Place | str | None = None, copy: bool | None = None) -> Tensor:
    """A tensor on the same memory as any object that speaks DLPack, or on a copy of it."""
def from_numpy(ndarray: np.ndarray[Any, Any]) -> Tensor:
    """A tensor on the same memory as the array; do not change the array afterwards."""
def is_tensor(x: object) -> bool:
    """Whether `x` is a tensor, eager or traced."""
def to_tensor(data: TensorLike | Sequence[Any], dtype: DTypeLike | None = None, place: Place | str | None = None, stop_gradient: bool = True) -> Tensor:
    """A tensor with a copy of `data`: numbers, nested lists, arrays, tensors."""
