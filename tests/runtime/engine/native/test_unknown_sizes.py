"""Sizes that may be 1, or 0, when the Program runs: code has a way for each of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dy2st_runtime import ops
from dy2st_runtime.ir import apply
from tests.runtime.engine.native.machine_code import native

TYPE = "float32"


def outcome(run):
    try:
        return run(), None
    except ValueError as error:
        return [], str(error)


def assert_same(executable, *arrays):
    have, failed = outcome(lambda: executable.run([*arrays], []))
    want, wrong = outcome(lambda: executable.reference.run([*arrays], []))
    assert failed == wrong
    for left, right in zip(have, want, strict=True):
        assert (left.dtype, left.shape) == (right.dtype, right.shape)
        np.testing.assert_allclose(left, right, rtol=2e-5, atol=1e-5)  # sums may cancel


def numbers(*shape):
    return np.linspace(-2, 2, int(np.prod(shape)), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x + y,
        lambda x, y: ops.where(x > y, x, y) * 2,
        lambda x, y: (x[:, 1:] * 2 - y[::-1, 1:]).sum(axis=1),
        lambda x, y: (ops.transpose(x, [1, 0]) + ops.transpose(y, [1, 0])).sum(axis=0),
        lambda x, y: ops.cast(x == y, "int32"),
    ],
)
def test_tensors_of_unknown_sizes_are_repeated(function):
    executable = native(function, (TYPE, ("a", "b")), (TYPE, ("c", "d")))
    sizes = [(1, 1), (1, 4), (4, 1), (4, 4), (0, 1), (1, 0)]
    for (a, c), (b, d) in product(sizes, [*sizes, (37, 37), (37, 1), (1, 37)]):
        assert_same(executable, numbers(a, b), numbers(c, d))


def test_axes_are_repeated_that_are_not_the_last_ones():
    executable = native(
        lambda x, y: x * y + 1, (TYPE, ("a", 3, "b", 20)), (TYPE, ("b", 20)),
    )  # fmt: skip
    for a, b in ((1, 1), (2, 5), (0, 2)):
        assert_same(executable, numbers(a, 3, b, 20), numbers(b, 20))
    executable = native(lambda x, y: x * y + 1, (TYPE, ("a", "b", 20)), (TYPE, ("c", 20)))
    for b, c in ((1, 1), (5, 5), (1, 5), (5, 1)):
        assert_same(executable, numbers(2, b, 20), numbers(c, 20))


def test_sizes_that_do_not_fit_are_refused_as_by_numpys_engine():
    executable = native(lambda x, y: x + y, (TYPE, ("a",)), (TYPE, ("b",)))
    for a, b in ((3, 2), (0, 2), (2, 2)):
        assert_same(executable, numbers(a), numbers(b))


@pytest.mark.parametrize("size", [1, 4])
def test_a_tensor_is_repeated_to_a_shape(size):
    executable = native(lambda x: ops.broadcast_to(x, [3, 4]) + 1, (TYPE, ("n",)))
    assert_same(executable, numbers(size))
    assert_same(executable, numbers(3))


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
@pytest.mark.parametrize("axis", [0, 1])
def test_the_largest_of_no_elements_is_refused_as_by_numpys_engine(name, axis):
    executable = native(
        lambda x: getattr(ops, name)(x * 2, axis=axis) + 1, (TYPE, ("a", "b"))
    )  # fmt: skip
    for shape in ((0, 0), (0, 5), (5, 0), (3, 5), (1, 1), (4, 40)):
        assert_same(executable, numbers(*shape))


def test_what_is_left_of_the_largest_is_computed_with_it():
    executable = native(
        lambda x: (x - x.max()) / (x.max(axis=1, keepdim=True) + 3), (TYPE, ("a", "b"))
    )
    for shape in ((0, 5), (5, 0), (3, 5), (1, 1), (4, 40)):
        assert_same(executable, numbers(*shape))


def test_sizes_are_told_as_a_tensor():
    executable = native(lambda x: apply("shape", x) * 2, (TYPE, ("a", 3, "b")))
    assert_same(executable, numbers(2, 3, 5))
