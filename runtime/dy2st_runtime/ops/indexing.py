"""`x[index]` and `x[index] = value` by NumPy's rules, on four primitives.

slice, slice_update   plain positions: a start, stop and step for every axis, inside the tensor
index, index_put      integer tensors as positions, for some of the axes
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import (
    Dim,
    Size,
    ceil_divide,
    equal,
    less,
    less_equal,
    maximum,
    minimum,
    require,
)
from dy2st_runtime.errors import DTypeError, ShapeError
from dy2st_runtime.ir import (
    REQUIRED,
    ArrayType,
    F,
    Sample,
    Tensor,
    TensorType,
    Variable,
    apply,
    current_tracer,
    define,
    public,
)
from dy2st_runtime.ir.arguments import as_size, known_dim, known_dims, normalize_axis
from dy2st_runtime.ops.rules import broadcast_shapes

Bounds = tuple[tuple[Size, ...], tuple[Size, ...], tuple[int, ...]]
_SLICE: dict[str, Any] = {"starts": REQUIRED, "stops": REQUIRED, "steps": REQUIRED}


def _slices(starts: Any, stops: Any, steps: Any) -> tuple[builtins.slice, ...]:
    """NumPy's slices; a stop before the first element is written as None."""
    return tuple(
        builtins.slice(a, None if b < 0 else b, s)
        for a, b, s in zip(starts, stops, steps, strict=True)
    )


def _length(start: Size, stop: Size, step: int) -> Size:
    length = ceil_divide(stop - start, step)
    return length if less_equal(0, length) is True else maximum(length, 0)


def _slice_infer(x: TensorType, starts: Any, stops: Any, steps: Any) -> TensorType:
    bounds = zip(starts, stops, steps, strict=True)
    return x.with_shape(_length(a, b, s) for a, b, s in bounds)


def _slice_gradient(g: Any, y: Any, x: Any, **bounds: Any) -> Any:
    return apply("slice_update", F.zeros(x.shape, g.dtype), g, **bounds)


define(
    "slice",
    doc="Every step-th element from start to stop along every axis.",
    inputs="x",
    attributes=_SLICE,
    infer=_slice_infer,
    kernel=lambda x, starts, stops, steps: x[_slices(starts, stops, steps)],
    gradient=_slice_gradient,
    samples=(
        Sample(((4, 5),), {"starts": (1, 0), "stops": (3, 5), "steps": (1, 2)}),
        Sample(((4,),), {"starts": (3,), "stops": (-1,), "steps": (-1,)}),
        Sample(((4,),), {"starts": (2,), "stops": (2,), "steps": (1,)}),
    ),
)


def _update_kernel(x: Any, value: Any, starts: Any, stops: Any, steps: Any) -> Any:
    result = np.array(x)
    result[_slices(starts, stops, steps)] = value
    return result


def _update_gradient(g: Any, y: Any, x: Any, value: Any, **bounds: Any) -> Any:
    return (
        lambda: apply("slice_update", g, F.zeros(value.shape, g.dtype), **bounds),
        lambda: apply("slice", g, **bounds),
    )


define(
    "slice_update",
    doc="x with `value` in place of its slice.",
    inputs="x, value",
    attributes=_SLICE,
    infer=lambda x, value, **_: x,
    kernel=_update_kernel,
    gradient=_update_gradient,
    samples=(
        Sample(((4, 5), (2, 3)), {"starts": (1, 0), "stops": (3, 5), "steps": (1, 2)}),
        Sample(((4,), (2,)), {"starts": (3,), "stops": (-1,), "steps": (-2,)}),
    ),
)


def _index_shape(x: TensorType, indices: Sequence[TensorType], axes: tuple[int, ...]) -> Any:
    for index in indices:
        if index.dtype.kind not in "iu":
            raise DTypeError(f"an index is an integer tensor, not one of dtype {index.dtype}")
    picked = broadcast_shapes("index", *(index.shape for index in indices))
    rest = [size for axis, size in enumerate(x.shape) if axis not in axes]
    place = axes[0] if _are_neighbours(axes) else 0
    return [*rest[:place], *picked, *rest[place:]]


