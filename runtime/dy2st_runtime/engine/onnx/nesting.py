"""Lists of lists as what a model takes: how long each is, and one list of all elements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.ir.types import ArrayType, ValueType


def is_nested(type: ValueType) -> bool:
    """Whether it is a list of lists."""
    return isinstance(type, ArrayType) and isinstance(type.element, ArrayType)


def leaves_of(type: ValueType, value: Any) -> Iterator[Any]:
    """What a value of the type is for a model.

    >>> from dy2st_runtime.ir.types import TensorType
    >>> pairs = ArrayType(ArrayType(TensorType("float32", ())))
    >>> [*leaves_of(pairs, [[1.0, 2.0], [], [3.0]])]
    [array([2, 0, 1]), [1.0, 2.0, 3.0]]
    """
    if not (isinstance(type, ArrayType) and isinstance(type.element, ArrayType)):
        yield value
        return
    yield np.array([len(one) for one in value], np.int64)
    yield from leaves_of(type.element, [entry for one in value for entry in one])


def value_of_leaves(type: ValueType, leaves: Iterator[Any]) -> Any:
    """The value of the type that a model gives.

    >>> from dy2st_runtime.ir.types import TensorType
    >>> pairs = ArrayType(ArrayType(TensorType("float32", ())))
    >>> value_of_leaves(pairs, iter([np.array([2, 0, 1]), [1.0, 2.0, 3.0]]))
    [[1.0, 2.0], [], [3.0]]
    """
    if not (isinstance(type, ArrayType) and isinstance(type.element, ArrayType)):
        return next(leaves)
    lengths = next(leaves)
    entries = iter(value_of_leaves(type.element, leaves))
    return [[next(entries) for _ in range(count)] for count in lengths.tolist()]


def flat(types: Iterable[ValueType], values: Sequence[Any]) -> list[Any]:
    """What values are for a model, one after the other."""
    pairs = zip(types, values, strict=True)
    return [leaf for type, value in pairs for leaf in leaves_of(type, value)]


def unflat(types: Iterable[ValueType], leaves: Iterable[Any]) -> list[Any]:
    """The values that a model gives."""
    rest = iter(leaves)
    return [value_of_leaves(type, rest) for type in types]


__all__ = ["flat", "is_nested", "unflat"]
