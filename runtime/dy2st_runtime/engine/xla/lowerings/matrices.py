"""Inverses, solutions and decompositions of matrices, and Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.engine.xla.library import jax_linalg, jnp, lax
from dy2st_runtime.engine.xla.table import check, lower, rows

rows(
    {
        "inverse": lambda x: jnp.linalg.inv(x),
        "det": lambda x: jnp.linalg.det(x),
        "slogdet": lambda x: tuple(jnp.linalg.slogdet(x)),
        "cholesky": lambda x: lax.linalg.cholesky(x, symmetrize_input=False),
        "qr": lambda x, complete: tuple(
            jnp.linalg.qr(x, mode="complete" if complete else "reduced")
        ),
        "svd": lambda x, full: tuple(jnp.linalg.svd(x, full_matrices=full)),
        "matrix_exp": lambda x: jax_linalg.expm(x, max_squarings=64),
        "eigh": lambda x, upper: _eigh(x, upper),
        "fourier": lambda x, axis, inverse, norm: (jnp.fft.ifft if inverse else jnp.fft.fft)(
            x, axis=axis, norm=norm
        ),
        "fourier_of_real": lambda x, axis, norm: jnp.fft.rfft(x, axis=axis, norm=norm),
        "fourier_to_real": lambda x, axis, n, norm: jnp.fft.irfft(x, n, axis=axis, norm=norm),
    }
)


def _eigh(x: Any, upper: bool) -> tuple[Any, Any]:
    """Of the triangle that is named."""
    uplo = "U" if upper else "L"
    return tuple(jnp.linalg.eigh(x, UPLO=uplo, symmetrize_input=False))


@lower("solve")
def _solve(x: Any, y: Any) -> Any:
    batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    x, y = (jnp.broadcast_to(t, (*batch, *t.shape[-2:])) for t in (x, y))
    return jnp.linalg.solve(x, y)


@lower("pinv")
def _pinv(x: Any, rcond: Any, hermitian: bool) -> Any:
    if hermitian:
        values, left = _eigh(x, False)
        right, sizes = jnp.conj(jnp.swapaxes(left, -1, -2)), jnp.abs(values)
    else:
        left, values, right = jnp.linalg.svd(x, full_matrices=False)
        sizes = values
    largest = sizes.max(-1, keepdims=True, initial=0)
    is_kept = sizes > largest * rcond.astype(sizes.dtype)
    inverted = jnp.where(is_kept, 1 / jnp.where(is_kept, values, 1), 0)
    adjoint = [jnp.conj(jnp.swapaxes(t, -1, -2)) for t in (right, left)]
    return jnp.matmul(adjoint[0] * inverted[..., None, :], adjoint[1])


@check("inverse", "cholesky", "solve", "eigh", "svd", "pinv")
def _is_finite(y: Any, *operands: Any, **attributes: Any) -> Any:
    """LAPACK's failures, which NumPy raises, are NaN or infinite here."""
    made = y if isinstance(y, tuple) else (y,)
    well: Any = True
    for one in made:
        well = well & jnp.all(jnp.isfinite(one))
    return well


@lower("lu")
def _lu(x: Any) -> tuple[Any, Any]:
    """With rows counted from 1."""
    packed, pivots, _ = lax.linalg.lu(x)
    return packed, pivots + 1


@lower("lu_order")
def _lu_order(pivots: Any, rows: int) -> Any:
    return lax.linalg.lu_pivots_to_permutation(pivots - 1, rows)


@check("lu_order")
def _are_rows(y: Any, pivots: Any, rows: int) -> Any:
    return jnp.all((pivots >= 1) & (pivots <= rows))
