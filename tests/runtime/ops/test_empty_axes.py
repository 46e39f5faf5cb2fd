"""Reductions along no axes: an empty list means all axes, as PaddlePaddle has it."""

import numpy as np
import pytest

import dy2st
from dy2st.errors import ArgumentError

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
