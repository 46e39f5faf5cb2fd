"""Functions of the array API that move elements, and pick them by positions."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.array_api.data_types import result_type
from dy2st_runtime.dims import equal
from dy2st_runtime.errors import ArgumentError, PlaceError
from dy2st_runtime.ir import F, Tensor


class AxisError(ArgumentError, PlaceError):
    """There is no such axis: a ValueError and an IndexError, as NumPy's."""


def require_axis(axis: Any, rank: int) -> int:
    """An axis from 0; AxisError if there is none."""
    if not -rank <= axis < rank:
        raise AxisError(f"there is no axis {axis}: the tensor has {rank} axes")
    return int(axis) % rank


def broadcast_arrays(*arrays: Any) -> list[Any]:
    """The tensors, each in the shape that all of them fit.

    >>> arrays = dy2st.array_api.broadcast_arrays(dy2st.zeros([3, 1]), dy2st.zeros([2]))
    >>> [one.shape for one in arrays]
    [[3, 2], [3, 2]]
    """
    return [F.assign(one) for one in F.broadcast_tensors(list(arrays))] if arrays else []


def broadcast_to(x: Any, /, shape: Any) -> Any:
    """x in a larger shape, its elements repeated: (n, 1) -> (n, m).

    >>> dy2st.array_api.broadcast_to(dy2st.to_tensor([1, 2]), (2, 2)).tolist()
    [[1, 2], [1, 2]]
    """
    return F.broadcast_to(x, list(shape))


def concat(arrays: Any, /, *, axis: Any = 0) -> Any:
    """Tensors behind each other along an axis; with None each is flattened first.

    >>> dy2st.array_api.concat([dy2st.to_tensor([1, 2]), dy2st.to_tensor([3])]).tolist()
    [1, 2, 3]
    """
    dtype = result_type(*arrays)
    parts = [F.cast(one, dtype) for one in arrays]
    if axis is None:
        return F.concat([F.reshape(one, [-1]) for one in parts], 0)
    return F.concat(parts, require_axis(axis, parts[0].ndim))


def expand_dims(x: Any, /, axis: Any = 0) -> Any:
    """x with one more axis of size 1: (n, m) -> (n, 1, m) for axis 1.

    >>> dy2st.array_api.expand_dims(dy2st.zeros([2, 3]), 1).shape
    [2, 1, 3]
    """
    return F.unsqueeze(x, require_axis(axis, x.ndim + 1))


def flip(x: Any, /, *, axis: Any = None) -> Any:
    """x with the elements in reverse order along some axes, all by default.

    >>> dy2st.array_api.flip(dy2st.to_tensor([[1, 2], [3, 4]]), axis=1).tolist()
    [[2, 1], [4, 3]]
    """
    axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    return F.flip(x, [require_axis(one, x.ndim) for one in axes]) if x.ndim else F.assign(x)


def matrix_transpose(x: Any, /) -> Any:
    """x with its last two axes exchanged: (..., n, m) -> (..., m, n).

    >>> dy2st.array_api.matrix_transpose(dy2st.to_tensor([[1, 2, 3]])).tolist()
    [[1], [2], [3]]
    """
    if x.ndim < 2:
        raise ArgumentError(f"matrix_transpose takes two or more axes, not {x.ndim}")
    return F.swapaxes(x, -1, -2)


def moveaxis(x: Any, source: Any, destination: Any, /) -> Any:
    """x with some axes at other places, the others in their order.

    >>> dy2st.array_api.moveaxis(dy2st.zeros([2, 3, 4]), 0, -1).shape
    [3, 4, 2]
    """
    return F.moveaxis(x, source, destination)


def permute_dims(x: Any, /, axes: Any) -> Any:
    """x with its axes in another order: axis i is axis axes[i] of x.

    >>> dy2st.array_api.permute_dims(dy2st.zeros([2, 3, 4]), (2, 0, 1)).shape
    [4, 2, 3]
    """
    return F.transpose(x, list(axes))


def repeat(x: Any, repeats: Any, /, *, axis: Any = None) -> Any:
    """Each element so many times, a number for all or for each, along an axis or flattened.

    >>> dy2st.array_api.repeat(dy2st.to_tensor([7, 8]), 2).tolist()
    [7, 7, 8, 8]
    """
    flat = F.reshape(x, [-1]) if axis is None else x
    place = 0 if axis is None else require_axis(axis, x.ndim)
    if not isinstance(repeats, Tensor):
        return F.repeat_interleave(flat, repeats, place)
    counts = F.reshape(repeats, [-1])
    if equal(counts.shape[0], 1) is True:
        counts = F.broadcast_to(counts, [flat.shape[place]])
    return F.repeat_interleave(flat, F.cast(counts, "int64"), place)


