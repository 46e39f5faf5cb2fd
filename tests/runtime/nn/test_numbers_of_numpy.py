"""Layers take an integer of NumPy wherever they take one of Python."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st_runtime as rt
from dy2st_runtime import nn
from dy2st_runtime.nn import functional as F

LAYERS = {
    "Conv2D": lambda n: nn.Conv2D(2, 2, n(3), stride=n(1), padding=n(1), groups=n(2)),
    "Conv2DTranspose": lambda n: nn.Conv2DTranspose(2, 2, n(2), stride=n(2)),
    "MaxPool2D": lambda n: nn.MaxPool2D(n(2), n(1)),
    "AvgPool2D": lambda n: nn.AvgPool2D(n(2), n(2)),
    "AdaptiveAvgPool2D": lambda n: nn.AdaptiveAvgPool2D(n(2)),
    "Pad2D": lambda n: nn.Pad2D(n(1), mode="reflect"),
    "ZeroPad2D": lambda n: nn.ZeroPad2D(n(2)),
    "LayerNorm": lambda n: nn.LayerNorm(n(4)),
    "GroupNorm": lambda n: nn.GroupNorm(n(1), n(2)),
    "Linear": lambda n: nn.Linear(n(4), n(3)),
    "PixelUnshuffle": lambda n: nn.PixelUnshuffle(n(2)),
    "Upsample": lambda n: nn.Upsample(scale_factor=n(2)),
    "Flatten": lambda n: nn.Flatten(n(1), n(2)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_of_numbers_of_numpy_is_the_same(name):
    x = rt.to_tensor(np.arange(2 * 2 * 4 * 4, dtype="float32").reshape(2, 2, 4, 4) / 7)
    own, theirs = LAYERS[name](int), LAYERS[name](np.int64)
    theirs.set_state_dict(own.state_dict())
    np.testing.assert_array_equal(np.asarray(theirs(x)), np.asarray(own(x)))


def test_a_pad_of_one_number_of_numpy_is_for_both_sides():
    x = rt.to_tensor(np.arange(3, dtype="float32").reshape(1, 1, 3))
    assert nn.Pad1D(np.prod([2]), mode="reflect")(x).tolist() == [[[2, 1, 0, 1, 2, 1, 0]]]
    assert F.unfold(rt.to_tensor(np.ones([1, 1, 2, 2])), np.int64(2)).shape == [1, 4, 1]