def _are_neighbours(axes: tuple[int, ...]) -> bool:
    return list(axes) == list(range(axes[0], axes[0] + len(axes)))


def _index_infer(x: TensorType, *indices: TensorType, axes: tuple[int, ...]) -> TensorType:
    return x.with_shape(_index_shape(x, indices, axes))


def _positions(rank: int, indices: Sequence[Any], axes: tuple[int, ...]) -> tuple[Any, ...]:
    places: list[Any] = [builtins.slice(None)] * rank
    for axis, index in zip(axes, indices, strict=True):
        places[axis] = index
    return tuple(places[: max(axes) + 1])


def _index_kernel(x: Any, *indices: Any, axes: tuple[int, ...]) -> Any:
    return x[_positions(x.ndim, indices, axes)]


def _index_gradient(g: Any, y: Any, x: Any, *indices: Any, axes: tuple[int, ...]) -> Any:
    def to_x() -> Any:
        zeros = F.zeros(x.shape, g.dtype)
        return apply("index_put", zeros, g, *indices, axes=axes, accumulate=True)

    return (to_x, *[None] * len(indices))


define(
    "index",
    doc="The elements at the places that integer tensors name along some axes.",
    inputs="x, indices*",
    attributes={"axes": REQUIRED},
    infer=_index_infer,
    kernel=_index_kernel,
    gradient=_index_gradient,
    samples=(
        Sample(((4, 3), (2,)), {"axes": (0,)}, ("float64", "int64"), 0, 4),
        Sample(((2, 4, 3), (2, 1), (3,)), {"axes": (0, 2)}, ("float64", "int64", "int64"), 0, 2),
        Sample(((3, 4), ()), {"axes": (1,)}, ("float64", "int64"), 0, 4),
    ),
)


def _put_infer(
    x: TensorType, value: TensorType, *indices: TensorType, axes: Any, accumulate: bool
) -> TensorType:
    shape = _index_shape(x, indices, axes)
    broadcast_shapes("index_put", tuple(shape), value.shape)
    return x


def _put_kernel(x: Any, value: Any, *indices: Any, axes: tuple[int, ...], accumulate: bool) -> Any:
    result = np.array(x)
    places = _positions(x.ndim, indices, axes)
    if not accumulate:
        result[places] = value
        return result
    if axes == (0,) and indices[0].ndim == 1 and x.ndim > 1 and len(indices[0]) > 64:
        return _add_rows(result, value, indices[0])
    np.add.at(result, places, value)
    return result


def _add_rows(result: Any, value: Any, index: Any) -> Any:
    """Sorted rows are summed in one go: np.add.at takes them one by one."""
    order = np.argsort(index, kind="stable")
    rows, starts = np.unique(index[order], return_index=True)
    result[rows] += np.add.reduceat(value[order], starts, axis=0)
    return result


def _put_gradient(
    g: Any, y: Any, x: Any, value: Any, *indices: Any, axes: Any, accumulate: bool
) -> Any:
    def to_x() -> Any:
        if accumulate:
            return g
        zeros = F.zeros(value.shape, g.dtype)
        return apply("index_put", g, zeros, *indices, axes=axes, accumulate=False)

    def to_value() -> Any:
        return F.sum_to(apply("index", g, *indices, axes=axes), value.shape)

    return (to_x, to_value, *[None] * len(indices))


define(
    "index_put",
    doc="x with `value` at the places that integer tensors name, or added there.",
    inputs="x, value, indices*",
    attributes={"axes": REQUIRED, "accumulate": False},
    infer=_put_infer,
    kernel=_put_kernel,
    gradient=_put_gradient,
    samples=(
        Sample(
            ((4, 3), (2, 3), (2,)),
            {"axes": (0,), "accumulate": True},
            ("float64", "float64", "int64"),
            0,
            4,
        ),
        Sample(((4, 3), (3,), ()), {"axes": (0,)}, ("float64", "float64", "int64"), 0, 4),
    ),
)


