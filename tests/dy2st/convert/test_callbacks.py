"""Callbacks of Python's library are converted; everything else that it is given stays itself."""

from __future__ import annotations

import functools
import itertools
import sys

import pytest

from dy2st.convert.call import convert_call
from dy2st.transpiler import is_converted


def positive(x):
    if x > 0:
        return True
    return False


def code_of_callback(function, *arguments, **options):
    """Call a higher-order function with a callback that notes how it runs."""
    seen = []

    def callback(*values):
        seen.append(is_converted(sys._getframe().f_code))
        return values[0] if values else None

    result = convert_call(function)(
        *(callback if a is positive else a for a in arguments),
        **{k: callback if v is positive else v for k, v in options.items()},
    )
    if result is not None and not isinstance(result, int):
        list(result)
    return set(seen)


@pytest.mark.parametrize(
    ("function", "arguments", "options"),
    [
        (map, (positive, [1, 2]), {}),
        (filter, (positive, [1, 2]), {}),
        (sorted, ([2, 1],), {"key": positive}),
        (max, ([2, 1],), {"key": positive}),
        (min, (2, 1), {"key": positive}),
        (functools.reduce, (positive, [1, 2, 3]), {}),
        (itertools.accumulate, ([1, 2], positive), {}),
        (itertools.accumulate, ([1, 2],), {"func": positive}),
        (itertools.takewhile, (positive, [1, 2]), {}),
        (itertools.starmap, (positive, [(1, 2)]), {}),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_the_callback_runs_converted(function, arguments, options):
    assert code_of_callback(function, *arguments, **options) == {True}


def test_list_sort_converts_its_key():
    items = [3, -1, 2]
    assert convert_call(items.sort)(key=lambda n: -n if n > 0 else n) is None
    assert items == [3, 2, -1]


def test_a_function_among_the_data_stays_itself():
    assert list(convert_call(map)(lambda f: f, [positive])) == [positive]
    assert convert_call(functools.reduce)(lambda a, b: a, [1], positive) is positive
    assert convert_call(filter)(None, [0, 1]) is not None
    assert convert_call(sorted)([2, 1], key=None) == [1, 2]


def test_outside_of_a_trace_lru_cache_is_the_users_own():
    @functools.lru_cache
    def cached(x):
        return [x]

    assert convert_call(cached) is cached
