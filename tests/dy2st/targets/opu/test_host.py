"""The host turns the model's arrays into images, and what layers make into the model's outputs."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.targets.opu.float_network import run_float
from dy2st.targets.opu.host import as_images, run_tail
from dy2st.targets.opu.network import Network
from dy2st_runtime.errors import ArgumentError, ShapeError
from tests.dy2st.targets.opu.models import (
    IMAGE,
    F,
    Model,
    computed,
    conv,
    expected,
    grouped,
    images,
    same,
)


def test_images_come_with_channels_last_in_single_precision():
    network = grouped(Model(lambda m, x: m.c(x), c=conv()), IMAGE)
    (x,) = images(IMAGE)
    (image,) = as_images(network, [x.astype("float64")])
    assert image.dtype == np.float32
    np.testing.assert_array_equal(image, x.transpose(0, 2, 3, 1))


def test_images_of_another_size_are_refused():
    network = grouped(Model(lambda m, x: m.c(x), c=conv()), IMAGE)
    with pytest.raises(ShapeError, match=r"\[1, 3, 8, 9\], not 8 x 8 pixels of 3 channels"):
        as_images(network, [np.zeros((1, 3, 8, 9))])
    with pytest.raises(ArgumentError, match="1 input, not 2"):
        as_images(network, [np.zeros(IMAGE)] * 2)


def test_several_images_are_computed_one_by_one():
    model = Model(lambda m, x: F.softmax(m.c(x).mean([2, 3]), -1), c=conv())
    network = grouped(model, IMAGE)
    (many,) = images((5, 3, 8, 8))
    wanted = [expected(model, [many[i : i + 1]])[0] for i in range(5)]
    np.testing.assert_allclose(
        computed(network, [many])[0], np.concatenate(wanted), rtol=1e-4, atol=1e-6
    )


def test_parts_that_are_outputs_together_are_joined_by_the_host():
    model = Model(lambda m, x: dy2st.concat([m.a(x), m.b(x)], axis=1), a=conv(), b=conv())
    network = same(model, IMAGE)
    assert network.outputs == [1, 2]


def test_the_host_may_read_the_models_inputs_on_demand():
    model = Model(lambda m, x: m.a(x) * F.sigmoid(x), a=conv(3, 3))
    network = same(model, IMAGE, unmapped="host")
    assert network.tail.inputs == [0]
    with pytest.raises(ArgumentError, match="give them too"):
        run_tail(network, [run_float(network, as_images(network, images(IMAGE)))[1]])


def test_constants_go_with_the_host():
    model = Model(lambda m, x: F.tanh(m.a(x)) * m.scale, a=conv())
    model.scale = dy2st.to_tensor(np.arange(256, dtype="float32").reshape(1, 4, 8, 8))
    network = same(model, IMAGE, unmapped="host")
    assert [array.size for array in network.tail.state.values()] == [256]


def test_layers_of_others_give_what_they_make_with_channels_first():
    network = Network([], outputs=[])
    assert run_tail(network, []) == []
    network = same(
        Model(lambda m, x: (m.a(x), m.b(x.flatten(1))), a=conv(), b=nn.Linear(192, 5)), IMAGE
    )
    network.tail = None
    made = run_float(network, as_images(network, images(IMAGE)))
    image, matrix = run_tail(network, [made[index] for index in network.outputs])
    assert (image.shape, matrix.shape) == ((1, 4, 8, 8), (1, 5))
    assert np.array_equal(image[0, 1], made[network.outputs[0]][0, :, :, 1])
