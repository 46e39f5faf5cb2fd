"""Linear algebra against NumPy and SciPy; gradients against slopes; Programs of unknown sizes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import dy2st
from dy2st.static import InputSpec
from dy2st_runtime.errors import ArgumentError, DTypeError, ShapeError

L = dy2st.linalg
RNG = np.random.default_rng(7)
A, B = RNG.normal(size=(2, 3, 3))
MANY = RNG.normal(size=(2, 3, 3))
SPD = MANY @ MANY.swapaxes(1, 2) + np.eye(3)
TALL, LONG = RNG.normal(size=(2, 4, 3)), RNG.normal(size=(3, 5))
Y, V = RNG.normal(size=(3, 2)), RNG.normal(size=3)
LOWER = np.linalg.cholesky(SPD)


def lower(x):
    return np.tril(x)


def product(x):
    packed, pivots = L.lu(x)
    p, low, up = L.lu_unpack(packed, pivots)
    return p @ low @ up


def factors(x):
    """L and U in one matrix, by SciPy."""
    parts = [scipy.linalg.lu(one)[1:] for one in x.reshape(-1, *x.shape[-2:])]
    packed = [np.tril(np.eye(*x.shape[-2:]) * 0 + 1, -1) for _ in parts]
    for made, (low, up) in zip(packed, parts):
        made[:, : low.shape[1]] *= low[:, : made.shape[1]]
        made[: up.shape[0]] = np.tril(made[: up.shape[0]], -1) + np.triu(up)
    return np.array(packed).reshape(x.shape)


def beside_columns(x):
    """The projection on what is at right angles to all columns."""
    rest = L.svd(x, full_matrices=True)[0][..., x.shape[-1] :]
    return rest @ L.matrix_transpose(rest)


ROWS = {
    "inv": (L.inv, np.linalg.inv, MANY),
    "det": (L.det, np.linalg.det, MANY),
    "slogdet": (L.slogdet, lambda x: np.stack(np.linalg.slogdet(x)), MANY),
    "power": (lambda x: L.matrix_power(x, 5), lambda x: np.linalg.matrix_power(x, 5), MANY),
    "power of the inverse": (lambda x: L.matrix_power(x, -3), lambda x: np.linalg.matrix_power(x, -3), A),
    "no power": (lambda x: L.matrix_power(x, 0), lambda x: np.linalg.matrix_power(x, 0), MANY),
    "exp": (L.matrix_exp, scipy.linalg.expm, MANY * 3),
    "solve": (L.solve, np.linalg.solve, MANY, Y),
    "solve from the right": (lambda x, y: L.solve(x, y, left=False), lambda x, y: y @ np.linalg.inv(x), A, Y.T),
    "solve a vector": (L.solve, np.linalg.solve, A, V),
    "cholesky": (L.cholesky, np.linalg.cholesky, SPD),
    "upper cholesky": (lambda x: L.cholesky(x, upper=True), lambda x: scipy.linalg.cholesky(x), SPD[0]),
    "cholesky_solve": (L.cholesky_solve, lambda x, y: np.linalg.solve(y @ y.T, x), Y, LOWER[0]),
    "cholesky_inverse": (L.cholesky_inverse, lambda x: np.linalg.inv(lower(x) @ lower(x).T), LOWER[0]),
    "triangular_solve": (L.triangular_solve, lambda x, y: scipy.linalg.solve_triangular(x, y), A, Y),
    "unit triangle": (
        lambda x, y: L.triangular_solve(x, y, False, True, True),
        lambda x, y: scipy.linalg.solve_triangular(x, y, 1, lower=True, unit_diagonal=True),
        A, Y,
    ),
    "qr": (lambda x: L.qr(x)[0] @ L.qr(x)[1], lambda x: x, TALL),
    "r": (lambda x: L.qr(x, "r").abs(), lambda x: np.abs(np.linalg.qr(x, "r")), TALL[0]),
    "svd": (lambda x: (lambda u, s, v: (u * s.unsqueeze(-2)) @ v)(*L.svd(x)), lambda x: x, LONG),
    "svd of all columns": (beside_columns, lambda x: np.eye(4) - x @ np.linalg.pinv(x), TALL),
    "svd of all rows": (lambda x: beside_columns(x.T), lambda x: np.eye(5) - np.linalg.pinv(x) @ x, LONG),
    "svdvals": (L.svdvals, lambda x: np.linalg.svd(x, compute_uv=False), TALL),
    "eigh": (lambda x: L.eigh(x)[0], np.linalg.eigvalsh, SPD),
    "eigenvectors": (lambda x: L.eigh(x)[1].abs(), lambda x: np.abs(np.linalg.eigh(x)[1]), SPD),
    "eigvalsh": (lambda x: L.eigvalsh(x, "U"), lambda x: np.linalg.eigvalsh(x, "U"), MANY),
    "rank": (L.matrix_rank, np.linalg.matrix_rank, np.outer(V, V) + np.outer(V**2, V)),
    "pinv": (L.pinv, np.linalg.pinv, TALL),
    "hermitian pinv": (lambda x: L.pinv(x, hermitian=True), np.linalg.pinv, SPD),
    "lstsq": (lambda x, y: L.lstsq(x, y)[0], lambda x, y: np.linalg.lstsq(x, y, None)[0], TALL[0], RNG.normal(size=(4, 2))),
    "lu": (product, lambda x: x, MANY),
    "lu of tall matrices": (lambda x: L.lu(x)[0], lambda x: factors(x), TALL),
    "lu of a long matrix": (lambda x: L.lu(x)[0], lambda x: factors(x), LONG),
    "packed lu": (lambda x: L.lu(x)[0], lambda x: scipy.linalg.lu_factor(x)[0], A),
    "lu_solve": (lambda x, y: L.lu_solve(y, *L.lu(x)), np.linalg.solve, A, Y),
    "lu_solve transposed": (lambda x, y: L.lu_solve(y, *L.lu(x), "T"), lambda x, y: np.linalg.solve(x.T, y), A, Y),
    "multi_dot": (lambda x, y: L.multi_dot([x, x, y]), lambda x, y: x @ x @ y, A, Y),
    "vecdot": (L.vecdot, lambda x, y: (x * y).sum(-1), A, B),
    "cross": (lambda x, y: L.cross(x, y, 1), np.cross, A, B),
    "cond": (L.cond, np.linalg.cond, A),
    "cond in 1": (lambda x: L.cond(x, 1), lambda x: np.linalg.cond(x, 1), A),
    "nuclear": (lambda x: L.norm(x, "nuc", [0, 1]), lambda x: np.linalg.norm(x, "nuc"), LONG),
    "frobenius": (L.norm, np.linalg.norm, LONG),
    "spectral": (lambda x: L.norm(x, 2, [0, 1]), lambda x: np.linalg.norm(x, 2), LONG),
    "columns": (lambda x: L.matrix_norm(x, 1), lambda x: np.linalg.norm(x, 1, (1, 2)), TALL),
    "rows": (
        lambda x: L.matrix_norm(x, float("inf"), [2, 0], True),
        lambda x: np.linalg.norm(x, np.inf, (2, 0), True),
        TALL,
    ),
    "vector": (lambda x: L.vector_norm(x, 3.0, 1), lambda x: (np.abs(x) ** 3).sum(1) ** (1 / 3), LONG),
    "reflections": (
        lambda x, y: dy2st.abs(L.householder_product(x, y)),
        lambda x, y: np.abs(np.linalg.qr(TALL[0])[0]),
        *(lambda raw: (np.ascontiguousarray(raw[0].T), raw[1]))(np.linalg.qr(TALL[0], "raw")),
    ),
}  # fmt: skip
CONSTANT = {"no power", "rank", "reflections", "packed lu", "unit triangle"}


@pytest.mark.parametrize("name", ROWS)
def test_numpy_and_scipy_say_the_same(name):
    function, reference, *arrays = ROWS[name]
    expected = np.asarray(reference(*arrays))
    found = function(*map(dy2st.to_tensor, arrays))
    assert found.shape == [*expected.shape] and found.dtype.kind == expected.dtype.kind
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", [name for name in ROWS if name not in CONSTANT])
def test_gradients_are_the_slopes(name):
    function, _, *arrays = ROWS[name]

    def value(*tensors):
        made = function(*tensors)
        return (made * dy2st.arange(1, made.size + 1, dtype="float64").reshape(made.shape)).sum()

    tensors = [dy2st.to_tensor(array, stop_gradient=False) for array in arrays]
    value(*tensors).backward()
    ways = [RNG.normal(size=array.shape) for array in arrays]
    if name in ("cholesky", "upper cholesky", "eigh", "eigenvectors", "eigvalsh", "hermitian pinv"):
        ways = [way + way.swapaxes(-1, -2) for way in ways]  # they read one triangle
    step = 1e-6
    ends = [
        value(*(dy2st.to_tensor(a + s * d) for a, d in zip(arrays, ways, strict=True))).item()
        for s in (step, -step)
    ]
    slope = sum((t.grad.numpy() * d).sum() for t, d in zip(tensors, ways, strict=True))
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * step), rtol=1e-4, atol=1e-4)


def all_of(x, y):
    symmetric = x @ L.matrix_transpose(x) + dy2st.eye(x.shape[-1], dtype="float64")
    q, r = L.qr(y)
    u, s, v = L.svd(y)
    return (
        L.inv(symmetric), L.slogdet(symmetric), L.cholesky(symmetric), L.eigh(symmetric)[0],
        L.solve(symmetric, y), q @ r, u[:, 0] * s[0] * v[0, 0], L.pinv(y), L.lu(symmetric)[0],
        L.matrix_exp(symmetric), L.cond(symmetric), L.matrix_rank(y), L.norm(y, "nuc", [0, 1]),
    )  # fmt: skip


def test_programs_know_no_sizes():
    specs = [InputSpec([None, None], "float64")] * 2
    program = dy2st.to_static(all_of, input_spec=specs)
    for size, width in ((3, 2), (2, 4)):
        x = dy2st.to_tensor(RNG.normal(size=(size, size)))
        y = dy2st.to_tensor(RNG.normal(size=(size, width)))
        for found, expected in zip(program(x, y), all_of(x, y), strict=True):
            np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-9, atol=1e-11)


def test_decompositions_have_all_shapes():
    x = dy2st.to_tensor(LONG)
    assert [part.shape for part in L.qr(x.T, "complete")] == [[5, 5], [5, 3]]
    assert [part.shape for part in L.svd(x, full_matrices=True)] == [[3, 3], [3], [5, 5]]
    assert [part.shape for part in dy2st.Tensor.svd_lowrank(x, 2)] == [[3, 2], [2], [5, 2]]
    packed, pivots, infos = L.lu(x, get_infos=True)
    assert (packed.shape, pivots.shape, infos.item()) == ([3, 5], [3], 0)
    assert pivots.dtype == infos.dtype == dy2st.int32
    _, apart, rank, values = L.lstsq(x.T, dy2st.ones([5, 1], "float64"), driver="gelsd")
    assert (apart.shape, rank.item(), values.shape) == ([1], 3, [3])
    assert x.T.cond().shape == [] and L.lu_unpack(packed, pivots, False)[1:] == (None, None)


def test_what_has_no_answer_is_refused():
    with pytest.raises(np.linalg.LinAlgError):
        L.inv(dy2st.zeros([2, 2]))
    with pytest.raises(ShapeError, match="square"):
        L.det(dy2st.zeros([2, 3]))
    with pytest.raises(DTypeError, match="float32"):
        L.inv(dy2st.ones([2, 2], "int64"))
    with pytest.raises(ShapeError, match="square"):
        L.eig(dy2st.ones([2, 3]))
    with pytest.raises(ArgumentError, match="driver"):
        L.lstsq(dy2st.ones([2, 2]), dy2st.ones([2, 2]), driver="no")
    with pytest.raises(ShapeError, match="size 3"):
        L.cross(dy2st.ones([2]), dy2st.ones([2]))