# -- x[index] ---------------------------------------------------------------------------------


class _Plan:
    """An index taken apart: one entry an axis of x, new axes, and axes that go."""

    def __init__(self, x: Any, index: Any):
        self.shape: list[Size] = list(x.shape)
        # Per axis of x: (start, stop, step), or a list of one index tensor.
        self.entries: list[Any] = []
        # In the order of the result: an axis of x, "new", or ("gone", axis).
        self.order: list[Any] = []
        items = _expanded(index, len(self.shape))
        advanced = any(_is_tensor_index(item) for item in items)
        for item in items:
            self._take(item, advanced)

    def _take(self, item: Any, advanced: bool) -> None:
        axis = len(self.entries)
        if item is None:
            self.order.append("new")
        elif isinstance(item, builtins.slice):
            self.entries.append(_bounds(item, self.shape[axis]))
            self.order.append(axis)
        elif _is_tensor_index(item):
            for part in _as_indices(item):
                self.order.append(len(self.entries))
                self.entries.append([part])
        elif advanced:
            self.entries.append([_checked_int(item, self.shape[axis])])
            self.order.append(axis)
        else:
            start = _checked_int(item, self.shape[axis])
            self.entries.append((start, start + 1, 1))
            self.order.append(("gone", axis))

    @property
    def bounds(self) -> Bounds:
        """Start, stop and step of every axis; whole axes where a tensor is the index."""
        full = [
            (0, size, 1) if isinstance(entry, list) else entry
            for entry, size in zip(self.entries, self.shape, strict=True)
        ]
        starts, stops, steps = zip(*full, strict=True) if full else ((), (), ())
        return starts, stops, steps

    @property
    def is_whole(self) -> bool:
        """Whether no axis is cut."""
        return all(
            isinstance(entry, list)
            or (_is_zero(entry[0]) and entry[1] is size and entry[2] == 1)
            or (entry == (0, size, 1) if not _symbolic(entry, size) else False)
            for entry, size in zip(self.entries, self.shape, strict=True)
        )

    @property
    def has_tensors(self) -> bool:
        """Whether an integer tensor is among the indices."""
        return any(isinstance(entry, list) for entry in self.entries)


def _symbolic(entry: Any, size: Size) -> bool:
    return any(isinstance(value, Dim) for value in (*entry, size))


def _is_zero(value: Size) -> bool:
    return isinstance(value, int) and value == 0


def _expanded(index: Any, rank: int) -> list[Any]:
    """The entries of an index, with slices for `...` and for axes that are not named."""
    items = list(index) if isinstance(index, tuple) else [index]
    used = sum(_consumes(item) for item in items)
    if used > rank:
        raise IndexError(f"too many indices: the tensor has {rank} axes, {used} are indexed")
    dots = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    place = dots[0] if dots else len(items)
    rest = [builtins.slice(None)] * (rank - used)
    return [*items[:place], *rest, *items[place + len(dots) :]]


