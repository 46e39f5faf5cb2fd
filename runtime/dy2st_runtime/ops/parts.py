"""Operators that put tensors together and take them apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import Size, divides, require, require_equal
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import (
    F,
    Kind,
    Sample,
    TensorType,
    View,
    apply,
    define,
    method,
    public,
)
from dy2st_runtime.ir.arguments import as_int, as_size, normalize_axis, rank_of
from dy2st_runtime.ir.attribute_kinds import AXIS, NEW_AXIS, SIZE, several
from dy2st_runtime.ir.dispatch import as_copy, as_view
from dy2st_runtime.ir.promotion import SCALAR_DTYPES

# -- together ---------------------------------------------------------------------------------
from dy2st_runtime.ir.tracing.traced_list import TracedList, as_traced_list


def _require_same_rank(name: str, types: Sequence[TensorType]) -> None:
    for type in types:
        if type.rank != types[0].rank:
            raise ShapeError(
                f"{name}: {list(types[0].shape)} and {list(type.shape)} have different ranks"
            )


def _require_same_sizes(name: str, types: Sequence[TensorType], but: int | None) -> None:
    first = types[0].shape
    for type in types[1:]:
        reason = f"{name}: {list(first)} and {list(type.shape)} differ at axis"
        for axis, (a, b) in enumerate(zip(first, type.shape, strict=True)):
            if axis != but:
                require_equal(a, b, f"{reason} {axis}")


def _concat_infer(*types: TensorType, axis: int) -> TensorType:
    _require_same_rank("concat", types)
    _require_same_sizes("concat", types, but=axis)
    shape = list(types[0].shape)
    for type in types[1:]:
        shape[axis] = shape[axis] + type.shape[axis]
    return types[0].with_shape(shape)


define(
    "concat",
    takes_complex=True,
    doc="Tensors one after the other along an axis.",
    inputs="xs*",
    kind=Kind.INJECTIVE,
    along="axis",
    attributes={"axis": AXIS.or_else(0)},
    infer=_concat_infer,
    kernel=lambda *xs, axis: np.concatenate(xs, axis),
    data=True,
    gradient=lambda g, y, *xs, axis: F.split(g, [x.shape[axis] for x in xs], axis),
    promote=True,
    samples=(
        Sample(((2, 3), (2, 1)), {"axis": 1}),
        Sample(((2,), (0,), (3,))),
        Sample(((2, 3),)),
    ),
)


def _stack_infer(*types: TensorType, axis: int) -> TensorType:
    _require_same_rank("stack", types)
    _require_same_sizes("stack", types, but=None)
    shape = types[0].shape
    return types[0].with_shape([*shape[:axis], len(types), *shape[axis:]])


define(
    "stack",
    takes_complex=True,
    doc="Tensors of one shape along a new axis.",
    inputs="xs*",
    kind=Kind.INJECTIVE,
    attributes={"axis": NEW_AXIS.or_else(0)},
    infer=_stack_infer,
    kernel=lambda *xs, axis: np.stack(xs, axis),
    data=True,
    gradient=lambda g, y, *xs, axis: F.unbind(g, axis),
    decompose=lambda *xs, axis: F.concat([F.unsqueeze(x, axis) for x in xs], axis),
    promote=True,
    samples=(
        Sample(((2, 3), (2, 3)), {"axis": 1}),
        Sample(((), (), ())),
        Sample(((2,),), {"axis": 1}),
    ),
)


@public
def concat(x: Any, axis: Any = 0, name: str | None = None) -> Any:
    """Tensors one after the other along an axis: (n, k), (m, k) -> (n + m, k).

    A number is a vector of one element: (), (n,) -> (1 + n,). Raises ShapeError if other sizes
    differ.

    >>> dy2st.concat([dy2st.to_tensor([1, 2]), dy2st.to_tensor([3])]).tolist()
    [1, 2, 3]
    """
    listed = as_traced_list(x)
    if listed is not None:
        return F.array_concat(listed, axis) if listed.rank else stack(listed, axis)
    tensors = _given("concat", x)
    if max(map(rank_of, tensors)) <= 1:
        tensors = [t if rank_of(t) else F.reshape(t, [1]) for t in tensors]
    return apply("concat", *tensors, axis=normalize_axis(axis, rank_of(tensors[0])))


@public
def stack(x: Any, axis: int = 0, name: str | None = None) -> Any:
    """Tensors of one shape along a new axis: two of (n,) -> (2, n), or (n, 2) for axis 1.

    Raises ShapeError if the shapes differ, ArgumentError for an empty list.

    >>> dy2st.stack([dy2st.to_tensor([1, 2]), dy2st.to_tensor([3, 4])], axis=1).tolist()
    [[1, 3], [2, 4]]
    """
    listed = as_traced_list(x)
    if listed is not None:
        made = F.array_stack(listed, axis)
        return made if listed.number is None else F.cast(made, SCALAR_DTYPES[listed.number])
    tensors = _given("stack", x)
    return apply("stack", *tensors, axis=normalize_axis(axis, rank_of(tensors[0]) + 1))


def _given(name: str, x: Any) -> list[Any]:
    tensors = list(x)
    if not tensors:
        raise ArgumentError(f"{name} of an empty list")
    return tensors


@public
def vstack(x: Any, name: str | None = None) -> Any:
    """Tensors one below the other along the first axis: vectors are rows.

    (n, k), (m, k) -> (n + m, k).

    >>> dy2st.vstack([dy2st.to_tensor([1, 2]), dy2st.to_tensor([3, 4])]).tolist()
    [[1, 2], [3, 4]]
    """
    if type(x) is TracedList and x.rank < 2:
        return stack(x) if x.rank else F.unsqueeze(stack(x), 1)
    if type(x) is TracedList:
        return concat(x, 0)
    rows = [F.reshape(t, [1, -1]) if rank_of(t) < 2 else t for t in _given("vstack", x)]
    return concat(rows, 0)


@public
def hstack(x: Any, name: str | None = None) -> Any:
    """Tensors side by side: along the second axis, vectors along their only one.

    (n, k), (n, m) -> (n, k + m).

    >>> dy2st.hstack([dy2st.to_tensor([1, 2]), dy2st.to_tensor([3])]).tolist()
    [1, 2, 3]
    """
    if type(x) is TracedList:
        return concat(x, min(x.rank - 1, 1)) if x.rank else stack(x)
    tensors = [F.reshape(t, [1]) if not rank_of(t) else t for t in _given("hstack", x)]
    return concat(tensors, 0 if rank_of(tensors[0]) == 1 else 1)


@public
def meshgrid(*args: Any, name: str | None = None) -> list[Any]:
    """Each vector repeated along the axes of all others: (n,), (m,) -> two of (n, m).

    >>> rows, columns = dy2st.meshgrid(dy2st.to_tensor([1, 2]), dy2st.to_tensor([7, 8, 9]))
    >>> rows.tolist(), columns.tolist()
    ([[1, 1, 1], [2, 2, 2]], [[7, 8, 9], [7, 8, 9]])
    """
    vectors = list(args[0]) if len(args) == 1 and isinstance(args[0], (list, tuple)) else list(args)
    vectors = [F.reshape(vector, [-1]) for vector in vectors]
    sizes = [vector.shape[0] for vector in vectors]
    grids = []
    for axis, vector in enumerate(vectors):
        wide: list[Size] = [1] * len(sizes)
        wide[axis] = sizes[axis]
        grids.append(F.broadcast_to(F.reshape(vector, wide), sizes))
    return grids


# -- apart ------------------------------------------------------------------------------------


def _split_infer(x: TensorType, sections: tuple[Size, ...], axis: int) -> tuple[TensorType, ...]:
    require(len(sections) > 0, "split: there are no sections")
    total: Size = 0
    for size in sections:
        require(size >= 0, f"split: {list(sections)} has a negative size")
        total = total + size
    size = x.shape[axis]
    require_equal(total, size, f"split: {list(sections)} do not add up to {size} along axis {axis}")
    rests = (x.shape[:axis], x.shape[axis + 1 :])
    return tuple(x.with_shape([*rests[0], part, *rests[1]]) for part in sections)


def _split_kernel(x: Any, sections: tuple[int, ...], axis: int) -> Any:
    if min(sections) < 0 or sum(sections) != x.shape[axis]:
        raise ValueError(f"{sections} do not add up to {x.shape[axis]}")
    parts, start, before = [], 0, (slice(None),) * axis
    for size in sections:
        parts.append(x[(*before, slice(start, start + size))])
        start += size
    return parts[0] if len(parts) == 1 else tuple(parts)


define(
    "split",
    takes_complex=True,
    doc="Parts of the given sizes along an axis.",
    inputs="x",
    kind=Kind.INJECTIVE,
    along="axis",
    view=lambda x, sections, axis: View.PART if axis else View.ROWS,
    attributes={"sections": several(SIZE, "a list of sizes", most=None), "axis": AXIS},
    infer=_split_infer,
    kernel=_split_kernel,
    data=True,
    # A part that nothing was computed from has no gradient: zeros.
    gradient=lambda g, y, x, sections, axis: F.concat(
        [
            F.zeros(part.shape, part.dtype) if own is None else own
            for own, part in zip(g, y, strict=True)
        ],
        axis,
    ),
    put_back=lambda x, y, place, sections, axis: F.setitem(
        x,
        (*[slice(None)] * axis, slice(sum(sections[:place]), sum(sections[: place + 1]))),
        y,
    ),
    samples=(
        Sample(((2, 5),), {"sections": (2, 0, 3), "axis": 1}),
        Sample(((3,),), {"sections": (1, 2), "axis": 0}),
        Sample(((3,),), {"sections": (3,), "axis": 0}),
    ),
)


@method
def split(x: Any, num_or_sections: Any, axis: Any = 0, name: str | None = None) -> list[Any]:
    """Parts along an axis: a number of equal ones, or of the given sizes (one may be -1).

    (n + m, ...) -> (n, ...), (m, ...) for [n, m].

    Raises ShapeError if they do not add up to the size of the axis.

    >>> [part.tolist() for part in dy2st.split(dy2st.to_tensor([1, 2, 3]), [1, -1])]
    [[1], [2, 3]]
    """
    place = normalize_axis(axis, x.ndim)
    size = x.shape[place]
    if isinstance(num_or_sections, (list, tuple)):
        # The sizes with what is left in place of a -1.
        sections = [as_size(s, "a section") for s in num_or_sections]
        unknown = [i for i, part in enumerate(sections) if isinstance(part, int) and part == -1]
        if len(unknown) > 1 or not sections:
            raise ShapeError(f"split: {sections} are no sizes of parts; one may be -1")
        rest = size
        for i, part in enumerate(sections):
            rest = rest if i in unknown else rest - part
        sections = [rest if i in unknown else part for i, part in enumerate(sections)]
    else:
        count = as_int(num_or_sections, "num_or_sections")
        if count < 1 or divides(count, size) is False:
            raise ShapeError(f"split: {size} cannot be split into {count} equal parts")
        part = size // count
        require_equal(part * count, size, f"split: {size} is no multiple of {count}")
        sections = [part] * count
    if len(sections) == 1:
        require_equal(sections[0], size, f"split: {sections} do not add up to {size}")
        return [F.assign(x)]  # an operator with several results has at least two
    return list(apply("split", x, sections=tuple(sections), axis=place))


@method
def chunk(x: Any, chunks: int, axis: Any = 0, name: str | None = None) -> list[Any]:
    """`chunks` equal parts along an axis: (2 * n, ...) -> two of (n, ...).

    Raises ShapeError if they cannot be equal.

    >>> [part.tolist() for part in dy2st.chunk(dy2st.to_tensor([1, 2, 3, 4]), 2)]
    [[1, 2], [3, 4]]
    """
    return split(x, as_int(chunks, "chunks"), axis)


@method
def unbind(input: Any, axis: int = 0) -> list[Any]:
    """The tensors along an axis, without it: (2, n) -> two of (n,).

    >>> [row.tolist() for row in dy2st.unbind(dy2st.to_tensor([[1, 2], [3, 4]]))]
    [[1, 2], [3, 4]]
    """
    place = normalize_axis(axis, input.ndim)
    count = as_int(input.shape[place], "the number of tensors of unbind")
    own = [size for i, size in enumerate(input.shape) if i != place]
    if not count:
        return []
    parts = split(input, [1] * count, place)
    return [as_view(input, F.reshape(part, own)) for part in parts]


@method
def unstack(x: Any, axis: int = 0, num: int | None = None) -> list[Any]:
    """The tensors along an axis, without it; ShapeError if they are not `num`.

    (2, n) -> two of (n,).

    >>> [column.tolist() for column in dy2st.unstack(dy2st.to_tensor([[1, 2], [3, 4]]), axis=1)]
    [[1, 3], [2, 4]]
    """
    tensors = unbind(x, axis)
    if num is not None and num != len(tensors):
        raise ShapeError(f"unstack: there are {len(tensors)} tensors along axis {axis}, not {num}")
    return [as_copy(tensor) for tensor in tensors]
