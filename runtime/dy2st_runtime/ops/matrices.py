"""Decompositions and solutions: operators on the last two axes, of one matrix or of many."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.dims import (
    Size,
    equal,
    less_equal,
    minimum,
    require,
    require_equal,
    same_shape,
)
from dy2st_runtime.errors import ArgumentError, DTypeError, ShapeError
from dy2st_runtime.ir import F, Sample, TensorType, apply, define, method, public
from dy2st_runtime.ir.arguments import dtype_of
from dy2st_runtime.ir.attribute_kinds import SIZE
from dy2st_runtime.ops.complex_numbers import complex_dtype, real_dtype
from dy2st_runtime.ops.rules import broadcast_shapes, holomorphic

_SQUARES = (Sample(((3, 3),), dtypes=("float64",)), Sample(((2, 2, 2),), dtypes=("float64",)))


def require_matrices(name: str, x: TensorType, square: bool = False) -> None:
    """ShapeError or DTypeError unless x holds (square) matrices of floats."""
    if x.rank < 2:
        raise ShapeError(f"{name} takes matrices, not a tensor of shape {list(x.shape)}")
    if x.dtype.kind not in "fc" or x.dtype.itemsize < 4:
        raise DTypeError(f"{name} takes float32 or float64, not {x.dtype}")
    if square:
        reason = f"{name} takes square matrices, not {list(x.shape)}"
        require_equal(x.shape[-1], x.shape[-2], reason)


def transposed(x: Any) -> Any:
    """The matrices transposed."""
    return F.swapaxes(x, -1, -2)


def adjoint(x: Any) -> Any:
    """The matrices transposed, and conjugated if they are complex."""
    return F.conj(transposed(x)) if dtype_of(x).kind == "c" else transposed(x)


def _real_type(x: TensorType) -> TensorType:
    return x.with_dtype(real_dtype(x.dtype))


def _as(x: Any, of: Any) -> Any:
    """Numbers in the dtype of others."""
    return F.cast(x, dtype_of(of))


# -- inverse and determinant ------------------------------------------------------------------


def _square(name: str, result: Any) -> Any:
    def infer(x: TensorType, **_: Any) -> Any:
        require_matrices(name, x, square=True)
        return result(x)

    return infer


define(
    "inverse",
    doc="The inverse of matrices.",
    inputs="x",
    raises=np.linalg.LinAlgError,
    infer=_square("inverse", lambda x: x),
    kernel=np.linalg.inv,
    takes_complex=True,
    gradient=holomorphic(
        lambda g, y, x: F.neg(F.matmul(F.matmul(transposed(y), g), transposed(y)))
    ),
    samples=_SQUARES,
)


@method
def inverse(x: Any, name: str | None = None) -> Any:
    """The inverse of matrices: (..., n, n) -> (..., n, n); LinAlgError if one has none.

    >>> dy2st.linalg.inv(dy2st.to_tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return apply("inverse", x)


def _wide(g: Any) -> Any:
    return F.unsqueeze(g, [-1, -1])


@holomorphic
def _det_gradient(g: Any, y: Any, x: Any) -> Any:
    """g * det * the transposed inverse; 0 where there is no inverse, as PaddlePaddle has it."""
    one = F.eye(x.shape[-1], dtype=x.dtype)
    regular = F.where(_wide(F.equal(y, 0)), one, x)
    return _wide(g * y) * transposed(F.inverse(regular))


define(
    "det",
    doc="The determinant of matrices.",
    inputs="x",
    infer=_square("det", lambda x: x.with_shape(x.shape[:-2])),
    kernel=np.linalg.det,
    takes_complex=True,
    gradient=_det_gradient,
    samples=_SQUARES,
)


@method
def det(x: Any, name: str | None = None) -> Any:
    """The determinant of matrices: (..., n, n) -> (...).

    >>> print(dy2st.linalg.det(dy2st.to_tensor([[1.0, 2.0], [3.0, 4.0]])).round(3))
    -2.0
    """
    return apply("det", x)


def _slogdet_gradient(g: Any, y: Any, x: Any) -> Any:
    """The sign of complex numbers turns with the imaginary part of the trace of inverse(x) @ dx."""
    has_phase = g[0] is not None and dtype_of(x).kind == "c"
    if g[1] is None and not has_phase:
        return F.zeros_like(x)
    of_size = F.zeros_like(F.real(y[1])) if g[1] is None else g[1]
    of_trace = F.complex(of_size, -F.imag(F.conj(g[0]) * y[0])) if has_phase else _as(of_size, x)
    return _wide(of_trace) * adjoint(F.inverse(x))


define(
    "slogdet",
    doc="The sign of the determinant of matrices, and the logarithm of its magnitude.",
    inputs="x",
    infer=_square(
        "slogdet", lambda x: (x.with_shape(x.shape[:-2]), _real_type(x.with_shape(x.shape[:-2])))
    ),
    kernel=lambda x: tuple(np.linalg.slogdet(x)),
    takes_complex=True,
    gradient=_slogdet_gradient,
    samples=_SQUARES,
)


@method
def slogdet(x: Any, name: str | None = None) -> Any:
    """The sign of the determinant and the logarithm of its magnitude: (..., n, n) -> (2, ...).

    >>> print(dy2st.linalg.slogdet(dy2st.to_tensor([[-1.0, 0.0], [0.0, 1.0]])))
    [-1.  0.]
    """
    sign, size = apply("slogdet", x)
    return F.stack([sign, _as(size, sign)], 0)


# -- solutions --------------------------------------------------------------------------------


def _solve_infer(x: TensorType, y: TensorType) -> TensorType:
    require_matrices("solve", x, square=True)
    require_matrices("solve", y)
    reason = f"solve: {list(x.shape)} does not fit {list(y.shape)}"
    require_equal(x.shape[-1], y.shape[-2], reason)
    batch = broadcast_shapes("solve", x.shape[:-2], y.shape[:-2])
    return x.with_shape((*batch, *y.shape[-2:]))


@holomorphic
def _solve_gradient(g: Any, z: Any, x: Any, y: Any) -> Any:
    of_y = apply("solve", transposed(x), g)
    return (
        lambda: F.sum_to(F.neg(F.matmul(of_y, transposed(z))), x.shape),
        lambda: F.sum_to(of_y, y.shape),
    )


define(
    "solve",
    doc="z with x @ z = y, for matrices x and y.",
    inputs="x, y",
    promote=True,
    raises=np.linalg.LinAlgError,
    infer=_solve_infer,
    kernel=np.linalg.solve,
    takes_complex=True,
    gradient=_solve_gradient,
    samples=(
        Sample(((3, 3), (3, 2)), dtypes=("float64", "float64")),
        Sample(((2, 2), (3, 2, 1)), dtypes=("float64", "float64")),
    ),
)


@method
def solve(x: Any, y: Any, left: bool = True, name: str | None = None) -> Any:
    """z with x @ z = y, or z @ x = y without `left`: (..., n, n), (..., n, k) -> (..., n, k).

    y may be a vector, or one for each x, by its shape. Raises LinAlgError if x is singular.

    >>> x = dy2st.to_tensor([[2.0, 0.0], [0.0, 4.0]])
    >>> dy2st.linalg.solve(x, dy2st.to_tensor([2.0, 8.0])).tolist()
    [1.0, 2.0]
    """
    if y.ndim == 1 or (y.ndim == x.ndim - 1 and same_shape(y.shape, x.shape[:-1])):
        return F.squeeze(solve(x, F.unsqueeze(y, -1), left), -1)
    if not left:
        return transposed(apply("solve", transposed(x), transposed(y)))
    return apply("solve", x, y)


# -- decompositions ---------------------------------------------------------------------------


def _cholesky_gradient(g: Any, y: Any, x: Any) -> Any:
    # The lower triangle with half of the diagonal.
    x = F.matmul(adjoint(y), g)
    middle = F.tril(x) - F.tril(F.triu(x)) * 0.5
    inner = F.matmul(adjoint(F.inverse(y)), F.matmul(middle, F.inverse(y)))
    return (inner + adjoint(inner)) * 0.5


define(
    "cholesky",
    doc="The lower triangular L with L @ L.T = x, of symmetric positive definite matrices.",
    inputs="x",
    raises=np.linalg.LinAlgError,
    infer=_square("cholesky", lambda x: x),
    kernel=np.linalg.cholesky,
    takes_complex=True,
    gradient=_cholesky_gradient,
    samples=(Sample(((1, 1),), dtypes=("float64",), low=0.5),),
)


@method
def cholesky(x: Any, upper: bool = False, name: str | None = None) -> Any:
    """The lower triangular L with L @ L.T = x, or with `upper` U with U.T @ U = x.

    x is symmetric and positive definite, LinAlgError otherwise: (..., n, n) -> (..., n, n). Of
    complex numbers each transposed matrix is conjugated, too.

    >>> dy2st.linalg.cholesky(dy2st.to_tensor([[4.0, 2.0], [2.0, 2.0]])).tolist()
    [[2.0, 0.0], [1.0, 1.0]]
    """
    return adjoint(apply("cholesky", adjoint(x))) if upper else apply("cholesky", x)


def _qr_infer(x: TensorType, complete: bool) -> tuple[TensorType, TensorType]:
    require_matrices("qr", x)
    *batch, rows, columns = x.shape
    inner: Size = rows if complete else minimum(rows, columns)
    return x.with_shape((*batch, rows, inner)), x.with_shape((*batch, inner, columns))


def _qr_gradient(g: Any, y: Any, x: Any, complete: bool) -> Any:
    """Of a wide x = [a, b]: Q @ R of the square a, and b = Q @ (the rest of R)."""
    q, r = y
    rows, columns = x.shape[-2:]
    if complete:
        what = "qr has a gradient for mode 'reduced', or for no more rows than columns"
        require(rows <= columns, what)
    of_q = F.zeros_like(q) if g[0] is None else g[0]
    of_r = F.zeros_like(r) if g[1] is None else g[1]
    if not _is_wide("qr", x):
        return _tall_qr_gradient(of_q, of_r, q, r)
    rest, of_rest = x[..., rows:], of_r[..., rows:]
    of_q = of_q + F.matmul(rest, adjoint(of_rest))
    of_square = _tall_qr_gradient(of_q, of_r[..., :rows], q, r[..., :rows])
    return F.concat([of_square, F.matmul(q, of_rest)], -1)


def _is_wide(name: str, x: Any) -> bool:
    """Whether matrices have more columns than rows: required, if the sizes do not tell."""
    rows, columns = x.shape[-2:]
    if equal(rows, columns) is True or less_equal(columns, rows) is True:
        return False
    require(rows < columns, f"{name}: whether {x.shape} has more columns than rows is not known")
    return True


def _tall_qr_gradient(of_q: Any, of_r: Any, q: Any, r: Any) -> Any:
    middle = F.matmul(r, adjoint(of_r)) - F.matmul(adjoint(of_q), q)
    whole = F.tril(middle, -1)
    diagonal = F.tril(F.triu(middle))
    whole = whole + adjoint(whole) + (diagonal + adjoint(diagonal)) * 0.5
    return adjoint(apply("solve", r, adjoint(of_q + F.matmul(q, whole))))


define(
    "qr",
    doc="Q with orthonormal columns and the upper triangular R with Q @ R = x.",
    inputs="x",
    attributes={"complete": False},
    infer=_qr_infer,
    kernel=lambda x, complete: tuple(np.linalg.qr(x, "complete" if complete else "reduced")),
    takes_complex=True,
    gradient=_qr_gradient,
    samples=(
        Sample(((3, 2),), dtypes=("float64",)),
        Sample(((2, 3),), dtypes=("float64",)),
        Sample(((2, 2, 2),), {"complete": True}, ("float64",)),
    ),
)


@method
def qr(x: Any, mode: str = "reduced", name: str | None = None) -> Any:
    """Q with orthonormal columns and the upper triangular R with Q @ R = x.

    mode: 'reduced' (..., n, k), (..., k, m) with k = min(n, m), 'complete' with k = n, or 'r' for
    R alone.

    >>> q, r = dy2st.linalg.qr(dy2st.to_tensor([[3.0, 1.0], [4.0, 2.0]]))
    >>> print((q @ r).round(3), q.shape)
    [[3. 1.]
     [4. 2.]] [2, 2]
    """
    if mode not in ("reduced", "complete", "r"):
        raise ArgumentError(f"qr: the mode is 'reduced', 'complete' or 'r', not {mode!r}")
    q, r = apply("qr", x, complete=mode == "complete")
    return r if mode == "r" else (q, r)


def _gaps(values: Any) -> Any:
    """1 / (v[j] - v[i]) off the diagonal, 0 on it."""
    differences = F.unsqueeze(values, -2) - F.unsqueeze(values, -1)
    eye = F.eye(values.shape[-1], dtype=values.dtype)
    return (1 - eye) / (differences + eye)


def _svd_infer(x: TensorType, full: bool) -> tuple[TensorType, ...]:
    require_matrices("svd", x)
    *batch, rows, columns = x.shape
    count = minimum(rows, columns)
    left, right = (rows, columns) if full else (count, count)
    shapes = ((*batch, rows, left), (*batch, count), (*batch, right, columns))
    made = [x.with_shape(shape) for shape in shapes]
    return made[0], _real_type(made[1]), made[2]


def _svd_gradient(g: Any, y: Any, x: Any, full: bool) -> Any:
    u, s, vh = y
    of_u, of_vh = g[0], g[2]
    if full:
        count = minimum(*x.shape[-2:])
        of_u = None if of_u is None else _of_first_columns(of_u, u, count)
        if of_vh is not None:
            of_vh = adjoint(_of_first_columns(adjoint(of_vh), adjoint(vh), count))
        u, vh = u[..., :count], vh[..., :count, :]
    of_s = F.zeros_like(s) if g[1] is None else g[1]
    made = F.matmul(u * _as(F.unsqueeze(of_s, -2), u), vh)
    gaps = _as(_gaps(s * s), u)
    s = _as(s, u)
    row, column = F.unsqueeze(s, -2), F.unsqueeze(s, -1)
    if of_u is not None:
        odd = _odd(F.matmul(adjoint(u), of_u))
        outside = of_u - F.matmul(u, F.matmul(adjoint(u), of_u))
        spread = gaps * odd * row
        if dtype_of(x).kind == "c":
            spread = spread + F.tril(F.triu(odd)) / (2 * row)
        made = made + F.matmul(F.matmul(u, spread) + outside / row, vh)
    if of_vh is not None:
        v, of_v = adjoint(vh), adjoint(of_vh)
        spread = gaps * _odd(F.matmul(vh, of_v))
        outside = of_v - F.matmul(v, F.matmul(vh, of_v))
        made = made + F.matmul(u, column * F.matmul(spread, vh) + adjoint(outside / row))
    return made


def _of_first_columns(of_u: Any, u: Any, count: Any) -> Any:
    """The gradient of the first columns of a unitary matrix: the others stay at right angles."""
    rest, of_rest = u[..., count:], of_u[..., count:]
    along = F.matmul(adjoint(of_rest), u[..., :count])
    return of_u[..., :count] - F.matmul(rest, along)


def _odd(x: Any) -> Any:
    return x - adjoint(x)


define(
    "svd",
    doc="U, s and V.T with U @ diag(s) @ V.T = x, s in descending order.",
    inputs="x",
    attributes={"full": False},
    raises=np.linalg.LinAlgError,
    infer=_svd_infer,
    kernel=lambda x, full: tuple(np.linalg.svd(x, full_matrices=full)),
    takes_complex=True,
    gradient=_svd_gradient,
    samples=(
        Sample(((3, 2),), dtypes=("float64",)),
        Sample(((2, 2, 3),), dtypes=("float64",)),
    ),
)


@method
def svd(x: Any, full_matrices: bool = False, name: str | None = None) -> Any:
    """U, s and V.T with U @ diag(s) @ V.T = x: (..., n, m) -> (..., n, k), (..., k), (..., k, m).

    k = min(n, m); with full_matrices U is (..., n, n) and V.T (..., m, m). Of complex numbers V.T
    is conjugated, and s is real.

    >>> u, s, vt = dy2st.linalg.svd(dy2st.to_tensor([[0.0, 2.0], [3.0, 0.0], [0.0, 0.0]]))
    >>> print(s, u.shape, vt.shape)
    [3. 2.] [3, 2] [2, 2]
    """
    return apply("svd", x, full=bool(full_matrices))


def _eigh_gradient(g: Any, y: Any, x: Any, upper: bool) -> Any:
    values, vectors = y
    of_values = F.zeros_like(values) if g[0] is None else g[0]
    middle = _as(F.unsqueeze(of_values, -1) * F.eye(x.shape[-1], dtype=values.dtype), x)
    if g[1] is not None:
        middle = middle + _as(_gaps(values), x) * F.matmul(adjoint(vectors), g[1])
    whole = F.matmul(vectors, F.matmul(middle, adjoint(vectors)))
    return (whole + adjoint(whole)) * 0.5


define(
    "eigh",
    doc="The eigenvalues of symmetric matrices in ascending order, and their vectors as columns.",
    inputs="x",
    attributes={"upper": False},
    raises=np.linalg.LinAlgError,
    infer=_square("eigh", lambda x: (_real_type(x.with_shape(x.shape[:-1])), x)),
    kernel=lambda x, upper: tuple(np.linalg.eigh(x, "U" if upper else "L")),
    takes_complex=True,
    gradient=_eigh_gradient,
    samples=(Sample(((1, 1),), dtypes=("float64",)),),
)


@method
def eigh(x: Any, UPLO: str = "L", name: str | None = None) -> Any:
    """The eigenvalues of symmetric matrices in order, and their vectors as columns.

    (..., n, n) -> (..., n), (..., n, n); one triangle is read, the lower with 'L'. Complex matrices
    are Hermitian, and their eigenvalues real.

    >>> values, vectors = dy2st.linalg.eigh(dy2st.to_tensor([[2.0, 1.0], [1.0, 2.0]]))
    >>> print(values.round(3), vectors.shape)
    [1. 3.] [2, 2]
    """
    if UPLO not in ("L", "U"):
        raise ArgumentError(f"eigh: UPLO is 'L' or 'U', not {UPLO!r}")
    return apply("eigh", x, upper=UPLO == "U")


def _eig_infer(x: TensorType) -> tuple[TensorType, TensorType]:
    require_matrices("eig", x, square=True)
    made = x if x.dtype.kind == "c" else x.with_dtype(complex_dtype("eig", x.dtype))
    return made.with_shape(x.shape[:-1]), made


def _eig_gradient(g: Any, y: Any, x: Any) -> Any:
    """Of vectors of length 1, whose angles no result may depend on."""
    values, vectors = y
    across, eye = adjoint(vectors), F.eye(x.shape[-1], dtype=values.dtype)
    of_values = F.zeros_like(values) if g[0] is None else g[0]
    middle = F.unsqueeze(of_values, -2) * eye
    if g[1] is not None:
        projected = F.matmul(across, g[1])
        along = _as(F.unsqueeze(F.diagonal(F.real(projected), 0, -2, -1), -2), projected)
        middle = middle + F.conj(_gaps(values)) * (projected - F.matmul(across, vectors) * along)
    made = apply("solve", across, F.matmul(middle, across))
    return made if dtype_of(x).kind == "c" else F.real(made)


define(
    "eig",
    doc="The eigenvalues of square matrices, and their vectors as columns: complex numbers.",
    inputs="x",
    raises=np.linalg.LinAlgError,
    infer=_eig_infer,
    kernel=lambda x: tuple(
        part.astype(np.result_type(x.dtype, np.complex64), copy=False) for part in np.linalg.eig(x)
    ),
    takes_complex=True,
    gradient=_eig_gradient,
    samples=(Sample(((1, 1),), dtypes=("float64",)),),
)


@method
def eig(x: Any, name: str | None = None) -> Any:
    """The eigenvalues of square matrices, and their vectors of length 1 as columns.

    (..., n, n) -> (..., n), (..., n, n), both complex, in no order.

    >>> values, vectors = dy2st.linalg.eig(dy2st.to_tensor([[0.0, 1.0], [-1.0, 0.0]]))
    >>> print(values.imag().sort(), vectors.shape)
    [-1.  1.] [2, 2]
    """
    return apply("eig", x)


@method
def eigvals(x: Any, name: str | None = None) -> Any:
    """The eigenvalues of square matrices, complex, in no order: (..., n, n) -> (..., n).

    >>> values = dy2st.linalg.eigvals(dy2st.to_tensor([[0.0, 1.0], [-1.0, 0.0]]))
    >>> print(values.imag().sort())
    [-1.  1.]
    """
    return apply("eig", x)[0]


def _lu_infer(x: TensorType) -> tuple[TensorType, TensorType]:
    require_matrices("lu", x)
    count = minimum(*x.shape[-2:])
    return x, TensorType("int32", (*x.shape[:-2], count))


def _lu_kernel(x: Any) -> Any:
    """Gauss's elimination with the largest element of a column as pivot, all matrices at once."""
    rows, columns = x.shape[-2:]
    made = x.reshape((int(np.prod(x.shape[:-2])), rows, columns)).copy()
    pivots = np.zeros((len(made), min(rows, columns)), np.int32)
    every = np.arange(len(made))
    for k in range(pivots.shape[1]):
        best = k + _lengths(made[:, k:, k]).argmax(1)
        pivots[:, k] = best + 1
        made[every, k], made[every, best] = made[every, best], made[every, k].copy()
        top = made[:, k, k]
        made[:, k + 1 :, k] /= np.where(top == 0, 1, top)[:, None]
        made[:, k + 1 :, k + 1 :] -= made[:, k + 1 :, k, None] * made[:, k, None, k + 1 :]
    return made.reshape(x.shape), pivots.reshape((*x.shape[:-2], pivots.shape[1]))


def _lengths(x: Any) -> Any:
    """What LAPACK compares pivots by: of complex numbers no absolute values."""
    return np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x)


