"""Weights of pixels in the parts of boxes: those of NumPy, and errors in its words."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime.ir import DEFINITIONS, apply
from tests.runtime.engine.native.machine_code import native as in_code
from tests.runtime.engine.native.operators import test_updates


def native(dtype, **options):
    types = [(dtype, ("n",)), (dtype, ("n",))]
    return in_code(
        lambda start, extent: apply("bilinear_weights", start, extent, **options), *types
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("length", "parts", "points"), [(7, 3, -1), (7, 2, 2), (1, 2, 0), (0, 2, 3)]
)
def test_pixels_have_their_shares(dtype, length, parts, points):
    options, rng = {"length": length, "parts": parts, "points": points}, np.random.default_rng(6)
    start = np.concatenate([rng.uniform(-3, 9, 50), [-1, 0, 6, 7, 8, -0.0]]).astype(dtype)
    extent = np.concatenate([rng.uniform(-1, 12, 50), [0, 6, 7, 1, -2, 3]]).astype(dtype)
    (found,) = native(dtype, **options).run([start, extent], [])
    want = DEFINITIONS["bilinear_weights"].kernel(start, extent, **options)
    assert (found.dtype, found.shape) == (want.dtype, want.shape)
    assert found.tobytes() == want.tobytes()


def test_the_shares_of_a_part_inside_are_1():
    executable = native("float64", length=9, parts=2, points=4)
    (found,) = executable.run([np.array([1.0, 2.5]), np.array([3.0, 4.0])], [])
    np.testing.assert_allclose(found.sum(2), np.ones((2, 2)))


@pytest.mark.parametrize(("start", "extent"), [(1e9, 1.0), (0.0, np.nan), (2.0**23, 2.0**23)])
def test_boxes_far_away_are_refused(start, extent):
    executable = native("float32", length=4, parts=2, points=-1)
    given = [np.array([0, number], np.float32) for number in (start, extent)]
    with pytest.raises(ValueError, match="pixels away"):
        executable.run(given, [])


def weights(rng, boxes, parts, length, dtype):
    """Of some pixels in each box, and of none in the last one."""
    found = rng.uniform(0, 1, (boxes, parts, length)).astype(dtype)
    first = rng.integers(0, length, boxes)[:, None, None]
    last = first + rng.integers(1, length + 1, boxes)[:, None, None]
    places = np.arange(length)
    found[np.broadcast_to((places < first) | (places >= last), found.shape)] = 0
    found[-1:] = 0
    return found


@pytest.mark.parametrize(("dtype", "weight"), [("float32", "float32"), ("float64", "float32")])
@pytest.mark.parametrize("is_back", [False, True])
def test_pixels_of_boxes_are_summed(is_back, dtype, weight):
    names = [("r", "p", "h"), ("r", "q", "w"), ("r",)]
    types = [(dtype, ("r", "c", "p", "q") if is_back else ("n", "c", "h", "w"))]
    types += [(weight, names[0]), (weight, names[1]), ("int32", names[2])]
    name, options = ("regions_back", {"count": 2}) if is_back else ("regions", {})
    executable = in_code(lambda *given: apply(name, *given, **options), *types)
    rng = np.random.default_rng(7)
    for boxes, parts, across, height, width in (
        (6, 3, 2, 9, 21),
        (4, 1, 5, 3, 40),
        (0, 1, 1, 2, 2),
    ):
        shape = (boxes, 3, parts, across) if is_back else (2, 3, height, width)
        x = rng.uniform(0.5, 2, shape).astype(dtype)
        lines = [
            weights(rng, boxes, *sizes, weight) for sizes in ((parts, height), (across, width))
        ]
        test_updates.assert_same(executable, x, *lines, rng.integers(0, 2, boxes, np.int32))


@pytest.mark.parametrize("image", [-1, 2])
def test_boxes_of_other_images_are_refused(image):
    types = [
        ("float32", (2, 1, 2, 2)),
        *(("float32", (1, 1, 2)) for _ in range(2)),
        ("int64", (1,)),
    ]
    executable = in_code(lambda *given: apply("regions", *given), *types)
    given = [np.ones(shape, np.float32) for _, shape in types[:3]]
    test_updates.assert_same(executable, *given, np.array([image]))
    (found,) = executable.run([*given, np.array([1])], [])
    assert found.item() == 4


@pytest.mark.parametrize(("dtype", "scale"), [("float32", 1.0), ("float64", 0.3)])
def test_the_largest_pixels_of_parts_are_found(dtype, scale):
    options, rng = {"high": 3, "wide": 2, "scale": scale}, np.random.default_rng(8)
    types = [("float32", ("n", "c", "h", "w")), (dtype, ("r", 4)), ("int64", ("r",))]
    executable = in_code(lambda *given: apply("roi_pool_places", *given, **options), *types)
    corners = rng.uniform(-4, 20, (40, 4)).astype(dtype)
    corners[:5] = [[0, 0, 5, 5], [2.5, -0.5, 3.5, 9], [30, 30, 40, 40], [5, 5, 1, 1], [0, 0, 0, 0]]
    corners[5, 1], corners[6, 2] = np.nan, np.inf
    images = rng.integers(0, 2, 40)
    x = rng.choice([-np.inf, -1, 0, 0.5, 2, np.nan], (2, 3, 9, 7), p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.1])
    with np.errstate(all="ignore"):
        test_updates.assert_same(executable, x.astype(np.float32), corners, images)
        test_updates.assert_same(executable, x[:0].astype(np.float32), corners[:0], images[:0])
        test_updates.assert_same(executable, x[:1].astype(np.float32), corners, images)


@pytest.mark.parametrize(
    ("dtype", "threshold"), [("float32", 0.3), ("float64", 0.0), ("float32", -1)]
)
def test_boxes_that_overlap_better_ones_are_left_out(dtype, threshold):
    types = [(dtype, ("n", 4)), ("int32", ("n",))]
    executable = in_code(lambda *given: apply("nms", *given, threshold=threshold), *types)
    rng = np.random.default_rng(9)
    for count in (0, 1, 7, 300):
        corners = rng.uniform(0, 9, (count, 2))
        boxes = np.concatenate([corners, corners + rng.uniform(-0.5, 4, (count, 2))], 1).astype(
            dtype
        )
        boxes[3:5], boxes[5:6, 1], boxes[6:7, 2] = boxes[2:3], np.nan, np.inf
        with np.errstate(all="ignore"):
            test_updates.assert_same(executable, boxes, rng.integers(-1, 2, count, np.int32))


def test_a_box_stays_if_what_it_overlaps_was_left_out():
    executable = in_code(
        lambda *given: apply("nms", *given, threshold=0.3), ("float64", (4, 4)), ("int64", (4,))
    )
    boxes = np.array([[0, 0, 4, 1], [1, 0, 5, 1], [3, 0, 7, 1], [1, 0, 5, 1]], float)
    (found,) = executable.run([boxes, np.array([0, 0, 0, 1])], [])
    assert found.tolist() == [0, 2, 3]
