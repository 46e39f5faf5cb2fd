"""Items of containers among several targets: each is assigned, from left to right, as in Python."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st.static import InputSpec

X = np.arange(1.0, 4.0, dtype="float32")


def pair_of_item_and_name(x):
    held = [x, x]
    last = x
    for v in x:
        last, held[0] = held[0] * 2, held[0] + v
    return last, held[0]


def swap_of_items(x):
    held = [x, x + 1]
    for v in x:
        held[0], held[1] = held[1], held[0] + v
    return held


def chain_of_targets(x):
    held = [x, x]
    other = x
    for v in x:
        other = held[1] = held[0] + v
    return other + held[1]


def tuples_in_a_list(x):
    held = [(x, x), (x, x)]
    for v in x:
        for place in range(2):
            last, held[place] = v, (held[place][1] + v, held[place][0] * 2)
    return last, held


def nested_and_starred(x):
    held = [x, x, x]
    (a, (held[0], b)), *rest = (x, (x * 2, 3)), x, 4
    held[1], *held[2:] = [a + b, rest[0]]
    return held, rest[1]


def the_index_follows_the_targets_before_it(x):
    held = [x, x]
    place = 0
    place, held[place] = 1, x * 5
    return held[0], held[1]


def items_of_a_tensor(x):
    y = x * 1
    for v in x:
        y[0], scale = v, 2
    return y * scale


def items_in_a_branch(x):
    held = {"a": x, "b": x}
    if x.sum() > 0:
        held["a"], held["b"] = held["b"] * 2, held["a"] + 1
    return held["a"], held["b"]


def flat(value):
    if isinstance(value, (list, tuple)):
        return [array for entry in value for array in flat(entry)]
    return [value.numpy() if isinstance(value, dy2st.Tensor) else np.asarray(value)]


@pytest.mark.parametrize(
    "function",
    [
        pair_of_item_and_name,
        swap_of_items,
        chain_of_targets,
        tuples_in_a_list,
        nested_and_starred,
        the_index_follows_the_targets_before_it,
        items_of_a_tensor,
        items_in_a_branch,
    ],
)
@pytest.mark.parametrize("size", ["n", 3])
def test_several_targets_are_assigned_as_in_python(function, size):
    x = dy2st.to_tensor(X)
    static = dy2st.to_static(function, [InputSpec([size], "float32")])
    expected, found = flat(function(x)), flat(static(x))
    assert len(expected) == len(found)
    for left, right in zip(expected, found, strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("values", ["(1, 2, 3)", "(1,)"])
def test_a_wrong_number_of_values_is_pythons_error(values):
    def two(x, values=(1, 2, 3) if values == "(1, 2, 3)" else (1,)):
        held = [x]
        a, held[0] = values
        return held[0]

    with pytest.raises(ValueError, match="unpack"):
        dy2st.to_static(two)(dy2st.to_tensor(X))


SHARED = [(0, 0)]


def tuples_replaced_by_tuples(x):
    for _ in x:
        SHARED[0] = (1, 1)
    return x


def test_a_loop_replaces_what_stands_outside():
    dy2st.to_static(tuples_replaced_by_tuples, [InputSpec(["n"], "float32")])(dy2st.to_tensor(X))
    assert SHARED == [(1, 1)]
