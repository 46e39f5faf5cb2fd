"""Sampling by grids as the reference has it."""

import numpy as np
import pytest

from dy2st.errors import ArgumentError
from dy2st.importers.onnx.functions.grids import affine_grid, grid_sample
from dy2st_runtime.tensor import to_tensor
from tests.dy2st.importers.onnx.functions.reference import check
from tests.effort import IS_FULL

MODES = ("linear", "nearest", "cubic")

CAN = {(n, mode): IS_FULL or (n, mode) != (3, "cubic") for n in (1, 2, 3) for mode in MODES}
"""The reference takes seconds for cubes of three axes."""


@pytest.mark.parametrize("align_corners", [0, 1])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize(
    ("axes", "mode"),
    [(n, mode) for n in (1, 2, 3) for mode in MODES if CAN[n, mode]],
)
def test_any_sampling(axes, mode, padding_mode, align_corners):
    draw = np.random.default_rng(axes)
    x = draw.normal(size=(2, 1, *(4, 3, 2)[:axes])).astype("float32")
    points = (2, *(4, 2, 1)[:axes], axes)
    grid = draw.uniform(-1.7, 1.7, points).astype("float32")
    named = {"mode": mode, "padding_mode": padding_mode, "align_corners": align_corners}
    unknown = {0: range(2 + axes), 1: range(axes + 1)}
    check("GridSample", grid_sample, x, grid, opset=22, unknown=unknown, atol=1e-5, **named)


def test_a_gradient_reaches_image_and_grid():
    x = to_tensor(np.arange(9.0, dtype="float32").reshape(1, 1, 3, 3), stop_gradient=False)
    grid = to_tensor(np.full((1, 1, 1, 2), 0.3, "float32"), stop_gradient=False)
    grid_sample(x, grid, mode="cubic").sum().backward()
    assert np.asarray(x.grad).any() and np.asarray(grid.grad).all()


def test_unknown_modes_are_refused():
    with pytest.raises(ArgumentError, match="mode"):
        grid_sample(to_tensor(np.ones((1, 1, 2), "float32")), None, mode="area")


@pytest.mark.parametrize("align_corners", [0, 1])
@pytest.mark.parametrize("size", [[2, 3, 4, 5], [2, 3, 2, 4, 5]])
def test_grids_of_matrices(size, align_corners):
    axes = len(size) - 2
    theta = np.random.default_rng(0).normal(size=(2, axes, axes + 1)).astype("float32")
    given = np.array(size, "int64")
    named = {"known": (1,), "unknown": {}, "opset": 20, "atol": 1e-5}
    check("AffineGrid", affine_grid, theta, given, align_corners=align_corners, **named)
