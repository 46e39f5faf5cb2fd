"""What moves elements: views, permutations, joins, cuts, pads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st.importers.torch.table import (
    Call,
    axes_of,
    axis_of,
    is_known,
    is_tensor,
    listed,
    row,
    rows,
)
from dy2st_runtime.dims import Dim, ceil_divide, minimum
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.nn import functional as N

_END = 2**62


def cut(x: Any, dim: int, start: Any, end: Any, step: int = 1) -> Any:
    """A slice along one axis."""
    dim = axis_of(dim, x.ndim)
    start = None if start is None or (type(start) is int and start == 0) else start
    end = None if end is None or (type(end) is int and end >= _END) else end
    if start is None and end is None and step == 1:
        return x
    return x[(*[slice(None)] * dim, slice(start, end, step))]


def picked(x: Any, dim: int, index: Any) -> Any:
    """The part at one place of an axis."""
    return x[(*[slice(None)] * axis_of(dim, x.ndim), index)]


# -- other shapes of the same elements --------------------------------------------------------


def _squeezed(x: Any, dims: Any) -> Any:
    axes = [axis for axis in axes_of(dims, x.ndim) if axis < x.ndim and is_known(x.shape[axis], 1)]
    return F.reshape(x, [size for axis, size in enumerate(x.shape) if axis not in axes])


@row("aten.expand.default", "aten.expand_copy.default", "aten.broadcast_to.default")
def _expanded(at: Call, x: Any, size: Any, implicit: bool = False) -> Any:
    size = list(size)
    more = len(size) - x.ndim
    for place in range(more, len(size)):
        if type(size[place]) is int and size[place] == -1:
            size[place] = x.shape[place - more]
    return F.broadcast_to(x, size)


@row("aten.flatten.using_ints")
def _flattened(at: Call, x: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    return F.flatten(x, start_dim, end_dim) if x.ndim else F.reshape(x, [1])


@row("aten.unflatten.int")
def _unflattened(at: Call, x: Any, dim: int, sizes: Any) -> Any:
    dim = axis_of(dim, x.ndim)
    return F.reshape(x, [*x.shape[:dim], *sizes, *x.shape[dim + 1 :]])


def _permuted(x: Any, order: Sequence[int]) -> Any:
    return F.transpose(x, [axis_of(one, x.ndim) for one in order]) if x.ndim > 1 else x


def _swapped(at: Call, x: Any, first: int, second: int) -> Any:
    order = list(range(x.ndim))
    if x.ndim > 1:
        first, second = axis_of(first, x.ndim), axis_of(second, x.ndim)
        order[first], order[second] = second, first
    return _permuted(x, order)


@row("aten.movedim.intlist", "aten.movedim.int", "aten.moveaxis.intlist", "aten.moveaxis.int")
def _moved(at: Call, x: Any, source: Any, destination: Any) -> Any:
    return F.moveaxis(x, source, destination) if x.ndim else x


rows(
    {
        "view reshape _unsafe_view view_copy _reshape_copy _reshape_alias": (
            lambda at, x, shape, *_: F.reshape(x, list(shape))
        ),
        "view.dtype": lambda at, x, dtype: F.view(x, dtype),
        "view_as reshape_as": lambda at, x, y: F.reshape(x, y.shape),
        "squeeze squeeze_copy": lambda at, x: _squeezed(x, None),
        "squeeze.dim squeeze.dims squeeze_copy.dim squeeze_copy.dims": (
            lambda at, x, dim: _squeezed(x, dim) if dim != [] else x
        ),
        "unsqueeze unsqueeze_copy": lambda at, x, dim: F.unsqueeze(x, dim),
        "expand_as": lambda at, x, y: F.broadcast_to(x, y.shape),
        "broadcast_tensors": lambda at, tensors: list(F.broadcast_tensors(tensors)),
        "ravel": lambda at, x: F.reshape(x, [-1]),
        "permute permute_copy": lambda at, x, dims: _permuted(x, dims),
        "transpose.int transpose_copy.int swapaxes swapdims": _swapped,
        "t t_copy": lambda at, x: _permuted(x, range(x.ndim)[::-1]),
        "numpy_T": lambda at, x: _permuted(x, range(x.ndim)[::-1]),
        "mT": lambda at, x: _swapped(at, x, -1, -2),
        "mH adjoint matrix_H": lambda at, x: _swapped(
            at, F.conj(x) if x.dtype.kind == "c" else x, -1, -2
        ),
        "as_strided as_strided_copy": lambda at, x, size, stride, storage_offset=None: F.as_strided(
            x, list(size), list(stride), (storage_offset or 0) * x.dtype.itemsize
        ),
        "unfold unfold_copy": lambda at, x, dim, size, step: (
            F.unfold(x, axis_of(dim, x.ndim), size, step) if x.ndim else F.reshape(x, [1])[:size]
        ),
        "diagonal diagonal_copy": lambda at, x, offset=0, dim1=0, dim2=1: F.diagonal(
            x, offset, dim1, dim2
        ),
        "linalg_diagonal": lambda at, x, offset=0, dim1=-2, dim2=-1: F.diagonal(
            x, offset, dim1, dim2
        ),
        "diag_embed": lambda at, x, offset=0, dim1=-2, dim2=-1: F.diag_embed(x, offset, dim1, dim2),
        "diag": lambda at, x, diagonal=0: F.diag(x, diagonal),
        "flip": lambda at, x, dims: F.flip(x, list(dims)) if x.ndim and dims else x,
        "tril": lambda at, x, diagonal=0: F.tril(x, diagonal),
        "triu": lambda at, x, diagonal=0: F.triu(x, diagonal),
    }
)


@row("aten.roll.default")
def _rolled(at: Call, x: Any, shifts: Any, dims: Any = ()) -> Any:
    shifts = listed(shifts)
    if not x.ndim:
        return x
    return F.roll(x, shifts if dims else shifts[0], list(dims) if dims else None)


@row("aten.rot90.default")
def _rotated(at: Call, x: Any, k: int = 1, dims: Any = (0, 1)) -> Any:
    return F.rot90(x, k, list(dims))


# -- joins and repetitions --------------------------------------------------------------------


@row("aten.cat.default", "aten.concat.default", "aten.concatenate.default")
def _joined(at: Call, tensors: Sequence[Any], dim: int = 0) -> Any:
    kept = [one for one in tensors if not (one.ndim == 1 and is_known(one.shape[0], 0))] or tensors
    return F.concat([at.cast(one) for one in kept], axis_of(dim, kept[0].ndim))


@row("aten.stack.default")
def _stacked(at: Call, tensors: Sequence[Any], dim: int = 0) -> Any:
    return F.stack([at.cast(one) for one in tensors], axis_of(dim, tensors[0].ndim + 1))


@row("aten.repeat.default", "aten.tile.default")
def _repeated(at: Call, x: Any, repeats: Any) -> Any:
    repeats = listed(repeats)
    repeats = [1] * (x.ndim - len(repeats)) + repeats
    return F.tile(x, repeats) if repeats else x


@row("aten.repeat_interleave.self_int", "aten.repeat_interleave.self_Tensor")
def _interleaved(at: Call, x: Any, repeats: Any, dim: Any = None, output_size: Any = None) -> Any:
    if dim is None:
        x, dim = F.reshape(x, [-1]), 0
    dim = axis_of(dim, x.ndim)
    if isinstance(repeats, (int, Dim)):
        wide = F.unsqueeze(x if x.ndim else F.reshape(x, [1]), dim + 1)
        wide = F.broadcast_to(wide, [*wide.shape[: dim + 1], repeats, *wide.shape[dim + 2 :]])
        return F.flatten(wide, dim, dim + 1)
    if x.ndim and repeats.ndim and is_known(repeats.shape[0], 1):
        repeats = F.broadcast_to(repeats, [x.shape[dim]])
    return F.repeat_interleave(x, repeats, dim)


@row("aten.repeat_interleave.Tensor")
def _places(at: Call, repeats: Any, output_size: Any = None) -> Any:
    return F.repeat_interleave(F.arange(0, repeats.shape[0], 1, "int64"), repeats, 0)


@row("aten.meshgrid.default", "aten.meshgrid.indexing")
def _meshed(at: Call, tensors: Sequence[Any], indexing: str = "ij") -> Any:
    given = [F.reshape(one, [-1]) for one in tensors]
    made = list(F.meshgrid(given))
    return [_swapped(at, one, 0, 1) for one in made] if indexing == "xy" and made[1:] else made


# -- cuts -------------------------------------------------------------------------------------


@row(
    "aten.split_with_sizes.default",
    "aten.split_with_sizes_copy.default",
    "aten.split.sizes",
    "aten.unsafe_split_with_sizes.default",
)
def _in_parts(at: Call, x: Any, sizes: Sequence[Any], dim: int = 0) -> list[Any]:
    parts, start = [], 0
    for size in sizes:
        parts.append(cut(x, dim, start, start + size) if len(sizes) > 1 else x)
        start = start + size
    return parts


@row("aten.split.Tensor", "aten.unsafe_split.Tensor", "aten.split_copy.Tensor")
def _split(at: Call, x: Any, size: Any, dim: int = 0) -> list[Any]:
    if len(at.shapes) == 1:
        return [x]
    return [cut(x, dim, n * size, n * size + size) for n in range(len(at.shapes))]


@row("aten.chunk.default", "aten.unsafe_chunk.default")
def _chunked(at: Call, x: Any, chunks: int, dim: int = 0) -> list[Any]:
    parts: list[Any] = _split(at, x, ceil_divide(x.shape[axis_of(dim, x.ndim)], chunks), dim)
    return parts


@row("aten.tensor_split.sections")
def _in_sections(at: Call, x: Any, sections: int, dim: int = 0) -> list[Any]:
    whole = x.shape[axis_of(dim, x.ndim)]
    small, more = whole // sections, whole % sections
    ends = [(n + 1) * small + minimum(n + 1, more) for n in range(sections)]
    return [cut(x, dim, start, end) for start, end in zip([0, *ends], ends, strict=False)]


@row("aten.tensor_split.indices")
def _at_indices(at: Call, x: Any, indices: Any, dim: int = 0) -> list[Any]:
    pairs = zip([0, *indices], [*indices, None], strict=True)
    return [cut(x, dim, start, end) for start, end in pairs]


@row("aten.slice.Tensor", "aten.slice_copy.Tensor")
def _sliced(
    at: Call, x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Any:
    return cut(x, dim, start, end, step)


@row("aten.narrow.default", "aten.narrow_copy.default", "aten.narrow.Tensor")
def _narrowed(at: Call, x: Any, dim: int, start: Any, length: Any) -> Any:
    if type(start) is int and start < 0:
        start = x.shape[axis_of(dim, x.ndim)] + start
    return cut(x, dim, start, start + length)


rows(
    {
        "unbind.int unbind_copy.int": lambda at, x, dim=0: [
            picked(x, dim, place) for place in range(len(at.shapes))
        ],
        "select.int select_copy.int": lambda at, x, dim, index: picked(x, dim, index),
    }
)


# -- parts written ----------------------------------------------------------------------------


@row("aten.select_scatter.default")
def _with_part(at: Call, x: Any, value: Any, dim: int, index: Any) -> Any:
    key = (*[slice(None)] * axis_of(dim, x.ndim), index)
    return F.setitem(x, key, at.cast(value))


@row("aten.slice_scatter.default")
def _with_slice(
    at: Call, x: Any, value: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Any:
    end = None if end is None or (type(end) is int and end >= _END) else end
    if not start and end is None and step == 1:
        return F.broadcast_to(at.cast(value), x.shape)
    key = (*[slice(None)] * axis_of(dim, x.ndim), slice(start, end, step))
    return F.setitem(x, key, at.cast(value))


@row("aten.diagonal_scatter.default")
def _with_diagonal(
    at: Call, x: Any, value: Any, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Any:
    return F.diagonal_scatter(x, at.cast(value), offset, dim1, dim2)


@row("aten.as_strided_scatter.default")
def _with_strided(
    at: Call, x: Any, value: Any, size: Any, stride: Any, storage_offset: Any = None
) -> Any:
    places = F.reshape(F.arange(0, x.size, 1, "int64"), x.shape)
    places = F.as_strided(places, list(size), list(stride), (storage_offset or 0) * 8)
    flat = F.index_put(
        F.reshape(x, [-1]), (F.reshape(places, [-1]),), F.reshape(at.cast(value), [-1])
    )
    return F.reshape(flat, x.shape)


# -- pads -------------------------------------------------------------------------------------


@row("aten.constant_pad_nd.default")
def _padded(at: Call, x: Any, pad: Any, value: Any = 0) -> Any:
    if is_tensor(value) or not pad:
        return x
    return F.pad(x, list(pad), "constant", value, pad_from_left_axis=False)


def _padded_by(mode: str) -> Any:
    def record(at: Call, x: Any, pad: Any) -> Any:
        formats = {3: "NCL", 4: "NCHW", 5: "NCDHW"}
        rank = len(pad) // 2 + 2
        more = x.ndim == rank - 1
        made = F.pad(F.unsqueeze(x, 0) if more else x, list(pad), mode, data_format=formats[rank])
        return picked(made, 0, 0) if more else made

    return record


rows(
    {f"reflection_pad{n}d": _padded_by("reflect") for n in (1, 2, 3)}
    | {f"replication_pad{n}d": _padded_by("replicate") for n in (1, 2, 3)}
)


@row("aten.pad.default")
def _pad(at: Call, x: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    if mode == "constant":
        return _padded(at, x, pad, 0 if value is None else value)
    if mode == "circular" and any(type(one) is int and one < 0 for one in pad):
        # what is taken away goes first, and does not come round
        x = _padded(at, x, [min(one, 0) for one in pad])
        pad = [max(one, 0) for one in pad]
    return _padded_by(mode)(at, x, pad)


@row("aten.pixel_shuffle.default")
def _shuffled(at: Call, x: Any, factor: int) -> Any:
    *front, channels, height, width = x.shape
    n, r = len(front), factor
    made = F.reshape(x, [*front, channels // (r * r), r, r, height, width])
    made = F.transpose(made, [*range(n), n, n + 3, n + 1, n + 4, n + 2])
    return F.reshape(made, [*front, channels // (r * r), height * r, width * r])


@row("aten.pixel_unshuffle.default")
def _unshuffled(at: Call, x: Any, factor: int) -> Any:
    *front, channels, height, width = x.shape
    n, r = len(front), factor
    made = F.reshape(x, [*front, channels, height // r, r, width // r, r])
    made = F.transpose(made, [*range(n), n, n + 2, n + 4, n + 1, n + 3])
    return F.reshape(made, [*front, channels * r * r, height // r, width // r])


@row("aten.channel_shuffle.default", "aten.native_channel_shuffle.default")
def _channels_shuffled(at: Call, x: Any, groups: int) -> Any:
    parts = F.reshape(x, [x.shape[0], groups, x.shape[1] // groups, *x.shape[2:]])
    return F.reshape(_swapped(at, parts, 1, 2), x.shape)


@row("aten.im2col.default")
def _columns(at: Call, x: Any, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    more = x.ndim == 3
    made = N.unfold(
        F.unsqueeze(x, 0) if more else x, list(kernel), list(stride), list(padding), list(dilation)
    )
    return picked(made, 0, 0) if more else made


@row("aten.col2im.default")
def _images(
    at: Call, x: Any, size: Any, kernel: Any, dilation: Any, padding: Any, stride: Any
) -> Any:
    more = x.ndim == 2
    made = N.fold(
        F.unsqueeze(x, 0) if more else x,
        list(size),
        list(kernel),
        list(stride),
        list(padding),
        list(dilation),
    )
    return picked(made, 0, 0) if more else made
