"""Indexes sizes that are never negative by the symbols in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dy2st_runtime.dims.expression import Atom, Dim, Size
from dy2st_runtime.dims.samples import deep_symbols

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
