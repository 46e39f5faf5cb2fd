"""Picking and placing elements by tensors of indices and by masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.dims import Size, broadcast, product
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F, Sample, TensorType, apply, define, method, public
from dy2st_runtime.ir.arguments import (
    as_dtype,
    as_integers,
    as_shape,
    as_size,
    fresh_symbol,
    is_unknown,
    normalize_axis,
    shape_of,
)
from dy2st_runtime.ir.attribute_kinds import SIZE
from dy2st_runtime.ops.rules import are_inside, broadcast_shapes, fitted, require_dtype

# -- picking ----------------------------------------------------------------------------------


@method
def gather(x: Any, index: Any, axis: Any = None, name: str | None = None) -> Any:
    """The slices of x at the places `index` along an axis: (n, ...), (m,) -> (m, ...).

    Without an axis it is the first one. Raises IndexError for a place that x does not have.

    >>> dy2st.gather(dy2st.to_tensor([5, 6, 7]), dy2st.to_tensor([2, 0])).tolist()
    [7, 5]
    """
    return apply("index", x, index, axes=(normalize_axis(0 if axis is None else axis, x.ndim),))


@method
def index_select(x: Any, index: Any, axis: int = 0, name: str | None = None) -> Any:
    """The slices of x at the places `index` along an axis: (n, ...), (m,) -> (m, ...).

    Raises IndexError for a place that x does not have.

    >>> x = dy2st.to_tensor([[1, 2], [3, 4]])
    >>> dy2st.index_select(x, dy2st.to_tensor([1, 1]), axis=0).tolist()
    [[3, 4], [3, 4]]
    """
    return gather(x, index, axis)


@method
def index_sample(x: Any, index: Any) -> Any:
    """x[i, index[i, j]]: (n, k), (n, m) -> (n, m).

    >>> x, places = dy2st.to_tensor([[1, 2], [3, 4]]), dy2st.to_tensor([[0, 0], [1, 0]])
    >>> dy2st.index_sample(x, places).tolist()
    [[1, 1], [4, 3]]
    """
    return take_along_axis(x, index, 1, broadcast=False)


@method
def gather_nd(x: Any, index: Any, name: str | None = None) -> Any:
    """x[tuple(index[..., :])]: the last axis of `index` names a place along the first axes of x.

    (n, m, ...), (k, 2) -> (k, ...).

    Raises IndexError for a place that x does not have.

    >>> places = dy2st.to_tensor([[0, 1], [1, 0]])
    >>> dy2st.gather_nd(dy2st.to_tensor([[1, 2], [3, 4]]), places).tolist()
    [2, 3]
    """
    depth = _depth("gather_nd", index, x.ndim)
    if not depth:
        return F.broadcast_to(x, [*index.shape[:-1], *x.shape])
    return apply("index", x, *_columns(index, depth), axes=tuple(range(depth)))


def _depth(name: str, index: Any, rank: int) -> int:
    depth = index.shape[-1] if index.ndim else None
    if not isinstance(depth, int) or depth > rank:
        raise ShapeError(
            f"{name}: the last axis of the index has a place along at most {rank} axes; its shape "
            f"is {index.shape}"
        )
    return depth


def _columns(index: Any, depth: int) -> list[Any]:
    return [index[..., i] for i in range(depth)]


@method
def take(x: Any, index: Any, mode: str = "raise", name: str | None = None) -> Any:
    """The elements of the flattened x at the places `index`; the result has the index's shape.

    (...,), (m, k) -> (m, k).

    >>> dy2st.take(dy2st.to_tensor([[1, 2], [3, 4]]), dy2st.to_tensor([3, 0])).tolist()
    [4, 1]
    """
    if mode != "raise":
        raise ArgumentError(
            f"take: the mode is 'raise', not {mode!r}; clip or wrap the index first"
        )
    return gather(F.flatten(x), index)


@method
def take_along_axis(arr: Any, indices: Any, axis: int, broadcast: bool = True) -> Any:
    """arr[..., indices[..., i, ...], ...]: places along an axis, element by element.

    (n, m), (k, m) -> (k, m) along axis 0.

    With `broadcast` the other axes broadcast; without, `indices` may be shorter along them.

    Raises IndexError for a place that `arr` does not have, ShapeError if the ranks differ.

    >>> x = dy2st.to_tensor([[30, 10, 20], [1, 3, 2]])
    >>> dy2st.take_along_axis(x, dy2st.argsort(x), axis=1).tolist()
    [[10, 20, 30], [1, 2, 3]]
    """
    place = normalize_axis(axis, arr.ndim)
    if broadcast:
        arr, indices = _broadcast_but(arr, indices, place)
    return apply("index", arr, *_along(arr, indices, place), axes=tuple(range(arr.ndim)))


def _broadcast_but(arr: Any, indices: Any, place: int) -> tuple[Any, Any]:
    """Both with the same sizes along all axes but one."""
    if indices.ndim != arr.ndim:
        raise ShapeError(f"{indices.shape} and {arr.shape} differ in rank")
    shapes: tuple[list[Size], list[Size]] = ([], [])
    for axis, (size, other) in enumerate(zip(arr.shape, indices.shape, strict=True)):
        joined = None if axis == place else broadcast(size, other)
        shapes[0].append(size if joined is None else joined)
        shapes[1].append(other if joined is None else joined)
    return F.broadcast_to(arr, shapes[0]), F.broadcast_to(indices, shapes[1])


def _along(x: Any, index: Any, axis: int) -> list[Any]:
    """Indices of all axes: the given places along one, the own ones elsewhere."""
    if index.ndim != x.ndim:
        raise ShapeError(f"an index of shape {index.shape} does not fit {x.shape}: rank differs")
    indices: list[Any] = []
    for a in range(x.ndim):
        shape: list[Size] = [1] * x.ndim
        shape[a] = index.shape[a]
        indices.append(index if a == axis else F.reshape(F.arange(index.shape[a]), shape))
    return indices


# -- placing ----------------------------------------------------------------------------------


@method
def scatter(
    x: Any, index: Any, updates: Any, overwrite: bool = True, name: str | None = None
) -> Any:
    """x with the rows `index` replaced by `updates`, or, without overwrite, by sums of updates.

    (n, ...), (m,), (m, ...) -> (n, ...).

    The rows are added to zeros without `overwrite`; places that stand twice count twice then.
    Raises IndexError for a row that x does not have.

    >>> x, rows = dy2st.zeros([3]), dy2st.to_tensor([2, 0])
    >>> dy2st.scatter(x, rows, dy2st.to_tensor([7.0, 8.0])).tolist()
    [8.0, 0.0, 7.0]
    """
    index = F.flatten(index) if index.ndim else index
    if overwrite:
        return apply("index_put", x, updates, index, axes=(0,), accumulate=False)
    cleared = apply("index_put", x, F.zeros_like(updates), index, axes=(0,), accumulate=False)
    return apply("index_put", cleared, updates, index, axes=(0,), accumulate=True)


@method
def scatter_nd_add(x: Any, index: Any, updates: Any, name: str | None = None) -> Any:
    """x with `updates` added at the places that the last axis of `index` names.

    (n, m), (k, 2), (k,) -> (n, m).

    >>> x, places = dy2st.to_tensor([1.0, 1.0, 1.0]), dy2st.to_tensor([[2], [2]])
    >>> dy2st.scatter_nd_add(x, places, dy2st.to_tensor([10.0, 20.0])).tolist()
    [1.0, 1.0, 31.0]
    """
    depth = _depth("scatter_nd_add", index, x.ndim)
    if not depth:
        return F.add(x, F.sum_to(updates, x.shape))
    places = _columns(index, depth)
    return apply("index_put", x, updates, *places, axes=tuple(range(depth)), accumulate=True)


@public
def scatter_nd(index: Any, updates: Any, shape: Any, name: str | None = None) -> Any:
    """Zeros with `updates` added at the places that the last axis of `index` names.

    (k, 2), (k,) -> (n, m) for the shape [n, m].

    >>> places = dy2st.to_tensor([[0, 1], [1, 0]])
    >>> dy2st.scatter_nd(places, dy2st.to_tensor([7.0, 8.0]), [2, 2]).tolist()
    [[0.0, 7.0], [8.0, 0.0]]
    """
    if is_unknown(shape):
        sizes, known = as_integers(shape)
        return F.dynamic("scatter_nd", index, updates, sizes, known=known)
    return scatter_nd_add(F.zeros(as_shape(shape), updates.dtype), index, updates)


@method
def index_add(
    x: Any, index: Any, axis: int, value: Any, alpha: Any = 1, name: str | None = None
) -> Any:
    """x with `alpha * value` added to its slices at the places `index` along an axis.

    (n, ...), (m,), (m, ...) -> (n, ...) along axis 0.

    Places that stand twice count twice. Raises IndexError for a place that x does not have.

    >>> x, places = dy2st.zeros([2, 2]), dy2st.to_tensor([1, 1])
    >>> dy2st.index_add(x, places, 0, dy2st.to_tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[0.0, 0.0], [4.0, 6.0]]
    """
    place = (normalize_axis(axis, x.ndim),)
    value = value if isinstance(alpha, int) and alpha == 1 else value * alpha
    return apply("index_put", x, value, index, axes=place, accumulate=True)


@method
def index_fill(x: Any, index: Any, axis: int, value: Any, name: str | None = None) -> Any:
    """x with one number in its slices at the places `index` along an axis.

    (n, ...), (m,) -> (n, ...) along axis 0.

    >>> dy2st.index_fill(dy2st.zeros([2, 3]), dy2st.to_tensor([0, 2]), 1, 7.0).tolist()
    [[7.0, 0.0, 7.0], [7.0, 0.0, 7.0]]
    """
    place = (normalize_axis(axis, x.ndim),)
    value = fitted(value, x.dtype)
    return apply("index_put", x, value, index, axes=place, accumulate=False)


@method
def index_put(
    x: Any, indices: Any, value: Any, accumulate: bool = False, name: str | None = None
) -> Any:
    """x[indices] = value as a new tensor; added instead with `accumulate`.

    (n, m), two of (k,), (k,) -> (n, m).

    >>> places = (dy2st.to_tensor([0, 1]), dy2st.to_tensor([1, 0]))
    >>> dy2st.index_put(dy2st.zeros([2, 2]), places, dy2st.to_tensor([7.0, 8.0])).tolist()
    [[0.0, 7.0], [8.0, 0.0]]
    """
    index = tuple(indices)
    if not accumulate:
        return F.setitem(x, index, value)
    places = F.getitem(F.reshape(F.arange(x.size), x.shape), index)
    value = F.broadcast_to(fitted(value, x.dtype), places.shape)
    changed = index_add(F.flatten(x), F.flatten(places), 0, F.flatten(value))
    return F.reshape(changed, x.shape)


_REDUCTIONS = ("assign", "add", "mul", "mean", "amin", "amax")


@method
def put_along_axis(
    arr: Any,
    indices: Any,
    values: Any,
    axis: int,
    reduce: str = "assign",
    include_self: bool = True,
    broadcast: bool = True,
) -> Any:
    """arr with values at places along an axis, element by element, or joined with them.

    (n, m), (k, m), (k, m) -> (n, m) along axis 0.

    reduce: 'assign', 'add', 'mul' (or 'multiply'), 'mean', 'amin', 'amax'.

    Without `include_self` the elements that are added to count as 0.

    >>> x = dy2st.to_tensor([[10, 20], [30, 40]])
    >>> dy2st.put_along_axis(x, dy2st.to_tensor([[1], [0]]), 5, axis=1).tolist()
    [[10, 5], [5, 40]]
    >>> dy2st.put_along_axis(x, dy2st.to_tensor([[1], [0]]), 5, axis=1, reduce="add").tolist()
    [[10, 25], [35, 40]]
    """
    reduce = "mul" if reduce == "multiply" else reduce
    if reduce not in _REDUCTIONS:
        raise ArgumentError(f"put_along_axis: reduce is one of {_REDUCTIONS}, not {reduce!r}")
    place = normalize_axis(axis, arr.ndim)
    if broadcast:
        wide = [*arr.shape[:place], indices.shape[place], *arr.shape[place + 1 :]]
        indices = F.broadcast_to(indices, wide)
    values = F.broadcast_to(fitted(values, arr.dtype), indices.shape)
    if reduce not in ("assign", "add"):
        return F.put_reduced(arr, indices, values, place, reduce, include_self)
    places, axes = _along(arr, indices, place), tuple(range(arr.ndim))
    if reduce == "add" and not include_self:
        zeros = F.zeros_like(values)
        arr = apply("index_put", arr, zeros, *places, axes=axes, accumulate=False)
    return apply("index_put", arr, values, *places, axes=axes, accumulate=reduce == "add")


# -- masks ------------------------------------------------------------------------------------


@method
def masked_fill(x: Any, mask: Any, value: Any, name: str | None = None) -> Any:
    """x with `value` where the mask is true, with broadcasting: (...,), (...,), () -> (...,).

    >>> x = dy2st.to_tensor([1.0, 2.0, 3.0])
    >>> dy2st.masked_fill(x, x > 1.5, 0.0).tolist()
    [1.0, 0.0, 0.0]
    """
    return F.where(mask, fitted(value, x.dtype), x)


@method
def masked_select(x: Any, mask: Any, name: str | None = None) -> Any:
    """The elements of x where the mask is true, as a vector; both broadcast.

    (...,), (...,) -> (count,).

    >>> x = dy2st.to_tensor([[1, 2], [3, 4]])
    >>> dy2st.masked_select(x, x > 1).tolist()
    [2, 3, 4]
    """
    shape = broadcast_shapes("masked_select", tuple(shape_of(x)), tuple(shape_of(mask)))
    wide = list(shape) or [1]  # of a number it is a vector of one element or none
    return F.getitem(F.broadcast_to(x, wide), F.broadcast_to(mask, wide))


define(
    "nonzero",
    doc="The places of the elements that are not 0, one a row.",
    inputs="x",
    infer=lambda x: TensorType("int64", (fresh_symbol("nonzero", 0, product(x.shape)), x.rank)),
    # Of an array of its own: NumPy counts first, and another thread may write to `x` meanwhile.
    kernel=lambda x: np.argwhere(np.not_equal(x, x.dtype.type(0))),
    takes_complex=True,
    samples=(
        Sample(((2, 3),), dtypes=("int64",), low=0, high=2),
        Sample(((0, 3),), dtypes=("bool",)),
    ),
)


@method
def nonzero(x: Any, as_tuple: bool = False) -> Any:
    """The places of the elements that are not 0: (count, rank), or one vector an axis.

    Raises ShapeError for a tensor without axes.

    >>> dy2st.nonzero(dy2st.to_tensor([0, 7, 0, 8])).tolist()
    [[1], [3]]
    """
    if not shape_of(x):
        raise ShapeError("nonzero of a tensor without axes")
    places = apply("nonzero", x)
    if not as_tuple:
        return places
    return tuple(places[:, axis] for axis in range(places.shape[1]))


# -- places as masks --------------------------------------------------------------------------


def _one_hot_infer(x: TensorType, num_classes: Size) -> TensorType:
    require_dtype("one_hot", x, "iu", "integers")
    return TensorType("float32", (*x.shape, num_classes))


def _one_hot_kernel(x: Any, num_classes: int) -> Any:
    if x.dtype.kind not in "iu":
        raise TypeError(f"classes are integers, not {x.dtype}")
    if x.size and (x.min() < 0 or x.max() >= num_classes):
        raise IndexError(f"one_hot: a class is not in 0 .. {num_classes - 1}")
    return (x[..., None] == np.arange(num_classes)).astype(np.float32)


define(
    "one_hot",
    doc="1 at the place x of a new last axis, 0 elsewhere.",
    raises=IndexError,
    fails=lambda x, num_classes: not are_inside(x, num_classes),
    inputs="x",
    along=lambda x, num_classes: (),
    attributes={"num_classes": SIZE},
    infer=_one_hot_infer,
    kernel=_one_hot_kernel,
    samples=(Sample(((2, 3),), {"num_classes": 4}, ("int64",), 0, 4),),
)


@public
def one_hot(x: Any, num_classes: Any = -1, name: str | None = None) -> Any:
    """1 at the place x of a new last axis, 0 elsewhere: (...,) -> (..., num_classes), float32.

    -1 stands for the largest class there is, and one.

    Raises IndexError for a class below 0 or not below num_classes.

    >>> dy2st.nn.functional.one_hot(dy2st.to_tensor([2, 0]), 3).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    if isinstance(num_classes, int) and num_classes == -1:
        num_classes = F.max(x) + 1
    if is_unknown(num_classes):
        return F.dynamic("one_hot", x, num_classes)
    return apply("one_hot", x, num_classes=as_size(num_classes, "num_classes"))


@public
def sequence_mask(x: Any, maxlen: Any = None, dtype: Any = "int64", name: str | None = None) -> Any:
    """1 before the place x of a new last axis, 0 from there on: (...,) -> (..., maxlen).

    Without maxlen it is the largest of x.

    >>> dy2st.nn.functional.sequence_mask(dy2st.to_tensor([1, 3]), maxlen=3).tolist()
    [[1, 0, 0], [1, 1, 1]]
    """
    places = F.arange(F.max(x) if maxlen is None else maxlen)
    return F.cast(F.less_than(places, F.unsqueeze(x, [x.ndim])), as_dtype(dtype))
