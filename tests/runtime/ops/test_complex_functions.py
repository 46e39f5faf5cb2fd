"""Functions of complex numbers against NumPy, their gradients against differences."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st as P

F = P.nn.functional
RNG = np.random.default_rng(6)
POINTS = RNG.normal(size=8) + 1j * RNG.normal(size=8)
MATRIX = RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3))
NAMES = {
    **{name: name for name in "square exp expm1 log log1p log2 log10 sqrt sin cos tan".split()},
    **{name: name for name in "sinh cosh tanh reciprocal".split()},
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}
CALLS = {
    **{name: (getattr(P, name), getattr(np, theirs), POINTS) for name, theirs in NAMES.items()},
    "rsqrt": (P.rsqrt, lambda z: 1 / np.sqrt(z), POINTS),
    "sigmoid": (F.sigmoid, lambda z: 1 / (1 + np.exp(-z)), POINTS),
    "silu": (F.silu, lambda z: z / (1 + np.exp(-z)), POINTS),
    "pow": (lambda z: P.pow(z, z * 0.5), lambda z: np.power(z, z * 0.5), POINTS),
    "prod": (P.prod, np.prod, POINTS),
    "cumprod": (lambda z: P.cumprod(z, 0), np.cumprod, POINTS),
    "inverse": (P.linalg.inv, np.linalg.inv, MATRIX),
    "det": (P.linalg.det, np.linalg.det, MATRIX),
    "solve": (lambda z: P.linalg.solve(z, z @ z), lambda z: z, MATRIX),
    "cholesky_solve": (
        lambda z: P.linalg.cholesky_solve(z, P.tril(z)),
        lambda z: np.linalg.solve(np.tril(z) @ np.tril(z).conj().T, z),
        MATRIX,
    ),
}


def _slopes(function, array):
    """dL/d(real) + i dL/d(imag) of L, the sum of real parts times weights."""
    weights = np.random.default_rng(3).normal(size=np.shape(function(array)))
    found, step = np.zeros_like(array), 1e-6
    for place in np.ndindex(array.shape):
        for way in (1, 1j):
            move = np.zeros_like(array)
            move[place] = step * way
            ends = [np.sum(weights * function(array + m).real) for m in (move, -move)]
            found[place] += way * (ends[0] - ends[1]) / (2 * step)
    return weights, found


@pytest.mark.parametrize("engine", ["eager", "numpy", "native"])
@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients(name, engine):
    function, reference, array = CALLS[name]
    call = function if engine == "eager" else P.to_static(function, engine=engine)
    z = P.to_tensor(array, stop_gradient=False)
    y = call(z)
    np.testing.assert_allclose(y.numpy(), reference(array), rtol=1e-12, atol=1e-14)
    weights, slopes = _slopes(reference, array)
    (P.real(y) * P.to_tensor(weights)).sum().backward()
    np.testing.assert_allclose(z.grad.numpy(), slopes, rtol=1e-5, atol=1e-6)


def test_truth_of_complex_numbers():
    z = P.to_tensor([0j, 1j, 1 + 0j])
    assert P.logical_not(z).tolist() == [True, False, False]
    assert P.logical_and(z, z).tolist() == [False, True, True]
    assert (P.any(z).item(), P.all(z).item()) == (True, False)


def test_matrices_of_no_elements():
    assert P.linalg.pinv(P.zeros([0, 3])).shape == [3, 0]
    assert P.linalg.matrix_rank(P.zeros([0, 0])).tolist() == 0
    assert P.masked_select(P.to_tensor(3.0), P.to_tensor(True)).tolist() == [3.0]
    assert P.masked_select(P.to_tensor(3.0), P.to_tensor(False)).tolist() == []
    x = P.multigammaln(P.to_tensor([5]), 2).item()
    np.testing.assert_allclose(x, 6.2041553441150885, rtol=1e-6)
