"""Gradients at zeros, ties and kinks, as torch 2.13 and PaddlePaddle 3.3.1 give them."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st as P
from dy2st.static import InputSpec
from tests.runtime.ops.test_every_operator import numeric_gradient

F = P.nn.functional
TWO = [[1.0, 2.0], [3.0, 4.0]]
ROOT_HALF = 0.5**0.5
SELU = 1.0507009873554805 * 1.6732632423543772


def product_at(x, values):
    """x times the values at places: the first two at 0, the third at 1."""
    return P.put_along_axis(x, P.arange(3) // 2, values, 0, "mul", broadcast=False)


# name: function, inputs, gradients of the sum of its results
ROWS = {
    "norm of 0": (P.linalg.norm, [[0, 0]], [[0, 0]]),
    "vector_norm of 0": (P.linalg.vector_norm, [[0, 0]], [[0, 0]]),
    "norms of rows": (lambda x: P.norm(x, 2, axis=1), [[[0, 0], [3, 4]]], [[[0, 0], [0.6, 0.8]]]),
    "norm of order 3": (lambda x: P.norm(x, 3), [[0, 0]], [[0, 0]]),
    "norm of order 1.5": (lambda x: P.norm(x, 1.5), [[0, 0]], [[0, 0]]),
    "norm of order 0.5": (lambda x: P.norm(x, 0.5), [[0, 2]], [[0, 1]]),
    "norm of order -1": (lambda x: P.norm(x, -1, axis=1), [[[0, 2], [2, 2]]], [[[0, 0], [0.25, 0.25]]]),
    "cdist": (lambda x: P.cdist(x, x), [TWO], [[[-2 * ROOT_HALF] * 2, [2 * ROOT_HALF] * 2]]),
    "pdist": (P.pdist, [[[1, 2], [1, 2]]], [[[0, 0], [0, 0]]]),
    "dist": (P.dist, [[1, 2], [1, 2]], [[0, 0], [0, 0]]),
    "normalize": (lambda x: F.normalize(x, axis=0), [[0, 0]], [[1e12, 1e12]]),
    "cosine_similarity": (
        lambda x, y: F.cosine_similarity(x, y, axis=0),
        [[0, 0], [1, 2]],
        [[1e8, 2e8], [0, 0]],
    ),
    "std of equal numbers": (P.std, [[2, 2, 2]], [[0, 0, 0]]),
    "elu": (F.elu, [[0, -0.0, 1]], [[1, 1, 1]]),
    "celu": (lambda x: F.celu(x, 0.5), [[0, 1]], [[1, 1]]),
    "selu": (F.selu, [[0]], [[SELU]]),
    "cumprod with a 0": (lambda x: P.cumprod(x, 0), [[2, 0, 3]], [[1, 8, 0]]),
    "cumprod with two": (lambda x: P.cumprod(x, 0), [[2, 0, 3, 0, 5]], [[1, 8, 0, 0, 0]]),
    "cumprod without": (lambda x: P.cumprod(x, 0), [[2, 1, 3]], [[5, 8, 2]]),
    "fmax of equal ones": (P.fmax, [[1, 2], [1, 3]], [[1, 0], [0, 1]]),
    "fmin of equal ones": (P.fmin, [[1, 2], [1, 3]], [[1, 1], [0, 0]]),
    "fmax beside NaN": (P.fmax, [[np.nan, 2], [1, np.nan]], [[0, 1], [1, 0]]),
    "frexp": (lambda x: P.frexp(x)[0], [[3, 4]], [[0.25, 0.125]]),
    "adaptive_max_pool1d": (lambda x: F.adaptive_max_pool1d(x, 1), [[[[2, 2, 1]]]], [[[[1, 0, 0]]]]),
    "adaptive_max_pool2d": (
        lambda x: F.adaptive_max_pool2d(x, 1),
        [[[[[0, 1], [1, 0]]]]],
        [[[[[0, 1], [0, 0]]]]],
    ),
    "product at places, one 0": (product_at, [[2, 0], [3, 5, 7]], [[15, 7], [10, 6, 0]]),
    "product at places, a 0 in them": (product_at, [[2, 3], [0, 5, 7]], [[0, 7], [10, 0, 3]]),
    "product at places, two": (product_at, [[0, 3], [0, 5, 7]], [[0, 7], [0, 0, 3]]),
    "norm of order inf": (lambda x: P.norm(x, np.inf), [[2, -2]], [[0.5, -0.5]]),
    "det of a singular matrix": (P.linalg.det, [[[1, 1], [1, 1]]], [[[0, 0], [0, 0]]]),
}  # fmt: skip


def _gradients(function, inputs):
    tensors = [P.to_tensor(np.array(x, "float64"), stop_gradient=False) for x in inputs]
    function(*tensors).sum().backward()
    return [x.grad.numpy() for x in tensors]


@pytest.mark.parametrize("engine", ["eager", "numpy", "native"])
@pytest.mark.parametrize("row", ROWS)
def test_gradients_are_finite_and_as_there(row, engine):
    function, inputs, wanted = ROWS[row]
    if engine != "eager":
        unknown = [InputSpec([None] * np.ndim(x), "float64") for x in inputs]
        is_of_all_sizes = row not in ("pdist", "det of a singular matrix")
        function = P.to_static(
            function, engine=engine, input_spec=unknown if is_of_all_sizes else None
        )
    for found, right in zip(_gradients(function, inputs), wanted, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-9)


@pytest.mark.parametrize("zeros", [[], [1], [0], [3]])
def test_second_derivatives_of_cumprod_are_right_beside_a_zero(zeros):
    rng = np.random.default_rng(2)
    start, weights = rng.uniform(0.5, 2, (2, 4))
    start[zeros] = 0.0

    def slopes(array):
        x = P.to_tensor(array, stop_gradient=False)
        y = (P.cumprod(x, 0) * P.to_tensor(weights)).sum()
        (slope,) = P.grad(y, x, create_graph=True)
        return x, slope

    x, slope = slopes(start)
    found = [P.grad(slope[i], x, retain_graph=True)[0].numpy() for i in range(4)]
    step = 1e-6
    moved = [
        (slopes(start + step * one)[1].numpy() - slopes(start - step * one)[1].numpy()) / (2 * step)
        for one in np.eye(4)
    ]
    np.testing.assert_allclose(np.array(found), np.array(moved), atol=1e-7)


@pytest.mark.parametrize("engine", ["eager", "numpy", "native"])
@pytest.mark.parametrize("loss", [F.cross_entropy, F.nll_loss], ids=lambda loss: loss.__name__)
@pytest.mark.parametrize("label", [-1, -3, -4, 3])
def test_labels_below_0_or_beyond_the_classes_are_refused(label, loss, engine):
    function = loss if engine == "eager" else P.to_static(lambda x, y: loss(x, y), engine=engine)
    with pytest.raises(IndexError, match=f"{label} is not in 0 .. 2" if engine == "eager" else "3"):
        function(P.to_tensor([[1.0, 2.0, 3.0]]), P.to_tensor([label]))


@pytest.mark.parametrize("engine", ["eager", "numpy", "native"])
def test_rows_of_a_table_do_not_count_from_its_end(engine):
    table = P.to_tensor([[1.0], [2.0]])
    call = lambda x: F.embedding(x, table)  # noqa: E731
    call = call if engine == "eager" else P.to_static(call, engine=engine)
    assert call(P.to_tensor([1, 0])).tolist() == [[2.0], [1.0]]
    with pytest.raises(IndexError):
        call(P.to_tensor([-1]))


def test_labels_that_are_ignored_may_be_negative():
    loss = F.cross_entropy(P.to_tensor([[1.0, 2.0], [3.0, 1.0]]), P.to_tensor([-100, 0]))
    np.testing.assert_allclose(loss.item(), np.log1p(np.exp(-2.0)) / 2, rtol=1e-6)
    loss = F.nll_loss(
        P.to_tensor([[1.0, 2.0]]), P.to_tensor([-1]), ignore_index=-1, reduction="sum"
    )
    assert loss.item() == 0.0


def test_cosines_of_vectors_that_are_broadcast_are_cosines():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(1, 2, 3)), rng.normal(size=(2, 1, 3))
    found = F.cosine_similarity(P.to_tensor(x), P.to_tensor(y), axis=-2).numpy()
    a, b = np.broadcast_arrays(x, y)
    wanted = (a * b).sum(-2) / np.sqrt((a * a).sum(-2) * (b * b).sum(-2))
    np.testing.assert_allclose(found, wanted)
    assert F.cosine_similarity(P.ones([3]), P.ones([2, 3]), axis=-1).shape == [2]


def test_weights_of_covariances_stay_fractions():
    x = np.array([[1, 2, 3], [3, 1, 1]])
    for weights in ([0.2, 0.3, 0.5], [1.5, 2.5, 1.0]):
        found = P.linalg.cov(P.to_tensor(x), aweights=P.to_tensor(weights, "float64"))
        np.testing.assert_allclose(found.numpy(), np.cov(x, aweights=weights))
    row = P.arange(3.0).unsqueeze(0)
    assert P.linalg.cov(row).shape == P.linalg.corrcoef(row).shape == []


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_variance_of_nothing_is_nan():
    assert np.isnan(P.var(P.zeros([0])).item()) and np.isnan(P.std(P.zeros([0])).item())


def test_small_answers_are_those_of_paddle():
    found = P.reduce_as(P.to_tensor([[True, True]]), P.to_tensor([True]))
    assert (found.tolist(), found.dtype) == ([2], P.int64)
    put = P.put_along_axis(
        P.to_tensor([True]), P.to_tensor([0]), P.to_tensor([False]), 0, "amax", include_self=False
    )
    assert put.tolist() == [False]
    nan = P.full([1, 1], float("nan"))
    assert P.addmm(nan, P.ones([1, 2]), P.ones([2, 1]), beta=0).item() == 2
    one = P.full([1, 1, 1], float("nan"))
    assert P.baddbmm(one, P.ones([1, 1, 2]), P.ones([1, 2, 1]), beta=0).item() == 2
    assert P.arange(0.0, -8.000001, -4.0, dtype="int64").tolist() == [0, -4]
    assert P.arange(0.1, -7.9, -4.0, dtype="int64").tolist() == [0, -4]


def test_interpolation_takes_factors_exactly_for_float64():
    x = P.to_tensor(np.array([[[0.1, 0.2, 0.4, 0.8]]]))
    found = P.nn.functional.interpolate(x, scale_factor=1.7, mode="linear", data_format="NCW")
    places = np.maximum((np.arange(6) + 0.5) / 1.7 - 0.5, 0)
    np.testing.assert_allclose(
        found.numpy()[0, 0], np.interp(places, range(4), x.numpy()[0, 0]), rtol=1e-14
    )


@pytest.mark.parametrize("weight", [1.0, 0.75, 0.25, 0.0])
def test_lerp_ends_at_its_ends(weight):
    x, y = P.to_tensor([1e8, 2.0]), P.to_tensor([1.0, 6.0])
    wanted = (1 - weight) * x.numpy().astype(float) + weight * y.numpy().astype(float)
    for given in (weight, P.to_tensor(weight), P.full([2], weight)):
        np.testing.assert_allclose(P.lerp(x, y, given).numpy(), wanted, rtol=2e-7)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_infinities_are_close_to_themselves_alone():
    values = np.array([np.inf, -np.inf, np.nan, 1.0, 0.0])
    left, right = (P.to_tensor(a.copy()) for a in np.meshgrid(values, values))
    for equal_nan in (False, True):
        found = P.isclose(left, right, equal_nan=equal_nan).numpy()
        wanted = np.isclose(left.numpy(), right.numpy(), equal_nan=equal_nan)
        np.testing.assert_array_equal(found, wanted)
    bools = P.to_tensor([True, False])
    assert P.isclose(bools, P.to_tensor([True, True])).tolist() == [True, False]


def _slopes(y, x):
    return P.grad([y], [x], create_graph=True)


@pytest.mark.parametrize("approximate", [False, True])
def test_gradients_of_gelu_of_all_orders_are_right(approximate):
    numbers = np.linspace(-3, 3, 13)
    x = P.to_tensor(numbers, stop_gradient=False)
    (first,) = _slopes(F.gelu(x, approximate).sum(), x)
    (second,) = _slopes(first.sum(), x)

    def value(arrays):
        return F.gelu(P.to_tensor(arrays[0]), approximate).numpy().sum()

    def slope(arrays):
        y = P.to_tensor(arrays[0], stop_gradient=False)
        return _slopes(F.gelu(y, approximate).sum(), y)[0].numpy().sum()

    np.testing.assert_allclose(first.numpy(), numeric_gradient(value, [numbers], 0), atol=1e-7)
    np.testing.assert_allclose(second.numpy(), numeric_gradient(slope, [numbers], 0), atol=1e-7)
