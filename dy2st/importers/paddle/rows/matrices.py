"""Products, decompositions, and Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.importers.paddle.calls import Call, table
from dy2st_runtime.dims import product
from dy2st_runtime.ir.dispatch import F

Row = Callable[[Call], Any]
ROWS: dict[str, Row] = {}
_row = table(ROWS)


@_row("matmul", "legacy_matmul")
def _matmul(c: Call) -> Any:
    made = F.matmul(c[0], c[1], c.get("transpose_x", False), c.get("transpose_y", False))
    alpha = c.get("alpha", 1.0)
    return made if alpha == 1.0 else F.scale(made, alpha)


@_row("matmul_with_flatten")
def _flattened(c: Call) -> Any:
    x, y = c[0], c[1]
    rows, inner = c.get("x_num_col_dims", 1), c.get("y_num_col_dims", 1)
    left = F.reshape(x, [product(x.shape[:rows]), product(x.shape[rows:])])
    right = F.reshape(y, [product(y.shape[:inner]), product(y.shape[inner:])])
    return F.reshape(F.matmul(left, right), [*x.shape[:rows], *y.shape[inner:]])


def _factors(c: Call) -> tuple[float, float]:
    return c.get("beta", c.get("Beta", 1.0)), c.get("alpha", c.get("Alpha", 1.0))


@_row("slogdet")
def _slogdet(c: Call) -> Any:
    found = F.slogdet(c[0])
    return tuple(found) if isinstance(found, (list, tuple)) else found


def _axes(c: Call) -> list[int]:
    return [*c.need("axes")]


_OPPOSITE = {"backward": "forward", "forward": "backward"}


def _norm(c: Call, is_inverse: bool = False) -> str:
    """What is divided; `is_inverse` for an inverse transform that a forward one computes."""
    norm = str(c.get("normalization", "backward"))
    return _OPPOSITE.get(norm, norm) if is_inverse else norm


@_row("fft_c2c")
def _c2c(c: Call) -> Any:
    x, is_inverse = c[0], not c.get("forward", True)
    for axis in _axes(c):
        x = F.fourier(x, axis, is_inverse, _norm(c))
    return x


@_row("fft_r2c")
def _r2c(c: Call) -> Any:
    is_inverse, x, axes = not c.get("forward", True), c[0], _axes(c)
    norm = _norm(c, is_inverse)
    if c.get("onesided", True):
        x, axes = F.fourier_of_real(x, axes[-1], norm), axes[:-1]
    else:
        x = F.cast(x, "complex128" if x.dtype.itemsize == 8 else "complex64")
    for axis in axes:
        x = F.fourier(x, axis, False, norm)
    return F.conj(x) if is_inverse else x


@_row("fft_c2r")
def _c2r(c: Call) -> Any:
    is_forward, x, axes = c.get("forward", False), c[0], _axes(c)
    norm = _norm(c, is_forward)
    x = F.conj(x) if is_forward else x
    for axis in axes[:-1]:
        x = F.fourier(x, axis, True, norm)
    size = c.get("last_dim_size", 0) or 2 * (x.shape[axes[-1]] - 1)
    return F.fourier_to_real(x, axes[-1], size, norm)


ROWS |= {
    "addmm": lambda c: F.addmm(c[0], c[1], c[2], *_factors(c)),
    "baddbmm": lambda c: F.baddbmm(c[0], c[1], c[2], *_factors(c)),
    "bilinear": lambda c: _bilinear(c),
    "bmm": lambda c: F.bmm(c[0], c[1]),
    "cholesky": lambda c: F.cholesky(c[0], c.get("upper", False)),
    "cholesky_solve": lambda c: F.cholesky_solve(c[0], c[1], c.get("upper", False)),
    "cross": lambda c: F.cross(c[0], c[1], c.get("axis", c.get("dim", 9))),
    "det": lambda c: F.det(c[0]),
    "dist": lambda c: F.dist(c[0], c[1], c.get("p", 2.0)),
    "dot": lambda c: F.dot(c[0], c[1]),
    "eig": lambda c: F.eig(c[0]),
    "eigh": lambda c: F.eigh(c[0], c.get("UPLO", "L")),
    "eigvals": lambda c: F.eigvals(c[0]),
    "eigvalsh": lambda c: F.eigvalsh(c[0], c.get("uplo", c.get("UPLO", "L"))),
    "einsum": lambda c: F.einsum(c.need("equation"), *c[0]),
    "inverse": lambda c: F.inverse(c[0]),
    "kron": lambda c: F.kron(c[0], c[1]),
    "lstsq": lambda c: tuple(F.lstsq(c[0], c[1])),
    "lu": lambda c: tuple(F.lu(c[0], c.get("pivot", c.get("pivots", True)), True)),
    "lu_unpack": lambda c: tuple(F.lu_unpack(c[0], c[1])),
    "matrix_power": lambda c: F.matrix_power(c[0], c.need("n")),
    "matrix_rank": lambda c: F.matrix_rank(c[0], c.get("tol"), c.get("hermitian", False)),
    "multi_dot": lambda c: F.multi_dot(c[0]),
    "mv": lambda c: F.mv(c[0], c[1]),
    "qr": lambda c: tuple(F.qr(c[0], c.get("mode", "reduced"))),
    "renorm": lambda c: F.renorm(c[0], c.need("p"), c.need("axis"), c.need("max_norm")),
    "solve": lambda c: F.solve(c[0], c[1]),
    "svd": lambda c: tuple(F.svd(c[0], c.get("full_matrices", False))),
    "svdvals": lambda c: F.svdvals(c[0]),
    "trace": lambda c: F.trace(c[0], c.get("offset", 0), c.get("axis1", 0), c.get("axis2", 1)),
    "triangular_solve": lambda c: F.triangular_solve(
        c[0], c[1], c.get("upper", True), c.get("transpose", False),
        c.get("unitriangular", False)),
}  # fmt: skip


def _bilinear(c: Call) -> Any:
    made = F.einsum("ni,oij,nj->no", c[0], c[2], c[1])
    return made if c[3] is None else F.add(made, c[3])


__all__ = ["ROWS"]
