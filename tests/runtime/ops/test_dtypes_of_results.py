"""For every dtype the rule of an operator says what its kernel gives; integers do not wrap."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import scipy.special

import dy2st
from dy2st_runtime import ops
from dy2st_runtime.errors import ArgumentError, DTypeError
from dy2st_runtime.ir import DEFINITIONS, Effect, TensorType, apply
from dy2st_runtime.ir.promotion import complete
from dy2st_runtime.ir.tracing.tracer import infer
from dy2st_runtime.tensor import EagerTensor, to_tensor

CASES = [
    pytest.param(definition, sample, id=f"{name}-{i}")
    for name, definition in sorted(DEFINITIONS.items())
    if definition.effect is Effect.PURE and definition.kernel and not name.startswith("array_")
    for i, sample in enumerate(definition.samples)
]
DTYPES = ["int8", "uint8", "int64", "bool", "float16", "float64", ml_dtypes.bfloat16]


@pytest.mark.parametrize(("definition", "sample"), CASES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_rule_says_which_dtype_the_kernel_gives(definition, sample):
    rng = np.random.default_rng(0)
    for dtype in map(np.dtype, DTYPES):
        given = [np.dtype(d) for d in sample.dtypes or ("float32",) * len(sample.shapes)]
        dtypes = [dtype if d.kind == "f" else d for d in given]
        low = max(sample.low, 0.0) if dtype.kind in "ub" else sample.low
        arrays = [
            np.asarray(rng.uniform(low, sample.high, shape)).astype(d)
            for shape, d in zip(sample.shapes, dtypes, strict=True)
        ]
        types = [TensorType(a.dtype, a.shape) for a in arrays]
        try:
            predicted = infer(definition, types, complete(definition, sample.attributes))
        except (DTypeError, ArgumentError, TypeError):
            continue
        if definition.name == "batch_norm" and dtype.kind == "b":
            continue  # statistics are numbers
        if definition.name in ("floor_divide", "remainder") and dtype.kind in "iu":
            arrays[1] = arrays[1] + arrays[1].dtype.type(1)  # by 0 it is an error
        tensors = [EagerTensor(a) for a in arrays]
        results = apply(definition.name, *tensors, **sample.attributes)
        results = results if isinstance(results, tuple) else (results,)
        assert [r.dtype for r in results] == [t.dtype for t in predicted], dtype


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "bool"])
def test_sigmoid_of_integers_is_that_of_the_same_floats(dtype):
    x = np.array([0, 1, 3, 100]).astype(dtype)
    expected = scipy.special.expit(x.astype("float64"))
    np.testing.assert_allclose(ops.sigmoid(to_tensor(x)).numpy(), expected, rtol=2e-3)


def test_gelu_of_integers_does_not_wrap_or_lose_its_constants():
    x = np.array([-3, -1, 0, 1, 2, 100], "int8")
    expected = x * scipy.special.ndtr(x.astype("float64"))
    for approximate in (False, True):
        found = ops.gelu(to_tensor(x), approximate).numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-2, atol=5e-3)


def test_batch_norm_of_integers_does_not_cut_its_scale():
    x = np.array([[11, 21], [31, 41]])
    half, zero = np.full(2, 0.5, "float32"), np.zeros(2, "float32")
    found = apply("batch_norm", to_tensor(x), *map(to_tensor, (zero, 1 / half**2, half, zero)))
    np.testing.assert_array_equal(found.numpy(), x // 4)


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("name", ["sum", "prod", "cumsum", "cumprod"])
def test_uint64_does_not_become_a_signed_integer(name, engine):
    x = np.array([2**63 + 5, 3, 2**64 - 1], "uint64")
    run = dy2st.jit.to_static(lambda t: getattr(dy2st, name)(t, 0), engine=engine)
    wanted = getattr(np, name)(x, 0)
    for found in (getattr(dy2st, name)(dy2st.to_tensor(x), 0), run(dy2st.to_tensor(x))):
        assert found.dtype == "uint64"
        np.testing.assert_array_equal(found.numpy(), wanted)
