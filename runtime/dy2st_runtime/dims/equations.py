"""Solves equations between sizes: what divides what, and which term can be isolated."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dy2st_runtime.dims.conditions import Condition
from dy2st_runtime.dims.expression import (
    Atom,
    Dim,
    Interval,
    Monomial,
    Size,
    Term,
    factors_of,
    of_atom,
)
from dy2st_runtime.dims.operations import floordiv
from dy2st_runtime.dims.polynomial import (
    add,
    monomial_product,
    monomial_quotient,
    multiply,
    of_term,
    split,
    subtract,
)
from dy2st_runtime.dims.samples import condition_symbols, deep_atoms, deep_symbols


def exactness(rest: Size) -> tuple[Size, int] | None:
    """(P, c) where that rest is 0 says that c divides P.

    rest is k * (P - c * (P // c)); or k * r less, where the remainder is r: then P is less by r.
    """
    for atoms, factor in split(rest)[1]:
        atom = atoms[0]
        if len(atoms) > 1 or atom.kind != "floordiv" or not isinstance(atom.args[1], int):
            continue
        above, below = atom.args
        times = -factor // below
        remainder = subtract(above, multiply(below, of_atom(atom)))
        difference = subtract(rest, multiply(remainder, times))
        if isinstance(difference, int) and difference % times == 0:
            remainder_left = -difference // times
            if 0 <= remainder_left < below:
                return subtract(above, remainder_left), below
    return None


def stands_elsewhere(size: Dim, place: Monomial) -> bool:
    """Whether the atoms of one term stand in another term too, or inside of an atom."""
    wanted = set(place)
    for atoms, _ in size.terms:
        if atoms != place and wanted.issubset(atoms):
            return True
        inner = {a for atom in atoms if atom.args for x in atom.args for a in deep_atoms(x)}
        if wanted.issubset(inner):
            return True
    return False


def newest_term(rest: Dim, age: dict[Atom, int], fits: Callable[[int], bool]) -> Term | None:
    """The term of the newest symbol that stands nowhere else, with a fitting coefficient."""
    found = None
    for atoms, factor in rest.terms:
        if len(atoms) > 1 or atoms[0].kind != "symbol" or not fits(factor):
            continue
        if stands_elsewhere(rest, atoms):
            continue
        key = (-abs(factor), age.setdefault(atoms[0], len(age)))
        if found is None or key > found[0]:
            found = (key, (atoms, factor))
    return None if found is None else found[1]


def lone_term(rest: Dim, fits: Callable[[int], bool]) -> Term | None:
    """The greatest product (or atom) with a fitting coefficient that nothing else contains."""
    for atoms, factor in rest.terms:
        if fits(factor) and not stands_elsewhere(rest, atoms):
            return atoms, factor
    return None


def multiple_of(size: Dim, place: Monomial) -> bool:
    """Whether a term of a size is a multiple of a product of atoms."""
    return any(monomial_quotient(atoms, place) is not None for atoms, _ in size.terms)


def substitute_atom(size: Size, atom: Atom, value: Size) -> Size:
    """The size with a value for an atom, where it stands outside of other atoms."""
    constant, terms = split(size)
    result: Size = constant
    for atoms, factor in terms:
        term: Size = factor
        for one in atoms:
            term = multiply(term, value if one is atom else of_atom(one))
        result = add(result, term)
    return result


def share_symbols(condition: Condition, size: Size) -> bool:
    """Whether a symbol stands in both."""
    if not isinstance(size, Dim) or not size.mask & condition.mask:
        return False
    return not set(deep_symbols(size)).isdisjoint(condition_symbols(condition))


def sharing(sizes: Iterable[Dim], others: Iterable[Dim]) -> list[Dim]:
    """Those of some sizes in which a symbol of the others stands."""
    mask, symbols = 0, set[Atom]()
    for size in others:
        mask |= size.mask
        symbols.update(deep_symbols(size))
    hit = [size for size in sizes if size.mask & mask]
    return [size for size in hit if not symbols.isdisjoint(deep_symbols(size))]


def narrowed(interval: Interval, limit: Interval | None) -> Interval:
    """What both intervals have in common."""
    if limit is None:
        return interval
    lows = [low for low in (interval[0], limit[0]) if low is not None]
    highs = [high for high in (interval[1], limit[1]) if high is not None]
    return max(lows, default=None), min(highs, default=None)


def scaled_multiple(size: Dim, term: Term, number: int) -> Size:
    """A size with coefficient 1 for a term, which `number` divides just where it divides `size`."""
    inverse = pow(term[1], -1, number)
    whole: Size = _centred(size.constant * inverse, number)
    for atoms, factor in size.terms:
        scaled = 1 if atoms == term[0] else _centred(factor * inverse, number)
        whole = add(whole, of_term(atoms, scaled))
    return whole


def _centred(factor: int, number: int) -> int:
    """The coefficient of least absolute value that is equal modulo `number`."""
    rest = factor % number
    return rest - number if 2 * rest > number else rest


def exchanged(size: Size, old: Term, new: Monomial) -> Size:
    """The size with one product of atoms in place of another, which has a factor."""
    constant, terms = split(size)
    result: Size = constant
    for atoms, factor in terms:
        cofactor = monomial_quotient(atoms, old[0])
        if cofactor is None or factor % old[1]:
            result = add(result, of_term(atoms, factor))
        else:
            result = add(result, of_term(monomial_product(cofactor, new), factor // old[1]))
    return result


def exchanged_quotient(above: Size, below: Dim, value: Size, lead: Monomial) -> Size | None:
    """above // below with a product in place of its value, where nothing is left to divide."""
    terms = split(value)[1]
    if len(terms) != 1 or split(value)[0]:
        return None
    other = exchanged(above, terms[0], lead)
    found = floordiv(other, below)
    inside = factors_of(found) if isinstance(found, Dim) else []
    is_whole = other is not above and all(atom.kind == "symbol" for atom in inside)
    return found if is_whole else None


def quotient_of_quotient(above: Size, below: int, rules: dict[Monomial, Size]) -> Size | None:
    """above // below by a rule for a part of the division: n//6 is m//2 where n//3 is m."""
    for lead, value in rules.items():
        if lead[0].kind != "floordiv" or len(lead) > 1:
            continue
        inner, divisor = lead[0].args
        if isinstance(divisor, Dim) or divisor < 2 or below % divisor:
            continue
        more = subtract(above, inner)
        # Whether a size has another quotient of the same symbols, which would lead back here.
        if (
            isinstance(more, int)
            and more % divisor == 0
            and not any(a.kind == "floordiv" and a.mask & lead[0].mask for a in deep_atoms(value))
        ):
            return floordiv(add(value, more // divisor), below // divisor)
    return None
