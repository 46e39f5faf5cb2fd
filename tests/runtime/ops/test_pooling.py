"""Windows as PaddlePaddle places them: larger ones, divisors, places, channels last."""

import numpy as np
import pytest

import dy2st
import dy2st_runtime as rt
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.nn import functional as F

X = np.random.default_rng(3).standard_normal((2, 3, 5, 4))


def t(array):
    return rt.to_tensor(array)


def test_one_window_may_be_larger_than_the_image_by_less_than_a_stride():
    np.testing.assert_allclose(F.max_pool2d(t(X), [6, 5])[:, :, 0, 0].numpy(), X.max((2, 3)))
    for exclusive in (True, False):
        found = F.avg_pool2d(t(X), [6, 5], exclusive=exclusive)
        np.testing.assert_allclose(found[:, :, 0, 0].numpy(), X.mean((2, 3)))
    with pytest.raises(ShapeError, match="does not fit"):
        F.max_pool2d(t(X), 6, stride=1)


@pytest.mark.parametrize("name", ["avg_pool1d", "max_pool1d"])
@pytest.mark.parametrize("window", [(2, 2, 0), (3, 3, 0), (3, 2, 0), (3, 1, 1), (4, 3, 1)], ids=str)
@pytest.mark.parametrize("ceil_mode", [False, True])
def test_images_of_unknown_size_are_those_that_hold_a_window_or_have_a_partial_one(
    name, window, ceil_mode
):
    kernel, stride, padding = window

    def f(x):
        pool = getattr(dy2st.nn.functional, name)
        return pool(x, kernel, stride=stride, padding=padding, ceil_mode=ceil_mode)

    converted = dy2st.to_static(f, input_spec=[dy2st.static.InputSpec([None, 2, None])])
    for size in range(1, 7):
        x = dy2st.to_tensor(X[:, :2, 0].repeat(2, -1)[..., :size].astype("float32"))
        if size + 2 * padding >= kernel or (ceil_mode and size + 2 * padding > kernel - stride):
            np.testing.assert_allclose(converted(x).numpy(), f(x).numpy(), rtol=1e-6)
            continue
        with pytest.raises(ShapeError, match=f"a window of {kernel} (must|does not) fit"):
            converted(x)
        if size + 2 * padding > kernel - stride:
            assert f(x).shape == dy2st.to_static(f)(x).shape == [2, 2, 1]


def test_a_divisor_replaces_the_number_of_elements_in_a_window():
    found = F.avg_pool2d(t(X), 2, divisor_override=3)
    sums = X[:, :, :4].reshape(2, 3, 2, 2, 2, 2).sum((3, 5))
    np.testing.assert_allclose(found.numpy(), sums / 3)
    ones = t(np.ones((1, 1, 2, 2)))
    # A window that is not full has its mean, times 4 / 3.
    found = F.avg_pool2d(ones, 2, padding=1, divisor_override=3)
    np.testing.assert_allclose(found.numpy(), np.full((1, 1, 2, 2), 4 / 3))
    found = F.avg_pool2d(ones, 2, padding=1, divisor_override=3, exclusive=False)
    np.testing.assert_allclose(found.numpy(), np.full((1, 1, 2, 2), 1 / 3))


def places_of(values, x):
    """Where in the flattened image the values are; all elements of x differ."""
    flat = x.reshape(*x.shape[:2], 1, -1)
    return np.argmax(flat == values.reshape(*values.shape[:2], -1, 1), -1).reshape(values.shape)


@pytest.mark.parametrize("sizes", [1, 2, [3, 2], [None, 3], [5, 4]], ids=str)
def test_adaptive_pooling_tells_the_places(sizes):
    values, places = F.adaptive_max_pool2d(t(X), sizes, return_mask=True)
    np.testing.assert_array_equal(values.numpy(), F.adaptive_max_pool2d(t(X), sizes).numpy())
    np.testing.assert_array_equal(places.numpy(), places_of(values.numpy(), X))
    assert places.dtype == "int32"


