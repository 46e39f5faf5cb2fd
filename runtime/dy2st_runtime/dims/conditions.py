"""Comparisons that are not decided, requirements made of them, and values put in for symbols."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dy2st_runtime.dims.arithmetic import (
    add,
    broadcast_sizes,
    equal,
    floordiv,
    is_size,
    less,
    less_equal,
    maximum,
    minimum,
    multiply,
)
from dy2st_runtime.dims.expression import (
    Atom,
    Dim,
    Size,
    _operations,
    is_symbol,
    make_atom,
    of_atom,
)
from dy2st_runtime.errors import ShapeError, UndecidedDim

_NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_MEANING: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison of sizes that is true for some values of the symbols and false for others.

    The relation "in" has a tuple of sizes on its right.
    """

    relation: str
    left: Size
    right: Any

    def __bool__(self) -> bool:
        """Refused: a Program must hold for both answers."""
        raise UndecidedDim(
            f"whether {self} holds is not known while the function is traced; write the `if` in a "
            "function that dy2st converts, or give the size a number or limits in the InputSpec"
        )

    def negate(self) -> Condition:
        """The opposite comparison."""
        return Condition(_NEGATED[self.relation], self.left, self.right)

    def evaluate(self, values: Mapping[Dim, int]) -> bool:
        """The answer for known values of the symbols."""
        left = evaluate(self.left, values)
        if self.relation == "in":
            return any(left == evaluate(entry, values) for entry in self.right)
        return _MEANING[self.relation](left, evaluate(self.right, values))

    def __str__(self) -> str:
        """`batch > 3`, `n in (1, 8)`."""
        right = self.right
        if isinstance(right, tuple):
            right = f"({', '.join(map(str, right))})"
        return f"{self.left} {self.relation} {right}"


def _compare(relation: str, left: Dim, right: Any) -> Any:
    """A bool where the comparison is decided, else a Condition."""
    if not is_size(right):
        return NotImplemented
    right = right if isinstance(right, Dim) else int(right)
    answer = _decided(relation, left, right)
    return Condition(relation, left, right) if answer is None else answer


def _decided(relation: str, left: Size, right: Size) -> bool | None:
    if relation in ("==", "!="):
        answer = equal(left, right)
        return answer if relation == "==" or answer is None else not answer
    if relation in (">", ">="):
        left, right = right, left
    return less(left, right) if relation in ("<", ">") else less_equal(left, right)


_operations["compare"] = _compare


def broadcast(left: Size, right: Size) -> Size:
    """What two sizes broadcast to by NumPy's rule; ShapeError if they cannot fit.

    A known size k above 1 against an unknown one gives k, and requires that the other is 1 or k.
    """
    same = equal(left, right)
    if same:
        return left
    for one, other in ((left, right), (right, left)):
        if isinstance(one, int) and one == 1:
            return other
    if isinstance(left, int) and isinstance(right, int):
        return broadcast_sizes(left, right)
    for one, other in ((left, right), (right, left)):
        if isinstance(one, int):
            if equal(other, 1) is False and same is False:
                raise ShapeError(f"the sizes {left} and {right} do not broadcast")
            require(Condition("in", other, (1, one)), f"the size {other} must be 1 or {one}")
            return one
    return of_atom(make_atom("broadcast", tuple(sorted((left, right), key=str))))


# -- requirements -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Constraint:
    """A condition that must hold when the Program runs, and why."""

    condition: Condition
    reason: str


class _Collectors(threading.local):
    def __init__(self) -> None:
        self.stack: list[list[Constraint]] = []


_collectors = _Collectors()


@contextmanager
def collect() -> Iterator[list[Constraint]]:
    """Gather the requirements made inside the `with` that are not decided."""
    found: list[Constraint] = []
    _collectors.stack.append(found)
    try:
        yield found
    finally:
        _collectors.stack.pop()


