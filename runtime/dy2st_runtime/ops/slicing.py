"""The primitives behind `x[index]`: two that read and their two duals that write.

slice, slice_update   plain positions: a start, stop and step for every axis, inside the tensor
index, index_put      integer tensors as positions, for some of the axes
slice_places          the positions that a slice with traced ends stands for
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dy2st_runtime.dims import (
    Size,
    ceil_divide,
    difference,
    equal,
    less_equal,
    maximum,
    product,
    require,
    require_equal,
    same_shape,
)
from dy2st_runtime.errors import DTypeError, ShapeError
from dy2st_runtime.ir import F, Kind, Sample, Shape, TensorType, View, apply, define
from dy2st_runtime.ir.arguments import fresh_symbol
from dy2st_runtime.ir.attribute_kinds import AXES, INDICES, SIZE, STRIDE, STRIDES, each_axis
from dy2st_runtime.ops.rules import are_inside, broadcast_shapes, require_fitting

if TYPE_CHECKING:
    from dy2st_runtime.ir.padding import Site

# -- slice ------------------------------------------------------------------------------------

# Both take ints or Dims: starts and stops in 0 .. size, or -1 .. size - 1 where the step is
# negative, so that a stop of -1 means "down to the first element". Axes in `drop` have one
# position and leave the result.
_BOUNDS: dict[str, Any] = {
    "starts": each_axis(INDICES),
    "stops": each_axis(INDICES),
    "steps": each_axis(STRIDES),
    "drop": AXES.or_else(()),
}


def slice_length(start: Size, stop: Size, step: int) -> Size:
    """How many positions there are from start to stop.

    >>> slice_length(0, 5, 2), slice_length(3, -1, -1)
    (3, 4)
    """
    length = ceil_divide(difference(stop, start), step)
    return length if less_equal(0, length) is True else maximum(length, 0)


def _slice_infer(x: TensorType, starts: Any, stops: Any, steps: Any, drop: Any) -> TensorType:
    bounds = list(zip(starts, stops, steps, strict=True))
    for size, (start, stop, step) in zip(x.shape, bounds, strict=True):
        # Both places lie inside of the axis: code reads there without looking.
        least, most = (0, size) if step > 0 else (-1, difference(size, 1))
        for place in (start, stop):
            for low, high in ((least, place), (place, most)):
                if less_equal(low, high) is not True:
                    reason = f"slice: {place} is outside of an axis of {size} elements"
                    require(low <= high, reason)
    for axis in drop:
        for low, high in ((0, starts[axis]), (starts[axis] + 1, x.shape[axis])):
            if less_equal(low, high) is not True:
                require(low <= high, f"slice: there may be no position {starts[axis]}")
    sizes = [slice_length(a, b, s) for a, b, s in bounds]
    return x.with_shape(size for axis, size in enumerate(sizes) if axis not in drop)


def _places(starts: Any, stops: Any, steps: Any, drop: Any) -> tuple[Any, ...]:
    """NumPy's own index."""
    places: list[Any] = [_place(a, b, s) for a, b, s in zip(starts, stops, steps, strict=True)]
    for axis in drop:
        places[axis] = starts[axis]
    return tuple(places)


def _place(start: int, stop: int, step: int) -> builtins.slice:
    if step > 0:
        return builtins.slice(start, stop, step)
    if start < 0:
        return builtins.slice(0, 0)
    return builtins.slice(start, None if stop < 0 else stop, step)


def _is_at_numbers(x: Any, bounds: dict[str, Any]) -> bool:
    """Whether x is known, and all positions are numbers."""
    places = (*bounds["starts"], *bounds["stops"])
    return isinstance(x, np.ndarray) and all(isinstance(place, int) for place in places)


def _slice_kernel(x: Any, starts: Any, stops: Any, steps: Any, drop: Any) -> Any:
    places = _places(starts, stops, steps, drop)
    # Without the dots one element would be a number of NumPy, which looks into no memory.
    return x[(*places, ...)] if len(drop) == x.ndim else x[places]


