"""Evaluates sizes at a few values of their symbols: an example refutes without a search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from math import lcm
from typing import Protocol

from dy2st_runtime.dims.conditions import MEANING, Condition
from dy2st_runtime.dims.expression import Atom, Dim, Interval, Size, factors_of, of_atom
from dy2st_runtime.dims.polynomial import memo, of_term, split

Values = dict[Atom, int]
"""Numbers for symbols; once asked for, those of the operations on them stand beside them."""


class Related(Protocol):
    """Sizes that are found by their symbols: see `Inequalities`."""

    def near(self, *sizes: Size) -> list[Dim]:
        """Those that say something of the symbols of some sizes."""

    def say_nothing_of(self, size: Size) -> bool:
        """Whether none shares a symbol with a size."""


class Facts(Protocol):
    """What is known: the values of atoms, sizes that are never negative, and conditions.

    examples    values of symbols that were hard to find, the last ones first: they often serve
                for the next question too.
    steps_left  how many steps proofs may still take, in one entry.
    """

    examples: Sequence[Values]
    steps_left: list[int]

    @property
    def inequalities(self) -> Related:
        """Sizes that are never negative."""

    @property
    def conditions(self) -> Sequence[Condition]:
        """Which sizes broadcast, and which are one of several."""

    def interval(self, atom: Atom) -> Interval:
        """The least and the largest value of an atom."""


_MOST, _MOST_ROUND, _KEPT = 32, 1_000_000, 8
_LARGEST = 1 << 62
"""Products of symbols, mended in rounds, may double their digits in each: no size is so large."""

_Choice = Callable[[int, int], int]
_POINTS: tuple[_Choice, ...] = (
    lambda low, place: low,
    lambda low, place: low + 3 + 5 * place,
    lambda low, place: low + (23, 8, 1)[place % 3] + place // 3,
    lambda low, place: low + 13 + place,
)


def sampled(size: Size, facts: Facts) -> Iterator[int]:
    """Values that the size takes for some values of its symbols that the facts allow."""
    return (value_at(size, values) for values in examples(size, facts))


def examples(size: Size, facts: Facts) -> Iterator[Values]:
    """Some values of symbols that the facts allow: those that they relate to a size."""
    relevant = facts.inequalities.near(size)
    inside = _all_symbols((size, *relevant))
    # Those about some of these symbols.
    if not facts.conditions:
        conditions = []
    else:
        mask = 0
        for atom in inside:
            mask |= atom.mask
        hit = [condition for condition in facts.conditions if condition.mask & mask]
        conditions = [c for c in hit if not set(inside).isdisjoint(condition_symbols(c))]
    inside = _all_symbols((*map(of_atom, inside), *(s for c in conditions for s in c.sizes)))
    limits = {atom: facts.interval(atom) for atom in inside}
    is_found = False
    for values in chain(_kept(facts.examples, limits), _points(limits)):
        if _is_allowed(size, values, relevant, conditions):
            is_found = True
            yield values
    if not is_found:
        # As `examples`, where facts say more of the symbols than that they are large enough.
        sides = [side for condition in conditions for side in condition.sizes]
        more = facts.inequalities.near(size, *sides)
        limits = {atom: facts.interval(atom) for atom in _all_symbols((size, *sides, *more))}
        for values in _round_points(limits, (size, *relevant)):
            if _mend(values, limits, more) and _is_allowed(size, values, relevant, conditions):
                if more or conditions:  # else only zeros in divisors make it hard
                    facts.examples = (values, *facts.examples[: _KEPT - 1])
                yield values


def _all_symbols(sizes: Iterable[Size]) -> list[Atom]:
    return list(dict.fromkeys([atom for size in sizes for atom in deep_symbols(size)]))


def _kept(examples: Sequence[Values], limits: dict[Atom, Interval]) -> Iterator[Values]:
    """Earlier examples, in which other symbols have the least value that they may have."""
    for values in examples:
        for atom, limit in limits.items():
            if not _fits(values.setdefault(atom, _least(limit)), limit):
                break
        else:
            yield values


def _points(limits: dict[Atom, Interval]) -> Iterator[Values]:
    """Some values of symbols."""
    for choose in _POINTS:
        yield {
            atom: _within(choose(_least(limit), place), limit)
            for place, (atom, limit) in enumerate(limits.items())
        }


def _round_points(limits: dict[Atom, Interval], sizes: Sequence[Size]) -> Iterator[Values]:
    """Values that leave no remainder where sizes are divided by numbers."""
    divisors = [
        atom.args[1]
        for size in sizes
        for atom in deep_atoms(size)
        if atom.kind == "floordiv" and isinstance(atom.args[1], int) and atom.args[1] > 0
    ]
    unit = lcm(*divisors)
    base = unit * (2 + max([_least(limit) // unit for limit in limits.values()], default=0))
    for most in (1, 3) if base <= _MOST_ROUND else ():
        yield {
            atom: _within(base * (1 + place % most), limit)
            for place, (atom, limit) in enumerate(limits.items())
        }


def _least(limit: Interval) -> int:
    low, high = limit
    return low if low is not None else 0 if high is None or high >= 0 else high


def _fits(value: int, limit: Interval) -> bool:
    low, high = limit
    return (low is None or low <= value) and (high is None or value <= high)


def _within(value: int, limit: Interval) -> int:
    return value if limit[1] is None else min(value, limit[1])


def _is_allowed(
    size: Size,
    values: Values,
    relevant: Sequence[Dim],
    conditions: Sequence[Condition],
) -> bool:
    """Whether the facts allow some values of symbols, and the size has one for them."""
    try:
        if all([value_at(fact, values) >= 0 for fact in relevant]) and all(
            [holds_at(condition, values) for condition in conditions]
        ):
            value_at(size, values)
            return True
    except ZeroDivisionError:  # no size has these values
        pass
    return False


def _mend(values: Values, limits: dict[Atom, Interval], relevant: Sequence[Dim]) -> bool:
    """Change single symbols until no inequality is broken, if that can be done so."""
    changes = dict.fromkeys(values, 0)
    try:
        for _ in range(_MOST):
            results = ((fact, value_at(fact, dict(values))) for fact in relevant)
            broken = next(((fact, value) for fact, value in results if value < 0), None)
            if broken is None:
                return True
            ways = list(_ways(*broken, values, limits))
            if not ways:
                return False
            atom, wanted = min(ways, key=lambda way: changes[way[0]])  # that was changed least
            values[atom] = wanted
            changes[atom] += 1
    except ZeroDivisionError:
        pass
    return False


def _ways(
    fact: Dim, value: int, values: Values, limits: dict[Atom, Interval]
) -> Iterator[tuple[Atom, int]]:
    """Which symbol may have which value, so that an inequality with this value holds."""
    for atoms, factor in fact.terms:
        for place, atom in enumerate(atoms):
            others = of_term(atoms[:place] + atoms[place + 1 :], factor)
            times = value_at(others, dict(values)) if atom in values else 0
            if not times:
                continue
            wanted = values[atom] - (value // abs(times)) * (1 if times > 0 else -1)
            if abs(wanted) <= _LARGEST and _fits(wanted, limits[atom]):
                yield atom, wanted


def condition_symbols(condition: Condition) -> tuple[Atom, ...]:
    """The symbols on both sides of a condition; some may come twice."""
    return tuple([atom for side in condition.sizes for atom in deep_symbols(side)])


def holds_at(condition: Condition, values: Values) -> bool:
    """Whether a condition holds; ZeroDivisionError where one of its sizes has no number."""
    left, right = value_at(condition.left, values), condition.right
    if isinstance(right, tuple):
        right = tuple([value_at(size, values) for size in right])
    else:
        right = value_at(right, values)
    return MEANING[condition.relation](left, right)


def value_at(size: Size, values: Values) -> int:
    """The number of a size; ZeroDivisionError where it has none."""
    total, terms = split(size)
    for atoms, factor in terms:
        for atom in atoms:
            value = values.get(atom)
            if value is None:  # shared parts are computed once
                value = values[atom] = _operation_at(atom, values)
            factor *= value
        total += factor
    return total


def _operation_at(atom: Atom, values: Values) -> int:
    args = [value_at(argument, values) for argument in atom.args]
    if atom.kind == "floordiv":
        return args[0] // args[1]
    if atom.kind != "broadcast":
        return min(args) if atom.kind == "min" else max(args)
    wide = {arg for arg in args if arg != 1}
    if len(wide) > 1:
        raise ZeroDivisionError
    return wide.pop() if wide else 1


@memo
def deep_atoms(size: Size) -> frozenset[Atom]:
    """All atoms in a size, those inside of others too."""
    found: set[Atom] = set()
    for atom in factors_of(size) if isinstance(size, Dim) else ():
        found.add(atom)
        for argument in atom.args:
            found |= deep_atoms(argument)
    return frozenset(found)


@memo
def deep_symbols(size: Size) -> tuple[Atom, ...]:
    """The symbols in a size, by name."""
    inside = [atom for atom in deep_atoms(size) if atom.kind == "symbol"]
    return tuple(sorted(inside, key=lambda atom: atom.order))
