"""Sorting in machine code: the very places that NumPy's kernels give, whatever the elements are."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime.engine.native.llvm import compile_object  # noqa: F401
from dy2st_runtime.ir import apply
from tests.effort import effort
from tests.runtime.engine.native.test_counts import assert_same, native

DTYPES = [
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32",
    "float64",
]  # fmt: skip
SHAPES = [(0,), (1,), (2,), (15,), (16,), (17,), (160,), (161,), (1500,), (3, 0), (0, 3), (4, 5),
          (161, 3), (3, 161), (2, 3, 4), (2, 170, 3), (2, 0, 3)]  # fmt: skip


def drawn(shape, dtype, rng, classes=None):
    """Elements of a few classes, or of all numbers there are; of floats also those that are odd."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind == "f":
        x = rng.normal(size=shape).astype(dtype)
        odd = np.array([np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, 1e-42, -1e-42, 1], dtype)
        return np.where(rng.random(shape) < 0.5, rng.choice(odd, shape), x)
    ends = np.iinfo(dtype)
    if classes:
        return rng.choice(np.array([ends.min, ends.max, 0, 1, 7], dtype), shape)
    return rng.integers(ends.min, ends.max, shape, dtype, endpoint=True)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", DTYPES[:: effort(2, 1)])
def test_the_places_of_elements_in_order(dtype, descending):
    rng = np.random.default_rng(0)
    for rank, axis in ((1, 0), (2, 0), (3, 1), (2, 1))[: effort(3, 4)]:
        executable = native(
            lambda x, axis=axis: apply("argsort", x, axis=axis, descending=descending),
            (dtype, ("a", "b", "c")[:rank]),
        )
        for shape in SHAPES:
            if len(shape) == rank:
                for classes in (None, 5):
                    assert_same(executable, drawn(shape, dtype, rng, classes))