def test_adaptive_pooling_tells_places_along_one_axis():
    row = X[:, :, :, 0]
    values, places = F.adaptive_max_pool1d(t(row), 3, return_mask=True)
    np.testing.assert_array_equal(values.numpy()[..., 0], row[:, :, :2].max(-1))
    np.testing.assert_array_equal(places.numpy(), places_of(values.numpy(), row))


def test_places_are_int32():
    assert F.max_pool2d(t(X), 2, return_mask=True)[1].dtype == "int32"


def test_pads_of_all_axes_stand_where_the_axes_are():
    pairs = [[1, 0], [0, 1]]
    first = F.max_pool2d(t(X), 2, padding=[[0, 0], [0, 0], *pairs])
    last = F.max_pool2d(
        t(X.transpose(0, 2, 3, 1)), 2, padding=[[0, 0], *pairs, [0, 0]], data_format="NHWC"
    )
    np.testing.assert_array_equal(last.numpy().transpose(0, 3, 1, 2), first.numpy())
    with pytest.raises(ArgumentError, match="only the 2 axes of the image"):
        F.max_pool2d(t(X), 2, padding=[[0, 0], *pairs, [0, 0]])


def test_a_transposed_convolution_takes_one_size_for_all_axes():
    square, weight = t(X[:, :, :4]), t(np.ones((3, 1, 2, 2)))
    assert F.conv2d_transpose(square, weight, stride=2, output_size=9).shape == [2, 1, 9, 9]


def test_the_first_nan_of_a_window_is_its_largest_element_and_the_first_of_equal_ones():
    nan = np.nan
    x = np.array([[1.0, nan, 3, 3], [nan, 9, 3, 2], [-1, -2, 0, nan], [-2, -3, nan, 5]])
    values, places = F.max_pool2d(t(x[None, None]), 2, return_mask=True)
    np.testing.assert_array_equal(values.numpy()[0, 0], [[nan, 3], [-1, nan]])
    assert places.numpy()[0, 0].tolist() == [[1, 2], [8, 11]]


def test_windows_of_more_places_than_a_byte_counts_find_the_largest():
    x = np.random.default_rng(0).permutation(20 * 20).reshape(1, 1, 20, 20).astype("float32")
    values, places = F.max_pool2d(t(x), 20, return_mask=True)
    assert values.item() == 399 and places.item() == int(x.argmax())


@pytest.mark.parametrize("name", ["avg_pool2d", "max_pool2d"])
def test_one_window_of_an_unknown_image_is_all_of_it(name):
    def f(x):
        pool = getattr(dy2st.nn.functional, name)
        return pool(x, kernel_size=x.shape[2:]), pool(x, x.shape[2:], stride=x.shape[2:])

    spec = [dy2st.static.InputSpec([None, 2, None, None])]
    converted = dy2st.to_static(f, input_spec=spec)
    reduce = np.mean if name == "avg_pool2d" else np.max
    for shape in ((1, 2, 3, 4), (2, 2, 7, 5)):
        x = np.random.default_rng(0).normal(size=shape).astype("float32")
        for call in (f, converted):
            for found in call(dy2st.to_tensor(x)):
                assert found.numpy() == pytest.approx(reduce(x, (2, 3), keepdims=True), abs=1e-6)
    assert len(converted.program_cache) == 1


@pytest.mark.parametrize(
    "pool",
    [
        lambda F, x: F.avg_pool2d(x, 2, stride=3),
        lambda F, x: F.max_pool2d(x, 2, padding=1),
        lambda F, x: F.avg_pool2d(x, 2, padding=1, exclusive=False),
        lambda F, x: F.max_pool2d(x, 3, stride=4, ceil_mode=True),
        lambda F, x: F.adaptive_avg_pool2d(x, 1),
        lambda F, x: F.adaptive_max_pool2d(x, 2),
    ],
)
def test_an_empty_image_has_no_windows(pool):
    for shape in ((1, 2, 0, 4), (1, 2, 0, 0)):
        with pytest.raises(ShapeError):
            pool(dy2st.nn.functional, dy2st.zeros(shape))
