"""Sizes as the facts make them, in the user's own symbols."""

from __future__ import annotations

from dy2st_runtime.dims.expression import Atom, Dim, Size, of_atom
from dy2st_runtime.dims.facts import Facts
from dy2st_runtime.dims.operations import floordiv, operation
from dy2st_runtime.dims.polynomial import add, multiply, split


def readable(size: Size, facts: Facts) -> Size:
    """The size in normal form, without symbols that only the Facts know."""
    if not isinstance(size, Dim) or not size.mask & facts.mask:
        return size
    return _without_quotients(facts.normal(size), facts)


def _without_quotients(size: Size, facts: Facts) -> Size:
    """8*q becomes n, q becomes n//8."""
    constant, terms = split(size)
    result: Size = constant
    for atoms, factor in terms:
        term: Size = factor
        for atom in sorted(atoms, key=lambda atom: atom not in facts.quotients):
            term = _times(term, atom, facts)
        result = add(result, term)
    return result


def _times(term: Size, atom: Atom, facts: Facts) -> Size:
    if atom in facts.quotients:
        above, below = facts.quotients[atom]
        above = _without_quotients(above, facts)
        if isinstance(term, int) and term % below == 0:
            return multiply(term // below, above)
        return multiply(term, floordiv(above, below))
    if atom.kind == "symbol":
        return multiply(term, of_atom(atom))
    args = tuple([_without_quotients(argument, facts) for argument in atom.args])
    return multiply(term, operation(atom.kind, args))
