"""Functions of the array API and of NumPy on tensors: with gradients, and in Programs too."""

import numpy as np
import pytest

import dy2st
from dy2st.jit import to_static
from dy2st.static import InputSpec
from dy2st_runtime import array_api as xp
from dy2st_runtime.ir.tensor import Tensor
from tests.runtime.array_api.test_values import compare

X = np.random.default_rng(3).normal(size=(3, 3))
X = X @ X.T + np.eye(3)

NUMPY = {
    "std": lambda x: np.std(x),
    "var": lambda x: np.var(x, axis=0, ddof=1, keepdims=True),
    "mean": lambda x: np.mean(x, 0) + x.mean(),
    "sum": lambda x: np.sum(x, axis=(0, 1)),
    "sum of float32": lambda x: np.sum(x, dtype="float32"),
    "prod": lambda x: np.prod(x, axis=-1),
    "max": lambda x: np.max(x, axis=1, keepdims=True),
    "median": lambda x: np.median(x, axis=0),
    "cumsum": lambda x: np.cumsum(x),
    "diff": lambda x: np.diff(x, axis=0),
    "transpose": lambda x: np.transpose(x),
    "transposed axes": lambda x: np.transpose(x, (1, 0)),
    "concatenate": lambda x: np.concatenate([x, x], axis=1),
    "concatenate with an array": lambda x: np.concatenate((x, np.ones((1, 3)))),
    "stack": lambda x: np.stack([x, x]),
    "vstack": lambda x: np.vstack([x, x]),
    "hstack": lambda x: np.hstack([x, x]),
    "where": lambda x: np.where(x > 0, x, 0.0),
    "clip": lambda x: np.clip(x, -1, 0.5),
    "round": lambda x: np.round(x, 1),
    "reshape": lambda x: np.reshape(x, (9,)),
    "ravel": lambda x: np.ravel(x),
    "squeeze": lambda x: np.squeeze(np.expand_dims(x, 0)),
    "swapaxes": lambda x: np.swapaxes(x, 0, 1),
    "repeat": lambda x: np.repeat(x, 2, axis=0),
    "tile": lambda x: np.tile(x, (2, 1)),
    "flip": lambda x: np.flip(x),
    "roll": lambda x: np.roll(x, 1),
    "take": lambda x: np.take(x, [0, 1], axis=1),
    "diag": lambda x: np.diag(x),
    "tril": lambda x: np.tril(x),
    "zeros_like": lambda x: np.zeros_like(x),
    "nan_to_num": lambda x: np.nan_to_num(x),
    "sort": lambda x: np.sort(x, axis=0),
    "argmax": lambda x: np.argmax(x, axis=0),
    "unique": lambda x: np.unique(x),
    "count_nonzero": lambda x: np.count_nonzero(x, axis=0),
    "isclose": lambda x: np.isclose(x, x),
    "einsum": lambda x: np.einsum("ij,kj->ik", x, x),
    "dot": lambda x: np.dot(x, x),
    "outer": lambda x: np.outer(x, x),
    "kron": lambda x: np.kron(x, x),
    "tensordot": lambda x: np.tensordot(x, x, 1),
    "trace": lambda x: np.trace(x),
    "nanmean": lambda x: np.nanmean(x, axis=0),
    "average": lambda x: np.average(x, axis=1),
    "ptp": lambda x: np.ptp(x, axis=0),
    "quantile": lambda x: np.quantile(x, 0.3, axis=0),
    "percentile": lambda x: np.percentile(x, [20, 70], axis=1),
    "cov": lambda x: np.cov(x),
    "append": lambda x: np.append(x, x, axis=0),
    "argwhere": lambda x: np.argwhere(x > 0),
    "split": lambda x: np.split(x, 3, axis=1)[1],
    "split at places": lambda x: np.split(x, [1, 2])[2],
    "array_split": lambda x: np.array_split(x, 2)[0],
    "pad": lambda x: np.pad(x, ((0, 1), (2, 0)), constant_values=0.5),
    "pad by one width": lambda x: np.pad(x, 1),
    "inner": lambda x: np.inner(x, x),
    "cross": lambda x: np.cross(x, x[0]),
    "linalg.vector_norm": lambda x: np.linalg.vector_norm(x, axis=0, ord=3),
    "linalg.matrix_norm": lambda x: np.linalg.matrix_norm(x, ord="nuc"),
    "linalg.multi_dot": lambda x: np.linalg.multi_dot([x, x, x]),
    "linalg.matrix_rank": lambda x: np.linalg.matrix_rank(x),
    "linalg.eigvals": lambda x: np.abs(np.linalg.eigvals(x)),
    "linalg.inv": lambda x: np.linalg.inv(x),
    "linalg.det": lambda x: np.linalg.det(x),
    "linalg.solve": lambda x: np.linalg.solve(x, x[0]),
    "linalg.svd": lambda x: np.linalg.svd(x)[1],
    "linalg.eigh": lambda x: np.linalg.eigh(x).eigenvalues,
    "linalg.slogdet": lambda x: np.linalg.slogdet(x).logabsdet,
    "linalg.pinv": lambda x: np.linalg.pinv(x),
    "linalg.cholesky": lambda x: np.linalg.cholesky(x),
    "linalg.norm": lambda x: np.linalg.norm(x),
    "linalg.norm of matrices": lambda x: np.linalg.norm(x, 1),
    "linalg.norm of rows": lambda x: np.linalg.norm(x, axis=0),
    "linalg.matrix_power": lambda x: np.linalg.matrix_power(x, 2),
    "fft.fft": lambda x: np.abs(np.fft.fft(x)),
    "fft.rfft": lambda x: np.abs(np.fft.rfft(x, n=4, axis=0)),
    "fft.fftn": lambda x: np.abs(np.fft.fftn(x)),
    "fft.fftshift": lambda x: np.fft.fftshift(x),
}
NO_GRADIENT = (
    "argmax",
    "argwhere",
    "linalg.matrix_rank",
    "count_nonzero",
    "isclose",
    "unique",
    "zeros_like",
)
STANDARD = {
    "namespace": lambda x: x.__array_namespace__().exp(x),
    "dtype": lambda x: x * (2 if xp.isdtype(x.dtype, "real floating") else 3),
    "floor_divide": lambda x: xp.floor_divide(x, 2),
    "hypot": lambda x: xp.hypot(x, 2),
    "var": lambda x: xp.var(x, axis=0, correction=1),
    "sum": lambda x: xp.sum(x, axis=()),
    "cumulative_sum": lambda x: xp.cumulative_sum(x, axis=0, include_initial=True),
    "sort": lambda x: xp.sort(x, descending=True),
    "unique": lambda x: xp.unique_all(x).inverse_indices,
    "unique beside NaN": lambda x: xp.unique_counts(xp.where(x > 0, x, xp.nan)).counts,
    "unique of complex numbers": lambda x: xp.unique_values(xp.round(x) * (1 + 1j)),
    "linspace": lambda x: x * xp.linspace(0, 1, 3, endpoint=False)[1:2],
    "take_along_axis": lambda x: xp.take_along_axis(x, xp.argsort(x), axis=-1),
    "concat": lambda x: xp.concat([x, x], axis=None),
    "tile": lambda x: xp.tile(x, (2, 1, 1)),
    "squeeze": lambda x: xp.squeeze(xp.expand_dims(x, axis=0), 0),
    "broadcast_to": lambda x: xp.broadcast_to(x, (2, *x.shape)),
    "eye": lambda x: xp.eye(x.shape[0]) @ x,
    "searchsorted": lambda x: xp.searchsorted(xp.sort(x[0]), x),
    "nonzero": lambda x: xp.nonzero(x)[1],
    "vecdot": lambda x: xp.vecdot(x, x[0]),
    "svd": lambda x: xp.linalg.svd(x).S,
    "pinv": lambda x: xp.linalg.pinv(x),
    "rfftn": lambda x: xp.abs(xp.fft.rfftn(x)),
}


