"""Matrices as a lower by an upper one: those of NumPy's kernel bit by bit, and their product."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime.ir import DEFINITIONS, apply
from tests.runtime.engine.native.machine_code import native
from tests.runtime.engine.native.operators.test_updates import assert_same


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_matrices_are_eliminated_as_by_numpy(dtype):
    executable = native(lambda x: apply("lu", x), (dtype, ("b", "n", "m")))
    rng = np.random.default_rng(10)
    for shape in ((3, 5, 5), (1, 40, 40), (2, 3, 19), (2, 19, 3), (0, 2, 2), (2, 0, 3), (1, 1, 1)):
        x = rng.standard_normal(shape).astype(dtype)
        x[:, 1:2] = 0  # as are some pivots
        found = executable.run([x], [])
        with np.errstate(all="ignore"):
            wanted = DEFINITIONS["lu"].kernel(x)
        for part, want in zip(found, wanted, strict=True):
            assert (part.dtype, part.shape) == (want.dtype, want.shape)
            assert part.tobytes() == want.tobytes()


def test_what_is_no_number_is_a_pivot():
    x = np.array([[1.0, 2, 3], [np.nan, 5, 1], [7, np.inf, np.nan]])
    found = native(lambda x: apply("lu", x), ("float64", (3, 3))).run([x], [])
    with np.errstate(all="ignore"):
        wanted = DEFINITIONS["lu"].kernel(x)
    for part, want in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(part, want)


def test_the_parts_are_the_matrix_again():
    x = np.random.default_rng(11).standard_normal((6, 6))
    packed, pivots = native(lambda x: apply("lu", x), ("float64", (6, 6))).run([x], [])
    executable = native(lambda p: apply("lu_order", p, rows=6), ("int32", (6,)))
    (order,) = executable.run([pivots], [])
    lower, upper = np.tril(packed, -1) + np.eye(6), np.triu(packed)
    np.testing.assert_allclose(lower @ upper, x[order], 1e-12, 1e-12)


def test_rows_outside_are_refused():
    executable = native(lambda p: apply("lu_order", p, rows=3), ("int32", ("b", "n")))
    for pivots in ([[1, 3]], [[0, -2], [2, 2]], [[4, 1]], [[1, -3]], [[1, 2, 3, 3]]):
        assert_same(executable, np.array(pivots, np.int32))


@pytest.mark.parametrize(("dtype", "near"), [("float32", 2e-4), ("float64", 1e-11)])
@pytest.mark.parametrize("size", [0, 1, 2, 5, 32])
def test_determinants_are_those_of_lapack(size, dtype, near):
    types = (dtype, ("n", size, size))
    x = np.random.default_rng(12).standard_normal((6, size, size)).astype(dtype)
    x[1, :, -1:], x[2, 1:2] = 0, x[2, :1]
    (found,) = native(lambda x: apply("det", x), types).run([x], [])
    want = np.linalg.det(x.astype(np.float64))
    assert found.dtype == x.dtype
    np.testing.assert_allclose(found, want, near, near * max(1, np.abs(want).max()))
    sign, size_of = native(lambda x: apply("slogdet", x), types).run([x], [])
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(sign * np.exp(size_of), found, near, near)


def test_a_determinant_is_exact_where_its_parts_are():
    x = np.array([[[0.0, 2], [3, 0]], [[1e200, 0], [0, 1e-150]], [[0, 0], [1, 1]]])
    (found,) = native(lambda x: apply("det", x), ("float64", (3, 2, 2))).run([x], [])
    np.testing.assert_allclose(found, [-6, 1e50, 0], 1e-12)
    sign, size = native(lambda x: apply("slogdet", x), ("float64", (3, 2, 2))).run([x], [])
    assert sign.tolist() == [-1, 1, 0]
    np.testing.assert_allclose(size, [np.log(6), 50 * np.log(10), -np.inf], 1e-12)
