"""Sums, largest elements and other reductions along axes, and running ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.dims import product
from dy2st_runtime.engine.onnx.graph import Graph, is_same_size
from dy2st_runtime.engine.onnx.nodes import BOOL, INT32, INT64, Value
from dy2st_runtime.engine.onnx.table import write
from dy2st_runtime.engine.onnx.writer_tools import scan
from dy2st_runtime.engine.onnx.writers.shapes import is_positive
from dy2st_runtime.ir import is_floating


def _axes(axis: Any) -> list[int]:
    return list(axis) if isinstance(axis, (tuple, list)) else [axis]


@write("sum", "prod")
def _total(g: Graph, x: Value, axis: Any, keepdim: bool) -> Value:
    kind = "Sum" if g.operator is not None and g.operator.name == "sum" else "Prod"
    return g.reduce(kind, g.cast(x, g.result.dtype), _axes(axis), keepdim, g.result.shape)


@write("mean")
def _mean(g: Graph, x: Value, axis: Any, keepdim: bool) -> Value:
    x, axes = g.longer(g.floats(x)), _axes(axis)
    sizes = [(x.shape or ())[place] for place in axes]
    if all(map(is_positive, sizes)):
        return g.reduce("Mean", x, axes, keepdim, g.result.shape)
    # Of no elements the mean is NaN, as 0 / 0 is.
    total = g.reduce("Sum", x, axes, keepdim)
    count = g.cast(g.number(product(sizes)), x.dtype)
    return g.op("Div", total, count, shape=g.result.shape)


@write("max", "min")
def _extreme(g: Graph, x: Value, axis: Any, keepdim: bool) -> Value:
    """ONNX says nothing of NaN, which wins here."""
    kind = "Max" if g.operator is not None and g.operator.name == "max" else "Min"
    axes, shape = _axes(axis), g.result.shape
    if not axes:
        return x
    if not is_floating(x.dtype):
        wide = x if x.dtype in (INT32, INT64) else g.cast(x, INT64)
        return g.reduce(kind, wide, axes, keepdim, shape)
    x = g.longer(x)
    made = g.reduce(kind, x, axes, keepdim, shape)
    has_nan = g.reduce("Max", g.cast(g.op("IsNaN", x, shape=x.shape), INT32), axes, keepdim)
    return g.where(g.cast(has_nan, BOOL), g.like(x, np.nan), made, shape)


@write("any", "all")
def _truths(g: Graph, x: Value, axis: Any, keepdim: bool) -> Value:
    kind = "Max" if g.operator is not None and g.operator.name == "any" else "Min"
    axes = _axes(axis)
    sizes = [(x.shape or ())[place] for place in axes]
    truths = g.cast(x, BOOL)
    if all(map(is_positive, sizes)):
        return g.cast(g.reduce(kind, g.cast(truths, INT32), axes, keepdim, g.result.shape), BOOL)
    # Of no elements: no one holds, and all do.
    chosen = truths if kind == "Max" else g.op("Not", truths, shape=x.shape)
    count = g.reduce("Sum", g.cast(chosen, INT64), axes, keepdim, g.result.shape)
    has_one = g.op("Greater", count, g.const(np.int64(0)), shape=g.result.shape)
    return has_one if kind == "Max" else g.op("Not", has_one, shape=g.result.shape)


@write("sum_to")
def _sum_to(g: Graph, x: Value, shape: Any) -> Value:
    own = x.shape or ()
    lead = len(own) - len(shape)
    pairs = [(axis, size) for axis, size in enumerate(shape, lead) if not isinstance(size, int)]
    # Whether an axis was broadcast that may be either, the sizes of the run tell.
    unsure = [(axis, size) for axis, size in pairs if not is_same_size(own[axis], size)]
    ones = [axis for axis, size in enumerate(shape, lead) if is_same_size(size, 1)]
    sure = [*range(lead), *(axis for axis in ones if not is_same_size(own[axis], 1))]
    if not sure and not unsure:
        return x
    axes = g.int64s(sure)
    if unsure:
        sizes = g.ints([size for _, size in unsure])
        of_one = g.op("Equal", sizes, g.int64s([1]))
        found = g.op("Compress", g.int64s([a for a, _ in unsure]), of_one, axis=0)
        axes = g.concat([axes, found], 0) if sure else found
    numbers = g.cast(x, INT32) if x.dtype == BOOL else g.longer(x)
    made = g.op("ReduceSum", numbers, axes, keepdims=1, noop_with_empty_axes=1)
    if x.dtype == BOOL:
        made = g.cast(made, BOOL)
    if lead:
        made = g.squeeze(made, list(range(lead)))
    return Value(made.name, made.dtype, tuple(shape))


@write("softmax")
def _softmax(g: Graph, x: Value, axis: int) -> Value:
    return g.op("Softmax", g.floats(x), axis=axis, shape=x.shape)


@write("log_softmax")
def _log_softmax(g: Graph, x: Value, axis: int) -> Value:
    return g.op("LogSoftmax", g.floats(x), axis=axis, shape=x.shape)


@write("cumsum")
def _cumsum(g: Graph, x: Value, axis: int, reverse: bool) -> Value:
    x = g.longer(g.cast(x, g.result.dtype))
    place = g.const(np.int64(axis))
    return g.op("CumSum", x, place, reverse=int(reverse), shape=x.shape)


@write("cumprod")
def _cumprod(g: Graph, x: Value, axis: int, reverse: bool) -> Value:
    x = g.longer(g.cast(x, g.result.dtype))

    def step(before: Value, row: Value) -> tuple[list[Value], list[Value]]:
        made = g.op("Mul", before, row)
        return [made], [made]

    return scan(g, step, [_row_of(g, x, axis, 1)], [x], axis, [x.dtype], bool(reverse))[0]


def _row_of(g: Graph, x: Value, axis: int, number: Any, dtype: Any = None) -> Value:
    """What a tensor has at one place of an axis, filled with a number."""
    shape = [size for place, size in enumerate(x.shape or ()) if place != axis]
    return g.expand(g.const(np.asarray(number).astype(dtype or x.dtype)), shape)


@write("logcumsumexp")
def _logcumsumexp(g: Graph, x: Value, axis: int) -> Value:
    x = g.longer(g.floats(x))

    def step(before: Value, row: Value) -> tuple[list[Value], list[Value]]:
        made = log_of_sum(g, before, row)
        return [made], [made]

    return scan(g, step, [_row_of(g, x, axis, -np.inf)], [x], axis, [x.dtype])[0]


def log_of_sum(g: Graph, x: Value, y: Value) -> Value:
    """log(e**x + e**y); two infinities of one sign are that."""
    largest = g.op("Max", x, y)
    safe = g.where(g.op("IsInf", largest), g.like(x, 0), largest)
    total = g.op("Add", g.op("Exp", g.op("Sub", x, safe)), g.op("Exp", g.op("Sub", y, safe)))
    return g.op("Add", g.op("Log", total), safe)


@write("logaddexp")
def _logaddexp(g: Graph, x: Value, y: Value) -> Value:
    return log_of_sum(g, g.longer(g.floats(x)), g.longer(g.floats(y)))


@write("cummax", "cummin")
def _running_extreme(g: Graph, x: Value, axis: int) -> list[Value]:
    """The values, and the last place that has each; NaN stays."""
    is_max = g.operator is not None and g.operator.name == "cummax"
    own = x.dtype
    if not is_floating(x.dtype):
        x = g.cast(x, INT64)
        limits = np.iinfo(np.int64)
        least: Any = limits.min if is_max else limits.max
    else:
        x, least = g.longer(x), -np.inf if is_max else np.inf
    numbers = g.arange((x.shape or ())[axis])

    def step(
        before: Value, place: Value, row: Value, number: Value
    ) -> tuple[list[Value], list[Value]]:
        made = g.op("Max" if is_max else "Min", before, row)
        is_new = g.op("Equal", made, row)
        if is_floating(x.dtype):
            is_new = g.op("Or", is_new, g.op("IsNaN", row))
        place = g.where(is_new, number, place)
        return [made, place], [made, place]

    start = [_row_of(g, x, axis, least), _row_of(g, x, axis, 0, INT64)]
    values, places = scan(g, step, start, [x, numbers], axis, [x.dtype, INT64], False, [axis, 0])
    return [g.cast(values, own), places]
