"""Writes assumptions in one form each: what is assumed is known, even if nothing proves it."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import Any

from dy2st_runtime.dims.conditions import Condition
from dy2st_runtime.dims.equations import exactness
from dy2st_runtime.dims.expression import Dim, Size, of_atom
from dy2st_runtime.dims.operations import modulo
from dy2st_runtime.dims.polynomial import (
    add,
    common_factor,
    divided_exactly,
    least_multiple,
    memo,
    multiply,
    subtract,
)

Question = tuple[Any, ...]
"""A key: ("zero", size), ("order", size), or a relation with its sides."""


def question(condition: Condition) -> tuple[Question, bool]:
    """What a condition asks, in the one form, and the answer that it stands for."""
    relation, left, right = condition.relation, condition.left, condition.right
    is_plain = not relation.startswith("not ")
    if relation in ("in", "not in"):
        return ("in", left, frozenset(right)), is_plain
    if relation in ("broadcasts", "not broadcasts"):
        return ("broadcasts", frozenset((left, right))), is_plain
    if relation in ("==", "!="):
        return zero(subtract(left, right)), relation == "=="
    if relation in ("<", "<="):
        left, right = right, left
    return order(subtract(subtract(left, right), int(relation in ("<", ">")))), True


@memo
def zero(size: Size) -> Question:
    """Whether a size is 0: without a common factor, and by what divides what."""
    exact = exactness(size)
    if exact is not None:
        size = modulo(*exact)
    if isinstance(size, Dim):
        size = divided_exactly(size, gcd(size.constant, common_factor(size)))
    if isinstance(size, Dim) and size.terms[0][1] < 0:
        size = multiply(size, -1)
    return "zero", size


@memo
def order(size: Size) -> Question:
    """Whether a size is not negative: solved for its one symbol if it has one."""
    return "order", least_multiple(solved_for_symbol(size))


def solved_for_symbol(rest: Size) -> Size:
    """What is not negative just where `rest` is: n - 1 for 2*((n + 1)//2) - 2."""
    while isinstance(rest, Dim) and len(rest.terms) == 1 and len(rest.terms[0][0]) == 1:
        (atom,), factor = rest.terms[0]
        limit = -(rest.constant // factor) if factor > 0 else rest.constant // -factor
        if atom.kind != "floordiv" or not isinstance(atom.args[1], int):
            return subtract(of_atom(atom), limit) if factor > 0 else subtract(limit, of_atom(atom))
        above, below = atom.args
        if factor > 0:  # above // below >= limit
            rest = subtract(above, limit * below)
        else:  # above // below <= limit
            rest = subtract(add(multiply(limit, below), below - 1), above)
    return rest


def note(
    answers: dict[Question, bool], condition: Condition, normal: Callable[[Size], Size]
) -> None:
    """Remember that a condition holds, as it was written and as the facts before it make it."""
    asked, answer = question(condition)
    answers[asked] = answer
    kind, size = asked[0], asked[-1]
    if kind == "order":
        answers[order(subtract(-1, size))] = False
    form = normal(size) if kind in ("zero", "order") else size
    if form is not size:
        answers[zero(form) if kind == "zero" else order(form)] = answer
