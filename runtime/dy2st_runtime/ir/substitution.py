"""Puts sizes in place of symbols, in types and attributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dy2st_runtime.dims import Dim, Size, substitute, substitute_condition
from dy2st_runtime.dims.conditions import Condition
from dy2st_runtime.ir.types import ArrayType, ValueType

Sizes = Mapping[Dim, Size]


def typed_with(type: ValueType, sizes: Sizes) -> ValueType:
    """The type with these sizes."""
    if isinstance(type, ArrayType):
        return ArrayType(None if type.element is None else typed_with(type.element, sizes))
    return type.with_shape(substitute(size, sizes) for size in type.shape)


def value_with(value: Any, sizes: Sizes) -> Any:
    """An attribute with these sizes; a condition that they decide is its truth."""
    if isinstance(value, Dim):
        return substitute(value, sizes)
    if isinstance(value, Condition):
        return substitute_condition(value, sizes)
    return tuple(value_with(one, sizes) for one in value) if type(value) is tuple else value


__all__ = ["Sizes", "typed_with", "value_with"]
