"""x[index] and x[index] = value against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import dy2st
from dy2st_runtime import engine
from dy2st_runtime.autograd import grad
from dy2st_runtime.dims import minimum, symbol
from dy2st_runtime.errors import ShapeError, UndecidedDim
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.ops import setitem, shape
from dy2st_runtime.tensor import EagerTensor, to_tensor
from tests.effort import effort
from tests.recorded import program_of

# NumPy 2.2, the last for Python 3.10, warns where later ones raise.
pytestmark = pytest.mark.filterwarnings("ignore:Out of bound index found:DeprecationWarning")


def run(function, *arrays, sizes=None):
    """The answer of the Program; `sizes[i]` are the sizes of the i-th array."""
    shapes = sizes or [array.shape for array in arrays]
    types = [TensorType(a.dtype, s) for a, s in zip(arrays, shapes, strict=True)]
    return engine.compile(program_of(function, *types)).run(list(arrays), [])[0]


@st.composite
def arrays_with_index(draw):
    """An array of up to four axes and an index that NumPy would understand, or nearly."""
    sizes = draw(st.lists(st.sampled_from([0, 1, 2, 3, 5]), min_size=1, max_size=4))
    array = np.arange(float(np.prod(sizes))).reshape(sizes)
    entries = [draw(entry(size)) for size in sizes[: draw(st.integers(0, len(sizes)))]]
    for extra in draw(st.lists(st.sampled_from([None, Ellipsis]), max_size=2)):
        entries.insert(draw(st.integers(0, len(entries))), extra)
    return array, tuple(entries)


def entry(size):
    ends = st.none() | st.integers(-size - 2, size + 2)
    slices = st.builds(slice, ends, ends, st.sampled_from([None, 1, 2, 3, -1, -2]))
    places = st.integers(-size, max(size - 1, -size))
    vectors = st.lists(places, min_size=2, max_size=2)
    columns = st.builds(lambda a, b: [[a], [b]], places, places)
    masks = st.lists(st.booleans(), min_size=size, max_size=size).map(
        lambda bits: np.array(bits, bool)
    )
    # NumPy takes an empty mask for an axis of any size; we do not.
    return slices | places | slices | vectors | columns | (masks if size else slices)


def numpy_answer(array, index):
    try:
        return array[index]
    except IndexError:
        return None


@settings(max_examples=effort(60, 200), deadline=None)
@given(arrays_with_index())
def test_every_index_picks_what_numpy_picks(case):
    array, index = case
    want = numpy_answer(array, index)
    if want is None:
        with pytest.raises((IndexError, ShapeError)):
            EagerTensor(array)[index]
        return
    np.testing.assert_array_equal(EagerTensor(array)[index].array, want, strict=True)


@settings(max_examples=60, deadline=None)
@given(arrays_with_index(), st.lists(st.booleans(), min_size=4, max_size=4))
def test_a_program_with_symbolic_sizes_picks_what_numpy_picks(case, symbolic):
    array, index = case
    sizes = [
        symbol(f"n{i}", 0) if unknown else size
        for i, (size, unknown) in enumerate(zip(array.shape, symbolic, strict=False))
    ]
    want = numpy_answer(array, index)
    if want is None:
        with pytest.raises((IndexError, ShapeError)):
            run(lambda x: x[index], array, sizes=[sizes])
        return
    have = run(lambda x: x[index], array, sizes=[sizes])
    np.testing.assert_array_equal(have, want, strict=True)


@settings(max_examples=effort(50, 150), deadline=None)
@given(arrays_with_index(), st.booleans())
def test_every_index_sets_what_numpy_sets(case, one_number):
    array, index = case
    want = numpy_answer(array, index)
    assume(want is not None)
    value = np.float64(-1.0) if one_number else -1.0 - np.arange(float(want.size))
    value = np.asarray(value if one_number else value.reshape(want.shape))
    changed = array.copy()
    changed[index] = value
    have = setitem(EagerTensor(array), index, EagerTensor(value))
    np.testing.assert_array_equal(have.array, changed, strict=True)


@settings(max_examples=100, deadline=None)
@given(arrays_with_index())
def test_gradients_of_a_change_go_where_the_values_went(case):
    array, index = case
    want = numpy_answer(array, index)
    assume(want is not None and want.size)
    x = EagerTensor(array, stop_gradient=False)
    value = EagerTensor(np.ones(want.shape), stop_gradient=False)
    changed = setitem(x, index, value)
    weights = np.arange(1.0, array.size + 1).reshape(array.shape)
    to_x, to_value = grad((changed * EagerTensor(weights)).sum(), [x, value])
    marks = np.full(array.shape, -1)
    marks[index] = np.arange(want.size).reshape(want.shape)
    stayed = np.zeros(want.size)
    stayed[marks[marks >= 0]] = weights[marks >= 0]
    np.testing.assert_array_equal(to_x.array, np.where(marks < 0, weights, 0))
    np.testing.assert_array_equal(to_value.array, stayed.reshape(want.shape))


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
@pytest.mark.parametrize("truth", [True, False])
def test_one_bool_is_a_mask_of_a_new_axis(truth, shape):
    array = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
    changed = array.copy()
    changed[truth] = 7.0
    for index in (truth, np.bool_(truth), np.array(truth), to_tensor(truth)):
        np.testing.assert_array_equal(to_tensor(array)[index].numpy(), array[truth], strict=True)
        np.testing.assert_array_equal(setitem(to_tensor(array), index, 7.0).numpy(), changed)
    masks = [array, np.array(truth)]
    found = run(lambda x, mask: x[mask], *masks)
    np.testing.assert_array_equal(found, array[truth], strict=True)
    found = run(lambda x, mask: setitem(x, mask, 7.0), *masks)
    np.testing.assert_array_equal(found, changed)


def test_a_traced_position_may_be_negative():
    x = np.arange(12.0).reshape(4, 3)
    for place in (-4, -1, 0, 3):
        have = run(lambda x, i: x[i], x, np.array(place))
        np.testing.assert_array_equal(have, x[place])


@pytest.mark.parametrize("place", [-5, 4])
def test_a_traced_position_that_does_not_exist_is_an_index_error(place):
    with pytest.raises(IndexError):
        run(lambda x, i: x[i], np.arange(12.0).reshape(4, 3), np.array(place))


@pytest.mark.parametrize("place", [-5, 4])
def test_a_position_that_does_not_exist_is_an_index_error(place):
    with pytest.raises(
        IndexError, match=f"index {place} is out of bounds: the axis has the size 4"
    ):
        to_tensor(np.zeros((4, 3)))[place]


def test_a_traced_position_next_to_slices_and_numbers():
    x = np.arange(24.0).reshape(2, 3, 4)
    have = run(lambda x, i: x[1, i, ::2], x, np.array(2))
    np.testing.assert_array_equal(have, x[1, 2, ::2])


@pytest.mark.parametrize("step", [None, 1, 2, -1, -3])
@pytest.mark.parametrize(("start", "stop"), [(1, 3), (-2, 9), (4, 2), (-9, 9), (9, -9)])
def test_slices_with_traced_ends_are_clamped_as_in_python(start, stop, step):
    x = np.arange(10.0).reshape(5, 2)
    have = run(lambda x, a, b: x[a:b:step], x, np.array(start), np.array(stop))
    np.testing.assert_array_equal(have, x[start:stop:step], strict=True)
    have = run(lambda x, a: x[:, a::step], x, np.array(start))
    np.testing.assert_array_equal(have, x[:, start::step], strict=True)
    have = run(lambda x, b: x[:b:step], x, np.array(stop))
    np.testing.assert_array_equal(have, x[:stop:step], strict=True)


def test_an_end_of_a_slice_may_be_a_tensor_of_one_element():
    x = np.arange(10.0).reshape(5, 2)
    have = run(lambda x, a, b: x[a:b], x, np.array([1]), np.array([[4]]))
    np.testing.assert_array_equal(have, x[1:4], strict=True)
    np.testing.assert_array_equal(to_tensor(x)[to_tensor([1]) : to_tensor([[4]])], x[1:4])


def test_slices_with_traced_ends_can_be_set():
    x = np.zeros((5, 2))
    have = run(lambda x, a, b: setitem(x, (slice(a, b), 1), 7.0), x, np.array(1), np.array(-1))
    want = x.copy()
    want[1:-1, 1] = 7.0
    np.testing.assert_array_equal(have, want)


def test_a_traced_position_can_be_set():
    x = np.zeros((4, 3))
    have = run(lambda x, i, v: setitem(x, i, v), x, np.array(-2), np.arange(3.0))
    want = x.copy()
    want[-2] = np.arange(3.0)
    np.testing.assert_array_equal(have, want)


def test_sizes_of_slices_are_exact_expressions():
    n = symbol("n", 1)
    program = program_of(lambda x: x[: x.shape[0] - 1, ::2], TensorType("float32", (n, 2 * n)))
    assert program.outputs[0].shape == [n - 1, n]
    program = program_of(lambda x: x[:3], TensorType("float32", (n,)))
    assert str(program.outputs[0].shape[0]) == "min(3, n)"


def test_a_position_that_a_size_may_not_have_is_required_of_the_input():
    n = symbol("n", 0)
    array = np.arange(2.0)
    with pytest.raises(ShapeError, match="index 2 is out of bounds: the axis has the size n"):
        run(lambda x: x[2], array, sizes=[[n]])
    assert run(lambda x: x[2], np.arange(3.0), sizes=[[n]]) == 2.0


def test_a_position_made_of_a_size_must_not_become_negative():
    n = symbol("n", 0)
    with pytest.raises(ShapeError, match="the position n - 3 is negative"):
        run(lambda x: x[x.shape[0] - 3], np.arange(2.0), sizes=[[n]])
    assert run(lambda x: x[x.shape[0] - 3], np.arange(3.0), sizes=[[n]]) == 0.0


def test_a_position_that_is_outside_where_it_is_negative_must_not_become_negative():
    n = symbol("n", 0)
    first = lambda x: x[minimum(1, x.shape[0]) - 1]  # noqa: E731
    with pytest.raises(ShapeError, match=r"the position min\(1, n\) - 1 is negative"):
        run(first, np.arange(0.0), sizes=[[n]])
    assert run(first, np.arange(2.0), sizes=[[n]]) == 0.0


def test_a_mask_of_another_size_is_refused():
    x = to_tensor(np.zeros((3, 2)))
    with pytest.raises(IndexError, match=r"a mask of shape \[2\] does not fit"):
        x[to_tensor(np.array([True, False]))]
    with pytest.raises(IndexError, match=r"a mask of shape \[1\] does not fit"):
        setitem(x, np.array([True]), 0.0)


@pytest.mark.parametrize("index", ["a", 1.5, (0, True), [1.5], np.zeros(2), (0, 0, 0), (..., ...)])
def test_what_is_no_index_is_an_index_error(index):
    with pytest.raises(IndexError):
        to_tensor(np.zeros((3, 2)))[index]


def test_a_tensor_of_floats_is_no_index():
    with pytest.raises(TypeError, match="an index is an integer tensor"):
        to_tensor(np.zeros((3, 2)))[to_tensor(np.zeros(2))]


@pytest.mark.parametrize("index", [0, slice(2), [0, 1], (slice(2), [0])])
def test_a_value_that_does_not_fit_its_place_is_refused_when_traced(index):
    with pytest.raises(ShapeError):
        program_of(lambda x, v: setitem(x, index, v), *[TensorType("float32", (3, 4))] * 2)


def test_a_list_may_hold_tensors_and_sizes():
    x = np.arange(5.0)
    have = run(lambda x, i: x[[0, i, x.shape[0] - 1]], x, np.array(2), sizes=[[symbol("n", 1)], []])
    np.testing.assert_array_equal(have, [0.0, 2.0, 4.0])


def test_an_index_that_takes_everything_gives_a_view():
    x = to_tensor([1.0, 2.0])
    y = x[:]
    y[0] = 5.0
    assert y is not x and x.tolist() == [5.0, 2.0]


def test_one_size_of_a_shape_stays_a_size():
    n = symbol("n", 1)
    program = program_of(lambda x: x[1 : shape(x)[0]], TensorType("float32", (n,)))
    assert program.outputs[0].shape == [n - 1]


def test_a_step_of_zero_is_a_value_error():
    with pytest.raises(ValueError, match="the step of a slice is an int other than 0"):
        to_tensor([1.0])[::0]


def test_a_slice_of_unknown_step_is_refused():
    with pytest.raises(ValueError, match="the step of a slice"):
        program_of(lambda x: x[:: x.shape[0]], TensorType("float32", (symbol("n", 1),)))


def test_rows_given_several_times_get_all_their_gradients():
    # More than 64 rows take the path that sums sorted rows; -1 and 9 are the same row.
    rows = np.array([9, -1, 0, 3] * 40)
    x = EagerTensor(np.zeros((10, 2)), stop_gradient=False)
    weights = np.random.default_rng(0).standard_normal((160, 2))
    (gradient,) = grad((x[rows] * EagerTensor(weights)).sum(), [x])
    want = np.zeros((10, 2))
    np.add.at(want, rows, weights)
    np.testing.assert_allclose(gradient.array, want, rtol=1e-12)


def test_places_out_of_bounds_are_refused_where_rows_are_summed():
    rows = EagerTensor(np.full(100, -11))
    with pytest.raises(IndexError):
        EagerTensor(np.zeros((10, 2))).index_add(rows, 0, EagerTensor(np.ones((100, 2))))


def test_an_undecided_condition_never_decides_a_slice():
    a, b = symbol("a", 0), symbol("b", 0)
    program = program_of(
        lambda x, y: x[y.shape[0] :], TensorType("float32", (a,)), TensorType("float32", (b,))
    )
    for left, right in ((5, 2), (2, 5), (3, 3), (0, 1)):
        arrays = [np.arange(float(n), dtype=np.float32) for n in (left, right)]
        have = engine.compile(program).run(arrays, [])[0]
        np.testing.assert_array_equal(have, arrays[0][right:])
    assert issubclass(UndecidedDim, ShapeError)


@pytest.mark.parametrize(
    "put",
    [
        lambda x: dy2st.masked_fill(x, x < 1, 0.1),
        lambda x: dy2st.index_fill(x, dy2st.arange(2), 0, 0.1),
        lambda x: dy2st.put_along_axis(x, dy2st.arange(2), 0.1, 0),
        lambda x: _with(x, slice(None), 0.1),
        lambda x: _with(x, slice(None), [0.1, 0.1]),
        lambda x: x.clone().fill_(0.1),
    ],
)
def test_a_number_of_python_keeps_the_digits_of_the_tensor(put):
    x = dy2st.to_tensor(np.zeros(2))
    assert put(x).tolist() == [0.1, 0.1]
    assert dy2st.jit.to_static(put)(x).tolist() == [0.1, 0.1]


def _with(x, index, value):
    x = x.clone()
    x[index] = value
    return x


def test_infinities_become_the_largest_number_of_the_dtype():
    found = dy2st.nan_to_num(dy2st.to_tensor(np.array([np.inf, -np.inf, np.nan])))
    assert found.tolist() == np.nan_to_num([np.inf, -np.inf, np.nan]).tolist()
