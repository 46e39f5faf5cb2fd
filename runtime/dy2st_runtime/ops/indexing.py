"""`x[index]` and `x[index] = value` by NumPy's rules, on the primitives of `slicing.py`."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import (
    Condition,
    Contradiction,
    Dim,
    Size,
    current,
    equal,
    less,
    less_equal,
    maximum,
    minimum,
    product,
    require,
    using,
)
from dy2st_runtime.errors import ArgumentError, PlaceError, ShapeError, TensorAsPython, WrongKind
from dy2st_runtime.ir import (
    ArrayType,
    F,
    Tensor,
    Variable,
    apply,
    current_tracer,
    public,
)
from dy2st_runtime.ir.arguments import (
    as_int,
    as_integers,
    as_ints,
    as_shape,
    as_size,
    is_unknown,
    known_dim,
    known_dims,
    normalize_axis,
    rank_of,
)
from dy2st_runtime.ir.dispatch import as_view
from dy2st_runtime.ir.tracing.traced_list import TracedList
from dy2st_runtime.ops.rules import fitted
from dy2st_runtime.ops.slicing import index_shape, place_of_picked, slice_length

_ALL = builtins.slice(None)


@public
def getitem(x: Any, index: Any) -> Any:
    """x[index] by NumPy's rules: ints, slices, None, ..., and integer or bool tensors.

    Raises IndexError for a position that x does not have; where that depends on data, at run time.

    >>> dy2st.ops.getitem(dy2st.arange(10), np.s_[::3]).tolist()
    [0, 3, 6, 9]
    """
    if isinstance(x, Variable) and isinstance(x.type, ArrayType):
        if isinstance(index, builtins.slice):
            raise TensorAsPython(
                "a slice of a list whose length depends on a tensor",
                why="how many items it has is known only when the Program runs",
                hint="slice the tensor of all of them, stack(items)[a:b], or append to two lists",
            )
        return F.array_read(x, index)
    if _is_truth(index):
        return getitem(F.unsqueeze(x, [0]), _mask_of_truth(index))
    if isinstance(x, Variable) and isinstance(index, int) and known_dims(x) is not None:
        # `shape(t)[i]` is the size itself, not an element looked up.
        sizes = known_dims(x)
        assert sizes is not None
        size = sizes[_position(index, len(sizes))]
        if isinstance(size, int):
            return F.full([], size, "int64")
        return apply("from_dim", value=size, dtype=np.dtype("int64"))
    items = _expanded(index, x.ndim)
    cut, items = _cut_traced(x, items)
    plan = _Plan(cut.shape, items)
    if not plan.is_whole:
        cut = apply("slice", cut, **plan.bounds)
    if plan.axes:
        made = _pick(cut, plan)
        return made if any(map(rank_of, plan.indices)) else as_view(x, made)
    if None in plan.order:
        made = F.reshape(cut, plan.seen_shape)
    else:
        made = F.assign(cut) if cut is x else cut
    return as_view(x, made)


def _pick(x: Any, plan: _Plan) -> Any:
    """Index by tensors, after new axes have been put in."""
    if None in plan.order:
        x = F.reshape(x, [1 if axis is None else x.shape[axis] for axis in plan.order])
    axes = tuple(plan.order.index(axis) for axis in plan.axes)
    result = apply("index", x, *plan.indices, axes=axes)
    if not plan.is_apart:
        return result
    place, picked = place_of_picked(axes), result.ndim - x.ndim + len(axes)
    return F.moveaxis(result, list(range(place, place + picked)), list(range(picked)))


# -- x[index] = value -------------------------------------------------------------------------


@public
def setitem(x: Any, index: Any, value: Any) -> Any:
    """x with x[index] = value done: a new tensor. The value broadcasts and takes x's dtype.

    >>> dy2st.ops.setitem(dy2st.zeros([3]), 1, 5).tolist()
    [0.0, 5.0, 0.0]
    """
    if isinstance(x, Variable) and isinstance(x.type, ArrayType):
        return F.array_write(x, index, value)
    if _is_truth(index):
        changed = setitem(F.unsqueeze(x, [0]), _mask_of_truth(index), value)
        return F.reshape(changed, x.shape)
    items = _expanded(index, x.ndim)
    value = fitted(value, x.dtype)
    if any(_has_traced_end(item) for item in items):
        return _set_by_place(x, index, value)
    plan = _Plan(x.shape, items)
    if not plan.axes:
        value = _fitted(value, plan.seen_shape)
        return apply("slice_update", x, F.reshape(value, plan.cut_shape), **plan.bounds)
    if len(items) == 1 and _mask_rank(items[0]) and not value.ndim:
        # x[mask] = number is a choice by element, whose size is known.
        mask = items[0]
        mask = mask if isinstance(mask, Tensor) else F.assign(mask)
        wide = [*mask.shape, *[1] * (x.ndim - mask.ndim)]
        return F.where(F.reshape(mask, wide), value, x)
    if plan.is_whole and None not in plan.order and not plan.is_apart:
        place = index_shape(tuple(x.shape), [tuple(i.shape) for i in plan.indices], plan.axes)
        value = _without_extra_axes(value, len(place))
        return apply("index_put", x, value, *plan.indices, axes=plan.axes, accumulate=False)
    return _set_by_place(x, index, value)


def _set_by_place(x: Any, index: Any, value: Any) -> Any:
    """Slices and tensors mixed: find the places in the flattened tensor."""
    places = F.reshape(F.arange(x.size), x.shape)
    chosen = getitem(places, index)
    value = _fitted(value, chosen.shape)
    changed = apply(
        "index_put",
        F.reshape(x, [product(x.shape)]),
        F.reshape(value, [product(chosen.shape)]),
        F.reshape(chosen, [product(chosen.shape)]),
        axes=(0,),
        accumulate=False,
    )
    return F.reshape(changed, x.shape)


def _fitted(value: Any, shape: Sequence[Size]) -> Any:
    """The value broadcast to a place."""
    return F.broadcast_to(_without_extra_axes(value, len(shape)), list(shape))


def _without_extra_axes(value: Any, rank: int) -> Any:
    """The value without leading axes of size 1 that the place does not have."""
    extra = value.ndim - rank
    if extra <= 0:
        return value
    if any(equal(size, 1) is not True for size in value.shape[:extra]):
        raise ShapeError(f"setitem: a value of shape {value.shape} does not fit {rank} axes")
    return F.reshape(value, value.shape[extra:])


# -- the parts of an index --------------------------------------------------------------------


class _Plan:
    """An index taken apart.

    spans     (start, stop, step) for every axis of x; all of it where a tensor is the index.
    drop      axes that an int takes away.
    order     the axes that stay, in order, with None for new ones.
    axes      axes that have a tensor as index, and `indices` those tensors.
    is_apart  whether dots that stand for no axis part them: then NumPy puts what they pick first.
    """

    def __init__(self, shape: Sequence[Size], items: Sequence[Any]):
        self.shape = list(shape)
        self.spans: list[tuple[Size, Size, int]] = []
        self.drop: tuple[int, ...] = ()
        self.order: list[int | None] = []
        self.axes: tuple[int, ...] = ()
        self.indices: list[Any] = []
        self.is_whole = True
        self._dots = 0
        # Next to tensors NumPy takes ints as tensors too: they decide where the result's axes go.
        picks = any(_is_tensor(item) for item in items)
        for item in items:
            self._take(item, picks)

    def _take(self, item: Any, picks: bool) -> None:
        axis = len(self.spans)
        if item is None:
            self.order.append(None)
        elif item is Ellipsis:
            self._dots = len(self.axes)
        elif isinstance(item, builtins.slice):
            if item != _ALL:
                # Start, stop and step of a slice inside the axis, clamped as Python does.
                size = self.shape[axis]
                step = _step_of(item)
                low: Size = 0 if step > 0 else -1
                high: Size = size if step > 0 else size - 1
                first, last = (low, high) if step > 0 else (high, low)
                start = _clamped(item.start, size, low, high, first)
                stop = _clamped(item.stop, size, low, high, last)
                span = start, (maximum if step > 0 else minimum)(start, stop), step
                start, stop, step = span
                whole = step == 1 and equal(start, 0) and equal(stop, self.shape[len(self.spans)])
                self.is_whole = self.is_whole and whole is True
                self.spans.append(span)
            else:
                self.spans.append((0, self.shape[axis], 1))
            self.order.append(axis)
        elif _mask_rank(item):
            shape = self.shape[axis:]
            for have, want in zip(item.shape, shape, strict=False):
                same = equal(have, want)
                reason = (
                    f"a mask of shape {item.shape} does not fit the axes of sizes {list(shape)}"
                )
                if same is False:
                    raise PlaceError(reason)
                if same is None:
                    require(have == want, reason, PlaceError)
            for places in F.nonzero(item, as_tuple=True):
                self._pick(places)
        elif _is_tensor(item):
            self._pick(item)
        elif picks:
            self._pick(F.cast(_position(item, self.shape[axis]), "int64"))
        else:
            start = _position(item, self.shape[axis])
            self.spans.append((start, start + 1, 1))
            self.drop += (axis,)
            self.is_whole = False

    def _pick(self, index: Any) -> None:
        axis = len(self.spans)
        self.spans.append((0, self.shape[axis], 1))
        self.order.append(axis)
        self.axes += (axis,)
        self.indices.append(index)

    @property
    def is_apart(self) -> bool:
        return 0 < self._dots < len(self.axes)

    @property
    def bounds(self) -> dict[str, Any]:
        """The attributes of `slice`."""
        starts, stops, steps = zip(*self.spans, strict=True) if self.spans else ((), (), ())
        return {"starts": starts, "stops": stops, "steps": steps, "drop": self.drop}

    @property
    def seen_shape(self) -> list[Size]:
        """The shape of x[index] where no tensor is in the index."""
        return [1 if axis is None else slice_length(*self.spans[axis]) for axis in self.order]

    @property
    def cut_shape(self) -> list[Size]:
        """The same without new axes."""
        return [slice_length(*self.spans[axis]) for axis in self.order if axis is not None]


def _expanded(index: Any, rank: int) -> list[Any]:
    """The entries of an index, with slices for `...` and for axes that are not named."""
    items = [_normal(item) for item in (index if isinstance(index, tuple) else (index,))]
    used = sum(_consumes(item) for item in items)
    if used > rank:
        raise PlaceError(f"too many indices: the tensor has {rank} axes, {used} are indexed")
    dots = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise PlaceError("an index can only have a single ellipsis ('...')")
    place = dots[0] if dots else len(items)
    # Dots that stand for no axis stay: they keep tensors to their left and right apart.
    rest: list[Any] = [_ALL] * (rank - used) or [Ellipsis] * len(dots)
    return [*items[:place], *rest, *items[place + len(dots) :]]


def _normal(item: Any) -> Any:
    """An entry of an index: lists become arrays or tensors, what is no index is refused."""
    item = item.tensor() if type(item) is TracedList else item
    if item is None or item is Ellipsis or isinstance(item, (builtins.slice, Tensor, Dim)):
        return item
    if isinstance(item, (list, tuple, range)) and any(
        isinstance(entry, (Tensor, Dim)) for entry in item
    ):
        return F.stack([F.cast(entry, "int64") for entry in item])
    if isinstance(item, (bool, np.bool_)):
        raise PlaceError("a bool among other indices is no position; x[mask] alone takes one")
    if isinstance(item, (list, tuple, range, np.ndarray)):
        array = np.asarray(item)
        if not array.size and not isinstance(item, np.ndarray):
            array = array.astype(np.int64)
        if array.dtype.kind not in "iub":
            raise PlaceError(f"an index is of integers or bools, not of {array.dtype}")
        return F.assign(array) if array.ndim else array
    if hasattr(item, "__index__"):
        return item
    raise PlaceError(
        f"an index is an int, slice, None, '...' or a tensor of integers or bools, not {item!r:.60}"
    )


def _is_truth(index: Any) -> bool:
    """Whether an index is one bool: a mask of a new first axis, which has one place."""
    if isinstance(index, (Tensor, np.ndarray)):
        return index.dtype.kind == "b" and not index.ndim
    return isinstance(index, (bool, np.bool_))


def _mask_of_truth(index: Any) -> Any:
    return F.reshape(index if isinstance(index, Tensor) else F.assign(np.asarray(index)), [1])


def _consumes(item: Any) -> int:
    """How many axes of x an entry is about."""
    return 0 if item is None or item is Ellipsis else _mask_rank(item) or 1


def _mask_rank(item: Any) -> int:
    """The rank of a bool tensor as index, 0 for everything else."""
    return item.ndim if isinstance(item, Tensor) and item.dtype.kind == "b" else 0


def _is_tensor(item: Any) -> bool:
    """Whether an entry is a tensor of places; sizes and numbers that are known now are not."""
    if isinstance(item, Variable):
        return item.ndim > 0 or known_dim(item) is None
    return isinstance(item, Tensor) and (item.ndim > 0 or current_tracer() is not None)


def _position(item: Any, size: Size) -> Size:
    """A position from 0; IndexError if there is no such element."""
    if isinstance(item, Tensor) and item.dtype.kind not in "iu":
        raise PlaceError(f"a position is an integer, not a tensor of dtype {item.dtype}")
    if type(item) is int and type(size) is int and 0 <= item < size:
        return item
    position = _from_start(as_size(item, "an index"), size)
    for low, high in ((0, position), (position + 1, size)):
        inside = less_equal(low, high)
        if inside is not True:
            reason = f"index {item!r} is out of bounds: the axis has the size {size}"
            if inside is False:
                raise PlaceError(reason)
            require(low <= high, reason, PlaceError)
    return position


def _from_start(position: Size, size: Size) -> Size:
    """A negative position counts from the end.

    One such as `-n` is required to be negative, and no 0; any other whose sign is not known must
    not be negative, nor one such as `min(1, n) - 1`, which would be outside.
    """
    negative = less(position, 0)
    if negative is None and less_equal(position, 0) is True and _may_be_negative(position, size):
        require(position < 0, f"the position {position} is 0: it would count from the start")
        return position + size
    if negative is None:
        require(position >= 0, f"the position {position} is negative: it would count from the end")
    return position + size if negative else position


def _may_be_negative(position: Size, size: Size) -> bool:
    """Whether a position may be inside where it counts from the end."""
    facts = current().inside()
    try:
        facts.assume(Condition("<", position, 0))
    except Contradiction:
        return False
    with using(facts):
        return less(position + size, 0) is not True


def _step_of(item: builtins.slice) -> int:
    step = 1 if item.step is None else as_int(item.step, "the step of a slice")
    if step == 0:
        raise ArgumentError("the step of a slice is an int other than 0, not 0")
    return step


def _clamped(end: Any, size: Size, low: Size, high: Size, default: Size) -> Size:
    if end is None:
        return default
    position = _from_start(as_size(end, "an end of a slice"), size)
    return minimum(maximum(position, low), high)


# -- slices with traced ends ------------------------------------------------------------------


def _has_traced_end(item: Any) -> bool:
    """Whether an end of a slice is known only when the Program runs."""
    return isinstance(item, builtins.slice) and any(
        isinstance(end, Variable) and known_dim(end) is None for end in (item.start, item.stop)
    )


def _cut_traced(x: Any, items: list[Any]) -> tuple[Any, list[Any]]:
    """x cut by its slices with traced ends, and what is left of the index."""
    axis, rest = 0, []
    for item in items:
        if _has_traced_end(item):
            size = x.shape[axis]
            step = _step_of(item)
            first, last = (0, size) if step > 0 else (size - 1, -size - 1)
            start = first if item.start is None else _one_number(item.start)
            stop = last if item.stop is None else _one_number(item.stop)
            places_of = apply(
                "slice_places", F.cast(start, "int64"), F.cast(stop, "int64"), size=size, step=step
            )
            x = apply("index", x, places_of, axes=(axis,))
            item = _ALL
        axis += _consumes(item)
        rest.append(item)
    return x, rest


def _one_number(end: Any) -> Any:
    """A tensor of one element is as good as the number in it, as for a tensor with data."""
    if isinstance(end, Tensor) and end.dtype.kind not in "iu":
        raise WrongKind(f"an end of a slice is an integer, not a tensor of {end.dtype}")
    is_one = isinstance(end, Tensor) and end.shape and all(size == 1 for size in end.shape)
    return F.reshape(end, []) if is_one else end


# -- by name ----------------------------------------------------------------------------------


@public
def slice(input: Any, axes: Any, starts: Any, ends: Any) -> Any:
    """input[start:end] along each of the axes.

    >>> dy2st.slice(dy2st.arange(12).reshape([3, 4]), [0, 1], [1, 2], [3, 4]).tolist()
    [[6, 7], [10, 11]]
    """
    return strided_slice(input, axes, starts, ends, [1] * len(as_ints(axes, "an axis")))


@public
def strided_slice(
    x: Any, axes: Any, starts: Any, ends: Any, strides: Any, name: str | None = None
) -> Any:
    """x[start:end:stride] along each of the axes.

    >>> dy2st.strided_slice(dy2st.arange(10), [0], [1], [8], [3]).tolist()
    [1, 4, 7]
    """
    places = tuple(normalize_axis(axis, x.ndim) for axis in as_ints(axes, "an axis"))
    if is_unknown((starts, ends, strides)):
        ends_of = [as_integers(values)[0] for values in (starts, ends, strides)]
        return as_view(x, F.dynamic("strided_slice", x, *ends_of, axes=places))
    starts, ends, strides = (as_shape(values) for values in (starts, ends, strides))
    if not len(places) == len(starts) == len(ends) == len(strides):
        raise ArgumentError(f"a slice of {len(places)} axes takes as many starts, ends and strides")
    index: list[Any] = [_ALL] * x.ndim
    for axis, start, end, stride in zip(places, starts, ends, strides, strict=True):
        index[axis] = builtins.slice(start, end, stride)
    return getitem(x, tuple(index))
