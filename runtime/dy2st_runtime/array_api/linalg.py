"""Linear algebra of the array API."""

from __future__ import annotations

from typing import Any, NamedTuple

from dy2st_runtime.array_api.data_types import finfo, result_type
from dy2st_runtime.array_api.manipulation import matrix_transpose, require_axis
from dy2st_runtime.array_api.reductions import sum as _sum
from dy2st_runtime.dims import equal
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F, apply
from dy2st_runtime.lazy import public_dir


class EighResult(NamedTuple):
    """What `eigh` gives."""

    eigenvalues: Any
    eigenvectors: Any


class QRResult(NamedTuple):
    """What `qr` gives."""

    Q: Any
    R: Any


class SlogdetResult(NamedTuple):
    """What `slogdet` gives."""

    sign: Any
    logabsdet: Any


class SVDResult(NamedTuple):
    """What `svd` gives."""

    U: Any
    S: Any
    Vh: Any


def _alike(x1: Any, x2: Any) -> tuple[Any, Any]:
    dtype = result_type(x1, x2)
    return F.cast(x1, dtype), F.cast(x2, dtype)


def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """L with L @ L^H = x, or with `upper` U with U^H @ U = x.

    >>> dy2st.array_api.linalg.cholesky(dy2st.to_tensor([[4.0, 2.0], [2.0, 2.0]])).tolist()
    [[2.0, 0.0], [1.0, 1.0]]
    """
    return F.cholesky(x, upper)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The cross products along an axis of size 3; the others broadcast.

    >>> linalg = dy2st.array_api.linalg
    >>> linalg.cross(dy2st.to_tensor([1, 0, 0]), dy2st.to_tensor([0, 1, 0])).tolist()
    [0, 0, 1]
    """
    x1, x2 = _alike(x1, x2)
    for one in (x1, x2):
        size = one.shape[require_axis(axis, one.ndim)]
        if equal(size, 3) is False:
            raise ArgumentError(f"cross: an axis of vectors has 3 elements, not {size}")
    x1, x2 = F.broadcast_tensors([x1, x2])
    return F.cross(x1, x2, require_axis(axis, x1.ndim))


def det(x: Any, /) -> Any:
    """The determinants of matrices: (..., n, n) -> (...).

    >>> print(dy2st.array_api.linalg.det(dy2st.to_tensor([[1.0, 2.0], [3.0, 4.0]])).round(3))
    -2.0
    """
    return F.det(x)


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """A diagonal of matrices: (..., n, n) -> (..., n).

    >>> dy2st.array_api.linalg.diagonal(dy2st.to_tensor([[1, 2], [3, 4]])).tolist()
    [1, 4]
    """
    return F.diagonal(x, offset, -2, -1)


def eigh(x: Any, /) -> EighResult:
    """The eigenvalues of symmetric or Hermitian matrices in order, and their vectors.

    >>> found = dy2st.array_api.linalg.eigh(dy2st.to_tensor([[2.0, 1.0], [1.0, 2.0]]))
    >>> print(found.eigenvalues.round(3), found.eigenvectors.shape)
    [1. 3.] [2, 2]
    """
    return EighResult(*F.eigh(x))


def eigvalsh(x: Any, /) -> Any:
    """The eigenvalues of symmetric or Hermitian matrices in order.

    >>> x = dy2st.to_tensor([[2.0, 1.0], [1.0, 2.0]])
    >>> print(dy2st.array_api.linalg.eigvalsh(x).round(3))
    [1. 3.]
    """
    return F.eigvalsh(x)


def inv(x: Any, /) -> Any:
    """The inverses of matrices; LinAlgError if one has none.

    >>> dy2st.array_api.linalg.inv(dy2st.to_tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return F.inverse(x)


def matmul(x1: Any, x2: Any, /) -> Any:
    """The products of matrices; a vector is a row on the left, a column on the right.

    (..., n, k), (..., k, m) -> (..., n, m).

    >>> x = dy2st.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> dy2st.array_api.matmul(x, dy2st.to_tensor([1.0, 10.0])).tolist()
    [21.0, 43.0]
    """
    return F.matmul(*_alike(x1, x2))


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """The norms of matrices: 'fro', 'nuc', 1, -1, 2, -2, inf or -inf; 0 of no elements.

    >>> x = dy2st.to_tensor([[1.0, -2.0], [2.0, 4.0]])
    >>> dy2st.array_api.linalg.matrix_norm(x).item()
    5.0
    """
    if any(equal(size, 0) is True for size in x.shape[-2:]):
        shape = [*x.shape[:-2], *([1, 1] if keepdims else [])]
        return F.zeros(shape, F.abs(x).dtype)
    return F.matrix_norm(x, ord, keepdim=keepdims)


def matrix_power(x: Any, n: int, /) -> Any:
    """The product of n times a matrix; for n below 0 of its inverse.

    >>> x = dy2st.to_tensor([[1.0, 1.0], [0.0, 1.0]])
    >>> dy2st.array_api.linalg.matrix_power(x, 3).tolist()
    [[1.0, 3.0], [0.0, 1.0]]
    """
    return F.matrix_power(x, n)


def _tolerance(x: Any, rtol: Any) -> Any:
    """By default that of the standard: the larger size times what the dtype resolves."""
    rows, columns = x.shape[-2:]
    return F.maximum(rows, columns) * finfo(x.dtype).eps if rtol is None else rtol


def matrix_rank(x: Any, /, *, rtol: Any = None) -> Any:
    """How many singular values are above `rtol` times the largest.

    >>> dy2st.array_api.linalg.matrix_rank(dy2st.to_tensor([[1.0, 2.0], [2.0, 4.0]])).item()
    1
    """
    return F.matrix_rank(x, rtol=F.cast(_tolerance(x, rtol), F.abs(x).dtype))


def outer(x1: Any, x2: Any, /) -> Any:
    """The products of all elements of two vectors: (n,), (m,) -> (n, m).

    >>> x = dy2st.to_tensor([1, 2])
    >>> dy2st.array_api.linalg.outer(x, dy2st.to_tensor([10, 20])).tolist()
    [[10, 20], [20, 40]]
    """
    x1, x2 = _alike(x1, x2)
    return F.multiply(F.unsqueeze(x1, 1), F.unsqueeze(x2, 0))


def pinv(x: Any, /, *, rtol: Any = None) -> Any:
    """The pseudoinverses of matrices; singular values up to rtol * the largest count as 0.

    >>> print(dy2st.array_api.linalg.pinv(dy2st.to_tensor([[2.0, 0.0], [0.0, 0.0]])))
    [[0.5 0. ]
     [0.  0. ]]
    """
    limit = F.cast(_tolerance(x, rtol), "float64")
    return F.pinv(x, F.unsqueeze(limit, -1) if limit.ndim else limit)


def qr(x: Any, /, *, mode: str = "reduced") -> QRResult:
    """Q with orthonormal columns and the upper triangular R with Q @ R = x.

    >>> found = dy2st.array_api.linalg.qr(dy2st.to_tensor([[3.0, 1.0], [4.0, 2.0]]))
    >>> print((found.Q @ found.R).round(3))
    [[3. 1.]
     [4. 2.]]
    """
    if mode not in ("reduced", "complete"):
        raise ArgumentError(f"qr: mode is 'reduced' or 'complete', not {mode!r}")
    return QRResult(*F.qr(x, mode))


def slogdet(x: Any, /) -> SlogdetResult:
    """The signs of determinants, and the logarithms of their magnitudes.

    >>> found = dy2st.array_api.linalg.slogdet(dy2st.to_tensor([[-1.0, 0.0], [0.0, 1.0]]))
    >>> found.sign.item(), found.logabsdet.item()
    (-1.0, 0.0)
    """
    return SlogdetResult(*apply("slogdet", x))


def solve(x1: Any, x2: Any, /) -> Any:
    """z with x1 @ z = x2, a vector or matrices.

    >>> x = dy2st.to_tensor([[2.0, 0.0], [0.0, 4.0]])
    >>> dy2st.array_api.linalg.solve(x, dy2st.to_tensor([2.0, 8.0])).tolist()
    [1.0, 2.0]
    """
    x1, x2 = _alike(x1, x2)
    if x2.ndim != 1:
        return F.solve(x1, x2)
    return F.squeeze(F.solve(x1, F.unsqueeze(x2, -1)), -1)


def svd(x: Any, /, *, full_matrices: bool = True) -> SVDResult:
    """U, S and Vh with U @ diag(S) @ Vh = x.

    >>> found = dy2st.array_api.linalg.svd(dy2st.to_tensor([[0.0, 2.0], [3.0, 0.0]]))
    >>> print(found.S, found.Vh.shape)
    [3. 2.] [2, 2]
    """
    return SVDResult(*F.svd(x, full_matrices))


def svdvals(x: Any, /) -> Any:
    """The singular values of matrices in descending order.

    >>> print(dy2st.array_api.linalg.svdvals(dy2st.to_tensor([[0.0, 2.0], [3.0, 0.0]])))
    [3. 2.]
    """
    return F.svdvals(x)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """The sums of products along pairs of axes: so many last and first ones, or two lists.

    >>> x, y = dy2st.to_tensor([1.0, 2.0]), dy2st.to_tensor([3.0, 4.0])
    >>> dy2st.array_api.tensordot(x, y, axes=1).item()
    11.0
    """
    return F.tensordot(*_alike(x1, x2), axes if isinstance(axes, int) else [*map(list, axes)])


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """The sums along a diagonal of matrices, in the dtypes of `sum`.

    >>> dy2st.array_api.linalg.trace(dy2st.to_tensor([[1, 2], [3, 4]])).item()
    5
    """
    return _sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The sums of conj(x1) * x2 along an axis, which both have; the others broadcast.

    >>> xp = dy2st.array_api
    >>> xp.vecdot(xp.asarray([1, 2]), xp.asarray([[3, 4], [5, 6]])).tolist()
    [11, 17]
    """
    x1, x2 = _alike(x1, x2)
    sizes = [one.shape[require_axis(axis, one.ndim)] for one in (x1, x2)]
    if equal(*sizes) is False:
        raise ArgumentError(f"vecdot: vectors of {sizes[0]} and of {sizes[1]} elements")
    x1, x2 = F.broadcast_tensors([x1, x2])
    return F.cast(F.vecdot(x1, x2, require_axis(axis, x1.ndim)), x1.dtype)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """The norms of vectors along some axes, all by default.

    >>> dy2st.array_api.linalg.vector_norm(dy2st.to_tensor([3.0, -4.0])).item()
    5.0
    """
    axes = None if axis is None else [axis] if isinstance(axis, int) else list(axis)
    if axes == []:
        return F.vector_norm(F.unsqueeze(x, -1), ord, -1)
    return F.vector_norm(x, ord, axes, keepdims)


__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]
__dir__ = public_dir(__name__)
