"""A converted function gives the dtypes that the eager one gives, on both engines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dy2st
from dy2st.jit import to_static
from dy2st.static import InputSpec

NAMES = ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"]


def reduced(x: Any) -> Any:
    row = x[0]
    whole = [row.sum(), x.sum(), dy2st.dot(row, row), row.prod(), row.mean(), row.max(), row.any()]
    return [*whole, x.sum(0), dy2st.cumsum(row), x.sum(keepdim=True)]


def multiplied(x: Any) -> Any:
    return x @ x, x @ x[0], x[0] @ x, dy2st.bmm(x[None], x[None])


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("function", [reduced, multiplied])
@pytest.mark.parametrize("name", NAMES)
def test_a_program_gives_the_dtype_that_eager_operators_give(name, function, engine):
    x = dy2st.to_tensor(np.array([[1, 0, 3], [0, 0, 0], [2, 3, 1]], name))
    for shape in ([3, 3], [None, None]):
        static = to_static(function, input_spec=[InputSpec(shape, name)], engine=engine)
        for found, wanted in zip(static(x), function(x), strict=True):
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-3)
