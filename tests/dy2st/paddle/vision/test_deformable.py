"""Deformable convolutions against plain ones, and against a loop over pixels."""

import numpy as np
import pytest
import scipy.ndimage

import dy2st
from dy2st.errors import ShapeError
from dy2st.paddle.vision.ops import DeformConv2D, deform_conv2d
from dy2st.static import InputSpec

RNG = np.random.default_rng(0)


def test_without_offsets_it_is_a_convolution():
    x, weight = dy2st.to_tensor(RNG.normal(size=(2, 4, 6, 7))), RNG.normal(size=(6, 2, 3, 2))
    bias = dy2st.to_tensor(RNG.normal(size=6))
    how = {"stride": (2, 1), "padding": (1, 2), "dilation": (1, 2), "groups": 2}
    wanted = dy2st.nn.functional.conv2d(x, dy2st.to_tensor(weight), bias, **how)
    offset = dy2st.zeros([2, 2 * 2 * 6, *wanted.shape[2:]], "float64")
    ours = deform_conv2d(x, offset, dy2st.to_tensor(weight), bias, deformable_groups=2, **how)
    np.testing.assert_allclose(ours.numpy(), wanted.numpy(), atol=1e-12)


def test_every_tap_looks_where_its_offset_says():
    x, weight = RNG.normal(size=(1, 4, 6, 5)), RNG.normal(size=(3, 4, 2, 2))
    offset, mask = RNG.normal(size=(1, 16, 5, 4)) * 2, RNG.random((1, 8, 5, 4))
    wanted = np.zeros((3, 5, 4))
    for group, tap in np.ndindex(2, 4):
        down, right = divmod(tap, 2)
        dy, dx = offset[0].reshape(2, 4, 2, 5, 4)[group, tap]
        places = np.mgrid[:5, :4] + np.array([down, right])[:, None, None] + [dy, dx]
        share = mask[0].reshape(2, 4, 5, 4)[group, tap]
        for channel in (2 * group, 2 * group + 1):
            seen = scipy.ndimage.map_coordinates(
                np.pad(x[0, channel], 1), places + 1, order=1, mode="constant", cval=0.0
            )
            wanted += weight[:, channel, down, right][:, None, None] * seen * share
    given = [dy2st.to_tensor(array) for array in (x, offset, weight)]
    ours = deform_conv2d(*given, deformable_groups=2, mask=dy2st.to_tensor(mask))
    np.testing.assert_allclose(ours.numpy()[0], wanted, atol=1e-12)


def test_gradients_reach_offsets_and_masks():
    arrays = [
        RNG.normal(size=shape)
        for shape in [(1, 2, 4, 4), (1, 8, 3, 3), (2, 2, 2, 2), (2,), (1, 4, 3, 3)]
    ]

    def total(*tensors):
        return (deform_conv2d(*tensors[:4], mask=tensors[4]) ** 2).sum()

    tensors = [dy2st.to_tensor(array, stop_gradient=False) for array in arrays]
    total(*tensors).backward()
    for place, (array, tensor) in enumerate(zip(arrays, tensors, strict=True)):
        moved = array.copy()
        moved.flat[3 % array.size] += 1e-6
        others = [*arrays[:place], moved, *arrays[place + 1 :]]
        slope = (total(*map(dy2st.to_tensor, others)) - total(*tensors)).item() / 1e-6
        assert tensor.grad.numpy().flat[3 % array.size] == pytest.approx(slope, rel=1e-3, abs=1e-4)


class Deformable(dy2st.nn.Layer):
    def __init__(self):
        super().__init__()
        self.offset = dy2st.nn.Conv2D(4, 27, 3, padding=1)
        self.conv = DeformConv2D(4, 6, 3, padding=1)

    def forward(self, x):
        both = self.offset(x)
        return self.conv(x, both[:, :18], dy2st.nn.functional.sigmoid(both[:, 18:]))


def test_one_program_is_for_all_sizes():
    model = Deformable()
    spec = [InputSpec([None, 4, None, None])]
    static = dy2st.jit.to_static(model.forward, input_spec=spec)
    for shape in [(1, 4, 5, 6), (3, 4, 8, 2)]:
        x = dy2st.to_tensor(RNG.normal(size=shape).astype("float32"))
        np.testing.assert_allclose(static(x).numpy(), model(x).numpy(), atol=1e-5)


def test_the_layer_has_paddlepaddles_parameters():
    layer = DeformConv2D(4, 6, (3, 2), groups=2)
    assert {name: value.shape for name, value in layer.state_dict().items()} == {
        "weight": [6, 2, 3, 2],
        "bias": [6],
    }
    assert DeformConv2D(4, 6, 3, bias_attr=False).bias is None
    with pytest.raises(ValueError, match="3 groups"):
        DeformConv2D(4, 6, 3, groups=3)


def test_shapes_that_do_not_fit_are_refused():
    x, weight = dy2st.zeros([1, 2, 4, 4]), dy2st.zeros([2, 2, 2, 2])
    with pytest.raises(ShapeError, match="axis 1 of offset has 6 places, not 8"):
        deform_conv2d(x, dy2st.zeros([1, 6, 3, 3]), weight)
    with pytest.raises(ShapeError, match="mask has the shape"):
        deform_conv2d(x, dy2st.zeros([1, 8, 3, 3]), weight, mask=dy2st.zeros([1, 4]))
