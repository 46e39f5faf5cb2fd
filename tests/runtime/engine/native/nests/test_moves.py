"""Loop nests that move elements, or tell where they are, against NumPy."""

from __future__ import annotations

import ctypes
import mmap
import sys

import numpy as np
import pytest

from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.engine.native.program.planner import planned
from dy2st_runtime.ir import DEFINITIONS, F, apply
from tests.effort import effort
from tests.recorded import program_of as traced
from tests.runtime.engine.native.machine_code import native
from tests.runtime.engine.native.running_nests import compiled, run


def results(function, *pairs):
    """What one nest gives, for sizes that are known and for others; pairs of array and shape."""
    for known in (True, False):
        types = [(a.dtype.name, a.shape if known else shape) for a, shape in pairs]
        code = compiled(traced(function, *types))
        assert sum(bool(nest.outputs) for nest in code.nests) == 1
        yield run(code, *(array for array, _ in pairs))[0].array


X = np.random.default_rng(0).standard_normal((9, 40)).astype("float32")


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(), (5,), (3, 20)])
@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_elements_are_picked_by_integers(axis, shape, dtype):
    low = 0 if dtype == "uint8" else -9
    at = np.asarray(np.random.default_rng(1).integers(low, 9, shape)).astype(dtype)

    def function(x, i):
        whole = (slice(None),) * axis
        return F.exp(F.gather(x, i, axis) if i.ndim == 1 else x[(*whole, i)])

    symbols = tuple("k" * (i + 1) for i in range(len(shape)))
    for found in results(function, (X, (9, 40)), (at, symbols)):
        np.testing.assert_allclose(found, np.exp(np.take(X, at, axis)), rtol=1e-6)


def test_elements_are_picked_along_two_axes():
    i, j = np.array([[1], [-1]]), np.array([0, 39, -40])
    for found in results(lambda x, i, j: x[i, j] * 2.0, (X, (9, 40)), (i, ("k", 1)), (j, ("m",))):
        np.testing.assert_array_equal(found, X[i, j] * 2)


@pytest.mark.parametrize("at", [[9], [0, 1, -10], list(range(30)), [5] * 30 + [9]])
def test_a_place_outside_is_refused_as_numpy_does(at):
    program = traced(lambda x, i: F.gather(x, i) * 2.0, ("float32", (9, 40)), ("int64", ("k",)))
    with pytest.raises(
        IndexError, match=f"index {max(at, key=abs) if at != list(range(30)) else 9}"
    ):
        Executable(program).run([X, np.array(at)], [])
    good = np.clip(at, 0, 8)
    (found,) = Executable(program).run([X, good], [])
    np.testing.assert_array_equal(found, X[good] * 2)


def test_one_hot_tells_the_class():
    at = np.array([[1, 0, 3], [2, 2, 1]])
    for found in results(lambda i: F.one_hot(i, 4), (at, ("n", "m"))):
        np.testing.assert_array_equal(found, np.eye(4, dtype="float32")[at])
    program = traced(lambda i: F.one_hot(i, 4), ("int64", ("n",)))
    for wrong in ([1, 4], [-1, 0]):
        with pytest.raises(IndexError, match="one_hot"):
            Executable(program).run([np.array(wrong)], [])


@pytest.mark.parametrize("diagonal", [-2, 0, 3])
@pytest.mark.parametrize("shape", [(5, 7), (2, 33, 20), (1, 4), (4, 1)])
def test_triangles(diagonal, shape):
    x = np.random.default_rng(0).standard_normal(shape).astype("float32")
    symbols = tuple(size if size == 1 else "abc"[i] for i, size in enumerate(shape))
    for name in ("tril", "triu"):
        for found in results(lambda x: getattr(F, name)(x, diagonal) + 0.0, (x, symbols)):
            np.testing.assert_array_equal(found, getattr(np, name)(x, diagonal))


def test_numbers_that_are_made():
    def made(x):
        n = x.shape[0]
        return F.arange(n) * 2 + F.arange(3, n + 3), F.eye(n, 5), F.full([n, 2], 2.5) + F.arange(2)

    for known in (True, False):
        code = compiled(traced(made, ("float32", (40 if known else "n",))))
        one, two, three = (v.array for v in run(code, np.zeros(40, "float32")))
        np.testing.assert_array_equal(one, np.arange(40) * 2 + np.arange(3, 43))
        np.testing.assert_array_equal(two, np.eye(40, 5))
        np.testing.assert_array_equal(three, np.full((40, 2), 2.5) + np.arange(2))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_tensors_are_put_together(axis):
    rng = np.random.default_rng(0)
    shapes = [[3, 5, 40], [3, 5, 40], [3, 5, 40]]
    shapes[1][axis], shapes[2][axis] = 1, 0
    parts = [
        (rng.standard_normal(s) > 0, tuple(f"a{i}{k}" if k == axis else n for k, n in enumerate(s)))
        for i, s in enumerate(shapes)
    ]
    for found in results(lambda *xs: F.concat(list(xs), axis), *parts):
        np.testing.assert_array_equal(found, np.concatenate([array for array, _ in parts], axis))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_tensors_are_stacked(axis):
    x, y = X, X[::-1].copy()
    for found in results(lambda x, y: F.stack([x, y, x], axis), (x, (9, "n")), (y, (9, "n"))):
        np.testing.assert_array_equal(found, np.stack([x, y, x], axis))


