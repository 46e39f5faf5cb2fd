"""Operators whose attributes are sizes that are not known, as eager operators compute them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dy2st
import dy2st.nn.functional as F
from dy2st.errors import ArgumentError, ShapeError, TensorAsPython, UndecidedDim
from dy2st.jit import to_static
from dy2st.static import InputSpec


def check(function: Callable[..., Any], shape: list[Any], *runs: tuple[int, ...]) -> Any:
    """One Program for some axes unknown gives what eager operators give; returns it."""
    static = to_static(function, input_spec=[InputSpec(shape)])
    for sizes in runs:
        x = dy2st.to_tensor(np.arange(np.prod(sizes), dtype="float32").reshape(sizes) / 7)
        wanted, got = np.asarray(function(x)), np.asarray(static(x))
        assert wanted.shape == got.shape
        np.testing.assert_allclose(got, wanted, rtol=1e-6)
    return static


@pytest.mark.parametrize("offset", [0, 1, -2])
def test_the_diagonal_of_a_matrix_of_unknown_sizes(offset):
    check(lambda x: dy2st.diag(x, offset), [None, None], (3, 5), (5, 3), (4, 4), (2, 1))


def test_the_diagonal_of_one_row_is_a_vector():
    check(lambda x: dy2st.diag(x[None]), [3], (3,))


def test_diag_takes_no_images():
    with pytest.raises(ArgumentError, match="a vector or a matrix"):
        dy2st.diag(dy2st.ones([2, 2, 2]))


def test_attention_with_heads_of_unknown_size():
    def attend(x: Any) -> Any:
        return F.scaled_dot_product_attention(x, x, x)

    check(attend, [None, None, 2, None], (1, 3, 2, 4), (2, 5, 2, 8), (1, 1, 2, 1))


def test_a_vector_of_one_place_as_index_keeps_its_axis():
    check(lambda x: x[dy2st.arange(x.shape[0] - 1)], [None, 2], (4, 2), (3, 2), (2, 2))
    check(lambda x: x[dy2st.arange(1)], [3, 2], (3, 2))


@pytest.mark.parametrize("pool", [F.avg_pool2d, F.max_pool2d])
def test_pooling_with_the_padding_same(pool):
    runs = ((1, 2, 5, 4), (2, 2, 6, 7))
    check(lambda x: pool(x, 3, 2, padding="same"), [None, 2, None, None], *runs)


def test_a_tensor_of_pads_of_the_last_axes():
    def around(x: Any, pads: Any) -> Any:
        return F.pad(x, pads, value=9.0)

    specs = [InputSpec([None, 2, None, 3]), InputSpec([4], "int64")]
    static = to_static(around, input_spec=specs)
    for sizes, pads in (((1, 2, 2, 3), [1, 0, 2, 0]), ((3, 2, 4, 3), [0, 0, 0, 3])):
        x = np.arange(np.prod(sizes), dtype="float32").reshape(sizes)
        wide = [(0, 0), (0, 0), (pads[2], pads[3]), (pads[0], pads[1])]
        got = static(dy2st.to_tensor(x), dy2st.to_tensor(pads))
        np.testing.assert_array_equal(np.asarray(got), np.pad(x, wide, constant_values=9.0))
    with pytest.raises(ArgumentError, match="two numbers an axis"):
        to_static(around, input_spec=[specs[0], InputSpec([3], "int64")]).concrete_program


def by_own_filters(x: Any) -> Any:
    """Every channel of every sample with a filter of its own: 2 x 2 means of x itself."""
    n, c, h, w = x.shape
    filters = F.adaptive_avg_pool2d(x, 2).reshape([n * c, 1, 2, 2])
    y = F.conv2d(x.reshape([1, n * c, h, w]), filters, groups=n * c)
    return y.reshape([n, c, h - 1, w - 1])


def test_a_convolution_in_groups_of_unknown_number():
    static = check(by_own_filters, [None, 3, None, None], (1, 3, 2, 4), (4, 3, 6, 4))
    x = np.arange(2 * 3 * 4 * 4, dtype="float32").reshape(2, 3, 4, 4)
    means = x.reshape(2, 3, 2, 2, 2, 2).mean(axis=(3, 5))
    windows = np.lib.stride_tricks.sliding_window_view(x, (2, 2), axis=(2, 3))
    wanted = np.einsum("nchwij,ncij->nchw", windows, means)
    np.testing.assert_allclose(np.asarray(static(dy2st.to_tensor(x))), wanted, rtol=1e-5)
    with pytest.raises(ShapeError, match="groups is at least 1"):
        static(dy2st.ones([0, 3, 4, 4]))


def test_a_convolution_in_groups_of_unknown_number_has_gradients():
    x = dy2st.to_tensor(np.arange(2 * 3 * 3 * 4, dtype="float32").reshape(2, 3, 3, 4))
    x.stop_gradient = False
    static = to_static(by_own_filters, input_spec=[InputSpec([None, 3, None, None])])
    (got,) = dy2st.grad(static(x).sum(), [x])
    (wanted,) = dy2st.grad(by_own_filters(x).sum(), [x])
    np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), rtol=1e-5)


def test_a_size_to_stretch_to_that_is_negative_is_refused():
    static = check(lambda x: x.sum(0).expand([x.shape[0] - 1, -1]), [None, 2], (4, 2), (1, 2))
    with pytest.raises(ShapeError, match="x_axis0"):
        static(dy2st.ones([0, 2]))


@pytest.mark.parametrize("function", [dy2st.tril, dy2st.triu])
def test_a_triangle_of_a_vector_is_refused(function):
    with pytest.raises(ShapeError, match="at least two axes"):
        function(dy2st.ones([3]))


def test_a_size_of_0_is_copied_only_where_the_others_are_not_0():
    static = check(lambda x: x.reshape([0, 0, 2, 3]), [None, None, 6], (2, 4, 6), (1, 1, 6))
    with pytest.raises(ShapeError):  # eager operators take the zeros as they are
        static(dy2st.ones([0, 4, 6]))


@pytest.mark.parametrize("function", [F.conv2d, F.conv2d_transpose])
def test_images_of_too_many_channels_are_refused_eagerly_too(function):
    with pytest.raises(ShapeError, match="6 channels"):
        function(dy2st.ones([2, 6, 3, 3]), dy2st.ones([4, 4, 1, 1]))


def test_a_branch_whose_size_is_known_by_a_constraint_is_taken_while_optimising():
    table = dy2st.ones([12, 8])

    def choose(x: Any) -> Any:
        part = table[:, :1] if table.sum() > 20 else table + 1
        return part + table[: part.shape[1], : part.shape[-1]] + x

    static = to_static(choose, input_spec=[InputSpec([1])], build_strategy="inference")
    assert static(dy2st.ones([1])).shape == [12, 1]


def test_the_symbols_of_inputs_stand_for_those_of_branches(tmp_path):
    def branch(x: Any) -> Any:
        part = x[:, : x.shape[0] * 2] if x.sum() > 20 else x + 1
        return dy2st.stack([part, x], axis=-1)

    static = to_static(branch, input_spec=[InputSpec([None, None])])
    dy2st.jit.save(static, str(tmp_path / "model"))
    assert dy2st.jit.load(str(tmp_path / "model"))(dy2st.ones([3, 2])).shape == [3, 2, 2]


def test_sizes_that_do_not_broadcast_in_a_branch_that_is_not_taken_do_not_matter():
    def branch(x: Any) -> Any:
        if x.sum() > 3:
            return x[2:] + x[:, 2:]
        return x + 1

    check(branch, [None, None], (3, 3), (1, 6), (2, 2))


def _slice_or_vector(x):
    if x.shape[0] > 2:
        y = dy2st.ones([12, 3])[12 // x.shape[0] :: -1]
    else:
        y = x + 1
    return y


def _one_of_two_sizes(x):
    if x.sum() > 0:
        y = dy2st.ones([12 // x.shape[0]])
    else:
        y = x + 1
    return y


def _bound_in_a_loop(x):
    i = dy2st.zeros([], "int64")
    while i < x.shape[0]:
        y = dy2st.ones([12])[: 12 // x.shape[0]]
        i = i + 1
    return y if x.shape[0] > 0 else x


@pytest.mark.parametrize("function", [_slice_or_vector, _one_of_two_sizes, _bound_in_a_loop])
def test_a_size_is_divided_only_where_python_divides_it(function, tmp_path):
    static = dy2st.to_static(function, input_spec=[InputSpec([None])])
    dy2st.jit.save(static, str(tmp_path / "f"))
    for runner in (static, dy2st.jit.load(str(tmp_path / "f"))):
        for size in (0, 1, 2, 4, 5):
            x = dy2st.ones([size])
            assert np.asarray(runner(x)).tolist() == np.asarray(function(x)).tolist()


def test_a_branch_yields_what_its_condition_says_of_sizes(tmp_path):
    def branch(x: Any, y: Any) -> Any:
        if x.shape[0] > 2:
            part = x[:, 2 : x.shape[0]]
        else:
            part = x.sum(0)
        return part, y + 1

    static = to_static(branch, input_spec=[InputSpec([None, None]), InputSpec([None])])
    dy2st.jit.save(static, str(tmp_path / "model"))
    loaded = dy2st.jit.load(str(tmp_path / "model"))
    for sizes in ((4, 5), (2, 5)):
        x, y = dy2st.ones(list(sizes)), dy2st.ones([2])
        assert loaded(x, y)[0].shape == branch(x, y)[0].shape


def test_a_size_to_reshape_to_that_is_negative_is_refused():
    static = check(lambda x: x.reshape([-1, 3, x.shape[0] - 1]), [None, None], (3, 2), (2, 3))
    with pytest.raises(ShapeError):
        static(dy2st.ones([0, 2]))


def test_the_sizes_that_a_reshape_to_values_knows_may_be_open(tmp_path):
    def reshape(x: Any) -> Any:
        return x.reshape([x.sum().astype("int64"), -1])

    dy2st.jit.save(to_static(reshape, input_spec=[InputSpec([None])]), str(tmp_path / "model"))
    assert dy2st.jit.load(str(tmp_path / "model"))(dy2st.ones([2])).shape == [2, 1]


def test_rows_of_a_table_for_all_positions_are_added_and_reshaped():
    table = dy2st.ones([32, 16])

    def positions(x: Any) -> Any:
        return (x + table[: x.shape[0]]).reshape([0, -1])

    static = check(positions, [None, 16], (5, 16), (32, 16), (1, 16))
    assert (
        static.main_program.outputs[0].type.shape[0] is static.main_program.inputs[0].type.shape[0]
    )
    with pytest.raises(ShapeError):
        static(dy2st.ones([33, 16]))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * len("a".center(x.shape[0])),
    ],
)
def test_a_size_that_must_be_a_number_is_refused_on_the_users_line(function):
    static = to_static(function, input_spec=[InputSpec([None])])
    refused = (UndecidedDim, TensorAsPython)
    with pytest.raises(refused, match=r"test_operators_of_unknown_sizes\.py:\d+"):
        static.main_program  # noqa: B018


# -- ranges ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [-1.0, -2.0, -3.0])
def test_arange_counts_down_from_a_size_by_a_float_of_a_whole_number(step):
    static = to_static(
        lambda x: dy2st.arange(x.shape[0], -x.shape[0], step), input_spec=[InputSpec([None])]
    )
    for n in (1, 2, 5, 8):
        given = static(dy2st.zeros([n]))
        assert given.dtype == dy2st.float32
        assert given.tolist() == np.arange(n, -n, step).tolist()
    assert len(static.program_cache) == 1


def test_arange_takes_a_start_that_is_a_float_of_a_whole_number():
    static = to_static(lambda x: dy2st.arange(1.0, x.shape[0]), input_spec=[InputSpec([None])])
    for n in (1, 2, 7):
        assert static(dy2st.zeros([n])).tolist() == np.arange(1.0, n).tolist()
