"""What a branch only reads outside, and what libraries keep for themselves, is no concern."""

from __future__ import annotations

from types import ModuleType

import dy2st
from dy2st.jit import to_static
from dy2st.static import InputSpec
from dy2st_runtime.dims import symbol

LIST: list[object] = []

SETTINGS = ModuleType("settings_of_this_test")

exec("items, table = [], {}\ndef note(): items.append(1)", vars(SETTINGS))


def test_what_a_branch_only_reads_on_such_a_way_is_no_concern():
    def f(x):
        if x.sum() > 0:
            x = x + len(SETTINGS.items) + len([k for k in LIST])
        return x

    assert to_static(f)(dy2st.to_tensor([1.0])).tolist() == [1.0]


def test_what_a_library_keeps_for_itself_is_no_concern():
    from re import compile as pattern
    from secrets import token_hex  # draws from a generator without a state

    def f(x, take=token_hex):
        if x.sum() > 0:
            x = x + len(pattern(f"a+b{len(LIST)}c*").pattern)
        return x

    assert to_static(f)(dy2st.to_tensor([1.0])).tolist() == [7.0]


def test_a_size_whose_text_a_branch_asks_for_keeps_it():
    def padded(first, second):
        longest = max(len(first), len(second))
        if len(first) < longest:
            first = dy2st.concat([first, dy2st.zeros([longest - len(first)])])
        return first

    spec = InputSpec([None])
    static = to_static(padded, [spec, spec])
    assert static(dy2st.ones([1]), dy2st.ones([3])).tolist() == [1.0, 0.0, 0.0]
    assert str(symbol("first_axis0")) == "first_axis0"
