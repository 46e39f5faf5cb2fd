"""Convolution layers: arguments, first values, borders of the input itself."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dy2st_runtime as rt
from dy2st_runtime import nn
from dy2st_runtime.nn import functional as F


@pytest.mark.parametrize(
    ("make", "std"),
    [
        (lambda: nn.Conv1D(30, 60, 3), math.sqrt(2 / 90)),
        (lambda: nn.Conv2D(30, 40, 3), math.sqrt(2 / 270)),
        (lambda: nn.Conv2D(30, 60, [3, 3], groups=3), math.sqrt(2 / 270)),
        (lambda: nn.Conv1DTranspose(30, 60, 5), math.sqrt(2 / (300 + 150))),
        (lambda: nn.Conv2DTranspose(30, 40, 3), math.sqrt(2 / (360 + 270))),
    ],
)
def test_first_values_have_paddles_spread(make, std):
    weight = make().weight.numpy()
    assert weight.std() == pytest.approx(std, rel=0.05) and abs(weight.mean()) < std / 10


def test_an_image_without_a_batch_is_refused_with_the_way_to_one():
    layer = nn.Conv2D(1, 2, 3)
    with pytest.raises(rt.errors.ShapeError, match=r"\[1, 8, 8\]; x.unsqueeze\(0\) is a batch"):
        layer(rt.to_tensor(np.ones([1, 8, 8], "float32")))
    with pytest.raises(rt.errors.ShapeError, match=r"4 axes .* the shape is \[8, 8\]$"):
        layer(rt.to_tensor(np.ones([8, 8], "float32")))


def test_arguments_of_transposed_convolutions_have_paddles_order():
    one = nn.Conv1DTranspose(2, 4, 3, 2, 1, 1, 2, 3)
    assert (one.output_padding, one._groups, one._dilation) == (1, 2, [3])
    two = nn.Conv2DTranspose(2, 4, 3, 2, 1, 1, 3, 2)
    assert (two.output_padding, two._groups, two._dilation) == (1, 2, [3, 3])


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_borders_of_the_input_itself(mode):
    layer = nn.Conv2D(2, 3, 3, padding=[1, 2], padding_mode=mode)
    x = np.random.default_rng(0).normal(size=(2, 2, 5, 6)).astype("float32")
    numpys = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode]
    around = np.pad(x, [(0, 0), (0, 0), (1, 1), (2, 2)], mode=numpys)
    expected = F.conv2d(rt.to_tensor(around), layer.weight, layer.bias).numpy()
    np.testing.assert_allclose(layer(rt.to_tensor(x)).numpy(), expected, rtol=1e-6)


def test_what_is_left_out_and_what_is_no_border():
    assert nn.Conv2D(1, 1, 1, bias=False).bias is None
    assert nn.Conv2D(1, 1, 1, dtype="float64").weight.dtype == np.float64
    with pytest.raises(ValueError, match="padding_mode"):
        nn.Conv2D(1, 1, 1, padding_mode="mirror")


def test_settings_are_read_and_changed_by_both_names():
    layer = nn.Conv2D(2, 3, 3, stride=2)
    assert layer._stride == layer.stride == [2, 2] and layer.kernel_size == [3, 3]
    layer.stride = [1, 1]
    assert layer._stride == [1, 1] and "stride" not in vars(layer)


def test_a_class_derived_from_ours_has_settings_of_its_own():
    class Causal(nn.Conv1D):
        def __init__(self):
            super().__init__(1, 1, 3)
            self.padding = 2

        def forward(self, x):
            return super().forward(F.pad(x, [self.padding, 0], data_format="NCL"))

    layer = Causal()
    assert layer._padding == 0 and layer.padding == 2
    assert layer(rt.ops.ones([1, 1, 5])).shape == [1, 1, 5]
