"""Picking, placing and ordering elements: against NumPy and ONNX's reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

import dy2st_runtime.ops as ops
from dy2st_runtime import engine
from dy2st_runtime.autograd import grad
from dy2st_runtime.dims import symbol
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.tensor import EagerTensor, to_tensor
from tests.recorded import program_of

RNG = np.random.default_rng(3)


def check(function, want, *arrays):
    """Eagerly and in a Program with symbolic first sizes: the same values, shapes and dtypes."""
    have = function(*[EagerTensor(np.asarray(a)) for a in arrays])
    many = isinstance(have, (list, tuple))
    types = [
        TensorType(a.dtype, [symbol(f"s{i}", 0), *a.shape[1:]] if a.ndim else ())
        for i, a in enumerate(map(np.asarray, arrays))
    ]
    ran = engine.compile(program_of(function, *types)).run([np.asarray(a) for a in arrays], [])
    for mine, again, expected in zip(
        have if many else [have], ran, want if many else [want], strict=True
    ):
        np.testing.assert_array_equal(mine.array, expected, strict=True)
        np.testing.assert_array_equal(again, expected, strict=True)


def onnx(name, *arrays, **attributes):
    """What ONNX's reference computes; its specification is not ours."""
    kinds = {"float64": TensorProto.DOUBLE, "int64": TensorProto.INT64, "bool": TensorProto.BOOL}
    inputs = [f"x{i}" for i in range(len(arrays))]
    node = helper.make_node(name, inputs, ["y"], **attributes)
    values = [
        helper.make_tensor_value_info(i, kinds[a.dtype.name], a.shape)
        for i, a in zip(inputs, arrays, strict=True)
    ]
    output = helper.make_tensor_value_info("y", kinds[arrays[0].dtype.name], None)
    graph = helper.make_graph([node], "g", values, [output])
    opset = [helper.make_opsetid("", 18)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=9)
    return ReferenceEvaluator(model).run(None, dict(zip(inputs, arrays, strict=True)))[0]


X = RNG.standard_normal((4, 3, 2))


# -- picking ----------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("index", [np.array([1, 0, 1]), np.array([[0], [-1]]), np.array(1)])
def test_gather_against_onnx(axis, index):
    check(lambda x, i: ops.gather(x, i, axis), onnx("Gather", X, index, axis=axis), X, index)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_gather_nd_against_onnx(depth):
    index = RNG.integers(0, [4, 3, 2][:depth], (5, 2, depth))
    check(ops.gather_nd, onnx("GatherND", X, index), X, index)


def test_gather_nd_of_no_places_repeats_the_tensor():
    have = ops.gather_nd(to_tensor([1.0, 2.0]), to_tensor(np.zeros((3, 0), np.int64)))
    assert have.tolist() == [[1.0, 2.0]] * 3


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_take_along_axis_against_numpy(axis):
    index = np.argsort(X, axis=axis)
    check(lambda x, i: x.take_along_axis(i, axis), np.take_along_axis(X, index, axis), X, index)


def test_take_along_axis_broadcasts_both_sides():
    index = RNG.integers(0, 3, (1, 5, 2))
    check(lambda x, i: x.take_along_axis(i, 1), np.take_along_axis(X, index, 1), X, index)
    have = to_tensor(X[:1]).take_along_axis(to_tensor(np.repeat(index, 4, 0)), 1)
    np.testing.assert_array_equal(have.array, np.take_along_axis(X[:1], np.repeat(index, 4, 0), 1))


def test_take_along_axis_without_broadcasting_may_be_shorter():
    index = RNG.integers(0, 3, (2, 5, 1))
    have = to_tensor(X).take_along_axis(to_tensor(index), 1, broadcast=False)
    np.testing.assert_array_equal(have.array, np.take_along_axis(X[:2, :, :1], index, 1))


def test_take_and_index_sample_by_their_formulas():
    index = np.array([[3, -1], [0, 23]])
    check(lambda x, i: x.take(i), X.ravel()[index], X, index)
    rows = RNG.integers(0, 3, (4, 5))
    want = X[:, :, 0][np.arange(4)[:, None], rows]
    have = ops.index_sample(to_tensor(X[:, :, 0]), to_tensor(rows))
    np.testing.assert_array_equal(have.array, want)


@pytest.mark.parametrize("place", [-5, 4])
def test_places_that_do_not_exist_are_index_errors(place):
    with pytest.raises(IndexError):
        ops.gather(to_tensor(X), to_tensor([place]))
    with pytest.raises(IndexError):
        ops.index_add(to_tensor(X), to_tensor([place]), 0, to_tensor(X[:1]))


# -- placing ----------------------------------------------------------------------------------


