"""Tensors of no elements, no axes or one axis less, and no axes at all, as PaddlePaddle 3.3.1 has them."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
import dy2st as P
from dy2st.errors import ArgumentError
from dy2st_runtime.errors import ShapeError

F, L = P.nn.functional, P.linalg
ONES = np.stack([np.eye(3) * k for k in (1, 2, 4)])
NOTHING = {
    "vector_norm": (lambda: L.vector_norm(P.zeros([0]), np.inf), 0.0),
    "norm": (lambda: L.norm(P.zeros([0, 3]), np.inf, 0), [0.0] * 3),
    "cond": (lambda: L.cond(P.zeros([0, 0])), 0.0),
    "logsumexp": (lambda: P.logsumexp(P.zeros([0, 2]), 0), [-np.inf] * 2),
    "pinv": (lambda: L.pinv(P.zeros([2, 0])), []),
    "lstsq": (lambda: L.lstsq(P.zeros([3, 0]), P.zeros([3, 2]))[0], []),
    "histogram": (lambda: P.histogram(P.zeros([0]), 3), [0] * 3),
}


@pytest.mark.parametrize("name", NOTHING)
def test_of_no_elements(name):
    call, wanted = NOTHING[name]
    with np.errstate(divide="ignore"):  # the logarithm of 0
        assert call().tolist() == wanted
        assert P.to_static(call)().tolist() == wanted


def test_quantiles_of_a_number_have_no_axis_but_theirs():
    x = P.to_tensor(2.0)
    assert P.quantile(x, [0.1, 0.5], keepdim=True).tolist() == [2, 2]
    assert P.quantile(x, 0.5, axis=0, keepdim=True).shape == []


def test_prelu_of_a_number_is_a_number():
    weight = P.to_tensor([0.25], stop_gradient=False)
    y = F.prelu(P.to_tensor(-2.0), weight)
    y.backward()
    assert y.shape == []
    assert y.item() == -0.5
    assert weight.grad.tolist() == [-2]


@pytest.mark.parametrize("engine", ["eager", "numpy", "native"])
def test_masked_scatter_brings_both_to_one_shape(engine):
    mask = P.to_tensor([[True, False, True], [False, True, True]])

    def scattered(x, value):
        return P.masked_scatter(x, mask, value)

    call = scattered if engine == "eager" else P.to_static(scattered, engine=engine)
    found = call(P.zeros([3]), P.arange(1, 7, dtype="float32"))
    assert found.tolist() == [[1, 0, 2], [0, 3, 4]]


@pytest.mark.parametrize("count", [2, 3])
def test_a_vector_for_each_matrix_is_solved(count):
    x, y = P.to_tensor(ONES[:count]), P.to_tensor(np.arange(3.0 * count).reshape(count, 3))
    wanted = np.arange(3.0 * count).reshape(count, 3) / np.array([1, 2, 4])[:count, None]
    np.testing.assert_allclose(L.solve(x, y).numpy(), wanted)
    np.testing.assert_allclose(P.to_static(L.solve)(x, y).numpy(), wanted)


def test_no_differences_are_the_tensor_alone():
    x = P.to_tensor([1.0, 4.0, 9.0])
    assert P.diff(x, 0, prepend=x, append=x).tolist() == np.diff(x.numpy(), 0).tolist()


def test_nll_loss_refuses_what_has_no_axis_of_classes():
    with pytest.raises(ShapeError, match="classes"):
        F.nll_loss(P.zeros([3]), P.to_tensor(1))


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("dtype", ["int64", "int32"])
def test_a_program_convolves_integers_as_eager_calls_do(dtype, engine):
    x = P.arange(24, dtype=dtype).reshape([2, 2, 6])
    weight = P.arange(8, dtype=dtype).reshape([2, 2, 2]) - 3
    wanted = F.conv1d(x, weight, stride=2, padding=1)
    found = P.to_static(lambda x, w: F.conv1d(x, w, stride=2, padding=1), engine=engine)(x, weight)
    assert found.dtype == wanted.dtype == np.dtype(dtype)
    assert found.tolist() == wanted.tolist()


# -- an empty list of axes -------------------------------------------------------------------------


NUMBERS = np.array([[1, 2, 3], [4, 5, 6]], "float32")

# What PaddlePaddle 3.3.1 gives for `axis=[]`.
ANSWERS = {
    "mean": 3.5,
    "sum": 21.0,
    "max": 6.0,
    "min": 1.0,
    "amax": 6.0,
    "amin": 1.0,
    "prod": 720.0,
    "any": True,
    "all": True,
    "logsumexp": 6.456193447113037,
    "std": 1.8708287477493286,
    "var": 3.5,
    "nansum": 21.0,
    "nanmean": 3.5,
    "norm": 9.539392471313477,
    "count_nonzero": 6,
}


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("axis", [[], ()])
def test_no_axes_mean_all_of_them(name, axis, keepdim):
    x = dy2st.to_tensor(NUMBERS > 0 if name in ("any", "all") else NUMBERS)
    function = getattr(dy2st, name)

    def reduce(x):
        return function(x, axis=axis, keepdim=keepdim)

    for found in (reduce(x), dy2st.to_static(reduce)(x), getattr(x, name)(axis=axis)):
        assert found.numpy().ravel() == pytest.approx([ANSWERS[name]], rel=1e-6)
    assert list(reduce(x).shape) == ([1, 1] if keepdim else [])


@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_quantiles_along_no_axes(name):
    assert getattr(dy2st, name)(dy2st.to_tensor(NUMBERS), 0.5, axis=[]).tolist() == 3.5


@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_medians_along_no_axes_are_refused(name):
    with pytest.raises(ArgumentError, match="axis=None means all"):
        getattr(dy2st, name)(dy2st.to_tensor(NUMBERS), axis=[])


def test_the_gradient_of_a_largest_element_along_no_axes():
    x = dy2st.to_tensor(NUMBERS, stop_gradient=False)
    x.max(axis=[]).backward()
    assert x.grad.tolist() == [[0, 0, 0], [0, 0, 1]]


def test_what_rolls_along_no_axes_rolls_as_one_row():
    assert dy2st.roll(dy2st.to_tensor(NUMBERS), 1, axis=[]).tolist() == [[6, 1, 2], [3, 4, 5]]


def test_a_vector_has_a_length_for_each_element_under_weight_norm():
    layer = dy2st.nn.Layer()
    layer.weight = dy2st.nn.Parameter(np.array([3.0, -4.0], "float32"))
    dy2st.nn.utils.weight_norm(layer, dim=0)
    assert layer.weight_g.tolist() == [3, 4] and layer.weight.tolist() == [3, -4]


@pytest.mark.parametrize("engine", [None, "numpy", "native"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "int64"])
def test_the_mean_of_nothing_is_nan_without_a_warning(dtype, engine):
    def means(x):
        return x.mean(), x.mean(axis=0), x.mean(axis=1, keepdim=True)

    function = means if engine is None else dy2st.to_static(means, engine=engine)
    wanted = "float64" if dtype == "int64" else dtype
    for found, shape in zip(function(dy2st.zeros([0, 3], dtype)), ([], [3], [0, 1]), strict=True):
        assert found.dtype == np.dtype(wanted) and list(found.shape) == shape
        assert np.isnan(found.numpy()).all()


@pytest.mark.parametrize("shape", [[0, 4, 3], [2, 4, 0]])
def test_normalisations_of_nothing_do_not_warn(shape):
    x = dy2st.zeros(shape)
    layers = dy2st.nn.InstanceNorm1D(4), dy2st.nn.GroupNorm(2, 4), dy2st.nn.LayerNorm(shape[1:])
    for layer in layers:
        assert list(layer(x).shape) == shape


# -- axes of tensors without axes ------------------------------------------------------------------


ITSELF = (
    "sum max min prod mean amax amin sort cumsum median nanmedian logsumexp squeeze flip nansum "
    "nanmean logcumsumexp"
).split()
FIRST = ("argmax", "argmin", "argsort")
BOTH = ("cummax", "cummin", "mode")
CALLS = {
    **{name: (getattr(P, name), 3.0) for name in ITSELF},
    **{name: (getattr(P, name), 0) for name in FIRST},
    **{name: (getattr(P, name), (3.0, 0)) for name in BOTH},
    "softmax": (F.softmax, 1.0),
    "log_softmax": (F.log_softmax, 0.0),
    "any": (P.any, True),
    "all": (P.all, True),
    "cumprod": (lambda x, axis: P.cumprod(x, axis), 3.0),
    "norm": (lambda x, axis: P.norm(x, 2, axis), 3.0),
    "quantile": (lambda x, axis: P.quantile(x, 0.5, axis), 3.0),
    "kthvalue": (lambda x, axis: P.kthvalue(x, 1, axis), (3.0, 0)),
    "topk": (lambda x, axis: P.topk(x, 1, axis), (3.0, 0)),
    "count_nonzero": (P.count_nonzero, 1),
}


@pytest.mark.parametrize("engine", ["eager", "numpy", "native"])
@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("name", CALLS)
def test_a_number_is_a_vector_of_itself(name, axis, engine):
    function, wanted = CALLS[name]
    call = lambda x: function(x, axis=axis)  # noqa: E731
    call = call if engine == "eager" else P.to_static(call, engine=engine)
    found = call(P.to_tensor(3.0))
    found = found if isinstance(wanted, tuple) else (found,)
    for one, right in zip(found, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
        assert (one.shape, one.item()) == ([], right)


@pytest.mark.parametrize("name", [n for n in CALLS if n not in ("any", "all")])
def test_other_axes_do_not_exist(name):
    with pytest.raises(ArgumentError, match="axis"):
        CALLS[name][0](P.to_tensor(3.0), axis=1)


def test_gradients_go_through():
    x = P.to_tensor(3.0, stop_gradient=False)
    (P.cumsum(x, 0) * P.sort(x, -1) + F.softmax(x, 0)).backward()
    assert x.grad.tolist() == 6.0


def test_the_sum_of_no_powers_has_a_logarithm():
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        assert P.logsumexp(P.zeros([2, 0]), 1).tolist() == [-float("inf")] * 2
