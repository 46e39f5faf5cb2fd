"""Every sample of every operator that a loop nest computes, against its kernel."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st_runtime.ops  # noqa: F401
from dy2st_runtime.engine.native.nests.concatenation import joined
from dy2st_runtime.engine.native.nests.members import members_of
from dy2st_runtime.engine.native.nests.norms import taken_apart
from dy2st_runtime.ir import DEFINITIONS, apply
from tests.recorded import program_of as traced
from tests.runtime.engine.native.running_nests import compiled, run


def program_of(name, sample):
    """A Program of one call; None where the operator takes no plain tensors."""
    dtypes = sample.dtypes or ("float32",) * len(sample.shapes)
    types = list(zip(dtypes, sample.shapes))
    try:
        program = traced(lambda *xs: apply(name, *xs, **sample.attributes), *types)
    except Exception:
        return None
    return program if len(program.block.operators) == 1 else None


def in_nests():
    """The samples that a nest computes, with their Programs."""
    for name, definition in sorted(DEFINITIONS.items()):
        for number, sample in enumerate(definition.samples):
            program = program_of(name, sample)
            operator = None if program is None else program.block.operators[0]
            if operator is None or definition.kernel is None:
                continue
            if members_of(operator) or taken_apart(operator) or joined(operator):
                yield pytest.param(sample, program, id=f"{name}-{number}")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("sample", "program"), list(in_nests()))
def test_a_nest_gives_what_the_kernel_gives(sample, program):
    rng = np.random.default_rng(0)
    arrays = []
    for variable in program.inputs:
        numbers = rng.uniform(sample.low, sample.high, variable.shape)
        arrays.append(np.asarray(numbers).astype(variable.dtype))
    operator = program.block.operators[0]
    wanted = DEFINITIONS[operator.name].kernel(*arrays, **operator.attributes)
    found = run(compiled(program), *arrays)
    for have, want in zip(found, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
        assert (have.array.dtype, have.array.shape) == (np.asarray(want).dtype, np.shape(want))
        np.testing.assert_allclose(have.array, want, rtol=1e-5, atol=1e-6)
