"""Sizes at a few values of their symbols: what an example refutes need not be searched for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from dy2st_runtime.dims.conditions import MEANING, Condition
from dy2st_runtime.dims.expression import Atom, Dim, Interval, Size, factors_of
from dy2st_runtime.dims.polynomial import memo, split


class Facts(Protocol):
    """What is known: the values of atoms, sizes that are never negative, and conditions."""

    @property
    def inequalities(self) -> Sequence[Dim]:
        """Sizes that are never negative."""

    @property
    def conditions(self) -> Sequence[Condition]:
        """Which sizes broadcast, and which are one of several."""

    def interval(self, atom: Atom) -> Interval:
        """The least and the largest value of an atom."""


_FAR, _MOST = 4, 32

_Choice = Callable[[int, int], int]
_POINTS: tuple[_Choice, ...] = (
    lambda low, place: low,
    lambda low, place: low + 3 + 5 * place,
    lambda low, place: low + (23, 8, 1)[place % 3] + place // 3,
    lambda low, place: low + 13 + place,
)


def sampled(size: Size, facts: Facts) -> Iterator[int]:
    """Values that the size takes for some values of its symbols that the facts allow."""
    relevant = relevant_facts(size, facts)
    inside = deep_symbols(size)
    for fact in relevant:
        inside = (*inside, *(atom for atom in deep_symbols(fact) if atom not in inside))
    conditions = _near(facts.conditions, inside)
    for condition in conditions:
        inside = (*inside, *(a for a in condition_symbols(condition) if a not in inside))
    limits = [facts.interval(atom) for atom in inside]
    for choose in _POINTS:
        values = {}
        for place, (atom, (low, high)) in enumerate(zip(inside, limits, strict=True)):
            least = low if low is not None else 0 if high is None or high >= 0 else high
            value = choose(least, place)
            values[atom] = value if high is None or value <= high else high
        try:
            if all([value_at(fact, values) >= 0 for fact in relevant]) and all(
                [holds_at(condition, values) for condition in conditions]
            ):
                yield value_at(size, values)
        except ZeroDivisionError:  # no size has these values
            continue


def relevant_facts(size: Size, facts: Facts) -> list[Dim]:
    """The inequalities that say something of the symbols of a size, and of theirs in turn.

    At most some, the nearest: of a long chain the far end matters to nobody.
    """
    known = set(deep_symbols(size))
    mask = size.mask if isinstance(size, Dim) else 0
    found: list[Dim] = []
    waiting: Sequence[Dim] = facts.inequalities
    for _ in range(_FAR):
        hit = [fact for fact in waiting if fact.mask & mask]
        near = [fact for fact in hit if not known.isdisjoint(deep_symbols(fact))]
        if not near or len(found) >= _MOST:
            break
        found += near
        taken = set(map(id, near))
        waiting = [fact for fact in waiting if id(fact) not in taken]
        for fact in near:
            known.update(deep_symbols(fact))
            mask |= fact.mask
    return found[:_MOST]


def _near(conditions: Sequence[Condition], inside: Sequence[Atom]) -> list[Condition]:
    """Those about some of these symbols."""
    if not conditions:
        return []
    mask = 0
    for atom in inside:
        mask |= atom.mask
    hit = [condition for condition in conditions if condition.mask & mask]
    return [c for c in hit if not set(inside).isdisjoint(condition_symbols(c))]


def condition_symbols(condition: Condition) -> tuple[Atom, ...]:
    """The symbols on both sides of a condition; some may come twice."""
    return tuple([atom for side in condition.sizes for atom in deep_symbols(side)])


def holds_at(condition: Condition, values: dict[Atom, int]) -> bool:
    """Whether a condition holds; ZeroDivisionError where one of its sizes has no number."""
    left, right = value_at(condition.left, values), condition.right
    if isinstance(right, tuple):
        right = tuple([value_at(size, values) for size in right])
    else:
        right = value_at(right, values)
    return MEANING[condition.relation](left, right)


def value_at(size: Size, values: dict[Atom, int]) -> int:
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


def _operation_at(atom: Atom, values: dict[Atom, int]) -> int:
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
