"""Answers questions about sizes, by True, False, or None for unknown, with the facts in force.

Conditions that must hold are proved, refused, or kept as constraints of each call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import combinations as pairs
from itertools import product as combinations
from math import gcd, lcm, prod
from typing import Any, NamedTuple

from dy2st_runtime.dims.assumptions import Question, order, question, solved_for_symbol, zero
from dy2st_runtime.dims.conditions import Condition
from dy2st_runtime.dims.equations import exactness, substitute_atom
from dy2st_runtime.dims.evaluation import substitute, symbols
from dy2st_runtime.dims.expression import (
    OPERATIONS,
    Atom,
    Dim,
    Size,
    checked,
    factors_of,
    make_atom,
    of_atom,
    undecided,
)
from dy2st_runtime.dims.facts import Contradiction, Facts, conflict, current, readable, using
from dy2st_runtime.dims.intervals import bounds
from dy2st_runtime.dims.operations import broadcast_forms, broadcast_sizes, floordiv, modulo
from dy2st_runtime.dims.order import is_plain, is_spent, positive_when_shifted, proved
from dy2st_runtime.dims.polynomial import add, common_factor, multiply, of_term, subtract
from dy2st_runtime.dims.samples import deep_atoms, sampled
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.limits import look
from dy2st_runtime.thread_state import ThreadState

_MOST_CASES = 64
_CASE = 200  # steps that a case counts for: facts are said anew
_DEPTH = 3
# Nothing is known but the ranges of symbols; answers are remembered for good.
_ALONE = Facts()

Proof = Callable[[Size, Facts], bool]
Answer = Callable[[Size, Facts, int], "bool | None"]


def equal(left: Size, right: Size) -> bool | None:
    """Whether left == right: True, False, or None for unknown.

    >>> n, equal = dy2st.dims.symbol("n"), dy2st.dims.equal
    >>> equal(n // 2 + (n + 1) // 2, n), equal(2 * n, 3), equal(n, 3)
    (True, False, None)
    """
    if left is right:
        return True
    return _asked(zero, subtract(left, right), _is_zero)


def less_equal(left: Size, right: Size) -> bool | None:
    """Whether left <= right: True, False, or None for unknown.

    >>> n = dy2st.dims.symbol("n")
    >>> dy2st.dims.less_equal(n, n + 1), dy2st.dims.less_equal(n, -1), dy2st.dims.less_equal(n, 3)
    (True, False, None)
    """
    return _asked(order, subtract(right, left), _is_not_negative)


def less(left: Size, right: Size) -> bool | None:
    """Whether left < right: True, False, or None for unknown.

    >>> n = dy2st.dims.symbol("n")
    >>> dy2st.dims.less(n, n + 1), dy2st.dims.less(n, 0), dy2st.dims.less(n, 3)
    (True, False, None)
    """
    return less_equal(add(left, 1), right)


def divides(divisor: Size, size: Size) -> bool | None:
    """Whether size is a multiple of divisor: True, False, or None for unknown.

    >>> n = dy2st.dims.symbol("n")
    >>> dy2st.dims.divides(2, 4 * n), dy2st.dims.divides(2, 4 * n + 1), dy2st.dims.divides(2, n)
    (True, False, None)
    """
    return equal(modulo(size, divisor), 0)


def same_shape(left: Sequence[Size], right: Sequence[Size]) -> bool | None:
    """Whether two shapes are equal: True, False, or None for unknown.

    >>> n = dy2st.dims.symbol("n")
    >>> dy2st.dims.same_shape([n, 2], [n, 2]), dy2st.dims.same_shape([n, 2], [n])
    (True, False)
    """
    if len(left) != len(right):
        return False
    answers = [a is b or equal(a, b) for a, b in zip(left, right, strict=True)]
    if any(answer is False for answer in answers):
        return False
    return True if all(answers) else None


def decided(condition: Condition) -> bool | None:
    """Whether a condition holds: True, False, or None for unknown.

    >>> n = dy2st.dims.symbol("n", 1)
    >>> dy2st.dims.decided(dy2st.dims.Condition(">", n, 0)), dy2st.dims.decided(n > 3)
    (True, None)
    """
    relation, left, right = condition.relation, condition.left, condition.right
    if current().is_impossible:
        return True
    if relation in ("in", "not in", "broadcasts", "not broadcasts"):
        asked, wanted = question(condition)
        known = current().assumed.get(asked)
        if known is not None:
            return known is wanted
    if relation in ("in", "not in"):
        answer = _is_one_of(left, right)
        return answer if relation == "in" or answer is None else not answer
    if relation in ("broadcasts", "not broadcasts"):
        answer = _broadcasts(left, right)
        return answer if relation == "broadcasts" or answer is None else not answer
    if relation in ("==", "!="):
        answer = equal(left, right)
        return answer if relation == "==" or answer is None else not answer
    if relation in (">", ">="):
        left, right = right, left
    return less(left, right) if relation in ("<", ">") else less_equal(left, right)


def _broadcasts(left: Size, right: Size) -> bool | None:
    answers = [equal(left, right), equal(left, 1), equal(right, 1)]
    facts = current()
    is_known = facts.are_broadcast(left, right) or any(
        facts.is_chosen(one, (1, other)) for one, other in ((left, right), (right, left))
    )
    if any(answers) or is_known:
        return True
    return None if None in answers else False


def decided_without_facts(condition: Condition) -> bool | None:
    """Whether a condition holds, asked where nothing is known but the ranges of symbols."""
    with using(Facts()):
        return decided(condition)


def _is_one_of(size: Size, entries: Sequence[Size]) -> bool | None:
    answers = [equal(size, entry) for entry in entries]
    if any(answers) or current().is_chosen(size, entries):
        return True
    return None if None in answers else False


def is_total(value: Size | Condition) -> bool:
    """Whether a size or condition is proved to have a value: nothing in it is divided by 0.

    >>> n, is_total = dy2st.dims.symbol("n"), dy2st.dims.is_total
    >>> is_total(n // 2), is_total(2 // n), is_total(2 // (n + 1))
    (True, False, True)
    """
    if isinstance(value, Condition):
        entries = value.right if isinstance(value.right, tuple) else (value.right,)
        return all(map(is_total, (value.left, *entries)))
    return isinstance(value, int) or all(map(_has_value, deep_atoms(value)))


def _has_value(atom: Atom) -> bool:
    """Whether an operation can be done, given that its operands can be computed."""
    if atom.kind == "floordiv":
        divisor = atom.args[1]
        return isinstance(divisor, int) or equal(divisor, 0) is False
    return atom.kind != "broadcast" or all(
        _broadcasts(left, right) for left, right in pairs(atom.args, 2)
    )


def simplified(size: Size) -> Size:
    """The size as the facts in force make it.

    >>> n, facts = dy2st.dims.symbol("n"), dy2st.dims.Facts()
    >>> facts.assume(dy2st.dims.parse_condition("n == 3", {"n": n}))
    >>> with dy2st.dims.using(facts):
    ...     dy2st.dims.simplified(n + 1)
    4
    """
    return readable(size, current())


# -- answering --------------------------------------------------------------------------------


def _asked(
    asked: Callable[[Size], Question],
    size: Size,
    answer: Answer,
) -> bool | None:
    """The answer for one size, remembered as long as the facts stay the same.

    Facts that contradict each other make everything true: nothing runs where they hold.
    """
    facts = current()
    if facts.is_impossible:
        return True
    if facts.assumed:
        known = facts.assumed.get(asked(size))
        if known is not None:
            return known
    key = (asked, size)
    try:
        return facts.answers[key]
    except KeyError:
        pass
    if len(facts.answers) > 1 << 16:
        facts.answers.clear()
    form = facts.normal(size)
    result = facts.assumed.get(asked(form)) if facts.assumed else None
    if result is None:
        result = answer(form, facts, _DEPTH)
    if result is None and isinstance(size, Dim) and (form is not size or facts.mask & size.mask):
        # What facts make of a size may be harder to see through than the size itself.
        _ALONE.steps_left = [_MOST_CASES * _CASE]  # the answer is for all traces
        with using(_ALONE):
            result = _asked(asked, size, answer)
    facts.answers[key] = result
    return result


def _is_zero(size: Size, facts: Facts, depth: int) -> bool | None:
    if isinstance(size, int):
        return size == 0
    low, high = bounds(size, facts)
    if (low is not None and low > 0) or (high is not None and high < 0):
        return False
    if size.constant % common_factor(size) or facts.is_nonzero(size):
        return False
    if is_plain(size, facts) or is_spent(facts):
        return None
    values = set(sampled(size, facts))
    least, most = min(values, default=0), max(values, default=0)
    if 0 not in values and (
        (least >= 0 and proved(add(size, -1), facts))
        or (most <= 0 and proved(subtract(-1, size), facts))
    ):
        return False
    opposite = multiply(size, -1)
    if least == most == 0 and proved(size, facts) and proved(opposite, facts):
        return True
    is_open = least == most == 0 or 0 not in values
    return _by_cases(size, facts, depth, _is_zero) if is_open else None


def _is_not_negative(size: Size, facts: Facts, depth: int) -> bool | None:
    if isinstance(size, int):
        return size >= 0
    low, high = bounds(size, facts)
    if low is not None and low >= 0:
        return True
    if high is not None and high < 0:
        return False
    if is_plain(size, facts) or is_spent(facts):
        return None
    if positive_when_shifted(size, facts):
        return True
    values = set(sampled(size, facts))
    least, most = min(values, default=0), max(values, default=-1)
    if least >= 0 and proved(size, facts):
        return True
    if most < 0 and proved(subtract(-1, size), facts):
        return False
    return _by_cases(size, facts, depth, _is_not_negative) if least >= 0 or most < 0 else None


def _by_cases(size: Dim, facts: Facts, depth: int, answer: Answer) -> bool | None:
    """One answer that all cases give: of remainders, or of which operand a minimum is.

    They count as steps, so that a trace ends: behind the last one, what is open stays unknown.
    """
    look()
    if depth == 0:
        return None
    # The size is split by its first minimum, maximum or broadcast.
    inside = [a for a in deep_atoms(size) if a.kind in ("min", "max", "broadcast")]
    outside = [a for a in factors_of(size) if a in inside]
    split = min(outside, key=lambda atom: atom.order, default=None)
    if split is None:
        # The size for all remainders of its symbols by the numbers they are divided by. With n
        # = 12*q + r every division by 2, 3, 4, 6 or 12 vanishes, so the cases decide equality.
        # For every symbol that is divided by numbers: the least number that all of them divide.
        periods: dict[Atom, int] = {}
        for atom in sorted(deep_atoms(size), key=lambda atom: atom.order):
            if atom.kind == "symbol":
                shared = _period(size, atom)
                if shared > 1:
                    periods[atom] = shared
        if not periods or prod(periods.values()) > _MOST_CASES:
            cases = None
        else:
            cases = _remainder_cases(size, facts, periods)
    else:
        cases = _by_operands(size, split, facts)
    if cases is None:
        return None
    found: set[bool | None] = set()
    for case, known in cases:
        facts.steps_left[0] -= _CASE
        if is_spent(facts):
            return None
        found.add(answer(known.normal(case), known, depth - 1))
        if None in found or len(found) > 1:
            return None
    return found.pop() if found else None


Cases = Iterator[tuple[Size, Facts]]


def _by_operands(size: Dim, atom: Atom, facts: Facts) -> Cases:
    """The size for every operand that an atom may be, with what that says of the operands."""
    for operand, conditions in _choices(atom):
        known = facts.inside()
        try:
            for condition in conditions:
                known.assume(condition)
            known.renew(atom)
        except (Contradiction, ZeroDivisionError):
            continue
        yield substitute_atom(size, atom, operand), known


def _choices(atom: Atom) -> Iterator[tuple[Size, list[Condition]]]:
    """Every operand that the atom may be, and when it is: together the cases are all there are."""
    if atom.kind == "broadcast" and len(atom.args) == 2:
        one, other = atom.args
        yield one, [Condition("==", one, other)]
        yield one, [Condition("==", other, 1)]
        yield other, [Condition("==", one, 1)]
        return
    for operand in atom.args:
        others = [other for other in atom.args if other is not operand]
        if atom.kind == "broadcast":
            yield operand, [Condition("in", other, (1, operand)) for other in others]
        else:
            relation = "<=" if atom.kind == "min" else ">="
            yield operand, [Condition(relation, operand, other) for other in others]


def _remainder_cases(size: Dim, facts: Facts, periods: dict[Atom, int]) -> Cases:
    for remainders in combinations(*(range(period) for period in periods.values())):
        values: dict[Dim, Size] = {}
        for (atom, period), remainder in zip(periods.items(), remainders, strict=True):
            # period * q + remainder for a new symbol q, None if the symbol never has that
            # remainder.
            low, high = facts.interval(atom)
            least = None if low is None else -((remainder - low) // period)
            most = None if high is None else (high - remainder) // period
            if least is not None and most is not None and most < least:
                part = None
            else:
                piece = of_atom(make_atom("symbol", (), f"{atom.name}/{period}", least, most))
                part = add(multiply(piece, period), remainder)
            if part is None:
                break
            values[of_atom(atom)] = part
        else:
            with suppress(ZeroDivisionError):  # no size has these remainders
                yield substitute(size, values), _with_parts(facts, values)


def _with_parts(facts: Facts, values: dict[Dim, Size]) -> Facts:
    """The facts, said of the parts of symbols."""
    known = Facts()
    known.steps_left = facts.steps_left
    for fact in facts.inequalities:
        renamed = substitute(fact, values)
        if isinstance(renamed, Dim):
            known.inequalities.append(renamed)
    return known


def _period(size: Size, symbol: Atom) -> int:
    """The least common multiple, over all ways down to the symbol, of the divisors on the way."""
    if not isinstance(size, Dim):
        return 1
    period = 1
    for atom in factors_of(size):
        for argument in atom.args:
            if symbol not in deep_atoms(argument):
                continue
            below = atom.args[1] if atom.kind == "floordiv" else 1
            inner = _period(argument, symbol)
            # The divisor, without what the coefficient of a plain symbol already cancels.
            if not isinstance(below, int):
                shortest = 1
            else:
                plain = [f for atoms, f in getattr(argument, "terms", ()) if atoms == (symbol,)]
                inside = any(
                    a is not symbol and symbol in deep_atoms(of_atom(a))
                    for a in factors_of(argument)
                )
                shortest = below // gcd(below, plain[0]) if plain and not inside else below
            period = lcm(period, inner * shortest)
    return period


# -- what is required -------------------------------------------------------------------------


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
