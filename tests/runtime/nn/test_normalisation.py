"""Normalisation layers against NumPy: arguments, formats, parameters that are left out."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
import dy2st_runtime as rt
from dy2st_runtime import nn
from dy2st_runtime.nn import functional as F

RNG = np.random.default_rng(0)


def random(*shape):
    return RNG.normal(size=shape).astype("float32")


def normed(x, axes, epsilon=1e-5):
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon)


def check(layer, x, expected):
    np.testing.assert_allclose(layer(rt.to_tensor(x)).numpy(), expected, atol=2e-5)


BATCH = {
    "(n, c)": (lambda: nn.BatchNorm1D(3), (4, 3), (0,)),
    "(n, c, l)": (lambda: nn.BatchNorm1D(3), (4, 3, 5), (0, 2)),
    "(n, l, c)": (lambda: nn.BatchNorm1D(5, data_format="NLC"), (4, 3, 5), (0, 1)),
    "(n, h, w, c)": (lambda: nn.BatchNorm2D(5, data_format="NHWC"), (4, 3, 2, 5), (0, 1, 2)),
    "(n, c, d, h, w)": (lambda: nn.BatchNorm3D(3), (2, 3, 2, 3, 2), (0, 2, 3, 4)),
    "of any rank": (lambda: nn.BatchNorm(3), (4, 3, 2, 2), (0, 2, 3)),
    "of all processes": (lambda: nn.SyncBatchNorm(3), (4, 3, 2, 2), (0, 2, 3)),
    "without a weight": (lambda: nn.BatchNorm1D(3, weight_attr=False), (4, 3), (0,)),
    "without both": (lambda: nn.BatchNorm1D(3, weight_attr=False, bias_attr=False), (4, 3), (0,)),
    "with global statistics never": (
        lambda: nn.BatchNorm1D(3, use_global_stats=False).eval(), (4, 3), (0,)
    ),
    "with trainable statistics": (
        lambda: nn.BatchNorm(3, trainable_statistics=True).eval(), (4, 3), (0,)
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BATCH)
def test_statistics_of_the_batch(case):
    make, shape, axes = BATCH[case]
    layer, x = make(), random(*shape)
    check(layer, x, normed(x, axes))
    np.testing.assert_allclose(layer._mean.numpy(), 0.1 * x.mean(axes), atol=1e-6)
    np.testing.assert_allclose(layer._variance.numpy(), 0.9 + 0.1 * x.var(axes), atol=1e-6)


RUNNING = {
    "in inference": lambda: nn.BatchNorm2D(3).eval(),
    "always": lambda: nn.BatchNorm2D(3, use_global_stats=True),
    "always, of any rank": lambda: nn.BatchNorm(3, use_global_stats=True),
}


@pytest.mark.parametrize("case", RUNNING)
def test_running_statistics(case):
    layer, x = RUNNING[case](), random(2, 3, 4, 4)
    layer._mean.set_value(np.full(3, 0.5))
    layer._variance.set_value(np.full(3, 4.0))
    check(layer, x, (x - 0.5) / np.sqrt(4 + 1e-5))
    assert layer._mean.numpy()[0] == 0.5


def test_the_old_batch_norm_ends_in_an_activation():
    layer, x = nn.BatchNorm(3, "sigmoid", epsilon=1e-3, param_attr="w", bias_attr="b"), random(4, 3)
    check(layer, x, 1 / (1 + np.exp(-normed(x, 0, 1e-3))))
    assert layer.weight.name == "w" and layer._act == "sigmoid"
    named = nn.BatchNorm(3, moving_mean_name="mean", moving_variance_name="variance")
    assert (named._mean.name, named._variance.name) == ("mean", "variance")
    assert nn.BatchNorm(3, dtype="float64")._mean.dtype == np.float64


def test_batch_norms_become_those_of_all_processes():
    net = nn.Sequential(nn.BatchNorm2D(2), nn.Sequential(nn.BatchNorm1D(3)), nn.BatchNorm(2)).eval()
    kept = net[1][0].weight
    assert nn.SyncBatchNorm.convert_sync_batchnorm(net) is net
    names = [type(layer).__name__ for _, layer in net.named_sublayers()]
    assert names == ["SyncBatchNorm", "Sequential", "SyncBatchNorm", "BatchNorm"]
    assert net[1][0].weight is kept and not net[0].training and net[1][0]._data_format == "NCL"


INSTANCE = {
    1: (lambda **k: nn.InstanceNorm1D(3, 1e-2, 0.9, **k), (2, 3, 5)),
    2: (lambda **k: nn.InstanceNorm2D(3, 1e-2, 0.9, **k), (2, 3, 5, 4)),
    3: (lambda **k: nn.InstanceNorm3D(3, 1e-2, 0.9, **k), (2, 3, 5, 4, 2)),
}


@pytest.mark.parametrize("axes", INSTANCE)
def test_instances(axes):
    make, shape = INSTANCE[axes]
    layer, x = make(), random(*shape)
    expected = normed(x, tuple(range(2, x.ndim)), 1e-2)
    check(layer, x, expected)
    assert list(layer.state_dict()) == ["scale", "bias"] and layer.weight is layer.scale
    layer.weight.set_value(np.full(3, 2.0))
    check(layer, x, 2 * expected)
    check(make(weight_attr=False, bias_attr=False), x, expected)
    with pytest.raises(ValueError, match="together"):
        make(weight_attr=False)


def test_an_instance_norm_of_channels_that_come_last():
    x = random(2, 4, 5, 3)
    check(nn.InstanceNorm2D(3, data_format="NHWC"), x, normed(x, (1, 2)))


def test_layers_and_groups_with_parameters_left_out():
    x = random(2, 6, 4)
    for arguments in ({"weight_attr": False, "bias_attr": False}, {"elementwise_affine": False}):
        layer = nn.LayerNorm([6, 4], **arguments)
        assert layer.weight is None and layer.bias is None
        check(layer, x, normed(x, (1, 2)))
    assert nn.LayerNorm(4, bias=False).bias is None
    group = normed(x.reshape(2, 3, 2, 4), (2, 3)).reshape(x.shape)
    check(nn.GroupNorm(3, 6, affine=False), x, group)
    check(nn.GroupNorm(3, 6, weight_attr=False), x, group)
    last = np.moveaxis(x, 1, -1)
    check(nn.GroupNorm(3, 6, data_format="NLC"), last, np.moveaxis(group, 1, -1))


def test_a_layer_norm_over_several_axes_keeps_flat_parameters():
    x, weight, bias = random(2, 6, 4), random(24), random(24)
    layer = nn.LayerNorm([6, 4])
    assert layer.weight.shape == [24] and layer.bias.shape == [24]
    layer.set_state_dict({"weight": weight, "bias": bias})
    wanted = normed(x, (1, 2)) * weight.reshape(6, 4) + bias.reshape(6, 4)
    check(layer, x, wanted)
    parts = [rt.to_tensor(a) for a in (x, weight.reshape(6, 4), bias.reshape(6, 4))]
    np.testing.assert_allclose(
        np.asarray(F.layer_norm(parts[0], [6, 4], *parts[1:])), wanted, atol=1e-5
    )


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_responses_of_neighbouring_channels(size):
    x, alpha = random(2, 5, 3), 0.5
    expected = np.empty_like(x)
    for c in range(5):
        around = x[:, max(c - size // 2, 0) : c + (size - 1) // 2 + 1]
        expected[:, c] = x[:, c] / (2 + alpha * (around**2).sum(1) / size) ** 0.75
    check(nn.LocalResponseNorm(size, alpha, k=2.0), x, expected)
    last = nn.LocalResponseNorm(size, alpha, k=2.0, data_format="NLC")
    check(last, np.moveaxis(x, 1, -1), np.moveaxis(expected, 1, -1))
    assert F.local_response_norm(rt.to_tensor(x), size).shape == [2, 5, 3]


@pytest.mark.parametrize("dim", [0, 1])
def test_the_largest_singular_value_is_one(dim):
    x = random(4, 3, 2)
    layer = nn.SpectralNorm([4, 3, 2], dim, power_iters=60)
    matrix = np.moveaxis(x, dim, 0).reshape(x.shape[dim], -1)
    check(layer, x, x / np.linalg.norm(matrix, 2))
    assert list(layer.state_dict()) == ["weight_u", "weight_v"] and layer.weight_u.stop_gradient


def test_the_gradient_of_a_spectral_norm_knows_of_the_singular_value():
    layer = nn.SpectralNorm([2, 2], power_iters=100, dtype="float64")
    x = np.array([[3.0, 1.0], [0.5, 2.0]])

    def value(x):
        return (x / np.linalg.norm(x, 2))[0, 1]

    tensor = rt.to_tensor(x, stop_gradient=False)
    layer(tensor)[0, 1].backward()
    numeric = np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            step = np.zeros((2, 2))
            step[i, j] = 1e-6
            numeric[i, j] = (value(x + step) - value(x - step)) / 2e-6
    np.testing.assert_allclose(tensor.grad.numpy(), numeric, atol=1e-7)


# -- the activation that a BatchNorm names ---------------------------------------------------------


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
    "leaky_relu": [-0.08, -0.02, 0.5, 2.0, 7.0],
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
