"""Computes sizes in machine code: formulas of Dims as i64, conditions on them as i1.

What follows from the sizes of the inputs is computed once, where the function is entered. All else
is computed where it is asked for, since its symbols may change from iteration to iteration.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

from dy2st_runtime.dims import Condition, Dim, Size, is_symbol, is_total, symbols
from dy2st_runtime.dims.expression import Atom, of_atom
from dy2st_runtime.engine.native.text.function import Function
from dy2st_runtime.engine.native.text.magnitudes import Bounded

_RELATIONS = {"==": "eq", "!=": "ne", "<": "slt", "<=": "sle", ">": "sgt", ">=": "sge"}
_CHOICES = {"min": "smin", "max": "smax"}


class Sizes:
    """The names of sizes while a function is written.

    known   the symbols that are bound where the function is entered, with their names.
    slots   the places of those that are bound later.
    waiting what must not become too large when these are bound.
    """

    def __init__(self, function: Function, known: dict[Dim, str]) -> None:
        """Formulas of `known` symbols alone are written where the function stands now."""
        self.known, self.slots = known, dict[Dim, str]()
        self.waiting: Bounded = {}
        self.start = function.section()
        self._function = function
        self._early: dict[Dim, str] = {}

    def is_early(self, size: Size) -> bool:
        """Whether a size is known when the function is entered, and cannot fail."""
        if not isinstance(size, Dim):
            return True
        return all(symbol in self.known for symbol in symbols(size)) and is_total(size)

    def are_bound(self, size: Size | tuple[Size, ...]) -> bool:
        """Whether sizes can be computed where the function stands."""
        return all(symbol in self.known or symbol in self.slots for symbol in symbols(size))

    def value(self, size: Size) -> str:
        """The name, or literal, of a size."""
        if not isinstance(size, Dim):
            return str(size)
        if not self.is_early(size):
            return self._formula(size)
        if size not in self._early:
            with self._function.writing(self.start):
                self._early[size] = self._formula(size)
        return self._early[size]

    def product(self, sizes: Sequence[Size]) -> str:
        """The product of sizes, 1 of none."""
        size: Size = reduce(lambda left, right: left * right, sizes, 1)
        return self.value(size)

    def condition(self, condition: Condition) -> str:
        """The name of an i1."""
        left, relation, right = condition.left, condition.relation, condition.right
        if isinstance(right, tuple):
            found = [self._compare("eq", left, entry) for entry in right]
            either = reduce(lambda a, b: self._let(f"or i1 {a}, {b}"), found, "false")
            return either if relation == "in" else self._let(f"xor i1 {either}, true")
        if relation.endswith("broadcasts"):
            tests = [("eq", left, right), ("eq", left, 1), ("eq", right, 1)]
            found = [self._compare(*test) for test in tests]
            fits = reduce(lambda a, b: self._let(f"or i1 {a}, {b}"), found)
            return fits if relation == "broadcasts" else self._let(f"xor i1 {fits}, true")
        return self._compare(_RELATIONS[relation], left, right)

    def divisors(self, value: Dim | Condition) -> list[Size]:
        """What a formula divides by, where that may be 0."""
        divisors = [atom.args[1] for atom in _atoms(value) if atom.kind == "floordiv"]
        return [size for size in divisors if isinstance(size, Dim)]

    def broadcasts(self, value: Dim | Condition) -> list[Atom]:
        """The operations in a formula that broadcast."""
        return [atom for atom in _atoms(value) if atom.kind == "broadcast"]

    # -- formulas ------------------------------------------------------------------------------

    def _compare(self, relation: str, left: Size, right: Size) -> str:
        return self._let(f"icmp {relation} i64 {self.value(left)}, {self.value(right)}")

    def _formula(self, size: Dim) -> str:
        if is_symbol(size):
            if size in self.known:
                return self.known[size]
            return self._let(f"load i64, ptr {self.slots[size]}")
        total = str(size.constant) if size.constant else ""
        for atoms, factor in size.terms:
            parts = [self._atom(atom) for atom in atoms]
            if factor != 1:
                parts.append(str(factor))
            term = reduce(lambda a, b: self._let(f"mul i64 {a}, {b}"), parts)
            total = self._let(f"add i64 {total}, {term}") if total else term
        return total

    def _atom(self, atom: Atom) -> str:
        if atom.kind == "symbol":
            return self.value(of_atom(atom))
        values = [self.value(argument) for argument in atom.args]
        if atom.kind == "floordiv":
            # Python's floor division. By 0 it gives anything: who may meet that asks before.
            left, right = values
            if not right.lstrip("-").isdigit():
                is_zero = self._let(f"icmp eq i64 {right}, 0")
                right = self._let(f"select i1 {is_zero}, i64 1, i64 {right}")
            quotient = self._let(f"sdiv i64 {left}, {right}")
            rest = self._let(f"srem i64 {left}, {right}")
            signs = self._let(f"xor i64 {rest}, {right}")
            differ = self._let(f"icmp slt i64 {signs}, 0")
            is_inexact = self._let(f"icmp ne i64 {rest}, 0")
            down = self._let(f"and i1 {differ}, {is_inexact}")
            return self._let(f"sub i64 {quotient}, {self._let(f'zext i1 {down} to i64')}")

        def combine(a: str, b: str) -> str:
            if atom.kind != "broadcast":
                return self._let(f"call i64 @llvm.{_CHOICES[atom.kind]}.i64(i64 {a}, i64 {b})")
            is_one = self._let(f"icmp eq i64 {a}, 1")
            return self._let(f"select i1 {is_one}, i64 {b}, i64 {a}")

        return reduce(combine, values)

    def _let(self, instruction: str) -> str:
        return self._function.let(instruction, "s")


def _atoms(value: Size | Condition) -> Iterator[Atom]:
    """All operations in a formula, inner ones first: what they divide by is asked in this order."""
    if isinstance(value, Condition):
        right = value.right if isinstance(value.right, tuple) else (value.right,)
        for part in (value.left, *right):
            yield from _atoms(part)
    elif isinstance(value, Dim):
        for atoms, _ in value.terms:
            for atom in atoms:
                for argument in atom.args:
                    yield from _atoms(argument)
                yield atom


__all__ = ["Sizes"]
