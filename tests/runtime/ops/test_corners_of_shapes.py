"""Tensors of no elements, of no axes and of one axis less, where PaddlePaddle 3.3.1 has an answer."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st as P
from dy2st_runtime.errors import ShapeError

F, L = P.nn.functional, P.linalg
ONES = np.stack([np.eye(3) * k for k in (1, 2, 4)])
NOTHING = {
    "vector_norm": (lambda: L.vector_norm(P.zeros([0]), np.inf), 0.0),
    "norm": (lambda: L.norm(P.zeros([0, 3]), np.inf, 0), [0.0] * 3),
    "cond": (lambda: L.cond(P.zeros([0, 0])), 0.0),
    "logsumexp": (lambda: P.logsumexp(P.zeros([0, 2]), 0), [-np.inf] * 2),
    "pinv": (lambda: L.pinv(P.zeros([2, 0])), []),
    "lstsq": (lambda: L.lstsq(P.zeros([3, 0]), P.zeros([3, 2]))[0], []),
    "histogram": (lambda: P.histogram(P.zeros([0]), 3), [0] * 3),
}


@pytest.mark.parametrize("name", NOTHING)
def test_of_no_elements(name):
    call, wanted = NOTHING[name]
    with np.errstate(divide="ignore"):  # the logarithm of 0
        assert call().tolist() == wanted
        assert P.to_static(call)().tolist() == wanted


def test_quantiles_of_a_number_have_no_axis_but_theirs():
    x = P.to_tensor(2.0)
    assert P.quantile(x, [0.1, 0.5], keepdim=True).tolist() == [2, 2]
    assert P.quantile(x, 0.5, axis=0, keepdim=True).shape == []


def test_prelu_of_a_number_is_a_number():
    weight = P.to_tensor([0.25], stop_gradient=False)
    y = F.prelu(P.to_tensor(-2.0), weight)
    y.backward()
    assert y.shape == []
    assert y.item() == -0.5
    assert weight.grad.tolist() == [-2]


@pytest.mark.parametrize("engine", ["eager", "numpy", "native"])
def test_masked_scatter_brings_both_to_one_shape(engine):
    mask = P.to_tensor([[True, False, True], [False, True, True]])

    def scattered(x, value):
        return P.masked_scatter(x, mask, value)

    call = scattered if engine == "eager" else P.to_static(scattered, engine=engine)
    found = call(P.zeros([3]), P.arange(1, 7, dtype="float32"))
    assert found.tolist() == [[1, 0, 2], [0, 3, 4]]


@pytest.mark.parametrize("count", [2, 3])
def test_a_vector_for_each_matrix_is_solved(count):
    x, y = P.to_tensor(ONES[:count]), P.to_tensor(np.arange(3.0 * count).reshape(count, 3))
    wanted = np.arange(3.0 * count).reshape(count, 3) / np.array([1, 2, 4])[:count, None]
    np.testing.assert_allclose(L.solve(x, y).numpy(), wanted)
    np.testing.assert_allclose(P.to_static(L.solve)(x, y).numpy(), wanted)


def test_no_differences_are_the_tensor_alone():
    x = P.to_tensor([1.0, 4.0, 9.0])
    assert P.diff(x, 0, prepend=x, append=x).tolist() == np.diff(x.numpy(), 0).tolist()


def test_nll_loss_refuses_what_has_no_axis_of_classes():
    with pytest.raises(ShapeError, match="classes"):
        F.nll_loss(P.zeros([3]), P.to_tensor(1))


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("dtype", ["int64", "int32"])
def test_a_program_convolves_integers_as_eager_calls_do(dtype, engine):
    x = P.arange(24, dtype=dtype).reshape([2, 2, 6])
    weight = P.arange(8, dtype=dtype).reshape([2, 2, 2]) - 3
    wanted = F.conv1d(x, weight, stride=2, padding=1)
    found = P.to_static(lambda x, w: F.conv1d(x, w, stride=2, padding=1), engine=engine)(x, weight)
    assert found.dtype == wanted.dtype == np.dtype(dtype)
    assert found.tolist() == wanted.tolist()
