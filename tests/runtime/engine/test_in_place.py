"""The compiled engine writes over dead values, and nobody can tell but the clock."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from dy2st_runtime import engine, ops
from dy2st_runtime.dims import symbol
from dy2st_runtime.ir import DEFINITIONS, F, OperatorDefinition, apply
from dy2st_runtime.ir.interpret import interpret
from dy2st_runtime.ops.control_flow import cond, while_loop
from dy2st_runtime.ops.tensor_array import array_append, array_of, array_read, array_stack
from dy2st_runtime.tensor import EagerTensor
from tests.recorded import floats, program_of


def arrays(*shapes):
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape).astype("float32") for shape in shapes]


def residual(x, y):
    z = F.exp(x)
    return F.relu(z + y) * z - F.reshape(F.relu(x @ F.transpose(y, [1, 0])), [20, 20])[:, :10]


def branched(x, y):
    z = F.exp(x) + y
    (w,) = cond(F.mean(z) > 0, lambda: [F.relu(F.square(z)) + z], lambda: [z * 2.0 + z])
    return w * z, F.neg(w)


def looped(x, y):
    z = F.exp(x)

    def body(i, s):
        t = F.tanh(s) * 0.5
        return [i + 1, F.square(t + z) - t]

    _, s = while_loop(lambda i, s: i < 4, body, [ops.zeros([], "int32"), z])
    return s + z, s


def gathered(x, y):
    held = array_append(array_of([x, F.exp(y)]), y)
    return F.square(array_read(held, 0)), F.relu(F.neg(array_read(held, 1))), array_stack(held)


def composite(x, y):
    return F.gelu(x, approximate=True) + F.leaky_relu(F.square(y), 0.1), F.silu(x * y)


@pytest.mark.parametrize("function", [residual, branched, looped, gathered, composite])
@pytest.mark.parametrize("rows", [20, "n"])
def test_the_results_are_those_of_the_interpreter(function, rows):
    sizes = (symbol("n") if rows == "n" and function is not residual else 20, 10)
    program = program_of(function, floats(*sizes), floats(*sizes))
    executable = engine.compile(program)
    given = arrays((20, 10), (20, 10))
    copies = [array.copy() for array in given]
    expected, _ = interpret(program, [EagerTensor(a) for a in copies], {})
    for _ in range(2):  # a second run: nothing of the first is left in constants or inputs
        for found, want in zip(executable.run(given, []), expected, strict=True):
            np.testing.assert_array_equal(found, want.array)
    np.testing.assert_array_equal(given, copies)
    assert "out=" in executable.source


def test_a_chain_needs_the_memory_of_one_value():
    def chain(x):
        for _ in range(10):
            x = F.relu(F.tanh(x) * 0.5)
        return x

    executable = engine.compile(program_of(chain, floats(1000, 1000)))
    (x,) = arrays((1000, 1000))
    tracemalloc.start()
    executable.run([x], [])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.1 * x.nbytes


COMPOSITES = {
    "same_value": lambda x: x,
    "first_rows": lambda x: x[:10],
    "by_branch": lambda x: cond(F.mean(x) > 0, lambda: [x], lambda: [x[::-1]])[0],
}


@pytest.mark.parametrize("name", COMPOSITES)
def test_a_composite_operator_may_give_back_its_operand(monkeypatch, name):
    rule = COMPOSITES[name]
    made = OperatorDefinition(name=name, doc="x.", inputs=("x",), decompose=rule)
    monkeypatch.setitem(DEFINITIONS, name, made)

    def function(x):
        y = F.exp(x)
        held = apply(name, y)
        z = F.neg(y)
        return held, apply(name, x), apply(name, z) * 2.0, z * 2.0

    executable = engine.compile(program_of(function, floats(20, 10)))
    (x,) = arrays((20, 10))
    held, given, *_ = executable.run([x], [])
    assert not np.shares_memory(given, x)
    same = np.exp(x) if name == "same_value" else np.exp(x)[:10]
    same = np.exp(x)[:: 1 if np.exp(x).mean() > 0 else -1] if name == "by_branch" else same
    np.testing.assert_array_equal(held, same)
