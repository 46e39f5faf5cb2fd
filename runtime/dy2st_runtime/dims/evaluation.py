"""Evaluates sizes: other sizes or numbers in place of symbols, and as Python expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dy2st_runtime.dims.conditions import MEANING, Condition
from dy2st_runtime.dims.expression import Atom, Dim, Size, is_symbol, of_atom
from dy2st_runtime.dims.operations import operation
from dy2st_runtime.dims.polynomial import add, multiply
from dy2st_runtime.dims.samples import deep_symbols
from dy2st_runtime.errors import ShapeError, UndecidedDim


def symbols(value: Any) -> tuple[Dim, ...]:
    """The symbols in a size, a condition, or nested tuples and lists of them, ordered by name.

    >>> n, m = dy2st.dims.symbol("n"), dy2st.dims.symbol("m")
    >>> dy2st.dims.symbols(n * m + 1)
    (m, n)
    """
    found: set[Atom] = set()
    _gather(value, found)
    return tuple(of_atom(atom) for atom in sorted(found, key=lambda atom: atom.order))


def _gather(value: Any, found: set[Atom]) -> None:
    if isinstance(value, Dim):
        found.update(deep_symbols(value))
    elif isinstance(value, Condition):
        _gather((value.left, value.right), found)
    elif isinstance(value, (tuple, list)):
        for entry in value:
            _gather(entry, found)


def substitute(size: Size, values: Mapping[Dim, Size]) -> Size:
    """The size with other sizes in place of symbols.

    >>> n, m = dy2st.dims.symbol("n"), dy2st.dims.symbol("m")
    >>> dy2st.dims.substitute(2 * n + 1, {n: m + 1})
    2*m + 3
    """
    return _substituted(size, values, {})


def _substituted(size: Size, values: Mapping[Dim, Size], known: dict[Atom, Size]) -> Size:
    """`known` are atoms that were met before: shared parts are computed once."""
    if not isinstance(size, Dim):
        return size
    result: Size = size.constant
    for atoms, factor in size.terms:
        term: Size = factor
        for atom in atoms:
            value = known.get(atom)
            if value is None:
                if atom.kind == "symbol":
                    own = of_atom(atom)
                    value = values.get(own, own)
                else:
                    args = [_substituted(argument, values, known) for argument in atom.args]
                    value = operation(atom.kind, tuple(args))
                known[atom] = value
            term = multiply(term, value)
        result = add(result, term)
    return result


def substitute_condition(condition: Condition, values: Mapping[Dim, Size]) -> bool | Condition:
    """The condition with other sizes in place of symbols; its truth if they are all numbers.

    >>> n, m = dy2st.dims.symbol("n"), dy2st.dims.symbol("m")
    >>> dy2st.dims.substitute_condition(n > 3, {n: m + 1})
    m + 1 > 3
    >>> dy2st.dims.substitute_condition(n > 3, {n: 4})
    True
    """
    left = substitute(condition.left, values)
    right = condition.right
    if isinstance(right, tuple):
        right = tuple(substitute(entry, values) for entry in right)
        is_known = all(isinstance(entry, int) for entry in right)
    else:
        right = substitute(right, values)
        is_known = isinstance(right, int)
    if is_known and isinstance(left, int):
        return MEANING[condition.relation](left, right)
    return Condition(condition.relation, left, right)


def evaluate(value: Any, values: Mapping[Dim, int]) -> Any:
    """The number of a size, or the truth of a condition, for known values of the symbols.

    Raises UndecidedDim if a symbol has no value, ZeroDivisionError if a divisor is 0.

    >>> n = dy2st.dims.symbol("n")
    >>> dy2st.dims.evaluate(n // 2 + 1, {n: 7}), dy2st.dims.evaluate(n > 3, {n: 7})
    (4, True)
    """
    if isinstance(value, Condition):
        result: Any = substitute_condition(value, values)
    else:
        result = substitute(value, values)
    if isinstance(result, (Dim, Condition)):
        missing = ", ".join(map(str, symbols(result)))
        raise UndecidedDim(f"the size {value} needs a value for {missing}")
    return result


def to_python(value: Size | Condition, name: Callable[[Dim], str]) -> str:
    """A Python expression, with `name(symbol)` for symbols; it may call min, max, broadcast.

    >>> n = dy2st.dims.symbol("n")
    >>> dy2st.dims.to_python(n // 2 + 1, lambda symbol: f"sizes[{symbol.name!r}]")
    "(1 + (sizes['n'] // 2))"
    """
    if isinstance(value, Condition):
        left, relation, right = to_python(value.left, name), value.relation, value.right
        if isinstance(right, tuple):
            entries = ", ".join(to_python(entry, name) for entry in right)
            return f"({left} {relation} ({entries},))"
        other = to_python(right, name)
        if relation.endswith("broadcasts"):
            test = f"({left} == {other} or 1 in ({left}, {other}))"
            return test if relation == "broadcasts" else f"(not {test})"
        return f"({left} {relation} {other})"
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
    if len(args) == 1:
        return args[0]
    return f"{atom.kind}({', '.join(args)})"


__all__ = [
    "ShapeError",
    "evaluate",
    "substitute",
    "substitute_condition",
    "symbols",
    "to_python",
]
