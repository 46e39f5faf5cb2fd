"""weight_norm and spectral_norm: values by NumPy, eager and in Programs, trained and removed."""

import copy

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.nn.utils import remove_weight_norm, spectral_norm, weight_norm


@pytest.mark.parametrize(
    "make, dim, lengths",
    [
        (lambda: nn.Conv2D(2, 3, 2), 0, [3]),
        (lambda: nn.Linear(2, 3), 0, [2]),
        (lambda: nn.Linear(2, 3), 1, [3]),
        (lambda: nn.Linear(2, 3), None, []),
        (lambda: nn.Linear(2, 3), -1, []),
        (lambda: nn.Conv1D(2, 3, 2), 1, [2]),
    ],
)
def test_a_weight_is_its_direction_times_its_lengths(make, dim, lengths):
    layer = make()
    before = layer.weight.numpy()
    assert weight_norm(layer, dim=dim) is layer
    assert list(layer.state_dict()) == ["bias", "weight_v", "weight_g"]
    assert layer.weight_g.shape == lengths
    assert np.allclose(layer.weight.numpy(), before, atol=1e-6)
    layer.weight_g.set_value(layer.weight_g.numpy() * 2)
    assert np.allclose(layer.weight.numpy(), before * 2, atol=1e-6)
    remove_weight_norm(layer)
    assert list(layer.state_dict()) == ["bias", "weight"]
    assert np.allclose(layer.weight.numpy(), before * 2, atol=1e-6)


def test_its_gradient_is_that_of_the_formula():
    layer = weight_norm(nn.Linear(3, 2), dim=1)
    v, g, x = (
        layer.weight_v.numpy(),
        layer.weight_g.numpy(),
        np.array([[1.0, -2.0, 0.5]], "float32"),
    )
    layer(dy2st.to_tensor(x)).sum().backward()
    length = np.sqrt((v**2).sum(0))
    of_w = np.repeat(x.T, 2, axis=1)
    of_g = (of_w * v).sum(0) / length
    of_v = g / length * (of_w - v * (of_w * v).sum(0) / length**2)
    assert np.allclose(layer.weight_g.grad.numpy(), of_g, atol=1e-5)
    assert np.allclose(layer.weight_v.grad.numpy(), of_v, atol=1e-5)


class Own(nn.Layer):
    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([2, 2])

    def forward(self, x):
        return x @ self.weight if x.sum() > 0 else x


@pytest.mark.parametrize("make", [Own, lambda: nn.Linear(2, 2)])
@pytest.mark.parametrize("norm", [weight_norm, spectral_norm])
def test_a_program_computes_it_from_the_parameters_of_now(make, norm):
    layer = norm(make())
    layer.eval()
    converted = dy2st.to_static(layer)
    x = dy2st.to_tensor([[1.0, 2.0]])
    with dy2st.no_grad():
        for _ in range(2):
            expected = (x @ layer.weight).numpy() + (
                layer.bias.numpy() if hasattr(layer, "bias") else 0
            )
            assert np.allclose(converted(x).numpy(), expected, atol=1e-6)
            for parameter in layer.parameters():
                parameter.set_value(parameter.numpy() * 1.5 + 0.25)


def test_copies_and_checks_of_the_class_go_on():
    layer = weight_norm(nn.Linear(2, 2))
    other = copy.deepcopy(layer)
    other.weight_g.set_value([0.0, 0.0])
    assert isinstance(other, nn.Linear) and type(other).__name__ == "Linear"
    assert not other.weight.numpy().any() and layer.weight.numpy().any()


def test_two_weights_of_one_layer():
    layer = nn.Layer()
    layer.a, layer.b = layer.create_parameter([2, 2]), layer.create_parameter([2, 2])
    weight_norm(layer, "a"), weight_norm(layer, "b")
    remove_weight_norm(layer, "a")
    assert sorted(layer.state_dict()) == ["a", "b_g", "b_v"] and layer.b.shape == [2, 2]
    remove_weight_norm(layer, "b")
    assert type(layer) is nn.Layer


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: weight_norm(nn.Linear(2, 2), "kernel"),
        lambda: weight_norm(nn.Linear(2, 2), dim=2),
        lambda: remove_weight_norm(nn.Linear(2, 2)),
        lambda: spectral_norm(nn.Linear(2, 2), n_power_iterations=0),
    ],
)
def test_what_does_not_fit_is_refused(wrong):
    with pytest.raises(dy2st.errors.ArgumentError):
        wrong()


@pytest.mark.parametrize(
    "make, dim",
    [
        (lambda: nn.Linear(4, 3), 1),
        (lambda: nn.Conv2D(2, 3, 2), 0),
        (lambda: nn.Conv2DTranspose(2, 3, 2), 1),
    ],
)
def test_the_largest_singular_value_becomes_one(make, dim):
    dy2st.seed(3)
    layer = spectral_norm(make(), n_power_iterations=100)
    original = layer.weight_orig.numpy()
    x = dy2st.ones([1, 4] if original.ndim == 2 else [1, 2, 3, 3])
    layer(x)
    matrix = np.moveaxis(original, dim, 0).reshape(original.shape[dim], -1)
    largest = np.linalg.svd(matrix, compute_uv=False)[0]
    assert np.allclose(layer.weight.numpy(), original / largest, atol=1e-4)
    assert [layer.weight_u.shape, layer.weight_v.shape] == [[matrix.shape[0]], [matrix.shape[1]]]


def test_power_iterations_happen_in_training_alone():
    layer = spectral_norm(nn.Linear(3, 3))
    x = dy2st.ones([1, 3])
    u = layer.weight_u.numpy()
    layer.eval()
    layer(x)
    assert (layer.weight_u.numpy() == u).all()
    layer.train()
    converted, other = dy2st.to_static(layer), copy.deepcopy(layer)
    converted(x), other(x)
    assert (layer.weight_u.numpy() != u).any()
    assert np.allclose(layer.weight_u.numpy(), other.weight_u.numpy(), atol=1e-6)
