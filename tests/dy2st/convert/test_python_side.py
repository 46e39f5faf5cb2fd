"""What rewritten code calls does with Python values exactly what Python's statements do."""

from __future__ import annotations

import doctest
import itertools

import pytest

from dy2st.convert import (
    assert_,
    builtins_,
    call,
    compare,
    containers,
    ifelse,
    left,
    logical,
    loop,
    reads,
    undefined,
)
from dy2st_runtime.errors import UnsupportedSyntax


@pytest.mark.parametrize(
    "module",
    [assert_, builtins_, call, compare, containers, ifelse, left, logical, loop, reads, undefined],
    ids=lambda module: module.__name__,
)
def test_examples_in_docstrings_hold(module):
    assert doctest.testmod(module).failed == 0


def test_a_for_loop_takes_no_item_after_its_condition_failed():
    items = itertools.count()
    result = loop.convert_for_loop(items, lambda x: x < 3, lambda item, x: (item,), [0])
    assert result == (3,) and next(items) == 4


def test_ranges_longer_than_any_list_are_counted():
    assert loop.convert_range(range, 10**30) == (range(10**30), 10**30)
    assert [loop.convert_range(range, *a)[1] for a in ((0,), (5, 0), (5, 0, -2), (0, 7, 3))] == [
        len(range(*a)) for a in ((0,), (5, 0), (5, 0, -2), (0, 7, 3))
    ]


def test_a_range_with_a_new_meaning_is_refused():
    with pytest.raises(UnsupportedSyntax, match="another meaning"):
        loop.convert_range(list, 3)


def test_reading_an_undefined_variable_raises_what_python_raises():
    def read():
        if False:
            name = 1
        return name

    with pytest.raises(UnboundLocalError) as expected:
        read()
    with pytest.raises(UnboundLocalError) as found:
        reads.defined(undefined.undefined("name"))
    assert str(found.value) == str(expected.value)


def test_a_failure_of_its_own_is_raised_instead():
    value = undefined.Undefined("y", lambda: KeyError("only one branch sets y"))
    with pytest.raises(KeyError, match="only one branch"):
        reads.defined(value)


def test_conditions_left_as_python_pass_python_values_through():
    value = [1]
    assert left.convert_python_bool(value, "yield") is value
    assert left.convert_python_iter(value, "jump") is value