def _lu_gradient(g: Any, y: Any, x: Any) -> Any:
    """By the square part; what is beside or below it solves a triangular system of it."""
    packed, pivots = y
    rows, columns = x.shape[-2:]
    is_wide, is_square = _is_wide("lu", x), equal(rows, columns) is True
    size = rows if is_wide else columns
    square, of_square = packed[..., :size, :size], g[0][..., :size, :size]
    lower, upper = F.tril(square, -1) + F.eye(size, dtype=x.dtype), F.triu(square)
    of_lower = of_upper = of_square
    beyond: Any = None
    if is_wide:
        beyond = apply("solve", adjoint(lower), g[0][..., size:])
        of_lower = of_square - F.matmul(beyond, adjoint(packed[..., size:]))
    elif not is_square:
        beyond = adjoint(apply("solve", upper, adjoint(g[0][..., size:, :])))
        of_upper = of_square - F.matmul(adjoint(packed[..., size:, :]), beyond)
    inner = F.tril(F.matmul(adjoint(lower), F.tril(of_lower, -1)), -1)
    inner = inner + F.triu(F.matmul(F.triu(of_upper), adjoint(upper)))
    made = adjoint(apply("solve", upper, adjoint(apply("solve", adjoint(lower), inner))))
    if beyond is not None:
        made = F.concat([made, beyond], -1 if is_wide else -2)
    order = apply("lu_order", pivots, rows=rows)
    return F.matmul(order_matrix(order, x.dtype), made)


