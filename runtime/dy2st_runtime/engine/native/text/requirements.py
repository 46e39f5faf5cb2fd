"""Tests where a function is entered what is required of sizes."""

from __future__ import annotations

from dy2st_runtime.dims import Condition, Dim, symbols
from dy2st_runtime.engine.native.text.function import Function
from dy2st_runtime.engine.native.text.magnitudes import Bounded, largest_symbol, magnitude_tests
from dy2st_runtime.engine.native.text.sizes import Sizes
from dy2st_runtime.ir.program import Program
from dy2st_runtime.ir.sizes import computed_sizes


class Requirements:
    """Tests that are collected, and then asked all at once."""

    def __init__(self, function: Function) -> None:
        """Nothing is required yet."""
        self._function = function
        self._tests: list[str] = []

    def add(self, test: str) -> None:
        """Require the name, or literal, of an i1."""
        self._tests.append(test)

    def compare(self, left: str, type: str, right: str, relation: str = "eq") -> None:
        """Require what a comparison gives."""
        self.add(self._function.let(f"icmp {relation} {type} {left}, {right}"))

    def of_program(self, program: Program, sizes: Sizes) -> None:
        """All that a Program requires of the sizes that are known."""
        for symbol, name in sizes.known.items():
            self.compare(name, "i64", str(symbol.minimum), "sge")
            if symbol.maximum is not None:
                self.compare(name, "i64", str(symbol.maximum), "sle")
        for entry in program.constraints:
            if all(symbol in sizes.known for symbol in symbols(entry.constraint.condition)):
                self.can_compute(entry.constraint.condition, sizes)
                self.add(sizes.condition(entry.constraint.condition))
        for value, _ in computed_sizes(program):
            if all(symbol in sizes.known for symbol in symbols(value)):
                self.can_compute(value, sizes)

    def of_magnitudes(self, found: Bounded, sizes: Sizes, label: str) -> None:
        """Go to a label where sizes are too large for 64 bits; those known later wait."""
        early = {
            key: limit for key, limit in found.items() if sizes.known.keys() >= {*symbols(key)}
        }
        sizes.waiting = {key: limit for key, limit in found.items() if key not in early}
        largest = largest_symbol(early)
        small, used = (
            str(bool(largest)).lower(),
            dict.fromkeys(s for key in early for s in symbols(key)),
        )
        for symbol in used:
            is_small = self._function.let(f"icmp ule i64 {sizes.value(symbol)}, {largest}")
            small = self._function.let(f"and i1 {small}, {is_small}")
        if not early:
            return
        fits, large = self._function.label("small"), self._function.label("large")
        self._function.branch(small, fits, large)
        self._function.begin(large)
        self._tests += magnitude_tests(self._function, early, sizes.value)
        self.leave_unless_all(label)
        self._function.jump(fits)
        self._function.begin(fits)

    def can_compute(self, value: Dim | Condition, sizes: Sizes) -> None:
        """Nothing in it is divided by 0, and what is broadcast fits."""
        for divisor in sizes.divisors(value):
            self.add(sizes.condition(Condition("!=", divisor, 0)))
        for atom in sizes.broadcasts(value):
            args = atom.args
            for fits in [
                Condition("broadcasts", left, right)
                for index, left in enumerate(args)
                for right in args[index + 1 :]
            ]:
                self.add(sizes.condition(fits))

    def leave_unless_all(self, label: str) -> None:
        """Go to a label unless all tests so far hold."""
        holds = "true"
        for test in self._tests:
            holds = self._function.let(f"and i1 {holds}, {test}")
        self._tests = []
        fits = self._function.label("fits")
        self._function.branch(holds, fits, label)
        self._function.begin(fits)


__all__ = ["Requirements"]
