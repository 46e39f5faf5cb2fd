"""Operators whose shape argument is a tensor of values that are known only at run time.

Each is another form of a function that takes those values as Python numbers: that function is its
kernel and its gradient, and what the DynamicToStatic pass puts in its place once they are known.
The rank of the result must be known, from how many values there are; its sizes are new symbols.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from dy2st_runtime.dims import Size, require_equal
from dy2st_runtime.errors import ArgumentError, ShapeError, UndecidedDim
from dy2st_runtime.ir import F, Sample, TensorType, View, apply, define, public
from dy2st_runtime.ir.arguments import fresh_symbol, normalize_axes, normalize_axis
from dy2st_runtime.ir.attribute_kinds import AXES, KNOWN_SIZES, NUMBER, SIGNED_AXIS, one_of
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.dispatch import eagerly
from dy2st_runtime.ops.creation import filled_with
from dy2st_runtime.ops.padding import MODE
from dy2st_runtime.ops.resize import MODES

Sizes = Sequence["Size | None"]
"""Sizes of a result; None where a new symbol stands."""

PREFIX = "dynamic_"


class Row(NamedTuple):
    """One dynamic operator.

    arguments  which inputs are the values that the static function takes as Python numbers.
    static     the function: inputs in order, attributes by name.
    sizes      the shape of the (first) result, from the types of the inputs and the attributes.
    dtype      its element type; the same for all that follow from x.
    least      the smallest of the numbers that has no meaning of its own; None if none has.
    reshapes   whether the result has the elements of x in their order.
    direct     what computes a call in which nothing is wrong or has a meaning of its own; it gives
               None for all others.
    """

    name: str
    inputs: str
    arguments: tuple[int, ...]
    static: Callable[..., Any]
    sizes: Callable[..., Sizes]
    samples: tuple[Sample, ...]
    attributes: Mapping[str, Any] = MappingProxyType({})
    dtype: Callable[..., Any] = lambda x, *_, **__: x.dtype
    has_places: bool = False
    least: int | None = 0
    reshapes: bool = False
    direct: Callable[..., Any] = lambda *_, **__: None


def _by(name: str, *arrays: Any, **attributes: Any) -> Any:
    kernel = lookup(name).kernel
    assert kernel is not None
    return kernel(*arrays, **attributes)


def _broadcast(x: Any, shape: list[int], known: Any) -> Any:
    ends = shape[len(shape) - x.ndim :]
    is_plain = len(shape) >= x.ndim and min(shape, default=1) > 0
    if not is_plain or any(size not in (1, end) for size, end in zip(x.shape, ends, strict=True)):
        return None
    return _by("broadcast_to", x, shape=tuple(shape))


def _count(type: TensorType, what: str) -> int:
    """How many values a tensor of them holds; UndecidedDim if that is not known."""
    if type.rank == 0:
        return 1
    count = type.shape[0]
    if type.rank != 1 or not isinstance(count, int):
        raise UndecidedDim(
            f"{what} is a tensor of shape {list(type.shape)}, so the number of axes of the result "
            "is not known: give it a known length"
        )
    return count


def _known(sizes: Sizes | None, type: TensorType, what: str) -> Sizes:
    return [None] * _count(type, what) if sizes is None else list(sizes)


def _without_signs(sizes: Sizes) -> Sizes:
    """Sizes as given, but for 0 and -1, which the function gives a meaning of its own."""
    return [None if isinstance(s, int) and s <= 0 else s for s in sizes]


def _without_axes(x: Any, axis: Any) -> Any:
    """x squeezed; here an axis of another size than 1 cannot just stay."""
    for place in normalize_axes(axis, x.ndim):
        require_equal(x.shape[place], 1, f"squeeze: axis {place} has the size {x.shape[place]}")
    return F.squeeze(x, axis)


def _topk_sizes(x: TensorType, k: TensorType, axis: int, largest: bool) -> Sizes:
    cut = normalize_axis(axis, x.rank)
    return [None if place == cut else size for place, size in enumerate(x.shape)]


_F64_AND_INT = ("float64", "int64")
_NO_SIZES = {"known": KNOWN_SIZES.or_else(None)}
_RESIZE = {
    "mode": one_of(*MODES).or_else("nearest"),
    "align_corners": False,
    "align_mode": 0,
}
ROWS = (
    Row(
        "reshape",
        "x, shape",
        (1,),
        lambda x, shape, known: F.reshape(x, shape),
        lambda x, shape, known: _without_signs(_known(known, shape, "reshape: the shape")),
        (Sample(((1, 1), (2,)), {}, _F64_AND_INT, 1, 2),),
        _NO_SIZES,
        least=1,
        reshapes=True,
        direct=lambda x, shape, known: (
            _by("reshape", x, shape=tuple(shape))
            if min(shape, default=1) > 0 and math.prod(shape) == x.size
            else None
        ),
    ),
    Row(
        "squeeze",
        "x, axis",
        (1,),
        lambda x, axis: _without_axes(x, axis),
        lambda x, axis: [None] * (x.rank - _count(axis, "squeeze: the axes")),
        (Sample(((1, 1), (1,)), {}, _F64_AND_INT, 0, 1),),
        reshapes=True,
    ),
    Row(
        "unsqueeze",
        "x, axis",
        (1,),
        lambda x, axis: F.unsqueeze(x, axis),
        lambda x, axis: [None] * (x.rank + _count(axis, "unsqueeze: the axes")),
        (Sample(((2, 3), (1,)), {}, _F64_AND_INT, 0, 3),),
        reshapes=True,
    ),
    Row(
        "tile",
        "x, repeats",
        (1,),
        lambda x, repeats: F.tile(x, repeats),
        lambda x, repeats: [None] * max(x.rank, _count(repeats, "tile: the repeats")),
        (Sample(((2, 3), (2,)), {}, _F64_AND_INT, 1, 3),),
    ),
    Row(
        "topk",
        "x, k",
        (1,),
        lambda x, k, axis, largest: F.topk(x, k, axis, largest),
        _topk_sizes,
        (Sample(((2, 3), ()), {}, _F64_AND_INT, 1, 3),),
        {"axis": SIGNED_AXIS.or_else(0), "largest": True},
        has_places=True,
    ),
    Row(
        "broadcast_to",
        "x, shape",
        (1,),
        lambda x, shape, known: F.expand(x, shape),
        lambda x, shape, known: _without_signs(_known(known, shape, "broadcast_to: the shape")),
        (Sample(((1, 1), (2,)), {}, _F64_AND_INT, 1, 3),),
        _NO_SIZES,
        direct=_broadcast,
    ),
    Row(
        "full",
        "shape",
        (0,),
        lambda shape, value, dtype, known: F.full(shape, value, dtype),
        lambda shape, value, dtype, known: _known(known, shape, "full: the shape"),
        (Sample(((2,),), {}, ("int64",), 0, 3),),
        {"value": NUMBER.or_else(0), "dtype": np.dtype("float32"), **_NO_SIZES},
        dtype=lambda shape, value, dtype, known: filled_with(value, dtype),
        direct=lambda shape, value, dtype, known: (
            _by("full", shape=tuple(shape), value=value, dtype=dtype)
            if isinstance(shape, list) and min(shape, default=0) >= 0
            else None
        ),
    ),
    Row(
        "one_hot",
        "x, num_classes",
        (1,),
        lambda x, num_classes: F.one_hot(x, num_classes),
        lambda x, num_classes: [*x.shape, None],
        (Sample(((0, 3), ()), {}, ("int64", "int64"), 2, 3),),
        dtype=lambda x, num_classes: "float32",
    ),
    Row(
        "resize",
        "x, size",
        (1,),
        lambda x, size, known, **how: F.interpolate(x, size, **how),
        lambda x, size, known, **how: [
            *x.shape[:2],
            *_known(known, size, "interpolate: the size"),
        ],
        (Sample(((1, 2, 2, 3), (2,)), {}, _F64_AND_INT, 1, 4),),
        {**_RESIZE, **_NO_SIZES},
    ),
    Row(
        "upsampling",
        "x, scale",
        (1,),
        lambda x, scale, **how: F.interpolate(x, scale_factor=scale, **how),
        lambda x, scale, **how: [*x.shape[:2], *[None] * (x.rank - 2)],
        (Sample(((1, 2, 2, 3), ()), {}, _F64_AND_INT, 1, 4),),
        _RESIZE,
    ),
    Row(
        "pad",
        "x, pads",
        (1,),
        lambda x, pads, mode, value: F.pad(x, pads, mode, value),
        lambda x, pads, mode, value: [None] * x.rank,
        (Sample(((2, 3), (4,)), {}, _F64_AND_INT, 0, 3),),
        {"mode": MODE, "value": 0.0},
    ),
    Row(
        "strided_slice",
        "x, starts, ends, strides",
        (1, 2, 3),
        lambda x, starts, ends, strides, axes: F.strided_slice(x, axes, starts, ends, strides),
        lambda x, starts, ends, strides, axes: [
            None if axis in axes else size for axis, size in enumerate(x.shape)
        ],
        (Sample(((4, 3), (1,), (1,), (1,)), {"axes": (0,)}, ("float64", *["int64"] * 3), 1, 3),),
        {"axes": AXES.or_else((0,))},
    ),
    Row(
        "arange",
        "start, end, step",
        (0, 1, 2),
        lambda start, end, step, dtype: F.arange(start, end, step, dtype),
        lambda start, end, step, dtype: [None],
        (Sample(((), (), ()), {}, ("int64",) * 3, 1, 3),),
        {"dtype": np.dtype("int64")},
        dtype=lambda start, end, step, dtype: dtype,
        least=None,
    ),
    Row(
        "scatter_nd",
        "index, updates, shape",
        (2,),
        lambda index, updates, shape, known: F.scatter_nd(index, updates, shape),
        lambda index, updates, shape, known: _known(known, shape, "scatter_nd: the shape"),
        (Sample(((0, 1), (0,), (1,)), {}, ("int64", "float64", "int64"), 2, 3),),
        _NO_SIZES,
        dtype=lambda index, updates, shape, known: updates.dtype,
    ),
)
TABLE = {PREFIX + row.name: row for row in ROWS}


def static_form(name: str, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    """The result of the static function, its arguments given as nested lists of sizes."""
    return TABLE[name].static(*inputs, **attributes)


def _define(row: Row) -> None:
    def infer(*types: TensorType, **attributes: Any) -> Any:
        shape = [
            fresh_symbol("size") if size is None else size
            for size in row.sizes(*types, **attributes)
        ]
        result = TensorType(row.dtype(*types, **attributes), shape)
        return (result, result.with_dtype("int64")) if row.has_places else result

    def values_of(inputs: Sequence[Any]) -> list[Any]:
        return [
            np.asarray(value).tolist() if place in row.arguments else value
            for place, value in enumerate(inputs)
        ]

    def with_values(*inputs: Any, **attributes: Any) -> Any:
        return row.static(*values_of(inputs), **attributes)

    def kernel(*arrays: Any, **attributes: Any) -> Any:
        values = values_of(arrays)
        if (found := row.direct(*values, **attributes)) is not None:
            return found
        with eagerly(as_recorded=True):
            result = row.static(*values, **attributes)
        return tuple(map(np.asarray, result)) if row.has_places else np.asarray(result)

    define(
        PREFIX + row.name,
        doc=f"{row.name}, its {row.inputs.split(', ', 1)[-1]} known only when it runs.",
        inputs=row.inputs,
        attributes=row.attributes,
        raises=(ShapeError, ArgumentError, IndexError, ZeroDivisionError, ValueError),
        padding=lambda site: site.refuse("has sizes that are known only at run time"),
        view=View.UNSURE,  # some of the functions give what they are given
        put_back=(lambda x, y, place, *_, **__: F.reshape(y, x.shape)) if row.reshapes else None,
        infer=infer,
        kernel=kernel,
        decompose=with_values,
        samples=row.samples,
    )


for _row in ROWS:
    _define(_row)


@public
def dynamic(name: str, *inputs: Any, **attributes: Any) -> Any:
    """Record the dynamic form of a function; its public name decides when."""
    return apply(PREFIX + name, *inputs, **attributes)
