"""Objects inside of others that a branch or loop makes one, and change under another name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dy2st
from dy2st.static import InputSpec

CALLS = ([1.0, 2.0, 0.5, 3.0], [-1.0, -2.0], [0.5, 2.0, 1.0, 1.0, 5.0, 0.0], [0.0, 0.0])


def equal(function: Callable[..., Any]) -> None:
    """Through one Program the function gives what Python gives."""
    static = dy2st.jit.to_static(function, input_spec=[InputSpec([None], "float32")])
    for values in CALLS:
        x = dy2st.to_tensor(np.array(values, "float32"))
        assert outcome(static, x) == outcome(function, x)


def outcome(function: Callable[..., Any], x: Any) -> str:
    """What it gives, or that there is no such element."""
    try:
        return repr(function(x))
    except IndexError:
        return "IndexError"


def in_a_pair(x):
    found, log = None, []
    if x.max() > 1:
        log = [x.min()]
        found = (log, x)
    log.append(x.sum())
    return found, log


def in_a_pair_or_another(x):
    found, log = ([], x), []
    if x.max() > 1:
        log = [x.min()]
        found = (log, x)
    log.append(x.sum())
    return found, log


def in_a_dict_of_a_loop(x):
    log: list[Any] = []
    found = {"log": log}
    for v in x:
        log = [v]
        if v > 1:
            found = {"log": log}
    log.append(x[0])
    return found, log


def two_names_in_a_loop(x):
    log: list[Any] = []
    found: list[Any] = []
    for v in x:
        log.append(v)
        if v > 1:
            log = [v]
            found = log
    return found, log


def outer_name_of_a_list(x):
    log: list[Any] = []
    found = [log]
    for v in x:
        log.append(v)
        if v > 1:
            log = [v]
    return found, log


def kept_and_gone_on_with(x):
    rows, row = [], []
    for v in x:
        row.append(v)
        if len(row) == 2:
            rows.append(row)
            if v > 1:
                row = []
    return rows


def looked_up_twice(x):
    rows = [[v] for v in x if v > 0.25]
    first, same = rows[0], rows[0]
    first.append(x[0])
    return same


def looked_up_where_a_tensor_says(x):
    rows = [[v] for v in x if v > 0.25]
    first, perhaps = rows[0], rows[x.argmin() % len(rows)]
    first.append(x[0])
    return perhaps


def looked_up_and_carried_by_a_loop(x):
    rows = [[v] for v in x if v > 0.25]
    row = rows[0]
    for v in x:
        if v > 2.5:
            row = [v]
    row.append(x[0])
    return rows


def put_away_and_carried_by_a_loop(x):
    row = [x[0]]
    rows = [[v] for v in x if v > 0.25]
    rows.append(row)
    carried = row
    for v in x:
        if v > 2.5:
            carried = [v]
    rows[-1].append(x[0])
    return carried


def carried_by_a_loop_and_put_away(x):
    row = [x[0]]
    rows = [[v] for v in x if v > 0.25]
    carried = row
    for v in x:
        if v > 2.5:
            carried = [v]
    rows.append(carried)
    rows[-1].append(x[0])
    return row


def one_of_the_list_that_grows(x):
    log, found = [x[0]], None
    for v in x:
        log.append(v)
        if found is not None:
            found.append(x[0])
        found = log if v > 1 else [v]
    found.append(x[0])
    return log, found


class Meter:
    def __init__(self, value):
        self.value = value


def one_of_the_objects_that_change(x):
    meter, found = Meter(x[0]), None
    for v in x:
        meter.value = meter.value + v
        found = meter if v > 1 else Meter(v)
    found.value = found.value - 100
    return meter.value, found.value


@pytest.mark.parametrize(
    "function",
    [
        one_of_the_list_that_grows,
        one_of_the_objects_that_change,
        put_away_and_carried_by_a_loop,
        carried_by_a_loop_and_put_away,
        looked_up_and_carried_by_a_loop,
        looked_up_twice,
        looked_up_where_a_tensor_says,
        in_a_pair,
        in_a_pair_or_another,
        in_a_dict_of_a_loop,
        two_names_in_a_loop,
        outer_name_of_a_list,
        kept_and_gone_on_with,
    ],
)
def test_who_holds_what_has_changed_sees_it(function):
    equal(function)


def test_a_list_that_one_path_puts_away_goes_on_in_the_other():
    def grouped(x):
        words, word = [], []
        for v in x:
            if v > 0:
                word.append(v)
            elif word:
                words.append(word)
                word = []
        if word:
            words.append(word)
        return words

    equal(grouped)


def test_a_list_that_is_full_is_put_away():
    def batches(x):
        rows, row = [], []
        for v in x:
            row.append(v)
            if len(row) == 2:
                rows.append(row)
                row = []
        rows.append(row)
        row.append(x[0])
        return rows

    equal(batches)


def test_what_a_branch_has_chosen_and_another_changes_is_given_back():
    def chosen(x):
        found = None
        if x.max() > 1:
            found = [x]
        if found is not None:
            found.append(x + 1)
        return found, 3

    equal(chosen)


def test_an_object_of_a_path_that_returned_is_given_back_by_value():
    def logged(x):
        for k in range(2):
            log = []
            try:
                if x.sum() > k:
                    return log, x
            finally:
                log.append(x.sum())
        return log

    equal(logged)


def test_two_objects_of_a_branch_are_chosen_one_of():
    def chosen(x):
        found, pair = None, (None, 1)
        if x.max() > 0:
            one = [x.sum()]
            two = [x.max(), x.min()]
            found, pair = (one, (two, 2)) if x.min() > 0 else (two, (one, 3))
        return found, pair

    equal(chosen)


def test_one_of_two_lists_is_an_element_of_a_pair():
    def rows(x):
        rows = []
        for v in x:
            one = [v]
            two = [v, v]
            row = one if v > 1 else two
            rows.append((row, v))
        return rows, sum(len(row) for row, _ in rows)

    equal(rows)