def _slice_view(x: TensorType, starts: Any, stops: Any, steps: Any, drop: Any) -> View:
    """Whole rows one after the other, or parts of some."""
    is_whole = same_shape(starts[1:], (0,) * (x.rank - 1)) and same_shape(stops[1:], x.shape[1:])
    return View.ROWS if is_whole and all(step == 1 for step in steps) else View.PART


def _slice_padding(site: Site) -> Iterable[int]:
    """Of a longer axis all, or a part that is surely real. Where a slice ends says how long it is:
    elements that are counted from a known place are the same, however many are taken."""
    bounds = [*zip(*(site.attributes[name] for name in ("starts", "stops", "steps")), strict=True)]
    kept = {axis for axis in site.longer[0] if site.takes_all(*bounds[axis])}
    gone = site.attributes["drop"]
    found = {axis - sum(g < axis for g in gone) for axis in kept}
    made = site.made_longer()
    return site.uneven(made) if made - found else found


define(
    "slice",
    takes_complex=True,
    doc="Every step-th element from start to stop along every axis.",
    inputs="x",
    sizes=("stops",),
    padding=_slice_padding,
    kind=Kind.INJECTIVE,
    view=_slice_view,
    shares=True,
    put_back=lambda x, y, place, **bounds: apply("slice_update", x, y, **bounds),
    attributes=_BOUNDS,
    infer=_slice_infer,
    kernel=_slice_kernel,
    data=lambda x, **bounds: _slice_kernel(x, **bounds) if _is_at_numbers(x, bounds) else None,
    gradient=lambda g, y, x, **bounds: apply(
        "slice_update", F.zeros(x.shape, g.dtype), g, **bounds
    ),
    samples=(
        Sample(((4, 5),), {"starts": (1, 0), "stops": (3, 5), "steps": (1, 2)}),
        Sample(((4, 5),), {"starts": (1, 2), "stops": (3, 3), "steps": (1, 1), "drop": (1,)}),
        Sample(((4,),), {"starts": (3,), "stops": (-1,), "steps": (-1,)}),
        Sample(((4,),), {"starts": (-1,), "stops": (-1,), "steps": (-1,)}),
        Sample(((4,),), {"starts": (2,), "stops": (2,), "steps": (1,)}),
    ),
)


def _update_infer(x: TensorType, value: TensorType, **bounds: Any) -> TensorType:
    place = _slice_infer(x, **bounds).shape
    reason = f"a value of shape {list(value.shape)} does not fit a place of shape {list(place)}"
    if len(place) != value.rank:
        raise ShapeError(f"slice_update: {reason}")
    for have, want in zip(value.shape, place, strict=True):
        require_equal(have, want, f"slice_update: {reason}")
    return x


def _update_kernel(x: Any, value: Any, starts: Any, stops: Any, steps: Any, drop: Any) -> Any:
    result = np.array(x)
    result[_places(starts, stops, steps, drop)] = value
    return result


def _update_padding(site: Site) -> Iterable[int]:
    """What is written is all of a longer axis, or a part that is surely real."""
    bounds = [*zip(*(site.attributes[name] for name in ("starts", "stops", "steps")), strict=True)]
    whole = {axis for axis in site.longer[0] if site.takes_all(*bounds[axis])}
    if site.is_named((bound for axis, bound in enumerate(bounds) if axis not in whole)):
        site.refuse("writes as many elements")
    gone = site.attributes["drop"]
    if site.longer[1] ^ {axis - sum(g < axis for g in gone) for axis in whole}:
        site.refuse("joins it with an axis that is not longer")
    return site.uneven(site.longer[0])


define(
    "slice_update",
    takes_complex=True,
    doc="x with `value` in place of its slice.",
    inputs="x, value",
    sizes=("stops",),
    padding=_update_padding,
    attributes=_BOUNDS,
    infer=_update_infer,
    kernel=_update_kernel,
    gradient=lambda g, y, x, value, **bounds: (
        lambda: apply("slice_update", g, F.zeros(value.shape, g.dtype), **bounds),
        lambda: apply("slice", g, **bounds),
    ),
    samples=(
        Sample(((4, 5), (2, 3)), {"starts": (1, 0), "stops": (3, 5), "steps": (1, 2)}),
        Sample(((4, 5), (2,)), {"starts": (1, 2), "stops": (3, 3), "steps": (1, 1), "drop": (1,)}),
        Sample(((4,), (2,)), {"starts": (3,), "stops": (-1,), "steps": (-2,)}),
    ),
)

