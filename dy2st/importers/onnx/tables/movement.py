"""Operators that move elements: shapes, axes, parts, pads; and sizes as tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st.importers.onnx.calls import Call, known, row, rows
from dy2st.importers.onnx.late import (
    parts_late,
    places_of,
    sliced_late,
    spread,
    triangle_late,
    unsqueezed,
)
from dy2st.importers.onnx.tables.elementwise import plain
from dy2st.importers.onnx.tensors import dtype_of
from dy2st_runtime.dims import (
    Size,
    ceil_divide,
    equal,
    minimum,
    product,
    require_equal,
    same_shape,
)
from dy2st_runtime.dims.operations import floordiv
from dy2st_runtime.errors import ShapeError, UnknownOperators
from dy2st_runtime.ir.dispatch import F, apply
from dy2st_runtime.ir.program import Variable

_FAR = 2**31 - 1
"""Ends of slices from here on mean the end."""


# -- shapes -----------------------------------------------------------------------------------


def reshaped(x: Any, shape: Sequence[Size]) -> Any:
    """x in a shape of which one size may be -1; 0 is a size of no elements."""
    wanted, open_axes = [*shape], [i for i, s in enumerate(shape) if isinstance(s, int) and s == -1]
    if len(open_axes) > 1 or any(isinstance(s, int) and s < -1 for s in shape):
        raise ShapeError(f"{[*shape]} is no shape")
    if open_axes:
        # What stands in both shapes needs no division, so it may be 0, too.
        rest = [size for axis, size in enumerate(shape) if axis != open_axes[0]]
        have = [*x.shape]
        for size in [*rest]:
            place = next((i for i, own in enumerate(have) if same_shape([own], [size])), None)
            if place is not None:
                rest.remove(size)
                del have[place]
        total, known_part = product(have), product(rest)
        if isinstance(known_part, int) and known_part == 0:
            raise ShapeError(f"-1 in {[*shape]} could be any size")
        left = floordiv(total, known_part)
        if equal(left * known_part, total) is not True:
            left = total // known_part
        reason = f"{x.shape} does not fit {[*shape]}"
        require_equal(left * known_part, total, reason)
        wanted[open_axes[0]] = left
    return apply("reshape", x, shape=tuple(wanted))


@row("Reshape")
def _reshape(n: Call) -> Any:
    x = n[0]
    shape = n.get("shape") if n[1] is None else n.numbers(1)
    if isinstance(shape, Variable):
        return F.reshape(x, shape)
    if not n.get("allowzero", 0):
        for axis, size in enumerate(shape):
            if isinstance(size, int) and size == 0:
                if axis >= x.ndim:
                    raise ShapeError(f"0 in {shape} copies axis {axis}, which {x.shape} has not")
                shape[axis] = x.shape[axis]
    return reshaped(x, shape)


@row("Flatten")
def _flatten(n: Call) -> Any:
    x, axis = n[0], n.get("axis", 1)
    axis += x.ndim if axis < 0 else 0
    return apply("reshape", x, shape=(product(x.shape[:axis]), product(x.shape[axis:])))


@row("Squeeze")
def _squeeze(n: Call) -> Any:
    x, axes = n[0], n.axes_or_tensor(1)
    if axes is None or isinstance(axes, Variable):
        return F.squeeze(x) if axes is None else F.squeeze(x, places_of(axes, x.ndim))
    places = {axis % max(x.ndim, 1) for axis in axes}
    for place in places:
        require_equal(x.shape[place], 1, f"axis {place} of {x.shape} has not the size 1")
    kept = [size for place, size in enumerate(x.shape) if place not in places]
    return apply("reshape", x, shape=tuple(kept))


@row("Unsqueeze")
def _unsqueeze(n: Call) -> Any:
    x, axes = n[0], n.axes_or_tensor(1)
    if isinstance(axes, Variable):
        return unsqueezed(x, axes)
    axes = axes or []
    rank = x.ndim + len(axes)
    places = {axis % rank for axis in axes}
    if len(places) != len(axes):
        raise ShapeError(f"an axis is given twice in {axes}")
    sizes = iter(x.shape)
    return apply(
        "reshape", x, shape=tuple(1 if axis in places else next(sizes) for axis in range(rank))
    )


@row("Expand")
def _expand(n: Call) -> Any:
    x, shape = n[0], n.numbers(1)
    if isinstance(shape, Variable):
        all_true = F.full(shape, True, "bool")
        return F.where(all_true, x, x)
    return F.broadcast_to(x, F.broadcast_shape(x.shape, shape))


@row("Shape")
def _shape(n: Call) -> Any:
    sizes = n[0].shape
    start, end = n.get("start", 0), n.get("end", len(sizes))
    made = apply("shape", n[0])
    if (start, end) == (0, len(sizes)):
        return made
    places = range(len(sizes))[start:end]
    return F.getitem(made, slice(places.start, max(places.stop, places.start)))


@row("Transpose")
def _transpose(n: Call) -> Any:
    return F.transpose(n[0], n.get("perm", [*range(n[0].ndim)][::-1]))


# -- parts ------------------------------------------------------------------------------------


@row("Concat")
def _concat(n: Call) -> Any:
    axis = n.get("axis", 1)
    return F.concat([*n.inputs], axis) if len(n) > 1 else F.assign(n[0])


@row("Split")
def _split(n: Call) -> tuple[Any, ...]:
    x, axis = n[0], n.get("axis", 0)
    parts = n.get("split") if n.get("split") is not None else n.numbers(1)
    if isinstance(parts, Variable):
        return parts_late(x, parts, len(n.node.outputs), axis % x.ndim)
    size, count = x.shape[axis], n.get("num_outputs", len(n.node.outputs))
    if parts is None:
        each = ceil_divide(size, count)
        parts = [*[each] * (count - 1), size - each * (count - 1)]
        if isinstance(size, int):
            parts = [max(min(each, size - i * each), 0) for i in range(count)]
    return tuple(F.split(x, parts, axis))


@row("Slice")
def _slice(n: Call) -> Any:
    x = n[0]
    if n.version < 10:
        starts, ends = n.attributes["starts"], n.attributes["ends"]
        return sliced(x, n.get("axes") or [*range(len(starts))], starts, ends, [1] * len(starts))
    starts, ends, axes, steps = (n.numbers(place) for place in range(1, 5))
    count = n[1].shape[0]
    axes = [*range(count)] if axes is None else axes
    steps = [1] * count if steps is None else steps
    if any(isinstance(one, Variable) for one in (axes, steps)):
        return sliced_late(x, starts, ends, axes, steps)
    if any(isinstance(one, Variable) for one in (starts, ends)):
        return _sliced_by_axis(x, axes, starts, ends, steps)
    return sliced(x, axes, starts, ends, steps)


def sliced(
    x: Any, axes: Sequence[int], starts: Sequence[Any], ends: Sequence[Any], steps: Sequence[int]
) -> Any:
    """x[start:end:step] along axes; ends far away are those of the axis."""
    index: list[Any] = [slice(None)] * x.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        index[axis] = slice(_end(start), _end(end), step)
    return F.getitem(x, tuple(index)) if index else F.assign(x)


def _end(place: Any) -> Any:
    return None if isinstance(place, int) and not -_FAR < place < _FAR else place


def _sliced_by_axis(x: Any, axes: Any, starts: Any, ends: Any, steps: Any) -> Any:
    """With ends that are known only when the model runs: one axis after the other."""
    for place, axis in enumerate(axes):
        start, end = (
            F.cast(F.getitem(one, place), "int64") if isinstance(one, Variable) else one[place]
            for one in (starts, ends)
        )
        index: list[Any] = [slice(None)] * x.ndim
        index[axis] = slice(_end(start), _end(end), steps[place])
        x = F.getitem(x, tuple(index))
    return x


@row("Tile")
def _tile(n: Call) -> Any:
    x = n[0]
    if n.version < 6:
        axis, times = n.number(2, "`axis`"), n.number(1, "`tiles`")
        return F.tile(x, [times if i == axis else 1 for i in range(x.ndim)])
    return F.tile(x, n.numbers(1))


# -- pads -------------------------------------------------------------------------------------

_MODES = {"constant": "constant", "reflect": "reflect", "edge": "replicate", "wrap": "circular"}


@row("Pad")
def _pad(n: Call) -> Any:
    x, mode = n[0], _MODES[n.get("mode", "constant")]
    pads = n.get("pads", n.get("paddings"))
    value = n.get("value", 0.0) if n[2] is None else plain(n, 2)
    if pads is not None:
        return _padded_along(x, pads, [*range(x.ndim)], mode, value)
    axes, pads = n.numbers(3), n.numbers(1)
    axes = [*range(x.ndim)] if axes is None else axes
    if isinstance(pads, Variable) or isinstance(axes, Variable):
        return _padded_late(x, n[1], axes, mode, value)
    return _padded_along(x, pads, axes, mode, value)


def _padded_along(x: Any, pads: Sequence[Any], axes: Sequence[int], mode: str, value: Any) -> Any:
    """With the pads before all axes, and then those behind them."""
    if len(pads) != 2 * len(axes):
        raise ShapeError(f"{len(pads)} pads do not fit {len(axes)} axes")
    flat: list[Any] = [0] * (2 * x.ndim)
    for place, axis in enumerate(axes):
        flat[2 * axis], flat[2 * axis + 1] = pads[place], pads[len(axes) + place]
    return padded(x, flat, mode, value)


def padded(x: Any, flat: Any, mode: str, value: Any) -> Any:
    """x with pads, two for each axis, around it; the value may be a tensor."""
    if not isinstance(value, Variable):
        return F.pad(x, flat, mode, value if mode == "constant" else 0)
    if mode != "constant":
        return F.pad(x, flat, mode)
    is_inside = F.pad(F.full(x.shape, True, "bool"), flat)
    return F.where(is_inside, F.pad(x, flat), F.cast(F.reshape(value, []), x.dtype))


def _padded_late(x: Any, pads: Any, axes: Any, mode: str, value: Any) -> Any:
    """With pads, or axes, that are known only when the model runs."""
    count = pads.shape[0]
    if isinstance(axes, list):
        axes = n_tensor(axes)
    pairs = F.reshape(F.cast(pads, "int64"), [2, count // 2])
    sides = [spread(F.getitem(pairs, side), axes, x.ndim, 0) for side in (0, 1)]
    return padded(x, F.reshape(F.stack(sides, 1), [2 * x.ndim]), mode, value)


def n_tensor(numbers: Sequence[int]) -> Any:
    """A tensor of integers that are known."""
    return F.stack([F.full([], number, "int64") for number in numbers])


@row("CenterCropPad")
def _center(n: Call) -> Any:
    """Cropped or padded around the middle to a size along axes."""
    x, sizes = n[0], n.numbers(1)
    axes = [axis % x.ndim for axis in n.get("axes", [*range(x.ndim)])]
    index: list[Any] = [slice(None)] * x.ndim
    flat: list[Any] = [0] * (2 * x.ndim)
    least: Any = minimum
    if isinstance(sizes, Variable):
        sizes = [F.cast(F.getitem(sizes, place), "int64") for place in range(len(axes))]
        least = F.minimum
    for axis, size in zip(axes, sizes, strict=True):
        own = x.shape[axis]
        cut = least(own, size)
        start = (own - cut) // 2
        index[axis] = slice(start, start + cut)
        flat[2 * axis] = (size - cut) // 2
        flat[2 * axis + 1] = size - cut - (size - cut) // 2
    return F.pad(F.getitem(x, tuple(index)), flat)


@row("DepthToSpace")
def _depth_to_space(n: Call) -> Any:
    x, block = n[0], n.attributes["blocksize"]
    batch, channels, high, wide = x.shape
    if n.get("mode", "DCR") == "DCR":
        parts = F.reshape(x, [batch, block, block, channels // (block * block), high, wide])
        parts = F.transpose(parts, [0, 3, 4, 1, 5, 2])
    else:
        parts = F.reshape(x, [batch, channels // (block * block), block, block, high, wide])
        parts = F.transpose(parts, [0, 1, 4, 2, 5, 3])
    return F.reshape(parts, [batch, channels // (block * block), high * block, wide * block])


@row("SpaceToDepth")
def _space_to_depth(n: Call) -> Any:
    x, block = n[0], n.attributes["blocksize"]
    batch, channels, high, wide = x.shape
    parts = F.reshape(x, [batch, channels, high // block, block, wide // block, block])
    parts = F.transpose(parts, [0, 3, 5, 1, 2, 4])
    if n.get("mode", "DCR") == "CRD":
        parts = F.transpose(parts, [0, 3, 1, 2, 4, 5])
    return F.reshape(parts, [batch, channels * block * block, high // block, wide // block])


# -- made of numbers and sizes ----------------------------------------------------------------


@row("Constant")
def _constant(n: Call) -> Any:
    """A tensor that stands in the node, in one of several forms."""
    forms: dict[str, Any] = {
        "value_float": np.float32,
        "value_floats": np.float32,
        "value_int": np.int64,
        "value_ints": np.int64,
    }
    for name, value in n.attributes.items():
        if name in ("value", "sparse_value"):
            return n.reader.tensor(value)
        if name in forms:
            return n.reader.tensor(np.asarray(value, forms[name]))
    raise UnknownOperators("it has no value that a Program has")


@row("ConstantOfShape")
def _filled(n: Call) -> Any:
    value = n.get("value")
    value = np.zeros(1, np.float32) if value is None else value.reshape(-1)
    if value.size != 1:
        raise ShapeError(f"`value` is one number, not {value.size}")
    if value.dtype.kind not in "fiub":
        return F.broadcast_to(F.reshape(n.reader.tensor(value), []), n.numbers(0))
    return F.full(n.numbers(0), value[0].item(), value.dtype)


@row("Range")
def _range(n: Call) -> Any:
    dtype = n[0].dtype
    ends = [plain(n, place) for place in range(3)]
    sizes = [known(n[place]) for place in range(3)]
    given = [
        one if not isinstance(one, Variable) or size is None else size.item()
        for one, size in zip(ends, sizes, strict=True)
    ]
    start, stop, step = (F.reshape(e, []) if isinstance(e, Variable) else e for e in given)
    return F.arange(start, stop, step, dtype=dtype)


@row("EyeLike")
def _eye(n: Call) -> Any:
    x, offset = n[0], n.get("k", 0)
    dtype = dtype_of(n.attributes["dtype"]) if "dtype" in n.attributes else x.dtype
    rows, columns = x.shape
    if not offset:
        return F.eye(rows, columns, dtype)
    down = F.reshape(F.arange(rows), [rows, 1])
    return F.cast(F.equal(F.arange(columns) - down, offset), dtype)


@row("Trilu")
def _triangle(n: Call) -> Any:
    x, offset = n[0], 0 if n[1] is None else plain(n, 1)
    if isinstance(offset, Variable):
        return triangle_late(x, offset, bool(n.get("upper", 1)))
    return F.triu(x, offset) if n.get("upper", 1) else F.tril(x, offset)


@row("Size")
def _size(n: Call) -> Any:
    return F.prod(apply("shape", n[0])) if n[0].ndim else F.full([], 1, "int64")


rows(
    {
        "BitCast": lambda n: apply("bitcast", n[0], dtype=dtype_of(n.attributes["to"])),
        "Identity": lambda n: n[0],
    }
)
__all__ = ["padded", "reshaped", "sliced"]
