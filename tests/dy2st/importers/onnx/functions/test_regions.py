"""Boxes, windows and kernels that look elsewhere, as the reference has them."""

import numpy as np
import pytest

from dy2st.errors import ArgumentError
from dy2st.importers.onnx.functions import regions as r
from dy2st_runtime.tensor import to_tensor
from tests.dy2st.importers.onnx.functions.reference import by_runtime, check, reference
from tests.effort import effort


@pytest.mark.parametrize("seed", range(effort(12, 300)))
def test_boxes_that_overlap_better_ones_go(seed):
    draw = np.random.default_rng(seed)
    batch, classes, count = draw.integers(1, 4, 3).tolist()
    boxes = draw.random((batch, 4 * count, 4)).astype("float32")
    scores = draw.integers(0, 6, (batch, classes, 4 * count)).astype("float32") / 6
    given = [np.array([int(draw.integers(1, 5))]), draw.random(1).astype("float32") * 0.5]
    given.append(np.array([0.3], "float32") if draw.integers(2) else None)
    named = {"center_point_box": int(draw.integers(2))}
    inputs = [boxes, scores, *given]
    expected = [reference("NonMaxSuppression", inputs, **named)[0]]
    unknown = {0: (), 1: (0, 1)} if batch == 1 else {0: (), 1: (1,)}
    check("", r.non_max_suppression, *inputs, known=(2, 3, 4), unknown=unknown,
          expected=expected, **named)  # fmt: skip


def test_without_a_number_of_boxes_there_are_none():
    boxes, scores = np.ones((1, 2, 4), "float32"), np.ones((1, 1, 2), "float32")
    assert r.non_max_suppression(to_tensor(boxes), to_tensor(scores)).shape == [0, 3]


@pytest.mark.parametrize("ratio", [0, 2])
@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("shift", ["half_pixel", "output_half_pixel"])
def test_parts_of_boxes(shift, mode, ratio):
    draw = np.random.default_rng(1)
    x = draw.normal(size=(2, 3, 7, 6)).astype("float32")
    starts, extents = draw.uniform(-2, 8, (5, 2)), draw.uniform(1, 9, (5, 2))
    rois = np.concatenate([starts, starts + extents], 1).astype("float32")
    images = draw.integers(0, 2, 5)
    named = {"coordinate_transformation_mode": shift, "mode": mode, "output_height": 2}
    named |= {"output_width": 3, "spatial_scale": 0.7, "sampling_ratio": ratio}
    if mode == "max" and not ratio:
        with pytest.raises(ArgumentError, match="sampling_ratio"):
            r.roi_align(*map(to_tensor, (x, rois, images)), **named)
        return
    unknown = {0: (0, 2, 3)}
    check("RoiAlign", r.roi_align, x, rois, images, atol=1e-5, unknown=unknown, opset=22, **named)


def test_the_largest_pixels_of_boxes():
    draw = np.random.default_rng(2)
    x = draw.normal(size=(2, 3, 8, 9)).astype("float32")
    corners = np.sort(draw.integers(0, 8, (4, 2, 2)), axis=1).reshape(4, 4)
    rois = np.concatenate([draw.integers(0, 2, (4, 1)), corners], 1).astype("float32")
    named = {"pooled_shape": [2, 3], "spatial_scale": 0.9}
    expected = by_runtime("MaxRoiPool", [x, rois], **named)
    check("", r.max_roi_pool, x, rois, expected=expected, unknown={0: (2, 3), 1: (0,)}, **named)


@pytest.mark.parametrize(("axes", "seed"), [(1, 0), (2, 1), (2, 2), (3, 3)])
def test_windows_are_added_to_their_image(seed, axes):
    draw = np.random.default_rng(seed)
    image, block = draw.integers(4, 7, axes), draw.integers(1, 3, axes)
    named = {"strides": draw.integers(1, 3, axes).tolist(), "pads": [1] * 2 * axes}
    named["dilations"] = draw.integers(1, 3, axes).tolist()
    geometry = zip(image, block, named["strides"], named["dilations"], strict=True)
    counts = [(n + 2 - d * (k - 1) - 1) // s + 1 for n, k, s, d in geometry]
    x = draw.normal(size=(2, 2 * np.prod(block), np.prod(counts))).astype("float32")
    late = axes < 3  # six sizes that nobody knows make long formulas
    named |= {"known": (1, 2), "unknown": {0: (0,)}, "late": late, "opset": 18}
    check("Col2Im", r.col2im, x, image, block, **named)


@pytest.mark.parametrize("with_mask", [False, True])
@pytest.mark.parametrize("pads", [[0, 0, 0, 0], [1, 0, 1, 2]])
def test_kernels_look_elsewhere(pads, with_mask):
    draw = np.random.default_rng(3)
    x, w = draw.normal(size=(1, 4, 4, 3)), draw.normal(size=(2, 2, 2, 2))
    sizes = [4 + pads[0] + pads[2] - 1, 3 + pads[1] + pads[3] - 1]
    offset = draw.normal(size=(1, 2 * 8, *sizes)) * 0.7
    rest = [draw.normal(size=2), draw.random((1, 2 * 4, *sizes))] if with_mask else [None, None]
    inputs = [None if one is None else one.astype("float32") for one in (x, w, offset, *rest)]
    named = {"pads": pads, "group": 2, "offset_group": 2, "kernel_shape": [2, 2]}
    check("DeformConv", r.deform_conv, *inputs, atol=1e-4, unknown={0: (0,)}, opset=19, **named)


@pytest.mark.parametrize("size", [1, 3, 4, 5])
@pytest.mark.parametrize("shape", [(2, 5), (2, 5, 3, 2)])
def test_channels_are_normalised_by_their_neighbours(shape, size):
    x = np.random.default_rng(4).normal(size=shape).astype("float32")
    named = {"size": size, "alpha": 0.2, "beta": 0.6, "bias": 1.5}
    padded = np.pad(x**2, [(0, 0), (10, 10)] + [(0, 0)] * (x.ndim - 2))
    first = 10 - (size - 1) // 2
    total = sum(padded[:, first + k : first + k + 5] for k in range(size))
    expected = [(x / (1.5 + 0.2 / size * total) ** 0.6).astype("float32")]
    check("", r.lrn, x, expected=expected, unknown={0: range(x.ndim)}, **named)
