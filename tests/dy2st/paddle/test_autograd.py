"""Gradients under PaddlePaddle's names: closed formulas."""

import numpy as np
import pytest

import dy2st
from dy2st import autograd


def leaf(values):
    return dy2st.to_tensor(np.array(values, "float32"), stop_gradient=False)


def test_backward_of_several_tensors_sums():
    x = leaf([1.0, 2.0])
    y, z = (x * x).sum(), x * 3
    autograd.backward([y, z], [None, dy2st.ones([2])])
    assert x.grad.tolist() == [5.0, 7.0]
    with pytest.raises(dy2st.errors.ArgumentError, match="2 tensors have 1"):
        autograd.backward([y, z], [None])


def test_jacobian_of_vectors_and_numbers():
    x = leaf([1.0, 2.0])
    assert autograd.jacobian(x * x, x).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert autograd.jacobian((x * x).sum(), x).tolist() == [2.0, 4.0]


def test_jacobian_of_tuples_has_zeros_where_nothing_depends():
    x, y = leaf([1.0, 2.0]), leaf([3.0])
    found = autograd.jacobian((x * y, y * 1), (x, y))
    assert [[entry.tolist() for entry in row] for row in found] == [
        [[[3.0, 0.0], [0.0, 3.0]], [[1.0], [2.0]]],
        [[[0.0, 0.0]], [[1.0]]],
    ]


def test_jacobian_of_a_batch():
    x = leaf([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    expected = [np.diag(2 * row).tolist() for row in x.numpy()]
    assert autograd.jacobian(x * x, x, batch_axis=0).tolist() == expected


def test_hessian_of_a_number_and_of_a_batch():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    found = autograd.hessian((x * x * y).sum(), (x, y))
    assert found[0][0].tolist() == [[6.0, 0.0], [0.0, 8.0]]
    assert found[0][1].tolist() == found[1][0].tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert found[1][1].tolist() == [[0.0, 0.0], [0.0, 0.0]]
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    cubes = autograd.hessian((x**3).sum(axis=1), x, batch_axis=0)
    assert cubes.tolist() == [np.diag(6 * row).tolist() for row in x.numpy()]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: autograd.jacobian(x * x, x),
        lambda x: autograd.jacobian(x * x, x, batch_axis=1),
        lambda x: autograd.hessian(x * x, x),
    ],
)
def test_what_has_more_axes_is_refused(wrong):
    with pytest.raises(dy2st.errors.ArgumentError):
        wrong(leaf([[1.0, 2.0]]))