# -- index ------------------------------------------------------------------------------------


def index_shape(x: Shape, indices: Sequence[Shape], axes: tuple[int, ...]) -> list[Size]:
    """The shape of x[indices at axes]: NumPy puts what is picked at the first of neighbouring
    axes, and in front of all where they are apart."""
    picked = broadcast_shapes("index", *indices)
    rest = [size for axis, size in enumerate(x) if axis not in axes]
    place = place_of_picked(axes)
    return [*rest[:place], *picked, *rest[place:]]


def place_of_picked(axes: tuple[int, ...]) -> int:
    """The axis of the result at which what is picked begins."""
    neighbours = list(axes) == list(range(axes[0], axes[0] + len(axes)))
    return axes[0] if neighbours else 0


def _index_infer(x: TensorType, *indices: TensorType, axes: tuple[int, ...]) -> TensorType:
    if not indices or len(indices) != len(axes):
        raise ShapeError(f"there are {len(indices)} index tensors for the axes {list(axes)}")
    for index in indices:
        if index.dtype.kind not in "iu":
            raise DTypeError(f"an index is an integer tensor, not one of dtype {index.dtype}")
    return x.with_shape(index_shape(x.shape, [index.shape for index in indices], axes))


def _may_be_outside(x: Any, *indices: Any, axes: tuple[int, ...]) -> bool:
    """Whether a position may be outside of its axis."""
    pairs = zip(indices, axes, strict=True)
    return not all(are_inside(index, x.shape[axis], from_end=True) for index, axis in pairs)


def _positions(rank: int, indices: Sequence[Any], axes: tuple[int, ...]) -> tuple[Any, ...]:
    """NumPy's index, of copies: it looks at integers before it uses them, and another thread may
    write into an array meanwhile."""
    places: list[Any] = [builtins.slice(None)] * rank
    for axis, index in zip(axes, indices, strict=True):
        places[axis] = np.array(index)
    return tuple(places[: max(axes) + 1])


def _index_data(x: Any, *indices: Any, axes: tuple[int, ...]) -> Any:
    """Known entries at known places."""
    known = all(isinstance(value, np.ndarray) for value in (x, *indices))
    if not known or not all(isinstance(i, int) for index in indices for i in index.flat):
        return None
    return _index_kernel(x, *[index.astype(np.int64) for index in indices], axes=axes)


def _index_kernel(x: Any, *indices: Any, axes: tuple[int, ...]) -> Any:
    if len(axes) == 1 and x.size:  # of nothing, np.take does not check the places
        return np.take(x, indices[0], axes[0])
    return x[_positions(x.ndim, indices, axes)]


def _index_padding(site: Site) -> Iterable[int]:
    """Longer indices give more elements. Along a longer axis an element may be picked for its own
    place only, as `take_along_axis` does for the axes that stay."""
    axes, indices = site.attributes["axes"], range(1, len(site.types))
    own = {index for index in indices if site.is_places(index)}
    for axis, index in zip(axes, indices, strict=True):
        if axis in site.longer[0] and index not in own:
            site.refuse("works along it")
        is_there = axis in site.longer[0] or less_equal(site.size, site.shape(0)[axis]) is True
        if index in own and not is_there:
            site.refuse("may fail for what is behind the real elements")
    count, place = max(len(site.shape(index)) for index in indices), place_of_picked(axes)
    found = {axis + place for axis in site.joined(indices, count)} | _kept(site, count)
    is_even = all(site.is_even(index) for index in range(len(site.types)) if index not in own)
    return site.even(found) if is_even else site.uneven(found)