def reshape(x: Any, /, shape: Any, *, copy: Any = None) -> Any:
    """x in another shape; a view of it, or with `copy` a copy.

    >>> dy2st.array_api.reshape(dy2st.arange(4), (2, 2)).tolist()
    [[0, 1], [2, 3]]
    """
    made = F.reshape(x, list(shape) if isinstance(shape, (tuple, list)) else [shape])
    return F.clone(made) if copy else made


def roll(x: Any, /, shift: Any, *, axis: Any = None) -> Any:
    """x with its elements moved on, those at the end back to the start.

    >>> dy2st.array_api.roll(dy2st.to_tensor([1, 2, 3]), 1).tolist()
    [3, 1, 2]
    """
    if axis is None:
        total = sum(shift) if isinstance(shift, tuple) else shift
        return F.reshape(F.roll(F.reshape(x, [-1]), total, 0), x.shape)
    axes = axis if isinstance(axis, tuple) else (axis,)
    shifts = shift if isinstance(shift, tuple) else (shift,) * len(axes)
    made = x
    for place, by in zip(axes, shifts, strict=True):
        made = F.roll(made, by, require_axis(place, x.ndim))
    return made


def squeeze(x: Any, /, axis: Any) -> Any:
    """x without some axes of size 1; ArgumentError if one has another size.

    >>> dy2st.array_api.squeeze(dy2st.zeros([1, 3, 1]), 0).shape
    [3, 1]
    """
    axes = [require_axis(one, x.ndim) for one in ([axis] if isinstance(axis, int) else axis)]
    for one in axes:
        if equal(x.shape[one], 1) is not True:
            raise ArgumentError(f"squeeze: axis {one} of the shape {list(x.shape)} is not 1")
    return F.squeeze(x, axes) if axes else F.assign(x)


def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    """Tensors of one shape beside each other, along a new axis: two of (n,) -> (2, n).

    >>> dy2st.array_api.stack([dy2st.to_tensor([1, 2]), dy2st.to_tensor([3, 4])]).tolist()
    [[1, 2], [3, 4]]
    """
    dtype = result_type(*arrays)
    parts = [F.cast(one, dtype) for one in arrays]
    return F.stack(parts, require_axis(axis, parts[0].ndim + 1))


def take(x: Any, indices: Any, /, *, axis: Any = None) -> Any:
    """The elements at positions along an axis, which only a vector need not name.

    >>> dy2st.array_api.take(dy2st.to_tensor([5, 6, 7]), dy2st.to_tensor([2, 0])).tolist()
    [7, 5]
    """
    if axis is None and x.ndim != 1:
        raise ArgumentError(f"take: name the axis of a tensor with {x.ndim} axes")
    place = require_axis(axis or 0, x.ndim)
    return x[(*(slice(None),) * place, F.cast(indices, "int64"))]


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """For each line along an axis the elements at its own positions.

    >>> x = dy2st.to_tensor([[30, 10, 20]])
    >>> dy2st.array_api.take_along_axis(x, dy2st.array_api.argsort(x)).tolist()
    [[10, 20, 30]]
    """
    place = require_axis(axis, x.ndim)
    sizes, others = list(x.shape), list(indices.shape)
    shape = F.broadcast_shapes(*([*one[:place], *one[place + 1 :]] for one in (sizes, others)))
    x = F.broadcast_to(x, [*shape[:place], sizes[place], *shape[place:]])
    indices = F.broadcast_to(indices, [*shape[:place], others[place], *shape[place:]])
    return F.take_along_axis(x, F.cast(indices, "int64"), place, False)


def tile(x: Any, repetitions: Any, /) -> Any:
    """x repeated so many times along each of its last axes.

    >>> dy2st.array_api.tile(dy2st.to_tensor([1, 2]), 2).tolist()
    [1, 2, 1, 2]
    """
    times = [repetitions] if isinstance(repetitions, int) else list(repetitions)
    times = [1] * (x.ndim - len(times)) + times
    return F.tile(F.reshape(x, [1] * (len(times) - x.ndim) + list(x.shape)), times)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """The tensors along an axis.

    >>> [row.tolist() for row in dy2st.array_api.unstack(dy2st.to_tensor([[1, 2], [3, 4]]))]
    [[1, 2], [3, 4]]
    """
    return tuple(F.unbind(x, require_axis(axis, x.ndim)))
