"""`*` and `**` in calls where the data decides how many arguments there are."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from tests.dy2st.convert.kinds.same import VALUES, refused, same


@dataclass
class Pair:
    first: Any
    second: Any


class Both(NamedTuple):
    plain: Any
    square: Any


def positive(x):
    return [v for v in x if v > 0]


def to_the_rest(x):
    def total(first, *rest):
        for v in rest:
            first = first + v
        return first, len(rest)

    return total(x.sum(), *positive(x))


def handed_on(x):
    def longest(*values):
        return len(values), sum(values)

    def outer(*values):
        return longest(*values, x.sum())

    return outer(x.max(), *positive(x))


def to_as_many_as_it_takes(x):
    def difference(a, b):
        return a - b

    return difference(*positive(x)[:2])


def to_a_class(x):
    pair = Pair(x.max(), *positive(x)[:1])
    return pair.second


def transposed(x):
    pairs = [(v, v * v) for v in x if v > 0]
    if not pairs:
        return x.sum(), x.sum()
    values, squares = zip(*pairs)
    return sum(values), sum(squares)


def transposed_named_tuples(x):
    values, squares = zip(*[Both(v, v * v) for v in x])
    return max(values), sum(squares)


def transposed_in_a_loop(x):
    total = 0.0
    for column in zip(*[(v, -v, v * v) for v in x if v > 0]):
        total = total * 2 + sum(column)
    return total


def chained(x):
    return sum(itertools.chain(*[[v, v * v] for v in x if v > 0]))


def options_perhaps_there(x):
    def affine(v, scale=1.0, *, shift=0.0, **others):
        return v * scale + shift + len(others)

    options = {"scale": 2.0}
    if x.sum() > 0:
        options["shift"] = x.max()
    if x.max() > 2:
        options["other"] = 1.0
    return affine(x, **options)


def completed_in_a_loop(x):
    def affine(total, **options):
        options["shift"] = options["scale"] + 1.0
        return Pair(total, **{"second": total * options["scale"] + options["shift"]}).second

    total, rest = x.sum(), x.max()
    while rest > 0:
        total, rest = affine(total, scale=rest), rest - 1.0
    return total


@pytest.mark.parametrize(
    "function",
    [
        to_the_rest,
        handed_on,
        to_as_many_as_it_takes,
        to_a_class,
        transposed,
        transposed_named_tuples,
        transposed_in_a_loop,
        chained,
        options_perhaps_there,
        completed_in_a_loop,
    ],
)
def test_the_function_gets_what_python_gives_it(function):
    same(function, *VALUES)


def test_a_default_that_may_be_left_out_is_refused():
    def scaled(value, by=2.0):
        return value * by

    refused(lambda x: scaled(*positive(x)), "unpacked into arguments", *VALUES)


def lists_of_pairs(x):
    pairs = [(v, v * v) for v in x if v > 0]
    if not pairs:
        return [], []
    values, squares = map(list, zip(*pairs))
    return values, squares


def largest_of_some(x):
    return max(0.0, *[float(v) for v in x if v > 0], 0.5)


def sets_of_some(x):
    sets = [{int(v), int(v) + 1} for v in x if v > 0]
    every = set().union(*sets)
    every.update({9}, *sets)
    both = {1, 4}.intersection({1, 2, 4}, *sets)
    return sorted(every), sorted(both), sorted({1, 2, 3}.difference(*sets))


def sets_that_all_have(x):
    sets = [{int(v), 1, 2} for v in x if v > 0]
    return sorted(set.intersection(*sets)), len(set.union({7}, *sets)), sorted(sets[0])


@pytest.mark.parametrize(
    "function", [lists_of_pairs, largest_of_some, sets_of_some, sets_that_all_have]
)
def test_builtins_get_what_python_gives_them(function):
    same(function, *VALUES)
