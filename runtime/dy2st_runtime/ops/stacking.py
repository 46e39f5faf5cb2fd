"""More ways of putting tensors together and taking them apart, and of looking at their axes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations as _combinations
from itertools import combinations_with_replacement, pairwise
from typing import Any

import numpy as np

from dy2st_runtime.dims import Size, equal, minimum, product, require_equal
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F, Tensor, method, public
from dy2st_runtime.ir.arguments import (
    as_dtype,
    as_int,
    as_ints,
    as_shape,
    as_size,
    dtype_of,
    normalize_axis,
    rank_of,
    shape_of,
)
from dy2st_runtime.ir.dispatch import as_copy, as_view
from dy2st_runtime.ir.tracing.traced_list import TracedList


def _at_least(rank: int, inputs: tuple[Any, ...]) -> Any:
    """Each with so many axes: one in front, the second behind, the third at the end."""
    if len(inputs) == 1 and isinstance(inputs[0], (list, tuple)):
        inputs = tuple(inputs[0])
    made = []
    for x in inputs:
        own = shape_of(x)
        if not own:
            own = [1] * rank
        elif len(own) == 1 and rank > 1:
            own = [1, *own] if rank == 2 else [1, *own, 1]
        elif len(own) == 2 and rank == 3:
            own = [*own, 1]
        made.append(F.reshape(x, own))
    return made[0] if len(made) == 1 else made


@method
def atleast_1d(*inputs: Any, name: str | None = None) -> Any:
    """Tensors with at least one axis; a list of several.

    () -> (1,).

    >>> dy2st.atleast_1d(dy2st.to_tensor(5)).shape
    [1]
    """
    return _at_least(1, inputs)


@method
def atleast_2d(*inputs: Any, name: str | None = None) -> Any:
    """Tensors with at least two axes, vectors as rows; a list of several.

    (n,) -> (1, n).

    >>> dy2st.atleast_2d(dy2st.to_tensor([1, 2, 3])).shape
    [1, 3]
    """
    return _at_least(2, inputs)


@method
def atleast_3d(*inputs: Any, name: str | None = None) -> Any:
    """Tensors with at least three axes: (n,) -> (1, n, 1), (n, m) -> (n, m, 1).

    >>> dy2st.atleast_3d(dy2st.zeros([2, 3])).shape
    [2, 3, 1]
    """
    return _at_least(3, inputs)


@public
def column_stack(x: Any, name: str | None = None) -> Any:
    """Tensors side by side, vectors as columns: (n,), (n, m) -> (n, 1 + m).

    >>> dy2st.column_stack([dy2st.to_tensor([1, 2]), dy2st.to_tensor([3, 4])]).tolist()
    [[1, 3], [2, 4]]
    """
    if type(x) is TracedList and x.rank < 2:
        return F.stack(x, 1) if x.rank else F.unsqueeze(F.stack(x), 0)
    if type(x) is TracedList:
        return F.concat(x, 1)
    return F.concat([F.reshape(t, [-1, 1]) if rank_of(t) < 2 else t for t in x], 1)


@public
def dstack(x: Any, name: str | None = None) -> Any:
    """Tensors one behind the other along the third axis: two of (n, m) -> (n, m, 2).

    >>> dy2st.dstack([dy2st.to_tensor([[1, 2]]), dy2st.to_tensor([[3, 4]])]).tolist()
    [[[1, 3], [2, 4]]]
    """
    if type(x) is TracedList and x.rank < 3:
        stacked = F.stack(x, x.rank)
        return F.unsqueeze(stacked, list(range(2 - x.rank)))
    if type(x) is TracedList:
        return F.concat(x, 2)
    return F.concat([_at_least(3, (t,)) for t in x], 2)


@method
def block_diag(inputs: Sequence[Any], name: str | None = None) -> Any:
    """Matrices along a diagonal, with zeros around: (n, k), (m, l) -> (n + m, k + l).

    >>> dy2st.block_diag([dy2st.to_tensor([[1, 2]]), dy2st.to_tensor([[3], [4]])]).tolist()
    [[1, 2, 0], [0, 0, 3], [0, 0, 4]]
    """
    blocks = [_at_least(2, (block,)) for block in inputs]
    total = sum((block.shape[1] for block in blocks), start=0)
    rows, before = [], 0
    for block in blocks:
        behind = total - before - block.shape[1]
        rows.append(F.pad(block, [0, 0, before, behind]))
        before = before + block.shape[1]
    return F.concat(rows, 0)


@public
def cartesian_prod(x: Sequence[Any], name: str | None = None) -> Any:
    """All combinations of the elements of vectors: (n,), (m,) -> (n * m, 2).

    >>> dy2st.cartesian_prod([dy2st.to_tensor([1, 2]), dy2st.to_tensor([8, 9])]).tolist()
    [[1, 8], [1, 9], [2, 8], [2, 9]]
    """
    if len(x) == 1:
        return F.assign(x[0])
    return F.stack([F.flatten(grid) for grid in F.meshgrid(*x)], axis=1)


@method
def combinations(
    x: Any, r: int = 2, with_replacement: bool = False, name: str | None = None
) -> Any:
    """All choices of r elements of a vector, in order: (n,) -> (count, r).

    >>> dy2st.combinations(dy2st.to_tensor([1, 2, 3])).tolist()
    [[1, 2], [1, 3], [2, 3]]
    """
    count, chosen = shape_of(x)[0], as_int(r, "r")
    if chosen < 0:
        raise ArgumentError(f"combinations: {chosen} elements cannot be chosen")
    if chosen == 0:  # as Paddle has it: no elements, and one axis alone
        return F.zeros([0], dtype_of(x))
    if isinstance(count, int):
        choose = combinations_with_replacement if with_replacement else _combinations
        listed = [*choose(range(count), chosen)]
        places: Any = np.array(listed, np.int64).reshape(-1, chosen)
    else:
        # So many of 0, ..., count - 1 in every order that goes up: found among all that there
        # are.
        stays, before = F.full([count] * chosen, True), None
        for axis in range(chosen):
            place = F.reshape(F.arange(count), [count if a == axis else 1 for a in range(chosen)])
            if before is not None:
                goes_up = F.less_equal if with_replacement else F.less_than
                stays = F.logical_and(stays, goes_up(before, place))
            before = place
        places = F.nonzero(stays)
    return F.reshape(F.gather(x, F.flatten(places)), [places.shape[0], chosen])


# -- apart ------------------------------------------------------------------------------------


@method
def tensor_split(x: Any, num_or_indices: Any, axis: Any = 0, name: str | None = None) -> list[Any]:
    """Parts along an axis: so many, the first ones longer by 1, or up to the given places.

    >>> x = dy2st.to_tensor([1, 2, 3])
    >>> [part.tolist() for part in dy2st.tensor_split(x, 2)]
    [[1, 2], [3]]
    >>> [part.tolist() for part in dy2st.tensor_split(x, [1])]
    [[1], [2, 3]]
    """
    place = normalize_axis(axis, x.ndim)
    size = x.shape[place]
    if isinstance(num_or_indices, (list, tuple, Tensor)):
        bounds = [0, *as_shape(num_or_indices), size]
    else:
        count = as_int(num_or_indices, "the number of parts of tensor_split")
        if count < 1:
            raise ArgumentError(f"tensor_split: {count} parts")
        bounds = [part * (size // count) + minimum(part, size % count) for part in range(count)]
        bounds.append(size)
    return [as_copy(F.slice(x, [place], [first], [last])) for first, last in pairwise(bounds)]


def _split_along(name: str, x: Any, given: Any, axis: int) -> list[Any]:
    if x.ndim <= axis:
        raise ShapeError(f"{name} takes a tensor of more axes than {x.ndim}")
    return tensor_split(x, given, axis)


@method
def hsplit(x: Any, num_or_indices: Any, name: str | None = None) -> list[Any]:
    """`tensor_split` along the second axis, or along the only one: (n, 2 * m) -> two of (n, m).

    >>> [part.tolist() for part in dy2st.hsplit(dy2st.to_tensor([[1, 2], [3, 4]]), 2)]
    [[[1], [3]], [[2], [4]]]
    """
    return _split_along("hsplit", x, num_or_indices, 0 if x.ndim == 1 else 1)


@method
def vsplit(x: Any, num_or_indices: Any, name: str | None = None) -> list[Any]:
    """`tensor_split` along the first axis of a tensor of two or more: (2 * n, m) -> two of (n, m).

    >>> [part.tolist() for part in dy2st.vsplit(dy2st.to_tensor([[1, 2], [3, 4]]), 2)]
    [[[1, 2]], [[3, 4]]]
    """
    if x.ndim < 2:
        raise ShapeError("vsplit takes a tensor of more axes than 1")
    return tensor_split(x, num_or_indices, 0)


@method
def dsplit(x: Any, num_or_indices: Any, name: str | None = None) -> list[Any]:
    """`tensor_split` along the third axis: (n, m, 2 * k) -> two of (n, m, k).

    >>> [part.shape for part in dy2st.dsplit(dy2st.zeros([2, 2, 4]), 2)]
    [[2, 2, 2], [2, 2, 2]]
    """
    return _split_along("dsplit", x, num_or_indices, 2)


@method
def narrow(input: Any, dim: int, start: Any, length: Any) -> Any:
    """`length` slices along an axis, from `start` on: x[start : start + length].

    (..., n, ...) -> (..., length, ...).

    >>> dy2st.narrow(dy2st.to_tensor([1, 2, 3, 4]), 0, 1, 2).tolist()
    [2, 3]
    """
    first = as_size(start, "start")
    place = normalize_axis(dim, input.ndim)
    if isinstance(first, int) and first < 0:
        first = input.shape[place] + first
    return F.slice(input, [place], [first], [first + as_size(length, "length")])


@method
def unfold(x: Any, axis: int, size: int, step: int, name: str | None = None) -> Any:
    """Windows along an axis, as a new last axis: (..., n, ...) -> (..., count, ..., size).

    >>> dy2st.unfold(dy2st.to_tensor([1, 2, 3, 4]), 0, 2, 1).tolist()
    [[1, 2], [2, 3], [3, 4]]
    """
    place = normalize_axis(axis, x.ndim)
    count = (x.shape[place] - size) // step + 1
    starts = F.unsqueeze(F.multiply(F.arange(count), step), 1)
    windows = F.gather(x, F.flatten(F.add(starts, F.arange(size))), place)
    own = x.shape
    apart = F.reshape(windows, [*own[:place], count, size, *own[place + 1 :]])
    return as_view(x, F.moveaxis(apart, place + 1, -1), partial(_windows, place, size, step))


def _windows(place: int, size: int, step: int, x: Any) -> Any:
    """The same in the memory of an array."""
    found = np.lib.stride_tricks.sliding_window_view(x, size, place)
    return found[(slice(None),) * place + (slice(None, None, step),)]


# -- axes -------------------------------------------------------------------------------------


@method
def permute(input: Any, *order: Any, dims: Any = None) -> Any:
    """The axes in another order, given as a list or one by one: axis order[i] is axis i then.

    (n, m, k) -> (k, n, m) for 2, 0, 1.

    >>> dy2st.permute(dy2st.zeros([2, 3, 4]), 2, 0, 1).shape
    [4, 2, 3]
    """
    if dims is None:
        dims = order[0] if len(order) == 1 else list(order)
    return F.transpose(input, dims)


@method
def matrix_transpose(x: Any, name: str | None = None) -> Any:
    """The last two axes exchanged: (..., n, m) -> (..., m, n).

    >>> dy2st.matrix_transpose(dy2st.to_tensor([[1, 2, 3]])).tolist()
    [[1], [2], [3]]
    """
    return F.swapaxes(x, -1, -2)


@method
def ravel(input: Any) -> Any:
    """All elements as a vector: (...,) -> (count,).

    >>> dy2st.ravel(dy2st.to_tensor([[1, 2], [3, 4]])).tolist()
    [1, 2, 3, 4]
    """
    return F.flatten(input)


@method
def view(x: Any, shape_or_dtype: Any = None, *sizes: Any, name: str | None = None) -> Any:
    """The same elements in another shape; the bits in another dtype are refused.

    Of tensors: a Program is shown by `program.view()`, a saved one by `dy2st view saved/net`.

    >>> dy2st.arange(6).view([2, 3]).tolist()
    [[0, 1, 2], [3, 4, 5]]
    """
    if shape_or_dtype is None:
        raise ArgumentError(
            "view(x, shape) gives the elements of a tensor in another shape; the graph of a "
            "converted function is shown by f.main_program.view(), a saved one by dy2st view path"
        )
    if sizes or isinstance(shape_or_dtype, (list, tuple, int)):
        return F.reshape(x, [shape_or_dtype, *sizes] if sizes else shape_or_dtype)
    if isinstance(shape_or_dtype, (str, np.dtype, type)):
        if as_dtype(shape_or_dtype) == x.dtype:
            return F.assign(x)
        raise ArgumentError("view: the bits of a tensor are not looked at in another dtype: cast()")
    return F.reshape(x, shape_or_dtype)


@method
def view_as(x: Any, other: Any, name: str | None = None) -> Any:
    """The same elements in the shape of another tensor.

    >>> dy2st.arange(4).view_as(dy2st.zeros([2, 2])).tolist()
    [[0, 1], [2, 3]]
    """
    return F.reshape(x, shape_of(other))


@method
def as_strided(x: Any, shape: Any, stride: Any, offset: int = 0, name: str | None = None) -> Any:
    """Elements of the flattened x, `stride[i]` apart along axis i, from `offset` bytes on.

    (count,) -> shape.

    >>> dy2st.as_strided(dy2st.to_tensor([1, 2, 3, 4]), [3, 2], [1, 1]).tolist()
    [[1, 2], [2, 3], [3, 4]]
    """
    sizes = as_shape(shape)
    first, rest = divmod(as_int(offset, "offset"), x.dtype.itemsize)
    if rest:
        raise ArgumentError(f"as_strided: {offset} bytes are no elements of {x.dtype}")
    places: Any = F.full([], first, "int64")
    for axis, (size, step) in enumerate(zip(sizes, as_ints(stride, "a stride"), strict=True)):
        wide: list[Size] = [1] * len(sizes)
        wide[axis] = size
        places = F.add(places, F.reshape(F.multiply(F.arange(size), step), wide))
    made = F.reshape(F.gather(F.flatten(x), F.flatten(places)), list(sizes))
    return as_view(x, made, partial(_strided, sizes, as_ints(stride, "a stride"), first))


def _strided(sizes: Sequence[Any], steps: Sequence[int], first: int, x: Any) -> Any:
    """The same in the memory of an array, whose elements lie one after the other."""
    rows = x.reshape(-1)[first:]
    strides = [step * x.itemsize for step in steps]
    return np.lib.stride_tricks.as_strided(rows, sizes, strides)


@method
def crop(x: Any, shape: Any = None, offsets: Any = None, name: str | None = None) -> Any:
    """The part of x of a shape that begins at `offsets`; -1 means all that is left.

    >>> dy2st.crop(dy2st.to_tensor([[1, 2, 3], [4, 5, 6]]), [2, 2], [0, 1]).tolist()
    [[2, 3], [5, 6]]
    """
    own = shape_of(x)
    firsts = list(as_shape(offsets)) if offsets is not None else [0] * len(own)
    sizes = list(as_shape(shape)) if shape is not None else [-1] * len(own)
    if not len(own) == len(firsts) == len(sizes):
        raise ArgumentError(f"crop: shape and offsets have an entry for each of {len(own)} axes")
    ends = [
        size if type(part) is int and part == -1 else first + part
        for size, first, part in zip(own, firsts, sizes, strict=True)
    ]
    return as_copy(F.slice(x, list(range(len(own))), firsts, ends))


@method
def msort(input: Any) -> Any:
    """The elements in order along the first axis: (n, ...) -> (n, ...).

    >>> dy2st.msort(dy2st.to_tensor([[3, 1], [2, 4]])).tolist()
    [[2, 1], [3, 4]]
    """
    return F.sort(input, axis=0)


@method
def vander(x: Any, n: Any = None, increasing: bool = False, name: str | None = None) -> Any:
    """The powers of the elements of a vector, one a column: (m,) -> (m, n), highest first.

    >>> x = dy2st.to_tensor([2, 3])
    >>> dy2st.vander(x).tolist(), dy2st.vander(x, 3).tolist()
    ([[2, 1], [3, 1]], [[4, 2, 1], [9, 3, 1]])
    """
    count = shape_of(x)[0] if n is None else as_size(n, "n")
    powers = F.arange(count)
    return F.pow(F.unsqueeze(x, 1), F.cast(powers if increasing else F.flip(powers, [0]), x.dtype))


@method
def argwhere(input: Any) -> Any:
    """The places of the elements that are not 0: (...,) -> (count, rank), int64.

    >>> dy2st.argwhere(dy2st.to_tensor([[0, 7], [8, 0]])).tolist()
    [[0, 1], [1, 0]]
    """
    return F.nonzero(input)


@method
def tensordot(x: Any, y: Any, axes: Any = 2, name: str | None = None) -> Any:
    """The sum of products over pairs of axes: the last n of x and the first n of y, or as given.

    (n, k, l), (k, l, m) -> (n, m).

    Where one list of axes is shorter, it goes on as the other one does. An axis of size 1 counts
    for each element of the other tensor's.

    >>> dy2st.tensordot(dy2st.to_tensor([1.0, 2.0]), dy2st.to_tensor([3.0, 4.0]), 1).item()
    11.0
    >>> dy2st.tensordot(dy2st.ones([2, 3, 4]), dy2st.ones([3, 2]), [[0, 1], [1, 0]]).shape
    [4]
    """
    left, right = _contracted(axes, rank_of(x), rank_of(y))
    rest = [[a for a in range(rank_of(t)) if a not in used] for t, used in ((x, left), (y, right))]
    sizes = [[shape_of(t)[a] for a in kept] for t, kept in ((x, rest[0]), (y, rest[1]))]
    # The operands with equal sizes along the pairs of axes; what meets a size of 1 is summed.
    for one, other in zip(left, right, strict=True):
        size, wanted = shape_of(x)[one], shape_of(y)[other]
        if equal(size, 1) and not equal(wanted, 1):
            y = F.sum(y, axis=[other], keepdim=True)
        elif equal(wanted, 1) and not equal(size, 1):
            x = F.sum(x, axis=[one], keepdim=True)
        else:
            require_equal(
                size,
                wanted,
                f"tensordot: axis {one} of x has the size {size}, axis {other} of y has {wanted}",
            )
    middle = product([shape_of(x)[a] for a in left])
    rows = F.reshape(F.transpose(x, [*rest[0], *left]), [product(sizes[0]), middle])
    columns = F.reshape(F.transpose(y, [*right, *rest[1]]), [middle, product(sizes[1])])
    return F.reshape(F.matmul(rows, columns), [*sizes[0], *sizes[1]])


def _contracted(axes: Any, left: int, right: int) -> tuple[list[int], list[int]]:
    if isinstance(axes, int):
        return list(range(left - axes, left)), list(range(axes))
    given = axes.tolist() if isinstance(axes, Tensor) else axes
    pairs = [[one] if isinstance(one, int) else list(one) for one in given]
    if len(pairs) == 1 or not isinstance(given[0], (list, tuple)):
        pairs = [list(as_ints(given, "an axis"))] * 2 if len(pairs) != 1 else pairs * 2
    one, other = pairs
    first = [normalize_axis(axis, left) for axis in [*one, *other[len(one) :]]]
    second = [normalize_axis(axis, right) for axis in [*other, *one[len(other) :]]]
    for axes in (first, second):
        if len(set(axes)) != len(axes):
            raise ArgumentError(f"tensordot: an axis is given twice in {axes}")
    return first, second


@method
def inner(x: Any, y: Any, name: str | None = None) -> Any:
    """The sums of products along the last axes: (..., n), (*, n) -> (..., *).

    >>> dy2st.inner(dy2st.to_tensor([1, 2]), dy2st.to_tensor([[1, 0], [10, 1]])).tolist()
    [1, 12]
    """
    if not rank_of(x) or not rank_of(y):
        return F.multiply(x, y)
    return tensordot(x, y, [[rank_of(x) - 1], [rank_of(y) - 1]])


@method
def kron(x: Any, y: Any, name: str | None = None) -> Any:
    """Every element of x times all of y: (n, m), (k, l) -> (n * k, m * l).

    >>> dy2st.kron(dy2st.to_tensor([[1, 10]]), dy2st.to_tensor([[1], [2]])).tolist()
    [[1, 10], [2, 20]]
    """
    rank = max(rank_of(x), rank_of(y))
    left = [1] * (rank - rank_of(x)) + shape_of(x)
    right = [1] * (rank - rank_of(y)) + shape_of(y)
    spread = F.reshape(x, [size for n in left for size in (n, 1)])
    tiled = F.reshape(y, [size for n in right for size in (1, n)])
    whole = [a * b for a, b in zip(left, right, strict=True)]
    return F.reshape(F.multiply(spread, tiled), whole)
