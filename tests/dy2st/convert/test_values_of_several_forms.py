"""Lists and objects of which a tensor chooses one are, under all their names, what Python has."""

from __future__ import annotations

import pytest

import dy2st
from dy2st.jit import to_static
from tests.dy2st.catalogue.comparing import comparable

UP, DOWN = [1.0, 2.0], [-1.0, -2.0]


def same(function):
    static = to_static(function)
    for values in (UP, DOWN):
        x = dy2st.to_tensor(values)
        assert comparable(static(x)) == comparable(function(x))
    assert len(static.program_cache) == 1


def grows_under_two_names(x):
    parts = [x]
    other = parts
    count = 0
    while count < x.sum():
        parts.append(x)
        count += 1
    return parts, [part for part in other]


def chosen_alias(x):
    a, b = [x], [x]
    c = a if x.sum() > 0 else b
    c.append(x)
    return len(a), len(b)


def chosen_and_grown(x):
    a, b = [x], [x, x + 1]
    c = a if x.sum() > 0 else b
    c.append(x)
    return len(a)


class Plain:
    def __init__(self, x):
        self.x, self.n = x, 0


def chosen_as_a_key(x):
    first, second = Plain(x), Plain(x * 2)
    table = {first: x, second: x * 3}
    return table[first if x.sum() > 0 else second]


def looked_up_by_a_number(x):
    return {3: "three", -3: "less"}.get(int(x.sum()))


def repeated_by_a_number(x):
    return [1, 2] * int(x.sum()), int(x.sum()) * (3, 4)


def numbers_in_a_set(x):
    seen = set()
    for value in x:
        seen.add(int(value))
    return len(seen), len({int(value) for value in x}), len({int(x.sum()), 3})


def numbers_as_keys(x):
    return len(dict.fromkeys([int(x.sum()), 3])), len(set([int(x.sum()), 3]))  # noqa: C405


@pytest.mark.parametrize(
    "function",
    [
        numbers_in_a_set,
        numbers_as_keys,
        grows_under_two_names,
        chosen_as_a_key,
        looked_up_by_a_number,
        repeated_by_a_number,
    ],
)
def test_it_is_what_python_has(function):
    same(function)


@pytest.mark.parametrize("function", [chosen_alias, chosen_and_grown])
def test_a_list_that_may_be_one_of_two_is_changed_in_both_cases_or_refused(function):
    try:
        same(function)
    except dy2st.errors.ConversionError as error:
        assert "may have made one with another" in str(error)


def test_a_container_that_outlives_the_call_changes_at_each_turn():
    kept = {"seen": []}

    def changes(x):
        while x.sum() < 10:
            kept["seen"].append(1)
            x = x + 1
        return x

    static = to_static(changes)
    x = dy2st.to_tensor(UP)
    assert static(x).tolist() == changes(x).tolist()
    assert kept["seen"] == [1] * 8


def matched_by_its_form(x):
    value = [x, 1] if x.sum() > 0 else {"key": x}
    match value:
        case [first, count]:
            return first * 2 + count
        case {"key": held}:
            return held * 3


def test_a_pattern_is_matched_with_each_value_that_it_may_be():
    same(matched_by_its_form)


def one_of_six_lengths(x):
    found = ()
    if x.sum() > -2:
        found = (x,)
    if x.sum() > 0:
        found = (x, x + 1)
    if x.sum() > 2:
        found = (x, x, x)
    if x.sum() > 4:
        found = (x,) * 4
    if x.sum() > 5:
        found = (x,) * 5
    total = x
    for part in found:
        total = total + part
    return total, len(found)


def test_a_tuple_of_many_lengths_is_one_of_a_length_that_the_run_decides():
    same(one_of_six_lengths)


@pytest.mark.parametrize(
    "use",
    [
        len,
        bool,
        lambda pair: pair + pair,
        lambda pair: pair.index(3),
        lambda pair: [*reversed(pair)],
        lambda pair: [*zip(pair, pair, strict=True)],
        lambda pair: min([pair, (1, 5)], key=lambda one: one[1]),
        lambda pair: max([(pair[1], 0), (2, 1)]),
    ],
)
def test_a_tuple_with_one_of_several_values_is_a_tuple(use):
    def f(x):
        first = 1 if x.sum() > 0 else "a"
        return use((first, 3))

    same(f)
