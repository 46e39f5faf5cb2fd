"""Sizes of torch, which are formulas of sympy, as ours; and the conditions that torch has found."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

from dy2st_runtime.dims import Condition, Dim, Size, ceil_divide, maximum, minimum, symbol
from dy2st_runtime.errors import ArgumentError

_FORMULAS: dict[str, Callable[..., Any]] = {
    "Add": lambda *terms: reduce(operator.add, terms),
    "Mul": lambda *factors: reduce(operator.mul, factors),
    "FloorDiv": operator.floordiv,
    "CleanDiv": operator.floordiv,
    "CeilDiv": ceil_divide,
    "Mod": operator.mod,
    "PythonMod": operator.mod,
    "Max": lambda *sizes: reduce(maximum, sizes),
    "Min": lambda *sizes: reduce(minimum, sizes),
    "Pow": lambda base, exponent: reduce(operator.mul, [base] * exponent, 1),
    "PowByNatural": lambda base, exponent: reduce(operator.mul, [base] * exponent, 1),
    "Identity": lambda size: size,
}
_RELATIONS: dict[str, Callable[[Any, Any], Condition | bool]] = {
    "Equality": operator.eq,
    "Unequality": operator.ne,
    "LessThan": operator.le,
    "StrictLessThan": operator.lt,
    "GreaterThan": operator.ge,
    "StrictGreaterThan": operator.gt,
}
_FAR = 2**62


class Sizes:
    """The symbols of one exported program."""

    def __init__(self, names: Mapping[str, str], ranges: Mapping[Any, Any]):
        """`names` are the user's for symbols; `ranges` are torch's.

        A lower bound of 2 stands for "torch has not looked": without a guard it means 0.
        """
        self._symbols: dict[str, Size] = {}
        self._names = names
        self._ranges = {str(key): value for key, value in ranges.items()}

    def size(self, value: Any) -> Size:
        """An int, a SymInt or a formula of sympy as a size."""
        if isinstance(value, (int, Dim)):
            return value
        node = getattr(value, "node", None)
        found: Size = self._formula(value if node is None else node.expr)
        return found

    def knows(self, formula: Any) -> bool:
        """Whether all symbols of a formula are those of inputs."""
        return all(str(one) in self._symbols for one in formula.free_symbols)

    def _formula(self, formula: Any) -> Any:
        kind = type(formula).__name__
        if getattr(formula, "is_Integer", False):
            return int(formula)
        if getattr(formula, "is_Symbol", False):
            return self._symbol(str(formula))
        if kind not in _FORMULAS:
            raise ArgumentError(f"the size {formula} of torch has no form here")
        return _FORMULAS[kind](*map(self._formula, formula.args))

    def _symbol(self, name: str) -> Size:
        if name not in self._symbols:
            limits = self._ranges.get(name)
            low, high = (0, None) if limits is None else (int(limits.lower), _end(limits.upper))
            label = self._names.get(name, name)
            self._symbols[name] = symbol(label, 0 if low <= 2 else low, high)
        return self._symbols[name]

    def condition(self, guard: Any) -> Condition | bool | None:
        """A relation of sympy as a Condition, None if it has no form here."""
        kind = type(guard).__name__
        if kind in ("BooleanTrue", "BooleanFalse"):
            return bool(guard)
        if kind not in _RELATIONS:
            return None
        left, right = map(self._formula, guard.args)
        return _RELATIONS[kind](left, right)


def _end(bound: Any) -> int | None:
    try:
        end = int(bound)
    except (OverflowError, TypeError, ValueError, AttributeError):  # infinite
        return None
    return end if end < _FAR else None
