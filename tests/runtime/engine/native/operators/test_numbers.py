"""Numbers and sizes as code."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.ir import F, apply
from tests.recorded import program_of as traced
from tests.runtime.engine.native.machine_code import native


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32"])
@pytest.mark.parametrize("value", [True, False, 0, 3])
def test_a_size_that_is_decided_is_a_number_in_code(value, dtype):
    kind = np.dtype(dtype)
    function = lambda x: x.cast(kind) + apply("from_dim", value=value, dtype=kind)  # noqa: E731
    executable, x = Executable(traced(function, ("float32", ("n",)))), np.ones(3, "float32")
    (have,), (want,) = executable.run([x], []), executable.reference.run([x], [])
    assert have.dtype == want.dtype
    np.testing.assert_array_equal(have, want)


# -- mantissas and exponents -----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_number_is_a_mantissa_by_a_power_of_2(dtype):
    limits, rng = np.finfo(dtype), np.random.default_rng(3)
    ends = [limits.max, limits.tiny, limits.smallest_subnormal, limits.tiny / 3, 0.5, 1, 2, 0]
    ends += [np.inf, np.nan, *(np.exp(rng.uniform(-80, 80, 40)))]
    x = np.array([*ends, *(-np.array(ends))], dtype)
    found = native(lambda x: F.frexp(x), (dtype, ("n",))).run([x], [])
    pairs = [math.frexp(number) for number in x.tolist()]
    for part, want in zip(found, zip(*pairs, strict=True), strict=True):
        want = np.array(want, dtype)
        assert (part.dtype, part.shape) == (want.dtype, want.shape)
        np.testing.assert_array_equal(part, want)
    np.testing.assert_array_equal(np.signbit(found[0]), np.signbit(x))


@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3), (5, 1, 7)])
def test_of_any_shape(shape):
    x = np.full(shape, 12, np.float32)
    for part, want in zip(native(lambda x: F.frexp(x), ("float32", shape)).run([x], []), (0.75, 4)):
        np.testing.assert_array_equal(part, np.full(shape, want, np.float32))
