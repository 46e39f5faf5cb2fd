"""Features of boxes against loops over points and pixels, written from the papers."""

import math

import numpy as np
import pytest

import dy2st
from dy2st.errors import ShapeError
from dy2st.paddle.vision.ops import PSRoIPool, RoIAlign, RoIPool, psroi_pool, roi_align, roi_pool
from dy2st.static import InputSpec

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 8, 7, 9))
BOXES = np.array(
    [[0, 0, 8, 6], [1.3, 2.2, 5.7, 4.1], [-3, -2, 3, 2], [6, 5, 14, 13], [2, 2, 2.1, 2.2]]
)
COUNTS = np.array([2, 3])
IMAGES = np.repeat([0, 1], COUNTS)


def pixel(image, y, x):
    """The bilinear value at a place; the border is repeated for a pixel, behind it is nothing."""
    height, width = image.shape
    if not (-1 <= y <= height and -1 <= x <= width):
        return 0.0
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    up, left = int(y), int(x)
    down, right = min(up + 1, height - 1), min(left + 1, width - 1)
    top = image[up, left] * (left + 1 - x) + image[up, right] * (x - left)
    bottom = image[down, left] * (left + 1 - x) + image[down, right] * (x - left)
    return top * (up + 1 - y) + bottom * (y - up)


def align(box, image, high, wide, ratio, aligned):
    left, top, right, bottom = box - (0.5 if aligned else 0.0)
    height, width = bottom - top, right - left
    if not aligned:
        height, width = max(height, 1.0), max(width, 1.0)
    rows = ratio if ratio > 0 else math.ceil(height / high)
    columns = ratio if ratio > 0 else math.ceil(width / wide)
    y = [top + (i + (a + 0.5) / rows) * height / high for i in range(high) for a in range(rows)]
    x = [
        left + (j + (b + 0.5) / columns) * width / wide for j in range(wide) for b in range(columns)
    ]
    values = np.array([[pixel(image, p, q) for q in x] for p in y])
    return values.reshape(high, rows, wide, columns).mean(axis=(1, 3))


@pytest.mark.parametrize("scale", [1.0, 0.5])
@pytest.mark.parametrize("ratio", [-1, 1, 3])
@pytest.mark.parametrize("aligned", [True, False])
def test_aligned_regions_are_means_of_points(scale, ratio, aligned):
    ours = roi_align(*tensors(X, BOXES, COUNTS), (2, 3), scale, ratio, aligned).numpy()
    for box, image, found in zip(BOXES, IMAGES, ours, strict=True):
        for channel in (0, 5):
            wanted = align(box * scale, X[image, channel], 2, 3, ratio, aligned)
            np.testing.assert_allclose(found[channel], wanted, atol=1e-12)


def tensors(*arrays):
    return [dy2st.to_tensor(array) for array in arrays]


def whole(value):
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


def parts_of(low, high, parts, length):
    """From where to where the parts of an interval of whole pixels reach."""
    size = max(high - low + 1, 1) / parts
    for part in range(parts):
        first, last = math.floor(part * size) + low, math.ceil((part + 1) * size) + low
        yield min(max(first, 0), length), min(max(last, 0), length)


def test_pooled_regions_are_largest_pixels():
    ours = roi_pool(*tensors(X, BOXES, COUNTS), (2, 3), 1.0).numpy()
    for box, image, found in zip(BOXES, IMAGES, ours, strict=True):
        left, top, right, bottom = map(whole, box)
        for i, (up, down) in enumerate(parts_of(top, bottom, 2, 7)):
            for j, (first, last) in enumerate(parts_of(left, right, 3, 9)):
                part = X[image, :, up:down, first:last]
                wanted = part.max(axis=(1, 2)) if part.size else np.zeros(8)
                np.testing.assert_array_equal(found[:, i, j], wanted)


def test_every_part_of_a_position_sensitive_region_has_its_channel():
    ours = psroi_pool(*tensors(X, BOXES, COUNTS), 2, 0.5).numpy()
    assert ours.shape == (5, 2, 2, 2)
    for box, image, found in zip(BOXES, IMAGES, ours, strict=True):
        left, top, right, bottom = (whole(v) for v in box)
        y, x = top * 0.5, left * 0.5
        high = max((bottom + 1) * 0.5 - y, 0.1) / 2
        wide = max((right + 1) * 0.5 - x, 0.1) / 2
        for k, i, j in np.ndindex(2, 2, 2):
            rows = slice(max(math.floor(y + i * high), 0), max(math.ceil(y + (i + 1) * high), 0))
            columns = slice(max(math.floor(x + j * wide), 0), max(math.ceil(x + (j + 1) * wide), 0))
            part = X[image, k * 4 + i * 2 + j][rows, columns]
            np.testing.assert_allclose(found[k, i, j], part.mean() if part.size else 0.0)


@pytest.mark.parametrize("function", [roi_align, roi_pool, psroi_pool])
def test_gradients_are_those_of_differences(function):
    x, boxes, counts = tensors(X, BOXES.astype("float32"), COUNTS)
    x.stop_gradient = False
    weights = np.cos(np.arange(function(x, boxes, counts, 2).size))

    def total(x):
        return (function(x, boxes, counts, 2).reshape([-1]) * dy2st.to_tensor(weights)).sum()

    total(x).backward()
    for place in [(0, 0, 3, 4), (1, 3, 1, 1), (1, 7, 6, 8)]:
        moved = X.copy()
        moved[place] += 1e-6
        slope = (total(dy2st.to_tensor(moved)) - total(x)).item() / 1e-6
        assert x.grad.numpy()[place] == pytest.approx(slope, abs=1e-5)


LAYERS = [RoIAlign(2, 0.5), RoIPool(2, 0.5), PSRoIPool(2, 0.5)]


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: type(layer).__name__)
def test_one_program_is_for_all_sizes_and_numbers_of_boxes(layer):
    specs = [
        InputSpec([None, 8, None, None]),
        InputSpec([None, 4]),
        InputSpec([None], "int64"),
    ]
    static = dy2st.jit.to_static(layer.forward, input_spec=specs)
    x, boxes = X.astype("float32"), BOXES.astype("float32")
    for arrays in [(x, boxes, COUNTS), (x[:1, :, :5], boxes[:0], COUNTS[:1] * 0)]:
        given = tensors(*arrays)
        np.testing.assert_allclose(static(*given).numpy(), layer(*given).numpy(), atol=1e-6)


def test_numbers_of_boxes_that_do_not_fit_are_refused():
    with pytest.raises(IndexError, match="boxes_num"):
        roi_align(*tensors(X, BOXES, COUNTS - 1), 2)
    with pytest.raises(ShapeError, match="numbers of boxes"):
        roi_align(*tensors(X[0], BOXES, COUNTS), 2)
    with pytest.raises(ShapeError, match="no multiple"):
        psroi_pool(*tensors(X[:, :3], BOXES, COUNTS), 2)
    with pytest.raises(ValueError, match="a box"):
        roi_align(*tensors(X, BOXES * np.nan, COUNTS), 2)