def test_scatter_replaces_rows_or_sums_what_is_given():
    x, updates = X.reshape(4, 6), RNG.standard_normal((3, 6))
    index = np.array([1, 3, 1])
    want = x.copy()
    want[1], want[3] = updates[2], updates[1]
    check(ops.scatter, want, x, index, updates)
    want[1] = updates[0] + updates[2]
    have = ops.scatter(to_tensor(x), to_tensor(index), to_tensor(updates), overwrite=False)
    np.testing.assert_allclose(have.array, want)


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_scatter_nd_add_against_numpy(depth):
    index = RNG.integers(0, [4, 3][:depth], (5, depth))
    updates = RNG.standard_normal((5, *X.shape[depth:]))
    want = X.copy()
    np.add.at(want, tuple(index.T), updates) if depth else np.add(want, updates.sum(0), want)
    have = ops.scatter_nd_add(to_tensor(X), to_tensor(index), to_tensor(updates))
    np.testing.assert_allclose(have.array, want)
    have = ops.scatter_nd(to_tensor(index), to_tensor(updates), list(X.shape))
    np.testing.assert_allclose(have.array, want - X, atol=1e-12)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_index_add_and_index_fill_against_numpy(axis):
    index = np.array([1, 0, 1])
    shape = list(X.shape)
    shape[axis] = 3
    value = RNG.standard_normal(shape)
    want = X.copy()
    np.add.at(want, (*[slice(None)] * axis, index), value)
    have = ops.index_add(to_tensor(X), to_tensor(index), axis, to_tensor(value))
    np.testing.assert_allclose(have.array, want)
    want = X.copy()
    want[(*[slice(None)] * axis, index)] = 7
    check(lambda x, i: x.index_fill(i, axis, 7), want, X, index)


@pytest.mark.parametrize("axis", [0, 1])
def test_put_along_axis_against_onnx(axis):
    x = X[:, :, 0]
    index = np.argsort(x, axis=axis)
    values = RNG.standard_normal(x.shape)
    want = onnx("ScatterElements", x, index, values, axis=axis)
    check(lambda x, i, v: x.put_along_axis(i, v, axis), want, x, index, values)
    index = RNG.integers(0, 3, x.shape)
    want = onnx("ScatterElements", x, index, values, axis=axis, reduction="add")
    have = to_tensor(x).put_along_axis(to_tensor(index), to_tensor(values), axis, "add")
    np.testing.assert_allclose(have.array, want)


def test_put_along_axis_may_leave_out_what_was_there():
    x = to_tensor([[1.0, 2.0, 3.0]])
    index = to_tensor([[0, 0]])
    have = x.put_along_axis(index, 5.0, 1, "add", include_self=False)
    assert have.tolist() == [[10.0, 2.0, 3.0]]
    with pytest.raises(ArgumentError, match="reduce is one of"):
        x.put_along_axis(index, 5.0, 1, "sub")


def test_index_put_sets_and_adds():
    index = np.array([2, 0, 2])
    want = X.copy()
    np.add.at(want, (index, 1), 1.0)
    check(lambda x, i: x.index_put((i, 1), 1.0, accumulate=True), want, X, index)
    want = X.copy()
    want[index, 1] = 9.0
    check(lambda x, i: x.index_put((i, 1), 9.0), want, X, index)


def test_gradients_reach_what_was_picked_and_what_was_placed():
    x = to_tensor(X, stop_gradient=False)
    value = to_tensor(np.ones((3, 3, 2)), stop_gradient=False)
    index = to_tensor([1, 0, 1])
    weights = RNG.standard_normal(X.shape)
    total = (ops.index_add(x, index, 0, value) * to_tensor(weights)).sum()
    to_x, to_value = grad(total, [x, value])
    np.testing.assert_array_equal(to_x.array, weights)
    np.testing.assert_array_equal(to_value.array, weights[[1, 0, 1]])


# -- masks ------------------------------------------------------------------------------------


def test_masks_against_numpy():
    mask = X > 0.3
    check(ops.masked_select, X[mask], X, mask)
    check(lambda x, m: ops.masked_fill(x, m, 2.0), np.where(mask, 2.0, X), X, mask)
    check(ops.nonzero, np.argwhere(mask), mask)
    check(lambda m: list(ops.nonzero(m, as_tuple=True)), np.nonzero(mask), mask)
    check(lambda m: list(ops.where(m)), np.nonzero(mask), mask)


def test_masks_broadcast():
    mask = X[:, :1] > 0
    want = X[np.broadcast_to(mask, X.shape)]
    have = ops.masked_select(to_tensor(X), to_tensor(mask))
    np.testing.assert_array_equal(have.array, want)


def test_the_number_of_chosen_elements_is_a_symbol_with_a_limit():
    program = program_of(ops.nonzero, TensorType("bool", (2, 3)))
    (count, rank) = program.outputs[0].shape
    assert (count.minimum, count.maximum, rank) == (0, 6, 2)


