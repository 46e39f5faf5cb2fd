"""Transpositions go square by square, and put every element where NumPy puts it."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime import ops
from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.engine.native.machine.threads import set_num_threads
from dy2st_runtime.engine.native.nests.emit import TransposedCopy, transposed_copy_of
from dy2st_runtime.engine.native.program.planner import planned
from tests.effort import effort
from tests.recorded import program_of as traced

DTYPES = ("float32", "float64", "int32", "int64", "int8", "bool")
SIZES = (1, 2, 7, 8, 15, 16, 17, 31, 33, 64, 70)


def copies_of(program):
    """What each nest of a Program transposes."""
    nests = [step.nest for step in planned(program.block).steps if step.nest is not None]
    return [transposed_copy_of(nest, part) for nest in nests for part in nest.parts]


def numbers(random, shape, dtype):
    return random.integers(-100, 100, shape).astype(dtype)


@pytest.mark.parametrize("seed", range(effort(60, 1000)))
def test_any_transposition_is_numpys(seed):
    random = np.random.default_rng(seed)
    rank = int(random.integers(2, 5))
    shape = [int(random.choice(SIZES[: 11 - 2 * (rank - 2)])) for _ in range(rank)]
    axes, dtype = [int(axis) for axis in random.permutation(rank)], str(random.choice(DTYPES))
    named = [f"n{axis}" if random.random() < 0.5 else size for axis, size in enumerate(shape)]
    start = [int(random.integers(2)) for _ in shape]

    def run(x):
        part = x[tuple(slice(one, None) for one in start)]
        return ops.transpose(x, axes), ops.transpose(part, axes)

    if seed % 2 or any(size < 2 for size in shape):
        run = lambda x: ops.transpose(x, axes)  # noqa: E731
    executable, x = Executable(traced(run, (dtype, named))), numbers(random, shape, dtype)
    have, want = executable.run([x], []), executable.reference.run([x], [])
    for one, other in zip(have, want, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("shape", [(700, 601), (3, 250, 400), (1000, 17), (17, 30000)])
def test_threads_share_what_is_large(shape, threads):
    axes = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
    executable = Executable(traced(lambda x: ops.transpose(x, axes), ("float32", shape)))
    x = numbers(np.random.default_rng(0), shape, "float32")
    set_num_threads(threads)
    try:
        for _ in range(5):
            (have,) = executable.run([x], [])
            np.testing.assert_array_equal(have, x.transpose(axes))
    finally:
        set_num_threads(1)


def test_squares_are_as_wide_as_a_line_of_the_cache():
    for dtype, side in (("float32", 16), ("int64", 8)):
        program = traced(lambda x: ops.transpose(x, [0, 2, 1]), (dtype, (3, 40, 50)))
        assert copies_of(program) == [TransposedCopy(2, 1, side)] or copies_of(program) == [
            TransposedCopy(1, 2, side)
        ]


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x: ops.transpose(x, [1, 0]), (15, 50)),  # no whole square
        (lambda x: ops.transpose(x, [1, 0, 2]), (40, 50, 60)),  # rows stay rows
        (lambda x: ops.expand(x, [40, 50]), (40, 1)),
        (lambda x: x.flip(1), (40, 50)),
    ],
)
def test_all_else_is_no_transposition(function, shape):
    assert set(copies_of(traced(function, ("float32", shape)))) <= {None}


@pytest.mark.parametrize("sizes", [(40, 50), ("m", "n")])
def test_readers_of_a_transposition_read_what_it_has_made(sizes):
    def run(x, y):
        transposed = ops.transpose(x, [1, 0])
        return ops.tanh(transposed) + y, ops.sum(transposed * transposed, axis=0)

    program = traced(run, ("float32", sizes), ("float32", sizes[::-1]))
    assert [copy is not None for copy in copies_of(program)].count(True) == 1
    random = np.random.default_rng(1)
    x, y = (random.standard_normal(shape).astype("float32") for shape in ((40, 50), (50, 40)))
    executable = Executable(program)
    pairs = zip(executable.run([x, y], []), executable.reference.run([x, y], []), strict=True)
    for have, want in pairs:
        np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-5)


def test_a_transposition_that_a_product_alone_reads_is_not_made():
    program = traced(
        lambda x, w: ops.matmul(x, ops.transpose(w, [1, 0])),
        ("float32", (20, 40)),
        ("float32", (50, 40)),
    )
    assert copies_of(program) == []


def test_a_small_transposition_is_read_where_it_lies():
    program = traced(lambda x: ops.tanh(ops.transpose(x, [1, 0])), ("float32", (8, 50)))
    assert copies_of(program) == [None]
