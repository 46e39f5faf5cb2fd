"""Adds and multiplies sizes: polynomials, multiplied out and in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from math import gcd

from dy2st_runtime.dims.expression import (
    OPERATIONS,
    Dim,
    Monomial,
    Size,
    Term,
    by_order,
    checked,
    in_order,
    make_atom,
    make_dim,
    of_atom,
)

memo = lru_cache(maxsize=1 << 16)
Terms = dict[Monomial, int]

_HEAVIEST_PRODUCT = 1000
"""How many symbols a product may have when it is multiplied out."""


def built(constant: int, terms: Terms) -> Size:
    """The size with these coefficients; those that are 0 vanish."""
    return make_dim(constant, in_order([term for term in terms.items() if term[1]]))


def split(size: Size) -> tuple[int, tuple[Term, ...]]:
    """The constant and the terms of a size."""
    return (size.constant, size.terms) if isinstance(size, Dim) else (size, ())


@memo
def add(left: Size, right: Size) -> Size:
    """left + right."""
    return _summed(left, right, 1)


@memo
def subtract(left: Size, right: Size) -> Size:
    """left - right."""
    return _summed(left, right, -1)


def _summed(left: Size, right: Size, sign: int) -> Size:
    if isinstance(right, int):
        constant, terms = split(left)
        return make_dim(constant + sign * right, terms)
    if isinstance(left, int):
        return make_dim(left + sign * right.constant, _scaled_terms(right, sign))
    sums: Terms = dict(left.terms)
    for atoms, factor in right.terms:
        sums[atoms] = sums.get(atoms, 0) + sign * factor
    return built(left.constant + sign * right.constant, sums)


def _scaled_terms(size: Dim, factor: int) -> tuple[Term, ...]:
    return size.terms if factor == 1 else tuple([(a, f * factor) for a, f in size.terms])


@memo
def multiply(left: Size, right: Size) -> Size:
    """left * right, multiplied out if that is short; else a sum in it is one atom, max(a + b)."""
    if isinstance(left, int):
        left, right = right, left
    if isinstance(left, int):
        return left * right
    if isinstance(right, int):
        if right == 0:
            return 0
        return make_dim(left.constant * right, _scaled_terms(left, right))
    if left.weight * _length(right) + right.weight * _length(left) > _HEAVIEST_PRODUCT:
        left, right = closed(left), closed(right)
    terms: Terms = {}
    for atoms, factor in (*left.terms, ((), left.constant)):
        for others, other in (*right.terms, ((), right.constant)):
            place = monomial_product(atoms, others)
            terms[place] = terms.get(place, 0) + factor * other
    constant = terms.pop((), 0)
    return built(constant, terms)


def _length(size: Dim) -> int:
    return len(size.terms) + (size.constant != 0)


def closed(size: Dim) -> Dim:
    """A product as it is; a sum as the maximum of itself alone, which nothing multiplies out."""
    return size if _length(size) == 1 else of_atom(make_atom("max", (size,)))


def monomial_product(left: Monomial, right: Monomial) -> Monomial:
    """The atoms of both, in order."""
    if not left or not right:
        return left or right
    return tuple(sorted((*left, *right), key=by_order))


def monomial_quotient(above: Monomial, below: Monomial) -> Monomial | None:
    """The atoms that are left when `below` is taken out of `above`, None if it is not in there."""
    rest = list(above)
    for atom in below:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def of_term(atoms: Monomial, factor: int) -> Size:
    """factor * product of the atoms."""
    return make_dim(0, ((atoms, factor),)) if atoms and factor else 0 if atoms else factor


def common_factor(size: Dim) -> int:
    """The greatest number that divides all coefficients; the constant is not asked."""
    return gcd(*[factor for _, factor in size.terms])


def divided_exactly(size: Dim, number: int) -> Size:
    """size / number, where the number divides all coefficients and the constant."""
    terms = tuple([(atoms, factor // number) for atoms, factor in size.terms])
    return make_dim(size.constant // number, terms)


def least_multiple(size: Size) -> Size:
    """What is not negative just where a size is: 2*n - 3 as n - 2."""
    if not isinstance(size, Dim):
        return size
    number = common_factor(size)
    if number == 1:
        return size
    terms = tuple([(atoms, factor // number) for atoms, factor in size.terms])
    return make_dim(size.constant // number, terms)


def total(sizes: Iterable[Size]) -> Size:
    """The sum of all sizes, in time proportional to their terms."""
    constant = 0
    sums: Terms = {}
    for size in sizes:
        more, terms = split(size)
        constant += more
        for atoms, factor in terms:
            sums[atoms] = sums.get(atoms, 0) + factor
    return built(constant, sums)


def product(sizes: Iterable[Size]) -> Size:
    """The product of all sizes, 1 if there are none.

    >>> dy2st.dims.product([2, 3]), dy2st.dims.product([2, dy2st.dims.symbol("n")])
    (6, 2*n)
    """
    result: Size = 1
    for size in sizes:
        result = multiply(result, size)
    return result


def _of_users(operation: Callable[[Size, Size], Size]) -> Callable[[Size, Size], Size]:
    """The operation for users, who may make formulas longer and longer."""
    return memo(lambda left, right: checked(operation(left, right)))


OPERATIONS.update(add=_of_users(add), subtract=_of_users(subtract), multiply=_of_users(multiply))
