"""What numbers decide that are known only when the model runs: axes above all, and steps.

A Program has fixed ranks and operators along fixed axes. So all axes are gone through, with a
branch for each that asks whether it is meant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from dy2st.importers.onnx.calls import scalar
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.tracing.tracer import current_tracer
from dy2st_runtime.ops.control_flow import cond

_FAR = 2**31 - 1


def places_of(axes: Any, rank: int) -> Any:
    """Axes from 0 on, of a tensor of axes; ArgumentError, when it runs, if one is none."""
    axes = F.cast(axes, "int64")
    places = F.where(F.less_than(axes, 0), axes + rank, axes)
    is_axis = F.logical_and(F.greater_equal(places, 0), F.less_than(places, max(rank, 1)))
    tracer = current_tracer()
    assert tracer is not None
    tracer.check(F.all(is_axis), ArgumentError(f"an axis does not exist: there are {rank}"))
    return places


def by_axis(axis: Any, rank: int, function: Callable[[int], Any]) -> Any:
    """What `function` makes along the axis that a tensor of one integer names."""
    place = scalar(places_of(axis, rank))

    def chosen(this: int) -> list[Any]:
        if this == rank - 1:
            return [function(this)]
        return cond(F.equal(place, this), lambda: [function(this)], lambda: chosen(this + 1))

    return chosen(0)[0]


def along_axes(
    x: Any, axes: Any, keep: bool, function: Callable[[Any, list[int], bool], Any]
) -> Any:
    """A reduction along the axes that a tensor has, one after the other."""
    places = places_of(axes, x.ndim)
    for axis in range(x.ndim):
        is_meant = F.any(F.equal(places, axis))
        reduced = partial(function, x, [axis], True)
        (x,) = cond(
            is_meant,
            lambda reduced=reduced, dtype=x.dtype: [F.cast(reduced(), dtype)],  # type: ignore[misc]
            lambda x=x: [x],  # type: ignore[misc]
        )
    return x if keep else F.squeeze(x, places)


def unsqueezed(x: Any, axes: Any) -> Any:
    """x with axes of size 1 at the places, of the result, that a tensor has."""
    places = places_of(axes, x.ndim + axes.shape[0])
    return F.unsqueeze(x, F.sort(places))


def spread(values: Any, axes: Any, rank: int, other: int) -> Any:
    """A number for each of all axes: those of a tensor at the axes of another, else `other`."""
    places = places_of(axes, rank)
    return F.put_along_axis(F.full([rank], other, "int64"), places, F.cast(values, "int64"), 0)


def sliced_late(x: Any, starts: Any, ends: Any, axes: Any, steps: Any) -> Any:
    """x[start:end:step] along axes, all of them tensors or lists."""
    if isinstance(axes, (list, tuple)):
        places: Sequence[int] = [axis % x.ndim for axis in axes]
    else:
        starts, ends, steps = (
            spread(_tensor(values), axes, x.ndim, other)
            for values, other in ((starts, 0), (ends, _FAR), (steps, 1))
        )
        places = range(x.ndim)
    return F.strided_slice(x, [*places], _tensor(starts), _tensor(ends), _tensor(steps))


def _tensor(values: Any) -> Any:
    if isinstance(values, (list, tuple)):
        return F.stack([F.cast(F.full([], one, "int64"), "int64") for one in values])
    return F.cast(values, "int64")


def parts_late(x: Any, sizes: Any, count: int, axis: int) -> tuple[Any, ...]:
    """x in parts along an axis, whose sizes a tensor has."""
    start: Any = 0
    parts = []
    for place in range(count):
        stop = F.getitem(F.cast(sizes, "int64"), place) + start
        index: list[Any] = [slice(None)] * x.ndim
        index[axis] = slice(start, stop)
        parts.append(F.getitem(x, tuple(index)))
        start = stop
    return tuple(parts)


def triangle_late(x: Any, offset: Any, upper: bool) -> Any:
    """`triu` or `tril` by a diagonal that a tensor names."""
    rows, columns = x.shape[-2:]
    apart = F.arange(columns) - F.reshape(F.arange(rows), [rows, 1])
    kept = (F.greater_equal if upper else F.less_equal)(apart, scalar(offset))
    return F.where(kept, x, F.zeros_like(x))
