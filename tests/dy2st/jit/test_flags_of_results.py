"""Which results gradients flow through, where only the run tells, is what the tape says."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st.jit import to_static
from dy2st_runtime.trained_program import ProgramNode


def handed_on(x, n):
    """Each turn gives one variable what another one was."""
    h, k, i = dy2st.zeros([2]), x * 2, dy2st.zeros([], "int64")
    while i < n:
        h, k = k, dy2st.ones([2])
        i = i + 1
    return h, k


def exchanged(x, n):
    a, b, c, i = x * 2, dy2st.zeros([2]), x.detach() * 3, dy2st.zeros([], "int64")
    while i < n:
        a, b, c = b, c, a
        i = i + 1
    return a, b, c


def chosen_in_turns(x, n):
    """Both results of an `if` in a loop need what the other one was."""
    h, k, i = dy2st.zeros([2]), x * 2, dy2st.zeros([], "int64")
    while i < n:
        if i < 2:
            h, k = h + 1, k
        else:
            h, k = k, dy2st.ones([2])
        i = i + 1
    return h, k


def in_turns_of_turns(x, n):
    h, k, i = dy2st.zeros([2]), x * 2, dy2st.zeros([], "int64")
    while i < n:
        j = dy2st.zeros([], "int64")
        while j < i:
            h, k = k * 1.0, h
            j = j + 1
        if i > 1:
            k = k.detach() * 0.5
        i = i + 1
    return h, k


def called(function, n):
    """Flags of the results, the gradient of their sum, and the results."""
    x = dy2st.to_tensor([1.0, 2.0], stop_gradient=False)
    results = function(x, dy2st.to_tensor(n))
    flowing = [one for one in results if not one.stop_gradient]
    if flowing:
        sum(one.sum() * (i + 1) for i, one in enumerate(flowing)).backward()
    return [one.stop_gradient for one in results], x.grad, results


@pytest.mark.parametrize("function", [handed_on, exchanged, chosen_in_turns, in_turns_of_turns])
def test_flags_of_what_turns_exchange_are_those_of_the_tape(function):
    static = to_static(function)
    called(static, 1)  # operator by operator
    kinds = set()
    for n in range(6):
        flags, gradient, _ = called(function, n)
        found_flags, found, results = called(static, n)
        assert found_flags == flags, n
        assert (found is None) == (gradient is None)
        if gradient is not None:
            np.testing.assert_allclose(found.numpy(), gradient.numpy())
        kinds |= {type(one.node) for one in results}
    assert ProgramNode in kinds


def test_many_operators_behind_a_branch_that_may_stop_gradients():
    @to_static
    def f(x, w):
        y = x * w if x.sum() > 0 else dy2st.zeros_like(x)
        for _ in range(1500):
            y = (y * 0.5).tanh()
        return y

    w = dy2st.to_tensor([1.0, 2.0], stop_gradient=False)
    for _ in range(2):
        y = f(dy2st.to_tensor([1.0, 2.0]), w)
    assert isinstance(y.node, ProgramNode) and not y.stop_gradient
    assert f(dy2st.to_tensor([-1.0, 0.0]), w).stop_gradient


@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize("dtype", ["bool", "int64", "float32", "float64"])
def test_a_flag_that_the_code_sets_is_that_of_the_result_in_every_call(dtype, flag):
    def f(x, p):
        b = p.astype(dtype)
        b.stop_gradient = True
        c = b.astype("float32") * x
        b.stop_gradient = flag
        return b, c

    static = to_static(f)
    for stopped in (True, False, False, True):
        x = dy2st.to_tensor([1.0, 2.0], stop_gradient=stopped)
        expected, found = (one(x, dy2st.ones([2])) for one in (f, static))
        for left, right in zip(expected, found, strict=True):
            assert (left.stop_gradient, left.is_leaf) == (right.stop_gradient, right.is_leaf)