def order_matrix(order: Any, dtype: Any) -> Any:
    """P with P[order[i], i] = 1, so that P.T @ x has the rows of x in that order."""
    rows = F.arange(order.shape[-1])
    return F.cast(F.equal(F.unsqueeze(rows, -1), F.unsqueeze(order, -2)), dtype)


def _order_kernel(pivots: Any, rows: int) -> Any:
    flat = pivots.reshape((int(np.prod(pivots.shape[:-1])), pivots.shape[-1]))
    order = np.tile(np.arange(rows), (len(flat), 1))
    every = np.arange(len(flat))
    for k in range(flat.shape[1]):
        other = flat[:, k] - 1
        order[every, k], order[every, other] = order[every, other], order[every, k].copy()
    return order.reshape((*pivots.shape[:-1], rows))


define(
    "lu",
    doc="L below the diagonal and U, with x = P @ L @ U, and which rows were exchanged (from 1).",
    inputs="x",
    infer=_lu_infer,
    kernel=_lu_kernel,
    takes_complex=True,
    gradient=_lu_gradient,
    samples=(
        *_SQUARES,
        Sample(((3, 2),), dtypes=("float64",)),
        Sample(((2, 2, 3),), dtypes=("float64",)),
    ),
)
define(
    "lu_order",
    doc="The order of rows that exchanges (from 1) of row after row make.",
    inputs="pivots",
    attributes={"rows": SIZE},
    raises=IndexError,
    infer=lambda pivots, rows: TensorType("int64", (*pivots.shape[:-1], rows)),
    kernel=_order_kernel,
    samples=(Sample(((1,),), {"rows": 2}, ("int32",), 1, 3),),
)


