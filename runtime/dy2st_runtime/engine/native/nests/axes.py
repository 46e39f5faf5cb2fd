"""Defines axes of loop nests, and how the axes of tensors run along them."""

from __future__ import annotations

from typing import NamedTuple

from dy2st_runtime.dims import Size, equal, minimum
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ir.types import Shape


class Axis:
    """An axis of a nest; when two become one, one of them points to the other."""

    __slots__ = ("into", "size")

    def __init__(self, size: Size) -> None:
        """Of its own until it is joined."""
        self.size = size
        self.into: Axis | None = None

    @property
    def root(self) -> Axis:
        """The axis that it has become."""
        axis = self
        while axis.into is not None:
            axis = axis.into
        return axis

    def join(self, other: Axis) -> None:
        """Become the other one, which then has the simpler size."""
        one, whole = self.root, other.root
        if one is not whole:
            whole.size = one.size if isinstance(one.size, int) else whole.size
            one.into = whole


Places = tuple["Axis | None", ...]
"""For each axis of a tensor the axis of the nest along which it runs, None where it does not."""


class Use(NamedTuple):
    """A tensor as a member reads it: the index along axis i is start + step * index of places[i].

    Where nothing is said of starts and steps, they are 0 and 1. Along axis i of `picks` the index
    is what the value says, which is known to be inside where `guard` is true.
    """

    variable: Variable
    places: Places
    starts: tuple[Size, ...] = ()
    steps: tuple[Size, ...] = ()
    picks: tuple[tuple[int, Variable], ...] = ()
    guard: Variable | None = None

    @property
    def is_plain(self) -> bool:
        """Whether it is read from its first element on, one by one."""
        return not self.starts and not self.picks


def is_one(size: Size) -> bool:
    """Whether a size is the number 1."""
    return isinstance(size, int) and size == 1


def is_same(left: Size, right: Size) -> bool:
    """Whether two sizes are surely equal."""
    return left is right or equal(left, right) is True


def new_axes(shape: Shape) -> Places:
    """An axis of its own for each size that is not 1."""
    return tuple([None if is_one(size) else Axis(size) for size in shape])


def repeated(size: Size, whole: Size) -> Size:
    """1 where an axis has the whole size, 0 where it has one element, which is repeated."""
    if is_one(size):
        return 0
    return 1 if is_same(size, whole) else minimum(size - 1, 1)


def aligned(shape: Shape, whole: Shape, result: Places) -> Places | None:
    """Along which axes of a result an operand runs that is repeated to its shape, if known."""
    lead = len(whole) - len(shape)
    places: list[Axis | None] = []
    for axis, size in enumerate(shape, lead):
        if is_one(size):
            places.append(None)
        elif is_same(size, whole[axis]):
            places.append(result[axis])
        else:
            return None
    return tuple(places)


def stretched(shape: Shape, whole: Shape, result: Places) -> tuple[Places, tuple[Size, ...]]:
    """As `aligned`, with the steps along the axes: of sizes that may be 1 or the whole ones."""
    lead = len(whole) - len(shape)
    pairs = zip(shape, whole[lead:], result[lead:], strict=True)
    places = tuple([None if is_one(size) else axis for size, _, axis in pairs])
    return places, tuple(map(repeated, shape, whole[lead:]))


__all__ = [
    "Axis",
    "Places",
    "Use",
    "aligned",
    "is_one",
    "is_same",
    "new_axes",
    "repeated",
    "stretched",
]
