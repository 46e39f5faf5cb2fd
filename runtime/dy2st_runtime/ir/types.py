"""Defines types of values: what is known before a run, element type and sizes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dy2st_runtime.dims import Size, same_shape

DType = np.dtype[Any]
Shape = tuple[Size, ...]


class TensorType:
    """An element type and a shape whose sizes are ints or Dims.

    >>> TensorType("float32", (2, 3))
    tensor<2x3xfloat32>
    """

    __slots__ = ("dtype", "shape")

    def __init__(self, dtype: Any, shape: Iterable[Size]):
        """Take anything that names a NumPy dtype, and the sizes in order."""
        self.dtype: DType = np.dtype(dtype)
        self.shape: Shape = tuple(shape)

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def is_floating(self) -> bool:
        """Whether the elements are floats; complex numbers are not."""
        return is_floating(self.dtype)

    @property
    def is_differentiable(self) -> bool:
        """Whether gradients can flow through such a value."""
        return is_differentiable(self.dtype)

    def with_shape(self, shape: Iterable[Size]) -> TensorType:
        """The same element type with other sizes."""
        return TensorType(self.dtype, shape)

    def with_dtype(self, dtype: Any) -> TensorType:
        """The same sizes with another element type."""
        return TensorType(dtype, self.shape)

    def __eq__(self, other: object) -> bool:
        """Equal when it is proved: the same element type and the same sizes."""
        if not isinstance(other, TensorType):
            return NotImplemented
        return self.dtype == other.dtype and same_shape(self.shape, other.shape) is True

    def __hash__(self) -> int:
        """Agree with equality: Dims are hash-consed."""
        return hash((self.dtype, self.shape))

    def __repr__(self) -> str:
        """`tensor<2xbatchxfloat32>`, for messages; the text form of Programs is elsewhere."""
        return f"tensor<{''.join(f'{size}x' for size in self.shape)}{self.dtype}>"


class ArrayType:
    """A list of tensors, or of lists, that grows while a Program runs; its elements fit one type.

    The element type is None while nothing has been put into the list.
    """

    __slots__ = ("element",)

    def __init__(self, element: ValueType | None):
        """Take the type that every element fits."""
        self.element = element

    @property
    def tensor(self) -> TensorType | None:
        """The type of the tensors, in lists of lists of the innermost; None if none is known."""
        inner: ValueType | None = self.element
        while isinstance(inner, ArrayType):
            inner = inner.element
        return inner

    @property
    def depth(self) -> int:
        """How deep lists are nested: 1 for a list of tensors."""
        depth, inner = 1, self.element
        while isinstance(inner, ArrayType):
            depth, inner = depth + 1, inner.element
        return depth

    def __eq__(self, other: object) -> bool:
        """Equal when the elements' types are."""
        return isinstance(other, ArrayType) and self.element == other.element

    def __hash__(self) -> int:
        """Agree with equality."""
        return hash(("array", self.element))

    def __repr__(self) -> str:
        """`array<tensor<2xfloat32>>`, for messages."""
        return f"array<{self.element}>"


ValueType = TensorType | ArrayType

MAX_LIST_DEPTH = 64
"""How deep lists may be nested in lists."""


def is_floating(dtype: DType) -> bool:
    """Whether a dtype is a float, bfloat16 included (NumPy calls its kind 'V')."""
    kind = dtype.kind
    return kind == "f" or (kind == "V" and dtype.name == "bfloat16")


def is_differentiable(dtype: DType) -> bool:
    """Whether gradients can flow through elements of a dtype: floats and complex numbers."""
    return dtype.kind == "c" or is_floating(dtype)
