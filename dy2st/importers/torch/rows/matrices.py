"""Products of matrices, and linear algebra."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

from dy2st.importers.torch.table import Call, Row, as_tensor, is_tensor, row, rows
from dy2st_runtime.dims import product
from dy2st_runtime.ir.dispatch import F


def transposed(x: Any) -> Any:
    """The last two axes exchanged."""
    order = list(range(x.ndim))
    return F.transpose(x, [*order[:-2], order[-1], order[-2]])


def hermitian_of(x: Any) -> Any:
    """`transposed`, and conjugated."""
    return F.conj(transposed(x)) if x.dtype.kind == "c" else transposed(x)


def _product(at: Call, x: Any, y: Any) -> Any:
    return F.matmul(at.cast(x), at.cast(y))


def _added(multiply: Any) -> Row:
    """beta * x + alpha * product; x counts for nothing if beta is 0."""

    def record(at: Call, x: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Any:
        made = multiply(at.cast(a), at.cast(b))
        if alpha != 1:
            made = F.multiply(made, at.cast(alpha))
        if beta == 0:
            return made
        x = at.cast(x)
        return F.add(x if beta == 1 else F.multiply(x, at.cast(beta)), made)

    return record


rows(
    {
        "matmul mm bmm mv dot linalg_matmul": _product,
        "vdot": lambda at, x, y: _product(at, F.conj(x) if x.dtype.kind == "c" else x, y),
        "linalg_vecdot": lambda at, x, y, dim=-1: F.sum(
            F.multiply(F.conj(x) if x.dtype.kind == "c" else x, y), axis=dim
        ),
        "outer ger": lambda at, x, y: F.multiply(F.unsqueeze(at.cast(x), 1), at.cast(y)),
        "inner": lambda at, x, y: (
            F.multiply(x, y)
            if not x.ndim or not y.ndim
            else _product(at, x, transposed(y))
            if y.ndim > 1
            else _product(at, x, y)
        ),
        "addmm": _added(F.matmul),
        "baddbmm": _added(F.matmul),
        "addmv": _added(F.matmul),
        "addbmm": _added(lambda a, b: F.sum(F.matmul(a, b), 0)),
        "addr": _added(lambda a, b: F.multiply(F.unsqueeze(a, 1), b)),
        "linalg_cross": lambda at, x, y, dim=-1: F.cross(
            *F.broadcast_tensors([at.cast(x), at.cast(y)]), dim
        ),
        "kron": lambda at, x, y: F.kron(at.cast(x), at.cast(y)),
    }
)


@row("aten.einsum.default")
def _einsum(at: Call, equation: str, tensors: Sequence[Any], path: Any = None) -> Any:
    """Where the result has no "...", torch sums over these axes: they get letters."""
    labels, _, result = equation.replace(" ", "").partition("->")
    if "->" in equation and "." in labels and "." not in result:
        free = [one for one in string.ascii_letters if one not in equation]
        parts = labels.split(",")
        counts = [
            one.ndim - len(part.replace("...", ""))
            for one, part in zip(tensors, parts, strict=True)
        ]
        names = free[: max(counts)]
        parts = [
            part.replace("...", "".join(names[len(names) - count :]))
            for part, count in zip(parts, counts, strict=True)
        ]
        equation = f"{','.join(parts)}->{result}"
    return F.einsum(equation, *[at.cast(one) for one in tensors])


@row("aten.linear.default")
def _linear(at: Call, x: Any, weight: Any, bias: Any = None) -> Any:
    x, weight = at.cast(x), at.cast(weight)
    made = F.matmul(x, weight, transpose_y=True) if weight.ndim > 1 else F.matmul(x, weight)
    return made if bias is None else F.add(made, at.cast(bias))


@row("aten.bilinear.default")
def _bilinear(at: Call, x: Any, y: Any, weight: Any, bias: Any = None) -> Any:
    made = F.einsum("...i,oij,...j->...o", x, weight, y)
    return made if bias is None else F.add(made, bias)


@row("aten._trilinear.default")
def _trilinear(
    at: Call,
    a: Any,
    b: Any,
    c: Any,
    more_a: Sequence[int],
    more_b: Sequence[int],
    more_c: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int = 1,
) -> Any:
    for axes, place in ((more_a, 0), (more_b, 1), (more_c, 2)):
        for axis in axes:
            a, b, c = (
                F.unsqueeze(one, axis) if n == place else one for n, one in enumerate((a, b, c))
            )
    return F.sum(F.multiply(F.multiply(a, b), c), list(sumdim))


# -- distances --------------------------------------------------------------------------------


@row("aten.cdist.default", "aten._cdist_forward.default")
def _cdist(at: Call, x: Any, y: Any, p: float = 2.0, compute_mode: Any = None) -> Any:
    return F.cdist(x, y, float(p))


rows(
    {
        "pdist _pdist_forward": lambda at, x, p=2.0: F.pdist(x, float(p)),
        "dist": lambda at, x, y, p=2: F.dist(x, y, float(p)),
    }
)


# -- factors and solutions --------------------------------------------------------------------


def _info(x: Any) -> Any:
    return F.zeros(x.shape[:-2], "int32")


def _squared(x: Any, upper: bool) -> Any:
    """The matrix of a factor, of which one triangle is read; its gradient lies in both."""
    half = F.triu(x) if upper else F.tril(x)
    half = F.add(F.subtract(x, F.detach(x)), F.detach(half))
    return F.matmul(hermitian_of(half), half) if upper else F.matmul(half, hermitian_of(half))


@row("aten.cholesky_solve.default")
def _cholesky_solved(at: Call, b: Any, x: Any, upper: bool = False) -> Any:
    return F.solve(_squared(x, upper), b)


@row("aten.cholesky_inverse.default")
def _cholesky_inverse(at: Call, x: Any, upper: bool = False) -> Any:
    return F.inverse(_squared(x, upper))


def _solved(a: Any, b: Any, left: bool = True) -> Any:
    is_vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and list(b.shape) == list(a.shape[:-1]))
    if is_vector:
        b = F.unsqueeze(b, -1)
    made = F.solve(a, b) if left else transposed(F.solve(transposed(a), transposed(b)))
    return F.squeeze(made, -1) if is_vector else made


@row("aten.linalg_solve_triangular.default")
def _triangular(
    at: Call, a: Any, b: Any, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Any:
    if left:
        return F.triangular_solve(a, b, upper, False, unitriangular)
    return transposed(
        F.triangular_solve(transposed(a), transposed(b), not upper, False, unitriangular)
    )


@row("aten.linalg_lu_solve.default")
def _lu_solved(
    at: Call, lu: Any, pivots: Any, b: Any, left: bool = True, adjoint: bool = False
) -> Any:
    p, lower, upper = F.lu_unpack(lu, pivots)
    whole = F.matmul(F.matmul(p, lower), upper)
    return _solved(hermitian_of(whole) if adjoint else whole, b, left)


def _svd(x: Any, full: bool) -> tuple[Any, Any, Any]:
    is_square = type(x.shape[-1]) is int and x.shape[-1] == x.shape[-2]
    return tuple(F.svd(x, full and not is_square))


rows(
    {
        "linalg_det": lambda at, x: F.det(x),
        "_linalg_det": lambda at, x: (F.det(x), None, None),
        "logdet": lambda at, x: F.log(F.det(x)),
        "linalg_slogdet slogdet": lambda at, x: _slogdet(x),
        "_linalg_slogdet": lambda at, x: (*_slogdet(x), None, None),
        "linalg_inv inverse": lambda at, x: F.inverse(x),
        "linalg_tensorinv": lambda at, x, ind=2: F.reshape(
            F.inverse(F.reshape(x, [product(x.shape[:ind]), product(x.shape[ind:])])),
            [*x.shape[ind:], *x.shape[:ind]],
        ),
        "linalg_inv_ex": lambda at, x, check_errors=False: (F.inverse(x), _info(x)),
        "linalg_cholesky cholesky": lambda at, x, upper=False: F.cholesky(x, upper),
        "linalg_cholesky_ex": lambda at, x, upper=False, check_errors=False: (
            F.cholesky(x, upper),
            _info(x),
        ),
        "linalg_solve": lambda at, a, b, left=True: _solved(a, b, left),
        "linalg_solve_ex": lambda at, a, b, left=True, check_errors=False: (
            _solved(a, b, left),
            _info(a),
        ),
        "_linalg_solve_ex": lambda at, a, b, left=True, check_errors=False: (
            _solved(a, b, left),
            None,
            None,
            _info(a),
        ),
        "triangular_solve": lambda at, b, a, upper=True, transpose=False, unitriangular=False: (
            F.triangular_solve(a, b, upper, transpose, unitriangular),
            F.assign(a),
        ),
        "linalg_eigh": lambda at, x, UPLO="L": tuple(F.eigh(x, UPLO)),
        "_linalg_eigh": lambda at, x, UPLO="L", compute_v=True: tuple(F.eigh(x, UPLO)),
        "linalg_eigvalsh": lambda at, x, UPLO="L": F.eigvalsh(x, UPLO),
        "linalg_eig": lambda at, x: tuple(F.eig(x)),
        "linalg_eigvals _linalg_eigvals": lambda at, x: F.eigvals(x),
        "linalg_svd _linalg_svd": lambda at, x, full_matrices=True, *_, **__: _svd(
            x, full_matrices
        ),
        "linalg_svdvals": lambda at, x, driver=None: F.svdvals(x),
        "linalg_qr": lambda at, x, mode="reduced": (
            tuple(F.qr(x, mode))
            if mode != "r"
            else (
                None,
                F.qr(x, "r"),
            )
        ),
        "linalg_lu": lambda at, x, pivot=True: tuple(F.lu_unpack(*F.lu(x))),
        "linalg_lu_factor": lambda at, x, pivot=True: tuple(F.lu(x)),
        "linalg_lu_factor_ex _lu_with_info": lambda at, x, pivot=True, check_errors=False: (
            *F.lu(x),
            _info(x),
        ),
        "lu_unpack": lambda at, lu, pivots, unpack_data=True, unpack_pivots=True: tuple(
            F.lu_unpack(lu, pivots)
        ),
        "linalg_matrix_exp matrix_exp": lambda at, x: F.matrix_exp(x),
        "linalg_matrix_power matrix_power": lambda at, x, n: F.matrix_power(x, n),
        "linalg_householder_product": lambda at, x, tau: F.householder_product(x, tau),
        "ormqr": lambda at, x, tau, y, left=True, transpose=False: F.ormqr(
            x, tau, y, left, transpose
        ),
        "linalg_multi_dot": lambda at, tensors: F.multi_dot(tensors),
    }
)


def _slogdet(x: Any) -> tuple[Any, Any]:
    made = F.slogdet(x)
    return (made[0], made[1])


@row("aten.linalg_pinv.atol_rtol_tensor", "aten.linalg_pinv.atol_rtol_float")
def _pinv(at: Call, x: Any, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    return _pinv_of(x, atol, rtol, hermitian)


def _pinv_of(x: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    if atol is None and rtol is None:
        rtol = float(max_size(x)) * _epsilon(x)
    if not is_tensor(atol) and not atol:
        return F.pinv(x, rtol, hermitian)
    left, values, right = _svd(x, False)
    most = F.multiply(
        F.amax(values, -1, True), as_tensor(0.0 if rtol is None else rtol, values.dtype)
    )
    limit = F.maximum(most, as_tensor(atol, values.dtype))
    kept = F.greater_than(values, limit)
    inverse = F.where(
        kept, F.reciprocal(F.where(kept, values, F.ones_like(values))), F.zeros_like(values)
    )
    scaled = F.multiply(hermitian_of(right), F.cast(F.unsqueeze(inverse, -2), x.dtype))
    return F.matmul(scaled, hermitian_of(left))


def max_size(x: Any) -> int:
    """The longer side of a matrix."""
    return max(x.shape[-2:])  # type: ignore[no-any-return]


def _epsilon(x: Any) -> float:
    return 2.0**-23 if x.dtype.name in ("float32", "complex64") else 2.0**-52
