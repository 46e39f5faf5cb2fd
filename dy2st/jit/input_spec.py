"""InputSpec: what a converted function may expect of one tensor argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st.jit.dimension import Dim
from dy2st_runtime import dims
from dy2st_runtime.ir import Tensor
from dy2st_runtime.ir.types import given_dtype

Axis = int | str | Dim | dims.Dim | None


class InputSpec:
    """Shape, element type and name of a tensor argument.

    A size is an int, None (unknown) or a name: the same name in several specs means the same size.
    A Dim says more of it: its limits and what divides it; formulas such as `2 * Dim("n") + 1`
    relate sizes.

    >>> InputSpec(["batch", None, 64], "float32", "x")
    InputSpec(shape=('batch', None, 64), dtype=float32, name='x')
    """

    def __init__(
        self,
        shape: Sequence[Axis],
        dtype: Any = "float32",
        name: str | None = None,
        stop_gradient: bool = False,
    ):
        """Check and keep; TypeError or ValueError say what is wrong with a size or dtype."""
        if isinstance(shape, (str, int)) or not isinstance(shape, Sequence):
            raise TypeError(f"the shape of an InputSpec is a list of sizes, not {shape!r}")
        self.shape = tuple(_checked_size(size) for size in shape)
        self.dtype = given_dtype(dtype)
        if self.dtype.kind not in "fiubVc":
            raise TypeError(f"a tensor cannot have the dtype {self.dtype}")
        self.name = name
        self.stop_gradient = stop_gradient

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> InputSpec:
        """The spec that fits exactly this tensor."""
        if not isinstance(tensor, Tensor):
            raise ValueError(f"from_tensor takes a tensor, not {type(tensor).__name__}")
        return cls(list(tensor.tensor_type.shape), tensor.dtype, name)

    @classmethod
    def from_numpy(cls, array: np.ndarray[Any, Any], name: str | None = None) -> InputSpec:
        """The spec that fits exactly this array."""
        return cls(list(array.shape), array.dtype, name)

    def batch(self, size: Axis) -> InputSpec:
        """This spec with one more axis in front."""
        self.shape = (_checked_size(size), *self.shape)
        return self

    def unbatch(self) -> InputSpec:
        """This spec without its first axis."""
        if not self.shape:
            raise ValueError("unbatch of a spec without axes")
        self.shape = self.shape[1:]
        return self

    def __eq__(self, other: object) -> bool:
        """Equal when shape, dtype, name and stop_gradient are."""
        if not isinstance(other, InputSpec):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        """Agree with equality."""
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        sizes = tuple(_comparable(size) for size in self.shape)
        return sizes, self.dtype, self.name, self.stop_gradient

    def __repr__(self) -> str:
        """As one would write it."""
        return f"InputSpec(shape={self.shape}, dtype={self.dtype}, name={self.name!r})"


def _comparable(size: Axis) -> Any:
    """Something whose == is a bool: that of two formulas may be a Condition."""
    if not isinstance(size, dims.Dim):
        return size
    return str(size), tuple((s.minimum, s.maximum) for s in dims.symbols(size))


def _checked_size(size: Any) -> Axis:
    if isinstance(size, str) and not size.isidentifier():
        raise ValueError(f"the name of a size is an identifier, not {size!r}")
    if size is None or isinstance(size, (str, Dim, dims.Dim)):
        return size
    if isinstance(size, bool) or not hasattr(size, "__index__"):
        raise ValueError(f"a size is an int, a name, a Dim or None, not {size!r}")
    number = int(size)
    if number < -1:
        raise ValueError(f"a size cannot be {number}")
    # PaddlePaddle writes -1 for an unknown size.
    return None if number == -1 else number
