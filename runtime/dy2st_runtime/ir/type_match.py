"""Decides whether one type stands for another when a symbol may take any size."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dy2st_runtime.dims import Dim, Size, equal, is_symbol, less_equal, substitute, symbols
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType


def matches(
    given: Sequence[ValueType],
    places: Sequence[ValueType],
    is_free: Callable[[Dim], bool],
    in_range: bool = True,
) -> bool:
    """Whether all given types fit their places.

    A symbol of a place for which `is_free` holds takes the size that is given there, the same one
    wherever it stands, which must be `in_range`: proved to be what the symbol may be. All other
    sizes must be proved equal.
    """
    if len(given) != len(places):
        return False
    pairs: list[tuple[Size, Size]] = []
    for one, other in zip(given, places, strict=True):
        found = _paired_sizes(one, other)
        if found is None:
            return False
        pairs += found
    taken: dict[Dim, Size] = {}
    for size, place in pairs:
        if isinstance(place, Dim) and is_symbol(place) and is_free(place):
            taken.setdefault(place, size)
    if in_range and not all(is_in_range(symbol, size) for symbol, size in taken.items()):
        return False
    return all(_same(size, place, taken) for size, place in pairs)


def is_in_range(symbol: Dim, size: Size) -> bool:
    """Whether a size of a tensor, which is never negative, is one that a symbol may be."""
    is_large = symbol.minimum <= 0 or less_equal(symbol.minimum, size) is True
    return is_large and (symbol.maximum is None or less_equal(size, symbol.maximum) is True)


def written_alike(one: ValueType, other: ValueType) -> bool:
    """Whether two types have the same sizes in the same form: one binds what the other does.

    Types are equal also where a size is proved to be a symbol's, which nothing else may bind.
    """
    pairs = _paired_sizes(one, other)
    return pairs is not None and all(
        a is b or (isinstance(a, int) and isinstance(b, int) and a == b) for a, b in pairs
    )


def _paired_sizes(given: ValueType, place: ValueType) -> list[tuple[Size, Size]] | None:
    """Sizes that must agree, None if element types, ranks or kinds of value differ."""
    if isinstance(given, ArrayType) and isinstance(place, ArrayType):
        if given.element is None or place.element is None:
            # Nothing is in the list yet: it fits any; but not the other way round.
            return [] if given.element is None else None
        return _paired_sizes(given.element, place.element)
    if not isinstance(given, TensorType) or not isinstance(place, TensorType):
        return None
    if given.dtype != place.dtype or given.rank != place.rank:
        return None
    return list(zip(given.shape, place.shape, strict=True))


def _same(size: Size, place: Size, taken: dict[Dim, Size]) -> bool:
    if size is place:
        # A free symbol that took another size elsewhere is no longer itself.
        return all(taken.get(symbol, symbol) is symbol for symbol in symbols(place))
    try:
        return equal(size, substitute(place, taken)) is True
    except ShapeError:  # the sizes put in cannot be broadcast
        return False


__all__ = ["is_in_range", "matches", "written_alike"]
