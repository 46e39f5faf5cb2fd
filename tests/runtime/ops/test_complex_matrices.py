"""Decompositions of complex and real matrices: what they give, and gradients against differences."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import dy2st as P

L = P.linalg
RNG = np.random.default_rng(0)
REAL = RNG.normal(size=(4, 4))
MATRICES = {"real": REAL, "complex": REAL + 1j * RNG.normal(size=(4, 4))}


def across(x):
    return P.conj(x.mT) if x.dtype.kind == "c" else x.mT


def hermitian(x):
    return (x + across(x)) * 0.5


def positive(x):
    return x @ across(x) + P.eye(4, dtype=x.dtype)


def by_svd(x):
    u, s, v = L.svd(x)
    return u[..., :1] @ v[:1] * 2 + u @ (P.unsqueeze(P.cast(s * s * s, u.dtype), -1) * v), s


def by_eigh(x):
    values, vectors = L.eigh(x)
    return vectors[:, :1] @ across(vectors)[:1] * 3, values


def by_eig(x):
    values, vectors = L.eig(x)
    return values, vectors[:, :1] @ L.inv(vectors)[:1], P.abs(vectors)


def by_full_svd(x):
    rest = L.svd(x, full_matrices=True)[0][:, x.shape[1] :]
    return rest @ across(rest)


def by_svd_lowrank(x):
    u, s, v = L.svd_lowrank(x, 2)
    return u @ P.cast(P.diag(s), u.dtype) @ across(v)


CALLS = {
    "slogdet": L.slogdet,
    "qr": L.qr,
    "qr of a tall one": lambda x: L.qr(x[:, :2]),
    "qr of a wide one": lambda x: L.qr(x[:2]),
    "complete qr of a wide one": lambda x: L.qr(x[:2], "complete"),
    "svd": by_svd,
    "svd of a tall one": lambda x: by_svd(x[:, :2]),
    "svd of a wide one": lambda x: by_svd(x[:2]),
    "eigh": lambda x: by_eigh(hermitian(x)),
    "eig": by_eig,
    "eigvals": L.eigvals,
    "cholesky": lambda x: L.cholesky(positive(x)),
    "upper cholesky": lambda x: L.cholesky(positive(x), True),
    "pinv": L.pinv,
    "pinv of a tall one": lambda x: L.pinv(x[:, :2]),
    "pinv of a wide one": lambda x: L.pinv(x[:2]),
    "pinv of lower rank": lambda x: L.pinv(x[:, :2] @ x[:2], 1e-9),
    "pinv of a Hermitian one": lambda x: L.pinv(hermitian(x), hermitian=True),
    "lu": lambda x: L.lu(x)[0],
    "lu of a tall one": lambda x: L.lu(x[:, :2])[0],
    "lu of a wide one": lambda x: L.lu(x[:2])[0],
    "svd of all columns": lambda x: by_full_svd(x[:, :2]),
    "matrix_exp": L.matrix_exp,
    "lstsq": lambda x: L.lstsq(x, x[:, :1] * 2 + 1)[0],
    "householder_product": lambda x: L.householder_product(x[:, :3], x[0, :3]),
    "ormqr": lambda x: L.ormqr(x[:, :3], x[0, :3], x),
    "transposed ormqr": lambda x: L.ormqr(x[:, :3], x[0, :3], x, transpose=True),
    "ormqr from the right": lambda x: L.ormqr(x[:, :3], x[0, :3], x, left=False),
    "cond": L.cond,
    "nuclear norm": lambda x: L.matrix_norm(x, "nuc"),
    "svd_lowrank": by_svd_lowrank,
}


def _weighted(function):
    """A real number of all that the function gives."""

    def call(x):
        found = function(x)
        total = 0
        for seed, part in enumerate(found if isinstance(found, (list, tuple)) else [found]):
            rng = np.random.default_rng(seed)
            weights, others = (P.to_tensor(rng.normal(size=part.shape)) for _ in range(2))
            total = total + (P.real(part) * weights + P.imag(part) * others).sum()
        return total

    return call


def _slopes(function, array, step=1e-6):
    found = np.zeros_like(array)
    for place in np.ndindex(array.shape):
        for way in (1, 1j) if array.dtype.kind == "c" else (1,):
            move = np.zeros_like(array)
            move[place] = step * way
            ends = [function(P.to_tensor(array + m)).item() for m in (move, -move)]
            found[place] += way * (ends[0] - ends[1]) / (2 * step)
    return found


@pytest.mark.parametrize("kind", MATRICES)
@pytest.mark.parametrize("name", CALLS)
def test_gradients_are_those_of_differences(name, kind):
    function, array = _weighted(CALLS[name]), MATRICES[kind]
    x = P.to_tensor(array, stop_gradient=False)
    function(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), _slopes(function, array), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("name", CALLS)
def test_programs_compute_what_eager_calls_do(name, engine):
    for array in MATRICES.values():
        x = P.to_tensor(array)
        found, wanted = P.to_static(CALLS[name], engine=engine)(x), CALLS[name](x)
        parts = [one if isinstance(one, (list, tuple)) else [one] for one in (found, wanted)]
        for ours, eager in zip(*parts, strict=True):
            assert ours.dtype == eager.dtype
            np.testing.assert_allclose(ours.numpy(), eager.numpy(), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("kind", MATRICES)
def test_decompositions_make_up_the_matrix(kind):
    array = MATRICES[kind]
    x = P.to_tensor(array)
    whole = hermitian(x)
    q, r = L.qr(x)
    u, s, v = L.svd(x)
    values, vectors = L.eigh(whole)
    own, columns = L.eig(x)
    p, lower, upper = L.lu_unpack(*L.lu(x))
    for made in (q @ r, (u * s.unsqueeze(-2)) @ v, p @ lower @ upper):
        np.testing.assert_allclose(made.numpy(), array, atol=1e-12)
    made = (vectors * values.unsqueeze(-2)) @ across(vectors)
    np.testing.assert_allclose(made.numpy(), whole.numpy(), atol=1e-12)
    changed = (columns * own.unsqueeze(-2)) @ L.inv(columns)
    np.testing.assert_allclose(changed.numpy(), array, atol=1e-12)
    assert s.dtype == values.dtype == np.float64
    assert own.dtype == columns.dtype == np.complex128


def test_a_tolerance_for_each_matrix_counts_its_rank():
    twice = P.to_tensor(np.stack([MATRICES["complex"]] * 2))
    sizes = np.linalg.svd(MATRICES["complex"])[1]
    limits = np.array([0.1, 0.9])
    wanted = [(sizes > limit * sizes[0]).sum() for limit in limits]
    assert L.matrix_rank(twice, rtol=P.to_tensor(limits)).tolist() == wanted
    assert L.matrix_rank(twice, atol=P.to_tensor(limits * sizes[0])).tolist() == wanted


@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (2, 0, 4)])
def test_the_pseudoinverse_of_nothing_is_nothing(shape):
    turned = (*shape[:-2], shape[-1], shape[-2])
    assert L.pinv(P.zeros(shape)).shape == list(turned)


def test_pivots_of_complex_matrices_are_those_of_lapack():
    array = np.array([[0.9 + 0.9j, 1.0], [1.1, 2.0j]])
    packed, pivots = L.lu(P.to_tensor(array))
    wanted, exchanged = scipy.linalg.lu_factor(array)
    np.testing.assert_allclose(packed.numpy(), wanted, rtol=1e-12)
    assert pivots.tolist() == [1 + one for one in exchanged] == [1, 2]
