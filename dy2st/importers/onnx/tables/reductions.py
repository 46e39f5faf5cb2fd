"""Sums, extremes and what else makes one element of many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st.importers.onnx.calls import Call, Row, rows
from dy2st.importers.onnx.late import along_axes, by_axis
from dy2st_runtime.dims import Dim
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ir.types import is_floating


def _reduced(
    function: Callable[[Any, list[int], bool], Any],
    before: Callable[[Any], Any] = lambda x: x,
    after: Callable[[Any], Any] = lambda x: x,
) -> Row:
    """A row of a reduction, which may go along one axis after the other.

    No axes mean all, or none where the node says so.
    """

    def row(n: Call) -> Any:
        x, keep = n[0], bool(n.get("keepdims", 1))
        wide = before(x)
        axes = n.axes_or_tensor(1)
        if isinstance(axes, Variable):
            return F.cast(after(along_axes(wide, axes, keep, function)), x.dtype)
        if not axes and n.get("noop_with_empty_axes", 0):
            return F.cast(after(wide), x.dtype)
        if not x.ndim:
            return F.reshape(F.cast(after(function(F.reshape(wide, [1]), [0], False)), x.dtype), [])
        axes = [axis % x.ndim for axis in axes] if axes else [*range(x.ndim)]
        return F.cast(after(function(wide, axes, keep)), x.dtype)

    return row


def _extreme(name: str) -> Callable[[Any, list[int], bool], Any]:
    def function(x: Any, axes: list[int], keep: bool) -> Any:
        if x.dtype.kind == "b":
            return (F.any if name == "max" else F.all)(x, axes, keep)
        if any(isinstance(x.shape[axis], int) and x.shape[axis] == 0 for axis in axes):
            shape = [1 if i in axes else size for i, size in enumerate(x.shape)]
            shape = shape if keep else [s for i, s in enumerate(x.shape) if i not in axes]
            return F.full(shape, _least(x.dtype, name), x.dtype)
        return getattr(F, name)(x, axes, keep)

    return function


def _least(dtype: np.dtype[Any], name: str) -> float | int:
    """What no element is below, or above."""
    if is_floating(dtype):
        return float("-inf" if name == "max" else "inf")
    limits = np.iinfo(dtype)
    return int(limits.min if name == "max" else limits.max)


def _sum(x: Any, axes: list[int], keep: bool) -> Any:
    return F.sum(x, axes, keepdim=keep)


def _mean(x: Any, axes: list[int], keep: bool) -> Any:
    if is_floating(x.dtype):
        return F.mean(x, axes, keep)
    return F.mean(F.cast(x, "float64"), axes, keep)


def _log_sum_exp(x: Any, axes: list[int], keep: bool) -> Any:
    if any(isinstance(x.shape[axis], int) and x.shape[axis] == 0 for axis in axes):
        return F.log(_sum(F.exp(x), axes, keep))
    return F.logsumexp(x if is_floating(x.dtype) else F.cast(x, "float64"), axes, keepdim=keep)


def _place(name: str) -> Row:
    def row(n: Call) -> Any:
        x, axis, keep = n[0], n.get("axis", 0), bool(n.get("keepdims", 1))
        find = getattr(F, name)
        if not n.get("select_last_index", 0):
            return find(x, axis, keep)
        return F.cast(x.shape[axis] - 1 - find(F.flip(x, [axis]), axis, keep), "int64")

    return row


def _running(n: Call, compute: Callable[[Any, int], Any], neutral: int) -> Any:
    """The running sum or product, from either end, with its own element or without."""
    x, axis = n[0], n.known(1)

    def along(axis: int) -> Any:
        y = F.flip(x, [axis]) if n.get("reverse", 0) else x
        y = _moved(y, axis, neutral) if n.get("exclusive", 0) else y
        y = F.cast(compute(y, axis), x.dtype)
        return F.flip(y, [axis]) if n.get("reverse", 0) else y

    if axis is None:
        return by_axis(n[1], x.ndim, along)
    return along(int(axis.reshape(-1)[0]) % x.ndim)


def _moved(x: Any, axis: int, neutral: int) -> Any:
    """x one place later along an axis, with a neutral element in front."""
    pads = [0] * (2 * x.ndim)
    pads[2 * axis] = 1
    wide = F.pad(x, pads, value=float(neutral))
    return F.slice(wide, [axis], [0], [x.shape[axis]])


def _softmax(function: Callable[[Any, int], Any]) -> Row:
    """Along one axis; before version 13 over all axes from one on."""

    def row(n: Call) -> Any:
        x = n[0]
        if n.version >= 13:
            return function(x, n.get("axis", -1))
        axis = n.get("axis", 1)
        axis += x.ndim if axis < 0 else 0
        if axis == x.ndim - 1:
            return function(x, axis)
        flat = F.reshape(x, [*x.shape[:axis], -1 if _has_unknown(x, axis) else _count(x, axis)])
        return F.reshape(function(flat, axis), x.shape)

    return row


def _has_unknown(x: Any, axis: int) -> bool:
    return any(isinstance(size, Dim) for size in x.shape[axis:]) and not any(
        isinstance(size, Dim) for size in x.shape[:axis]
    )


def _count(x: Any, axis: int) -> Any:
    total: Any = 1
    for size in x.shape[axis:]:
        total = total * size
    return total


def _hard(x: Any, axis: int) -> Any:
    """1 at the first largest element along an axis, 0 elsewhere."""
    axis %= x.ndim
    first = F.argmax(x, axis, True)
    shape = [1] * x.ndim
    shape[axis] = x.shape[axis]
    return F.cast(F.equal(F.reshape(F.arange(x.shape[axis]), shape), first), x.dtype)


rows(
    {
        "ArgMax": _place("argmax"),
        "ArgMin": _place("argmin"),
        "CumProd": lambda n: _running(n, F.cumprod, 1),
        "CumSum": lambda n: _running(n, F.cumsum, 0),
        "Hardmax": _softmax(_hard),
        "LogSoftmax": _softmax(F.log_softmax),
        "ReduceL1": _reduced(_sum, F.abs),
        "ReduceL2": _reduced(_sum, F.square, F.sqrt),
        "ReduceLogSum": _reduced(_sum, after=F.log),
        "ReduceLogSumExp": _reduced(_log_sum_exp),
        "ReduceMax": _reduced(_extreme("max")),
        "ReduceMean": _reduced(_mean),
        "ReduceMin": _reduced(_extreme("min")),
        "ReduceProd": _reduced(lambda x, axes, keep: F.prod(x, axes, keep)),
        "ReduceSum": _reduced(_sum),
        "ReduceSumSquare": _reduced(_sum, F.square),
        "Softmax": _softmax(F.softmax),
    }
)
