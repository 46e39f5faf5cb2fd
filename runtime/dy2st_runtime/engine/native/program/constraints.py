"""Sizes that only the data decides, and what a Program requires of sizes, where it runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from dy2st_runtime.dims import Condition, Constraint, Dim, is_symbol, symbols
from dy2st_runtime.engine.native.machine.kernels import dividing, misfitting, outgrown, refusing
from dy2st_runtime.engine.native.program.calls import Calls
from dy2st_runtime.engine.native.program.lifetimes import Kind
from dy2st_runtime.engine.native.program.places import Places
from dy2st_runtime.engine.native.text.function import Function
from dy2st_runtime.engine.native.text.magnitudes import magnitude_tests
from dy2st_runtime.engine.native.text.sizes import Sizes
from dy2st_runtime.ir.program import LocatedConstraint, Operator, Program, Variable
from dy2st_runtime.ir.sizes import formulas
from dy2st_runtime.ir.types import TensorType


class Constraints:
    """Writes what takes sizes from real arrays, and checks what is said about them."""

    def __init__(
        self, program: Program, function: Function, sizes: Sizes, places: Places, calls: Calls
    ) -> None:
        """Those on sizes of inputs are checked before the first step."""
        self._program, self._function = program, function
        self._sizes, self._places, self._calls = sizes, places, calls
        conditions = [(c, symbols(c.constraint.condition)) for c in program.constraints]
        self._waiting = [c for c, own in conditions if not all(s in sizes.known for s in own)]

    @contextmanager
    def inside(self) -> Iterator[None]:
        """What is bound in a Block is known in it alone."""
        # A branch may not run: what it binds says nothing behind it.
        slots, waiting = dict(self._sizes.slots), list(self._waiting)
        yield
        self._sizes.slots, self._waiting = slots, waiting

    def bind_all(self, variables: Iterable[Variable]) -> None:
        """Bind the parameters of a loop, at each iteration."""
        for variable in variables:
            self.bind(variable, again=True)

    def bind(self, variable: Variable, again: bool = False) -> None:
        """Take the symbols of a value's type from its real sizes, and check what is about them."""
        if not isinstance(variable.type, TensorType):
            return
        new: dict[Dim, int] = {}
        for axis, size in enumerate(variable.type.shape):
            if not is_symbol(size) or size in self._sizes.known:
                continue
            assert isinstance(size, Dim)
            # The first value that has the size binds it.
            if size in self._sizes.slots and not again:
                continue
            slot = self._sizes.slots.setdefault(size, self._function.alloca("i64"))
            # The size of an axis: an object has it, of all others it is known.
            place = self._places.of(variable)
            if place.kind is Kind.OBJECT:
                object = self._function.let(f"load ptr, ptr {place.name}")
                real_size = self._places.size(object, axis)
            else:
                # The root is the result of the loop, whose value this is.
                root = self._places.found.root(variable)
                real_size = self._sizes.value(root.tensor_type.shape[axis])
            self._function.line(f"store i64 {real_size}, ptr {slot}")
            new[size] = axis
        if new:
            # What is bound is in the range of its symbol, and what is made of it as it should be.
            for symbol in new:
                for condition in _range(symbol):
                    self._calls.unless(self._sizes.condition(condition), misfitting(variable), ())
            # Before anything is computed of them: 64 bits would wrap silently.
            # What is made of these symbols is not too large for code.
            waiting = {
                key: limit
                for key, limit in self._sizes.waiting.items()
                if not new.keys().isdisjoint(symbols(key)) and self._sizes.are_bound(key)
            }
            for test in magnitude_tests(self._function, waiting, self._sizes.value):
                self._calls.unless(test, outgrown(variable), ())
            # Arrays from Python may have any shape; what code has made has the right one.
            place = self._places.of(variable)
            if place.kind is Kind.OBJECT:
                axes = [
                    axis
                    for axis, size in enumerate(variable.tensor_type.shape)
                    if axis not in new.values() and not new.keys().isdisjoint(symbols(size))
                ]
                object = self._function.let(f"load ptr, ptr {place.name}")
                self._calls.check_sizes(object, variable, axes)
            for entry in list(self._waiting):
                found = symbols(entry.constraint.condition)
                if all(s in self._sizes.known or s in self._sizes.slots for s in found):
                    self._waiting.remove(entry)
                    self._check(entry)

    def require(self, constraint: Constraint, operator: Operator) -> None:
        """Raise unless a condition holds that an operator has."""
        self._check(LocatedConstraint(constraint, operator.location))

    def give(self, symbol: Dim, value: str) -> None:
        """Bind a symbol that a step reads, until the Block is left."""
        slot = self._sizes.slots[symbol] = self._function.alloca("i64")
        self._function.line(f"store i64 {value}, ptr {slot}")

    def leave_unless(self, conditions: Iterable[Condition], label: str) -> None:
        """Go elsewhere unless all conditions hold, each of which may rely on those before."""
        for condition in conditions:
            # One after the other: a divisor in one may be 0 unless those before hold.
            holds, right = self._sizes.condition(condition), self._function.label("right")
            self._function.branch(holds, right, label)
            self._function.begin(right)

    def is_early(self, operator: Operator) -> bool:
        """Whether no size of it may fail to be computed after the first step."""
        return all(
            self._is_computed(f) or (isinstance(f, Condition) and not self._sizes.divisors(f))
            for f in _formulas(operator)
        )

    def check_divisors(self, operator: Operator) -> None:
        """Raise if a size cannot be computed that was not looked at where the function begins."""
        for value in _formulas(operator):
            if not self._is_computed(value):
                for divisor in self._sizes.divisors(value):
                    is_right = self._sizes.condition(Condition("!=", divisor, 0))
                    self._calls.unless(is_right, dividing(operator), ())

    def _check(self, entry: LocatedConstraint) -> None:
        condition = entry.constraint.condition
        shown = symbols(condition)
        refuse = refusing(self._program, entry, shown)
        self._calls.unless(self._sizes.condition(condition), refuse, shown)

    def _is_computed(self, value: Dim | Condition) -> bool:
        return isinstance(value, Dim) and self._sizes.is_early(value)


def _range(symbol: Dim) -> Iterator[Condition]:
    if symbol.minimum > 0:
        yield Condition(">=", symbol, symbol.minimum)
    if symbol.maximum is not None:
        yield Condition("<=", symbol, symbol.maximum)


def _formulas(operator: Operator) -> Iterator[Dim | Condition]:
    """The sizes that only the run knows in the attributes of an operator, or its results have."""
    shapes = tuple(v.type.shape for v in operator.results if isinstance(v.type, TensorType))
    return formulas((*shapes, *operator.attributes.values()))


__all__ = ["Constraints"]