def _kept(site: Site, count: int) -> set[int]:
    """Where the longer axes of x are in x[indices], which have so many axes."""
    axes = site.attributes["axes"]
    rest = [axis for axis in range(len(site.shape(0))) if axis not in axes]
    behind = place_of_picked(axes)
    places = enumerate(rest)
    return {i + count * (i >= behind) for i, axis in places if axis in site.longer[0]}


define(
    "index",
    takes_complex=True,
    doc="The elements at the places that integer tensors name along some axes.",
    raises=IndexError,
    fails=_may_be_outside,
    inputs="x, indices*",
    padding=_index_padding,
    attributes={"axes": AXES},
    infer=_index_infer,
    kernel=_index_kernel,
    data=_index_data,
    gradient=lambda g, y, x, *indices, axes: (
        lambda: apply(
            "index_put", F.zeros(x.shape, g.dtype), g, *indices, axes=axes, accumulate=True
        ),
        *[None] * len(indices),
    ),
    put_back=lambda x, y, place, *indices, axes: apply(
        "index_put", x, y, *indices, axes=axes, accumulate=False
    ),
    samples=(
        Sample(((4, 3), (2,)), {"axes": (0,)}, ("float64", "int64"), 0, 4),
        Sample(((2, 4, 3), (2, 1), (3,)), {"axes": (0, 2)}, ("float64", "int64", "int64"), 0, 2),
        Sample(((2, 4, 3), (2, 1), (3,)), {"axes": (1, 2)}, ("float64", "int64", "int64"), -3, 3),
        Sample(((3, 4), ()), {"axes": (1,)}, ("float64", "int64"), 0, 4),
        Sample(((3, 4), (0,)), {"axes": (1,)}, ("float64", "int64"), 0, 4),
    ),
)


def _put_infer(
    x: TensorType, value: TensorType, *indices: TensorType, axes: Any, accumulate: bool
) -> TensorType:
    require_fitting(value.dtype, x.dtype)
    place = _index_infer(x, *indices, axes=axes).shape
    reason = f"a value of shape {list(value.shape)} does not fit a place of shape {list(place)}"
    joined = broadcast_shapes("index_put", place, value.shape)
    if len(joined) != len(place):
        raise ShapeError(f"index_put: {reason}")
    for have, want in zip(joined, place, strict=True):
        require_equal(have, want, f"index_put: {reason}")
    return x


# From so many elements on, a slice is added faster by itself than np.add.at adds its elements.
_WIDE = 64


def _put_kernel(x: Any, value: Any, *indices: Any, axes: tuple[int, ...], accumulate: bool) -> Any:
    require_fitting(value.dtype, x.dtype)
    result = np.array(x)
    places = _positions(x.ndim, indices, axes)
    if not accumulate:
        result[places] = value
    elif axes == (0,) and x.ndim > 1 and indices[0].ndim == 1 and len(indices[0]) > 64:
        # Sorted rows are summed in one go: np.add.at takes them one by one.
        index = indices[0]
        value = np.broadcast_to(value, (len(index), *result.shape[1:]))
        index = np.where(index < 0, index + len(result), index)
        order = np.argsort(index, kind="stable")
        rows, starts = np.unique(index[order], return_index=True)
        if rows[0] < 0:
            raise IndexError(f"index {rows[0] - len(result)} is out of bounds: {len(result)} rows")
        result[rows] += np.add.reduceat(value[order], starts, axis=0)
    elif len(axes) == 1 and result.size >= _WIDE * result.shape[axes[0]]:
        # Slices one after the other, in the order in which np.add.at would add their elements.
        index = indices[0]
        axis = axes[0]
        before, after = result.shape[:axis], result.shape[axis + 1 :]
        wide = np.broadcast_to(value, (*before, *index.shape, *after))
        parts = np.moveaxis(wide.reshape(*before, index.size, *after), axis, 0)
        every = (slice(None),) * axis
        for place, part in zip(index.ravel().tolist(), parts, strict=True):
            result[(*every, place)] += part
    else:
        np.add.at(result, places, value)
    return result


