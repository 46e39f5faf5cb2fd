"""Every sample of every operator, and others of other dtypes, against the NumPy engine."""

from __future__ import annotations

import pytest

from dy2st_runtime import engine
from dy2st_runtime.engine.xla.host_operators import HOST_OPERATORS
from dy2st_runtime.engine.xla.lists import EMPTY_LISTS, LIST_OPERATORS
from dy2st_runtime.engine.xla.table import LOWERINGS
from dy2st_runtime.ir import DEFINITIONS, F, TensorType, Tracer, apply
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ops import seed
from tests.runtime.engine.xla.near import assert_near
from tests.runtime.ops.test_every_operator import CASES, arrays_of

pytest.importorskip("jax", reason="the engine xla needs jax: pip install 'dy2st[jax]'")


def program_of(name, arrays, attributes):
    """A Program of one call."""
    tracer = Tracer()
    program = tracer.program
    for number, array in enumerate(arrays):
        type = TensorType(array.dtype, array.shape)
        program.inputs.append(program.block.add_parameter(type, f"x{number}"))
    with tracer.tracing():
        results = apply(name, *program.inputs, **attributes)
        results = results if isinstance(results, tuple) else (results,)
        if not arrays and name not in HOST_OPERATORS:  # the host makes what nobody computes with
            results = [F.stack([result, result]) for result in results]
        program.block.yields = [tracer.variable(result) for result in results]
    return verify(program)


def run(program, arrays, name):
    executable = engine.compile(program, name)
    seed(3)
    return executable.run(arrays, []), executable


@pytest.mark.filterwarnings("ignore:(divide|invalid|overflow|underflow)")
@pytest.mark.parametrize(("definition", "sample"), CASES)
def test_a_sample_gives_what_the_kernel_gives(definition, sample):
    arrays = arrays_of(definition, sample)
    program = program_of(definition.name, arrays, sample.attributes)
    try:
        wanted, _ = run(program, arrays, "numpy")
    except Exception as error:
        with pytest.raises(type(error)):
            run(program, arrays, "xla")
        return
    found, executable = run(program, arrays, "xla")
    assert_near(found, wanted)
    islands = executable._islands.planner.islands
    assert bool(islands) is (definition.name not in HOST_OPERATORS) or not program.operators
    assert not any(
        compiled._failure
        for kept in executable._islands._compiled.values()
        for compiled in kept.values()
    )


def test_each_operator_is_lowered_made_of_others_or_listed_with_its_reason():
    for name, definition in DEFINITIONS.items():
        if name in LIST_OPERATORS | EMPTY_LISTS:  # which are buffers in loops
            assert name in LOWERINGS and name in HOST_OPERATORS
            continue
        ways = [name in LOWERINGS, name in HOST_OPERATORS]
        if name not in ("cond", "while", "call") and definition.decompose is None:
            assert sum(ways) == 1, name
        assert sum(ways) < 2, name
    assert set(LOWERINGS) | set(HOST_OPERATORS) <= set(DEFINITIONS)
