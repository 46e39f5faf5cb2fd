"""Distances of rows, covariances and correlations."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.dims import equal
from dy2st_runtime.ir import F, method
from dy2st_runtime.ir.arguments import (
    as_int,
    rank_of,
    shape_of,
)
from dy2st_runtime.ops.short_floats import in_float32

# How PaddlePaddle may compute the square: here it is always the sum of squares.
_MODE = "use_mm_for_euclid_dist_if_necessary"


@method
@in_float32
def cdist(
    x: Any, y: Any, p: float = 2.0, compute_mode: str = _MODE, name: str | None = None
) -> Any:
    """The p-norms of the differences of all rows: (..., n, k), (..., m, k) -> (..., n, m).

    >>> x, y = dy2st.zeros([1, 2]), dy2st.to_tensor([[3.0, 4.0], [0.0, 1.0]])
    >>> dy2st.cdist(x, y).tolist(), dy2st.cdist(x, y, p=1.0).tolist()
    ([[5.0, 1.0]], [[7.0, 1.0]])
    """
    return F.norm(F.subtract(F.unsqueeze(x, -2), F.unsqueeze(y, -3)), float(p), -1)


@method
@in_float32
def pdist(x: Any, p: float = 2.0, name: str | None = None) -> Any:
    """The p-norms of the differences of each two rows: (n, k) -> (n * (n - 1) / 2,).

    >>> dy2st.pdist(dy2st.to_tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 4.0]])).tolist()
    [5.0, 4.0, 3.0]
    """
    count = as_int(shape_of(x)[0], "the number of rows of pdist")
    rows, columns = np.triu_indices(count, 1)
    return F.norm(F.subtract(F.gather(x, rows), F.gather(x, columns)), float(p), -1)


@method
@in_float32
def cov(
    x: Any,
    rowvar: bool = True,
    ddof: bool = True,
    fweights: Any = None,
    aweights: Any = None,
    name: str | None = None,
) -> Any:
    """The covariances of the rows (or columns): (n, k) -> (n, n), as `numpy.cov`.

    >>> dy2st.linalg.cov(dy2st.to_tensor([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]])).tolist()
    [[1.0, -2.0], [-2.0, 4.0]]
    """
    rows = F.reshape(x, [1, -1]) if x.ndim == 1 else x if rowvar else F.transpose(x, [1, 0])
    rows = rows if rows.dtype.kind not in "iub" else F.multiply(rows, 1.0)
    given = [F.cast(part, rows.dtype) for part in (fweights, aweights) if part is not None]
    weights = None if not given else given[0] if len(given) == 1 else F.multiply(*given)
    if weights is None:
        total: Any = F.cast(rows.shape[1], rows.dtype)
        centred = F.subtract(rows, F.mean(rows, 1, keepdim=True))
        scaled = centred
    else:
        total = F.sum(weights)
        mean = F.divide(F.sum(F.multiply(rows, weights), 1, keepdim=True), total)
        centred = F.subtract(rows, mean)
        scaled = F.multiply(centred, weights)
    centred = F.conj(centred) if rows.dtype.kind == "c" else centred
    lost: Any = 0.0
    if ddof:
        lost = (
            1.0
            if aweights is None
            else F.divide(F.sum(F.multiply(weights, F.cast(aweights, rows.dtype))), total)
        )
    product = F.divide(F.matmul(scaled, F.transpose(centred, [1, 0])), F.subtract(total, lost))
    return F.reshape(product, []) if equal(rows.shape[0], 1) is True else product


@method
@in_float32
def corrcoef(x: Any, rowvar: bool = True, name: str | None = None) -> Any:
    """The coefficients of correlation of the rows (or columns): (n, k) -> (n, n).

    >>> print(dy2st.linalg.corrcoef(dy2st.to_tensor([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]])).round(3))
    [[ 1. -1.]
     [-1.  1.]]
    """
    covariance = cov(x, rowvar)
    if not covariance.ndim:
        return F.divide(covariance, covariance)
    deviations = F.sqrt(F.diagonal(covariance))
    scaled = F.divide(F.divide(covariance, F.unsqueeze(deviations, 1)), deviations)
    return F.clip(scaled, -1.0, 1.0)


@method
@in_float32
def renorm(x: Any, p: float, axis: int, max_norm: float) -> Any:
    """x with every slice along an axis scaled down to a p-norm of at most max_norm.

    (n, m) -> (n, m).

    >>> print(dy2st.renorm(dy2st.to_tensor([[3.0, 4.0], [0.6, 0.8]]), 2.0, 0, 1.0).round(3))
    [[0.6 0.8]
     [0.6 0.8]]
    """
    others = [i for i in range(rank_of(x)) if i != axis % rank_of(x)]
    norms = F.vector_norm(x, p, others, keepdim=True)
    factor = F.divide(max_norm, F.maximum(norms, 1e-7))
    return F.multiply(x, F.where(F.greater_than(norms, max_norm), factor, F.ones_like(norms)))


@method
@in_float32
def dist(x: Any, y: Any, p: float = 2, name: str | None = None) -> Any:
    """The p-norm of x - y, with broadcasting: a 0-d tensor.

    >>> dy2st.dist(dy2st.to_tensor([1.0, 2.0]), dy2st.to_tensor([4.0, 6.0])).item()
    5.0
    """
    return F.norm(F.flatten(F.subtract(x, y)), float(p))
