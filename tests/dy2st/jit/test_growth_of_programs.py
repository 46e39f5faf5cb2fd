"""A Program that one line makes grow beyond all measure is refused, and soon; honest ones are not."""

from __future__ import annotations

import gc
import re
import sys

import numpy as np
import pytest

import dy2st
import dy2st.nn.functional as F
from dy2st import nn
from dy2st.jit import to_static
from dy2st.static import InputSpec
from dy2st_runtime.errors import UnsupportedSyntax
from dy2st_runtime.ir.tracing import growth
from tests.dy2st.jit.growing_idioms import GROWING, growing

X = dy2st.to_tensor([1.0, 2.0, 3.0])


def _until_small(n):
    def run(x):
        found = []
        for i in range(n):
            x = x * 0.9
            found.append(x)
            if x.sum() < 0.5:
                break
        return dy2st.stack(found).sum()

    return run


def _where_larger(n):
    def run(x):
        found = []
        for i in range(n):
            if x.sum() > i:
                found.append(x * i)
        return sum(found)

    return run


def _deeper(x, k):
    if k == 0:
        return x
    if x.sum() > k:
        return _deeper(x * 2, k - 1)
    return _deeper(x + 1, k - 1)


class _Calls:
    count = 0


def _level(inner, k, calls):
    def run(x):
        calls.count += 1  # what writes is no function of the Program
        if x.sum() > k:
            return inner(x * 2)
        return inner(x + 1)

    return run


def _in_both(n):
    def levels(x):
        calls = _Calls()
        run = _level(lambda x: x, 0, calls)
        for k in range(1, n):
            run = _level(run, k, calls)
        return run(x)

    return levels


@pytest.mark.parametrize("make", [_until_small, _where_larger])
def test_a_list_grows_by_as_much_with_every_path(make):
    sizes = []
    for n in (6, 12, 24):
        function = to_static(make(n))
        assert function(X).tolist() == pytest.approx(make(n)(X).tolist())
        sizes.append(len(list(function.main_program.block.walk())))
    assert sizes[2] - sizes[1] <= 2.2 * (sizes[1] - sizes[0])


def test_what_both_branches_call_is_one_function_however_deep():
    function = to_static(lambda x: _deeper(x, 40))
    assert function(X).tolist() == _deeper(X, 40).tolist()
    assert sum(1 for _ in function.main_program.walk()) < 1000


def test_what_grows_with_every_path_is_refused_with_its_line(monkeypatch):
    assert to_static(_in_both(6))(X).tolist() == _in_both(6)(X).tolist()
    monkeypatch.setattr(growth, "MOST_A_LINE", 2000)
    function = to_static(_in_both(40))
    with pytest.raises(UnsupportedSyntax) as refused:
        function(X)
    assert refused.value.at.file == __file__
    text = str(refused.value)
    assert re.search(r"2,000.*\n  because: .*\n  instead: .*DY2ST_MOST_A_LINE", text)


def test_a_list_of_many_lengths_needs_few_operators():
    function = to_static(_where_larger(12))
    assert function(X).tolist() == _where_larger(12)(X).tolist()
    assert str(function.main_program).count('"cond"') < 200


def test_long_loops_of_python_are_not_refused():
    layers = [nn.Linear(3, 3) for _ in range(20)]

    def run(x):
        for _ in range(5):
            for layer in layers:
                x = dy2st.tanh(layer(x)) + x
                if x.sum() > 5:
                    x = x - x.mean()
                    if x.max() > 1:
                        x = x * 0.5
        return x

    assert to_static(run)(X).tolist() == run(X).tolist()


