"""Logarithms and gates of sigmoid; `test_exact_functions.py` has its values."""

from __future__ import annotations

import numpy as np

import dy2st as P

F = P.nn.functional


def test_a_gate_is_a_share_times_the_other_half():
    x = np.linspace(-100, 80, 97).astype("float32")
    found = F.glu(P.concat([P.ones([97]), P.to_tensor(x)])).numpy()
    np.testing.assert_array_equal(found, F.sigmoid(P.to_tensor(x)).numpy())


def test_the_logarithm_of_a_small_share_is_the_number():
    x = P.to_tensor([-10.0, -17.0, -20.0, -50.0, -87.0])
    np.testing.assert_allclose(P.log(P.sigmoid(x)).numpy(), x.numpy(), rtol=1e-5)
    ones = P.ones([5])
    losses = F.binary_cross_entropy(P.sigmoid(x), ones, reduction="none")
    np.testing.assert_allclose(losses.numpy(), -x.numpy(), rtol=1e-5)
