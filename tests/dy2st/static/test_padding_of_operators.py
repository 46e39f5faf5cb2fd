"""What records say of padding, held against the kernels on all samples."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st.static.padding import NotIndifferent, proof_of
from dy2st_runtime import engine
from dy2st_runtime.dims import symbol, symbols
from dy2st_runtime.errors import Dy2stError
from dy2st_runtime.ir import DEFINITIONS, Program, TensorType, Tracer, apply

N = symbol("n", 1)
MORE = 2

WITH_KERNEL = {
    name: definition
    for name, definition in sorted(DEFINITIONS.items())
    if definition.kernel is not None and not name.startswith("array_")
}


def arrays_of(sample, seed=0):
    rng = np.random.default_rng(seed)
    dtypes = sample.dtypes or ("float64",) * len(sample.shapes)
    pairs = zip(sample.shapes, dtypes, strict=True)
    return [np.asarray(rng.uniform(sample.low, sample.high, s)).astype(d) for s, d in pairs]


def named(value, size):
    """Sizes of an attribute with the symbol in place of a number."""
    if isinstance(value, tuple):
        return tuple(named(entry, size) for entry in value)
    return N if type(value) is int and value == size else value


def program_of(definition, sample, size):
    """The operator on operands whose axes of this size have an unknown one; None if it refuses."""
    arrays, program = arrays_of(sample), Program("main")
    for index, array in enumerate(arrays):
        shape = [N if own == size else own for own in array.shape]
        type = TensorType(array.dtype, shape)
        program.inputs.append(program.block.add_parameter(type, f"x{index}"))
    attributes = {
        name: named(value, size) if name in definition.sizes else value
        for name, value in {**definition.attributes, **sample.attributes}.items()
    }
    tracer = Tracer(program)
    try:
        with tracer.tracing():
            results = apply(definition.name, *program.inputs, **attributes)
            results = results if isinstance(results, tuple) else (results,)
            program.block.yields = [tracer.variable(result) for result in results]
    except Dy2stError:
        return None
    conditions = tuple(entry.constraint.condition for entry in program.constraints)
    return None if any(found is N for found in symbols(conditions)) else program


def longer(array, size, fill):
    """The array with more elements along the axes of a size: the last ones again, or others."""
    if size not in array.shape:
        return array
    pads = [(0, MORE * (own == size)) for own in array.shape]
    wide = np.pad(array, pads, mode="edge")
    if fill is not None:
        inside = tuple(slice(own) for own in array.shape)
        wide[:] = fill(wide.shape).astype(array.dtype)
        wide[inside] = array
    return wide


def others(sample):
    rng = np.random.default_rng(1)
    return lambda shape: rng.uniform(sample.low, sample.high, shape)


def proofs(definition):
    """Every sample and size of an axis that may be padded, with the Program and the proof."""
    for sample in definition.samples:
        for size in {own for shape in sample.shapes for own in shape if own}:
            program = program_of(definition, sample, size)
            try:
                if program is not None:
                    yield sample, size, program, proof_of(program, N)
            except NotIndifferent:
                pass


@pytest.mark.parametrize("name", WITH_KERNEL)
def test_what_a_record_lets_pass_does_not_see_the_padding(name):
    for sample, size, program, proof in proofs(DEFINITIONS[name]):
        arrays, run = arrays_of(sample), engine.compile(program).run
        expected = run(arrays, [])
        for fill in (None, others(sample))[: 2 - proof.least]:
            found = run([longer(array, size, fill) for array in arrays], [])
            for left, right, axes in zip(expected, found, proof.outputs, strict=True):
                places = [slice(size) if a in axes else slice(None) for a in range(right.ndim)]
                np.testing.assert_allclose(left, right[tuple(places)], rtol=1e-6, atol=1e-9)


def test_most_operators_let_some_axis_pass():
    passing = {name for name, definition in WITH_KERNEL.items() if any(proofs(definition))}
    elementwise = {name for name, definition in WITH_KERNEL.items() if definition.is_elementwise}
    assert elementwise <= passing and len(passing) > len(elementwise) + 30
