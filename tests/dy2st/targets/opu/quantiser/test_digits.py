"""Real images: a classifier of digits keeps its accuracy in integers."""

from copy import deepcopy
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_digits

from dy2st.targets.opu.float_network import run_float
from dy2st.targets.opu.interpreter import interpret
from dy2st.targets.opu.layer import Activation, LayerType, Pooling
from dy2st.targets.opu.quantiser import MODES, quantise, quantised_inputs
from tests.dy2st.targets.opu.hand_networks import Builder

TRAINING = 1400


@cache
def classifier():
    """Random convolutions; only the last layer is fitted, by least squares."""
    data = load_digits()
    images = (data.images[..., None] / 8 - 1).astype(np.float32)
    b = Builder((8, 8, 1))
    pool = {"pooling_size": [1, 2, 2], "pooling_stride": [1, 2, 2]}
    relu = {"activation_type": Activation.RELU, "scale": 1.4}
    first = b.conv(0, 32, padding=1, **relu)
    second = b.conv(first, 96, padding=1, pooling_type=Pooling.MAX, **pool, **relu)
    last = b.add(second, (1, 1, 10), LayerType.FULLY_CONNECTED, ker_size=[1, 4, 4])
    b.parameters(last, (4, 4, 96, 10), 1.0)
    network = b.done()
    found = run_float(network, images[:TRAINING])[second].reshape(TRAINING, -1).astype(np.float64)
    found = np.concatenate([found, np.ones((TRAINING, 1))], axis=1)
    wanted = np.eye(10)[data.target[:TRAINING]]
    gram = found.T @ found + 10 * np.eye(found.shape[1])
    solution = np.linalg.solve(gram, found.T @ wanted).astype(np.float32)
    network.weights[last] = solution[:-1].reshape(4, 4, 96, 10)
    network.biases[last] = solution[-1]
    return network, images, data.target


@pytest.mark.parametrize("mode", MODES)
def test_digits_are_told_apart_as_well_as_in_floats(mode):
    network, images, targets = deepcopy(classifier())
    report = quantise(network, images[:50], mode)
    test, wanted = images[TRAINING:], targets[TRAINING:]
    real = run_float(network, test)[3].reshape(len(test), 10).argmax(1)
    integers = interpret(network, quantised_inputs(network, test))[3]
    got = integers.reshape(len(test), 10).argmax(1)
    accuracy = np.mean(real == wanted)
    assert accuracy > 0.9
    assert np.mean(got == wanted) >= accuracy - 0.005
    assert report.layers[-1].snr > 10
