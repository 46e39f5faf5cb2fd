"""The activation that a BatchNorm names, by PaddlePaddle's names of operators."""

import numpy as np
import pytest

import dy2st

X = np.array([[[[-4.0, -1, 0.5, 2, 7]]]], "float32")

# What PaddlePaddle 3.3.1 gives in inference mode for one channel.
ANSWERS = {
    "hard_swish": [-0.0, -0.3333, 0.2917, 1.6667, 7.0],
    "hard_sigmoid": [0.0, 0.3, 0.6, 0.9, 1.0],
    "hard_shrink": [-4.0, -1.0, 0.0, 2.0, 7.0],
    "tanh_shrink": [-3.0007, -0.2384, 0.0379, 1.036, 6.0],
    "brelu": [0.0, 0.0, 0.5, 2.0, 7.0],
    "relu6": [0.0, 0.0, 0.5, 2.0, 6.0],
    "swish": [-0.0719, -0.2689, 0.3112, 1.7616, 6.9936],
    "mish": [-0.0726, -0.3034, 0.3752, 1.9439, 7.0],
    "stanh": [-1.6998, -1.0038, 0.5542, 1.4957, 1.7156],
    "thresholded_relu": [0.0, 0.0, 0.0, 2.0, 7.0],
    "softsign": [-0.8, -0.5, 0.3333, 0.6667, 0.875],
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_activation_goes_by_the_name_of_its_operator(name):
    layer = dy2st.nn.BatchNorm(1, act=name).eval()
    for call in (layer, dy2st.to_static(layer)):
        assert call(dy2st.to_tensor(X)).numpy().ravel() == pytest.approx(ANSWERS[name], abs=2e-4)
