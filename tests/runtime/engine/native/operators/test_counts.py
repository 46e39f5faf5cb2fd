"""Code counts the elements that the data decides on, and makes an array of as many."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime import ops
from dy2st_runtime.ir import apply
from tests.runtime.engine.native.machine_code import assert_same, native


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32", "float64"])
@pytest.mark.parametrize("shape", [(0,), (1,), (40,), (3, 5), (0, 3), (2, 3, 4)])
def test_the_places_of_what_is_not_zero(dtype, shape):
    types = (dtype, ("a", "b", "c")[: len(shape)])
    executable, rng = native(lambda x: apply("nonzero", x), types), np.random.default_rng(0)
    for share in (0.0, 0.3, 1.0):
        assert_same(executable, (rng.random(shape) < share).astype(dtype))
    if dtype.startswith("float") and shape == (40,):
        assert_same(executable, np.array([np.nan, -0.0, 0.0, np.inf, 1e-300], dtype))


def test_elements_are_chosen_by_a_mask():
    executable = native(lambda x: ops.exp(x[x > 0]).sum() + 1, ("float32", ("n", 3)))
    for rows in (0, 1, 5):
        x = np.linspace(-1, 1, 3 * rows, dtype=np.float32).reshape(rows, 3)
        have, want = executable.run([x], [])[0], executable.reference.run([x], [])[0]
        np.testing.assert_allclose(have, want, rtol=2e-5)


@pytest.mark.parametrize("step", [1, 2, -1, -3])
def test_the_places_of_a_slice_are_pythons(step):
    executable = native(
        lambda x, start, stop: apply("slice_places", start, stop, size=x.shape[0], step=step) * 1,
        ("float32", ("n",)), ("int64", ()), ("int32", ()),
    )  # fmt: skip
    numbers = [0, 1, 4, 5, 6, 99, -1, -5, -6, -99]
    for start in (*numbers, 2**62, -(2**63)):
        for stop in numbers:
            x = np.zeros(5, np.float32)
            assert_same(executable, x, np.array(start), np.array(stop, np.int32))
