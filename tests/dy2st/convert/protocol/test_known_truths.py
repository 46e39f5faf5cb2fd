"""`and` and `or` are known where a constant decides them, though a tensor stands before it."""

from __future__ import annotations

import pytest

import dy2st
from dy2st.jit import to_static
from tests.dy2st.catalogue.comparing import comparable

VALUES = ([1.0, 2.0], [-1.0, 3.0], [0.0, 0.0], [-2.0, -2.0])


class Settings:
    bias = None
    always = True


def behind_none(x, own):
    if x[0] > 0 and own.bias is not None:
        return x - own.bias
    return x


def as_a_value(x, own):
    has_bias = x.sum() > 0 and own.bias is not None
    return 1 - own.bias if has_bias else x * 2


def nested(x, own):
    if x[1] > 1 and (x[0] > 0 and own.bias is not None):
        return own.bias.sum()
    return x


def beside_another(x, own):
    if (x[0] > 0 and own.bias is not None) or x[1] > 2:
        return x + 1
    return x


def turned_round(x, own):
    if not (x[0] > 0 or own.bias is None):
        return x - own.bias
    return x


def by_or(x, own):
    if x[0] > 0 or own.always:
        y = x + 1
    else:
        y = own.bias + 1
    return y


def in_a_while(x, own):
    while x.sum() > 0 and own.bias is not None:
        x = x - own.bias
    return x


def in_a_loop(x, own):
    sides = [None, 0, None]
    for k in range(2):
        if x[k] > 0 and sides[k] is not None:
            sides[k + 1] = 1 - sides[k]
    return sides


def as_results(x, own):
    return x[0] > 0 and False, x[0] > 0 or 3, x[1] > 2 and own.bias


WAYS = (behind_none, as_a_value, nested, beside_another, turned_round, by_or, in_a_while, in_a_loop)


@pytest.mark.parametrize("way", WAYS)
def test_a_branch_that_a_constant_rules_out_is_not_traced(way):
    static = to_static(lambda x: way(x, Settings))
    for values in VALUES:
        x = dy2st.to_tensor(values)
        assert comparable(static(x)) == comparable(way(x, Settings))
    assert len(static.program_cache) == 1


def test_the_values_of_such_expressions_are_those_of_python():
    static = to_static(lambda x: as_results(x, Settings))
    for values in VALUES:
        found = [one if one is None else float(one) for one in static(dy2st.to_tensor(values))]
        wanted = as_results(dy2st.to_tensor(values), Settings)
        assert found == [one if one is None else float(one) for one in wanted]


def sides_of(x):
    return [None, 0, None] if x.sum() > 0 else [1, None, None]


def both_sides_tell(x, own):
    sides = sides_of(x)
    for i in range(3):
        for j in range(3):
            if x[0] > -3 and sides[i] is not None:
                if sides[j] is None:
                    sides[j] = 1 - sides[i]
    return sides


def neither_side_of_an_or(x, own):
    first, second = sides_of(x)[:2]
    if first is None or x[1] > 2 or second is None:
        return x
    return x + (first - second)


def turned_round_twice(x, own):
    first = sides_of(x)[0]
    if not (first is None or x[1] > 5):
        return x + (1 - first)
    return x


def two_of_one(x, own):
    first, second = sides_of(x)[0], sides_of(x + 3)[0]
    if first is not None and second is not None and x[0] < 0:
        return x + (first - second)
    return x * (2 if second is None else 1 - second)


@pytest.mark.parametrize(
    "way", [both_sides_tell, neither_side_of_an_or, turned_round_twice, two_of_one]
)
def test_a_branch_knows_what_the_parts_of_its_condition_tell(way):
    static = to_static(lambda x: way(x, Settings))
    for values in (*VALUES, [-9.0, 1.0]):
        x = dy2st.to_tensor(values)
        assert comparable(static(x)) == comparable(way(x, Settings))
    assert len(static.program_cache) == 1
