"""Requires conditions on sizes: proved, refused, or kept as constraints of each call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import gcd
from typing import Any, NamedTuple

from dy2st_runtime.dims.assumptions import solved_for_symbol
from dy2st_runtime.dims.conditions import Condition
from dy2st_runtime.dims.equations import exactness
from dy2st_runtime.dims.evaluation import symbols
from dy2st_runtime.dims.expression import OPERATIONS, Dim, Size, checked, of_atom, undecided
from dy2st_runtime.dims.facts import Contradiction, conflict, current, using
from dy2st_runtime.dims.intervals import bounds
from dy2st_runtime.dims.operations import broadcast_forms, broadcast_sizes, floordiv, modulo
from dy2st_runtime.dims.polynomial import add, common_factor, of_term, subtract
from dy2st_runtime.dims.queries import decided, decided_without_facts, equal
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.thread_state import ThreadState


class Constraint(NamedTuple):
    """A condition that must hold when the Program runs, and why.

    >>> n = dy2st.dims.symbol("n")
    >>> with dy2st.dims.collect() as gathered:
    ...     dy2st.dims.require(n > 3, "the window is 3 wide")
    >>> gathered[0].condition, gathered[0].reason
    (n >= 4, 'the window is 3 wide')
    """

    condition: Condition
    reason: str


Divert = Callable[[Condition, Exception], bool]


class _Collector(NamedTuple):
    found: list[Constraint]
    divert: Divert | None


class _Collectors(ThreadState):
    stack: tuple[_Collector, ...] = ()


_collectors = _Collectors()


@contextmanager
def collect(divert: Divert | None = None) -> Iterator[list[Constraint]]:
    """Gather the requirements made inside the `with` that are not decided; they hold in there.

    divert: is asked first, with what is raised where one does not hold; if it gives True, the
    code goes on only where the condition holds, and nothing need be gathered.

    >>> n = dy2st.dims.symbol("n")
    >>> with dy2st.dims.collect() as gathered:
    ...     dy2st.dims.require(n > 3, "the window is 3 wide")
    >>> len(gathered)
    1
    """
    found: list[Constraint] = []
    outer = _collectors.stack
    _collectors.stack = (*outer, _Collector(found, divert))
    try:
        with using(current().inside()):
            yield found
    finally:
        _collectors.stack = outer


def require(condition: bool | Condition, reason: str, kind: type[Exception] = ShapeError) -> None:
    """Go on if the condition holds; ShapeError if not; if it is not decided, collect it.

    What is collected holds from there on: the facts in force know it. `kind` is the class of what
    handlers see where sizes that are known would raise another one than ShapeError.

    >>> n = dy2st.dims.symbol("n", 1)
    >>> dy2st.dims.require(n > 0, "a batch is not empty")
    >>> try:
    ...     dy2st.dims.require(n < 0, "a size is below 0")
    ... except dy2st.errors.ShapeError as error:
    ...     print(error)
    a size is below 0
    """
    answer = decided(condition) if isinstance(condition, Condition) else condition
    if answer is True:
        return
    if answer is False:
        raise ShapeError(reason + _conflict(condition))
    assert isinstance(condition, Condition)
    condition = _plain(condition)
    for size in condition.sizes:
        checked(size)
    if not _collectors.stack:
        raise undecided(f"{reason}: whether {condition} holds is not known")
    found, divert = _collectors.stack[-1]
    if divert is not None and divert(condition, kind(reason)):
        return
    found.append(Constraint(condition, reason))
    facts = current()
    place = facts.place() if facts.place else ""
    try:
        facts.assume(condition, f"{place}: {reason}" if place else reason)
    except Contradiction:
        raise ShapeError(reason + _conflict(condition)) from None


def _plain(condition: Condition) -> Condition:
    """An inequality of one symbol solved for it: 2*((n + 1)//2) - 2 >= 0 as n >= 1."""
    relation, left, right = condition.relation, condition.left, condition.right
    if relation not in ("<", "<=", ">", ">="):
        return condition
    if relation in ("<", "<="):
        left, right = right, left
    rest = solved_for_symbol(subtract(subtract(left, right), int(relation in ("<", ">"))))
    if isinstance(rest, Dim) and len(rest.terms) == 1:
        (atom, *others), factor = rest.terms[0]
        if not others and atom.kind == "symbol":
            limit = -factor * rest.constant
            return Condition(">=" if factor > 0 else "<=", of_atom(atom), limit)
    return condition


def _conflict(condition: bool | Condition) -> str:
    """What a condition cannot hold beside, in words."""
    if not isinstance(condition, Condition) or decided_without_facts(condition) is False:
        return ""
    return f": {condition} cannot hold{conflict(current(), condition)}"


def require_equal(left: Size, right: Size, reason: str) -> None:
    """`require` that two sizes are equal.

    >>> n = dy2st.dims.symbol("n")
    >>> with dy2st.dims.collect() as gathered:
    ...     dy2st.dims.require_equal(n, 4, "matmul: the sizes differ")
    >>> [one.condition for one in gathered]
    [n == 4]
    """
    if left is right:
        return
    rest = subtract(left, right)
    exact = exactness(rest)
    if isinstance(rest, Dim) and exact is None:
        # 4*n == 4*m as n == m.
        number = gcd(rest.constant, common_factor(rest))
        if number != 1:
            sides: list[Size] = [0, 0]
            for atoms, factor in rest.terms:
                side = 0 if factor > 0 else 1
                sides[side] = add(sides[side], of_term(atoms, abs(factor) // number))
            constant = rest.constant // number
            left, right = add(sides[0], max(constant, 0)), add(sides[1], max(-constant, 0))
    if exact is not None:  # h % 2 == 0 says more to a reader than 2*(h//2) == h
        left, right = modulo(*exact), 0
    if isinstance(left, int):
        left, right = right, left
    require(Condition("==", left, right), reason)


def broadcast(left: Size, right: Size) -> Size:
    """What two sizes broadcast to by NumPy's rule; ShapeError if they cannot fit.

    A known size k above 1 against an unknown one gives k, and requires that the other is 1 or k.
    Of two unknown sizes one that is not 1 decides; else it stays open: broadcast(a, b).

    >>> n = dy2st.dims.symbol("n")
    >>> with dy2st.dims.collect() as gathered:
    ...     dy2st.dims.broadcast(n, 4), dy2st.dims.broadcast(n, 1)
    (4, n)
    >>> [one.condition for one in gathered]
    [n in (1, 4)]
    """
    if left is right:
        return left
    if isinstance(left, int) and isinstance(right, int):
        return broadcast_sizes(left, right)
    if isinstance(left, int) or (isinstance(right, Dim) and _is_not_one(right)):
        left, right = right, left
    if isinstance(right, int) and right == 1:
        return left
    same = equal(left, right)
    if same:
        return right
    if isinstance(right, int):
        return _stretched(right, left, same)
    if _is_not_one(left):
        return _stretched(left, right, same)
    if _collectors.stack:
        condition = Condition("broadcasts", left, right)
        reason = f"the sizes {left} and {right} must broadcast"
        if decided(condition) is not True and _makes_equal(condition):
            condition, left = Condition("==", left, right), right
        require(condition, reason)
    return broadcast_forms((left, right))


def _makes_equal(condition: Condition) -> bool:
    """Whether sizes that must broadcast are equal where they do: n and min(n, 64)."""
    if set(symbols(condition.left)).isdisjoint(symbols(condition.right)):
        return False
    facts = current().inside()
    try:
        facts.assume(condition)
    except Contradiction:
        return False
    with using(facts):
        return equal(condition.left, condition.right) is True


def _is_not_one(size: Size) -> bool:
    return equal(size, 1) is False


def _stretched(fixed: Size, other: Size, same: bool | None) -> Size:
    """The size that is not 1, which the other one must be or be stretched to."""
    condition: bool | Condition = Condition("in", other, (1, fixed))
    if _is_not_one(other):
        condition = Condition("==", other, fixed) if same is None else same
    if condition is False:
        raise ShapeError(f"the sizes {other} and {fixed} do not broadcast")
    must = f"{fixed}" if isinstance(condition, Condition) and condition.relation == "==" else None
    require(condition, f"the size {other} must be {must or f'1 or {fixed}'}")
    return fixed


# -- what the operators of a Dim do -----------------------------------------------------------


def _compare(relation: str) -> Any:
    """A bool where the comparison is decided, else a Condition."""

    def compare(left: Size, right: Any) -> bool | Condition:
        condition = Condition(relation, left, right if isinstance(right, Dim) else int(right))
        answer = decided(condition)
        return condition if answer is None else answer

    return compare


def _divisible_by(below: Size) -> None:
    """Require, while a Program is traced, that a divisor is not 0."""
    if isinstance(below, Dim) and _collectors.stack and (bounds(below)[0] or 0) < 1:
        require(below != 0, f"a size is divided by {below}, which must not be 0")


def _checked_floordiv(left: Size, right: Size) -> Size:
    _divisible_by(right)
    return checked(floordiv(left, right))


def _checked_modulo(left: Size, right: Size) -> Size:
    _divisible_by(right)
    return checked(modulo(left, right))


OPERATIONS.update(floordiv=_checked_floordiv, modulo=_checked_modulo)
OPERATIONS.update({relation: _compare(relation) for relation in ("==", "!=", "<", "<=", ">", ">=")})