def _put_padding(site: Site) -> set[int]:
    """What is put may be longer where x is, beside the axes of the places."""
    axes = site.attributes["axes"]
    site.keep_off(axes, 0)
    if any(site.longer[2:]):
        site.refuse("writes as many elements")
    count = max(len(site.shape(index)) for index in range(2, len(site.types)))
    lead = len(site.shape(0)) - len(axes) + count - len(site.shape(1))
    kept, given = _kept(site, count), {axis + lead for axis in site.longer[1]}
    missing = [axis - lead for axis in kept - given if axis >= lead]
    if given - kept or not all(site.is_one(1, axis) for axis in missing):
        site.refuse("joins it with an axis that is not longer")
    return set(site.longer[0])


def _put_gradient(
    g: Any, y: Any, x: Any, value: Any, *indices: Any, axes: Any, accumulate: bool
) -> Any:
    def to_x() -> Any:
        if accumulate:
            return g
        zeros = F.zeros(value.shape, g.dtype)
        return apply("index_put", g, zeros, *indices, axes=axes, accumulate=False)

    def to_value() -> Any:
        picked = apply("index", g, *indices, axes=axes)
        if not accumulate:
            # 0 in place of what another value, put at the same place later, has replaced.
            shape = broadcast_shapes("index", *(tuple(index.shape) for index in indices))
            count = product(shape)
            if not equal(count, 1):
                ranks = F.reshape(F.arange(count), shape)
                all_axes = tuple(range(len(axes)))
                last = F.zeros([x.shape[axis] for axis in axes], "int64")
                last = apply("index_put", last, ranks, *indices, axes=all_axes, accumulate=False)
                stayed = F.equal(apply("index", last, *indices, axes=all_axes), ranks)
                behind = picked.ndim - len(shape) - place_of_picked(axes)
                stayed = F.reshape(stayed, [*shape, *[1] * behind])
                picked = F.where(stayed, picked, F.zeros([], picked.dtype))
        return F.sum_to(picked, value.shape)

    return (to_x, to_value, *[None] * len(indices))


_FLOATS = ("float64", "float64", "int64")
define(
    "index_put",
    takes_complex=True,
    doc="x with `value` at the places that integer tensors name, or added there.",
    raises=IndexError,
    fails=lambda x, value, *indices, axes, accumulate: _may_be_outside(x, *indices, axes=axes),
    inputs="x, value, indices*",
    padding=_put_padding,
    attributes={"axes": AXES, "accumulate": False},
    infer=_put_infer,
    kernel=_put_kernel,
    gradient=_put_gradient,
    samples=(
        Sample(((4, 3), (2, 3), (2,)), {"axes": (0,), "accumulate": True}, _FLOATS, 0, 4),
        Sample(((4, 3), (2, 3), (2,)), {"axes": (0,)}, _FLOATS, 0, 4),
        Sample(((3, 4, 2), (3, 5, 2), (5,)), {"axes": (1,)}, _FLOATS, 0, 4),
        Sample(((4, 3), (3,), ()), {"axes": (0,)}, _FLOATS, 0, 4),
        Sample(((2, 3, 2), (5, 3), (5,), ()), {"axes": (0, 2)}, (*_FLOATS, "int64"), 0, 2),
    ),
)

# -- slices with traced ends ------------------------------------------------------------------


def _slice_places_infer(start: TensorType, stop: TensorType, size: Size, step: int) -> TensorType:
    for end in (start, stop):
        if end.rank or end.dtype.kind not in "iu":
            raise DTypeError(f"an end of a slice is a 0-d integer tensor, not {end}")
    return TensorType("int64", (fresh_symbol("slice", 0, size),))


define(
    "slice_places",
    doc="The places that start:stop:step names along an axis of `size` elements, as in Python.",
    inputs="start, stop",
    attributes={"size": SIZE, "step": STRIDE.or_else(1)},
    infer=_slice_places_infer,
    kernel=lambda start, stop, size, step: np.arange(
        *builtins.slice(int(start), int(stop), step).indices(size), dtype=np.int64
    ),
    samples=(
        Sample(((), ()), {"size": 5}, ("int64", "int64"), -3, 7),
        Sample(((), ()), {"size": 5, "step": -2}, ("int64", "int64"), -3, 7),
    ),
)