def _pooled_in_windows(x):
    """A block of HRFormer: what is padded to windows of 7 goes back to its size."""
    batch, height, width = dy2st.shape(x)
    missing = dy2st.cast(dy2st.ceil(height / 7) * 7 - height, "int32").reshape([-1])
    before = missing // 2
    if missing > 0:
        x = F.pad(x, dy2st.concat([before, missing - before]), data_format="NLC")
    found, all_, width = x.shape
    y = x.reshape([found, all_ // 7, 7, width]).transpose([2, 0, 1, 3])
    y = y.reshape([7, found * (all_ // 7), width]).tanh()
    y = y.reshape([7, found, all_ // 7, width]).transpose([1, 2, 0, 3])
    y = y.reshape([found, all_, width])
    if missing > 0:
        y = y[:, before : before + height]
    return y


def _calls(function, *args):
    count = 0

    def note(frame, event, arg):
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        function(*args)
    finally:
        sys.setprofile(None)
    return count


def test_every_block_of_a_model_of_new_sizes_takes_as_long_to_trace():
    def run(x, n):
        batch, height, width = x.shape
        for _ in range(n):
            x = x + 0.1 * _pooled_in_windows(x).reshape([batch, height, width])
        return x

    taken = []
    for n in (1, 16, 32, 48):  # the first converts the source
        function = to_static(run, input_spec=[InputSpec([None, None, None]), n])
        taken.append(_calls(lambda: function.main_program))  # noqa: B023  called at once
        for height in (7, 9):
            x = dy2st.ones([2, height, 3])
            np.testing.assert_allclose(function(x, n), run(x, n), rtol=1e-6)
    assert taken[3] - taken[2] <= 1.3 * (taken[2] - taken[1])


@pytest.mark.parametrize("name", GROWING)
def test_every_statement_of_a_kind_takes_as_many_calls_and_operators(name):
    calls, operators = [], []
    for count in (2, 8, 16, 32):  # the first loads what is needed
        static = to_static(growing(name, count), input_spec=[InputSpec([4])])
        calls.append(_calls(lambda: static.main_program))  # noqa: B023  called at once
        operators.append(sum(1 for _ in static.main_program.walk()))
    for _, one, two, three in (calls, operators):
        assert three - two <= 2.46 * (two - one)  # the 1.3th power of 2


# -- loops that were unrolled ---------------------------------------------------------------------


def rows(x, layers=()):
    total = x[0]
    for row in x:
        for layer in layers:
            total = total + layer
        total = total * 2 + row
    return total


@pytest.fixture
def many_are_soon(monkeypatch):
    monkeypatch.setattr(growth, "MANY_UNROLLED", 20)


@pytest.mark.usefixtures("many_are_soon")
def test_a_loop_that_a_size_unrolls_is_reported_and_warned_of_once_with_its_line():
    static = to_static(rows)
    line = rows.__code__.co_firstlineno + 2
    with pytest.warns(UserWarning) as warned:
        static(dy2st.ones([12, 2]))
        static(dy2st.ones([12, 2], "float64"))
    (warning,) = warned
    assert warning.filename == __file__ and warning.lineno == line
    text = f"rows() unrolls the loop of {__file__}:{line}: 12 iterations, "
    assert text in str(warning.message) and "None in an InputSpec" in str(warning.message)
    report = static.report()
    assert [one.iterations for one in report.unrolled] == [12]
    assert f"unrolled: the loop of {__file__}:{line}: 12 iterations" in str(report)


@pytest.mark.usefixtures("many_are_soon")
def test_a_size_that_is_unknown_keeps_it_a_loop():
    static = to_static(rows, input_spec=[InputSpec([None, 2])])
    static(dy2st.ones([12, 2]))
    assert not static.report().unrolled


@pytest.mark.usefixtures("many_are_soon")
@pytest.mark.filterwarnings("error")
def test_nobody_is_warned_of_sizes_that_an_input_spec_says_or_of_loops_over_layers():
    fixed = to_static(rows, input_spec=[InputSpec([12, 2])])
    fixed(dy2st.ones([12, 2]))
    assert len(fixed.report().unrolled) == 1
    numbers = [float(n) for n in range(30)]
    over_layers = to_static(lambda x: rows(x, numbers))
    over_layers(dy2st.ones([1, 2]))
    assert [one.iterations for one in over_layers.report().unrolled] == [30]


@pytest.mark.usefixtures("many_are_soon")
def test_the_loop_inside_that_makes_the_operators_is_named():
    def f(x):
        for _ in range(3):
            for row in x:
                x = x + row
        return x

    static = to_static(f)
    with pytest.warns(UserWarning, match=f"py:{f.__code__.co_firstlineno + 2}: 11 iterations"):
        static(dy2st.ones([11, 2]))
    assert len(static.report().unrolled) == 1


@pytest.mark.usefixtures("many_are_soon")
def test_a_loop_of_while_and_one_of_a_recurrent_layer_are_named_too():
    def f(x):
        i = 0
        while i < x.shape[0]:
            x = x * 2 + i
            i += 1
        return x

    with pytest.warns(UserWarning, match=f"py:{f.__code__.co_firstlineno + 2}: 11 iterations"):
        to_static(f)(dy2st.ones([11, 2]))
    with pytest.warns(UserWarning, match=f"loop of {re.escape(__file__)}:.* 7 iterations"):
        to_static(nn.GRU(2, 2))(dy2st.ones([1, 7, 2]))


# -- the search for garbage -----------------------------------------------------------------------


def test_no_search_for_garbage_runs_while_a_function_is_traced():
    def run(x):
        for i in range(30):
            if x.sum() > i:
                x = x + 1
        return x

    searches = []
    note = lambda phase, info: searches.append(phase)  # noqa: E731
    function = to_static(run, input_spec=[InputSpec([3])])
    threshold = gc.get_threshold()
    gc.callbacks.append(note)
    gc.set_threshold(100)
    try:
        assert function.main_program
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(note)
    assert len(searches) <= 20 and gc.isenabled()  # before the trace, and behind it