def test_one_hot_and_its_range():
    check(lambda x: ops.one_hot(x, 3), np.eye(3, dtype=np.float32)[[0, 2]], np.array([0, 2]))
    for wrong in (-1, 3):
        with pytest.raises(IndexError, match=r"a class is not in 0 .. 2"):
            ops.one_hot(to_tensor([wrong]), 3)
    with pytest.raises(TypeError):
        ops.one_hot(to_tensor([1.0]), 3)


def test_sequence_mask_by_its_meaning():
    want = np.array([[1, 0, 0], [1, 1, 1]])
    check(lambda x: ops.sequence_mask(x, 3), want, np.array([1, 3]))


# -- order ------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 1.0, -2.5, 3.0, np.inf, -np.inf]), max_size=12),
    st.booleans(),
)
def test_sorting_is_stable_in_both_directions(values, descending):
    x = np.array(values)
    order = ops.argsort(EagerTensor(x), descending=descending).array
    want = sorted(range(len(x)), key=lambda i: (-x[i] if descending else x[i], i))
    assert order.tolist() == want
    np.testing.assert_array_equal(ops.sort(EagerTensor(x), 0, descending).array, x[want])


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_sort_against_numpy(axis):
    check(lambda x: ops.sort(x, axis), np.sort(X, axis), X)
    check(lambda x: ops.sort(x, axis, True), -np.sort(-X, axis), X)


@pytest.mark.parametrize("largest", [True, False])
def test_topk_against_numpy(largest):
    want = np.sort(X, 1)[:, ::-1][:, :2] if largest else np.sort(X, 1)[:, :2]
    values, places = ops.topk(to_tensor(X), 2, 1, largest)
    np.testing.assert_array_equal(values.array, want)
    np.testing.assert_array_equal(np.take_along_axis(X, places.array, 1), want)


def test_more_elements_than_there_are_have_no_top():
    with pytest.raises(ShapeError, match="k = 4 of 3 elements"):
        ops.topk(to_tensor(X), 4, 1)
    n = symbol("n", 1)
    program = program_of(lambda x: ops.topk(x, 2)[0], TensorType("float64", (n,)))
    with pytest.raises(ShapeError, match="k = 2 of n elements"):
        engine.compile(program).run([np.zeros(1)], [])


def test_the_gradient_of_sorting_goes_to_where_elements_were():
    x = to_tensor([3.0, 1.0, 2.0], stop_gradient=False)
    (ops.sort(x) * to_tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [100.0, 1.0, 10.0]


@pytest.mark.parametrize("right", [False, True])
def test_searchsorted_against_numpy(right):
    row, values = np.array([1, 3, 3, 7]), np.array([[0, 3], [7, 9]])
    want = np.searchsorted(row, values, "right" if right else "left")
    check(lambda r, v: ops.searchsorted(r, v, right=right), want, row, values)
    assert ops.searchsorted(to_tensor(row), to_tensor(values), True).dtype == np.int32


@pytest.mark.parametrize("right", [False, True])
def test_each_of_several_sorted_rows_has_values_of_its_own(right):
    rows, values = np.sort(RNG.integers(0, 5, (2, 3, 6))), RNG.integers(-1, 6, (2, 3, 4))
    want = np.sum(rows[:, :, None] <= values[..., None] - (not right), axis=-1)
    check(lambda r, v: ops.searchsorted(r, v, right=right), want, rows, values)
    assert ops.searchsorted(to_tensor(rows), to_tensor(values), True).dtype == np.int32


@pytest.mark.parametrize("shape", [(2, 4), (4,), (), (3, 2, 4)])
def test_rows_and_their_values_have_the_same_leading_sizes(shape):
    rows, values = to_tensor(np.zeros((3, 2))), to_tensor(np.zeros(shape))
    with pytest.raises(ShapeError, match="searchsorted"):
        ops.searchsorted(rows, values)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_unique_against_numpy(axis):
    x = RNG.integers(0, 2, (5, 2))
    want = np.unique(x, True, True, True, axis=axis)
    want = [want[0], *(np.reshape(part, -1) for part in want[1:])]
    check(lambda x: ops.unique(x, True, True, True, axis), want, x)
    check(lambda x: ops.unique(x, axis=axis), want[0], x)


@pytest.mark.parametrize("axis", [1, 2])
@pytest.mark.parametrize("size", [1, 40])
def test_wide_slices_are_added_as_their_elements_are(axis, size):
    shape = [size, size, size]
    shape[axis] = 5
    x, index = RNG.normal(size=shape).astype("f4"), np.array([[3, 0, -2], [3, 3, 4]])
    value = RNG.normal(size=[*shape[:axis], 2, 3, *shape[axis + 1 :]]).astype("f4")
    expected = x.copy()
    np.add.at(expected, (slice(None),) * axis + (index,), value)
    given = ops.index_add(to_tensor(x), to_tensor(index), axis, to_tensor(value)).numpy()
    np.testing.assert_array_equal(given, expected)
    with pytest.raises(IndexError):
        ops.index_add(to_tensor(x), to_tensor([5]), axis, to_tensor(value[..., :1, :1, :1].sum()))
