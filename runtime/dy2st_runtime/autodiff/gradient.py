"""A gradient while it is gathered: its value, and whether it is there at all.

What only a branch or some iterations use has no gradient where these do not run: eagerly `.grad`
stays None then, which an optimizer sees. So a gradient may be unsure: then flags of the Program
say whether it is there, and where it is not its value is zeros. A rule may make NaN of zeros, so
what has gone through one is put right before it is added to others.
"""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType

Presence = tuple[Variable, ...] | None
"""Bools of which one is true if a gradient is there; None if it surely is."""


class Gradient(NamedTuple):
    """The gradient of one value, as far as its uses are known.

    there     whether it is there.
    is_clean  whether it is zeros where it is not there.
    is_full   of a list: whether every element has a gradient.
    """

    value: Variable
    there: Presence = None
    is_clean: bool = True
    is_full: bool = False


def type_of_gradient(type: ValueType) -> ValueType:
    """The type of the gradient of a value.

    That of a list is a list of as many entries: each a list of the element's gradient, or empty.
    """
    if isinstance(type, TensorType):
        return type
    return ArrayType(ArrayType(None if type.element is None else type_of_gradient(type.element)))


def any_of(first: Presence, second: Presence) -> Presence:
    """Whether one of two is there."""
    return None if first is None or second is None else tuple(dict.fromkeys(first + second))


def flag_of(there: Presence) -> Variable:
    """The flag of a presence."""
    if there is None:
        flag: Variable = F.full([], True, "bool")
        return flag
    return reduce(F.logical_or, there)


def cleaned(gradient: Gradient) -> Gradient:
    """The same gradient, of zeros where it is not there."""
    if gradient.is_clean or gradient.there is None:
        return gradient
    # A rule may have made NaN of zeros, and NaN * 0 is NaN: it is chosen, not multiplied.
    flag = flag_of(gradient.there)
    value = F.where(flag, gradient.value, F.zeros_like(gradient.value))
    return Gradient(value, gradient.there, True, gradient.is_full)


__all__ = ["Gradient", "Presence", "any_of", "cleaned", "flag_of", "type_of_gradient"]
