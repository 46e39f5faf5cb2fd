"""Operators that move elements: shapes, axes, parts, pads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.importers.paddle.calls import Call, Unsupported, constant, scalar, table
from dy2st_runtime.dims import product
from dy2st_runtime.errors import FormatError
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.nn import functional as nn

Row = Callable[[Call], Any]
ROWS: dict[str, Row] = {}
_row = table(ROWS)
_FAR = 2**31 - 1


@_row("slice")
def _slice(c: Call) -> Any:
    x, axes = c[0], c.need("axes")
    starts, ends = c.ints(1), c.ints(2)
    made = F.slice(x, axes, _bounds(starts), _bounds(ends)) if axes else x
    squeezed = c.get("decrease_axis", [])
    return F.squeeze(made, squeezed) if squeezed else made


def _bounds(bounds: Any) -> Any:
    """Bounds of a slice: from 2**31 - 1 on they mean the end."""
    if isinstance(bounds, Variable):
        return bounds
    return [min(one, _FAR) if isinstance(one, int) else one for one in bounds]


@_row("strided_slice")
def _strided_slice(c: Call) -> Any:
    bounds = [_bounds(c.ints(place)) for place in (1, 2, 3)]
    made = F.strided_slice(c[0], c.need("axes"), *bounds)
    squeezed = c.get("decrease_axis", [])
    return F.squeeze(made, squeezed) if squeezed else made


def _index(c: Call, first: int) -> tuple[Any, list[int]]:
    """The index of a set_value, and the axes that its value has not."""
    x, axes = c[0], c.need("axes")
    starts, ends, steps = (c.ints(first + place) for place in range(3))
    index: list[Any] = [slice(None)] * x.ndim
    bounds = []
    for some in (starts, ends, steps):
        if isinstance(some, Variable):
            some = [scalar(F.getitem(some, place)) for place in range(len(axes))]
        bounds.append([None if _is_far(one) else one for one in some])
    for axis, start, end, step in zip(axes, *bounds, strict=True):
        index[axis] = slice(start, end, step)
    return tuple(index), [*c.get("decrease_axes", [])]


def _is_far(bound: Any) -> bool:
    return isinstance(bound, int) and abs(bound) >= _FAR


def _set_value(c: Call, value: Any, first: int) -> Any:
    x = c[0]
    index, dropped = _index(c, first)
    if isinstance(value, Variable):
        value = F.cast(value, x.dtype) if value.dtype != x.dtype else value
        added = sorted(c.get("none_axes", []))
        if added and value.ndim > len(added):
            value = F.squeeze(value, added)
        rank = x.ndim - len(dropped)
        if dropped and value.ndim > rank:
            raise Unsupported("set_value with a value of more axes than are set")
        for axis in sorted(dropped):
            # An axis of the value's own for each one that an integer takes, if it reaches so far.
            if axis - (x.ndim - value.ndim - 1) > 0 and value.ndim:
                value = F.unsqueeze(value, axis - (x.ndim - value.ndim - 1))
    return F.setitem(x, index, value)


@_row("set_value")
def _set_constant(c: Call) -> Any:
    values, shape = c.need("values"), c.get("shape", [1])
    kind = int if c[0].dtype.kind in "iu" else bool if c[0].dtype.kind == "b" else lambda v: v
    values = [kind(one) for one in values]
    if len(values) == 1:
        return _set_value(c, values[0], 1)
    return _set_value(c, constant(values, c[0].dtype, shape), 1)


@_row("reshape")
def _reshape(c: Call) -> Any:
    shape = c.ints(1)
    if not isinstance(shape, Variable) and all(isinstance(one, int) for one in shape):
        shape = [*shape]
    return F.reshape(c[0], shape)


@_row("squeeze")
def _squeeze(c: Call) -> Any:
    x, axes = c[0], c.axes(1)
    # Axes of other sizes stay, as they do there.
    named = {axis % max(x.ndim, 1) for axis in axes}
    places = sorted(named or range(x.ndim))
    kept = [axis for axis in places if isinstance(x.shape[axis], int) and x.shape[axis] == 1]
    return F.squeeze(x, kept) if kept else F.assign(x)


@_row("split")
def _split(c: Call) -> Any:
    sections, axis = c.ints(1), c.number(2, "an axis")
    if isinstance(sections, Variable):
        raise Unsupported("split into sizes that the model computes")
    return (F.split(c[0], sections, axis),)


@_row("tile")
def _tile(c: Call) -> Any:
    return F.tile(c[0], c.ints(1))


@_row("expand")
def _expand(c: Call) -> Any:
    return F.expand(c[0], c.ints(1))


@_row("expand_as")
def _expand_as(c: Call) -> Any:
    shape = c.get("target_shape", []) if c[1] is None else [*c[1].shape]
    return F.expand(c[0], shape)


@_row("pad3d")
def _pad3d(c: Call) -> Any:
    mode, layout = c.get("mode", "constant"), c.get("data_format", "NCDHW")
    return F.pad(c[0], _known(c, 1), mode, c.get("pad_value", 0.0), layout)


@_row("pad2d")
def _pad2d(c: Call) -> Any:
    top, bottom, left, right = c.need("paddings")
    mode = {"edge": "replicate"}.get(c.get("mode", "constant"), c.get("mode", "constant"))
    layout = c.get("data_format", "NCHW")
    return F.pad(c[0], [left, right, top, bottom], mode, c.get("pad_value", 0.0), layout)


def _known(c: Call, place: int) -> list[Any]:
    found = c.ints(place)
    if isinstance(found, Variable):
        raise Unsupported(f"{c.node.name} by sizes that the model computes")
    return [*found]


@_row("pad")
def _pad(c: Call) -> Any:
    """Pads of all axes from the first one on; a negative axis is none."""
    pads = c.need("paddings")
    value = c.get("pad_value", 0.0) if c[1] is None else c.value(1)
    pairs = [pads[place : place + 2] for place in range(0, len(pads), 2)]
    if len(pairs) != c[0].ndim:
        raise FormatError(f"pad has {len(pairs)} pairs for {c[0].ndim} axes")
    made = c[0]
    for axis, (before, behind) in enumerate(pairs):
        parts = [made]
        for place, count in ((0, before), (2, behind)):
            if count:
                sizes = [*made.shape]
                sizes[axis] = count
                parts.insert(0 if not place else len(parts), F.full(sizes, value, made.dtype))
        made = F.concat(parts, axis) if len(parts) > 1 else made
    return made


@_row("roll")
def _roll(c: Call) -> Any:
    axes = c.get("axis", [])
    return F.roll(c[0], _known(c, 1), axes or None)


@_row("flatten2")
def _flatten2(c: Call) -> Any:
    x, axis = c[0], c.get("axis", 1)
    return F.reshape(x, [product(x.shape[:axis]), product(x.shape[axis:])])


@_row("repeat_interleave")
def _repeat(c: Call) -> Any:
    if c[1] is not None:
        return F.repeat_interleave(c[0], c[1], _axis(c))
    return F.repeat_interleave(
        c[0], c.need("repeats" if "repeats" in c.attributes else "Repeats"), _axis(c)
    )


def _axis(c: Call, default: int = 0) -> Any:
    return c.get("axis", c.get("dim", default))


@_row("crop")
def _crop(c: Call) -> Any:
    shape = c.get("shape", []) if c[1] is None else c.ints(1)
    offsets = c.get("offsets", []) if c[2] is None else c.ints(2)
    return F.crop(c[0], shape, offsets)


@_row("channel_shuffle", "shuffle_channel")
def _shuffle(c: Call) -> Any:
    return nn.channel_shuffle(
        c[0], c.get("groups", c.get("group", 1)), c.get("data_format", "NCHW")
    )


def _parted(c: Call) -> Any:
    """The axis whose places become a list."""
    axis = c.get("axis", 0)
    c.few(c[0].shape[axis], "parts")
    return axis


def _same(c: Call) -> Any:
    """The same tensor; a list or a list of the Program as it is."""
    is_tensor = isinstance(c[0], Variable) and isinstance(c[0].type, TensorType)
    return F.assign(c[0]) if is_tensor else (c[0],)


ROWS |= {
    "as_strided": lambda c: F.as_strided(c[0], c.get("dims", c.get("shape")), c.need("stride"),
                                         c.get("offset", 0)),
    "broadcast_tensors": lambda c: (F.broadcast_tensors(c[0]),),
    "builtin.combine": lambda c: ([*c.operands],),
    "builtin.split": lambda c: tuple(c[0]),
    "builtin.slice": lambda c: c[0][c.need("index")],
    "cast": lambda c: F.cast(c[0], c.dtype()),
    "concat": lambda c: F.concat(c[0], c.number(1, "an axis")),
    "diag": lambda c: F.diag(c[0], c.get("offset", 0), c.get("padding_value", 0.0)),
    "diag_embed": lambda c: F.diag_embed(c[0], c.get("offset", 0), c.get("dim1", -2),
                                         c.get("dim2", -1)),
    "diagonal": lambda c: F.diagonal(c[0], c.get("offset", 0), c.get("axis1", 0),
                                     c.get("axis2", 1)),
    "fill_diagonal_tensor": lambda c: F.fill_diagonal_tensor(
        c[0], c[1], c.get("offset", 0), c.get("dim1", 0), c.get("dim2", 1)),
    "flatten": lambda c: F.flatten(c[0], c.get("start_axis", 1), c.get("stop_axis", 1)),
    "flip": lambda c: F.flip(c[0], c.need("axis")),
    "fold": lambda c: nn.fold(c[0], c.need("output_sizes"), c.need("kernel_sizes"),
                              c.get("strides", 1), c.get("paddings", 0), c.get("dilations", 1)),
    "meshgrid": lambda c: (F.meshgrid(*c[0]),),
    "pixel_shuffle": lambda c: F.pixel_shuffle(c[0], c.get("upscale_factor", 1),
                                               c.get("data_format", "NCHW")),
    "pixel_unshuffle": lambda c: nn.pixel_unshuffle(c[0], c.get("downscale_factor", 1),
                                                    c.get("data_format", "NCHW")),
    "repeat_interleave_with_tensor_index": lambda c: F.repeat_interleave(c[0], c[1], _axis(c)),
    "reverse": lambda c: F.flip(c[0], c.axes(1)),
    "set_value_with_tensor": lambda c: _set_value(c, c[1], 2),
    "shape": lambda c: F.cast(F.shape(c[0]), "int32"),
    "shape64": lambda c: F.shape(c[0]),
    "split_with_num": lambda c: (
        F.split(c[0], c.few(c.need("num"), "parts"), c.number(1, "an axis")),),
    "stack": lambda c: F.stack(c[0], c.get("axis", 0)),
    "temporal_shift": lambda c: nn.temporal_shift(c[0], c.need("seg_num"),
                                                  c.get("shift_ratio", 0.25),
                                                  data_format=c.get("data_format", "NCHW")),
    "transpose": lambda c: F.transpose(c[0], c.need("perm")),
    "tril": lambda c: F.tril(c[0], c.get("diagonal", 0)),
    "triu": lambda c: F.triu(c[0], c.get("diagonal", 0)),
    "unbind": lambda c: (F.unbind(c[0], _parted(c)),),
    "unfold": lambda c: nn.unfold(c[0], c.need("kernel_sizes"), c.get("strides", 1),
                                  c.get("paddings", 0), c.get("dilations", 1)),
    "unsqueeze": lambda c: F.unsqueeze(c[0], c.axes(1)),
    "unstack": lambda c: (F.unstack(c[0], _parted(c), c.get("num")),),
    "view_shape": lambda c: F.reshape(c[0], c.need("dims")),
    **dict.fromkeys(
        ("assign", "share_data", "memcpy", "memcpy_d2h", "memcpy_h2d", "copy_to", "npu_identity",
         "depend", "onednn_to_paddle_layout", "trans_layout"),
        _same,
    ),
    "assign_out": lambda c: F.assign(c[0]),
}  # fmt: skip

__all__ = ["ROWS"]
