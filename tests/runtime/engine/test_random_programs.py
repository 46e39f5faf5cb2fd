"""The compiled engine against the interpreter, on random Programs: the numbers, and what it keeps."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dy2st_runtime import engine
from dy2st_runtime.ir import TensorType
from dy2st_runtime.ir.interpret import interpret
from dy2st_runtime.tensor import EagerTensor
from tests.effort import effort
from tests.random_programs import random_program
from tests.runtime.engine.exactly import flat


def interpreted(made):
    """What the interpreter gives for copies of the arrays, and those copies."""
    inputs = [EagerTensor(array.copy("K")) for array in made.inputs]
    state = {name: EagerTensor(array.copy("K")) for name, array in made.state.items()}
    outputs, updates = interpret(made.program, inputs, state)
    return flat([*outputs, *updates.values()])


def assert_same(found, expected):
    for have, want in zip(found, expected, strict=True):
        want = np.asarray(want)
        assert (have.dtype, have.shape) == (want.dtype, want.shape)
        if np.array_equal(have, want, equal_nan=True):
            continue
        # A sum over what is written over a transposed value is made in another order.
        assert have.dtype.kind == "f"
        rtol = 1e-2 if have.dtype == "float16" else 1e-5
        np.testing.assert_allclose(have, want, rtol=rtol, atol=rtol)


def assert_types(program, results):
    types = [v.type for v in program.block.yields]
    if all(isinstance(type, TensorType) for type in types):
        assert [r.dtype for r in results] == [type.dtype for type in types]


def check(made):
    """Run twice: the same bits, nothing given is changed, nothing is shared that was not."""
    given = [*made.inputs, *made.state.values()]
    copies = [array.copy() for array in given]
    executable = engine.compile(made.program)
    try:
        expected = interpreted(made)
    except Exception as error:  # what a size or an element refuses, the engine refuses too
        with pytest.raises(type(error)):
            executable.run(made.inputs, list(made.state.values()))
        return executable
    for _ in range(2):
        results = flat(executable.run(made.inputs, list(made.state.values())))
        assert_same(results, expected)
        assert_types(made.program, results)
        for array, copy in zip(given, copies, strict=True):
            assert array.tobytes() == copy.tobytes()
        kept = [v for v in executable._function.__globals__.values() if isinstance(v, np.ndarray)]
        buffers = [id(array) for array in made.state.values()]
        for result in results:
            is_kept = id(result) in buffers  # a buffer that becomes what another one was
            shared = [array for array in (*given, *kept) if np.shares_memory(result, array)]
            assert is_kept or not shared
        for (i, left), (j, right) in combinations(enumerate(results), 2):
            if np.shares_memory(left, right):
                assert np.shares_memory(expected[i], expected[j])
    return executable


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("block", range(effort(3, 12)))
def test_random_programs_give_what_the_interpreter_gives(block):
    written = 0
    for seed in range(block * 25, block * 25 + 25):
        steps = 10 + seed % 3 * 15
        written += check(random_program(seed, steps)).source.count("out=")
    assert written > 10
