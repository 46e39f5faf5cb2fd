"""Elements in an order that the run knows, by keys of all kinds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

import dy2st
from tests.dy2st.catalogue.comparing import comparable
from tests.dy2st.convert.kinds.same import VALUES, refused, same


@dataclass
class Beam:
    score: Any
    name: str

    def __lt__(self, other):
        return self.score < other.score


class Ranked(NamedTuple):
    """Whose order is another one than that of its fields."""

    rank: Any
    place: Any

    def __lt__(self, other):
        return self.place > other.place


def names_perhaps_there(x):
    terms = {"fit": x.sum(), "size": x.max()}
    if x.max() > 2:
        terms["peak"] = x.min()
    if x.min() < -1:
        terms["low"] = x.min()
    return sorted(terms), sorted(terms, reverse=True)


def pairs_that_differ_at_first(x):
    best = {}
    for v in x:
        key = int(v)
        if key not in best or v > best[key][0]:
            best[key] = (v, x)
    return [pair[0] for _, pair in sorted(best.items())]


def objects_that_compare_themselves(x):
    beams = [Beam(x.sum(), "a"), Beam(x.max(), "b"), Beam(x.min(), "c"), Beam(x.max(), "d")]
    back = sorted(beams, reverse=True)
    return [b.name for b in sorted(beams)], [b.name for b in back], max(beams).name


def tuples_that_compare_themselves(x):
    rows = [Ranked(v, i) for i, v in enumerate(x)]
    first, second = Ranked(x.sum(), 1), Ranked(x.max(), 2)
    return [row.rank for row in sorted(rows)], first < second, second < first


def objects_of_a_list_of_a_length(x):
    beams = [Beam(v, "up" if v > 1 else "down") for v in x]
    return [b.score for b in sorted(beams)], [b.score for b in sorted(beams, key=lambda b: b.name)]


def texts_beside_numbers(x):
    rows = [(x.sum(), "b"), (x.max(), "a"), (x.sum(), "a")]
    rows.sort(key=lambda row: (row[1], -row[0]))
    return rows


def tuples_that_are_equal_at_first(x):
    pairs = [(x.max(), 2), (x.max(), 1), (x.sum(), 3)]
    first = "one" if pairs[0] > pairs[1] else "other"
    return min(pairs)[1], max(pairs)[1], first, [p[1] for p in sorted(pairs)]


@pytest.mark.parametrize(
    "function",
    [
        names_perhaps_there,
        pairs_that_differ_at_first,
        objects_that_compare_themselves,
        tuples_that_compare_themselves,
        objects_of_a_list_of_a_length,
        texts_beside_numbers,
        tuples_that_are_equal_at_first,
    ],
)
def test_the_order_is_that_of_python(function):
    same(function, *VALUES)


def test_lists_of_a_length_are_ordered_by_their_elements():
    def compared(x):
        small, large = [v for v in x if v < 2], [v for v in x if v < 3]
        rows = sorted([large, small, [x.sum()]])
        return 1 if small < large else 0, 1 if large >= small else 0, [len(row) for row in rows]

    same(compared, *VALUES)


def by_name(x):
    named = {"w": x * 2, "b": x.sum(), "a": x[:1]}
    return {name: value for name, value in sorted(named.items())}


def by_number_and_name(x):
    rows = [(2, "b", x), (1, "c", x * 2), (2, "a", x * 3), (0.5, "z", x[:1])]
    rows.sort(reverse=True)
    return rows


def by_a_key_that_begins_with_a_name(x):
    return sorted([x, x[:1]], key=lambda one: (str(len(one.shape)) + str(one.shape[0]), one.sum()))


@pytest.mark.parametrize(
    "function", [by_name, by_number_and_name, by_a_key_that_begins_with_a_name]
)
def test_an_order_that_is_known_leaves_a_list_of_python(function, tmp_path):
    x = dy2st.to_tensor([3.0, 1.0])
    static = dy2st.to_static(function)
    assert comparable(static(x)) == comparable(function(x))
    assert "argsort" not in str(static.main_program)
    dy2st.jit.save(static, str(tmp_path / "model"))
    loaded = dy2st.jit.load(str(tmp_path / "model"))
    assert comparable(loaded(x)) == comparable(function(x))


def test_of_pairs_the_second_of_which_is_one_of_several_the_greatest_is_found():
    def run(x):
        best = (-1.0, None)
        for place in range(3):
            best = max(best, (x[place % x.shape[0]].item(), place))
        return best, len([best, best]), len((best, 1))

    same(run)


def counting(x, values):
    """The elements in order, and which of them were compared."""
    asked = []

    class Counting(Beam):
        def __lt__(self, other):
            asked.append((self.name, other.name))
            return bool(self.score < other.score)

    found = sorted([Counting(value, name) for value, name in zip(values, "abcd")])
    return x, [one.name for one in found], asked


class Visits:
    """Which has no order, and of which only the run knows which one is which."""

    def __init__(self):
        self.n = 0


def by_their_keys(x):
    found = {}
    for key in x.tolist():
        one = found.setdefault(key, Visits())
        one.n += 1
    return [(key, one.n) for key, one in sorted(found.items())]


def test_objects_without_an_order_stand_behind_keys_that_differ():
    same(by_their_keys, *VALUES)


def test_objects_without_an_order_behind_equal_keys_raise_in_the_program():
    def run(x):
        rows = []
        for key in x:
            rows.append((int(key), Visits()))
        return [key for key, _ in sorted(rows)]

    static = dy2st.to_static(run, input_spec=[dy2st.static.InputSpec([None])])
    assert static(dy2st.to_tensor([3.0, 1.0])) == [1, 3]
    for function in run, static:
        with pytest.raises(TypeError):
            function(dy2st.to_tensor([3.0, 1.0, 3.0]))


def test_elements_whose_order_is_known_are_compared_as_often_as_in_python():
    same(lambda x: counting(x, [3, 1, 2]))
    same(lambda x: counting(x, [2, 2]))


def test_comparisons_that_change_something_do_not_order_what_a_tensor_decides():
    refused(lambda x: counting(x, [x.sum(), x.max(), x.min()]), "to compare them changes some")
    refused(lambda x: counting(x, [value for value in x if value > 0]), "to compare them changes")
