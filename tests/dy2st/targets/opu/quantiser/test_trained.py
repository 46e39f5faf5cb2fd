"""A deep network that is trained keeps its accuracy in integers; its report has no warning."""

from __future__ import annotations

from copy import deepcopy
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_digits

import dy2st
from dy2st import nn
from dy2st.nn import functional as F
from dy2st.static import InputSpec
from dy2st.targets.opu.float_network import run_float
from dy2st.targets.opu.gen_ir import gen_ir
from dy2st.targets.opu.host import as_images
from dy2st.targets.opu.interpreter import interpret
from dy2st.targets.opu.layer import Activation, LayerType, Pooling
from dy2st.targets.opu.quantiser import MODES, quantise, quantised_inputs
from examples.networks.resnet20 import ResNet20
from tests.dy2st.targets.opu.hand_networks import Builder

TRAINING, BATCH, EPOCHS = 1408, 64, 6


def trained(x: np.ndarray, y: np.ndarray) -> nn.Layer:
    """ResNet-20 of 8 channels after some epochs of Adam."""
    net = ResNet20(width=8)
    rate = dy2st.optimizer.lr.CosineAnnealingDecay(0.004, T_max=EPOCHS)
    adam = dy2st.optimizer.Adam(rate, parameters=net.parameters())

    @dy2st.jit.to_static(engine="native")
    def step(images, labels):
        loss = F.cross_entropy(net(images), labels)
        loss.backward()
        adam.step()
        adam.clear_grad()

    order = np.random.default_rng(0)
    for _ in range(EPOCHS):
        for chosen in order.permutation(len(x)).reshape(-1, BATCH):
            step(dy2st.to_tensor(x[chosen]), dy2st.to_tensor(y[chosen]))
        rate.step()
    return net.eval()


@pytest.mark.slow
def test_a_trained_resnet_tells_digits_apart_as_well_as_in_floats():
    dy2st.seed(0)
    data = load_digits()
    x = np.repeat(data.images[:, None] / 16, 3, axis=1).astype(np.float32)
    y = data.target.astype(np.int64)
    net = trained(x[:TRAINING], y[:TRAINING])
    test, wanted = x[TRAINING:], y[TRAINING:]
    with dy2st.no_grad():
        real = net(dy2st.to_tensor(test)).numpy().argmax(1)
    traced = dy2st.jit.to_static(net, input_spec=[InputSpec([1, 3, 8, 8], name="x")])
    for mode in ("mse", "max"):
        network, report = gen_ir(traced, list(x[:200, None]), mode=mode, keep=8)
        integers = interpret(network, quantised_inputs(network, as_images(network, [test])))
        got = integers[network.outputs[0]].reshape(len(test), 10).argmax(1)
        assert np.mean(real == wanted) > 0.9
        assert np.mean(got == wanted) >= np.mean(real == wanted) - 0.015
        assert report.warnings() == [] and report.outputs[0].same >= 7


# -- real images -----------------------------------------------------------------------------------


DIGITS = 1400


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
    found = run_float(network, images[:DIGITS])[second].reshape(DIGITS, -1).astype(np.float64)
    found = np.concatenate([found, np.ones((DIGITS, 1))], axis=1)
    wanted = np.eye(10)[data.target[:DIGITS]]
    gram = found.T @ found + 10 * np.eye(found.shape[1])
    solution = np.linalg.solve(gram, found.T @ wanted).astype(np.float32)
    network.weights[last] = solution[:-1].reshape(4, 4, 96, 10)
    network.biases[last] = solution[-1]
    return network, images, data.target


@pytest.mark.parametrize("mode", MODES)
def test_digits_are_told_apart_as_well_as_in_floats(mode):
    network, images, targets = deepcopy(classifier())
    report = quantise(network, images[:50], mode)
    test, wanted = images[DIGITS:], targets[DIGITS:]
    real = run_float(network, test)[3].reshape(len(test), 10).argmax(1)
    integers = interpret(network, quantised_inputs(network, test))[3]
    got = integers.reshape(len(test), 10).argmax(1)
    accuracy = np.mean(real == wanted)
    assert accuracy > 0.9
    assert np.mean(got == wanted) >= accuracy - 0.005
    assert report.layers[-1].snr > 10