# -- the exponential --------------------------------------------------------------------------


def _exponential(x: Any) -> Any:
    """By halving until the norm is below 1/2, a sum of 18 powers, and squaring again."""
    norms = np.abs(x).sum(-1).max(-1) if x.size else np.zeros(x.shape[:-2])
    largest = float(np.max(norms, initial=0.0))
    halvings = max(0, int(np.ceil(np.log2(largest))) + 1) if np.isfinite(largest) and largest else 0
    scaled = x / x.dtype.type(2.0**halvings)
    power = total = np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape)
    for order in range(1, 19):
        power = power @ scaled / x.dtype.type(order)
        total = total + power
    for _ in range(halvings):
        total = total @ total
    return total


@holomorphic
def _exponential_gradient(g: Any, y: Any, x: Any) -> Any:
    """The upper right block of exp([[x.T, g], [0, x.T]])."""
    size, across = x.shape[-1], transposed(x)
    above = F.concat([across, g], -1)
    below = F.concat([F.zeros_like(x), across], -1)
    return apply("matrix_exp", F.concat([above, below], -2))[..., :size, size:]


define(
    "matrix_exp",
    doc="The sum of x**k / k! over all k, of matrices.",
    inputs="x",
    infer=_square("matrix_exp", lambda x: x),
    kernel=_exponential,
    takes_complex=True,
    gradient=_exponential_gradient,
    samples=_SQUARES,
)


@public
def matrix_exp(x: Any, name: str | None = None) -> Any:
    """The exponential of matrices, sum of x**k / k! over all k: (..., n, n) -> (..., n, n).

    >>> dy2st.linalg.matrix_exp(dy2st.to_tensor([[0.0, 1.0], [0.0, 0.0]])).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    return apply("matrix_exp", x)
