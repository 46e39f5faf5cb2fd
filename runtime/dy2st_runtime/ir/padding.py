"""Asks records about padding: for operands that are longer than they really are.

A rule gets a Site and returns the axes of the results that are longer, such that no real element
depends on what is behind the real ones of the operands, or on how many there are. It says
`site.refuse(...)` where that is not so. Axes of a class of their own say what is behind the real
elements; of others it is the last one again, if that is so for all operands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from dy2st_runtime.dims import Dim, Size, equal, less_equal, symbols
from dy2st_runtime.ir.types import Shape, ValueType


class NotIndifferent(Exception):
    """An operator mixes the padded elements with the real ones, or needs their number."""


class Axes(frozenset[int]):
    """Axes along which a value is longer; behind the real elements the last one is repeated."""


class Uneven(Axes):
    """The same, where other elements may be behind the real ones."""


class Places(Uneven):
    """Every element is its own place along the one longer axis: 0, 1, 2, ..."""


class Site(NamedTuple):
    """One operator, and the axes of its operands along which they are longer than they really are.

    `size` is the real number of elements along all of these.
    """

    types: Sequence[ValueType]
    longer: Sequence[Axes]
    attributes: Mapping[str, Any]
    results: Sequence[ValueType]
    size: Dim

    def shape(self, index: int) -> Shape:
        """The shape of an operand."""
        return self.types[index].shape  # type: ignore[union-attr]

    @property
    def result(self) -> Shape:
        """The shape of the first result."""
        return self.results[0].shape  # type: ignore[union-attr]

    def refuse(self, reason: str) -> NoReturn:
        """The operator does what must not be done with padded axes."""
        raise NotIndifferent(reason)

    def keep_off(self, axes: Iterable[int], index: int = 0) -> None:
        """Refuse if the operator works along a longer axis of an operand."""
        if self.longer[index].intersection(axes):
            self.refuse("works along it")

    def joined(self, indices: Iterable[int], rank: int, behind: int = 0) -> set[int]:
        """The longer axes where operands are brought to one shape of so many axes.

        Axes are counted from the last; the last ones of each, `behind`, have nothing to do with it.
        """
        ranks = {index: len(self.shape(index)) for index in indices}
        found = {
            axis + rank - own
            for index, own in ranks.items()
            for axis in self.longer[index]
            if axis < own - behind
        }
        for index, own in ranks.items():
            for axis in (axis - rank + own for axis in found):
                if axis >= 0 and axis not in self.longer[index] and not self.is_one(index, axis):
                    self.refuse("joins it with an axis that is not longer")
        return found

    def is_one(self, index: int, axis: int) -> bool:
        """Whether an operand surely has one element along an axis."""
        return equal(self.shape(index)[axis], 1) is True

    def takes_all(self, start: Size, stop: Size, step: int) -> bool:
        """Whether a slice of a longer axis takes every element in order; refuses unsure ones.

        False: it takes elements that are there, however long the axis really is.
        """
        if step == 1 and stop is self.size and equal(start, 0) is True:
            return True
        is_real = isinstance(start, int) and isinstance(stop, int) and step > 0 <= start
        if not is_real or less_equal(stop, self.size) is not True:
            self.refuse("takes a part of it that need not be real")
        return False

    def is_named(self, value: Any) -> bool:
        """Whether the size stands in nested tuples of sizes."""
        return any(found is self.size for found in symbols(tuple(value)))

    def made_longer(self) -> set[int]:
        """The axes of the result that have the size."""
        return {axis for axis, size in enumerate(self.result) if size is self.size}

    def even(self, axes: Iterable[int]) -> Axes:
        """Axes behind whose real elements the last one is repeated."""
        return Axes(axes)

    def places(self, axes: Iterable[int]) -> Places:
        """Axes of what counts 0, 1, 2, ... along them."""
        return Places(axes)

    def uneven(self, axes: Iterable[int]) -> Uneven:
        """Axes, where what is behind the real elements is not the last one again."""
        return Uneven(axes)

    def is_even(self, index: int) -> bool:
        """Whether an operand repeats its last real elements."""
        return not isinstance(self.longer[index], Uneven)

    def is_places(self, index: int) -> bool:
        """Whether every element of an operand is its own place along its longer axis."""
        return isinstance(self.longer[index], Places)


__all__ = ["Axes", "NotIndifferent", "Places", "Site", "Uneven"]
