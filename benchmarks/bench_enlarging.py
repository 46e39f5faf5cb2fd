"""Transposed convolutions, which decoders enlarge images by, on engine native.

PaddlePaddle 3.3.1 takes, eagerly with one thread on the machine of these goals, 0.98 ms for the
first two, 9.1 ms for the third and 1.17 ms for the last.
"""

from __future__ import annotations

import pytest
from measuring import median_seconds

import dy2st
from dy2st import nn
from dy2st.static import InputSpec

LAYERS = {
    "by channel, x 2": (64, 4, 2, 1, [28, 28], 0.98),
    "by channel, x 2, any size": (64, 4, 2, 1, [None, None], 0.98),
    "by channel, x 4, any size": (64, 8, 4, 2, [None, None], 9.1),
    "in 4 groups, x 2, any size": (4, 4, 2, 1, [None, None], 1.17),
}


@pytest.mark.parametrize("name", LAYERS)
def test_enlarging(figure, name):
    groups, kernel, stride, padding, sizes, goal = LAYERS[name]
    layer = nn.Conv2DTranspose(64, 64, kernel, stride, padding, groups=groups, bias_attr=False)
    dy2st.to_static(layer, [InputSpec([None, 64, *sizes])], engine="native")
    x = dy2st.rand([1, 64, 28, 28])

    def milliseconds():
        with dy2st.no_grad():
            return median_seconds(lambda: layer(x)) * 1e3

    figure(f"64 channels of 28 x 28 enlarged {name}", milliseconds, "ms", goal)
