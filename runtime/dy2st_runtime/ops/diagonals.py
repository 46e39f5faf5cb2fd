"""Diagonals, triangles, and tensors with a part replaced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import Size, maximum, minimum, product
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F, method, public
from dy2st_runtime.ir.arguments import as_dtype, as_size, normalize_axis, rank_of, shape_of
from dy2st_runtime.ir.dispatch import as_copy, as_view
from dy2st_runtime.ops.rules import broadcast_shapes, fitted


def _places(count: Size, offset: Size) -> tuple[Any, Any]:
    """The first places of a diagonal, row by row; `offset` columns right of the main one."""
    steps = F.arange(count)
    return steps + maximum(product([-1, offset]), 0), steps + maximum(offset, 0)


def _diagonal_of(x: Any, offset: Any) -> tuple[Any, Any]:
    """The places of a diagonal of the last two axes."""
    rows, columns, right = x.shape[-2], x.shape[-1], as_size(offset, "offset")
    count = minimum(rows + minimum(right, 0), columns - maximum(right, 0))
    return _places(maximum(count, 0), right)


def _embedded(x: Any, offset: Any, around: Any) -> Any:
    """Matrices with the last axis on a diagonal and a number around."""
    count, right = x.shape[-1], as_size(offset, "offset")
    size = count + maximum(right, product([-1, right]))
    whole = F.full([*x.shape[:-1], size, size], around, x.dtype)
    return F.setitem(whole, (..., *_places(count, right)), x)


def _to_end(x: Any, axis1: int, axis2: int) -> tuple[Any, list[int]]:
    """x with two axes at the end, and the order that was made of them."""
    first, second = normalize_axis(axis1, x.ndim), normalize_axis(axis2, x.ndim)
    if first == second:
        raise ArgumentError(f"a diagonal lies between two axes, not between {axis1} and {axis2}")
    order = [axis for axis in range(x.ndim) if axis not in (first, second)]
    order += [first, second]
    return F.transpose(x, order), order


@method
def diag(x: Any, offset: Any = 0, padding_value: Any = 0, name: str | None = None) -> Any:
    """A matrix with x on a diagonal and `padding_value` elsewhere, or the diagonal of a matrix.

    (n,) -> (n + |offset|, n + |offset|), (n, m) -> (count,).

    >>> dy2st.diag(dy2st.to_tensor([1, 2])).tolist()
    [[1, 0], [0, 2]]
    >>> dy2st.diag(dy2st.to_tensor([[1, 2], [3, 4]])).tolist()
    [1, 4]
    """
    if x.ndim == 1:
        return _embedded(x, offset, padding_value)
    if x.ndim != 2:
        raise ArgumentError(f"diag takes a vector or a matrix, not a tensor of {x.ndim} axes")
    return as_copy(diagonal(x, offset))


@method
def diagonal(
    x: Any, offset: Any = 0, axis1: int = 0, axis2: int = 1, name: str | None = None
) -> Any:
    """The diagonal between two axes, as a new last axis: (n, n, ...) -> (..., n).

    >>> dy2st.diagonal(dy2st.to_tensor([[1, 2], [3, 4]])).tolist()
    [1, 4]
    """
    moved, _ = _to_end(x, axis1, axis2)
    made = moved[(..., *_diagonal_of(moved, offset))]
    return as_view(x, made, lambda array: np.diagonal(array, offset, axis1, axis2))


@method
def trace(x: Any, offset: Any = 0, axis1: int = 0, axis2: int = 1, name: str | None = None) -> Any:
    """The sum of the diagonal between two axes: (n, n, ...) -> (...).

    >>> dy2st.trace(dy2st.to_tensor([[1, 2], [3, 4]])).item()
    5
    """
    return F.sum(diagonal(x, offset, axis1, axis2), axis=-1)


@method
def diagonal_scatter(
    x: Any, y: Any, offset: Any = 0, axis1: int = 0, axis2: int = 1, name: str | None = None
) -> Any:
    """x with y as the diagonal between two axes: (n, n), (n,) -> (n, n).

    >>> dy2st.diagonal_scatter(dy2st.zeros([2, 2]), dy2st.to_tensor([1.0, 2.0])).tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    moved, order = _to_end(x, axis1, axis2)
    places = (..., *_diagonal_of(moved, offset))
    changed = F.setitem(moved, places, y)
    return F.transpose(changed, [order.index(axis) for axis in range(x.ndim)])


@method
def fill_diagonal_tensor(
    x: Any, y: Any, offset: Any = 0, dim1: int = 0, dim2: int = 1, name: str | None = None
) -> Any:
    """x with y as the diagonal between two axes: (n, n), (n,) -> (n, n).

    >>> dy2st.zeros([2, 2]).fill_diagonal_tensor(dy2st.to_tensor([1.0, 2.0])).tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    return diagonal_scatter(x, y, offset, dim1, dim2)


@method
def diag_embed(input: Any, offset: Any = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices with the last axis on a diagonal and zeros around: (..., n) -> (..., n, n).

    >>> dy2st.diag_embed(dy2st.to_tensor([[1, 2]])).tolist()
    [[[1, 0], [0, 2]]]
    """
    input = input if hasattr(input, "ndim") else F.assign(input)
    made = _embedded(input, offset, 0)
    first, second = normalize_axis(dim1, made.ndim), normalize_axis(dim2, made.ndim)
    if first == second:
        raise ArgumentError(f"diag_embed: {dim1} and {dim2} are one axis")
    return F.moveaxis(made, [-2, -1], [first, second])


