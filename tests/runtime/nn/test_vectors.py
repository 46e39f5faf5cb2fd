"""Parameters as one vector, and limits on their gradients; the figures are PaddlePaddle's."""

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.nn.utils import (
    clip_grad_norm_,
    clip_grad_value_,
    parameters_to_vector,
    vector_to_parameters,
)


def layer_with_gradients():
    layer = nn.Linear(2, 2)
    (layer(dy2st.ones([1, 2])) * 3).sum().backward()
    return layer


def test_parameters_go_into_a_vector_and_back():
    layer = nn.Linear(2, 2)
    vector_to_parameters(dy2st.to_tensor(np.arange(6, dtype="float32")), layer.parameters())
    assert layer.weight.tolist() == [[0, 1], [2, 3]] and layer.bias.tolist() == [4, 5]
    vector = parameters_to_vector(layer.parameters())
    assert vector.tolist() == [0, 1, 2, 3, 4, 5] and not vector.stop_gradient
    with pytest.raises(dy2st.errors.ShapeError, match="6 elements"):
        vector_to_parameters(dy2st.ones([5]), layer.parameters())


@pytest.mark.parametrize(
    "power, norm, element",
    [(2.0, 7.34846926, 0.4082482), (float("inf"), 3.0, 1.0), (1.0, 18.0, 1 / 6)],
)
def test_gradients_get_a_norm_of_one(power, norm, element):
    layer = layer_with_gradients()
    assert np.isclose(clip_grad_norm_(layer.parameters(), 1.0, power).item(), norm)
    for parameter in layer.parameters():
        assert np.allclose(parameter.grad.numpy(), element, atol=1e-6)


def test_small_gradients_stay_and_one_tensor_may_be_given():
    layer = layer_with_gradients()
    clip_grad_norm_(layer.parameters(), 100.0)
    assert layer.bias.grad.tolist() == [3.0, 3.0]
    clip_grad_norm_(layer.bias, 0.0)
    assert layer.bias.grad.tolist() == [0.0, 0.0] and layer.weight.grad.numpy().min() == 3.0
    assert clip_grad_norm_(nn.Linear(1, 1).parameters(), 1.0).item() == 0.0


def test_a_norm_that_is_no_number_is_refused_if_asked_for():
    layer = layer_with_gradients()
    layer.bias.grad = dy2st.full([2], float("inf"))
    with pytest.raises(dy2st.errors.ArgumentError, match="is inf"):
        clip_grad_norm_(layer.parameters(), 1.0, error_if_nonfinite=True)


def test_elements_are_limited():
    layer = layer_with_gradients()
    clip_grad_value_(layer.parameters(), 0.5)
    assert layer.weight.grad.tolist() == [[0.5, 0.5]] * 2
