"""Images of another size, against the formulas written out for one row of pixels."""

import math

import numpy as np
import pytest

import dy2st_runtime as rt
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.nn import functional as F

ROW = np.array([0.5, -1.0, 2.0, 4.0, 3.0])


def place(i, ratio, old, new, corners, align_mode):
    if corners:
        return i * (old - 1) / max(new - 1, 1)
    return i * ratio if align_mode == 1 else (i + 0.5) * ratio - 0.5


def pixel(row, index):
    return row[min(max(index, 0), len(row) - 1)]


def linear(row, at):
    at = max(at, 0.0)
    low = math.floor(at)
    return pixel(row, low) * (1 - at + low) + pixel(row, low + 1) * (at - low)


def keys(t, a=-0.75):
    t = abs(t)
    if t <= 1:
        return (a + 2) * t**3 - (a + 3) * t**2 + 1
    return a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a


def cubic(row, at):
    low = math.floor(at)
    return sum(pixel(row, low + k) * keys(at - low - k) for k in (-1, 0, 1, 2))


def resized(row, new, method, ratio=None, corners=False, align_mode=0):
    ratio = len(row) / new if ratio is None else ratio
    places = [place(i, ratio, len(row), new, corners, align_mode) for i in range(new)]
    return [method(row, at) for at in places]


@pytest.mark.parametrize("new", [1, 2, 5, 7, 12])
@pytest.mark.parametrize(("corners", "align_mode"), [(False, 0), (False, 1), (True, 0)])
def test_a_row_is_read_between_its_pixels(new, corners, align_mode):
    how = {"align_corners": corners, "align_mode": align_mode}
    found = F.interpolate(rt.to_tensor(ROW[None, None]), [new], mode="linear", **how)
    wanted = resized(ROW, new, linear, None, corners, align_mode)
    np.testing.assert_allclose(np.asarray(found)[0, 0], wanted, atol=1e-12)


@pytest.mark.parametrize("new", [1, 3, 5, 9])
@pytest.mark.parametrize("corners", [False, True])
def test_a_cubic_kernel_reaches_over_four_pixels(new, corners):
    image = rt.to_tensor(np.stack([ROW, ROW])[None, None])
    found = F.interpolate(image, [2, new], mode="bicubic", align_corners=corners)
    wanted = resized(ROW, new, cubic, None, corners)
    np.testing.assert_allclose(np.asarray(found)[0, 0, 1], wanted, atol=1e-12)


def test_a_factor_tells_the_places_unless_it_is_recomputed():
    x = rt.to_tensor(ROW[None, None])
    found = F.interpolate(x, scale_factor=1.7, mode="linear")
    wanted = resized(ROW, 8, linear, 1 / 1.7)
    np.testing.assert_allclose(np.asarray(found)[0, 0], wanted, rtol=1e-5)
    found = F.interpolate(x, scale_factor=1.7, mode="linear", recompute_scale_factor=True)
    np.testing.assert_allclose(np.asarray(found)[0, 0], resized(ROW, 8, linear), rtol=1e-5)


def test_the_nearest_pixel_is_the_one_before():
    found = F.interpolate(rt.to_tensor(ROW[None, None]), scale_factor=1.7)
    wanted = [ROW[math.floor(i / 1.7)] for i in range(8)]
    np.testing.assert_array_equal(np.asarray(found)[0, 0], wanted)


def test_an_area_is_a_mean():
    found = F.interpolate(rt.to_tensor(ROW[None, None]), [2], mode="area")
    np.testing.assert_allclose(np.asarray(found)[0, 0], [ROW[:3].mean(), ROW[2:].mean()])


def test_channels_may_come_last():
    x = np.arange(24.0).reshape(1, 2, 3, 4)
    for mode in ("nearest", "bilinear", "bicubic"):
        first = F.interpolate(rt.to_tensor(x.transpose(0, 3, 1, 2)), [4, 5], mode=mode)
        last = F.interpolate(rt.to_tensor(x), [4, 5], mode=mode, data_format="NHWC")
        np.testing.assert_array_equal(np.asarray(last), np.asarray(first).transpose(0, 2, 3, 1))


def test_factors_may_be_a_tensor():
    x = rt.to_tensor(np.arange(4.0).reshape(1, 1, 2, 2))
    found = F.interpolate(x, scale_factor=rt.to_tensor([2.0, 1.0]))
    assert found.shape == [1, 1, 4, 2]


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"mode": "cubic"}, ArgumentError, "one of 'nearest'"),
        ({"mode": "linear"}, ShapeError, "is for 3 axes"),
        ({"mode": "nearest", "align_corners": True}, ArgumentError, "no align_corners"),
        ({"antialias": True}, ArgumentError, "no antialias"),
        ({"scale_factor": 2}, ArgumentError, "either size or scale_factor"),
    ],
)
def test_what_has_no_meaning_is_refused(how, error, message):
    with pytest.raises(error, match=message):
        F.interpolate(rt.to_tensor(np.ones((1, 1, 2, 2))), [3, 3], **how)
