"""The loss of YOLO: PaddlePaddle's values are compared in test_detection.py; here its slopes."""

import numpy as np
import pytest

import dy2st
from dy2st.errors import ArgumentError, ShapeError
from dy2st.paddle.vision.ops import yolo_loss
from dy2st.static import InputSpec

RNG = np.random.default_rng(0)
ANCHORS = [10, 13, 16, 30, 33, 23, 30, 61]


def loss(x, boxes, labels, mask=(0, 1, 2), anchors=ANCHORS):
    return yolo_loss(x, boxes, labels, anchors, mask, 3, 0.5, 32)


def inputs(count, grid, dtype="float64"):
    boxes = RNG.uniform(0.1, 0.6, (count, 3, 4))
    boxes[:, 2] = 0  # a row that only fills
    x = RNG.normal(size=(count, 24, *grid))
    return [x.astype(dtype), boxes.astype(dtype), RNG.integers(0, 3, (count, 3))]


def test_slopes_are_those_of_differences():
    x, boxes, labels = inputs(2, (3, 4))
    given = dy2st.to_tensor(x, stop_gradient=False)
    rest = [dy2st.to_tensor(boxes), dy2st.to_tensor(labels)]
    loss(given, *rest).sum().backward()
    gradient = given.grad.numpy()
    steep = np.argsort(-np.abs(gradient).reshape(-1))[:12]
    for place in steep:
        moved = x.copy()
        moved.flat[place] += 1e-6
        slope = (loss(dy2st.to_tensor(moved), *rest) - loss(given, *rest)).sum().item() / 1e-6
        assert gradient.flat[place] == pytest.approx(slope, rel=1e-4, abs=1e-5)


def test_rows_that_only_fill_change_nothing():
    x, boxes, labels = inputs(2, (3, 3))
    whole = loss(*map(dy2st.to_tensor, (x, boxes, labels)))
    part = loss(*map(dy2st.to_tensor, (x, boxes[:, :2], labels[:, :2])))
    np.testing.assert_allclose(whole.numpy(), part.numpy())


def test_one_program_is_for_all_sizes():
    specs = [InputSpec([None, 24, None, None]), InputSpec([None, None, 4])]
    static = dy2st.jit.to_static(loss, input_spec=[*specs, InputSpec([None, None], "int64")])
    for count, grid in [(2, (4, 4)), (1, (2, 5))]:
        given = [dy2st.to_tensor(array) for array in inputs(count, grid, "float32")]
        np.testing.assert_allclose(static(*given).numpy(), loss(*given).numpy(), rtol=1e-5)


def test_arguments_that_do_not_fit_are_refused():
    given = [dy2st.to_tensor(array) for array in inputs(1, (2, 2))]
    with pytest.raises(ArgumentError, match="anchor_mask"):
        loss(*given, mask=(0, 1, 4))
    with pytest.raises(ShapeError, match="are not 16"):
        loss(*given, mask=(0, 1))
