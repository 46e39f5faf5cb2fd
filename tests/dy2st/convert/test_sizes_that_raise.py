"""What raises for some sizes does so before anything that these sizes would not fit."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import dy2st
from dy2st.static import InputSpec


def first(x):
    if len(x) == 0:
        raise ValueError("empty")
    return x[0] * 2


def steps(x):
    n = x.shape[0]
    if n < 2:
        raise KeyError(f"needs two, not {n}")
    return x[-1] + (x[1:] - x[:-1]).mean(0)


def asserted(x):
    assert len(x) > 2, "few"
    return x[0] * x[2]


def in_a_loop(x):
    for i in range(len(x)):
        if x.shape[0] < 3:
            raise RuntimeError("short")
        if x[i] > 0:
            x = x + x[2]
    return x


def caught(x):
    try:
        if len(x) < 2:
            raise ValueError("no")
        return x[1]
    except ValueError:
        return x.sum() - 1


def largest(x):
    return functools.reduce(lambda a, b: a if a >= b else b, x)


def _outcome(function, x):
    try:
        return function(x).numpy().tolist()
    except Exception as error:
        return type(error), str(error).splitlines()[0]  # pytest tells more of an `assert` here


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("function", [first, steps, asserted, in_a_loop, caught, largest])
def test_sizes_are_refused_by_the_code_that_asks_for_them(function, engine, tmp_path):
    static = dy2st.to_static(function, engine=engine, input_spec=[InputSpec([None], "float32")])
    assert not static.main_program.constraints
    dy2st.jit.save(static, tmp_path / "model")
    loaded = dy2st.jit.load(tmp_path / "model")
    for size in (3, 1, 0, 2, 5):
        x = dy2st.to_tensor(np.arange(1, size + 1, dtype="float32"))
        assert _outcome(static, x) == _outcome(loaded, x) == _outcome(function, x)


def test_gradients_know_the_sizes_too():
    static = dy2st.to_static(steps, input_spec=[InputSpec([None], "float32")])
    for size in (2, 4):
        x = dy2st.to_tensor(np.arange(size, dtype="float32"), stop_gradient=False)
        y = dy2st.to_tensor(np.arange(size, dtype="float32"), stop_gradient=False)
        static(x).backward()
        steps(y).backward()
        assert np.allclose(x.grad.numpy(), y.grad.numpy())
