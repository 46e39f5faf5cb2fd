"""Numbers that are arguments: from its third value on, one is an input of one Program."""

from __future__ import annotations

import functools
import math
import threading
import warnings
from collections import OrderedDict, namedtuple

import numpy as np
import pytest

import dy2st
from dy2st import to_static
from dy2st.jit import load, save
from dy2st.nn import functional as F
from dy2st.static import InputSpec
from dy2st_runtime import engine as engines
from dy2st_runtime.engine.numpy import executable as numpy_engine
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
    assert len(static.program_cache) <= 4


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
    assert len(static.program_cache) == 3


def test_a_tensor_in_the_place_of_a_number_has_a_program_of_its_own():
    static = to_static(lambda x, s: (x.astype("float32") * s).dtype)
    for k in range(8):
        assert static(X, 0.1 * k) == "float32"
    scale = dy2st.to_tensor(2.0, "float64")
    assert static(X, scale) == "float64"
    assert static(X, 3.0) == "float32"


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("mode", ["upscale_in_train", "downscale_in_infer"])
def test_a_dropout_rate_that_changes_draws_what_an_eager_call_draws(mode, engine):
    def run(x, p):
        return F.dropout(x, p, mode=mode)

    def found(function, x, p):
        dy2st.seed(int(p * 100) if p == p else 1)
        x = x.clone()
        x.stop_gradient = False
        y = function(x, p)
        y.sum().backward()
        return y.tolist(), x.grad.tolist(), dy2st.rand([1]).tolist()

    static, x = to_static(run, engine=engine), dy2st.ones([3, 7])
    for p in (0.1, 0.2, 0.3, 0.7, 0.0, 1.0, 0, 1, 0.5):
        assert found(static, x, p) == found(run, x, p)
    assert len(static.program_cache) <= 5
    for p in (1.5, -0.25, math.nan):
        with pytest.raises(dy2st.errors.ArgumentError, match="p is a probability"):
            static(x, p)


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


Pair = namedtuple("Pair", "rate power")
NESTED = {
    "a dict": (lambda x, d: (x * d["rate"], d["rate"]), lambda s: {"rate": s, "of": "text"}),
    "a list": (lambda x, d: x * d[0] + d[1], lambda s: [s, 2]),
    "a tuple": (lambda x, d: [x * v for v in d], lambda s: (s, s * 2)),
    "a namedtuple": (lambda x, d: x * d.rate**d.power, lambda s: Pair(s, 2)),
    "nested ones": (lambda x, d: x * d["a"][1]["b"], lambda s: OrderedDict(a=[0, {"b": s}])),
    "beside tensors": (lambda x, d: d["x"] * d["s"], lambda s: {"x": X, "s": s}),
    "returned as it is": (lambda x, d: d, lambda s: {"rate": s, "k": (1, s)}),
}


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("is_named", [False, True])
def test_a_number_inside_of_an_argument_is_an_input_from_its_third_value_on(name, is_named):
    function, given = NESTED[name]
    static = to_static(function, engine="numpy")
    for k in range(8):
        args, kwargs = ((X,), {"d": given(0.3 * k)}) if is_named else ((X, given(0.3 * k)), {})
        got, expected = static(*args, **kwargs), function(*args, **kwargs)
        assert str(comparable(got)) == str(comparable(expected))
        assert type(got) is type(expected)
    assert len(static.program_cache) == 3


@pytest.mark.parametrize("is_named", [False, True])
def test_the_containers_of_numbers_that_a_call_changes_are_the_callers(is_named):
    """Or it is refused: inputs stand in copies of them."""

    def step(x, d):
        d["n"] += 1
        d["seen"].append(d["n"])
        return x * d["n"], d

    static = to_static(step)
    for k in range(6):
        found, expected = ({"n": 5 * k, "seen": [0.5 * k]} for _ in range(2))
        try:
            got, same = static(X, d=found) if is_named else static(X, found)
        except dy2st.errors.ConversionError:
            continue
        assert comparable(got) == comparable(step(X, expected)[0])
        assert found == expected
        assert same is found


