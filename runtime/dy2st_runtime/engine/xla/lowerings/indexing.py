"""Elements at the places that tensors name: read, written, joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.engine.xla.library import jax, jnp, lax
from dy2st_runtime.engine.xla.lowerings.numbers import INT64, cast
from dy2st_runtime.engine.xla.table import along, check, lower
from dy2st_runtime.ir.program import Operator, Variable


def _positions(x: Any, indices: Sequence[Any], axes: Sequence[int]) -> tuple[Any, ...]:
    places: list[Any] = [slice(None)] * x.ndim
    for axis, index in zip(axes, indices, strict=True):
        places[axis] = index
    return tuple(places[: max(axes) + 1])


@lower("index")
def _index(x: Any, *indices: Any, axes: tuple[int, ...]) -> Any:
    if len(axes) == 1 and 0 not in x.shape:
        return jnp.take(x, _from_start(indices[0], x.shape[axes[0]]), axes[0], mode="clip")
    if 0 in x.shape:  # there is nothing to read: either nothing is asked for, or the check is down
        shape = _shape_of_picked(x, indices, axes)
        return jnp.zeros(shape, x.dtype)
    return x.at[_positions(x, indices, axes)].get(mode="clip")


def _from_start(index: Any, size: Any) -> Any:
    return jnp.where(index < 0, index + size, index) if index.dtype.kind == "i" else index


def _shape_of_picked(x: Any, indices: Sequence[Any], axes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that NumPy gives, by an array without memory."""
    like = np.broadcast_to(np.zeros((), bool), [max(size, 1) for size in x.shape])
    places = [np.zeros(index.shape, np.int64) for index in indices]
    made = list(like[_positions(like, places, axes)].shape)
    picked = np.broadcast_shapes(*(index.shape for index in indices))
    rest = [size for axis, size in enumerate(x.shape) if axis not in axes]
    is_together = list(axes) == list(range(axes[0], axes[0] + len(axes)))
    place = axes[0] if is_together else 0
    assert len(made) == len(rest) + len(picked)
    return (*rest[:place], *picked, *rest[place:])


@check("index")
def _are_inside(y: Any, x: Any, *indices: Any, axes: tuple[int, ...]) -> Any:
    return _inside(x, indices, axes)


def _inside(x: Any, indices: Sequence[Any], axes: Sequence[int]) -> Any:
    """Whether all places are in -size .. size - 1."""
    well: Any = True
    for index, axis in zip(indices, axes, strict=True):
        size = x.shape[axis]
        if index.dtype.kind == "u":
            inside = index < np.uint64(size) if isinstance(size, int) else index < size
        else:
            index = index.astype(INT64)
            inside = (index >= -size) & (index < size)
        well = well & jnp.all(inside)
    return well


@lower("index_put")
def _index_put(x: Any, value: Any, *indices: Any, axes: tuple[int, ...], accumulate: bool) -> Any:
    if 0 in x.shape:
        return x
    place = x.at[_positions(x, indices, axes)]
    value = cast(value, x.dtype)
    if not accumulate:
        return place.set(value)
    if x.dtype == np.bool_:
        return place.max(value)
    return place.add(value)


@check("index_put")
def _are_put_inside(
    y: Any, x: Any, value: Any, *indices: Any, axes: tuple[int, ...], accumulate: bool
) -> Any:
    return _inside(x, indices, axes)


def along_axis(operator: Operator, number: Callable[[Any], Any] = tuple) -> int | None:
    """The axis along which elements are taken or put, where all other positions are every one.

    `number` gives what a tuple of sizes is at a call.

    `take_along_axis` is written so, with a range for each other axis. Of devices that each have a
    part of the others, none needs what another has, which XLA sees in this form alone.
    """
    axes: tuple[int, ...] = operator.attributes["axes"]
    shape, indices = operator.operands[0].tensor_type.shape, operator.operands[-len(axes) :]
    if len(axes) != len(shape):
        return None
    shape = number(shape)
    chosen = [
        axis
        for axis, index in zip(axes, indices, strict=True)
        if not _is_range(index, axis, shape, number)
    ]
    picked = indices[axes.index(chosen[0])].tensor_type.shape if len(chosen) == 1 else ()
    picked = number(picked)
    whole = [size for axis, size in enumerate(shape) if axis not in chosen]
    is_alike = len(picked) == len(shape) and whole == [
        size for axis, size in enumerate(picked) if axis not in chosen
    ]
    return chosen[0] if is_alike else None


def _is_range(index: Variable, axis: int, shape: Sequence[Any], number: Any) -> bool:
    """Whether it is 0, 1, 2, ... along an axis of a tensor, and one long along all others."""
    maker = index.maker
    while isinstance(maker, Operator) and maker.name == "reshape":
        maker = maker.operands[0].maker
    if not isinstance(maker, Operator) or maker.name != "arange":
        return False
    at, wanted = maker.attributes, [1] * len(shape)
    wanted[axis] = shape[axis]
    is_counted = number((at["start"], at["step"], at["stop"])) == (0, 1, shape[axis])
    return is_counted and [*number(index.tensor_type.shape)] == wanted


@along("index")
def _take_along(x: Any, *indices: Any, axes: tuple[int, ...], axis: int) -> Any:
    index = _from_start(indices[axes.index(axis)], x.shape[axis])
    return jnp.take_along_axis(x, index, axis, mode="clip")


@along("index_put")
def _put_along(
    x: Any, value: Any, *indices: Any, axes: tuple[int, ...], accumulate: bool, axis: int
) -> Any:
    index = _from_start(indices[axes.index(axis)], x.shape[axis])
    value = jnp.broadcast_to(cast(value, x.dtype), index.shape)

    def put(row: Any, places: Any, values: Any) -> Any:
        return row.at[places].add(values) if accumulate else row.at[places].set(values)

    for _ in range(x.ndim - 1):
        put = jax.vmap(put)
    made = put(*[jnp.moveaxis(one, axis, -1) for one in (x, index, value)])
    return jnp.moveaxis(made, -1, axis)


@lower("one_hot")
def _one_hot(x: Any, num_classes: int) -> Any:
    return x[..., None] == jnp.arange(num_classes, dtype=x.dtype)


@check("one_hot")
def _are_classes(y: Any, x: Any, num_classes: int) -> Any:
    wide = x.astype(INT64)
    return jnp.all((wide >= 0) & (wide < num_classes))


def _neutral(reduce: str, dtype: Any) -> Any:
    if reduce == "mul":
        return 1
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return limits.max if reduce == "amin" else limits.min
    return np.inf if reduce == "amin" else -np.inf


@lower("scatter_reduce")
def _scatter_reduce(
    x: Any, index: Any, values: Any, axis: int, reduce: str, include_self: bool
) -> Any:
    places = [lax.broadcasted_iota(INT64, index.shape, place) for place in range(index.ndim)]
    places[axis] = index
    if not include_self:
        x = x.at[tuple(places)].set(np.asarray(_neutral(reduce, x.dtype)).astype(x.dtype))
    place = x.at[tuple(places)]
    join = {"mul": place.multiply, "amin": place.min, "amax": place.max}[reduce]
    return join(cast(values, x.dtype))


@check("scatter_reduce")
def _are_joined_inside(
    y: Any, x: Any, index: Any, values: Any, axis: int, reduce: str, include_self: bool
) -> Any:
    return _inside(x, [index], [axis])
