"""Branches and loops in each other, deeper than Python's own statements may stand in each other."""

from __future__ import annotations

import sys

import pytest

import dy2st
from dy2st.jit import to_static
from dy2st.static import InputSpec
from tests.effort import effort

X = dy2st.to_tensor([1.0, 2.0, 3.0])


@pytest.fixture
def many_calls():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(12_000)
    yield
    sys.setrecursionlimit(limit)


def branches(x, k):
    if k == 0:
        return x * x.shape[0]
    if x.sum() > k:
        return branches(x * 1.01, k - 1)
    return x + k


def loops(x, k):
    if k == 0:
        return x * x.shape[0]
    i = 0
    while i < 1 + x.max() * 0:
        x = loops(x, k - 1) + x
        i = i + 1
    return x


def both(x, k):
    if k % 2:
        i = 0
        while i < 1 + x.max() * 0:
            x = both(x + x.shape[0], k - 1)
            i = i + 1
    elif k and x.sum() > -k:
        x = both(x, k - 1)
    return x


# Python 3.12 counts calls that go through C, up to a limit of its own that nobody can raise.
DEEP = 200 if sys.version_info[:2] == (3, 12) else 300


@pytest.mark.parametrize(
    ("function", "depth"), [(branches, 99), (branches, DEEP), (loops, 25), (both, effort(75, 150))]
)
def test_a_deep_nest_computes_what_python_does(function, depth, many_calls):
    converted = to_static(lambda x: function(x, depth), input_spec=[InputSpec([None])])
    for x in (X, X * 40, -X):
        assert converted(x).tolist() == function(x, depth).tolist()


def test_a_deep_nest_has_gradients(many_calls):
    converted = to_static(lambda x: both(x * x, 60).sum())
    grads = []
    for function in (converted, converted.dygraph_function):
        x = dy2st.to_tensor([1.0, 2.0], stop_gradient=False)
        function(x).backward()
        grads.append(x.grad.tolist())
    assert grads[0] == grads[1]


def test_a_nest_beyond_pythons_own_limit_is_a_function_that_calls_itself():
    converted = to_static(lambda x: branches(x, 5000))
    assert converted(X).tolist() == branches(X, 5000).tolist()
    assert converted.main_program.functions
