"""What is traced again and again: what need not be, and what is said of the rest."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections import Counter

import numpy as np
import pytest

import dy2st as P
from dy2st import to_static

X = P.to_tensor([1.0, 2.0])


def programs_of(static):
    return len(getattr(static, "forward", static).program_cache)


class Counting(P.nn.Layer):
    def __init__(self):
        super().__init__()
        self.seen = {"calls": 0, "other": 5}
        self.places = [0, 7]
        self.kinds = Counter()

    def in_a_branch(self, x):
        if x.sum() > 0:
            self.seen["calls"] += 1
        return x * self.seen["calls"] + self.seen["other"]

    def in_both_branches(self, x):
        if x.sum() > 0:
            self.seen["calls"] += 1
        else:
            self.seen["calls"] -= 1
        return x * self.seen["calls"]

    def list_in_a_branch(self, x):
        if x.sum() > 0:
            self.places[0] += 2
        return x * self.places[0] + self.places[1]

    def counter_in_a_branch(self, x):
        if x.sum() > 0:
            self.kinds["large"] += 1
        return x * self.kinds["large"]

    def counted_by_update(self, x):
        self.kinds.update(["large", "large", "small"])
        return x * self.kinds["large"]

    def entry_in_a_loop(self, x):
        for _ in range(P.to_tensor(2) + 0 * x.sum().astype("int64")):
            self.seen["calls"] += 1
        return x * self.seen["calls"]


@pytest.mark.parametrize(
    "name",
    [
        "in_a_branch",
        "in_both_branches",
        "list_in_a_branch",
        "counter_in_a_branch",
        "counted_by_update",
        "entry_in_a_loop",
    ],
)
def test_entries_that_count_become_numbers_of_the_program(name):
    eager, held = Counting(), Counting()
    static = to_static(getattr(held, name))
    for sign in (1, 1, -1, 1, 1, -1, 1, 1, 1):
        assert static(X * sign).tolist() == getattr(eager, name)(X * sign).tolist()
        assert (held.seen, held.places, held.kinds) == (eager.seen, eager.places, eager.kinds)
    assert programs_of(static) <= 4


def test_other_entries_are_still_guarded():
    held = Counting()
    static = to_static(held.in_a_branch)
    for _ in range(3):
        static(X)
    held.seen["other"] = 100
    assert static(X).tolist() == [104, 108]
    held.seen["calls"] = 9
    assert static(X).tolist() == [110, 120]
    held.seen["new"] = 1
    assert static(X).tolist() == [111, 122]


class Moody(P.nn.Layer):
    def __init__(self):
        super().__init__()
        self.mood = "a"

    def forward(self, x):
        return x * len(self.mood)


def test_a_second_trace_has_a_reason_and_the_fifth_warns():
    layer = Moody()
    static = to_static(layer)
    assert static(X).tolist() == [1, 2]
    assert not static.forward.report().again
    for count in (2, 3, 4):
        layer.mood = "a" * count
        static(X)
        assert "traced again, since the attribute `mood` of a Moody" in str(static.forward.report())
    layer.mood = "aaaaa"
    with pytest.warns(UserWarning, match=r"traced the 5th time.*`mood` of a Moody.*tensor"):
        static(X)


def test_a_number_that_has_to_be_a_constant_warns_at_its_tenth_value():
    @to_static
    def f(x, rate, kind="plain"):
        return P.nn.functional.leaky_relu(x, rate)

    for step in range(9):
        f(X, rate=0.1 * step)
    with pytest.warns(UserWarning, match=r"each of 10 values.*`rate`.*to_tensor\(rate\)"):
        f(X, 0.9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f(X, 1.0)


def test_every_kind_of_constant_is_counted():
    @to_static
    def f(x, mode, sizes=(1,)):
        return x + len(mode) + sizes[0]

    for length in range(9):
        f(X, "m" * length)
    with pytest.warns(UserWarning, match=r"each of 10 values.*`mode`.* as tensors: there is one"):
        f(X, "other")


class Settings:
    def __init__(self, rate):
        self.rate = rate


def test_objects_that_are_new_at_each_call_are_told_of_at_the_fifth():
    static = to_static(lambda x, settings, shift=0: x * settings.rate + shift)
    static(X, Settings(1.0))
    assert not static.report().again
    for rate in (2.0, 3.0, 4.0):
        assert static(X, Settings(rate)).tolist() == (X * rate).tolist()
        assert "traced again, since the argument `settings` is another object" in str(
            static.report()
        )
    with pytest.warns(UserWarning, match=r"each of 5 objects that were.*`settings`.*one object"):
        static(X, Settings(5.0))


def test_numbers_of_numpy_are_values_and_no_objects():
    static = to_static(lambda x, rate: x * rate)
    rates = np.linspace(0, 1, 10)
    for rate in rates[:-1]:
        static(X, rate)
    assert static.report().again == "the argument `rate` is another value"
    with pytest.warns(UserWarning, match=r"each of 10 values of.*to_tensor\(rate\)"):
        static(X, rates[-1])


def test_another_value_of_an_argument_is_the_reason_of_a_trace():
    static = to_static(lambda x, mode, n: x * len(mode) + n)
    static(X, "a", 1)
    static(X, "ab", 1)
    assert static.report().again == "the argument `mode` is another value"
    static(X, "ab", 2)
    assert static.report().again == "the argument `n` is another value"


def test_the_tenth_structure_of_an_argument_warns_with_what_differs():
    @to_static
    def total(tree):
        return sum(one.sum() for one in tree["leaves"])

    for count in range(1, 10):
        total({"leaves": [X] * count})
    wanted = (
        r"10 structures of its argument `tree`, at last for \{'leaves': \[tensor \* 10\]\} after "
        r"\{'leaves': \[tensor \* 9\]\}.*InputSpec says None"
    )
    with pytest.warns(UserWarning, match=wanted):
        total({"leaves": [X] * 10})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        total({"leaves": [X] * 11})


# -- what is loaded late ---------------------------------------------------------------------------


CODE = """
import sys, dy2st
net = dy2st.to_static(dy2st.nn.Linear(2, 2), engine="native")
with dy2st.no_grad():
    net(dy2st.ones([1, 2]))
print(*sys.modules)
"""


def test_a_first_call_loads_no_passes_plans_and_checkpoints():
    shown = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    loaded = set(shown.stdout.split())
    late = {
        "dy2st.passes",
        "dy2st_runtime.checkpoint",
        "dy2st_runtime.engine.native.convolution.primitives",
    }
    assert not late & loaded and "dy2st_runtime.engine.native.entry" in loaded


def test_a_warning_of_a_function_under_no_grad_names_its_line():
    @P.no_grad()
    def noisy(x):
        return x * np.random.rand()

    static, line = to_static(noisy), noisy.__wrapped__.__code__.co_firstlineno
    with pytest.warns(UserWarning, match=rf"test_retracing.py:{line}: .*noisy\(\) is traced anew"):
        for _ in range(3):
            static(X)
