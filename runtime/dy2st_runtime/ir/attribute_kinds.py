"""Defines the kinds of values that an attribute of an operator may have.

A record names a kind for every attribute. A Program that comes from a file is held against them
before any shape rule, kernel or size formula sees a value, so those may rely on them.

>>> SIZES.fits((2, 3), [])
True
>>> SIZES.fits((2, -3), [])
False
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.ir.structure import wrong_entries
from dy2st_runtime.ir.types import ArrayType, ValueType, element_text

_LIMIT = 2**63
MOST_NEAR = 2**62
_MAX_AXES = 64
Types = Sequence[ValueType]


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Any = _Required()


class AttributeKind(NamedTuple):
    """A set of values, with a name for messages; `fits(value, types of the operands)`.

    least   what sizes in it must be at least: known numbers are, of others the shape rule asks.
    """

    what: str
    fits: Callable[[Any, Types], bool]
    default: Any = REQUIRED
    least: int | None = None

    def or_else(self, default: Any) -> AttributeKind:
        """The same kind with a value that stands where none is given."""
        return self._replace(default=default)


def kind_of(declared: Any) -> AttributeKind:
    """What a record declares: a kind, or a default that implies it."""
    if isinstance(declared, AttributeKind):
        return declared
    return _BY_DEFAULT[type(declared)].or_else(declared)


def one_of(*texts: str) -> AttributeKind:
    """One of a few texts."""
    what = f"one of {', '.join(texts)}"
    return AttributeKind(what, lambda value, _: isinstance(value, str) and value in texts)


def between(least: int, most: int) -> AttributeKind:
    """An integer from one to another."""
    what = f"an integer from {least} to {most}"
    return AttributeKind(what, lambda value, _: type(value) is int and least <= value <= most)


def either(*kinds: AttributeKind) -> AttributeKind:
    """A value of any of these kinds."""
    what = " or ".join(kind.what for kind in kinds)
    least = max((kind.least for kind in kinds if kind.least is not None), default=None)
    return AttributeKind(
        what, lambda value, types: any(k.fits(value, types) for k in kinds), least=least
    )


def several(kind: AttributeKind, what: str, most: int | None = _MAX_AXES) -> AttributeKind:
    """A tuple of values of one kind."""

    def fits(value: Any, types: Types) -> bool:
        is_short = type(value) is tuple and (most is None or len(value) <= most)
        return is_short and all(kind.fits(entry, types) for entry in value)

    return AttributeKind(what, fits, least=kind.least)


def each_axis(kind: AttributeKind, after: int = 0) -> AttributeKind:
    """The same tuples with an entry for each axis of the first operand, but not the first ones."""
    axes = "spatial axis" if after else "axis"

    def fits(value: Any, types: Types) -> bool:
        return kind.fits(value, types) and len(value) == _rank(types) - after

    return kind._replace(what=f"{kind.what}, one for each {axes}", fits=fits)


def structure(*containers: type) -> AttributeKind:
    """One of these, nested of constants and of operands."""
    what = " or ".join(container.__name__ for container in containers)
    return AttributeKind(
        f"a nest of constants and operands in a {what}",
        lambda value, types: type(value) in containers and not any(wrong_entries(value, types)),
    )


# -- the values -------------------------------------------------------------------------------


def _is_integer(value: Any, _: Types = ()) -> bool:
    return type(value) is int and -_LIMIT <= value < _LIMIT


def _is_size(value: Any, _: Types = ()) -> bool:
    return type(value) is Dim or (_is_integer(value) and value >= 0)


def _rank(types: Types) -> int:
    """Of the first operand, or of the tensors in that list."""
    first = types[0] if types else None
    tensor = first.tensor if isinstance(first, ArrayType) else first
    return _MAX_AXES if tensor is None else tensor.rank


def _is_axis(value: Any, types: Types) -> bool:
    return type(value) is int and 0 <= value < _rank(types)


def _are_axes(value: Any, types: Types) -> bool:
    are_known = type(value) is tuple and all(_is_axis(axis, types) for axis in value)
    return are_known and len(set(value)) == len(value)


NONE = AttributeKind("none", lambda value, _: value is None)
FLAG = AttributeKind("true or false", lambda value, _: type(value) is bool)
INTEGER = AttributeKind("an integer of 64 bits", _is_integer)
NUMBER = AttributeKind(
    "a number of 64 bits",
    # Also an unsigned integer of 64 bits.
    lambda value, _: (
        (type(value) is int and -_LIMIT <= value < 2 * _LIMIT) or type(value) in (bool, float)
    ),
)
TEXT = AttributeKind("a text", lambda value, _: isinstance(value, str))
NAME = AttributeKind("a name", lambda value, _: isinstance(value, str) and value.isidentifier())
DTYPE = AttributeKind(
    "an element type", lambda value, _: isinstance(value, np.dtype) and bool(element_text(value))
)
ARRAY = AttributeKind(
    "an array",
    lambda value, _: isinstance(value, np.ndarray) and element_text(value.dtype) is not None,
)
SIZE = AttributeKind("a size", _is_size, least=0)
INDEX = AttributeKind(
    "an integer or a size", lambda value, _: type(value) is Dim or _is_integer(value)
)
NEAR = AttributeKind(
    "a size, or an integer to which places can be added",
    lambda value, _: type(value) is Dim or (type(value) is int and abs(value) <= MOST_NEAR),
)
CONDITION = AttributeKind("a condition on sizes", lambda value, _: type(value) in (bool, Condition))
AXIS = AttributeKind("an axis of the first operand", _is_axis)
SIGNED_AXIS = AttributeKind(
    "an axis of the first operand, also from the end",
    lambda value, types: type(value) is int and -_rank(types) <= value < _rank(types),
)
NEW_AXIS = AttributeKind(
    "a place for an axis", lambda value, types: type(value) is int and 0 <= value <= _rank(types)
)
AXES = AttributeKind("different axes of the first operand", _are_axes)
ORDER = AttributeKind(
    "all axes of the first operand in some order",
    lambda value, types: _are_axes(value, types) and len(value) == _rank(types),
)
INTEGERS = several(INTEGER, "a list of integers")
STRIDE = AttributeKind(
    "an integer other than 0", lambda value, _: _is_integer(value) and value != 0
)
STRIDES = several(STRIDE, "a list of integers other than 0")
SIZES = several(SIZE, "a list of sizes")
INDICES = several(INDEX, "a list of integers and sizes")
PAIRS = several(
    AttributeKind(
        "",
        lambda value, _: (
            type(value) is tuple and len(value) == 2 and all(type(n) in (int, Dim) for n in value)
        ),
    ),
    "a list of pairs of integers or sizes",
)
FRAME = several(
    AttributeKind(
        "",
        lambda value, _: type(value) is tuple and len(value) == 2 and all(map(_is_size, value)),
        least=0,
    ),
    "a list of pairs of sizes",
)
STEP = AttributeKind(
    "a size from 1",
    lambda value, _: type(value) is Dim or (_is_integer(value) and value > 0),
    least=1,
)
STEPS = several(STEP, "a list of sizes from 1")
KNOWN_SIZES = either(NONE, several(either(INDEX, NONE), "sizes of which some are not known"))
PIECES = several(
    AttributeKind(
        "",
        lambda value, types: (
            isinstance(value, str) or (type(value) is int and 0 <= value < len(types))
        ),
    ),
    "texts and numbers of operands",
    None,
)

_BY_DEFAULT: dict[type, AttributeKind] = {
    bool: FLAG,
    int: INTEGER,
    float: NUMBER,
    str: TEXT,
    type(np.dtype("float32")): DTYPE,
    type(np.dtype("int64")): DTYPE,
}

__all__ = [
    "ARRAY",
    "AXES",
    "AXIS",
    "CONDITION",
    "DTYPE",
    "FLAG",
    "FRAME",
    "INDEX",
    "INDICES",
    "INTEGER",
    "INTEGERS",
    "KNOWN_SIZES",
    "MOST_NEAR",
    "NAME",
    "NEAR",
    "NEW_AXIS",
    "NONE",
    "NUMBER",
    "ORDER",
    "PAIRS",
    "PIECES",
    "REQUIRED",
    "SIGNED_AXIS",
    "SIZE",
    "SIZES",
    "STEP",
    "STEPS",
    "STRIDE",
    "STRIDES",
    "TEXT",
    "AttributeKind",
    "between",
    "each_axis",
    "either",
    "kind_of",
    "one_of",
    "several",
    "structure",
]
