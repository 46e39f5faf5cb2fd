"""New tensors, and operators that move elements about."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.dims import Condition, Dim, bounds, difference, maximum
from dy2st_runtime.engine.onnx.graph import Graph, is_same_size
from dy2st_runtime.engine.onnx.nodes import BOOL, FLOAT64, INT64, Value
from dy2st_runtime.engine.onnx.table import rows, write

_BEFORE_ALL = -(2**63) + 1
_MOST = 4096


def _constant(g: Graph, value: Any) -> Value:
    return g.const(np.asarray(value))


def _shape(g: Graph, x: Value) -> Value:
    return g.op("Shape", x, shape=(x.rank,))


rows(
    {
        "constant": _constant,
        "shape": _shape,
        "reshape": lambda g, x, shape: g.reshape(x, shape),
        "transpose": lambda g, x, perm: g.transpose(x, perm),
        "broadcast_to": lambda g, x, shape: g.expand(x, shape),
        "concat": lambda g, *xs, axis: (
            xs[0] if len(xs) == 1 else g.concat(xs, axis, g.result.shape)
        ),
        "stack": lambda g, *xs, axis: g.concat(
            [g.unsqueeze(x, [axis]) for x in xs], axis, g.result.shape
        ),
    }
)


@write("from_dim")
def _from_dim(g: Graph, value: Any, dtype: Any) -> Value:
    if not isinstance(value, (Dim, Condition)):
        return g.const(np.asarray(value).astype(dtype))
    return g.cast(g.reshape(g.size(value), ()), np.dtype(dtype))


@write("full")
def _full(g: Graph, shape: Any, value: Any, dtype: Any) -> Value:
    dtype = np.dtype(dtype)
    if isinstance(value, Dim):
        return g.expand(g.cast(g.number(value), dtype), shape)
    return g.full(shape, value, dtype)


@write("eye")
def _eye(g: Graph, rows: Any, columns: Any, dtype: Any) -> Value:
    if isinstance(rows, int) and isinstance(columns, int) and rows * columns <= _MOST:
        return g.const(np.eye(rows, columns, dtype=np.dtype(dtype)))
    down = g.unsqueeze(g.arange(rows), [1])
    return g.cast(g.op("Equal", down, g.unsqueeze(g.arange(columns), [0])), np.dtype(dtype))


@write("arange")
def _arange(g: Graph, start: Any, stop: Any, step: Any, dtype: Any) -> Value:
    parts = (start, stop, step)
    if not any(isinstance(part, Dim) for part in parts):
        made = np.arange(start, stop, step)
        if made.size <= _MOST or not all(isinstance(part, int) for part in parts):
            return g.const(made.astype(dtype))
    is_float = any(isinstance(part, float) for part in parts)
    own = FLOAT64 if is_float else INT64
    values = [g.cast(g.number(p), own) if isinstance(p, Dim) else g.const(p, own) for p in parts]
    return g.cast(g.op("Range", *values, shape=g.result.shape), np.dtype(dtype))


@write("linspace")
def _linspace(g: Graph, start: Any, stop: Any, num: Any, dtype: Any) -> Value:
    if not any(isinstance(part, Dim) for part in (start, stop, num)):
        from_both = np.linspace(start, stop, num)
        return g.const(from_both.astype(dtype))
    ends = [
        g.cast(g.number(one), FLOAT64) if isinstance(one, Dim) else g.const(one, FLOAT64)
        for one in (start, stop)
    ]
    places = g.cast(g.arange(num), FLOAT64)
    count = g.cast(g.number(num), FLOAT64)
    one = g.const(1.0)
    steps = g.op("Max", g.op("Sub", count, one), one)
    step = g.op("Div", g.op("Sub", ends[1], ends[0]), steps)
    first = g.op("Add", ends[0], g.op("Mul", step, places))
    rest = g.op("Sub", g.op("Sub", count, one), places)
    last = g.op("Sub", ends[1], g.op("Mul", step, rest))
    is_first = g.op(
        "Less", places, g.op("Max", g.op("Floor", g.op("Mul", count, g.const(0.5))), one)
    )
    return g.cast(g.where(is_first, first, last, g.result.shape), np.dtype(dtype))


@write("split")
def _split(g: Graph, x: Value, sections: Any, axis: int) -> Any:
    if len(sections) == 1:
        return [x]
    shapes = [(*(x.shape or ())[:axis], size, *(x.shape or ())[axis + 1 :]) for size in sections]
    made = g.ops("Split", x, g.ints(sections), dtypes=[x.dtype] * len(sections), axis=axis)
    return [Value(one.name, one.dtype, shape) for one, shape in zip(made, shapes, strict=True)]


@write("flip")
def _flip(g: Graph, x: Value, axis: Any) -> Value:
    axes = list(axis) if isinstance(axis, (tuple, list)) else [axis]
    if not axes:
        return x
    many = len(axes)
    return g.slice(x, [-1] * many, [_BEFORE_ALL] * many, axes, [-1] * many, x.shape)


@write("roll")
def _roll(g: Graph, x: Value, shifts: Any, axis: Any) -> Value:
    shifts = list(shifts) if isinstance(shifts, (tuple, list)) else [shifts]
    axes = list(axis) if isinstance(axis, (tuple, list)) else [axis]
    for shift, place in zip(shifts, axes, strict=True):
        size = (x.shape or ())[place]
        if isinstance(size, int) and size == 0:
            continue
        size = size if isinstance(size, int) else maximum(size, 1)
        cut = -(shift % size)
        if isinstance(cut, int) and cut == 0:
            continue
        whole = (2**62,)
        behind = g.slice(
            x, [difference(size, -cut) if isinstance(size, Dim) else size + cut], whole, [place]
        )
        before = g.slice(x, [0], [size + cut], [place])
        x = g.concat([behind, before], place, x.shape)
    return x


@write("tril", "triu")
def _triangle(g: Graph, x: Value, diagonal: Any) -> Value:
    is_upper = g.operator is not None and g.operator.name == "triu"
    if isinstance(diagonal, int):
        diagonal = max(-(2**31), min(diagonal, 2**31))
    if g.opset >= 14:
        place = g.number(diagonal)
        return g.op("Trilu", x, place, upper=int(is_upper), shape=x.shape)
    assert x.shape is not None
    down = g.op("Add", g.unsqueeze(g.arange(x.shape[-2]), [1]), g.number(diagonal))
    across = g.unsqueeze(g.arange(x.shape[-1]), [0])
    kind = "LessOrEqual" if is_upper else "GreaterOrEqual"
    return g.where(g.op(kind, down, across), x, g.like(x, 0), x.shape)


@write("pad")
def _pad(g: Graph, x: Value, pads: Any, mode: str, value: Any) -> Value:
    amounts = [before for before, _ in pads] + [after for _, after in pads]
    if not any(isinstance(n, Dim) or n for n in amounts):
        return x
    if mode == "constant":
        return padded(g, x, pads, value)
    for axis, (before, after) in enumerate(pads):
        if isinstance(before, Dim) or isinstance(after, Dim) or before or after:
            places = _padding_places(g, (x.shape or ())[axis], before, after, mode)
            shape = list(x.shape or ())
            shape[axis] = g.result.shape[axis]
            x = g.op("Gather", x, places, axis=axis, shape=tuple(shape))
    return x


def padded(g: Graph, x: Value, pads: Any, value: Any) -> Value:
    """x with a number around it; less than none is cut off, by a node that all runtimes have."""
    cut = [
        axis
        for axis, pair in enumerate(pads)
        if any(isinstance(amount, int) and amount < 0 for amount in pair)
    ]
    if cut:
        starts = [-min(pads[axis][0], 0) if isinstance(pads[axis][0], int) else 0 for axis in cut]
        stops = [
            difference((x.shape or ())[axis], -pads[axis][1])
            if isinstance(pads[axis][1], int) and pads[axis][1] < 0
            else 2**62
            for axis in cut
        ]
        x = g.slice(x, starts, stops, cut)
    amounts = [
        max(amount, 0) if isinstance(amount, int) else amount
        for side in (0, 1)
        for amount in (pair[side] for pair in pads)
    ]
    if not any(isinstance(amount, Dim) or amount for amount in amounts):
        return x
    number = np.asarray(value).astype(x.dtype)
    around = None if not number.any() and x.dtype != BOOL else g.const(number)
    return g.op("Pad", x, g.ints(amounts), around, mode="constant")


def _padding_places(g: Graph, size: Any, before: Any, after: Any, mode: str) -> Value:
    """Which elements along an axis the result has."""
    if not any(isinstance(n, Dim) for n in (size, before, after)):
        known = np.arange(-before, size + after)
        if mode == "circular":
            return g.const(known % size)
        if mode == "replicate":
            return g.const(np.clip(known, 0, size - 1))
        return g.const((size - 1) - np.abs((size - 1) - np.abs(known)))
    places = g.op("Range", g.number(-before), g.number(size + after), g.const(np.int64(1)))
    if mode == "circular":
        return g.op("Mod", places, g.number(maximum(size, 1)))
    last = g.number(size - 1)
    if mode == "replicate":
        return g.op("Min", g.op("Max", places, g.const(np.int64(0))), last)
    mirrored = g.op("Abs", g.op("Sub", last, g.op("Abs", places)))
    return g.op("Sub", last, mirrored)


# -- slices --------------------------------------------------------------------------------------


def _is_whole(start: Any, stop: Any, step: int, size: Any) -> bool:
    return step == 1 and is_same_size(start, 0) and is_same_size(stop, size)


@write("slice")
def slice_of(g: Graph, x: Value, starts: Any, stops: Any, steps: Any, drop: Any) -> Value:
    """The elements at plain positions."""
    assert x.shape is not None
    if len(drop) == 1 and _is_plain(x.shape, starts, stops, steps, drop[0]):
        place = g.number(starts[drop[0]])
        return g.op("Gather", x, place, axis=drop[0], shape=g.result.shape)
    chosen = [
        axis
        for axis, (start, stop, step, size) in enumerate(zip(starts, stops, steps, x.shape))
        if not _is_whole(start, stop, step, size)
    ]
    if chosen:
        bounds_of = [_bounds(starts[a], stops[a], steps[a], x.shape[a]) for a in chosen]
        first, last, by = ([*part] for part in zip(*bounds_of, strict=True))
        shape = list(g.result.shape)
        for axis in sorted(drop):
            shape.insert(axis, 1)
        x = g.slice(x, first, last, chosen, by, tuple(shape))
    return g.squeeze(x, drop) if drop else x


def _is_plain(shape: Any, starts: Any, stops: Any, steps: Any, dropped: int) -> bool:
    """Whether all is taken but along one axis, which has one position."""
    return all(
        axis == dropped or _is_whole(starts[axis], stops[axis], steps[axis], size)
        for axis, size in enumerate(shape)
    )


def _bounds(start: Any, stop: Any, step: int, size: Any) -> tuple[Any, Any, int]:
    """Start and end as ONNX has them, where numbers below 0 count from the end."""
    if step > 0:
        return start, stop, step
    if isinstance(start, int) and start < 0:
        return 0, 0, 1
    if isinstance(stop, int):
        return start, _BEFORE_ALL if stop < 0 else stop, step
    return start, difference(difference(stop, size), 0), step


@write("slice_update")
def _slice_update(
    g: Graph, x: Value, value: Value, starts: Any, stops: Any, steps: Any, drop: Any
) -> Value:
    assert x.shape is not None
    value = g.cast(value, x.dtype)
    if drop:
        value = g.unsqueeze(value, sorted(drop))
    chosen = [
        axis
        for axis, (start, stop, step, size) in enumerate(zip(starts, stops, steps, x.shape))
        if not _is_whole(start, stop, step, size)
    ]
    return _put(g, x, value, chosen, starts, stops, steps, set(drop))


def _put(
    g: Graph, x: Value, value: Value, axes: Any, starts: Any, stops: Any, steps: Any, drop: Any
) -> Value:
    """Along the first axis what is before, the value in what is there, and what is behind."""
    if not axes:
        return value
    axis, *rest = axes
    start, step = starts[axis], steps[axis]
    count = 1 if axis in drop else (value.shape or ())[axis]
    stop = start + 1 if axis in drop else stops[axis]
    shape = list(x.shape or ())
    shape[axis] = count
    if rest:
        first, last, by = _bounds(start, stop, step, (x.shape or ())[axis])
        within = g.slice(x, [first], [last], [axis], [by], tuple(shape))
        value = _put(g, within, value, rest, starts, stops, steps, drop)
    if step != 1:
        places = g.op("Mul", g.arange(count), g.const(np.int64(step)))
        places = g.op("Add", places, g.number(start))
        return scattered(g, x, value, places, axis)
    parts = []
    if not (isinstance(start, int) and start == 0):
        parts.append(g.slice(x, [0], [start], [axis]))
    parts.append(value)
    end = start + count
    if not is_same_size(end, (x.shape or ())[axis]):
        parts.append(g.slice(x, [end], [2**62], [axis]))
    return g.concat(parts, axis, x.shape) if len(parts) > 1 else value


def scattered(g: Graph, x: Value, value: Value, places: Value, axis: int) -> Value:
    """x with the slices of a value at places along an axis."""
    perm = [axis, *(a for a in range(x.rank) if a != axis)]
    back = [perm.index(a) for a in range(x.rank)]
    moved, new = g.transpose(x, perm), g.transpose(value, perm)
    made = g.op("ScatterND", moved, g.unsqueeze(places, [1]), new, shape=moved.shape)
    return g.transpose(made, back)


def is_positive(size: Any) -> bool:
    """Whether a size is surely not 0."""
    least = bounds(size)[0] if isinstance(size, Dim) else size
    return least is not None and least >= 1
