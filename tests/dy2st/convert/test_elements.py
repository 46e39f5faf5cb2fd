"""Lists and objects that are put into a list or dict of a length, and changed after it."""

from __future__ import annotations

import collections
from collections import defaultdict

import pytest

from tests.dy2st.convert.kinds.same import VALUES, refused, same


class Meter:
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, value):
        self.sum = self.sum + value
        self.count += 1


def filled_after_it_is_put_in(x):
    rows = []
    for v in x:
        row = []
        rows.append(row)
        row.append(v)
        row.append(v)
    return [len(row) for row in rows]


def filled_after_it_is_an_entry(x):
    rows = {}
    for v in x:
        row = []
        rows[int(v)] = row
        row.append(v)
    return [len(row) for row in rows.values()]


def changed_at_its_place(x):
    rows = []
    for v in x:
        rows.append([v])
        rows[-1].append(v)
    return [len(row) for row in rows]


def groups_by_default(x):
    groups = defaultdict(list)
    for v in x:
        if v > 0:
            groups["up"].append(v)
        else:
            groups["down"].append(v)
    return len(groups["up"]), len(groups["down"])


def meters_by_default(x):
    meters = defaultdict(Meter)
    for v in x:
        meters["all"].update(v)
        if v > 0:
            meters["good"].update(v)
    return {name: (meter.sum, meter.count) for name, meter in meters.items()}


def meters_by_number(x):
    meters = {}
    for v in x:
        meters.setdefault(int(v) % 2, Meter()).update(v)
    return {name: (meter.sum, meter.count) for name, meter in meters.items()}


def entries_of_two_kinds(x):
    found = {}
    for v in x:
        if v > 0:
            found["last"] = v
        found.setdefault("all", []).append(1)
    return len(found["all"])


def looked_at_again_in_a_branch(x):
    rows = [[one] for one in x]
    place = int(x.argmax())
    row = rows[place]
    if x.sum() > 1:
        row.append(x[0])
        rows[place].append(x[0] + 1)
    return rows


def looked_at_in_one_branch(x):
    rows = [[v] for v in x if v != 9]
    rows[0].append(x[0])
    if x.sum() > 0:
        rows.append([x[0]])
    return [len(row) for row in rows]


FUNCTIONS = (
    *(filled_after_it_is_put_in, filled_after_it_is_an_entry, changed_at_its_place),
    *(groups_by_default, meters_by_default, meters_by_number, entries_of_two_kinds),
    looked_at_again_in_a_branch,
    looked_at_in_one_branch,
)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_change_is_seen_where_the_element_stands(function):
    same(function, sizes="unknown")
    same(function, VALUES[0], sizes="known")


def put_in_twice(x):
    rows, row = [], []
    for v in x:
        if v != 9:
            rows.append(row)
    row.append(x[0])
    return [len(row) for row in rows]


def kept_beside_the_list(x):
    rows = [[x[0]]]
    first = rows[0]
    for v in x:
        rows.append([v])
    first.append(x[0])
    return [len(row) for row in rows]


def the_last_one_in_a_variable(x):
    chunk = []
    chunks = [chunk]
    for v in x:
        if v < 0:
            chunk = []
            chunks.append(chunk)
        else:
            chunk.append(v)
    return [len(chunk) for chunk in chunks]


@pytest.mark.parametrize(
    "function",
    [put_in_twice, kept_beside_the_list, the_last_one_in_a_variable],
    ids=lambda f: f.__name__,
)
def test_a_change_under_another_name_is_seen_in_the_list(function):
    same(function)


def asked_after_the_other_has_changed(x):
    rows = []
    for v in x:
        row = [v]
        rows.append(row)
        rows[-1].append(v)
    return len(row)


def test_a_change_in_the_list_is_seen_under_another_name():
    same(asked_after_the_other_has_changed)


def of_which_one_has_changed(x):
    rows = [collections.deque([v]) for v in x if v != 9]
    others = sorted(rows, key=len)
    rows[0].append(x[0])
    return [len(row) for row in others]


def test_a_deque_in_two_lists_is_one_deque():
    same(of_which_one_has_changed, [1.0, -2.0, 3.0], [9.0, 4.0], [-1.0])


def test_whether_two_joined_lists_are_one_is_not_told_at_once():
    def function(x):
        changed = first = [1]
        try:
            for _ in x:
                changed += [int(x[0])]
        except ValueError:
            first = [4]
        return first is changed

    refused(function, "`is` between two objects, one of which a tensor decides on")
