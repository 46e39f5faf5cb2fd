"""What records say of operators, held against their kernels on all samples."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest

from dy2st_runtime.errors import DTypeError
from dy2st_runtime.ir import DEFINITIONS, Effect, Kind, Scales, TensorType, lookup
from dy2st_runtime.ir.promotion import complete
from dy2st_runtime.ir.tracing.tracer import infer

WITH_KERNEL = {
    name: definition
    for name, definition in sorted(DEFINITIONS.items())
    if definition.kernel is not None and not name.startswith("array_")
}


def arrays_of(sample, dtype="float64"):
    rng = np.random.default_rng(0)
    dtypes = sample.dtypes or (dtype,) * len(sample.shapes)
    pairs = zip(sample.shapes, dtypes, strict=True)
    return [np.asarray(rng.uniform(sample.low, sample.high, s)).astype(d) for s, d in pairs]


def all_of(results):
    return results if isinstance(results, tuple) else (results,)


ELEMENTWISE = [name for name, definition in WITH_KERNEL.items() if definition.is_elementwise]


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_every_element_of_an_elementwise_operator_is_for_itself(name):
    definition = DEFINITIONS[name]
    for sample in definition.samples:
        arrays = np.broadcast_arrays(*arrays_of(sample))
        attributes = {**definition.attributes, **sample.attributes}
        whole = definition.kernel(*arrays_of(sample), **attributes)
        for place in np.ndindex(arrays[0].shape):
            one = definition.kernel(*(np.array([a[place]]) for a in arrays), **attributes)
            np.testing.assert_allclose(one[0], whole[place], rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_an_elementwise_operator_takes_arrays_without_axes(name, dtype):
    definition = DEFINITIONS[name]
    for sample in definition.samples:
        arrays = np.broadcast_arrays(*arrays_of(sample))
        if any(array.dtype.kind != "f" or not array.size for array in arrays):
            continue
        if name == "complex" and dtype == "float16":  # there are no such complex numbers
            continue
        attributes = {**definition.attributes, **sample.attributes}
        alone = [np.array(array.flat[0], dtype) for array in arrays]
        bare = definition.kernel(*alone, **attributes)
        lone = definition.kernel(*(array.reshape(1) for array in alone), **attributes)
        assert np.shape(bare) == ()
        np.testing.assert_array_equal(bare, lone[0])


COMMUTING = [name for name, definition in WITH_KERNEL.items() if definition.commutes]
SPECIAL = np.array([0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan])


@pytest.mark.parametrize("name", COMMUTING)
def test_exchanged_operands_give_equal_results(name):
    definition = DEFINITIONS[name]
    dtype = "int64" if definition.samples[0].dtypes else "float64"
    x, y = np.meshgrid(SPECIAL[:4] if dtype == "int64" else SPECIAL, SPECIAL[:4])
    x, y = x.astype(dtype), y.astype(dtype)
    with np.errstate(all="ignore"):
        one, other = definition.kernel(x, y), definition.kernel(y, x)
    np.testing.assert_array_equal(one, other)
    if definition.same_bits:
        is_number = one == one
        assert one[is_number].tobytes() == other[is_number].tobytes()


NUMBERS = {
    "i": [0, 1, -1, 7, 2**62, -(2**63)],
    "f": [0.0, -0.0, 1.0, np.nan, np.inf, -np.inf, 1e30],
    "c": [0j, 1j, complex(np.nan, 1), complex(np.inf, -np.inf), 1e30 - 1e30j],
    "b": [True, False],
}


@pytest.mark.parametrize("name", [n for n, d in WITH_KERNEL.items() if d.effect is Effect.PURE])
@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_an_operator_that_does_not_fail_takes_all_numbers(name, dtype):
    definition, rng = DEFINITIONS[name], np.random.default_rng(0)
    for sample in definition.samples:
        dtypes = sample.dtypes or (dtype,) * len(sample.shapes)
        types = [TensorType(d, s) for d, s in zip(dtypes, sample.shapes, strict=True)]
        attributes = {**definition.attributes, **sample.attributes}
        try:
            infer(definition, types, attributes)
        except DTypeError:
            continue
        if definition.may_fail(types, attributes):
            continue
        for _ in range(3):
            arrays = [rng.choice(NUMBERS[t.dtype.kind], t.shape).astype(t.dtype) for t in types]
            with np.errstate(all="ignore"):
                definition.kernel(*arrays, **attributes)


ALONG = [n for n, d in WITH_KERNEL.items() if d.along is not None and d.inputs == ("x",)]


@pytest.mark.parametrize("name", ALONG)
def test_an_operator_takes_each_slice_of_other_axes_for_itself(name):
    definition = DEFINITIONS[name]
    for sample in definition.samples:
        (array,) = arrays_of(sample)
        attributes = {**definition.attributes, **sample.attributes}
        along = definition.works_along([TensorType(array.dtype, array.shape)], attributes)
        whole = all_of(definition.kernel(array, **attributes))
        gone = definition.kind is Kind.REDUCTION and not attributes["keepdim"]
        for axis in set(range(array.ndim)) - set(along):
            place = axis - sum(a < axis for a in along) * gone
            for index in range(array.shape[axis]):
                part = all_of(definition.kernel(array.take([index], axis), **attributes))
                for one, both in zip(part, whole, strict=True):
                    np.testing.assert_allclose(one, both.take([index], place), rtol=1e-6)


SCALED = [name for name, definition in WITH_KERNEL.items() if definition.scales is not None]


@pytest.mark.parametrize("name", SCALED)
def test_a_factor_passes_an_operator_that_says_so(name):
    definition = DEFINITIONS[name]
    for sample in definition.samples:
        array = arrays_of(sample)[0]
        attributes = {**definition.attributes, **sample.attributes}
        if array.dtype.kind != "f" or attributes.get("value"):  # `pad` of another number than 0
            continue
        for factor in (0.5, 4.0, *[-2.0] * (definition.scales is Scales.ALL)):
            first = all_of(definition.kernel(array, **attributes))[0]
            second = all_of(definition.kernel(array * factor, **attributes))[0]
            np.testing.assert_array_equal(first * factor, second)


# -- how much kernels make beside their results ----------------------------------------------------


PLAIN = {"strides": (1, 1), "pads": ((2, 3), (0, 1)), "dilations": (1, 1)}
STEPS = {"strides": (2, 3), "pads": ((0, 0), (4, 4)), "dilations": (1, 2)}
WIDE = {"strides": (1, 1), "pads": ((12, 0), (0, 0)), "dilations": (1, 1)}
FAR = {"strides": (300, 1), "pads": ((300, 300), (0, 0)), "dilations": (1, 1)}
POOL = {"kernel": (5, 4), "strides": (2, 1), "pads": ((2, 2), (0, 3))}
CASES = [
    ("conv", ((1, 8, 40, 40), (4, 8, 9, 9)), PLAIN),
    ("conv", ((6, 8, 40, 40), (4, 4, 9, 9)), {**STEPS, "groups": 2}),
    ("conv", ((200, 8, 12, 12), (4, 8, 9, 9)), PLAIN),
    ("conv", ((2, 8, 40, 40), (8, 1, 9, 9)), {**PLAIN, "groups": 8}),
    ("conv", ((4, 4, 20, 60), (4, 4, 1, 1)), FAR),
    ("conv_transpose", ((1, 8, 35, 35), (8, 4, 9, 9)), {"sizes": (38, 42), **PLAIN}),
    ("conv_transpose", ((6, 8, 20, 20), (8, 4, 9, 9)), {"sizes": (47, 66), **STEPS}),
    ("conv_transpose", ((60, 8, 3, 3), (8, 4, 9, 9)), {"sizes": (6, 10), **PLAIN}),
    ("conv_transpose", ((6, 8, 35, 35), (8, 4, 9, 9)), {"sizes": (31, 43), **WIDE}),
    ("conv_weight", ((3, 8, 40, 40), (3, 4, 37, 33)), {"kernel": (9, 9), **PLAIN}),
    ("conv_weight", ((200, 8, 12, 12), (200, 4, 7, 5)), {"kernel": (9, 9), **PLAIN}),
    ("max_pool", ((4, 8, 60, 60),), POOL),
    ("window_max", ((4, 8, 60, 60),), POOL),
    ("window_sum", ((4, 8, 60, 60),), POOL),
    ("window_spread", ((4, 8, 30, 60),), {"sizes": (60, 60), **POOL}),
]


def test_every_record_that_says_so_is_measured():
    declared = {name for name, definition in DEFINITIONS.items() if definition.scratch is not None}
    assert declared == {name for name, *_ in CASES}


@pytest.mark.parametrize(("name", "shapes", "attributes"), CASES)
def test_a_kernel_makes_no_more_than_its_record_says(name, shapes, attributes):
    definition = lookup(name)
    attributes = complete(definition, attributes)
    arrays = [np.random.default_rng(0).standard_normal(shape) for shape in shapes]
    types = [TensorType(array.dtype, array.shape) for array in arrays]
    made = infer(definition, types, attributes)
    result = made[0] if len(made) == 1 else tuple(made)
    said = 8 * sum(math.prod(s) for s in definition.scratch(result, *types, **attributes))
    definition.kernel(*arrays, **attributes)
    tracemalloc.start()
    definition.kernel(*arrays, **attributes)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Results are made twice where a bias, another order or another dtype is to come.
    operands_and_results = sum(8 * math.prod(type.shape) for type in (*types, *made))
    assert peak <= said + 3 * operands_and_results
