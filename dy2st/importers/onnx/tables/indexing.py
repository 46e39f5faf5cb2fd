"""Elements at places that tensors name: gathered, scattered, chosen, sorted."""

from __future__ import annotations

from typing import Any

from dy2st.importers.onnx.calls import Call, row, rows, scalar
from dy2st_runtime.dims import product
from dy2st_runtime.ir.dispatch import F, apply


@row("Gather")
def _gather(n: Call) -> Any:
    x, places, axis = n[0], n[1], n.get("axis", 0)
    known = n.known(1)
    if known is not None and known.ndim == 0 and isinstance(known.item(), int):
        index: list[Any] = [slice(None)] * x.ndim
        index[axis] = known.item()
        return F.getitem(x, tuple(index))
    return F.gather(x, places, axis)


@row("GatherND")
def _gather_nd(n: Call) -> Any:
    x, places, batch = n[0], n[1], n.get("batch_dims", 0)
    depth = places.shape[-1]
    if not batch:
        return F.gather_nd(x, places)
    # Batches count along axes of their own.
    rank = places.ndim - 1
    own = []
    for axis in range(batch):
        shape = [1] * rank
        shape[axis] = x.shape[axis]
        own.append(F.reshape(F.arange(x.shape[axis]), shape))
    given = [F.getitem(places, (..., i)) for i in range(depth)]
    return apply("index", x, *own, *given, axes=tuple(range(batch + depth)))


def from_start(places: Any, size: Any) -> Any:
    """Places of which negative ones count from the end, as numbers from 0 on."""
    if places.dtype.kind == "u":
        return places
    return F.where(
        F.less_than(places, 0), places + F.cast(F.full([], size, "int64"), places.dtype), places
    )


@row("Scatter", "ScatterElements")
def _scatter_elements(n: Call) -> Any:
    x, places, updates, axis = n[0], n[1], n[2], n.get("axis", 0)
    how = {"none": "assign", "add": "add", "mul": "mul", "max": "amax", "min": "amin"}
    reduce = how[n.get("reduction", "none")]
    places = from_start(places, x.shape[axis])
    return F.put_along_axis(x, places, updates, axis, reduce, broadcast=False)


@row("ScatterND")
def _scatter_nd(n: Call) -> Any:
    x, places, updates = n[0], n[1], n[2]
    reduction, depth = n.get("reduction", "none"), places.shape[-1]
    given = [F.getitem(places, (..., i)) for i in range(depth)]
    if reduction in ("none", "add"):
        is_sum = reduction == "add"
        axes = tuple(range(depth))
        return apply("index_put", x, updates, *given, axes=axes, accumulate=is_sum)
    # All places as one axis, whose rows the others are.
    flat: Any = 0
    for axis, one in enumerate(given):
        flat = flat * x.shape[axis] + from_start(one, x.shape[axis])
    rows, rest = product(x.shape[:depth]), x.shape[depth:]
    wide = [product(places.shape[:-1]), product(rest)]
    index = F.broadcast_to(F.reshape(flat, [wide[0], 1]), wide)
    how = {"mul": "mul", "max": "amax", "min": "amin"}[reduction]
    made = F.put_along_axis(
        F.reshape(x, [rows, wide[1]]), index, F.reshape(updates, wide), 0, how, broadcast=False
    )
    return F.reshape(made, x.shape)


@row("Compress")
def _compress(n: Call) -> Any:
    x, chosen, axis = n[0], n[1], n.get("axis")
    if axis is None:
        x, axis = F.flatten(x), 0
    return F.gather(x, F.reshape(F.nonzero(chosen), [-1]), axis)


@row("NonZero")
def _nonzero(n: Call) -> Any:
    x = n[0] if n[0].ndim else F.reshape(n[0], [1])
    return F.transpose(F.nonzero(x), [1, 0])


@row("OneHot")
def _one_hot(n: Call) -> Any:
    places, values, axis = n[0], n[2], n.get("axis", -1)
    depth = n.number(1, "`depth`") if n.known(1) is not None else F.cast(scalar(n[1]), "int64")
    depth = int(depth) if isinstance(depth, float) else depth
    rank = places.ndim + 1
    axis %= rank
    classes = F.arange(depth)
    shape = [1] * rank
    shape[axis] = classes.shape[0]
    count = F.cast(F.full([], depth, "int64") if not hasattr(depth, "ndim") else depth, "int64")
    wanted = F.cast(places, "int64")
    wanted = F.unsqueeze(F.where(F.less_than(wanted, 0), wanted + count, wanted), [axis])
    is_it = F.equal(F.reshape(classes, shape), wanted)
    return F.where(is_it, F.getitem(values, 1), F.getitem(values, 0))


@row("TopK")
def _topk(n: Call) -> tuple[Any, Any]:
    x, axis = n[0], n.get("axis", -1)
    count = n.get("k") if n[1] is None else n.numbers(1)
    count = count[0] if isinstance(count, list) else count
    count = scalar(count) if hasattr(count, "ndim") else count
    values, places = F.topk(x, count, axis, bool(n.get("largest", 1)))
    return values, F.cast(places, "int64")


@row("ReverseSequence")
def _reverse_sequence(n: Call) -> Any:
    """Each row's first elements, as many as a tensor says, in reverse order."""
    x, lengths = n[0], n[1]
    time, batch = n.get("time_axis", 0), n.get("batch_axis", 1)
    size = x.shape[time]
    places = F.reshape(F.arange(size), [size, 1] if time == 0 else [1, size])
    ends = F.reshape(lengths, [1, -1] if time == 0 else [-1, 1])
    order = F.where(F.less_than(places, ends), ends - 1 - places, places)
    order = F.reshape(order, [*order.shape, *[1] * (x.ndim - 2)])
    assert {time, batch} == {0, 1}
    return F.take_along_axis(x, order, time)


@row("Unique")
def _unique(n: Call) -> tuple[Any, ...]:
    """The distinct elements, in order or as they come, with places and counts."""
    x, axis = n[0], n.get("axis")
    if axis is None:
        x, axis = F.flatten(x), 0
    found = F.unique(x, return_index=True, return_inverse=True, return_counts=True, axis=axis)
    values, first, inverse, counts = found
    if n.get("sorted", 1):
        return values, first, inverse, counts
    order = F.argsort(first)
    rank = F.argsort(order)
    parts = (F.gather(first, order), F.gather(rank, inverse), F.gather(counts, order))
    return (F.gather(values, order, axis), *parts)


rows(
    {
        "GatherElements": lambda n: F.take_along_axis(
            n[0], n[1], n.get("axis", 0), broadcast=False
        ),
    }
)
