"""Weights of pixels in the parts of boxes: those of NumPy, and errors in its words."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime.ir import DEFINITIONS, apply
from tests.runtime.engine.native import test_updates


def native(dtype, **told):
    types = [(dtype, ("n",)), (dtype, ("n",))]
    return test_updates.native(
        lambda start, extent: apply("bilinear_weights", start, extent, **told), *types
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("length", "parts", "points"), [(7, 3, -1), (7, 2, 2), (1, 2, 0), (0, 2, 3)]
)
def test_pixels_have_their_shares(dtype, length, parts, points):
    told, rng = {"length": length, "parts": parts, "points": points}, np.random.default_rng(6)
    start = np.concatenate([rng.uniform(-3, 9, 50), [-1, 0, 6, 7, 8, -0.0]]).astype(dtype)
    extent = np.concatenate([rng.uniform(-1, 12, 50), [0, 6, 7, 1, -2, 3]]).astype(dtype)
    (found,) = native(dtype, **told).run([start, extent], [])
    want = DEFINITIONS["bilinear_weights"].kernel(start, extent, **told)
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
