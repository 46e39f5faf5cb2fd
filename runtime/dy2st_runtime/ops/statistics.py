"""Operators that summarise elements along axes: variance, norms, log of a sum of powers."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.dims import equal, maximum, product
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F, method, public
from dy2st_runtime.ir.arguments import Axes, as_dtype, reduced_axes
from dy2st_runtime.ops.reduce import reduced_shape
from dy2st_runtime.ops.short_floats import in_float32


@method
@in_float32
def logsumexp(x: Any, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Any:
    """log(sum(exp(x))) along axes, all by default; without overflow.

    (..., n) -> (...) along the last axis.

    >>> print(dy2st.logsumexp(dy2st.to_tensor([1000.0, 1000.0])).round(3))
    1000.693
    """
    axes = list(reduced_axes(axis, x.ndim))
    if equal(product([x.shape[a] for a in axes]), 0) is True:
        return F.log(F.sum(F.exp(x), axes, keepdim=keepdim))
    top = F.detach(F.max(x, axes, keepdim=True))
    top = F.where(F.isfinite(top), top, F.zeros_like(top))
    total = F.log(F.sum(F.exp(x - top), axes, keepdim=True)) + top
    return (
        total
        if keepdim
        else F.reshape(total, list(reduced_shape(tuple(x.shape), tuple(axes), False)))
    )


@method
@in_float32
def var(
    x: Any,
    axis: Axes = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    name: str | None = None,
    correction: float = 1,
    dtype: Any = None,
) -> Any:
    """The mean squared distance from the mean along axes, divided by n - correction.

    (..., n) -> (...) along the last axis.

    `unbiased` says whether the correction is 1 or 0.

    >>> x = dy2st.to_tensor([1.0, 3.0])
    >>> dy2st.var(x).item(), dy2st.var(x, unbiased=False).item()
    (2.0, 1.0)
    """
    x = x if dtype is None else F.cast(x, as_dtype(dtype))
    axes = reduced_axes(axis, x.ndim)
    distances = x - F.mean(x, list(axes), keepdim=True)
    if x.dtype.kind == "c":
        distances = F.abs(distances)
    squares = F.square(distances)
    off = correction if unbiased is None else int(unbiased)
    if off == 0:
        return F.mean(squares, list(axes), keepdim)
    count: Any = product([x.shape[a] for a in axes]) - off
    if isinstance(count, (int, float)):  # of no elements it is 0 / 0
        count = max(count, 0)
    elif isinstance(off, int):
        count = maximum(count, 0)
    return F.sum(squares, list(axes), keepdim=keepdim) / F.cast(count, squares.dtype)


@method
@in_float32
def std(
    x: Any,
    axis: Axes = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    name: str | None = None,
    correction: float = 1,
    dtype: Any = None,
) -> Any:
    """The square root of `var`, which divides by n - correction, along axes.

    (..., n) -> (...) along the last axis.

    >>> dy2st.std(dy2st.to_tensor([[1.0, 1.0], [0.0, 8.0]]), axis=1, unbiased=False).tolist()
    [0.0, 4.0]
    """
    return root(var(x, axis, unbiased, keepdim, correction=correction, dtype=dtype))


def root(squares: Any) -> Any:
    """The square root of a sum of squares: its slope at 0 is 0, as the length's of no vector."""
    is_zero = F.equal(squares, 0)
    positive = F.where(is_zero, F.ones_like(squares), squares)
    return F.where(is_zero, F.zeros_like(squares), F.sqrt(positive))


@method
def norm(
    x: Any,
    p: Any = None,
    axis: Axes = None,
    keepdim: bool = False,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """(sum |x|**p)**(1/p) along axes, all by default; p may be inf, -inf, 0, or "fro" for 2.

    (..., n) -> (...) along the last axis.

    Along two axes it is the norm of matrices if p is 'nuc', 1, 2 (the default) or inf, or less
    than 0.

    >>> x = dy2st.to_tensor([[3.0, 4.0], [6.0, 8.0]])
    >>> dy2st.norm(x, axis=1).tolist(), dy2st.norm(x, p=1, axis=1).tolist()
    ([5.0, 10.0], [7.0, 14.0])
    """
    is_matrix = isinstance(axis, (list, tuple)) and len(axis) == 2
    p = 2 if p is None and is_matrix else p
    if p == "nuc" or (is_matrix and p in (1, -1, 2, -2, float("inf"), float("-inf"))):
        x = x if dtype is None else F.cast(x, as_dtype(dtype))
        return F.matrix_norm(x, p, axis if is_matrix else (-2, -1), keepdim)
    return vector_norm(x, p, axis, keepdim, dtype=dtype)


@public
def vector_norm(
    x: Any,
    p: Any = 2.0,
    axis: Axes = None,
    keepdim: bool = False,
    name: str | None = None,
    dtype: Any = None,
) -> Any:
    """(sum |x|**p)**(1/p) along axes, all by default; p may be inf, -inf or 0.

    (..., n) -> (...) along the last axis.

    >>> dy2st.linalg.vector_norm(dy2st.to_tensor([3.0, -4.0])).item()
    5.0
    >>> dy2st.linalg.vector_norm(dy2st.to_tensor([3.0, -4.0]), np.inf).item()
    4.0
    """
    x = F.abs(x) if x.dtype.kind == "c" else x
    return _vector_norm(x if dtype is None else F.cast(x, as_dtype(dtype)), p, axis, keepdim)


@in_float32
def _vector_norm(x: Any, p: Any, axis: Axes, keepdim: bool) -> Any:
    if p in (None, "fro", 2, 2.0):
        return root(F.sum(F.square(x), axis, keepdim=keepdim))
    if isinstance(p, str):
        raise ArgumentError(f"norm: p is a number or 'fro', not {p!r}")
    size = F.abs(x)
    if p == float("inf") and equal(product(x.shape), 0) is True:  # there is no largest
        return F.sum(size, axis, keepdim=keepdim)
    if p in (float("inf"), float("-inf")):
        return (F.max if p > 0 else F.min)(size, axis, keepdim)
    if p == 0:
        return F.sum(F.cast(F.not_equal(x, 0), x.dtype), axis, keepdim=keepdim)
    if p == 1:
        return F.sum(size, axis, keepdim=keepdim)
    if p < 0:  # a 0 among the elements makes it 0, whatever the others are
        is_zero = F.equal(size, 0)
        positive = F.where(is_zero, F.ones_like(size), size)
        found = F.pow(F.sum(F.pow(positive, float(p)), axis, keepdim=keepdim), 1.0 / p)
        return F.where(F.any(is_zero, axis, keepdim), F.zeros_like(found), found)
    powers = F.pow(size, float(p)) if p >= 2 else _power(size, float(p))
    return _power(F.sum(powers, axis, keepdim=keepdim), 1.0 / p)


def _power(x: Any, exponent: float) -> Any:
    """x**exponent for x >= 0, with the slope 0 at 0."""
    is_zero = F.equal(x, 0)
    positive = F.where(is_zero, F.ones_like(x), x)
    return F.where(is_zero, F.zeros_like(x), F.pow(positive, exponent))
