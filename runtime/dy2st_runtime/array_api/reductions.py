"""Functions of the array API that go over axes: statistics, searching, truth, running sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st_runtime.array_api.elementwise import number_like
from dy2st_runtime.array_api.manipulation import require_axis
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F


def _over(run: Callable[..., Any], x: Any, axis: Any, keepdims: bool, **options: Any) -> Any:
    """A function of PaddlePaddle's over axes, where an empty tuple means no axis, not all."""
    if isinstance(axis, int):
        axis = require_axis(axis, x.ndim)
    elif axis is not None:
        axis = [require_axis(one, x.ndim) for one in axis]
        if not axis:
            return run(F.unsqueeze(x, -1), axis=-1, **options)
    return run(x, axis=axis, keepdim=keepdims, **options)


def _accumulated(run: Callable[[Any], Any], x: Any, dtype: Any) -> Any:
    """What adds up or multiplies, in `dtype`; integers in the largest of their kind by default.

    All of 64 bits wrap round alike, so that unsigned ones may be computed as signed ones.
    """
    kind = x.dtype.kind
    if dtype is None:
        dtype = {"u": "uint64", "i": "int64", "b": "int64"}.get(kind, x.dtype)
    dtype = np.dtype(dtype)
    if dtype.kind not in "iu":
        return run(F.cast(x, dtype))
    return F.cast(run(F.cast(x, "int64")), dtype)


def sum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The sums over some axes, all by default; of unsigned integers uint64, of others int64.

    >>> xp = dy2st.array_api
    >>> xp.sum(xp.asarray([200, 100], dtype=xp.uint8))
    Tensor(shape=[], dtype=uint64, stop_gradient=True,
           300)
    """
    return _accumulated(lambda made: _over(F.sum, made, axis, keepdims), x, dtype)


def prod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The products over some axes, in the dtypes of `sum`.

    >>> dy2st.array_api.prod(dy2st.to_tensor([[1, 2], [3, 4]]), axis=1).tolist()
    [2, 12]
    """
    return _accumulated(lambda made: _over(F.prod, made, axis, keepdims), x, dtype)


def max(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest elements over some axes; NaN where one is.

    >>> dy2st.array_api.max(dy2st.to_tensor([[1, 5], [3, 2]]), axis=1).tolist()
    [5, 3]
    """
    return _over(F.max, x, axis, keepdims)


def min(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The smallest elements over some axes; NaN where one is.

    >>> dy2st.array_api.min(dy2st.to_tensor([[1, 5], [3, 2]]), axis=1).tolist()
    [1, 2]
    """
    return _over(F.min, x, axis, keepdims)


def mean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The means over some axes, all by default.

    >>> dy2st.array_api.mean(dy2st.to_tensor([[1.0, 2.0], [3.0, 6.0]]), axis=0).tolist()
    [2.0, 4.0]
    """
    return _over(F.mean, x, axis, keepdims)


def var(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """The variances over some axes: squared distances by their number less `correction`.

    >>> dy2st.array_api.var(dy2st.to_tensor([1.0, 3.0])).item()
    1.0
    """
    return _over(F.var, x, axis, keepdims, correction=correction)


def std(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """The square roots of `var`, over some axes.

    >>> dy2st.array_api.std(dy2st.to_tensor([0.0, 8.0])).item()
    4.0
    """
    return _over(F.std, x, axis, keepdims, correction=correction)


def _running(
    run: Callable[..., Any], first: int, x: Any, axis: Any, dtype: Any, include_initial: bool
) -> Any:
    if axis is None and x.ndim > 1:
        raise ArgumentError(f"name the axis of a tensor with {x.ndim} axes")
    place = require_axis(axis or 0, x.ndim) if x.ndim else 0
    made = _accumulated(lambda one: run(one, place), x, dtype)
    if not include_initial:
        return made
    sizes = list(made.shape)
    sizes[place] = 1
    return F.concat([F.full(sizes, first, made.dtype), made], place)


def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """The sums of the elements up to each along an axis; with `include_initial` 0 in front.

    >>> dy2st.array_api.cumulative_sum(dy2st.to_tensor([1, 2, 3]), include_initial=True).tolist()
    [0, 1, 3, 6]
    """
    return _running(F.cumsum, 0, x, axis, dtype, include_initial)


def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """The products of the elements up to each along an axis; with `include_initial` 1 in front.

    >>> dy2st.array_api.cumulative_prod(dy2st.to_tensor([1, 2, 3, 4])).tolist()
    [1, 2, 6, 24]
    """
    return _running(F.cumprod, 1, x, axis, dtype, include_initial)


def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
    """The differences of neighbours along an axis, taken n times.

    >>> dy2st.array_api.diff(dy2st.to_tensor([1, 4, 9, 16])).tolist()
    [3, 5, 7]
    """
    return F.diff(x, n, require_axis(axis, x.ndim), prepend, append)


def all(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether all elements over some axes are true: not 0.

    >>> dy2st.array_api.all(dy2st.to_tensor([[1, 2], [0, 3]]), axis=1).tolist()
    [True, False]
    """
    return _over(F.all, F.cast(x, "bool"), axis, keepdims)


def any(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether any element over some axes is true: not 0.

    >>> dy2st.array_api.any(dy2st.to_tensor([[0, 0], [0, 3]]), axis=1).tolist()
    [False, True]
    """
    return _over(F.any, F.cast(x, "bool"), axis, keepdims)


def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """How many elements over some axes are not 0.

    >>> dy2st.array_api.count_nonzero(dy2st.to_tensor([[0, 1], [2, 3]]), axis=1).tolist()
    [1, 2]
    """
    return sum(F.cast(x, "bool"), axis=axis, keepdims=keepdims)


def _place(run: Callable[..., Any], x: Any, axis: Any, keepdims: bool) -> Any:
    if axis is not None:
        return run(x, require_axis(axis, x.ndim), keepdims)
    made = run(F.reshape(x, [-1]), 0)
    return F.reshape(made, [1] * x.ndim) if keepdims else F.reshape(made, [])


def argmax(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Where the largest element first is along an axis, or in the flattened tensor.

    >>> x = dy2st.to_tensor([[1, 9], [7, 2]])
    >>> dy2st.array_api.argmax(x).item(), dy2st.array_api.argmax(x, axis=1).tolist()
    (1, [1, 0])
    """
    return _place(F.argmax, x, axis, keepdims)


def argmin(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Where the smallest element first is along an axis, or in the flattened tensor.

    >>> x = dy2st.to_tensor([[4, 9], [7, 2]])
    >>> dy2st.array_api.argmin(x).item(), dy2st.array_api.argmin(x, axis=1).tolist()
    (3, [0, 1])
    """
    return _place(F.argmin, x, axis, keepdims)


def nonzero(x: Any, /) -> tuple[Any, ...]:
    """The positions of the elements that are not 0, a vector for each axis.

    >>> [places.tolist() for places in dy2st.array_api.nonzero(dy2st.to_tensor([[0, 7], [8, 0]]))]
    [[0, 1], [1, 0]]
    """
    if not x.ndim:
        raise ArgumentError("nonzero takes a tensor with axes")
    places = F.nonzero(F.cast(x, "bool"))
    return tuple(places[:, axis] for axis in range(x.ndim))


def where(condition: Any, x1: Any, x2: Any, /) -> Any:
    """The elements of x1 where the condition holds, those of x2 elsewhere; either may be a number.

    >>> dy2st.array_api.where(dy2st.to_tensor([True, False]), dy2st.to_tensor([1, 2]), 0).tolist()
    [1, 0]
    """
    return F.where(condition, number_like(x1, x2), number_like(x2, x1))
