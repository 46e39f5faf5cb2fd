"""A model that was traced for several images is compiled for one; the host runs them in turn."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.targets.opu.batch import one_image
from dy2st.targets.opu.compiled import compile_network
from dy2st.targets.opu.gen_ir import gen_ir
from dy2st.targets.opu.host import as_images, run_tail
from dy2st.targets.opu.interpreter import interpret
from dy2st.targets.opu.quantiser import dequantised, quantised_inputs
from dy2st_runtime.errors import ShapeError
from tests.dy2st.targets.opu.models import (
    F,
    Model,
    TwoInputs,
    conv,
    expected,
    images,
    module_of,
)

SEVERAL = (4, 3, 8, 8)


def classifier(m, x):
    x = F.max_pool2d(F.relu(m.b(m.a(x))), 2, 2)
    return F.softmax(m.head(x.reshape([4, 64])), axis=-1)


def test_a_batch_is_a_loop_over_its_images():
    model = Model(classifier, a=conv(), b=nn.BatchNorm2D(4), head=nn.Linear(64, 5))
    x = images(SEVERAL)
    network, _ = gen_ir(module_of(model, SEVERAL), x)
    assert network.notes == ["images go one by one, not 4 at a time"]
    integers = quantised_inputs(network, as_images(network, x))
    made = compile_network(network).run(integers)
    index = network.outputs[0]
    np.testing.assert_array_equal(made[0], interpret(network, integers)[index])
    (found,) = run_tail(network, [dequantised(made[0], network.layer(index).output_fraclen)])
    np.testing.assert_allclose(found, expected(model, x)[0], atol=0.05)


def test_all_inputs_and_outputs_have_the_batch():
    model = TwoInputs(lambda m, x, y: [m.a(x) + m.b(y), m.a(x)], a=conv(), b=conv())
    network, _ = gen_ir(module_of(model, SEVERAL, SEVERAL), quantize=False)
    assert network.input_sizes == [(1, 8, 8, 3)] * 2 and len(network.outputs) == 2


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda m, x: m.a(x) - m.a(x).mean(0, keepdim=True), "works along it"),
        (lambda m, x: F.softmax(m.a(x), axis=0), "works along it"),
        (lambda m, x: m.a(x)[1:], "images are not computed each for itself"),
        (lambda m, x: m.a(x).reshape([2, 2, 4, 8, 8]).sum(1), "images are not computed"),
        (lambda m, x: m.a(x) * m.position, "images are not computed"),
        (lambda m, x: [m.a(x), dy2st.ones([2])], "an output is not of one image each"),
    ],
)
def test_images_that_depend_on_each_other_are_refused(function, reason):
    model = Model(function, a=conv())
    model.position = dy2st.to_tensor(np.arange(4, dtype="float32").reshape(4, 1, 1, 1))
    with pytest.raises(ShapeError, match=f"batch of 4.*{reason}.*trace it for a batch of 1"):
        gen_ir(module_of(model, SEVERAL), quantize=False)


def test_a_size_that_happens_to_be_the_batch_stays():
    model = Model(lambda m, x: m.a(x)[:, :4, 4:].reshape([4, 4, 32]), a=conv(3, 6))
    ((_, program),) = module_of(model, SEVERAL).programs.items()
    assert one_image(program).outputs[0].shape == [1, 4, 32]


def test_a_program_for_one_image_or_for_any_number_stays_as_it_is():
    model = Model(lambda m, x: m.a(x), a=conv())
    for batch in (1, "n"):
        ((_, program),) = module_of(model, (batch, 3, 8, 8)).programs.items()
        assert one_image(program) is program
