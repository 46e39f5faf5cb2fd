"""Functions of a Program in machine code: each compiled once, and called; deep calls, too."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from dy2st_runtime import engine
from dy2st_runtime.engine import background
from dy2st_runtime.engine.background import _few_functions
from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.ir import TensorType
from dy2st_runtime.ir.clone import clone
from tests.effort import effort
from tests.random_programs import Calling, random_program
from tests.recorded import program_of
from tests.runtime.engine.exactly import flat
from tests.runtime.engine.test_random_programs import interpreted
from tests.runtime.ir.test_functions import factorial, powers


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setenv("DY2ST_NATIVE_BACKGROUND", "off")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seed", range(effort(12, 120)))
def test_calls_give_what_the_interpreter_gives(seed):
    made = random_program(seed, 8, Calling)
    state = list(made.state.values())
    executable = Executable(made.program)
    try:
        expected = interpreted(made)
    except Exception as error:
        with pytest.raises(type(error)):
            executable.run(made.inputs, state)
        return
    for _ in range(2):
        for have, want in zip(flat(executable.run(made.inputs, state)), expected, strict=True):
            want = np.asarray(want)
            assert (have.dtype, have.shape) == (want.dtype, want.shape)
            # Both round; exp of exp makes much of the last bit.
            tolerance = {"float16": 1e-1, "float32": 1e-3}.get(have.dtype.name, 1e-6)
            np.testing.assert_allclose(have, want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", ["native", "auto"])
def test_a_function_calls_itself(name):
    run = engine.compile(factorial(), name).run
    for n, wanted in ((1, 1), (5, 120), (20, 2432902008176640000)):
        assert run([np.array(n)], [])[0].item() == wanted
    run([np.array(900)], [])
    with pytest.raises(RecursionError):
        run([np.array(100_000)], [])


def test_few_operators_are_written_out_and_many_are_called(monkeypatch):
    few, many = (program_of(powers(depth), TensorType("float32", (2,))) for depth in (4, 40))
    assert not _few_functions(few).functions and _few_functions(many) is many
    monkeypatch.setattr(background, "_MANY", 100)
    program = program_of(powers(9), TensorType("float32", (2,)))
    assert _few_functions(program).functions
    with_weights = clone(program)
    with_weights.parameters["w"] = with_weights.inputs.pop()
    assert not _few_functions(with_weights).functions
    found = engine.compile(program, "native").run([np.zeros(2, "float32")], [])
    assert found[0].tolist() == [0, 0]


def test_code_of_functions_goes_with_the_program():
    executable = Executable(factorial())
    executable.run([np.array(3)], [])
    inner = weakref.ref(executable._functions)
    del executable
    gc.collect()
    assert inner() is None