@pytest.mark.parametrize(
    "place",
    [
        lambda x, s: x[:s],
        lambda x, s: x[s:],
        lambda x, s: [1, 2, 3][s],
        lambda x, s: [1, 2, 3][:s],
        lambda x, s: (1, 2, 3)[s],
    ],
)
def test_a_float_is_no_place(place):
    static = to_static(lambda x, s: place(x, s) if s > 0 else x)
    assert [static(X, -0.5 * k).tolist() for k in (1, 2, 3, 4)] == [X.tolist()] * 4
    for value in (1.0, 2.0, 3.0):
        with pytest.raises(TypeError):
            static(X, value)


def test_of_two_numbers_the_one_that_has_to_be_a_constant_alone_is_one():
    def run(x, scale, slope, shift):
        return F.leaky_relu(x * scale, abs(slope)) + shift

    static = to_static(run)
    for k in range(9):
        args = X, 0.1 * k, (0.5, 0.25, 0.75)[k % 3], 3 * k
        assert comparable(static(*args)) == comparable(run(*args))
    before = len(static.program_cache)
    for k in range(9, 30):
        args = X, 0.1 * k, (0.5, 0.25, 0.75)[k % 3], 3 * k
        assert comparable(static(*args)) == comparable(run(*args))
    assert len(static.program_cache) == before
    report = str(static.report())
    assert "`slope` is a constant, since TensorAsPython" in report
    assert "`scale`" not in report


def test_an_error_of_the_users_keeps_no_number_a_constant():
    static = to_static(lambda x, s: x * s)
    for k in range(3):
        static(X, 0.5 * k)
    for _ in range(2):
        with pytest.raises(TypeError):
            static("text", 7.5)
    for k in range(3, 9):
        assert comparable(static(X, 0.5 * k)) == comparable(X * (0.5 * k))
    assert len(static.program_cache) == 3
    assert static.report().constants == ()


def test_what_needs_more_than_64_bits_is_computed_by_python():
    def cubed(x, n):
        return x + 1, n * n * n

    static = to_static(cubed)
    for n in (1, 2, 3, 10**8, 10**3, 10**8, -(10**7), 2**63, 10**20):
        assert comparable(static(X, n)) == comparable(cubed(X, n))


def test_what_has_been_seen_is_not_done_twice(capfd):
    def cubed(x, n):
        if x.sum() > 0:
            print("seen")
        return n * n * n

    static = to_static(cubed)
    for n in (1, 2, 3):
        static(X, n)
    with pytest.raises(OverflowError, match="64 bits"):
        static(X, 10**8)
    assert capfd.readouterr().out == "seen\n" * 4


def test_numbers_beside_input_specs_are_inputs_too():
    static = to_static(lambda x, s, k: x * s + k, [InputSpec(["n"])])
    for k in range(9):
        x = dy2st.ones([1 + k])
        assert comparable(static(x, 0.5 * k, k=k)) == comparable(x * (0.5 * k) + k)
    assert len(static.program_cache) == 3


def test_a_constant_of_input_spec_stays_one():
    static = to_static(lambda x, s: x * s, [InputSpec(["n"]), 2])
    for _ in range(4):
        assert comparable(static(X, 2)) == comparable(X * 2)
    with pytest.raises(dy2st.errors.SpecError):
        static(X, 3)


def test_threads_may_give_different_numbers():
    def run(x, s, d):
        return x * s + d["k"], s

    static, wrong = to_static(run), []

    def calls(first):
        for k in range(first, first + 20):
            args = X, 0.25 * k, {"k": k}
            if comparable(static(*args)) != comparable(run(*args)):
                wrong.append(k)

    threads = [threading.Thread(target=calls, args=(5 * n,)) for n in range(4)]
    [one.start() for one in threads]
    [one.join() for one in threads]
    assert wrong == []
    assert len(static.program_cache) <= 10


def test_a_number_that_an_engine_cannot_take_as_input_stays_a_constant(monkeypatch):
    without_functions = functools.partial(numpy_engine.compile_program)
    monkeypatch.setitem(engines.ENGINES, "plain", without_functions)

    def deep(x, n):
        return x if n == 0 else deep(x * 1.5 + n, n - 1)

    static = to_static(deep, engine="plain")
    x = dy2st.to_tensor([1.0, 2.0])
    for n in (3, 2, 1, 5, 0):
        assert static(x, n).tolist() == deep(x, n).tolist()
    assert "call themselves" in str(static.report())
