"""Linear algebra: composites of the operators on matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import equal, minimum, require_equal
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F, Sample, TensorType, apply, define, method, public
from dy2st_runtime.ir.arguments import as_int, normalize_axis, shape_of
from dy2st_runtime.ops.matrices import adjoint, order_matrix, require_matrices, transposed

# -- products ---------------------------------------------------------------------------------


@method
def matrix_power(x: Any, n: int, name: str | None = None) -> Any:
    """x @ x @ ..., n times; of the inverse for n below 0: (..., n, n) -> (..., n, n).

    >>> dy2st.linalg.matrix_power(dy2st.to_tensor([[1.0, 1.0], [0.0, 1.0]]), 3).tolist()
    [[1.0, 3.0], [0.0, 1.0]]
    """
    count = as_int(n, "n")
    base, count = (F.inverse(x), -count) if count < 0 else (x, count)
    made = None if count else F.broadcast_to(F.eye(x.shape[-1], dtype=x.dtype), x.shape)
    while count:
        if count % 2:
            made = base if made is None else F.matmul(made, base)
        count //= 2
        base = F.matmul(base, base) if count else base
    return F.assign(made) if made is x else made


@method
def multi_dot(x: Sequence[Any], name: str | None = None) -> Any:
    """The product of several matrices; the first and the last may be vectors.

    (n, k), (k, l), (l, m) -> (n, m).

    >>> parts = [dy2st.ones([2, 3]), dy2st.ones([3, 4]), dy2st.ones([4])]
    >>> dy2st.linalg.multi_dot(parts).tolist()
    [12.0, 12.0]
    """
    made = x[0]
    for factor in x[1:]:
        made = F.matmul(made, factor)
    return made


@method
def vecdot(x: Any, y: Any, axis: int = -1, name: str | None = None) -> Any:
    """The sums of products conj(x) * y along an axis: (..., n), (..., n) -> (...).

    >>> dy2st.linalg.vecdot(dy2st.to_tensor([1.0, 2.0]), dy2st.to_tensor([3.0, 4.0])).item()
    11.0
    """
    return F.sum(F.multiply(F.conj(x) if x.dtype.kind == "c" else x, y), axis)


@method
def cross(x: Any, y: Any, axis: int = 9, name: str | None = None) -> Any:
    """The cross products along an axis of size 3: the first such axis, if none is given.

    (..., 3), (..., 3) -> (..., 3).

    >>> dy2st.cross(dy2st.to_tensor([1, 0, 0]), dy2st.to_tensor([0, 1, 0])).tolist()
    [0, 0, 1]
    """
    if axis == 9:
        found = [i for i, size in enumerate(x.shape) if equal(size, 3) is True]
        if not found:
            raise ShapeError(f"cross: no axis of {x.shape} has the size 3")
        axis = found[0]
    axis = normalize_axis(axis, x.ndim)
    for t in (x, y):
        require_equal(t.shape[axis], 3, f"cross: axis {axis} of {t.shape} has not 3 elements")
    before = (slice(None),) * axis
    a, b = ([t[(*before, i)] for i in range(3)] for t in (x, y))
    cycles = ((1, 2), (2, 0), (0, 1))
    return F.stack([a[i] * b[j] - a[j] * b[i] for i, j in cycles], axis)


@method
def baddbmm(
    input: Any, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0, name: str | None = None
) -> Any:
    """beta * input + alpha * x @ y: (b, n, m), (b, n, k), (b, k, m) -> (b, n, m).

    With beta = 0 the input does not count, be it NaN.

    >>> dy2st.baddbmm(dy2st.ones([1, 1, 1]), dy2st.ones([1, 1, 2]), dy2st.ones([1, 2, 1])).tolist()
    [[[3.0]]]
    """
    product = F.multiply(F.bmm(x, y), alpha)
    return F.add(F.multiply(input, beta), product) if beta else product


# -- values of matrices -----------------------------------------------------------------------


@method
def eigvalsh(x: Any, UPLO: str = "L", name: str | None = None) -> Any:
    """The eigenvalues of symmetric matrices in ascending order: (..., n, n) -> (..., n).

    >>> print(dy2st.linalg.eigvalsh(dy2st.to_tensor([[2.0, 1.0], [1.0, 2.0]])).round(3))
    [1. 3.]
    """
    return F.eigh(x, UPLO)[0]


@public
def svdvals(x: Any, name: str | None = None) -> Any:
    """The singular values of matrices in descending order: (..., n, m) -> (..., min(n, m)).

    >>> print(dy2st.linalg.svdvals(dy2st.to_tensor([[0.0, 2.0], [3.0, 0.0]])))
    [3. 2.]
    """
    return F.svd(x)[1]


def _each(limit: Any, values: Any) -> Any:
    """A limit for all matrices, or one for each, beside their singular values."""
    made = F.cast(limit, values.dtype)
    return F.unsqueeze(made, -1) if made.ndim else made


@method
def matrix_rank(
    x: Any,
    tol: Any = None,
    hermitian: bool = False,
    atol: Any = None,
    rtol: Any = None,
    name: str | None = None,
) -> Any:
    """How many singular values are above a tolerance: (..., n, m) -> (...), int64.

    >>> dy2st.linalg.matrix_rank(dy2st.to_tensor([[1.0, 2.0], [2.0, 4.0]])).item()
    1
    """
    x = F.detach(x)
    values = F.abs(eigvalsh(x)) if hermitian else svdvals(x)
    if equal(values.shape[-1], 0) is True:
        return F.zeros(values.shape[:-1], "int64")
    # What singular values must be above to count.
    shape = shape_of(x)
    top = F.max(values, -1, keepdim=True)
    if tol is not None:
        limit = _each(tol, values)
    else:
        eps = 1.1920928955078125e-07 if values.dtype.itemsize == 4 else 2.220446049250313e-16
        if atol is None and rtol is None:
            larger = F.cast(F.maximum(shape[-1], shape[-2]), values.dtype)
            limit = F.multiply(top, larger) * eps
        else:
            relative = F.multiply(top, 0.0 if rtol is None else _each(rtol, values))
            limit = relative if atol is None else F.maximum(relative, _each(atol, values))
    above = F.greater_than(values, limit)
    return F.sum(F.cast(above, "int64"), -1)


def _pinv_infer(x: TensorType, rcond: TensorType, hermitian: bool) -> TensorType:
    require_matrices("pinv", x, square=hermitian)
    *batch, rows, columns = x.shape
    return x.with_shape((*batch, columns, rows))


def _pinv_kernel(x: Any, rcond: Any, hermitian: bool) -> Any:
    if hermitian:
        values, left = np.linalg.eigh(x)
        right, sizes = left.conj().mT, np.abs(values)
    else:
        left, values, right = np.linalg.svd(x, full_matrices=False)
        sizes = values
    largest = sizes.max(-1, keepdims=True, initial=0)
    is_kept = sizes > largest * rcond.astype(sizes.dtype)
    inverted = np.divide(1, values, out=np.zeros_like(values), where=is_kept)
    return np.matmul(right.conj().mT * inverted[..., None, :], left.conj().mT)


def _pinv_gradient(g: Any, y: Any, x: Any, rcond: Any, hermitian: bool) -> Any:
    """For as long as the rank stays what it is."""
    if hermitian:  # one triangle is read
        x = F.tril(x) + adjoint(F.tril(x, -1))
    across, back = adjoint(y), adjoint(g)
    wide, tall = F.matmul(back, F.matmul(y, across)), F.matmul(F.matmul(across, y), back)
    made = wide - F.matmul(x, F.matmul(y, wide)) + tall - F.matmul(F.matmul(tall, y), x)
    made = made - F.matmul(across, F.matmul(g, across))
    return (made + adjoint(made)) * 0.5 if hermitian else made, None


define(
    "pinv",
    doc="The pseudoinverse of matrices; singular values up to rcond * the largest count as 0.",
    inputs="x, rcond",
    attributes={"hermitian": False},
    raises=np.linalg.LinAlgError,
    infer=_pinv_infer,
    kernel=_pinv_kernel,
    takes_complex=True,
    gradient=_pinv_gradient,
    samples=(
        Sample(((3, 2), ()), dtypes=("float64", "float64"), low=0.0, high=0.1),
        Sample(((1, 1), ()), {"hermitian": True}, ("float64", "float64"), 0.1, 0.9),
    ),
)


@method
def pinv(x: Any, rcond: Any = 1e-15, hermitian: bool = False, name: str | None = None) -> Any:
    """The pseudoinverse: (..., n, m) -> (..., m, n); singular values up to rcond * the largest
    count as 0.

    >>> print(dy2st.linalg.pinv(dy2st.to_tensor([[2.0, 0.0], [0.0, 0.0]])))
    [[0.5 0. ]
     [0.  0. ]]
    """
    return apply("pinv", x, F.detach(F.cast(rcond, "float64")), hermitian=bool(hermitian))


# -- norms ------------------------------------------------------------------------------------


@public
def matrix_norm(
    x: Any, p: Any = "fro", axis: Any = (-2, -1), keepdim: bool = False, name: str | None = None
) -> Any:
    """The norm of matrices along two axes: 'fro', 'nuc', 1, -1, 2, -2, inf or -inf.

    (..., n, m) -> (...).

    >>> x = dy2st.to_tensor([[1.0, -2.0], [2.0, 4.0]])
    >>> dy2st.linalg.matrix_norm(x).item(), dy2st.linalg.matrix_norm(x, 1).item()
    (5.0, 6.0)
    """
    rows, columns = (normalize_axis(a, x.ndim) for a in axis)
    order = [a for a in range(x.ndim) if a not in (rows, columns)] + [rows, columns]
    made = _matrix_norm(F.transpose(x, order), p)
    if not keepdim:
        return made
    sizes = shape_of(made)
    for place in sorted((rows, columns)):
        sizes.insert(place, 1)
    return F.reshape(made, sizes)


def _matrix_norm(x: Any, p: Any) -> Any:
    """Of the last two axes."""
    if p == "fro":
        return F.vector_norm(x, 2.0, [-2, -1])
    if p == "nuc":
        return F.sum(svdvals(x), -1)
    if p in (2, -2):
        return (F.max if p > 0 else F.min)(svdvals(x), -1)
    if p in (1, -1, math.inf, -math.inf):
        sums = F.sum(F.abs(x), -2 if abs(p) == 1 else -1)
        return (F.max if p > 0 else F.min)(sums, -1)
    raise ArgumentError(f"matrix_norm: p is 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, not {p!r}")


@public
def condition_number(x: Any, p: Any = None, name: str | None = None) -> Any:
    """The norm of a matrix times that of its inverse; without p that of the largest singular value
    over the smallest: (..., n, n) -> (...).

    >>> dy2st.linalg.cond(dy2st.to_tensor([[1.0, 0.0], [0.0, 4.0]])).item()
    4.0
    """
    if p in (None, 2, -2):
        values = svdvals(x)
        if equal(values.shape[-1], 0) is True:
            return F.zeros(values.shape[:-1], values.dtype)
        first, last = values[..., 0], values[..., -1]
        return first / last if p != -2 else last / first
    return F.multiply(_matrix_norm(x, p), _matrix_norm(F.inverse(x), p))


# -- solutions --------------------------------------------------------------------------------


@method
def triangular_solve(
    x: Any,
    y: Any,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
    name: str | None = None,
) -> Any:
    """z with x @ z = y for a triangular x, whose other triangle is not read.

    (..., n, n) and (..., n, k) -> (..., n, k).

    transpose: x.T @ z = y. unitriangular: the diagonal counts as 1.

    >>> x = dy2st.to_tensor([[1.0, 1.0], [99.0, 2.0]])
    >>> dy2st.linalg.triangular_solve(x, dy2st.to_tensor([[5.0], [4.0]])).tolist()
    [[3.0], [2.0]]
    """
    if unitriangular:
        eye = F.eye(x.shape[-1], dtype=x.dtype)
        x = F.add(F.triu(x, 1) if upper else F.tril(x, -1), eye)
    else:
        x = F.triu(x) if upper else F.tril(x)
    return F.solve(transposed(x) if transpose else x, y)


@method
def cholesky_solve(x: Any, y: Any, upper: bool = False, name: str | None = None) -> Any:
    """z with y @ y.T @ z = x for a lower triangular y, or y.T @ y @ z = x with `upper`.

    (..., n, n) and (..., n, k) -> (..., n, k).

    Of complex numbers y.T is conjugated.

    >>> y = dy2st.to_tensor([[2.0, 0.0], [0.0, 1.0]])
    >>> dy2st.linalg.cholesky_solve(dy2st.to_tensor([[8.0], [3.0]]), y).tolist()
    [[2.0], [3.0]]
    """
    conjugate = F.conj(y) if y.dtype.kind == "c" else y
    middle = triangular_solve(conjugate if upper else y, x, upper, transpose=upper)
    return triangular_solve(y if upper else conjugate, middle, upper, transpose=not upper)


@method
def cholesky_inverse(x: Any, upper: bool = False, name: str | None = None) -> Any:
    """The inverse of x @ x.T for a lower triangular x, or of x.T @ x with `upper`.

    (..., n, n) -> (..., n, n).

    >>> dy2st.linalg.cholesky_inverse(dy2st.to_tensor([[2.0, 0.0], [0.0, 1.0]])).tolist()
    [[0.25, 0.0], [0.0, 1.0]]
    """
    return cholesky_solve(F.eye(x.shape[-1], dtype=x.dtype), x, upper)


@method
def lstsq(
    x: Any, y: Any, rcond: float | None = None, driver: str | None = None, name: str | None = None
) -> tuple[Any, Any, Any, Any]:
    """z with the least |x @ z - y|, the squared distances, the rank, the singular values.

    (..., n, m), (..., n, k) -> (..., m, k), (..., k), (...), (..., min(n, m)). The distances have
    no elements for the driver 'gelsy' (the default) or if x has no more rows than columns, the
    singular values none for 'gels' and 'gelsy'. All drivers compute the same.

    >>> x, y = dy2st.to_tensor([[1.0], [1.0], [1.0]]), dy2st.to_tensor([[1.0], [2.0], [6.0]])
    >>> print(dy2st.linalg.lstsq(x, y)[0].round(3))
    [[3.]]
    """
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise ArgumentError(f"lstsq: there is no driver {driver!r}")
    values = F.detach(svdvals(x))
    eps = 1.1920928955078125e-07 if values.dtype.itemsize == 4 else 2.220446049250313e-16
    limit = rcond if rcond is not None else F.cast(F.maximum(*x.shape[-2:]), values.dtype) * eps
    solution = F.matmul(pinv(x, limit), y)
    rank = F.zeros(values.shape[:-1], "int32")
    if equal(values.shape[-1], 0) is not True:
        top = F.max(values, -1, keepdim=True)
        rank = F.sum(F.cast(F.greater_than(values, F.multiply(top, limit)), "int32"), -1)
    apart = F.sum(F.square(F.abs(F.subtract(F.matmul(x, solution), y))), -2)
    nothing = F.zeros([0], values.dtype)
    if driver in (None, "gelsy") or (x.shape[-2] > x.shape[-1]) is not True:
        apart = nothing
    values = values if driver in ("gelsd", "gelss") else nothing
    return solution, apart, F.cast(rank, "int32"), values


@method
def lu(x: Any, pivot: bool = True, get_infos: bool = False, name: str | None = None) -> Any:
    """L below the diagonal and U in one, with x = P @ L @ U, and the rows exchanged (from 1).

    (..., n, m) -> (..., n, m), (..., min(n, m)) int32; with get_infos also where a pivot is 0 (0 if
    nowhere). `lu_unpack` takes them apart.

    >>> factors, rows = dy2st.linalg.lu(dy2st.to_tensor([[0.0, 1.0], [2.0, 3.0]]))
    >>> factors.tolist(), rows.tolist()
    ([[2.0, 3.0], [0.0, 1.0]], [2, 2])
    """
    if not pivot:
        raise ArgumentError("lu: rows are always exchanged; pivot=False is not here")
    packed, pivots = apply("lu", x)
    if not get_infos:
        return packed, pivots
    is_zero = F.equal(F.diagonal(F.detach(packed), 0, -2, -1), 0)
    first = F.argmax(F.cast(is_zero, "int64"), -1) + 1
    infos = F.where(F.any(is_zero, -1), first, F.zeros_like(first))
    return packed, pivots, F.cast(infos, "int32")


@method
def lu_unpack(
    x: Any,
    y: Any,
    unpack_ludata: bool = True,
    unpack_pivots: bool = True,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """P, L and U with P @ L @ U = the matrix of which `lu` gave x and y; None of what is not asked
    for.

    >>> x = dy2st.to_tensor([[0.0, 1.0], [2.0, 3.0]])
    >>> p, l, u = dy2st.linalg.lu_unpack(*dy2st.linalg.lu(x))
    >>> p.tolist(), u.tolist(), (p @ l @ u).tolist() == x.tolist()
    ([[0.0, 1.0], [1.0, 0.0]], [[2.0, 3.0], [0.0, 1.0]], True)
    """
    rows, columns = x.shape[-2:]
    count = minimum(rows, columns)
    order = order_matrix(apply("lu_order", y, rows=rows), x.dtype) if unpack_pivots else None
    if not unpack_ludata:
        return order, None, None
    lower = F.add(F.tril(x[..., :count], -1), F.eye(rows, count, dtype=x.dtype))
    return order, lower, F.triu(x[..., :count, :])


@public
def lu_solve(b: Any, lu: Any, pivots: Any, trans: str = "N", name: str | None = None) -> Any:
    """z with x @ z = b for the x of which `lu` gave the others; x.T @ z = b with trans 'T'.

    (..., n, k) -> (..., n, k).

    >>> x = dy2st.to_tensor([[0.0, 1.0], [2.0, 3.0]])
    >>> dy2st.linalg.lu_solve(dy2st.to_tensor([[1.0], [5.0]]), *dy2st.linalg.lu(x)).tolist()
    [[1.0], [1.0]]
    """
    order, lower, upper = lu_unpack(lu, pivots)
    if trans == "N":
        return F.solve(upper, F.solve(lower, F.matmul(transposed(order), b)))
    if trans not in ("T", "C"):
        raise ArgumentError(f"lu_solve: trans is 'N', 'T' or 'C', not {trans!r}")
    across = transposed if trans == "T" else adjoint
    return F.matmul(order, F.solve(across(lower), F.solve(across(upper), b)))


# -- reflections ------------------------------------------------------------------------------


def _reflected(x: Any, tau: Any, y: Any, forwards: bool) -> Any:
    """Q @ y of Q = H1 @ H2 @ ..., or Q.T @ y, with H = I - tau * v @ v.T of the columns of x.

    Of complex numbers what is transposed is conjugated.
    """
    if not forwards and tau.dtype.kind == "c":
        tau = F.conj(tau)
    count = as_int(tau.shape[-1], "the number of reflections")
    below = F.add(F.tril(x, -1), F.eye(x.shape[-2], x.shape[-1], dtype=x.dtype))
    for place in range(count)[:: -1 if forwards else 1]:
        v = below[..., place : place + 1]
        factor = F.unsqueeze(tau[..., place : place + 1], -1)
        y = F.subtract(y, F.multiply(factor, F.matmul(v, F.matmul(adjoint(v), y))))
    return y


@method
def householder_product(x: Any, tau: Any, name: str | None = None) -> Any:
    """The first columns of H1 @ H2 @ ..., reflections at the columns of x: (..., n, m).

    `tau` has the factor of each reflection, as LAPACK's geqrf gives them.

    >>> x, tau = dy2st.to_tensor([[1.0], [1.0]]), dy2st.to_tensor([1.0])
    >>> dy2st.linalg.householder_product(x, tau).tolist()
    [[0.0], [-1.0]]
    """
    eye = F.eye(x.shape[-2], x.shape[-1], dtype=x.dtype)
    return _reflected(x, tau, F.broadcast_to(eye, x.shape), True)


@method
def ormqr(
    x: Any, tau: Any, y: Any, left: bool = True, transpose: bool = False, name: str | None = None
) -> Any:
    """Q @ y for the Q of `householder_product`, Q.T @ y with `transpose`, y @ Q without `left`.

    >>> x, tau = dy2st.to_tensor([[1.0], [1.0]]), dy2st.to_tensor([1.0])
    >>> dy2st.linalg.ormqr(x, tau, dy2st.to_tensor([[2.0], [5.0]])).tolist()
    [[-5.0], [-2.0]]
    """
    if left:
        return _reflected(x, tau, y, not transpose)
    return adjoint(_reflected(x, tau, adjoint(y), transpose))


# -- few dimensions ---------------------------------------------------------------------------


@method
def svd_lowrank(
    x: Any, q: int | None = None, niter: int = 2, M: Any = None, name: str | None = None
) -> tuple[Any, Any, Any]:
    """The q (6) largest singular values of x - M with their vectors: U, s, V; computed exactly.

    (..., n, m) -> (..., n, q), (..., q), (..., m, q).

    >>> u, s, v = dy2st.linalg.svd_lowrank(dy2st.diag(dy2st.to_tensor([3.0, 2.0, 1.0])), q=2)
    >>> print(s.round(3), u.shape, v.shape)
    [3. 2.] [3, 2] [3, 2]
    """
    left, values, right = F.svd(x if M is None else F.subtract(x, M))
    count = minimum(6 if q is None else q, values.shape[-1])
    return left[..., :count], values[..., :count], adjoint(right[..., :count, :])


@method
def pca_lowrank(
    x: Any, q: int | None = None, center: bool = True, niter: int = 2, name: str | None = None
) -> tuple[Any, Any, Any]:
    """`svd_lowrank` of x less the mean of its rows, with `center`.

    (..., n, m) -> (..., n, q), (..., q), (..., m, q).

    >>> x = dy2st.to_tensor([[0.0, 1.0], [2.0, 1.0]])
    >>> u, s, v = dy2st.linalg.pca_lowrank(x, q=1)
    >>> print(s.round(3), dy2st.abs(v).round(3))
    [1.414] [[1.]
     [0.]]
    """
    return svd_lowrank(F.subtract(x, F.mean(x, -2, keepdim=True)) if center else x, q)
