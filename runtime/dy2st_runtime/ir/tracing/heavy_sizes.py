"""Sizes whose formulas have become so long that a symbol of their own stands for them."""

from __future__ import annotations

from dy2st_runtime.dims import Dim, Size, bounds, current
from dy2st_runtime.ir.fresh import fresh_symbol
from dy2st_runtime.ir.types import ArrayType, ValueType

HEAVIEST_SIZE, DEEPEST_SIZE = 200, 16
"""How many symbols, written out, a formula of a size may have, and how deep it may nest."""


def lightened(type: ValueType) -> ValueType:
    """The type with a symbol for a size that has become too long a formula: they can grow without
    limit, and then cost more than they tell."""
    if isinstance(type, ArrayType):
        return type
    for size in type.shape:
        if size.__class__ is not int and _is_heavy(size):
            return type.with_shape(_light(size) for size in type.shape)
    return type


def _light(size: Size) -> Size:
    if not _is_heavy(size):
        return size
    return fresh_symbol("size", max(0, bounds(size, current())[0] or 0))


def _is_heavy(size: Size) -> bool:
    return isinstance(size, Dim) and (size.weight > HEAVIEST_SIZE or size.depth > DEEPEST_SIZE)