def require(condition: bool | Condition, reason: str) -> None:
    """Go on if the condition holds; ShapeError if not; if it is not decided, collect it."""
    if condition is True:
        return
    if condition is False:
        raise ShapeError(reason)
    assert isinstance(condition, Condition)
    if not _collectors.stack:
        raise UndecidedDim(f"{reason}: whether {condition} holds is not known")
    _collectors.stack[-1].append(Constraint(condition, reason))


def require_equal(left: Size, right: Size, reason: str) -> None:
    """`require` that two sizes are equal."""
    answer = equal(left, right)
    require(Condition("==", left, right) if answer is None else answer, reason)


# -- looking inside ---------------------------------------------------------------------------


def symbols(value: Any) -> tuple[Dim, ...]:
    """The symbols in a size, a condition, or nested tuples of them, ordered by name."""
    found: dict[Atom, None] = {}
    _gather(value, found)
    return tuple(of_atom(atom) for atom in sorted(found, key=lambda atom: atom.text))


def _gather(value: Any, found: dict[Atom, None]) -> None:
    if isinstance(value, Condition):
        _gather((value.left, value.right), found)
    elif isinstance(value, tuple):
        for entry in value:
            _gather(entry, found)
    elif isinstance(value, Dim):
        for atoms, _ in value.terms:
            for atom in atoms:
                if atom.kind == "symbol":
                    found[atom] = None
                else:
                    _gather(atom.args, found)


def substitute(size: Size, values: Mapping[Dim, Size]) -> Size:
    """The size with other sizes in place of symbols."""
    if not isinstance(size, Dim):
        return size
    result: Size = size.constant
    for atoms, factor in size.terms:
        term: Size = factor
        for atom in atoms:
            term = multiply(term, _substitute_atom(atom, values))
        result = add(result, term)
    return result


def _substitute_atom(atom: Atom, values: Mapping[Dim, Size]) -> Size:
    if atom.kind == "symbol":
        own = of_atom(atom)
        return values.get(own, own)
    args = [substitute(argument, values) for argument in atom.args]
    if atom.kind == "floordiv":
        return floordiv(*args)
    table: dict[str, Callable[[Size, Size], Size]]
    table = {"min": minimum, "max": maximum, "broadcast": broadcast}
    combine = table[atom.kind]
    result = args[0]
    for argument in args[1:]:
        result = combine(result, argument)
    return result


def evaluate(value: Any, values: Mapping[Dim, int]) -> Any:
    """The number of a size, or the truth of a condition, for known values of the symbols."""
    if isinstance(value, Condition):
        return value.evaluate(values)
    result = substitute(value, values)
    if isinstance(result, Dim):
        missing = ", ".join(map(str, symbols(result)))
        raise UndecidedDim(f"the size {value} needs a value for {missing}")
    return result


def to_python(value: Size | Condition, name: Callable[[Dim], str]) -> str:
    """A Python expression, with `name(symbol)` for symbols; it may call min, max, broadcast."""
    if isinstance(value, Condition):
        left = to_python(value.left, name)
        if value.relation == "in":
            entries = ", ".join(to_python(entry, name) for entry in value.right)
            return f"({left} in ({entries},))"
        return f"({left} {value.relation} {to_python(value.right, name)})"
    if not isinstance(value, Dim):
        return f"({value})" if value < 0 else str(value)
    if is_symbol(value):
        return name(value)
    parts = [str(value.constant)] if value.constant else []
    for atoms, factor in value.terms:
        factors = [_atom_to_python(atom, name) for atom in atoms]
        parts.append("*".join(factors if factor == 1 else [str(factor), *factors]))
    return f"({' + '.join(parts)})"


def _atom_to_python(atom: Atom, name: Callable[[Dim], str]) -> str:
    if atom.kind == "symbol":
        return name(of_atom(atom))
    args = [to_python(argument, name) for argument in atom.args]
    if atom.kind == "floordiv":
        return f"({args[0]} // {args[1]})"
    return f"{atom.kind}({', '.join(args)})"
