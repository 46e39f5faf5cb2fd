"""Transposed convolutions of images whose sizes only calls know are the library's, too."""

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.static import InputSpec

pytest.importorskip("llvmlite")

SETTINGS = [
    (1, {}),
    (4, {"stride": 2, "padding": 1}),
    (4, {"stride": 2, "padding": 1, "output_padding": 1}),
    (2, {"stride": 3, "dilation": 2}),
    (2, {"stride": (2, 1), "padding": (1, 0), "bias_attr": False}),
]


@pytest.mark.parametrize(("groups", "settings"), SETTINGS)
@pytest.mark.parametrize("axes", [1, 2])
def test_one_program_enlarges_images_of_all_sizes(groups, settings, axes):
    settings = {k: v[0] if axes == 1 and isinstance(v, tuple) else v for k, v in settings.items()}
    make = (nn.Conv1DTranspose, nn.Conv2DTranspose)[axes - 1]
    net = make(4, 8, 4, groups=groups, **settings)
    unknown = InputSpec([None, 4, *[None] * axes])
    fast = dy2st.to_static(lambda x: net(x * 2), input_spec=[unknown], engine="native")
    for sizes in ((5, 6), (5, 6), (20, 30), (1, 1), (7, 3)):
        x = dy2st.rand([2, 4, *sizes[:axes]])
        np.testing.assert_allclose(fast(x).numpy(), net(x * 2).numpy(), rtol=1e-4, atol=1e-5)
    text = fast.concrete_program.executable.explain()
    assert "conv_transpose" not in text.partition("computed by NumPy")[2]


def test_a_chain_of_them_keeps_its_gradients():
    net = nn.Sequential(
        nn.Conv2DTranspose(2, 2, 4, 2, 1, groups=2), nn.ReLU(), nn.Conv2DTranspose(2, 1, 2, 2)
    )
    fast = dy2st.to_static(
        lambda x: net(x), input_spec=[InputSpec([None, 2, None, None])], engine="native"
    )
    for size in (3, 3, 4, 5):
        found = []
        for called in (net, fast):
            x = dy2st.to_tensor(np.linspace(-1, 1, 2 * size * size).reshape(1, 2, size, size))
            x = x.astype("float32").detach()
            x.stop_gradient = False
            (called(x) ** 2).sum().backward()
            found.append([x.grad.numpy(), *(one.grad.numpy() for one in net.parameters())])
            net.clear_gradients()
        for ours, wanted in zip(*found, strict=True):
            np.testing.assert_allclose(ours, wanted, rtol=1e-4, atol=1e-4)
