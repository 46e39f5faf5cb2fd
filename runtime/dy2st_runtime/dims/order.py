"""Proves that a size is never negative: by intervals, definitions of atoms, and known facts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import lcm
from typing import TYPE_CHECKING

from dy2st_runtime.dims.conditions import Condition
from dy2st_runtime.dims.expression import Atom, Dim, Interval, Monomial, Size, factors_of, of_atom
from dy2st_runtime.dims.intervals import DECLARED, Inequalities, bounds
from dy2st_runtime.dims.polynomial import (
    Terms,
    add,
    least_multiple,
    monomial_quotient,
    multiply,
    of_term,
    split,
    subtract,
)
from dy2st_runtime.dims.samples import Facts, Values, examples, sampled, value_at
from dy2st_runtime.limits import look

if TYPE_CHECKING:
    from dy2st_runtime.dims.intervals import Known

Proof = Callable[[Dim, Facts], bool]
Goals = tuple[Size, ...]
"""Sizes that must all be proved not negative."""

_DEPTH = 4
_STEPS = 48
_SHORT, _EXAMPLES = 4, 3
_MOST_SHIFTED = 64


class _NoFacts:
    inequalities = Inequalities()
    conditions: Sequence[Condition] = ()
    examples: Sequence[Values] = ()

    def __init__(self) -> None:
        self.steps_left = [sys.maxsize]

    def interval(self, atom: Atom) -> Interval:
        """The declared interval."""
        return DECLARED.interval(atom)


NO_FACTS: Facts = _NoFacts()


def never_negative(size: Size, facts: Facts = NO_FACTS) -> bool:
    """Whether size >= 0 is proved. The steps are counted, so the answer is always the same."""
    if isinstance(size, int):
        return size >= 0
    low, high = bounds(size, facts)
    if low is not None and low >= 0:
        return True
    if (high is not None and high < 0) or is_plain(size, facts):
        return False
    if positive_when_shifted(size, facts):
        return True
    if is_spent(facts) or any(value < 0 for value in sampled(size, facts)):
        return False
    return proved(size, facts)


def evident(size: Dim, facts: Facts) -> bool:
    """`never_negative` without a search."""
    low = bounds(size, facts)[0]
    return (low is not None and low >= 0) or positive_when_shifted(size, facts)


def sign(size: Size, facts: Facts = NO_FACTS) -> int | None:
    """1 where size >= 0 is proved, else -1 where size <= 0 is, None if neither."""
    if isinstance(size, int):
        return 1 if size >= 0 else -1
    low, high = bounds(size, facts)
    if low is not None and low >= 0:
        return 1
    if high is not None and high <= 0:
        return -1
    if is_plain(size, facts):
        return None
    if positive_when_shifted(size, facts):
        return 1
    if is_spent(facts):
        return None
    values = list(sampled(size, facts))
    if min(values, default=0) >= 0 and proved(size, facts):
        return 1
    return -1 if max(values, default=0) <= 0 and proved(multiply(size, -1), facts) else None


def proved(size: Size, facts: Facts) -> bool:
    """`never_negative` by search alone, for what no example refutes."""
    if _relaxed(size, facts):
        return True
    size, relevant = least_multiple(size), facts.inequalities.near(size)
    for fact in relevant:
        more = subtract(size, fact)
        if isinstance(more, int) and more >= 0:
            return True
    return _Proof(size, facts, relevant).holds(size, _DEPTH)


def is_spent(facts: Facts) -> bool:
    """Whether all steps of a trace are taken: what more than one look decides stays open."""
    return facts.steps_left[0] <= 0


def is_plain(size: Dim, facts: Facts) -> bool:
    """Whether intervals alone decide: a sum of symbols that no fact relates."""
    for atoms, _ in size.terms:
        if len(atoms) > 1 or atoms[0].kind != "symbol":
            return False
    return facts.inequalities.say_nothing_of(size)


def _relaxed(size: Size, facts: Facts) -> bool:
    """Whether it is plain with all quotients by numbers at the worst end of their definitions.

    One step in place of a search: 2*(h//16) <= h//8 and the like are common, and settled by it.
    """
    # Facts that cannot hold make a divisor 0.
    quotients = [
        (atoms[0], factor)
        for atoms, factor in split(size)[1]
        if len(atoms) == 1
        and atoms[0].kind == "floordiv"
        and isinstance(atoms[0].args[1], int)
        and atoms[0].args[1] > 0
    ]
    if not quotients:
        return False
    scale = lcm(*(atom.args[1] for atom, _ in quotients))
    goal = multiply(size, scale)
    for atom, factor in quotients:
        above, below = atom.args
        edge = subtract(above, below - 1) if factor > 0 else above
        times = factor * scale // below
        quotient = multiply(of_atom(atom), factor * scale)
        goal = add(subtract(goal, quotient), multiply(edge, times))
    goal = add(goal, scale - 1)
    if isinstance(goal, int):
        return goal >= 0
    return positive_when_shifted(goal, facts)


def parts_never_negative(size: Dim, facts: Facts) -> Iterator[Size]:
    """What else is never negative where a size is: max(a, b) <= 8 says that both are.

    Of max(1, n) >= 2 it is n, for 1 is not.
    """
    for atoms, factor in size.terms:
        atom = atoms[0]
        if len(atoms) > 1 or atom.kind not in ("max", "min"):
            continue
        rest = subtract(size, of_term(atoms, factor))
        parts = [add(rest, multiply(argument, factor)) for argument in atom.args]
        if (atom.kind == "max") == (factor > 0):  # one of them at least
            parts = [p for p in parts if not never_negative(subtract(-1, p), facts)]
            parts = parts if len(parts) == 1 else []
        yield from parts


class _Proof:
    """One search, backwards: a goal holds if it is plain, or if goals that imply it hold.

    Once a search is not short, goals that an example refutes are not followed.
    """

    __slots__ = ("examples", "facts", "failed", "relevant", "size", "steps")

    def __init__(self, size: Size, facts: Facts, relevant: Sequence[Dim]) -> None:
        self.facts, self.relevant, self.steps = facts, relevant, _STEPS
        self.size, self.failed = size, dict[Size, int]()
        self.examples: list[Values] | None = None

    def holds(self, size: Size, depth: int) -> bool:
        """Whether size >= 0 is proved with at most `depth` implications."""
        if isinstance(size, int):
            return size >= 0
        look()
        if evident(size, self.facts):
            return True
        self.facts.steps_left[0] -= 1
        if depth == 0 or self.steps <= 0 or self.failed.get(size, -1) >= depth:
            return False
        if self.steps < _STEPS - _SHORT and self._is_refuted(size):
            self.failed[size] = _DEPTH
            return False
        self.steps -= 1
        for goals in self._implications(size):
            if all(self.holds(goal, depth - 1) for goal in goals):
                return True
        self.failed[size] = depth
        return False

    def _is_refuted(self, size: Dim) -> bool:
        if self.examples is None:
            self.examples = [*islice(examples(self.size, self.facts), _EXAMPLES)]
        try:
            return any([value_at(size, values) < 0 for values in self.examples])
        except ZeroDivisionError:  # in a quotient that was not in the facts
            return False

    def _implications(self, size: Dim) -> Iterator[Goals]:
        for atoms, factor in size.terms:
            for place, atom in enumerate(atoms):
                cofactor = atoms[:place] + atoms[place + 1 :]
                if self._is_positive(cofactor):
                    rest = subtract(size, of_term(atoms, factor))
                    yield from self._by_definition(rest, factor, cofactor, atom)
        # Goals without (x - y)**2, where a product has the sign for it.
        for atoms, times in size.terms:
            if len(atoms) == 2 and atoms[0] is not atoms[1] and times < 0 and times % 2 == 0:
                distance = subtract(of_atom(atoms[0]), of_atom(atoms[1]))
                yield (subtract(size, multiply(multiply(distance, distance), -times // 2)),)
        # Goals without k * below * (above // below), also for a divisor that is a sum.
        for quotient in dict.fromkeys(factors_of(size)):
            if quotient.kind != "floordiv" or not _is_positive_size(quotient.args[1]):
                continue
            above, below = quotient.args
            parts = [(monomial_quotient(a, (quotient,)), f) for a, f in size.terms if quotient in a]
            scale: Size = 0
            for others, factor in parts:
                scale = add(scale, of_term(others or (), factor))
            count = split(scale)[1][0][1] // below.terms[0][1] if isinstance(scale, Dim) else 0
            left = subtract(scale, multiply(below, count))
            if not count or not isinstance(left, int) or left:
                continue
            rest = subtract(size, multiply(scale, of_atom(quotient)))
            edge = above if count < 0 else subtract(above, subtract(below, 1))
            yield (add(rest, multiply(edge, count)),)
        for fact in self.relevant:
            yield from self._without_term(size, fact)

    def _is_positive(self, atoms: Monomial) -> bool:
        lows = [self.facts.interval(atom)[0] for atom in atoms]
        return all(low is not None and low >= 0 for low in lows)

    def _by_definition(
        self, rest: Size, factor: int, cofactor: Monomial, atom: Atom
    ) -> Iterator[Goals]:
        """Goals that imply rest + factor * cofactor * atom >= 0, by what the atom is."""
        scale = of_term(cofactor, factor)
        if factor < 0:
            highest = self.facts.interval(atom)[1]
            if highest is not None:
                yield (add(rest, multiply(scale, highest)),)
        if atom.kind == "floordiv":
            yield from _by_quotient(rest, factor, cofactor, atom)
            above = atom.args[0]
            is_shrinking = all(
                (bounds(size, self.facts)[0] or 0) >= 0 and bounds(size, self.facts)[0] is not None
                for size in atom.args
            )
            if factor < 0 and isinstance(atom.args[1], Dim) and is_shrinking:
                yield (add(rest, multiply(scale, above)),)  # above // below <= above
        elif atom.kind != "symbol":
            goals = [add(rest, multiply(scale, argument)) for argument in atom.args]
            if (atom.kind == "max") == (factor > 0) and atom.kind != "broadcast":
                yield from [(goal,) for goal in goals]
            else:
                yield tuple(goals)

    def _without_term(self, size: Dim, fact: Dim) -> Iterator[Goals]:
        """Goals without one of the negative terms: the fact, times something positive, gives it."""
        for atoms, factor in size.terms:
            for others, other in fact.terms if factor < 0 else ():
                if other >= 0:
                    continue
                cofactor = monomial_quotient(atoms, others)
                if cofactor is None and monomial_quotient(others, atoms) is not None:
                    cofactor = ()  # 16 >= a*b says something of a
                if cofactor is not None and self._is_positive(cofactor):
                    given = multiply(of_term(cofactor, -factor), fact)
                    # size * -other = given + goal, so size >= 0 follows from goal > other
                    goal = subtract(multiply(size, -other), given)
                    yield (add(goal, -other - 1),)


def _is_positive_size(below: Size) -> bool:
    """Whether a divisor is a size that is never negative; 0 it cannot be."""
    return isinstance(below, Dim) and (bounds(below)[0] or 0) >= 0 and bounds(below)[0] is not None


def _by_quotient(rest: Size, factor: int, cofactor: Monomial, atom: Atom) -> Iterator[Goals]:
    """below * (above // below) lies between above - below + 1 and above."""
    above, below = atom.args
    if isinstance(below, int):
        edge = above if factor < 0 else subtract(above, below - 1)
        goal = add(multiply(rest, below), multiply(of_term(cofactor, factor), edge))
        yield (add(goal, below - 1),)  # goal / below is at least what was asked, rounded up
        return
    if not _is_positive_size(below):
        return
    atoms, scale = below.terms[0]
    left = monomial_quotient(cofactor, atoms) if scale == 1 else None
    if left is not None and len(below.terms) == 1 and not below.constant:
        edge = above if factor < 0 else subtract(above, subtract(below, 1))
        yield (add(rest, multiply(of_term(left, factor), edge)),)


def positive_when_shifted(size: Dim, known: Known) -> bool:
    """Put least + x for every atom: without negative coefficients the value is not negative."""
    total: Terms = {(): size.constant}
    for atoms, factor in size.terms:
        parts: Terms = {(): factor}
        for atom in atoms:
            least = known.interval(atom)[0]
            if least is None:
                return False
            grown: Terms = {}
            for place, value in parts.items():
                more = (*place, atom)  # in order, as those of the term are
                grown[more] = grown.get(more, 0) + value
                if least:
                    grown[place] = grown.get(place, 0) + value * least
            parts = grown
            if len(parts) > _MOST_SHIFTED:
                return False
        for place, value in parts.items():
            total[place] = total.get(place, 0) + value
    return all([value >= 0 for value in total.values()])