def _consumes(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    return _mask_rank(item) or 1


def _mask_rank(item: Any) -> int:
    """The rank of a bool tensor as index, 0 for everything else."""
    if isinstance(item, (Tensor, np.ndarray, list)) and _dtype(item).kind == "b":
        return item.ndim if hasattr(item, "ndim") else np.ndim(item)
    return 0


def _dtype(item: Any) -> np.dtype[Any]:
    return item.dtype if hasattr(item, "dtype") else np.asarray(item).dtype


def _is_tensor_index(item: Any) -> bool:
    """Whether an index is an array of places; traced sizes and known numbers are not."""
    if isinstance(item, Variable):
        return known_dim(item) is None
    if isinstance(item, Tensor):
        return item.ndim > 0 or current_tracer() is not None
    return isinstance(item, (np.ndarray, list)) and np.ndim(item) > 0


def _as_indices(item: Any) -> list[Any]:
    """Integer tensors for an index: one, or one an axis of a mask."""
    if _mask_rank(item):
        mask = item if isinstance(item, Tensor) else np.asarray(item)
        return list(F.nonzero(mask, as_tuple=True))
    return [item if isinstance(item, Tensor) else np.asarray(item, np.int64)]


def _checked_int(item: Any, size: Size) -> Size:
    """A position from 0; IndexError if there is no such element."""
    if isinstance(item, (bool, np.bool_)):
        raise IndexError("a bool is no position; use a bool tensor as a mask")
    position = as_size(item, "an index")
    negative = less(position, 0)
    if negative is None:
        raise ShapeError(f"whether the index {position} is negative is not known")
    position = position + size if negative else position
    inside = less(position, size)
    if inside is False or less(position, 0) is True:
        raise IndexError(f"index {item} is out of bounds: the axis has the size {size}")
    if inside is None:
        require(position < size, f"index {item} is out of bounds: the axis has the size {size}")
    return position


def _bounds(item: builtins.slice, size: Size) -> tuple[Size, Size, int]:
    """Start, stop and step inside the axis, as Python clamps them; a stop of -1 is "to the end"
    of a negative step."""
    step = 1 if item.step is None else as_size(item.step, "the step of a slice")
    if not isinstance(step, int) or step == 0:
        raise ValueError(f"the step of a slice is an int other than 0, not {step}")
    low: Size = 0 if step > 0 else -1
    high: Size = size if step > 0 else size - 1
    start = _clamped(item.start, size, low, high, low if step > 0 else high)
    stop = _clamped(item.stop, size, low, high, high if step > 0 else low)
    if step > 0 and less_equal(start, stop) is not True:
        stop = maximum(start, stop)
    if step < 0 and isinstance(start, int) and isinstance(stop, int):
        stop = min(start, stop)
    return start, stop, step


def _clamped(bound: Any, size: Size, low: Size, high: Size, default: Size) -> Size:
    if bound is None:
        return default
    position = as_size(bound, "an end of a slice")
    negative = less(position, 0)
    if negative is None:
        raise ShapeError(f"whether the end {position} of a slice is negative is not known")
    position = position + size if negative else position
    return minimum(maximum(position, low), high)


@public
def getitem(x: Any, index: Any) -> Any:
    """x[index] by NumPy's rules for ints, slices, None, ..., and integer or bool tensors."""
    if isinstance(x, Variable) and isinstance(x.type, ArrayType):
        return F.array_read(x, index)
    if isinstance(x, Variable) and isinstance(index, int) and known_dims(x) is not None:
        return _one_size(x, index)
    plan = _Plan(x, index)
    result = x if plan.is_whole else _apply_slice(x, plan)
    if plan.has_tensors:
        return _with_tensors(result, plan)
    shape = _shape_after(result, plan)
    return F.assign(result) if result is x and len(shape) == x.ndim else F.reshape(result, shape)


def _one_size(x: Variable, index: int) -> Any:
    """`shape(t)[i]`: the size itself, not an element looked up."""
    size = known_dims(x)[_checked_int(index, x.shape[0])]  # type: ignore[index]
    if isinstance(size, int):
        return F.full([], size, "int64")
    return apply("from_dim", value=size, dtype=np.dtype("int64"))


def _apply_slice(x: Any, plan: _Plan) -> Any:
    starts, stops, steps = plan.bounds
    return apply("slice", x, starts=starts, stops=stops, steps=steps)


def _shape_after(x: Any, plan: _Plan) -> list[Size]:
    sizes = x.shape
    return [
        1 if entry == "new" else sizes[entry]
        for entry in plan.order
        if not isinstance(entry, tuple)
    ]


def _with_tensors(x: Any, plan: _Plan) -> Any:
    """Index by tensors, after new axes have been put in."""
    order = [entry for entry in plan.order if not isinstance(entry, tuple)]
    if "new" in order:
        x = F.reshape(x, [1 if entry == "new" else x.shape[entry] for entry in order])
    axes, indices = [], []
    for place, entry in enumerate(order):
        if entry != "new" and isinstance(plan.entries[entry], list):
            axes.append(place)
            indices.append(plan.entries[entry][0])
    return apply("index", x, *map(_index_operand, indices), axes=tuple(axes))


def _index_operand(index: Any) -> Any:
    """An index as an operand: integers of any kind, Dims included."""
    if isinstance(index, (int, Dim)):
        return F.cast(index, "int64")
    return index


@public
def setitem(x: Any, index: Any, value: Any) -> Any:
    """x with x[index] = value done: a new tensor. The value broadcasts, and takes the dtype of x."""
    plan = _Plan(x, index)
    value = F.cast(value, x.dtype)
    if not plan.has_tensors:
        return _set_slice(x, plan, value)
    masked = _set_masked(x, index, value)
    if masked is not None:
        return masked
    if plan.is_whole and "new" not in plan.order:
        axes = tuple(a for a, entry in enumerate(plan.entries) if isinstance(entry, list))
        indices = [_index_operand(plan.entries[axis][0]) for axis in axes]
        return apply("index_put", x, value, *indices, axes=axes, accumulate=False)
    # Slices and tensors mixed: find the places in the flattened tensor.
    places = F.reshape(F.arange(x.size), x.shape)
    chosen = getitem(places, index)
    flat = F.flatten(F.broadcast_to(_fitting(value, chosen.ndim), chosen.shape))
    changed = apply("index_put", F.flatten(x), flat, F.flatten(chosen), axes=(0,), accumulate=False)
    return F.reshape(changed, x.shape)


def _set_slice(x: Any, plan: _Plan, value: Any) -> Any:
    starts, stops, steps = plan.bounds
    sizes = [_length(a, b, s) for a, b, s in zip(starts, stops, steps, strict=True)]
    seen = [
        1 if entry == "new" else sizes[entry]
        for entry in plan.order
        if not isinstance(entry, tuple)
    ]
    value = F.broadcast_to(_fitting(value, len(seen)), seen)
    value = F.reshape(value, sizes)
    return apply("slice_update", x, value, starts=starts, stops=stops, steps=steps)


def _fitting(value: Any, rank: int) -> Any:
    """The value without leading axes of size 1 that the place does not have."""
    extra = value.ndim - rank
    if extra <= 0:
        return value
    if any(equal(size, 1) is not True for size in value.shape[:extra]):
        raise ShapeError(f"setitem: a value of shape {value.shape} does not fit {rank} axes")
    return F.reshape(value, value.shape[extra:])


def _set_masked(x: Any, index: Any, value: Any) -> Any:
    """x[mask] = number: a choice by element, whose size is known."""
    if isinstance(index, tuple) or not _mask_rank(index) or value.ndim:
        return None
    mask = index if isinstance(index, Tensor) else F.assign(np.asarray(index))
    for _ in range(x.ndim - mask.ndim):
        mask = F.unsqueeze(mask, [mask.ndim])
    return F.where(mask, value, x)


@public
def slice(input: Any, axes: Any, starts: Any, ends: Any) -> Any:
    """input[start:end] along each of the axes."""
    index: list[Any] = [builtins.slice(None)] * input.ndim
    for axis, start, end in zip(axes, starts, ends, strict=True):
        index[normalize_axis(axis, input.ndim)] = builtins.slice(start, end)
    return getitem(input, tuple(index))


@public
def strided_slice(
    x: Any, axes: Any, starts: Any, ends: Any, strides: Any, name: str | None = None
) -> Any:
    """x[start:end:stride] along each of the axes."""
    index: list[Any] = [builtins.slice(None)] * x.ndim
    for axis, start, end, stride in zip(axes, starts, ends, strides, strict=True):
        index[normalize_axis(axis, x.ndim)] = builtins.slice(start, end, stride)
    return getitem(x, tuple(index))
