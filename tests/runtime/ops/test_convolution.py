"""The gradients of a convolution, by the products that a bilinear form must keep."""

import ml_dtypes
import numpy as np
import pytest

import dy2st_runtime as rt
from dy2st_runtime.nn import functional as F

# Few windows, many of them, and an image of one axis longer than wide: each is computed otherwise.
SIZES = [(5, 4), (11, 9), (70, 3)]
GEOMETRIES = [
    {"stride": 1, "padding": 1},
    {"stride": 1, "padding": 0},
    {"stride": 1, "padding": [1, 2], "dilation": [1, 2]},
    {"stride": [2, 1], "padding": 1},
    {"stride": 1, "padding": 4},
]


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("size", SIZES)
def test_both_gradients_keep_the_product_with_the_result(size, geometry, groups):
    random = np.random.default_rng(0)
    x = rt.to_tensor(random.normal(size=(3, 4, *size)), stop_gradient=False)
    w = rt.to_tensor(random.normal(size=(8, 4 // groups, 3, 2)), stop_gradient=False)
    y = F.conv2d(x, w, groups=groups, **geometry)
    g = rt.to_tensor(random.normal(size=y.shape))
    y.backward(g)
    # y is linear in x and in w, so <y, g> = <x, its gradient> = <w, its gradient>; others, too.
    for one, other in ((x, w), (w, x)):
        other_one = rt.to_tensor(random.normal(size=one.shape))
        pair = (other_one, other) if one is x else (other, other_one)
        product = (F.conv2d(*pair, groups=groups, **geometry) * g).sum()
        np.testing.assert_allclose((other_one * one.grad).sum().numpy(), product.numpy(), 1e-9)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_short_floats_of_many_samples_are_summed_up_in_long_ones(dtype):
    # In float16 a sum of ones stops growing at 2,048.
    x, w = (rt.to_tensor(np.ones(s)).astype(dtype) for s in ([60, 1, 8, 8], [1, 1, 1, 1]))
    w.stop_gradient = False
    F.conv2d(x, w).sum().backward()
    assert w.grad.dtype == x.dtype and w.grad.item() == 3840


def test_a_convolution_of_no_samples_has_a_gradient_of_zeros():
    w = rt.to_tensor(np.ones([2, 1, 3, 3]))
    w.stop_gradient = False
    F.conv2d(rt.to_tensor(np.zeros([0, 1, 12, 12])), w).sum().backward()
    assert w.grad.shape == [2, 1, 3, 3] and not w.grad.numpy().any()