def test_numbers_are_stacked():
    numbers = [(np.array(value, "float32"), ()) for value in (1.0, 2.0)]
    for found in results(lambda x, y: F.stack([x, y, F.full([], 3.0)]), *numbers):
        np.testing.assert_array_equal(found, [1.0, 2.0, 3.0])


KNOWN = effort((17, 130), (1, 2, 15, 16, 17, 33, 64, 65, 130))


@pytest.mark.parametrize("step", [-5, -4, -3, -2, -1, 2, 3, 4, 5])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "bool"])
def test_elements_that_lie_apart_are_read_as_far_as_there_are_any(step, dtype):
    def function(x):
        return x[:, ::step] * x[:, ::step]

    for size in (1, 2, 15, 16, 17, 33, 64, 65, 130):
        x = np.random.default_rng(size).integers(0, 2 if dtype == "bool" else 99, (3, size))
        x = x.astype(dtype)
        for known in ("n", size) if size in KNOWN else ("n",):
            code = compiled(traced(function, (dtype, (3, known))))
            np.testing.assert_array_equal(run(code, x)[0].array, function(x))


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux to guard a page")
@pytest.mark.parametrize("step", [-3, -1, 2, 4])
def test_nothing_behind_an_array_is_read(step):
    """The array ends where a page does, and the next page may not be read."""
    memory = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    whole = np.frombuffer(memory, np.float32)
    guarded = ctypes.c_void_p(whole.ctypes.data + mmap.PAGESIZE)
    protect = ctypes.CDLL(None).mprotect
    executable = Executable(traced(lambda x: x[::step] * 2, ("float32", ("n",))))
    assert protect(guarded, mmap.PAGESIZE, 0) == 0
    try:
        for size in (16, 64, 65, 127, 128, 129):
            x = whole[: mmap.PAGESIZE // 4][-size:]
            np.testing.assert_array_equal(executable.run([x], [])[0], x[::step] * 2)
    finally:
        protect(guarded, mmap.PAGESIZE, 3)


PADS = [
    ((1, 2), (3, 4)),
    ((0, 0), (0, 5)),
    ((2, -1), (-3, 1)),
    ((-2, -3), (0, 0)),
    ((0, 3), (-1, -39)),
]


@pytest.mark.parametrize("pads", PADS)
@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_a_tensor_is_padded(mode, pads):
    kernel = DEFINITIONS["pad"].kernel
    if mode == "reflect" and pads[1][1] == -39:
        pads = (pads[0], (0, 0))
    want = kernel(X, pads, mode, 2.5)
    for symbols in ((9, 40), (9, "m"), ("n", 40), ("n", "m")):
        executable = native(
            lambda x: apply("pad", x, pads=pads, mode=mode, value=2.5), ("float32", symbols)
        )
        np.testing.assert_array_equal(executable.run([X], [])[0], want)


def test_pads_may_be_sizes():
    def function(x):
        rows, columns = x.shape
        return apply("pad", x, pads=((rows - 4, 2 - rows), (columns, 0)), value=1.5)

    executable, kernel = native(function, ("float32", ("n", "m"))), DEFINITIONS["pad"].kernel
    for rows in (2, 3, 4, 9):
        x = X[:rows, :5].copy()
        want = kernel(x, ((rows - 4, 2 - rows), (5, 0)), "constant", 1.5)
        np.testing.assert_array_equal(executable.run([x], [])[0], want)


@pytest.mark.parametrize("shifts", [((1,), (0,)), ((-3, 45), (0, 1)), ((7, 4), (1, 1)), ((), ())])
def test_a_tensor_is_rolled(shifts):
    amounts, axes = shifts
    for symbols in ((9, 40), ("n", "m")):
        executable = native(
            lambda x: apply("roll", x, shifts=amounts, axis=axes), ("float32", symbols)
        )
        np.testing.assert_array_equal(executable.run([X], [])[0], np.roll(X, amounts, axes))
    empty = np.zeros((0, 3), np.float32)
    assert executable.run([empty], [])[0].shape == (0, 3)


def test_a_tensor_is_rolled_by_sizes():
    executable = native(
        lambda x: x.roll([x.shape[0] - 5, -x.shape[0]], [0, 1]), ("float32", ("n", "m"))
    )
    for rows in (1, 3, 5, 9):
        x = X[:rows, :7].copy()
        want = np.roll(x, (rows - 5, -rows), (0, 1))
        np.testing.assert_array_equal(executable.run([x], [])[0], want)


@pytest.mark.parametrize("symbols", [(9, 40), ("n", "m")])
def test_what_is_put_together_is_read_behind_its_slices(symbols):
    def swapped(x):
        return F.concat([x[:, 3:], x[:, :3], F.transpose(x, [0, 1])], 1), F.stack([x, -x], 1)

    executable = native(swapped, ("float32", symbols))
    steps = planned(executable.program.block).steps
    made = [step.operators[0].name for step in steps if step.nest is not None and step.results]
    assert made == ["concat", "neg", "stack"]
    have, other = executable.run([X], [])
    np.testing.assert_array_equal(have, np.concatenate([X[:, 3:], X[:, :3], X], 1))
    np.testing.assert_array_equal(other, np.stack([X, -X], 1))
