"""Sorting in machine code: the very places that NumPy's kernels give, whatever the elements are."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime import ops
from dy2st_runtime.engine.native.machine.llvm import compile_object  # noqa: F401
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir import DEFINITIONS, apply
from tests.effort import effort
from tests.runtime.engine.native.machine_code import assert_same, native

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


@pytest.mark.parametrize("dtype", ["int8", "float64"])
def test_rows_that_are_in_order_but_for_one_element(dtype):
    executable = native(lambda x: ops.argsort(x), (dtype, ("n",)))
    for count in (2, 17, 34, 300):
        for place in {None, 0, 1, 15, 16, 17, count - 2, count - 1}:
            x = np.sort(drawn((count,), dtype, np.random.default_rng(0)))
            if place is not None and place < count:
                x[place] = 1 if place < count // 2 else -1
            assert_same(executable, x)


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("dtype", ["int8", "float32", "int64"])
def test_the_first_places_are_those_of_all(dtype, largest):
    rng, kernel = np.random.default_rng(0), DEFINITIONS["argsort"].kernel
    for shape, axis in [((1500,), 0), ((170, 3), 0), ((2, 170, 3), 1)]:
        executable = native(
            lambda x, k, axis=axis: apply(
                "top_places", x, axis=axis, count=k.shape[0], largest=largest
            ),
            (dtype, ("a", "b", "c")[: len(shape)]),
            ("bool", ("k",)),
        )
        for count in (0, 1, 3, 50, 100, shape[axis]):
            for classes in (None, 5):
                given = [drawn(shape, dtype, rng, classes), np.zeros(count, bool)]
                want = kernel(given[0], axis, largest).take(range(count), axis)
                np.testing.assert_array_equal(executable.run(given, [])[0], want)
                np.testing.assert_array_equal(executable.reference.run(given, [])[0], want)


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("rising", [1, -1])
def test_rows_in_which_every_element_is_better_than_those_before(largest, rising):
    x = np.arange(3000, dtype=np.float32)[::rising].copy()
    values, places = native(lambda x: ops.topk(x, 20, 0, largest), ("float32", ("n",))).run([x], [])
    want = np.sort(x)[::-1][:20] if largest else np.sort(x)[:20]
    np.testing.assert_array_equal(values, want)
    np.testing.assert_array_equal(x[places], want)


def test_as_many_as_half_of_a_row_that_is_not_known():
    executable = native(lambda x: ops.topk(x, x.shape[1] // 2), ("float32", ("n", "m")))
    for shape in [(3, 0), (0, 8), (2, 1), (2, 7), (2, 500)]:
        assert_same(executable, np.random.default_rng(0).normal(size=shape).astype(np.float32))


def test_more_than_there_are_is_refused_in_the_words_of_numpys_engine():
    executable = native(lambda x: ops.topk(x, 3)[0], ("float32", ("n",)))
    assert_same(executable, np.array([1, 5, 2], np.float32))
    with pytest.raises(ShapeError) as found:
        executable.run([np.zeros(2, np.float32)], [])
    with pytest.raises(ShapeError) as wanted:
        executable.reference.run([np.zeros(2, np.float32)], [])
    assert str(found.value) == str(wanted.value)


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "uint64", "float32"])
def test_how_many_elements_of_a_sorted_vector_lie_before_values(dtype, right):
    rng = np.random.default_rng(0)
    for shape in (("m",), (), (2, "m")):
        executable = native(
            lambda row, x: ops.searchsorted(row, x, right=right), (dtype, ("n",)), (dtype, shape)
        )
        sizes = [tuple(size if n == "m" else n for n in shape) for size in (0, 1, 35)]
        for count in (0, 1, 2, 7, 100):
            for classes in (None, 5):
                row = np.sort(drawn((count,), dtype, rng, classes))
                for size in sizes:
                    assert_same(executable, row, np.array(drawn(size, dtype, rng, classes)))


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32"])
def test_values_are_searched_for_in_rows_of_their_own(dtype, right):
    rng = np.random.default_rng(0)
    executable = native(
        lambda rows, x: ops.searchsorted(rows, x, right=right),
        (dtype, ("a", "b", "n")),
        (dtype, ("a", "b", "m")),
    )
    for lead in ((1, 1), (2, 3), (0, 2)):
        for count, size in ((0, 2), (1, 35), (7, 1), (100, 9), (3, 0)):
            rows = np.sort(drawn((*lead, count), dtype, rng, 5))
            assert_same(executable, rows, drawn((*lead, size), dtype, rng, 5))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "float64"])
def test_distinct_elements(dtype):
    rng = np.random.default_rng(0)
    for rank in (1, 2):
        executable = native(lambda x: apply("unique", x), (dtype, ("a", "b")[:rank]))
        for shape in [(0,), (1,), (2,), (9,), (400,), (0, 3), (20, 30)]:
            if len(shape) == rank:
                for classes in (None, 5):
                    x = drawn(shape, dtype, rng, classes)
                    assert_same(executable, x)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32"])
def test_runs_of_equal_slices(dtype):
    rng = np.random.default_rng(0)
    for rank in (1, 2, 3):
        types = (dtype, ("a", "b", "c")[:rank])
        executable = native(lambda x: apply("unique_consecutive", x), types)
        for shape in [(0,), (1,), (40,), (0, 3), (3, 0), (20, 1), (20, 2), (12, 2, 1), (2, 3, 0)]:
            if len(shape) == rank:
                x = drawn(shape, dtype, rng, 5)
                assert_same(executable, x)
                assert_same(executable, np.repeat(x, 3, 0))


def test_distinct_elements_that_nobody_else_reads():
    executable = native(
        lambda x: ops.exp(ops.unique(x)).sum() + ops.unique(x, return_counts=True)[1].max(),
        ("float32", ("n",)),
    )
    x = np.array([1, 2, 1, 0, 1], np.float32)
    np.testing.assert_allclose(executable.run([x], [])[0], np.exp([0, 1, 2]).sum() + 3, rtol=2e-5)
