"""Operators by family, as PaddlePaddle's files have them: all of them are names of `dy2st`.

from dy2st.paddle.tensor.creation import zeros
import dy2st.paddle.tensor.manipulation as manipulation
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dy2st.paddle.mirrors import names_of
from dy2st.paddle.private_modules import private_modules
from dy2st_runtime.ir.location import without_own_frames
from dy2st_runtime.lazy import public_dir
from dy2st_runtime.tensor import EagerTensor, to_tensor

_SOURCES = [
    "dy2st.paddle.tensor.array",
    "dy2st",
    "dy2st.paddle.linalg",
    "dy2st.paddle.tensor.fill",
]

if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, _SOURCES)

private_modules(__name__)


class _Maker(ModuleType):
    """The module, which makes tensors where it is called: PaddlePaddle's is both."""

    @without_own_frames
    def __call__(
        self,
        data: Any,
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> EagerTensor:
        """A tensor with a copy of `data`, as by `to_tensor`; `pin_memory` changes nothing.

        >>> dy2st.tensor([1.0, 2.0], requires_grad=True)
        Tensor(shape=[2], dtype=float32, stop_gradient=False,
               [1., 2.])
        """
        return to_tensor(data, dtype, device, stop_gradient=not requires_grad)


sys.modules[__name__].__class__ = _Maker

__dir__ = public_dir(__name__)
