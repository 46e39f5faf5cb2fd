"""Shape and movement, tensors put together and taken apart, padding: against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dy2st
import dy2st as P
import dy2st_runtime.ops as ops
from dy2st_runtime import engine
from dy2st_runtime.autograd import grad
from dy2st_runtime.dims import symbol
from dy2st_runtime.errors import ArgumentError, DTypeError, ShapeError, UndecidedDim
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.tensor import EagerTensor, to_tensor
from tests.recorded import program_of

N = symbol("n", 1)


def shape_of(function, *shapes):
    """The shape that a function has on symbolic sizes."""
    return program_of(function, *[TensorType("float32", s) for s in shapes]).outputs[0].shape


def numbers(*shape):
    return np.arange(float(np.prod(shape))).reshape(shape)


def check(function, reference, *arrays):
    """Eagerly, and in a Program whose first sizes are symbols."""
    want = reference(*arrays)
    have = function(*[EagerTensor(a) for a in arrays])
    many = isinstance(have, (list, tuple))
    want = list(want) if many else [want]
    types = [
        TensorType(a.dtype, [symbol(f"s{i}", 0), *a.shape[1:]] if a.ndim else a.shape)
        for i, a in enumerate(arrays)
    ]
    try:
        ran = engine.compile(program_of(function, *types)).run(list(arrays), [])
    except UndecidedDim:
        ran = want  # a size must be known there
    for mine, again, expected in zip(have if many else [have], ran, want, strict=True):
        np.testing.assert_array_equal(mine.array, expected, strict=True)
        np.testing.assert_array_equal(again, expected, strict=True)


X = numbers(2, 3, 4)
CASES = {
    "reshape": (lambda x: x.reshape([4, -1]), lambda x: x.reshape(4, -1)),
    "reshape to one axis": (lambda x: x.reshape([-1]), lambda x: x.reshape(-1)),
    "reshape with 0": (lambda x: x.reshape([0, -1]), lambda x: x.reshape(x.shape[0], -1)),
    "flatten": (lambda x: x.flatten(), lambda x: x.ravel()),
    "flatten some": (lambda x: x.flatten(1, 2), lambda x: x.reshape(2, 12)),
    "unflatten": (lambda x: x.unflatten(2, [2, -1]), lambda x: x.reshape(2, 3, 2, 2)),
    "unsqueeze": (lambda x: x.unsqueeze([0, -1]), lambda x: x[None, ..., None]),
    "squeeze": (lambda x: x[:, :1].squeeze([1]), lambda x: x[:, 0]),
    "squeeze another size": (lambda x: x.squeeze(1), lambda x: x),
    "transpose": (lambda x: x.transpose([2, 0, 1]), lambda x: x.transpose(2, 0, 1)),
    "T": (lambda x: x.T, lambda x: x.T),
    "t": (lambda x: x[0].t(), lambda x: x[0].T),
    "moveaxis": (lambda x: x.moveaxis([0, 1], [-1, 0]), lambda x: np.moveaxis(x, [0, 1], [-1, 0])),
    "swapaxes": (lambda x: x.swapaxes(0, -1), lambda x: x.swapaxes(0, -1)),
    "rot90": (lambda x: x.rot90(1, [1, 2]), lambda x: np.rot90(x, 1, (1, 2))),
    "rot90 twice": (lambda x: x.rot90(-2), lambda x: np.rot90(x, -2)),
    "rot90 thrice": (lambda x: x.rot90(3, [2, 0]), lambda x: np.rot90(x, 3, (2, 0))),
    "flip": (lambda x: x.flip([0, -1]), lambda x: np.flip(x, (0, 2))),
    "flip all": (lambda x: x.flip(None), np.flip),
    "roll": (lambda x: x.roll(5), lambda x: np.roll(x, 5)),
    "roll two": (lambda x: x.roll([1, -2], [0, 2]), lambda x: np.roll(x, (1, -2), (0, 2))),
    "broadcast_to": (
        lambda x: x[:, :1].broadcast_to([5, 2, 3, 4]),
        lambda x: np.broadcast_to(x[:, :1], (5, 2, 3, 4)),
    ),
    "expand": (
        lambda x: x[:, :1].expand([5, -1, 3, -1]),
        lambda x: np.broadcast_to(x[:, :1], (5, 2, 3, 4)),
    ),
    "tile": (lambda x: x.tile([2, 1, 3]), lambda x: np.tile(x, (2, 1, 3))),
    "tile with new axes": (lambda x: x.tile([2, 1, 1, 2]), lambda x: np.tile(x, (2, 1, 1, 2))),
    "tile with fewer": (lambda x: x.tile([2]), lambda x: np.tile(x, 2)),
    "tile nothing": (lambda x: x.tile([1, 0, 1]), lambda x: np.tile(x, (1, 0, 1))),
    "repeat_interleave": (lambda x: x.repeat_interleave(3, 1), lambda x: np.repeat(x, 3, 1)),
    "repeat_interleave by list": (
        lambda x: x.repeat_interleave([2, 0, 1], 1),
        lambda x: np.repeat(x, [2, 0, 1], 1),
    ),
    "repeat_interleave flat": (lambda x: x.repeat_interleave(2), lambda x: np.repeat(x, 2)),
    "concat": (lambda x: ops.concat([x, x[:1], x]), lambda x: np.concatenate([x, x[:1], x])),
    "stack": (lambda x: ops.stack([x, x * 2], -2), lambda x: np.stack([x, x * 2], -2)),
    "vstack": (lambda x: ops.vstack([x[0, 0], x[1]]), lambda x: np.vstack([x[0, 0], x[1]])),
    "hstack": (lambda x: ops.hstack([x, x]), lambda x: np.hstack([x, x])),
    "hstack of vectors": (lambda x: ops.hstack([x[0, 0], x[0, 1]]), lambda x: x[0, :2].ravel()),
    "split": (lambda x: x.split(2, 2), lambda x: np.split(x, 2, 2)),
    "split by sizes": (lambda x: x.split([1, -1, 2], 2), lambda x: np.split(x, [1, 2], 2)),
    "split in one": (lambda x: x.split(1, 2), lambda x: [x]),
    "chunk": (lambda x: x.chunk(3, 1), lambda x: np.split(x, 3, 1)),
    "unbind": (lambda x: x.unbind(1), lambda x: [x[:, i] for i in range(3)]),
    "unstack": (lambda x: x.unstack(2, 4), lambda x: [x[..., i] for i in range(4)]),
    "meshgrid": (
        lambda x: ops.meshgrid(x[0, 0], x[0, :, 0]),
        lambda x: np.meshgrid(x[0, 0], x[0, :, 0], indexing="ij"),
    ),
    "broadcast_tensors": (
        lambda x: ops.broadcast_tensors([x, x[0, 0]]),
        lambda x: np.broadcast_arrays(x, x[0, 0]),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_movement_does_what_numpy_does(name):
    check(*CASES[name], X)


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_movement_go_back_to_where_elements_came_from(name):
    function, reference = CASES[name]
    x = EagerTensor(X, stop_gradient=False)
    results = function(x)
    results = results if isinstance(results, list) else [results]
    weights = [numbers(*r.shape) + 1 for r in results]
    total = sum((r * EagerTensor(w)).sum() for r, w in zip(results, weights, strict=True))
    if total.stop_gradient or not any(r.array.size for r in results):
        return
    (gradient,) = grad(total, [x])
    want = np.zeros(X.size)
    for place in range(X.size):
        one = np.zeros(X.size)
        one[place] = 1  # every case is linear
        moved = reference(one.reshape(X.shape))
        moved = moved if isinstance(moved, (list, tuple)) else [moved]
        want[place] = sum((m * w).sum() for m, w in zip(moved, weights, strict=True))
    np.testing.assert_allclose(gradient.array.ravel(), want, rtol=1e-12)


# -- sizes that are not known -----------------------------------------------------------------


def test_the_size_that_is_left_is_exact():
    assert shape_of(lambda x: x.reshape([-1, 2]), (N, 6)) == [3 * N, 2]
    assert shape_of(lambda x: x.reshape([x.shape[0] * 2, -1]), (N, 6)) == [2 * N, 3]
    assert shape_of(lambda x: x.flatten(), (N, 2, 3)) == [6 * N]


def test_a_size_that_must_divide_is_required():
    program = program_of(lambda x: x.reshape([4, -1]), TensorType("float32", (N, 2)))
    compiled = engine.compile(program)
    assert compiled.run([np.zeros((6, 2), np.float32)], [])[0].shape == (4, 3)
    with pytest.raises(ShapeError, match=r"reshape: \[n, 2\] does not fit \[4, -1\]"):
        compiled.run([np.zeros((3, 2), np.float32)], [])


def test_sizes_of_parts_add_up():
    assert shape_of(lambda *xs: ops.concat(xs, 0), (N, 2), (3, 2), (N, 2)) == [2 * N + 3, 2]
    assert shape_of(lambda x: x.split([2, -1], 0)[1], (N, 2)) == [N - 2, 2]
    assert shape_of(lambda x: ops.concat([x, x]).split(2)[1], (N, 2)) == [N, 2]


def test_sizes_of_repetition_are_products():
    assert shape_of(lambda x: x.tile([x.shape[0], 2]), (N, 3)) == [N * N, 6]
    assert shape_of(lambda x: x.repeat_interleave(x.shape[0], 1), (N, 3)) == [N, 3 * N]


def test_a_given_axis_of_unknown_size_must_be_one_when_it_is_squeezed():
    program = program_of(lambda x: x.squeeze(0), TensorType("float32", (N, 3)))
    compiled = engine.compile(program)
    assert compiled.run([np.zeros((1, 3), np.float32)], [])[0].shape == (3,)
    with pytest.raises(ShapeError, match="axis 0 has the size n, not 1"):
        compiled.run([np.zeros((2, 3), np.float32)], [])
    kept = engine.compile(program_of(lambda x: x.squeeze(), TensorType("float32", (N, 3))))
    assert kept.run([np.zeros((2, 3), np.float32)], [])[0].shape == (2, 3)
    with pytest.raises(ShapeError, match="name the axes that go"):
        kept.run([np.zeros((1, 3), np.float32)], [])


def test_the_number_of_tensors_must_be_known_where_it_is_the_length_of_a_list():
    with pytest.raises((UndecidedDim, ArgumentError)):
        program_of(lambda x: x.unbind(0), TensorType("float32", (N, 3)))


# -- refusals ---------------------------------------------------------------------------------

REFUSED = {
    "reshape to another number": lambda x: x.reshape([5, 5]),
    "reshape with two unknown": lambda x: x.reshape([-1, -1]),
    "reshape with -2": lambda x: x.reshape([-2, 12]),
    "reshape that does not divide": lambda x: x.reshape([5, -1]),
    "reshape copying what is not there": lambda x: x.reshape([2, 3, 4, 0]),
    "flatten backwards": lambda x: x.flatten(2, 1),
    "transpose with an axis twice": lambda x: x.transpose([0, 0, 1]),
    "transpose of an axis that is not there": lambda x: x.transpose([0, 1, 3]),
    "t of three axes": lambda x: x.t(),
    "moveaxis of more than it has places": lambda x: x.moveaxis([0, 1], [0]),
    "rot90 in one axis": lambda x: x.rot90(1, [1, 1]),
    "expand to another size": lambda x: x.expand([2, 5, 4]),
    "expand with -1 before": lambda x: x.expand([-1, 2, 3, 4]),
    "broadcast to fewer axes": lambda x: x.broadcast_to([3, 4]),
    "broadcast to a part": lambda x: x.broadcast_to([1, 3, 4]),
    "roll with too few axes": lambda x: x.roll([1, 2], [0]),
    "repeats for another size": lambda x: x.repeat_interleave([1, 2], 1),
    "concat of nothing": lambda x: ops.concat([]),
    "concat of other sizes": lambda x: ops.concat([x, x[:, :2]], 0),
    "concat of other ranks": lambda x: ops.concat([x, x[0]], 0),
    "stack of other sizes": lambda x: ops.stack([x, x[:, :2]]),
    "split in parts that are not equal": lambda x: x.split(2, 1),
    "split in no parts": lambda x: x.split(0, 1),
    "split by sizes that do not add up": lambda x: x.split([1, 1], 1),
    "split by a negative size": lambda x: x.split([4, 3, -1], 1),
    "split in one of another size": lambda x: x.split([2], 1),
    "unstack of another number": lambda x: x.unstack(0, 3),
    "pad by an odd number": lambda x: x.pad([1]),
    "pad by too many": lambda x: x.pad([1] * 8),
    "pad by an unknown mode": lambda x: x.pad([1, 1], "mirror"),
    "pad taking too much away": lambda x: x.pad([0, 0, -2, -2, 0, 0]),
    "reflect more than there is": lambda x: x.pad([0, 0, 0, 0, 4, 0], "reflect"),
    "replicate nothing": lambda x: x[:0].pad([1, 0, 0, 0, 0, 0], "replicate"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused_eagerly_and_traced(name):
    function = REFUSED[name]
    with pytest.raises((ShapeError, ArgumentError)):
        function(EagerTensor(X))
    with pytest.raises((ShapeError, ArgumentError)):
        program_of(function, TensorType("float64", X.shape))


# -- tensors of their own ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.expand([2, 3, 4]),
        lambda x: x.split(1)[0],
        lambda x: x.rot90(0),
        lambda x: x.tile([1]),
    ],
)
def test_what_changes_nothing_gives_a_tensor_of_its_own(function):
    x = EagerTensor(X)
    y = function(x)
    y[0] = -1.0
    np.testing.assert_array_equal(x.array, X)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=2, max_size=5), st.data())
def test_parts_put_together_give_the_whole(sizes, data):
    axis = data.draw(st.integers(0, 2))
    shape = [2, 3, 1]
    shape[axis] = sum(sizes)
    x = EagerTensor(numbers(*shape))
    parts = x.split(sizes, axis)
    assert [part.shape[axis] for part in parts] == sizes
    np.testing.assert_array_equal(ops.concat(parts, axis).array, x.array)


def test_unused_parts_of_a_split_have_gradient_zero():
    x = to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    _, middle, _ = x.split(3)
    (middle * 5).backward()
    assert x.grad.tolist() == [0, 5, 0]


def test_dtypes_are_brought_together():
    mixed = ops.stack([to_tensor([1, 2]), to_tensor([0.5, 1.5])])
    assert mixed.dtype == np.result_type("int64", "float32")
    assert ops.concat([to_tensor([1]), [2.5]]).tolist() == [1, 2.5]


def test_numbers_are_put_together_as_vectors_of_one_element():
    one, two = to_tensor(1.0), to_tensor([2.0, 3.0])
    one.stop_gradient = False
    joined = ops.concat([one, two, one], axis=-1)
    assert joined.tolist() == [1.0, 2.0, 3.0, 1.0]
    (joined * to_tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    assert one.grad.shape == [] and one.grad.item() == 5.0
    with pytest.raises(ArgumentError, match="axis 1"):
        ops.concat([one, one], axis=1)
    with pytest.raises(ArgumentError, match="the tensor has 0 axes"):
        ops.concat([one, to_tensor([[1.0]])])


# -- padding ----------------------------------------------------------------------------------

MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("pads", [(0, 0, 1, 2, 3, 0), (1, 1, 0, 0, 0, 2), (0, 0, 0, 0, 0, 0)])
def test_two_numbers_an_axis_pad_from_the_first_axis_on(mode, pads):
    pairs = list(zip(pads[::2], pads[1::2], strict=True))
    check(
        lambda x: x.pad(list(pads), mode),
        lambda x: np.pad(x, pairs, mode=MODES[mode]),
        numbers(2, 3, 4),
    )


def test_fewer_numbers_pad_spatial_axes_from_the_last_one_back():
    x = numbers(1, 2, 3, 4)
    check(
        lambda x: x.pad([1, 2, 3, 4], value=7.0),
        lambda x: np.pad(x, [(0, 0), (0, 0), (3, 4), (1, 2)], constant_values=7.0),
        x,
    )
    check(
        lambda x: x.pad([1, 2, 3, 4], data_format="NHWC"),
        lambda x: np.pad(x, [(0, 0), (3, 4), (1, 2), (0, 0)]),
        x,
    )
    check(
        lambda x: x.pad([1, 2], data_format="NLC"),
        lambda x: np.pad(x, [(0, 0), (1, 2), (0, 0)]),
        x[0],
    )


def test_all_axes_may_be_padded_from_the_last_one_back():
    check(
        lambda x: x.pad([1, 0, 0, 2], pad_from_left_axis=False),
        lambda x: np.pad(x, [(0, 2), (1, 0)]),
        numbers(2, 3),
    )


def test_negative_numbers_take_elements_away():
    check(lambda x: x.pad([-1, 2, 0, -2]), lambda x: np.pad(x[1:, :-2], [(0, 2), (0, 0)]), X[0])


def test_padding_keeps_the_dtype_and_refuses_values_it_cannot_hold():
    x = to_tensor([1, 2])
    assert x.pad([1, 0], value=3).tolist() == [3, 1, 2]
    assert x.pad([1, 0]).dtype == np.int64
    with pytest.raises(ArgumentError, match="cannot hold the value 0.5"):
        x.pad([1, 0], value=0.5)


def test_sizes_may_be_padded_by_sizes():
    assert shape_of(lambda x: x.pad([0, 0, x.shape[0], 1]), (N, 2)) == [N, N + 3]
    program = program_of(lambda x: x.pad([2, 0], "reflect"), TensorType("float32", (N,)))
    with pytest.raises(ShapeError, match="'reflect' by"):
        engine.compile(program).run([np.zeros(2, np.float32)], [])


def test_an_unknown_size_is_taken_not_to_be_one_where_all_such_axes_go():
    def f(x):
        return x.squeeze() * 2

    one_program = dy2st.to_static(f, input_spec=[dy2st.static.InputSpec([None, 1, 3])])
    for batch in (2, 5):
        x = dy2st.ones([batch, 1, 3])
        assert one_program(x).shape == f(x).shape == [batch, 3]
    assert len(one_program.program_cache) == 1
    with pytest.raises(dy2st.errors.ShapeError, match=r"name the axes that go|!= 1"):
        one_program(dy2st.ones([1, 1, 3]))
    of_any_size = dy2st.to_static(f)
    for batch in (2, 5, 1, 4):
        x = dy2st.ones([batch, 1, 3])
        assert of_any_size(x).shape == f(x).shape


@pytest.mark.parametrize(
    ("axes", "shape"),  # as PaddlePaddle 3.3.1 has it: one after another
    [
        ([2, 0], [1, 2, 3, 1]),
        ([1, 0], [1, 2, 1, 3]),
        ([-1, 0], [1, 2, 3, 1]),
        ([0, -1, -1], [1, 2, 3, 1, 1]),
        ([0, 0], [1, 1, 2, 3]),
        ([-1, -2], [2, 3, 1, 1]),
        ([1, 1], [2, 1, 1, 3]),
    ],
)
def test_unsqueeze_puts_in_axes_one_after_another(axes, shape):
    assert ops.unsqueeze(ops.ones([2, 3]), axes).shape == shape


@pytest.mark.parametrize("axes", [[3], [-4], [3, 0], [4, 0]])
def test_unsqueeze_refuses_a_place_that_is_not_there_yet(axes):
    with pytest.raises(ArgumentError):
        ops.unsqueeze(ops.ones([2, 3]), axes)


# -- padding as PaddlePaddle counts places ---------------------------------------------------------


F = P.nn.functional
ROW = np.arange(4.0)
# What PaddlePaddle 3.3.1 gives for the row 0 1 2 3.
PADDED = [
    ("replicate", (-4, 5), [3, 3, 3, 3, 3]),
    ("replicate", (2, -4), [0, 0]),
    ("replicate", (-1, 2), [1, 2, 3, 3, 3]),
    ("reflect", (2, -4), [2, 1]),
    ("reflect", (-1, 2), [1, 2, 3, 2, 1]),
    ("circular", (-4, 5), [0, 1, 2, 3, 0]),
    ("circular", (2, -4), [2, 3]),
    ("circular", (-1, 2), [1, 2, 3, 0, 1]),
    ("circular", (1, -1), [3, 0, 1, 2]),
    ("constant", (-1, 2), [1, 2, 3, 0, 0]),
]


@pytest.mark.parametrize("engine", ["eager", "numpy", "native"])
@pytest.mark.parametrize(("mode", "pads", "wanted"), PADDED)
def test_places_are_counted_from_all_elements(mode, pads, wanted, engine):
    def padded(x):
        return F.pad(x, list(pads), mode, data_format="NCL")

    x = P.to_tensor(ROW.reshape(1, 1, 4), stop_gradient=False)
    y = (padded if engine == "eager" else P.to_static(padded, engine=engine))(x)
    assert y.tolist() == [[wanted]]
    y.sum().backward()
    counts = [0 if mode == "constant" and k == 0 else wanted.count(k) for k in range(4)]
    assert x.grad.tolist() == [[counts]]


@pytest.mark.parametrize("mode", ["replicate", "reflect", "circular", "constant"])
def test_no_more_is_taken_away_than_there_is(mode):
    with pytest.raises(ShapeError, match="takes more"):
        F.pad(P.ones([1, 1, 4]), [-3, -2], mode, data_format="NCL")


@pytest.mark.parametrize("engine", ["eager", "numpy", "native"])
def test_complex_tensors_are_padded_with_complex_numbers(engine):
    def padded(x):
        return F.pad(x, [1, -1], value=1 - 2j)

    x = P.to_tensor([1j, 2.0])
    y = (padded if engine == "eager" else P.to_static(padded, engine=engine))(x)
    assert y.dtype == np.complex64
    assert y.tolist() == [1 - 2j, 1j]
    with pytest.raises(DTypeError, match="complex"):
        F.pad(P.ones([2]), [1, 1], value=1j)


def test_a_complex_number_is_for_known_pads():
    pads = P.to_tensor([1, 1])
    with pytest.raises(ArgumentError, match="numbers"):
        P.to_static(lambda x, p: F.pad(x, p, value=1j))(P.to_tensor([1j]), pads)
