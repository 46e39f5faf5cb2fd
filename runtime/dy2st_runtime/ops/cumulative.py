"""Cumulative operators along an axis, areas under curves, differences of neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.ir import F, Sample, apply, define, method
from dy2st_runtime.ir.arguments import (
    as_dtype,
    normalize_axis,
    rank_of,
)
from dy2st_runtime.ir.attribute_kinds import AXIS
from dy2st_runtime.ops.rules import require_floats, with_floats
from dy2st_runtime.ops.short_floats import in_float32
from dy2st_runtime.ops.zero_rank import of_numbers_too


def _running(pick: Any) -> Any:
    def kernel(x: Any, axis: int) -> Any:
        values = pick.accumulate(x, axis=axis)
        own = np.arange(x.shape[axis]).reshape([-1 if a == axis else 1 for a in range(x.ndim)])
        is_new = (x == values) | (np.isnan(x) if x.dtype.kind == "f" else False)
        places = np.maximum.accumulate(np.where(is_new, own, 0), axis=axis)
        return values, places.astype(np.int64)

    return kernel


for _name, _pick in (("cummax", np.maximum), ("cummin", np.minimum)):
    define(
        _name,
        doc=f"The {_name[3:]}imum up to each place along an axis, and where it is (the last).",
        inputs="x",
        attributes={"axis": AXIS},
        along="axis",
        infer=lambda x, axis: (x, x.with_dtype("int64")),
        kernel=in_float32(_running(_pick)),
        gradient=lambda g, y, x, axis: (
            F.zeros_like(x)
            if g[0] is None
            else F.put_along_axis(F.zeros_like(x), y[1], g[0], axis, "add", broadcast=False)
        ),
        samples=(Sample(((2, 3),), {"axis": 1}), Sample(((4,),), {"axis": 0})),
    )


def _cumulative(name: str, x: Any, axis: int | None, dtype: Any) -> tuple[Any, Any]:
    if axis is None:
        x, axis = F.flatten(x), 0
    values, places = apply(name, x, axis=normalize_axis(axis, x.ndim))
    return values, F.cast(places, as_dtype(dtype))


@method
@of_numbers_too
def cummax(
    x: Any, axis: int | None = None, dtype: Any = "int64", name: str | None = None
) -> tuple[Any, Any]:
    """The maximum up to each place along an axis, and where it is; flattened without an axis.

    (..., n, ...) -> two of (..., n, ...).

    >>> values, places = dy2st.cummax(dy2st.to_tensor([1, 3, 2]))
    >>> values.tolist(), places.tolist()
    ([1, 3, 3], [0, 1, 1])
    """
    return _cumulative("cummax", x, axis, dtype)


@method
@of_numbers_too
def cummin(
    x: Any, axis: int | None = None, dtype: Any = "int64", name: str | None = None
) -> tuple[Any, Any]:
    """The minimum up to each place along an axis, and where it is; flattened without an axis.

    (..., n, ...) -> two of (..., n, ...).

    >>> values, places = dy2st.cummin(dy2st.to_tensor([3, 1, 2]))
    >>> values.tolist(), places.tolist()
    ([3, 1, 1], [0, 1, 1])
    """
    return _cumulative("cummin", x, axis, dtype)


@in_float32
def _log_sums_gradient(g: Any, y: Any, x: Any, axis: int) -> Any:
    """exp(x[i]) * sum of g[j] * exp(-y[j]) over j from i on, shifted so that nothing overflows."""
    top = F.detach(F.max(x, axis, keepdim=True))
    behind = F.cumsum_of(F.multiply(g, F.exp(F.subtract(top, y))), axis, True)
    return F.multiply(F.exp(F.subtract(x, top)), behind)


define(
    "logcumsumexp",
    doc="log of the sum of exp(x) up to each place along an axis.",
    inputs="x",
    attributes={"axis": AXIS},
    along="axis",
    infer=lambda x, axis: require_floats("logcumsumexp", x),
    kernel=in_float32(lambda x, axis: np.logaddexp.accumulate(x, axis=axis)),
    gradient=_log_sums_gradient,
    samples=(
        Sample(((2, 3),), {"axis": 1}, ("float32",)),
        Sample(((4,),), {"axis": 0}, ("float64",)),
    ),
)


@method
@of_numbers_too
def logcumsumexp(
    x: Any, axis: int | None = None, dtype: Any = None, name: str | None = None
) -> Any:
    """log of the sum of exp(x) up to each place along an axis, without overflow.

    (..., n, ...) -> (..., n, ...).

    >>> print(dy2st.logcumsumexp(dy2st.to_tensor([1000.0, 1000.0])).round(3))
    [1000.    1000.693]
    """
    x = with_floats(x) if dtype is None else F.cast(x, as_dtype(dtype))
    if axis is None:
        x, axis = F.flatten(x), 0
    return apply("logcumsumexp", x, axis=normalize_axis(axis, x.ndim))


def _spans(y: Any, x: Any, dx: float | None, axis: int) -> Any:
    """The areas between neighbours."""
    place, size = normalize_axis(axis, y.ndim), y.shape[axis]
    left, right = (F.slice(y, [place], [a], [size - 1 + a]) for a in (0, 1))
    if x is None:
        step: Any = 1.0 if dx is None else dx
    elif rank_of(x) == 1 and y.ndim > 1:
        step = F.reshape(diff(x), [-1 if a == place else 1 for a in range(y.ndim)])
    else:
        step = diff(x, axis=axis)
    return F.multiply(F.multiply(F.add(left, right), step), 0.5)


@method
@in_float32
def trapezoid(
    y: Any, x: Any = None, dx: float | None = None, axis: int = -1, name: str | None = None
) -> Any:
    """The area under y along an axis by trapezoids, at places x or `dx` (1) apart.

    (..., n) -> (...).

    >>> dy2st.trapezoid(dy2st.to_tensor([1.0, 2.0, 3.0])).item()
    4.0
    >>> dy2st.trapezoid(dy2st.to_tensor([1.0, 3.0]), dy2st.to_tensor([0.0, 10.0])).item()
    20.0
    """
    return F.sum(_spans(with_floats(y), x, dx, axis), axis)


@method
@in_float32
def cumulative_trapezoid(
    y: Any, x: Any = None, dx: float | None = None, axis: int = -1, name: str | None = None
) -> Any:
    """The area under y up to each place but the first along an axis: (..., n) -> (..., n - 1).

    >>> dy2st.cumulative_trapezoid(dy2st.to_tensor([1.0, 2.0, 3.0])).tolist()
    [1.5, 4.0]
    """
    return F.cumsum(_spans(with_floats(y), x, dx, axis), axis)


@method
def diff(
    x: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None, name: Any = None
) -> Any:
    """The differences of neighbours along an axis, n times over; x alone for n = 0.

    (..., n, ...) -> (..., n - 1, ...).

    >>> dy2st.diff(dy2st.to_tensor([1, 4, 9, 16])).tolist()
    [3, 5, 7]
    >>> dy2st.diff(dy2st.to_tensor([1, 4, 9, 16]), n=2).tolist()
    [2, 2]
    """
    if not n:
        return F.assign(x)
    parts = [part for part in (prepend, x, append) if part is not None]
    x = F.concat(parts, axis) if len(parts) > 1 else x
    place = normalize_axis(axis, x.ndim)
    for _ in range(n):
        size = x.shape[place]
        left, right = (F.slice(x, [place], [a], [size - 1 + a]) for a in (0, 1))
        x = F.logical_xor(left, right) if x.dtype.kind == "b" else F.subtract(right, left)
    return x
