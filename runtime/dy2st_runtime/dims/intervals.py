"""Bounds the values of sizes: by interval arithmetic, and by those that are never negative."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from dy2st_runtime.dims.expression import Atom, Dim, Interval, Size
from dy2st_runtime.dims.samples import deep_symbols

if TYPE_CHECKING:

    class Known(Protocol):
        """What is known of the values of atoms."""

        def interval(self, atom: Atom) -> Interval:
            """The least and the largest value of an atom."""


class _Declared:
    """Only the ranges that symbols were made with."""

    def interval(self, atom: Atom) -> Interval:
        """The interval of the atom, computed once."""
        if atom.interval is None:
            atom.interval = atom_interval(atom, self)
        return atom.interval


DECLARED: Known = _Declared()


def bounds(size: Size, known: Known = DECLARED) -> Interval:
    """A least and a largest value by interval arithmetic; None where there is no limit.

    >>> dy2st.dims.bounds(2 * dy2st.dims.symbol("n", 1, 8) + 1)
    (3, 17)
    """
    if not isinstance(size, Dim):
        return size, size
    low: int | None = size.constant
    high: int | None = size.constant
    for atoms, factor in size.terms:
        span: Interval = (factor, factor)
        for atom in atoms:
            span = _times(known.interval(atom), span)
        low = None if low is None or span[0] is None else low + span[0]
        high = None if high is None or span[1] is None else high + span[1]
    return low, high


def _times(left: Interval, right: Interval) -> Interval:
    """The product of two intervals; no limit where infinities leave it unknown."""
    if right[1] is not None and right[1] < 0:
        low, high = _times(left, (-right[1], None if right[0] is None else -right[0]))
        return None if high is None else -high, None if low is None else -low
    if right[0] is None or right[0] < 0:
        ends = [a * b for a in left if a is not None for b in right if b is not None]
        return (min(ends), max(ends)) if len(ends) == 4 else (None, None)
    # right >= 0: an end of left is reached with the far end of right if it points outwards
    low = _scaled(left[0], right[0] if left[0] is not None and left[0] >= 0 else right[1])
    high = _scaled(left[1], right[1] if left[1] is not None and left[1] >= 0 else right[0])
    return low, high


def _scaled(end: int | None, factor: int | None) -> int | None:
    return None if end is None or factor is None else end * factor


def atom_interval(atom: Atom, known: Known) -> Interval:
    """The least and the largest value of an atom, from those of its operands."""
    if atom.kind == "symbol":
        return atom.minimum, atom.maximum
    spans = [bounds(argument, known) for argument in atom.args]
    if atom.kind == "floordiv":
        # Dividing by 0 gives no value.
        above, (low, high) = spans
        if low is None or low < 0:
            return None, None
        nearest, farthest = max(low, 1), None if high is None else max(high, 1)
        least = most = None
        if above[0] is not None:
            least = _quotient_end(above[0], nearest if above[0] < 0 else farthest)
        if above[1] is not None:
            most = _quotient_end(above[1], nearest if above[1] >= 0 else farthest)
        return least, most
    lows, highs = [low for low, _ in spans], [high for _, high in spans]
    if atom.kind == "min":
        return _least(lows), min(_known(highs), default=None)
    if atom.kind == "max":
        return max(_known(lows), default=None), _most(highs)
    return _least(lows), _most(highs)  # broadcast gives one of its operands


def _known(ends: Sequence[int | None]) -> list[int]:
    return [end for end in ends if end is not None]


def _least(ends: Sequence[int | None]) -> int | None:
    return None if None in ends else min(_known(ends))


def _most(ends: Sequence[int | None]) -> int | None:
    return None if None in ends else max(_known(ends))


def _quotient_end(end: int, below: int | None) -> int:
    """end // below, for None what it tends to."""
    if below is None:
        return -1 if end < 0 else 0
    return end // below


_FAR, _MOST = 4, 32


class Inequalities:
    """What was said to be never negative, in the order in which it was said."""

    __slots__ = ("_near", "_places", "_said", "_sizes")

    def __init__(self, sizes: Iterable[Dim] = ()) -> None:
        """Take those that there are."""
        self._sizes: list[Dim] = []
        self._said: set[Dim] = set()
        self._places: dict[Atom, tuple[int, ...]] = {}
        self._near: dict[tuple[Atom, ...], dict[int, Dim]] = {}
        self.append(*sizes)

    def append(self, *sizes: Dim) -> None:
        """Take more."""
        for size in sizes:
            for symbol in deep_symbols(size):
                self._places[symbol] = (*self._places.get(symbol, ()), len(self._sizes))
            self._sizes.append(size)
            self._said.add(size)
        self._near = {}

    def copy(self) -> Inequalities:
        """The same, to which others are added."""
        made = Inequalities()
        made._sizes, made._places = self._sizes.copy(), self._places.copy()
        made._said = self._said.copy()
        made._near = self._near  # until one of both has more
        return made

    def __iter__(self) -> Iterator[Dim]:
        """All of them."""
        return iter(self._sizes)

    def __contains__(self, size: Dim) -> bool:
        """Whether it was said of this very size."""
        return size in self._said

    def of(self, size: Size) -> list[Dim]:
        """Those that share a symbol with a size."""
        symbols = deep_symbols(size)
        places = {place for symbol in symbols for place in self._places.get(symbol, ())}
        return [self._sizes[place] for place in sorted(places)]

    def say_nothing_of(self, size: Size) -> bool:
        """Whether none shares a symbol with a size."""
        return self._places.keys().isdisjoint(deep_symbols(size))

    def near(self, *sizes: Size) -> list[Dim]:
        """Those that say something of the symbols of a size, and of theirs in turn.

        At most some, the nearest: of a long chain the far end matters to nobody. Of several sizes
        there are as many for each.
        """
        found: dict[int, Dim] = {}
        for symbols in dict.fromkeys(map(deep_symbols, sizes)):
            near = self._near.get(symbols)
            if near is None:
                near = {place: self._sizes[place] for place in self._chain(symbols)}
                self._near[symbols] = near
            found.update(near)
        return list(found.values())

    def _chain(self, symbols: tuple[Atom, ...]) -> list[int]:
        known, new = set(symbols), symbols
        found: list[int] = []
        for _ in range(_FAR):
            hit = {place for symbol in new for place in self._places.get(symbol, ())}
            near = sorted(hit.difference(found))
            if not near or len(found) >= _MOST:
                break
            found += near
            inside = [symbol for place in near for symbol in deep_symbols(self._sizes[place])]
            new = tuple(dict.fromkeys([symbol for symbol in inside if symbol not in known]))
            known.update(new)
        return found[:_MOST]
