"""New tensors, and operators that move elements about."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.engine.xla.library import jnp, lax
from dy2st_runtime.engine.xla.lowerings.numbers import FLOAT64, INT64, cast
from dy2st_runtime.engine.xla.table import lower, rows

rows(
    {
        "constant": lambda value: jnp.asarray(value),
        "from_dim": lambda value, dtype: jnp.asarray(value).astype(dtype),
        "full": lambda shape, value, dtype: jnp.full(shape, np.asarray(value).astype(dtype)),
        "eye": lambda rows, columns, dtype: jnp.eye(rows, columns, dtype=dtype),
        "shape": lambda x: jnp.asarray(x.shape, INT64).reshape((x.ndim,)),
        "reshape": lambda x, shape: jnp.reshape(x, shape),
        "transpose": lambda x, perm: jnp.transpose(x, perm),
        "broadcast_to": lambda x, shape: jnp.broadcast_to(x, shape),
        "flip": lambda x, axis: jnp.flip(x, axis),
        "roll": lambda x, shifts, axis: jnp.roll(x, shifts, axis) if 0 not in x.shape else x,
        "concat": lambda *xs, axis: jnp.concatenate(xs, axis),
        "stack": lambda *xs, axis: jnp.stack(xs, axis),
        "tril": lambda x, diagonal: jnp.tril(x, _near(diagonal, x)),
        "triu": lambda x, diagonal: jnp.triu(x, _near(diagonal, x)),
    }
)


def _near(diagonal: Any, x: Any) -> Any:
    """The same diagonal, or one that is beyond all elements as well."""
    if not isinstance(diagonal, int) or not all(isinstance(n, int) for n in x.shape[-2:]):
        return diagonal
    return max(-x.shape[-2], min(diagonal, x.shape[-1]))


@lower("arange")
def _arange(start: Any, stop: Any, step: Any, dtype: Any) -> Any:
    return cast(jnp.arange(start, stop, step), dtype)


@lower("linspace")
def _linspace(start: float, stop: float, num: int, dtype: Any) -> Any:
    """From both ends to the middle."""
    places = jnp.arange(num, dtype=FLOAT64)
    step = (stop - start) / max(num - 1, 1)
    is_first = places < max(num // 2, 1)
    made = jnp.where(is_first, start + step * places, stop - step * (num - 1 - places))
    return cast(made, dtype)


@lower("split")
def _split(x: Any, sections: tuple[int, ...], axis: int) -> tuple[Any, ...]:
    parts, start = [], 0
    for size in sections:
        parts.append(lax.slice_in_dim(x, start, start + size, axis=axis))
        start = start + size
    return tuple(parts)


@lower("pad")
def _pad(x: Any, pads: Any, mode: str, value: Any) -> Any:
    if mode == "constant":
        around = np.asarray(value).astype(x.dtype)
        return lax.pad(x, around, [(before, after, 0) for before, after in pads])
    for axis, (size, (before, after)) in enumerate(zip(x.shape, pads, strict=True)):
        if not (isinstance(before, int) and isinstance(after, int)) or before or after:
            x = jnp.take(x, _padding_places(size, before, after, mode), axis, mode="clip")
    return x


def _padding_places(size: Any, before: Any, after: Any, mode: str) -> Any:
    """Which elements along an axis the result has."""
    places = jnp.arange(-before, size + after)
    if mode == "circular":
        return places % size
    if mode == "replicate":
        return jnp.clip(places, 0, size - 1)
    last = size - 1
    return last - abs(last - abs(places))


def places_of_slices(starts: Any, stops: Any, steps: Any, drop: Any) -> tuple[Any, ...]:
    """Python's index for the places that a slice of the Program names."""
    places: list[Any] = []
    for start, stop, step in zip(starts, stops, steps, strict=True):
        if step > 0:
            places.append(slice(start, stop, step))
        elif isinstance(start, int) and start < 0:
            places.append(slice(0, 0))
        else:
            is_all = isinstance(stop, int) and stop < 0
            places.append(slice(start, None if is_all else stop, step))
    for axis in drop:
        places[axis] = starts[axis]
    return tuple(places)


@lower("slice")
def _slice(x: Any, **bounds: Any) -> Any:
    return x[places_of_slices(**bounds)]


@lower("slice_update")
def _slice_update(x: Any, value: Any, starts: Any, stops: Any, steps: Any, drop: Any) -> Any:
    value = cast(value, x.dtype)
    if all(step == 1 for step in steps):
        sizes = [stop - start for start, stop in zip(starts, stops, strict=True)]
        for axis in drop:
            sizes[axis] = 1
        if all(isinstance(size, int) and size <= 0 for size in sizes):
            return x
        if all(isinstance(size, int) and size > 0 for size in sizes):
            return lax.dynamic_update_slice(x, value.reshape(sizes), starts)
    return x.at[places_of_slices(starts, stops, steps, drop)].set(value)
