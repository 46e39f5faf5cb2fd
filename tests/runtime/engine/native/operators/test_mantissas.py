"""Numbers as mantissas and exponents: those of the standard library, bit by bit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dy2st_runtime.ir import F
from tests.runtime.engine.native.machine_code import native


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
