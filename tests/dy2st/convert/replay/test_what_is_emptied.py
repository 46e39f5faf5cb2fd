"""What is emptied first does not depend on what it held."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import to_static

X = dy2st.to_tensor(np.array([1.0, 2.0], "float32"))


def programs(function):
    return len(function.program_cache)


def test_a_list_that_is_emptied_does_not_depend_on_what_it_held():
    held = []

    def function(x):
        held.clear()
        held.append(x)
        return x

    static = to_static(function)
    for _ in range(3):
        static(X)
    assert len(held) == 1
    assert programs(static) == 1


@pytest.mark.parametrize(
    "read",
    [
        lambda held: [value * 2 for value in held.values()],
        lambda held: [held["a"] * len(held)],
        lambda held: [held["a"]] if "b" not in held else [],
        lambda held: [value * 2 for key, value in held.items() if key],
    ],
)
def test_a_dict_that_is_emptied_and_filled_is_read_as_the_call_has_filled_it(read):
    held = {"b": X, "c": X}

    def function(x):
        held.clear()
        held["a"] = x
        return read(held)

    static = to_static(function)
    for times in (1.0, 2.0, 3.0):
        assert np.array_equal(static(X * times)[0].numpy(), read({"a": X * times})[0].numpy())
        assert list(held) == ["a"]
    assert programs(static) == 1


def test_what_is_read_of_a_dict_before_it_is_emptied_is_noticed():
    held = {"a": 2.0}

    def function(x):
        y = x * len(held)
        held.clear()
        held["b"] = 1.0
        return y

    static = to_static(function)
    static(X)
    held["c"] = 3.0
    assert np.array_equal(static(X).numpy(), X.numpy() * 2)