@method
def diagflat(x: Any, offset: Any = 0, name: str | None = None) -> Any:
    """A matrix with all elements of x on a diagonal: (n,) -> (n, n).

    >>> dy2st.diagflat(dy2st.to_tensor([1, 2]), 1).tolist()
    [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
    """
    return diag_embed(F.flatten(x), offset)


def _indices(is_kept: Any, row: Any, col: Any, dtype: Any) -> Any:
    rows, columns = F.unsqueeze(F.arange(row), 1), F.unsqueeze(F.arange(col), 0)
    places = F.nonzero(is_kept(columns, rows))
    return F.cast(F.transpose(places, [1, 0]), as_dtype(dtype))


@public
def tril_indices(row: Any, col: Any, offset: int = 0, dtype: Any = "int64") -> Any:
    """The rows and columns of the elements on and below a diagonal: (2, count).

    >>> dy2st.tril_indices(2, 2).tolist()
    [[0, 1, 1], [0, 0, 1]]
    """
    row, col = as_size(row, "row"), as_size(col, "col")
    return _indices(lambda c, r: F.less_equal(c, r + offset), row, col, dtype)


@public
def triu_indices(row: Any, col: Any = None, offset: int = 0, dtype: Any = "int64") -> Any:
    """The rows and columns of the elements on and above a diagonal: (2, count).

    >>> dy2st.triu_indices(2, 2).tolist()
    [[0, 0, 1], [0, 1, 1]]
    """
    row = as_size(row, "row")
    col = row if col is None else as_size(col, "col")
    return _indices(lambda c, r: F.greater_equal(c, r + offset), row, col, dtype)


# -- with a part replaced ---------------------------------------------------------------------


@method
def select_scatter(x: Any, values: Any, axis: int, index: int, name: str | None = None) -> Any:
    """x with the slice at a place along an axis replaced: (n, m), (m,) -> (n, m) for axis 0.

    >>> dy2st.select_scatter(dy2st.zeros([2, 2]), dy2st.to_tensor([7.0, 8.0]), 0, 1).tolist()
    [[0.0, 0.0], [7.0, 8.0]]
    """
    place = normalize_axis(axis, x.ndim)
    return F.setitem(x, (*[slice(None)] * place, index), values)


@method
def slice_scatter(
    x: Any,
    value: Any,
    axes: Sequence[int],
    starts: Sequence[Any],
    ends: Sequence[Any],
    strides: Sequence[int],
    name: str | None = None,
) -> Any:
    """x with the elements between starts and ends along axes replaced.

    (n, ...), (m, ...) -> (n, ...) for axis 0.

    >>> x = dy2st.zeros([4])
    >>> dy2st.slice_scatter(x, dy2st.to_tensor([7.0, 8.0]), [0], [0], [4], [2]).tolist()
    [7.0, 0.0, 8.0, 0.0]
    """
    index = [slice(None)] * x.ndim
    for axis, first, last, step in zip(axes, starts, ends, strides, strict=True):
        index[normalize_axis(axis, x.ndim)] = slice(first, last, step)
    return F.setitem(x, tuple(index), value)


@method
def masked_scatter(x: Any, mask: Any, value: Any, name: str | None = None) -> Any:
    """x with the elements of `value`, in order, where the mask is true; both broadcast.

    (...,), (...,), (count,) -> (...,).

    >>> mask = dy2st.to_tensor([True, False, True])
    >>> dy2st.masked_scatter(dy2st.zeros([3]), mask, dy2st.to_tensor([7.0, 8.0, 9.0])).tolist()
    [7.0, 0.0, 8.0]
    """
    shape = list(broadcast_shapes("masked_scatter", tuple(shape_of(x)), tuple(shape_of(mask))))
    x, is_on = F.broadcast_to(x, shape), F.broadcast_to(mask, shape)
    before = F.subtract(F.cumsum(F.cast(F.flatten(is_on), "int64"), 0), 1)
    taken = F.gather(F.flatten(value), F.clip(before, 0))
    return F.where(is_on, fitted(F.reshape(taken, shape_of(x)), x.dtype), x)


@method
def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Any:
    """input with elements of src added at places along an axis, element by element.

    (n, ...), (m, ...), (m, ...) -> (n, ...) along axis 0.

    >>> places = dy2st.to_tensor([0, 0, 1])
    >>> dy2st.scatter_add(dy2st.zeros([2]), 0, places, dy2st.to_tensor([1.0, 2.0, 4.0])).tolist()
    [3.0, 4.0]
    """
    return F.put_along_axis(input, index, _front(src, index), dim, "add", broadcast=False)


@method
def scatter_reduce(
    input: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True
) -> Any:
    """input joined with elements of src at places along an axis: sum, prod, mean, amin, amax.

    (n, ...), (m, ...), (m, ...) -> (n, ...) along axis 0.

    >>> x, places = dy2st.to_tensor([1.0, 1.0]), dy2st.to_tensor([0, 0, 1])
    >>> dy2st.scatter_reduce(x, 0, places, dy2st.to_tensor([2.0, 3.0, 4.0]), "prod").tolist()
    [6.0, 4.0]
    """
    kind = {"sum": "add", "prod": "mul"}.get(reduce, reduce)
    return F.put_along_axis(
        input, index, _front(src, index), dim, kind, include_self, broadcast=False
    )


def _front(src: Any, index: Any) -> Any:
    """As much of src as there are places."""
    if not rank_of(src):
        return src
    axes = list(range(rank_of(index)))
    return F.slice(src, axes, [0] * len(axes), shape_of(index))