@pytest.mark.parametrize("name", NUMPY)
def test_a_function_of_numpy_gives_a_tensor(name):
    x = dy2st.to_tensor(X, stop_gradient=False)
    made = NUMPY[name](x)
    compare(made, NUMPY[name](X))
    assert made.stop_gradient is (name in NO_GRADIENT)


@pytest.mark.parametrize("name", sorted(NUMPY.keys() - NO_GRADIENT))
def test_its_gradient_is_that_of_small_steps(name):
    weights = np.cos(np.arange(np.asarray(NUMPY[name](X)).size)).reshape(np.shape(NUMPY[name](X)))
    x = dy2st.to_tensor(X, stop_gradient=False)
    dy2st.sum(NUMPY[name](x) * dy2st.to_tensor(weights)).backward()
    if name in ("round", "sum of float32"):
        return
    step = np.random.default_rng(5).normal(size=X.shape)
    if name.startswith(("linalg.eigh", "linalg.chol")):  # of symmetric matrices
        step = step + step.T
    ahead, behind = (float(np.sum(NUMPY[name](X + h * step) * weights)) for h in (1e-6, -1e-6))
    assert np.sum(x.grad.numpy() * step) == pytest.approx((ahead - behind) / 2e-6, rel=1e-4)


@pytest.mark.parametrize("spec", [None, [InputSpec([None, None], "float64")]])
@pytest.mark.parametrize("name", [*NUMPY, *(f"xp {name}" for name in STANDARD)])
def test_it_becomes_part_of_a_program(name, spec):
    function = STANDARD[name[3:]] if name.startswith("xp ") else NUMPY[name]
    x = dy2st.to_tensor(X)
    compare(to_static(function, input_spec=spec)(x), np.asarray(function(x)))


def test_what_dy2st_does_not_compute_numpy_does():
    x = dy2st.to_tensor(X)
    assert np.percentile(x, 50, method="lower") == np.percentile(X, 50, method="lower")
    np.testing.assert_array_equal(np.asarray(np.pad(x, 1, "edge")), np.pad(X, 1, "edge"))
    assert float(np.sum(x, initial=3.0)) == pytest.approx(np.sum(X, initial=3.0))
    assert np.allclose(x, x) is True
    assert not isinstance(np.histogram(x)[0], Tensor)
