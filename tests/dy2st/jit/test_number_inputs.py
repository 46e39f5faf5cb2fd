"""Numbers that are arguments: after some values of one, it is an input of one Program."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import dy2st
from dy2st import to_static
from dy2st.jit import load, save
from dy2st.nn import functional as F
from tests.dy2st.catalogue.comparing import comparable

X = dy2st.to_tensor(np.linspace(-2, 3, 3).astype("float32"))
# The first ones are constants, and the last ones those that Python treats in ways of their own.
FLOATS = [0.1 * k for k in range(-4, 12)] + [0.5, 2.0, 3.0, -0.0, float("inf"), float("nan")]
INTS = [*range(-4, 12), 100, 2**40]

ONE_PROGRAM = {
    "times": lambda x, s: x * s,
    "given back": lambda x, s: (x + s, s, s * 2, -s),
    "powers": lambda x, s: (x.abs() ** s, dy2st.pow(x.abs(), s)),
    "of whole numbers": lambda x, s: x.astype("int64") + s,
    "of short floats": lambda x, s: x.astype("float16") * s,
    "of long floats": lambda x, s: x.astype("float64") * s,
    "of no tensor": lambda x, s: (x, s // 2, s % 3, s > 1, math.sqrt(abs(s) + 1)),
    "a branch": lambda x, s: x * 2 if s > 0.5 else x - s,
    "limits": lambda x, s: dy2st.clip(x, -abs(s) if s < 9 else -1, 2),
    "limits of whole numbers": lambda x, s: dy2st.clip(
        x.astype("int64"), -abs(s) if s < 9 else -1, 2
    ),
    "full": lambda x, s: dy2st.full([2], s),
    "a range": lambda x, s: dy2st.arange(0, s if 0 < s < 9 else 1, 0.5),
    "a tensor": lambda x, s: dy2st.to_tensor(s) + x,
    "a text": lambda x, s: (x, f"{s:.2f}", str(s)),
    "a temperature": lambda x, s: F.softmax(x / (abs(s) + 0.1)),
    "a key": lambda x, s: x * {0.5: 2.0, 1: 3.0}.get(s, 4.0),
    "a kind": lambda x, s: (x, type(s).__name__, isinstance(s, float)),
}
CONSTANTS = {
    "an attribute": lambda x, s: F.leaky_relu(x, abs(s)),
    "a probability": lambda x, s: F.dropout(x, min(abs(s) / 100, 1.0), training=False),
}


def outcome(function, *args, **kwargs):
    try:
        return comparable(function(*args, **kwargs))
    except (ArithmeticError, ValueError) as error:
        return type(error), str(error)


@pytest.mark.filterwarnings("ignore:(invalid|overflow|divide):RuntimeWarning")
@pytest.mark.parametrize("values", [FLOATS, INTS], ids=["float", "int"])
@pytest.mark.parametrize("name", ONE_PROGRAM)
def test_many_values_have_one_program_that_gives_what_eager_calls_give(name, values):
    function = ONE_PROGRAM[name]
    static = to_static(function, engine="numpy")
    for value in values:
        assert str(outcome(static, X, value)) == str(outcome(function, X, value)), value
    assert len(static.program_cache) <= 6


@pytest.mark.filterwarnings("ignore:.*has a Program for each of 10 values")
@pytest.mark.parametrize("name", CONSTANTS)
def test_where_a_program_needs_the_number_it_stays_a_constant(name):
    function = CONSTANTS[name]
    static = to_static(function)
    for value in FLOATS[:12]:
        assert comparable(static(X, value)) == comparable(function(X, value))
    assert len(static.program_cache) == 12


def test_two_hundred_values_have_a_handful_of_programs():
    static = to_static(lambda x, rate, step=0: x * rate + step)
    for k in range(200):
        assert comparable(static(X, 0.1 * k, step=k)) == comparable(X * (0.1 * k) + k)
    assert len(static.program_cache) == 5


def test_a_tensor_in_the_place_of_a_number_has_a_program_of_its_own():
    static = to_static(lambda x, s: (x.astype("float32") * s).dtype)
    for k in range(8):
        assert static(X, 0.1 * k) == "float32"
    scale = dy2st.to_tensor(2.0, "float64")
    assert static(X, scale) == "float64"
    assert static(X, 3.0) == "float32"


def test_a_default_stays_a_constant():
    static = to_static(lambda x, s=2.0: x * s)
    for k in range(8):
        static(X, 0.1 * k)
    assert comparable(static(X)) == comparable(X * 2.0)
    assert comparable(static(X, 3.0)) == comparable(X * 3.0)
    assert comparable(static(X, s=4.0)) == comparable(X * 4.0)


def test_gradients_flow_past_the_number():
    static = to_static(lambda x, s: (x * s).sum())
    for k in range(8):
        x = X.clone()
        x.stop_gradient = False
        static(x, 0.5 * k).backward()
        assert x.grad.tolist() == [0.5 * k] * 3


def test_methods_and_shapes_go_on_beside_it():
    class Model(dy2st.nn.Layer):
        def __init__(self):
            super().__init__()
            self.n = 0

        def forward(self, x, scale, *, bias):
            self.n += 1
            return x * scale + bias * self.n

    eager, static = Model(), to_static(Model())
    for k in range(12):
        x = dy2st.ones([2 + k % 3])
        args = (x, 0.1 * k), {"bias": 1.5 * k}
        assert comparable(static(*args[0], **args[1])) == comparable(eager(*args[0], **args[1]))
    assert len(static.forward.program_cache) <= 8


def test_the_code_may_refuse_a_value():
    def scaled(x, s):
        if s > 1:
            raise ValueError(f"{s} is too much")
        return x * s

    static = to_static(scaled)
    for k in range(12):
        assert outcome(static, X, 0.125 * k) == outcome(scaled, X, 0.125 * k)


def test_a_saved_program_takes_the_number(tmp_path):
    static = to_static(lambda x, s: x * s)
    for k in range(8):
        static(X, 0.1 * k)
    save(static, str(tmp_path / "model"))
    loaded = load(str(tmp_path / "model"))
    number = dy2st.to_tensor(0.3, "float64")
    assert comparable(loaded(X, number)) == comparable(X * 0.3)


def test_nothing_is_warned_of_where_it_becomes_an_input():
    static = to_static(lambda x, s: x * s)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(30):
            static(X, 0.1 * k)
