"""What an element of a list of unknown length becomes last is kept, on each path and outside."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import dy2st
from dy2st import nn
from dy2st.jit import to_static
from dy2st.static import InputSpec
from tests.dy2st.catalogue.comparing import comparable


def append(rows, x):
    rows[0].append(x)


def at_the_end(rows, x):
    append(rows, x)


def in_an_entry(rows, x):
    rows[-1][0] = x


def in_a_handler(rows, x):
    try:
        append(rows, x)
        if x.sum() > 4:
            raise ValueError
    except ValueError:
        rows[-1].append(x * 2)


def in_finally(rows, x):
    try:
        append(rows, x)
        if x.sum() > 4:
            raise ValueError
    except ValueError:
        append(rows, x * 2)
    else:
        append(rows, x * 3)
    finally:
        append(rows, x * 4)


def before_an_early_return(rows, x):
    if x.sum() > 4:
        append(rows, x)
        return
    rows[-1].append(x * 2)


CHANGES = [at_the_end, in_an_entry, in_a_handler, in_finally, before_an_early_return]


class Holder(nn.Layer):
    def __init__(self, change):
        super().__init__()
        self.rows, self.change = [], change

    def forward(self, x):
        for t in x:
            self.rows.append([t])
        self.change(self.rows, x)
        return x * 1


@pytest.mark.parametrize("specs", [None, [InputSpec([None], "float32")]], ids=["known", "unknown"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda f: f.__name__)
def test_a_list_outside_has_the_last_change_of_its_elements(change, specs):
    eager, layer = Holder(change), Holder(change)
    static = to_static(layer, specs)
    for values in ([1.0, 1.0], [5.0, 5.0, 3.0], [2.0]):
        for one in (eager, layer):
            one.rows = []
        eager(dy2st.to_tensor(values))
        static(dy2st.to_tensor(values))
        assert comparable(layer.rows) == comparable(eager.rows)


@pytest.mark.parametrize("change", CHANGES, ids=lambda f: f.__name__)
def test_a_list_of_the_function_has_the_last_change_of_its_elements(change):
    def f(x):
        rows = [[t] for t in x]
        change(rows, x)
        return rows

    static = to_static(f, [InputSpec([None], "float32")])
    for values in ([1.0, 1.0], [5.0, 5.0, 3.0], [2.0]):
        x = dy2st.to_tensor(values)
        assert comparable(static(x)) == comparable(f(x))


def test_an_entry_that_a_branch_may_have_made_gets_what_is_appended_to_it():
    def f(x, table):
        if x.sum() > 4:
            table["rows"] = [x * 2]
        table.setdefault("rows", []).append(x)

    static = to_static(f)
    for values in ([1.0, 1.0], [5.0, 5.0]):
        expected, found = {}, {}
        f(dy2st.to_tensor(values), expected)
        static(dy2st.to_tensor(values), found)
        assert comparable(found) == comparable(expected)


@pytest.mark.parametrize("is_held", [False, True], ids=["given", "held"])
def test_a_list_that_got_longer_before_a_loop_gets_longer_at_each_call(is_held):
    holder = SimpleNamespace(rows=[])

    def f(x, rows):
        rows = holder.rows if is_held else rows
        rows.append(x)
        i = x.sum() % 3
        while i > 0:
            i = i - 1
            rows.append(x * i)

    static, rows = to_static(f), []
    for count in (3, 6, 9):
        static(dy2st.to_tensor([1.0, -2.0, 3.0]), rows)
        assert len(holder.rows if is_held else rows) == count
