"""What unknown sizes cost when a Program is called: binding, checking, choosing a bucket."""

from __future__ import annotations

from functools import partial

import numpy as np
from measuring import seconds_above

import dy2st
from dy2st.static import InputSpec, bucket, freeze
from dy2st_runtime import engine

TURNS = range(2000)


def many_sizes(x):
    """A function whose Program evaluates some 80 different formulas of three sizes."""
    a, b, c = x.shape
    parts = []
    for i in range(14):
        part = x[: a // (i + 2) + b].reshape([-1, b * c])
        parts.append(dy2st.concat([part, part[: (c + i) // 3]]).reshape([-1, c]))
    return parts


def in_a_row(function) -> None:
    for _ in TURNS:
        function()


def microseconds_above(subject, floor) -> float:
    """How much longer one call takes, the median of several thousand in turns."""
    above = seconds_above(partial(in_a_row, subject), partial(in_a_row, floor), rounds=9)
    return above / len(TURNS) * 1e6


def test_check_and_binding(figure):
    program = dy2st.to_static(many_sizes, input_spec=[InputSpec(["a", "b", "c"])]).main_program
    executable = engine.compile(program)
    shapes = [(24 + i, 8, 9) for i in range(2)]
    first, second = (np.zeros(shape, np.float32) for shape in shapes)
    executable.run([first], [])
    namespace = executable._function.__globals__
    compute, fits = namespace["sizes"], namespace["fits"]

    def check():
        assert fits(second)
        return compute(*second.shape)

    def measure():
        return microseconds_above(check, lambda: None)

    what = "check a call and compute its sizes (87 formulas), never seen before"
    figure(what, measure, "us", 8)


def test_bucket_dispatch(figure):
    static = dy2st.to_static(lambda x: x + 1.0, input_spec=[InputSpec(["n", 4])])
    fast = bucket(static, n=[1, 8, 32])
    x = dy2st.ones([8, 4])
    fast(x), static(x)

    def measure():
        return microseconds_above(lambda: fast(x), lambda: static(x))

    figure("call through a bucket, above the call of the function", measure, "us", 2)


def test_bucket_against_its_program(figure):
    static = dy2st.to_static(lambda x: x + 1.0, input_spec=[InputSpec(["n", 4])])
    fast, executable = bucket(static, n=[8]), engine.compile(freeze(static.main_program, n=8))
    x = dy2st.ones([8, 4])
    fast(x)

    def measure():
        return microseconds_above(lambda: fast(x), lambda: executable.run([x.array], []))

    figure("the same, above the bare Program of that size", measure, "us", None)


def test_symbolic_against_static(figure):
    def layer(x, w):
        for _ in range(10):
            x = dy2st.nn.functional.relu(dy2st.matmul(x, w) + x)
        return x

    specs = [InputSpec(["n", 64]), InputSpec([64, 64])]
    program = dy2st.to_static(layer, input_spec=specs).main_program
    symbolic, static = engine.compile(program), engine.compile(freeze(program, n=16))
    x, w = np.ones((16, 64), np.float32), np.eye(64, dtype=np.float32)

    def measure():
        return microseconds_above(lambda: symbolic.run([x, w], []), lambda: static.run([x, w], []))

    what = "run a Program with an unknown size, above the frozen one (30 operators)"
    figure(what, measure, "us", 2)
