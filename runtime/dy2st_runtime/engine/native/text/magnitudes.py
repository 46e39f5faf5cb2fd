"""Bounds the sizes of a call: code computes with 64 bits, and does not see overflows.

A formula is bounded by floats, which do not wrap: by the sum of what its terms are without their
signs. Where a bound exceeds a limit, the code does not take the call, and NumPy's engine computes
with integers of any length, and says what is too large.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from typing import Generic, TypeVar

from dy2st_runtime.dims import Condition, Dim, Size, is_symbol
from dy2st_runtime.dims.expression import Atom, of_atom
from dy2st_runtime.engine.native.text.function import Function
from dy2st_runtime.ir.program import Block, Program
from dy2st_runtime.ir.sizes import formulas
from dy2st_runtime.ir.types import TensorType

Sizes = tuple[Size, ...]
Bounded = Mapping[Sizes, float]
"""Sizes whose product is to be below a limit."""

T = TypeVar("T")

_NUMBERS, _BYTES = 2.0**62, 2.0**47
"""Of a formula, and of the bytes of a tensor: no processor has addresses for more."""

_ALL = 46
"""Symbols below two to this power are as good as any: no tensor has so many elements."""


def bounded(program: Program, blocks: Iterable[Block]) -> Bounded:
    """What must not become too large: tensors, formulas in attributes, and what is required."""
    found: dict[Sizes, float] = {}
    places: dict[Dim, int] = {}

    def met(size: Dim) -> int:
        """The place among all sizes in the order in which they are met, in every process."""
        return places.setdefault(size, len(places))

    def add(key: Sizes, limit: float) -> None:
        found[key] = min(limit, found.get(key, limit))

    for entry in program.constraints:
        for size in _dims(entry.constraint.condition):
            add((size,), _NUMBERS)
    for block in blocks:
        for type, attributes in _parts(block):
            for size in _dims(attributes):
                add((size,), _NUMBERS)
            if isinstance(type, TensorType):
                # The sizes without 1, in an order that is the same for a transposition.
                number = math.prod(size for size in type.shape if isinstance(size, int))
                dims = sorted([size for size in type.shape if isinstance(size, Dim)], key=met)
                add(
                    (*dims, number) if number != 1 or not dims else tuple(dims),
                    _BYTES / type.dtype.itemsize,
                )
                for size in _dims(type.shape):
                    add((size,), _NUMBERS)
    return {key: limit for key, limit in found.items() if not _is_small(key, limit)}


def _parts(block: Block) -> Iterator[tuple[object, tuple[object, ...]]]:
    for parameter in block.parameters:
        yield parameter.type, ()
    for operator in block.operators:
        for result in operator.results:
            yield result.type, ()
        yield None, tuple(operator.attributes.values())


def _dims(value: object) -> Iterator[Size]:
    """Formulas, and numbers of conditions that 64 bits do not hold."""
    for formula in formulas(value):
        sizes = formula.sizes if isinstance(formula, Condition) else (formula,)
        yield from (s for s in sizes if isinstance(s, Dim) or not -(2**63) <= s < 2**63)


def _is_small(key: Sizes, limit: float) -> bool:
    """Whether it is so whatever the call: a number, or a symbol, which is the size of an array."""
    if all(isinstance(size, int) for size in key):
        return math.prod(key) < limit
    return len(key) == 1 and is_symbol(key[0])


# -- bounds, of a whole class of calls or of one ---------------------------------------------------


class _Bounds(ABC, Generic[T]):
    """Computes bounds of formulas as values of a kind."""

    def product(self, key: Sizes) -> T:
        """Of a product."""
        return reduce(self.times, map(self.size, key))

    def size(self, size: Size) -> T:
        """Of a formula."""
        if not isinstance(size, Dim):
            return self.number(size)
        total = self.number(size.constant)
        for atoms, factor in size.terms:
            term = reduce(self.times, map(self._atom, atoms), self.number(factor))
            total = self.plus(total, term)
        return total

    def _atom(self, atom: Atom) -> T:
        if atom.kind == "symbol":
            return self.symbol(of_atom(atom))
        if atom.kind == "floordiv":
            return self.plus(self.size(atom.args[0]), self.number(1))
        return reduce(self.largest, map(self.size, atom.args))

    @abstractmethod
    def number(self, value: int) -> T:
        """A number without its sign."""

    @abstractmethod
    def symbol(self, symbol: Dim) -> T:
        """What a symbol is at most."""

    @abstractmethod
    def times(self, left: T, right: T) -> T:
        """A product."""

    @abstractmethod
    def plus(self, left: T, right: T) -> T:
        """A sum."""

    @abstractmethod
    def largest(self, left: T, right: T) -> T:
        """The larger one."""


class _Floats(_Bounds[float]):
    """Where every symbol is at most some number."""

    def __init__(self, top: float) -> None:
        self._top = top

    def number(self, value: int) -> float:
        return float(abs(value))

    def symbol(self, symbol: Dim) -> float:
        return self._top

    def times(self, left: float, right: float) -> float:
        return left * right

    def plus(self, left: float, right: float) -> float:
        return left + right

    def largest(self, left: float, right: float) -> float:
        return max(left, right)


class _Code(_Bounds[str]):
    """As doubles of a function, for the sizes of a call."""

    def __init__(self, function: Function, value: Callable[[Dim], str]) -> None:
        self._function, self._value = function, value
        self._known: dict[Dim, str] = {}

    def number(self, value: int) -> str:
        return f"{float(abs(value)):.17e}"

    def symbol(self, symbol: Dim) -> str:
        if symbol not in self._known:
            value = self._value(symbol)
            self._known[symbol] = self._function.let(f"sitofp i64 {value} to double")
        return self._known[symbol]

    def times(self, left: str, right: str) -> str:
        return self._function.let(f"fmul double {left}, {right}")

    def plus(self, left: str, right: str) -> str:
        return self._function.let(f"fadd double {left}, {right}")

    def largest(self, left: str, right: str) -> str:
        is_more = self._function.let(f"fcmp ogt double {left}, {right}")
        return self._function.let(f"select i1 {is_more}, double {left}, double {right}")


def largest_symbol(found: Bounded) -> int:
    """The largest power of 2 that all symbols may be; 0 if numbers alone are too large."""

    def fits(power: int) -> bool:
        bounds = _Floats(2.0**power)
        return all(bounds.product(key) < limit for key, limit in found.items())

    if not fits(0):
        return 0
    low, high = 0, _ALL
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return 1 << low


def magnitude_tests(
    function: Function, found: Bounded, value: Callable[[Dim], str]
) -> Iterator[str]:
    """The names of i1: whether each product is below its limit."""
    code = _Code(function, value)
    for key, limit in found.items():
        yield function.let(f"fcmp olt double {code.product(key)}, {limit:.17e}")


__all__ = ["Bounded", "bounded", "largest_symbol", "magnitude_tests"]
