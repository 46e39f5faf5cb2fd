"""What every operator must satisfy, derived from its record and its samples."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st_runtime.ops  # noqa: F401  fills the table
from dy2st_runtime import engine
from dy2st_runtime.autograd import grad
from dy2st_runtime.dims import collect, evaluate, symbol, symbols
from dy2st_runtime.ir import DEFINITIONS, ArrayType, Effect, TensorType, apply
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ir.interpret import interpret
from dy2st_runtime.ir.promotion import complete
from dy2st_runtime.ir.text.parser import parse_one
from dy2st_runtime.ir.text.printer import to_text
from dy2st_runtime.ir.tracing.tracer import infer
from dy2st_runtime.ops import seed
from dy2st_runtime.ops.dynamic import TABLE
from dy2st_runtime.tensor import EagerTensor
from tests.recorded import program_of

# Operators on lists of the Program and on Blocks are tested by hand.
BY_HAND = {name for name in DEFINITIONS if name.startswith("array_")}
BY_HAND |= {"call", "cond", "raise", "warn", "while"}
CASES = [
    pytest.param(definition, sample, id=f"{name}-{i}")
    for name, definition in sorted(DEFINITIONS.items())
    for i, sample in enumerate(definition.samples)
]


def arrays_of(definition, sample):
    """Random inputs of a sample, the same for every run."""
    rng = np.random.default_rng(len(definition.name))
    arrays = []
    for i, shape in enumerate(sample.shapes):
        dtype = np.dtype(sample.dtypes[i] if sample.dtypes else "float64")
        if dtype.kind in "iu":
            arrays.append(rng.integers(int(sample.low), int(sample.high), shape).astype(dtype))
        elif dtype.kind == "b":
            low = 0.5 if sample.low >= 1 else 0.0
            arrays.append(rng.random(shape) >= (0.5 - low))
        else:
            arrays.append(rng.uniform(sample.low, sample.high, shape).astype(dtype))
    return arrays


def as_list(value):
    return list(value) if isinstance(value, tuple) else [value]


def run(definition, arrays, attributes):
    seed(3)
    return as_list(apply(definition.name, *[EagerTensor(a) for a in arrays], **attributes))


@pytest.mark.parametrize("name", sorted(set(DEFINITIONS) - BY_HAND))
def test_every_operator_has_a_meaning_and_a_sample(name):
    definition = DEFINITIONS[name]
    assert definition.doc.endswith(".")
    assert definition.samples, f"{name} has no sample"


@pytest.mark.parametrize(("definition", "sample"), CASES)
def test_the_shape_rule_says_what_the_kernel_does(definition, sample):
    arrays = arrays_of(definition, sample)
    types = [TensorType(a.dtype, a.shape) for a in arrays]
    attributes = complete(definition, sample.attributes)
    predicted = infer(definition, types, attributes)
    results = run(definition, arrays, sample.attributes)
    assert len(predicted) == len(results)
    for type, result in zip(predicted, results, strict=True):
        assert type.dtype == result.dtype
        if not symbols(type.shape):
            assert list(type.shape) == result.shape


@pytest.mark.parametrize(("definition", "sample"), CASES)
def test_the_shape_rule_on_symbols_agrees_with_the_rule_on_numbers(definition, sample):
    arrays = arrays_of(definition, sample)
    values = {}
    types = []
    for i, array in enumerate(arrays):
        sizes = [symbol(f"s{i}_{axis}", 0) for axis in range(array.ndim)]
        values.update(zip(sizes, array.shape, strict=True))
        # Axis by axis: the first is symbolic, so that attributes that name sizes still fit.
        # How many values a dynamic operator gets says how many axes its result has.
        is_count = definition.name in TABLE and i in TABLE[definition.name].arguments
        shape = array.shape if is_count else [*sizes[:1], *array.shape[1:]]
        types.append(TensorType(array.dtype, shape))
    attributes = complete(definition, sample.attributes)
    with collect() as constraints:
        symbolic = infer(definition, types, attributes)
    assert all(evaluate(c.condition, values) for c in constraints)
    concrete = infer(definition, [TensorType(a.dtype, a.shape) for a in arrays], attributes)
    for left, right in zip(symbolic, concrete, strict=True):
        if set(symbols(left.shape)) <= set(values):
            assert [evaluate(size, values) for size in left.shape] == list(right.shape)


def is_differentiable(definition, sample):
    floats = not sample.dtypes or "float64" in sample.dtypes
    has_rule = definition.gradient is not None or definition.decompose is not None
    return floats and has_rule and definition.effect is Effect.PURE and bool(sample.shapes)


GRADIENTS = [case for case in CASES if is_differentiable(*case.values)]


def scalar(definition, arrays, attributes, weights, track):
    """A fixed mixture of all float results, and the tensors that need gradients."""
    tensors = [EagerTensor(a, stop_gradient=not t) for a, t in zip(arrays, track, strict=True)]
    results = as_list(apply(definition.name, *tensors, **attributes))
    total = None
    for result, weight in zip(results, weights, strict=True):
        result = result.real() + 2 * result.imag() if result.dtype.kind == "c" else result
        if result.dtype.kind == "f":
            part = (result * EagerTensor(weight)).sum()
            total = part if total is None else total + part
    return total, [t for t, wanted in zip(tensors, track, strict=True) if wanted]


def numeric_gradient(function, arrays, place):
    array = arrays[place]
    result = np.zeros_like(array)
    for index in np.ndindex(*array.shape):
        moved = [a.copy() for a in arrays]
        moved[place][index] = array[index] + 1e-6
        above = function(moved)
        moved[place][index] = array[index] - 1e-6
        result[index] = (above - function(moved)) / 2e-6
    return result


@pytest.mark.parametrize(("definition", "sample"), GRADIENTS)
def test_gradients_agree_with_finite_differences(definition, sample):
    arrays = arrays_of(definition, sample)
    shapes = run(definition, arrays, sample.attributes)
    weights = [np.random.default_rng(5).standard_normal(r.shape) for r in shapes]
    track = [a.dtype == np.float64 for a in arrays]
    total, tensors = scalar(definition, arrays, sample.attributes, weights, track)
    if total is None or total.stop_gradient:
        assert definition.name == "cast", "no gradient flows"  # to integers
        return
    gradients = grad(total, tensors, allow_unused=True)
    places = [i for i, wanted in enumerate(track) if wanted]
    for place, gradient in zip(places, gradients, strict=True):
        expected = numeric_gradient(
            lambda moved: scalar(definition, moved, sample.attributes, weights, track)[0].item(),
            arrays,
            place,
        )
        found = np.zeros_like(expected) if gradient is None else gradient.array
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("definition", "sample"), GRADIENTS)
def test_second_order_gradients_agree_with_finite_differences(definition, sample):
    arrays = arrays_of(definition, sample)
    weights = [
        np.random.default_rng(5).standard_normal(r.shape)
        for r in run(definition, arrays, sample.attributes)
    ]
    track = [a.dtype == np.float64 for a in arrays]
    mixture = [np.random.default_rng(6).standard_normal(a.shape) for a in arrays]

    def first_order(moved, create_graph):
        total, tensors = scalar(definition, moved, sample.attributes, weights, track)
        if total is None or total.stop_gradient:
            return None, tensors
        gradients = grad(total, tensors, create_graph=create_graph, allow_unused=True)
        parts = [
            (g * EagerTensor(m)).sum()
            for g, m in zip(gradients, [m for m, t in zip(mixture, track) if t], strict=True)
            if g is not None
        ]
        return sum(parts[1:], parts[0]) if parts else None, tensors

    total, tensors = first_order(arrays, True)
    if total is None or total.stop_gradient:
        return  # linear in everything: nothing of second order
    seconds = grad(total, tensors, allow_unused=True)
    places = [i for i, wanted in enumerate(track) if wanted]
    for place, second in zip(places, seconds, strict=True):
        expected = numeric_gradient(
            lambda moved: first_order(moved, False)[0].item(), arrays, place
        )
        found = np.zeros_like(expected) if second is None else second.array
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def traced(definition, arrays, attributes):
    """A Program that is this one operator."""
    types = [TensorType(array.dtype, array.shape) for array in arrays]
    return program_of(lambda *given: apply(definition.name, *given, **attributes), *types)


PROGRAMS = [case for case in CASES if case.values[0].name not in ("assert_bound",)]


@pytest.mark.parametrize(("definition", "sample"), PROGRAMS)
def test_a_program_of_one_operator_gives_what_the_eager_operator_gives(definition, sample):
    arrays = arrays_of(definition, sample)
    program = verify(traced(definition, arrays, sample.attributes))
    expected = run(definition, arrays, sample.attributes)
    seed(3)
    compiled = engine.compile(program).run(arrays, [])
    seed(3)
    interpreted, _ = interpret(program, [EagerTensor(a) for a in arrays], {})
    for want, have, slow in zip(expected, compiled, interpreted, strict=True):
        np.testing.assert_array_equal(have, want.array)
        np.testing.assert_array_equal(slow.array, want.array)
        assert have.dtype == want.dtype


@pytest.mark.parametrize(("definition", "sample"), PROGRAMS)
def test_the_text_of_a_program_reads_back_to_the_same_text(definition, sample):
    program = traced(definition, arrays_of(definition, sample), sample.attributes)
    text = to_text(program)
    assert to_text(parse_one(text)) == text


@pytest.mark.parametrize(
    ("definition", "sample"),
    [c for c in CASES if c.values[0].kernel is not None and c.values[0].decompose is not None],
)
def test_a_kernel_beside_a_decomposition_computes_the_same(definition, sample):
    arrays = arrays_of(definition, sample)
    fast = run(definition, arrays, sample.attributes)
    tensors = [EagerTensor(a) for a in arrays]
    attributes = complete(definition, sample.attributes)
    slow = as_list(definition.decompose(*tensors, **attributes))
    for left, right in zip(fast, slow, strict=True):
        np.testing.assert_allclose(left.array, right.array, rtol=1e-12, atol=1e-12)


def test_list_types_have_an_element_type():
    assert ArrayType(None) == ArrayType(None) != ArrayType(TensorType("float32", (2,)))
