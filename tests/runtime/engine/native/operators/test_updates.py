"""Parts of tensors are written by code, in place where nobody needs the tensor as it was."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime import ops
from dy2st_runtime.engine.native.operators.writers import is_change, is_placed
from dy2st_runtime.engine.native.program.lifetimes import Analysis
from dy2st_runtime.engine.native.program.planner import planned
from dy2st_runtime.ir import apply
from dy2st_runtime.ops.control_flow import cond, while_loop
from tests.runtime.engine.exactly import flat
from tests.runtime.engine.native.machine_code import native

X = ("float32", ("n", 4))
NUMBER = ("int64", ())


def outcome(run):
    try:
        return flat(run()), None
    except IndexError as error:
        return None, str(error)


def assert_same(executable, *arrays):
    copies = [array.copy() for array in arrays]
    have, failed = outcome(lambda: executable.run([*arrays], []))
    want, wrong = outcome(lambda: executable.reference.run([*copies], []))
    assert failed == wrong
    for left, right in zip(have or (), want or (), strict=True):
        assert (left.dtype, left.shape) == (right.dtype, right.shape)
        np.testing.assert_allclose(left, right, rtol=2e-5)
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def x(rows=5):
    return np.arange(4 * rows, dtype=np.float32).reshape(rows, 4)


def put(x, index, value, axes=(0,), accumulate=False):
    return apply("index_put", x, value, *index, axes=axes, accumulate=accumulate)


def counted(iteration, count, *values):
    """What a loop of so many iterations leaves."""
    start = ops.full([], 0, "int64")
    found = while_loop(lambda i, *v: i < count, lambda i, *v: [i + 1, *iteration(i, *v)],
                       [start, *values])  # fmt: skip
    return found[1:]


def changed_in_place(program):
    """The operators that write over their first operand."""
    steps = planned(program.block)
    found = Analysis(steps, program.block.yields, lambda size: True, is_placed, is_change).found
    return [
        operator.name
        for operator in program.block.walk()
        if operator.name in ("slice_update", "index_put")
        and found.root(operator.results[0]) is found.root(operator.operands[0])
    ]


# -- slices ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "place",
    [
        slice(1, 3),
        slice(None, None, -2),
        (slice(None), 2),
        (slice(2, 2), slice(None)),
        (slice(None), slice(3, 0, -1)),
    ],
)
@pytest.mark.parametrize("rows", [3, 4, 17])
def test_a_slice_is_written(place, rows):
    executable = native(lambda x, v: ops.setitem(x, place, v), X, ("float32", ()))
    assert_same(executable, x(rows), np.array(-1, np.float32))


def test_what_is_written_may_be_read_of_the_same_tensor():
    def function(x):
        y = x * 2
        y = ops.setitem(y, slice(1, None), y[:-1])
        return ops.setitem(y, (slice(None), slice(0, 2)), y[:, 2:4])

    assert_same(native(function, X), x())


def test_a_tensor_that_is_still_needed_is_copied():
    def function(x):
        y = x + 1
        z = ops.setitem(y, 0, 0.0)
        w = ops.setitem(y, 1, 1.0)
        seen = ops.reshape(z, [-1])
        return y, ops.setitem(z, 2, 2.0), w, seen, ops.setitem(x, 0, 5.0)

    executable = native(function, X)
    assert changed_in_place(executable.program) == []
    assert_same(executable, x())


@pytest.mark.parametrize("rows", [1, 3, 300])
def test_a_loop_fills_a_buffer_in_place(rows):
    def function(x, count):
        def iteration(i, v):
            return [ops.setitem(v, i, x[i] * 2 + v[i - 1])]

        return counted(iteration, count, ops.zeros_like(x))

    executable = native(function, X, NUMBER)
    assert changed_in_place(executable.program) == ["index_put"]
    for count in (0, 1, rows, rows + 1):
        assert_same(executable, x(rows), np.array(count))


def test_a_buffer_that_an_iteration_reads_as_it_was_is_copied():
    def function(x, count):
        def iteration(i, v, before):
            return [ops.setitem(v, i, x[i]), v]

        return counted(iteration, count, ops.zeros_like(x), x)

    assert_same(native(function, X, NUMBER), x(), np.array(4))


def test_buffers_that_change_places_stay_themselves():
    def function(x, count):
        def iteration(i, v, w):
            return [ops.setitem(w, i, 1.0), ops.setitem(v, i, 2.0)]

        return counted(iteration, count, x, x * 2)

    assert_same(native(function, X, NUMBER), x(), np.array(3))


@pytest.mark.parametrize("limit", [-1.0, 30.0, 1e9])
def test_a_branch_of_a_loop_writes_or_not(limit):
    def function(x, limit):
        def iteration(i, v):
            def write():
                return [ops.setitem(ops.setitem(v, i, 0.0), i - 1, 9.0)]

            return cond(x[i].sum() > limit, write, lambda: [v])

        return counted(iteration, x.shape[0], x + 1)

    assert_same(native(function, X, ("float32", ())), x(), np.array(limit, np.float32))


def test_both_branches_write_and_the_tensor_before_is_read_again():
    def function(x, limit):
        y = x * 3
        (z,) = cond(limit > 0, lambda: [ops.setitem(y, 0, 1.0)], lambda: [ops.setitem(y, 1, 2.0)])
        (w,) = cond(limit > 1, lambda: [ops.setitem(z, 2, 3.0)], lambda: [z * 2])
        return y.sum(), w

    executable = native(function, X, ("float32", ()))
    for limit in (0, 1, 2):
        assert_same(executable, x(), np.array(limit, np.float32))


def test_a_loop_in_a_loop_writes_rows_of_a_table():
    def function(x, count):
        def iteration(i, v):
            return counted(lambda j, w: [ops.setitem(w, (i, j), w[i - 1, j] + x[i, j])], 4, v)

        return counted(iteration, count, ops.zeros_like(x))

    assert_same(native(function, X, NUMBER), x(), np.array(4))


# -- places that integers tell ---------------------------------------------------------------------


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("dtype", ["int64", "int32", "int8", "uint8"])
def test_rows_are_put_where_integers_say(accumulate, dtype):
    executable = native(
        lambda x, v, i: put(x, [i], v, (0,), accumulate), X, ("float32", ("m", 4)), (dtype, ("m",))
    )
    for places in ([], [0], [2, 2, 4, 2], [4, 3, 2, 1, 0] * 20):
        assert_same(executable, x(), x(len(places)) + 0.5, np.array(places, dtype))
    if dtype != "uint8":
        assert_same(executable, x(), x(3), np.array([-1, -5, 0], dtype))
        assert_same(executable, x(), x(3), np.array([0, -6, 0], dtype))
    assert_same(executable, x(), x(2), np.array([0, 5], dtype))


SHAPES = [
    ((5, 4, 3), (0, 2), [(2, 1), (3,)], (2, 3, 4)),
    ((5, 4, 3), (0, 2), [(2, 1), (3,)], (4,)),
    ((5, 4, 3), (1,), [(2, 2)], (5, 2, 2, 3)),
    ((5, 4, 3), (1,), [(2, 2)], (2, 1, 3)),
    ((5, 4, 3), (2,), [(7,)], ()),
    ((5, 4, 3), (0, 1, 2), [(6,), (), (6,)], (6,)),
    ((5, 4, 3), (1, 2), [(2,), (2,)], (5, 2)),
    ((2, 3, 70), (0,), [(9,)], (9, 3, 70)),
    ((2, 3, 70), (0,), [()], (3, 1)),
    ((0, 3), (1,), [(2,)], (0, 2)),
]


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint16"])
@pytest.mark.parametrize(("shape", "axes", "indices", "value"), SHAPES)
def test_places_along_several_axes(shape, axes, indices, value, dtype, accumulate):
    rng = np.random.default_rng(0)
    types = [(dtype, shape), (dtype, value), *[("int64", index) for index in indices]]
    executable = native(lambda x, v, *i: put(x, i, v, axes, accumulate), *types)
    places = [
        np.asarray(rng.integers(-shape[axis], shape[axis], index))
        for axis, index in zip(axes, indices, strict=True)
    ]
    assert_same(executable, *(np.asarray(rng.integers(0, 99, s), dtype) for s in (shape, value)),
                *places)  # fmt: skip


def test_sizes_that_are_not_known_may_be_one():
    executable = native(
        lambda x, v, i: put(x, [i], v, (0,), True), X, ("float32", ("k", "l")), ("int64", ("m",))
    )
    for rows, columns in ((1, 1), (3, 1), (1, 4), (3, 4)):
        value = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
        assert_same(executable, x(), value, np.array([1, 1, 4]))


def test_a_place_outside_leaves_everything_as_it_was():
    def function(x, i):
        y = x * 2
        return put(y, [i], ops.full([1], 7, "float32"))

    executable = native(function, X, ("int64", ("m",)))
    assert_same(executable, x(), np.array([0, 1, 9]))
    assert_same(executable, x(), np.array([0, 1, 2]))


def test_indices_that_are_equal_in_a_gradient_are_summed():
    def function(x, i):
        zeros = ops.zeros_like(x)
        return ops.index_add(zeros, i, 0, ops.gather(x, i) * 2)

    executable = native(function, ("float32", ("n", 70)), ("int64", ("m",)))
    rng = np.random.default_rng(0)
    for rows in (1, 3):
        array = rng.uniform(size=(rows, 70)).astype(np.float32)
        assert_same(executable, array, rng.integers(0, rows, 200))


def joined(reduce, include_self, axis, types):
    def function(x, index, values):
        options = {"axis": axis, "reduce": reduce, "include_self": include_self}
        return apply("scatter_reduce", x, index, values, **options)

    return native(function, *types)


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", ["mul", "amin", "amax"])
@pytest.mark.parametrize("dtype", ["float32", "int16"])
def test_values_are_joined_with_what_is_at_places(dtype, reduce, include_self):
    rng = np.random.default_rng(4)
    numbers = [-np.inf, -2, -0.0, 0, 3, np.nan] if dtype == "float32" else [-300, -1, 0, 2, 500]
    for axis, sizes in ((0, (7, 3, 2)), (1, (4, 9, 2)), (2, (4, 3, 11)), (0, (0, 3, 2))):
        types = [(dtype, (4, "a", 2)), ("int32", sizes), (dtype, sizes)]
        executable = joined(reduce, include_self, axis, types)
        x, values = (rng.choice(numbers, shape).astype(dtype) for shape in ((4, 3, 2), sizes))
        index = rng.integers(-(4, 3, 2)[axis], (4, 3, 2)[axis], sizes, np.int32)
        with np.errstate(all="ignore"):
            want = executable.reference.run([x.copy(), index, values], [])[0]
        before = x.copy()
        (found,) = executable.run([x, index, values], [])
        assert found.dtype == want.dtype
        assert found.tobytes() == want.tobytes()
        assert x.tobytes() == before.tobytes()


def test_values_are_joined_at_no_place_outside():
    types = [("float32", ("n", 2)), ("int64", ("k", 2)), ("float32", ("k", 2))]
    executable = joined("amax", True, 0, types)
    x, values = np.zeros((3, 2), np.float32), np.ones((2, 2), np.float32)
    for index in ([[0, -3], [2, 1]], [[0, 3], [1, 1]], [[0, 0], [-4, 1]]):
        assert_same(executable, x, np.array(index), values)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_many_tensors_become_one(axis):
    def made(*xs):
        return ops.stack([*xs, xs[0]] * 10, axis), ops.concat([*xs[:2], *xs] * 9, min(axis, 1))

    types = [("float32", ("n", 4)), ("float32", ("n", 4)), ("float32", (5, 4))]
    executable = native(made, *types)
    assert_same(executable, x(), -x(), x() * 2)


def test_many_numbers_become_one_tensor():
    executable = native(lambda x: ops.stack([x[i, 0] for i in range(40)]), ("int8", (40, 2)))
    assert_same(executable, np.arange(80, dtype=np.int8).reshape(40, 2))
