"""Makes zeros, or a list of empty entries, for a gradient that is not there."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.autodiff.gradient import type_of_gradient
from dy2st_runtime.autodiff.walk import Walk
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType


def zero_gradient(walk: Walk, variable: Variable) -> Variable:
    """What stands for the gradient of a value of the forward computation."""
    if isinstance(variable.type, TensorType):
        return zeros(variable.type)
    return empty_gradients(variable.type, F.array_length(walk.forward.value(variable)))


def zeros(type: TensorType) -> Variable:
    """Zeros of a type."""
    made: Variable = F.zeros(type.shape, type.dtype)
    return made


def empty_gradients(type: ValueType, length: Any) -> Variable:
    """The gradient of a list of a length whose elements have none."""
    assert isinstance(type, ArrayType)
    entry = type_of_gradient(type).element  # type: ignore[union-attr]
    assert isinstance(entry, ArrayType)
    made: Variable = F.array_repeat(F.array_of([F.array_empty(entry)]), length)
    return made


__all__ = ["empty_gradients", "zero_gradient", "zeros"]
