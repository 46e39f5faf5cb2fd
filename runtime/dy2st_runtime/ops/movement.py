"""Operators that move elements or change the shape around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import Dim, Size, divides, equal, product, require, require_equal
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import (
    REQUIRED,
    ArrayType,
    F,
    Sample,
    Shape,
    TensorType,
    Variable,
    apply,
    define,
    method,
    public,
)
from dy2st_runtime.ir.arguments import (
    Axes,
    as_int,
    as_shape,
    as_size,
    normalize_axes,
    normalize_axis,
    shape_of,
)
from dy2st_runtime.ops.reduce import all_same
from dy2st_runtime.ops.rules import broadcast_shapes

# -- reshape ----------------------------------------------------------------------------------


def _reshape_infer(x: TensorType, shape: Shape) -> TensorType:
    have, want = product(x.shape), product(shape)
    require_equal(
        have, want, f"reshape: {list(x.shape)} has {have} elements, {list(shape)} has {want}"
    )
    return x.with_shape(shape)


define(
    "reshape",
    doc="The same elements in another shape.",
    inputs="x",
    attributes={"shape": REQUIRED},
    infer=_reshape_infer,
    kernel=lambda x, shape: np.reshape(x, shape),
    gradient=lambda g, y, x, shape: F.reshape(g, x.shape),
    samples=(
        Sample(((2, 3),), {"shape": (3, 2)}),
        Sample(((2, 3),), {"shape": (6,)}),
        Sample(((1,),), {"shape": ()}),
        Sample(((0, 3),), {"shape": (3, 0)}),
    ),
)


@method
def reshape(x: Any, shape: Any, name: str | None = None) -> Any:
    """The same elements in another shape; one size may be -1, and 0 copies the size of x there.

    >>> from dy2st_runtime.ops.creation import zeros
    >>> reshape(zeros([2, 3]), [-1]).shape
    [6]
    """
    own = tuple(shape_of(x))
    wanted = _filled(own, _copied_sizes(own, as_shape(shape)))
    if len(own) == len(wanted) and all_same(own, wanted):
        return x
    return apply("reshape", x, shape=wanted)


def _copied_sizes(own: Shape, shape: Shape) -> Shape:
    """Paddle's 0: the size of x at that place, unless x has no elements at all."""
    if any(isinstance(size, int) and size == 0 for size in own):
        return shape
    sizes = list(shape)
    for axis, size in enumerate(shape):
        if isinstance(size, int) and size == 0:
            if axis >= len(own):
                raise ShapeError(f"reshape: there is no axis {axis} in {list(own)} to copy")
            sizes[axis] = own[axis]
    return tuple(sizes)


def _filled(own: Shape, shape: Shape) -> Shape:
    """The shape with -1 replaced by the size that is left."""
    unknown = [axis for axis, size in enumerate(shape) if isinstance(size, int) and size == -1]
    if any(isinstance(size, int) and size < -1 for size in shape) or len(unknown) > 1:
        raise ShapeError(f"reshape: {list(shape)} is no shape; one size may be -1")
    if not unknown:
        return shape
    rest = product([size for axis, size in enumerate(shape) if axis != unknown[0]])
    total = product(own)
    if isinstance(rest, int) and rest == 0:
        raise ShapeError(f"reshape: -1 in {list(shape)} could be any size")
    left = total // rest
    fits = equal(left * rest, total)
    reason = f"reshape: {list(own)} does not fit {list(shape)}"
    require(fits if fits is not None else left * rest == total, reason)
    return (*shape[: unknown[0]], left, *shape[unknown[0] + 1 :])


@method
def flatten(x: Any, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Any:
    """The axes from start_axis to stop_axis become one."""
    own = shape_of(x)
    if not own:
        return reshape(x, [1])
    first, last = normalize_axis(start_axis, len(own)), normalize_axis(stop_axis, len(own))
    if first > last:
        raise ArgumentError(f"flatten: axis {start_axis} comes after axis {stop_axis}")
    return reshape(x, _literal([*own[:first], product(own[first : last + 1]), *own[last + 1 :]]))


@method
def squeeze(x: Any, axis: Axes = None, name: str | None = None) -> Any:
    """Without axes of size 1: all of them, or the given ones if their size is 1."""
    own = shape_of(x)
    if axis is None:
        for size in own:
            if isinstance(size, Dim) and equal(size, 1) is None:
                raise ShapeError(
                    f"squeeze: whether the size {size} is 1 is not known; name the axes"
                )
        axes: tuple[int, ...] = tuple(range(len(own)))
    else:
        axes = normalize_axes(axis, len(own))
    gone = [a for a in axes if equal(own[a], 1) is True]
    undecided = [a for a in axes if equal(own[a], 1) is None]
    for a in undecided:
        require(own[a] == 1, f"squeeze: axis {a} has the size {own[a]}, not 1")
    gone += undecided
    return reshape(x, _literal([size for a, size in enumerate(own) if a not in gone]))


@method
def unsqueeze(x: Any, axis: Any, name: str | None = None) -> Any:
    """With axes of size 1 at the given places of the result."""
    given = list(axis) if isinstance(axis, (list, tuple)) else [axis]
    own = shape_of(x)
    places = sorted(normalize_axis(a, len(own) + len(given)) for a in given)
    for place in places:
        own.insert(place, 1)
    return reshape(x, _literal(own))


def _literal(sizes: Sequence[Size]) -> list[Size]:
    """Sizes that mean themselves, also where a 0 would mean "copy"."""
    return list(sizes)


# -- transpose --------------------------------------------------------------------------------

define(
    "transpose",
    doc="The axes in another order: axis i of the result is axis perm[i] of x.",
    inputs="x",
    attributes={"perm": REQUIRED},
    infer=lambda x, perm: x.with_shape(x.shape[p] for p in perm),
    kernel=lambda x, perm: np.transpose(x, perm),
    gradient=lambda g, y, x, perm: F.transpose(g, [perm.index(i) for i in range(len(perm))]),
    samples=(
        Sample(((2, 3),), {"perm": (1, 0)}),
        Sample(((2, 3, 4),), {"perm": (2, 0, 1)}),
    ),
)


@method
def transpose(x: Any, perm: Any, name: str | None = None) -> Any:
    """The axes in another order: axis i of the result is axis perm[i] of x."""
    order = tuple(normalize_axis(p, x.ndim) for p in perm)
    if sorted(order) != list(range(x.ndim)):
        raise ArgumentError(f"transpose: {list(perm)} is no order of {x.ndim} axes")
    if order == tuple(range(x.ndim)):
        return x
    return apply("transpose", x, perm=order)


@method
def t(input: Any, name: str | None = None) -> Any:
    """The transposed matrix; vectors and numbers stay."""
    if input.ndim > 2:
        raise ShapeError(f"t takes at most two axes, not {input.shape}")
    return transpose(input, list(range(input.ndim))[::-1])


@method
def moveaxis(x: Any, source: Any, destination: Any, name: str | None = None) -> Any:
    """The axes `source` at the places `destination`, the others in order."""
    sources = [source] if isinstance(source, int) else list(source)
    targets = [destination] if isinstance(destination, int) else list(destination)
    if len(sources) != len(targets):
        raise ArgumentError("moveaxis: as many destinations as sources")
    sources = [normalize_axis(a, x.ndim) for a in sources]
    targets = [normalize_axis(a, x.ndim) for a in targets]
    order = [a for a in range(x.ndim) if a not in sources]
    for target, source_axis in sorted(zip(targets, sources, strict=True)):
        order.insert(target, source_axis)
    return transpose(x, order)


@method
def swapaxes(x: Any, axis0: int, axis1: int, name: str | None = None) -> Any:
    """Two axes exchanged."""
    order = list(range(x.ndim))
    a, b = normalize_axis(axis0, x.ndim), normalize_axis(axis1, x.ndim)
    order[a], order[b] = order[b], order[a]
    return transpose(x, order)


# -- broadcasting and repeating ---------------------------------------------------------------


def _broadcast_to_infer(x: TensorType, shape: Shape) -> TensorType:
    joined = broadcast_shapes("broadcast_to", x.shape, shape)
    if len(joined) != len(shape):
        raise ShapeError(f"broadcast_to: {list(x.shape)} has more axes than {list(shape)}")
    for axis, (have, want) in enumerate(zip(joined, shape, strict=True)):
        require_equal(
            have, want, f"broadcast_to: {list(x.shape)} does not fit {list(shape)} at axis {axis}"
        )
    return x.with_shape(shape)


define(
    "broadcast_to",
    doc="x repeated along axes of size 1 and along new leading axes.",
    inputs="x",
    attributes={"shape": REQUIRED},
    infer=_broadcast_to_infer,
    kernel=lambda x, shape: np.broadcast_to(x, shape),
    gradient=lambda g, y, x, shape: F.sum_to(g, x.shape),
    samples=(
        Sample(((3,),), {"shape": (2, 3)}),
        Sample(((2, 1),), {"shape": (2, 3)}),
        Sample(((),), {"shape": (2,)}),
        Sample(((1, 3),), {"shape": (0, 3)}),
    ),
)


@method
def broadcast_to(x: Any, shape: Any, name: str | None = None) -> Any:
    """x repeated to a shape, by the rules of broadcasting."""
    wanted = as_shape(shape)
    own = tuple(shape_of(x))
    if len(own) == len(wanted) and all_same(own, wanted):
        return x
    return apply("broadcast_to", x, shape=wanted)


@method
def expand(x: Any, shape: Any, name: str | None = None) -> Any:
    """x repeated to a shape; -1 keeps the size of x."""
    wanted = list(as_shape(shape))
    own = shape_of(x)
    lead = len(wanted) - len(own)
    for axis, size in enumerate(wanted):
        if isinstance(size, int) and size == -1:
            if axis < lead:
                raise ShapeError(f"expand: -1 in {wanted} stands where x has no axis")
            wanted[axis] = own[axis - lead]
    return broadcast_to(x, wanted)


@method
def expand_as(x: Any, y: Any, name: str | None = None) -> Any:
    """x repeated to the shape of y."""
    return broadcast_to(x, shape_of(y))


@method
def tile(x: Any, repeat_times: Any, name: str | None = None) -> Any:
    """x put together repeat_times[i] times along axis i."""
    times = as_shape(repeat_times)
    own = shape_of(x)
    rank = max(len(own), len(times))
    none: list[Size] = [1] * (rank - len(own))
    own = none + own
    times = (1,) * (rank - len(times)) + times
    apart = [size for pair in zip([1] * rank, own, strict=True) for size in pair]
    wide = [size for pair in zip(times, own, strict=True) for size in pair]
    spread = broadcast_to(reshape(x, apart), wide)
    return reshape(spread, [n * size for n, size in zip(times, own, strict=True)])


@method
def repeat_interleave(
    x: Any, repeats: int, axis: int | None = None, name: str | None = None
) -> Any:
    """Every element along an axis `repeats` times in a row."""
    if axis is None:
        x, axis = flatten(x), 0
    place, own = normalize_axis(axis, x.ndim), x.shape
    count = as_size(repeats)
    wide = unsqueeze(x, [place + 1])
    spread = broadcast_to(wide, [*own[: place + 1], count, *own[place + 1 :]])
    return reshape(spread, [*own[:place], own[place] * count, *own[place + 1 :]])


# -- putting together and taking apart --------------------------------------------------------


def _concat_infer(*types: TensorType, axis: int) -> TensorType:
    first = types[0]
    total: Size = 0
    for type in types:
        if type.rank != first.rank:
            raise ShapeError(
                f"concat: {list(first.shape)} and {list(type.shape)} have different ranks"
            )
        for i, (a, b) in enumerate(zip(first.shape, type.shape, strict=True)):
            if i != axis:
                require_equal(
                    a, b, f"concat: {list(first.shape)} and {list(type.shape)} differ at axis {i}"
                )
        total = total + type.shape[axis]
    return first.with_shape([*first.shape[:axis], total, *first.shape[axis + 1 :]])


def _concat_gradient(g: Any, y: Any, *xs: Any, axis: int) -> list[Any]:
    parts: list[Any] = []
    start: Size = 0
    for x in xs:
        stop = start + x.shape[axis]
        parts.append(F.slice(g, [axis], [start], [stop]))
        start = stop
    return parts


define(
    "concat",
    doc="Tensors one after the other along an axis.",
    inputs="xs*",
    attributes={"axis": 0},
    infer=_concat_infer,
    kernel=lambda *xs, axis: np.concatenate(xs, axis),
    gradient=_concat_gradient,
    promote=True,
    samples=(
        Sample(((2, 3), (2, 1)), {"axis": 1}),
        Sample(((2,), (0,), (3,))),
    ),
)


@public
def concat(x: Any, axis: Any = 0, name: str | None = None) -> Any:
    """Tensors one after the other along an axis."""
    if isinstance(x, Variable) and isinstance(x.type, ArrayType):
        return F.array_concat(x, axis)
    tensors = _tensors("concat", x)
    return apply("concat", *tensors, axis=normalize_axis(axis, tensors[0].ndim))


@public
def stack(x: Any, axis: int = 0, name: str | None = None) -> Any:
    """Tensors of one shape along a new axis."""
    if isinstance(x, Variable) and isinstance(x.type, ArrayType):
        return F.array_stack(x, axis)
    tensors = _tensors("stack", x)
    place = normalize_axis(axis, tensors[0].ndim + 1)
    return concat([unsqueeze(tensor, [place]) for tensor in tensors], axis=place)


def _tensors(name: str, x: Any) -> list[Any]:
    if not isinstance(x, (list, tuple)):
        x = list(x)
    if not x:
        raise ArgumentError(f"{name} of an empty list")
    return [F.assign(entry) if not hasattr(entry, "tensor_type") else entry for entry in x]


@method
def split(x: Any, num_or_sections: Any, axis: Any = 0, name: str | None = None) -> list[Any]:
    """Parts along an axis: a number of equal ones, or of the given sizes (one may be -1)."""
    place = normalize_axis(axis, x.ndim)
    size = x.shape[place]
    if isinstance(num_or_sections, int):
        if divides(num_or_sections, size) is False:
            raise ShapeError(f"split: {size} cannot be split into {num_or_sections} equal parts")
        part = size // num_or_sections
        require_equal(
            part * num_or_sections, size, f"split: {size} is no multiple of {num_or_sections}"
        )
        sections: list[Size] = [part] * num_or_sections
    else:
        sections = [as_size(s) for s in num_or_sections]
        unknown = [i for i, s in enumerate(sections) if isinstance(s, int) and s == -1]
        if unknown:
            rest: Size = 0
            for i, s in enumerate(sections):
                rest = rest if i in unknown else rest + s
            sections[unknown[0]] = size - rest
        total: Size = 0
        for s in sections:
            total = total + s
        require_equal(total, size, f"split: the sections {sections} do not add up to {size}")
    parts, start = [], 0
    for section in sections:
        parts.append(F.slice(x, [place], [start], [start + section]))
        start = start + section
    return parts


@method
def chunk(x: Any, chunks: int, axis: Any = 0, name: str | None = None) -> list[Any]:
    """`chunks` equal parts along an axis."""
    return split(x, as_int(chunks, "chunks"), axis)


@method
def unbind(input: Any, axis: int = 0) -> list[Any]:
    """The tensors along an axis, without it."""
    place = normalize_axis(axis, input.ndim)
    size = as_int(input.shape[place], "the number of tensors of unbind")
    own = [s for i, s in enumerate(input.shape) if i != place]
    return [reshape(F.slice(input, [place], [i], [i + 1]), own) for i in range(size)]


@method
def unstack(x: Any, axis: int = 0, num: int | None = None) -> list[Any]:
    """`unbind` under another name."""
    return unbind(x, axis)


# -- turning and shifting ---------------------------------------------------------------------

define(
    "flip",
    doc="The elements along axes in reverse order.",
    inputs="x",
    attributes={"axis": REQUIRED},
    infer=lambda x, axis: x,
    kernel=lambda x, axis: np.flip(x, axis),
    gradient=lambda g, y, x, axis: F.flip(g, list(axis)),
    samples=(Sample(((2, 3),), {"axis": (1,)}), Sample(((2, 3),), {"axis": (0, 1)})),
)
define(
    "roll",
    doc="The elements along axes shifted; what leaves at one end comes in at the other.",
    inputs="x",
    attributes={"shifts": REQUIRED, "axis": REQUIRED},
    infer=lambda x, shifts, axis: x,
    kernel=lambda x, shifts, axis: np.roll(x, shifts, axis),
    gradient=lambda g, y, x, shifts, axis: F.roll(g, [-s for s in shifts], list(axis)),
    samples=(Sample(((2, 3),), {"shifts": (1,), "axis": (1,)}),),
)


@method
def flip(x: Any, axis: Axes, name: str | None = None) -> Any:
    """The elements along axes in reverse order."""
    return apply("flip", x, axis=normalize_axes(axis, x.ndim))


@method
def roll(x: Any, shifts: Any, axis: Any = None, name: str | None = None) -> Any:
    """The elements along axes shifted; what leaves at one end comes in at the other."""
    if axis is None:
        return reshape(roll(flatten(x), shifts, 0), x.shape)
    amounts = tuple(shifts) if isinstance(shifts, (list, tuple)) else (shifts,)
    axes = tuple(axis) if isinstance(axis, (list, tuple)) else (axis,)
    if len(amounts) != len(axes):
        raise ArgumentError("roll: as many shifts as axes")
    places = tuple(normalize_axis(a, x.ndim) for a in axes)
    return apply("roll", x, shifts=tuple(as_size(s) for s in amounts), axis=places)


# -- padding ----------------------------------------------------------------------------------

_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _pad_infer(x: TensorType, pads: tuple[tuple[Size, Size], ...], mode: str, value: Any) -> Any:
    sizes = [size + before + after for size, (before, after) in zip(x.shape, pads, strict=True)]
    for size, (before, after) in zip(x.shape, pads, strict=True):
        if mode == "reflect" and not (isinstance(before, int) and before == 0 == after):
            require(size > maximum_of(before, after), f"pad: reflecting needs more than {before}")
    return x.with_shape(sizes)


def maximum_of(left: Size, right: Size) -> Size:
    """The larger of two sizes."""
    if isinstance(left, int) and isinstance(right, int):
        return max(left, right)
    raise ArgumentError("pad: only constant padding takes symbolic sizes")


def _pad_kernel(x: Any, pads: Any, mode: str, value: Any) -> Any:
    cut = tuple(slice(max(-b, 0), n - max(-a, 0)) for n, (b, a) in zip(x.shape, pads, strict=True))
    widths = [(max(b, 0), max(a, 0)) for b, a in pads]
    if mode == "constant":
        return np.pad(x[cut], widths, constant_values=value)
    return np.pad(x[cut], widths, mode=_MODES[mode])  # type: ignore[call-overload]


def _pad_gradient(g: Any, y: Any, x: Any, pads: Any, mode: str, value: Any) -> Any:
    if mode == "constant":
        back = tuple((-before, -after) for before, after in pads)
        return apply("pad", g, pads=back, mode="constant", value=0.0)
    # Every element of the result is one of x: where it came from says where its gradient goes.
    count = product(x.shape)
    source = apply("pad", F.reshape(F.arange(count), x.shape), pads=pads, mode=mode, value=0)
    zeros = F.zeros([count], g.dtype)
    return F.reshape(F.index_add(zeros, F.flatten(source), 0, F.flatten(g)), x.shape)


define(
    "pad",
    doc="More elements before and after along each axis; negative numbers take elements away.",
    inputs="x",
    attributes={"pads": REQUIRED, "mode": "constant", "value": 0.0},
    infer=_pad_infer,
    kernel=_pad_kernel,
    gradient=_pad_gradient,
    samples=(
        Sample(((2, 3),), {"pads": ((1, 0), (0, 2))}),
        Sample(((2, 3),), {"pads": ((0, 0), (-1, 1)), "value": 2.0}),
        Sample(((2, 3),), {"pads": ((1, 0), (2, 1)), "mode": "reflect"}),
        Sample(((2, 3),), {"pads": ((1, 0), (2, 1)), "mode": "replicate"}),
        Sample(((2, 3),), {"pads": ((1, 0), (2, 1)), "mode": "circular"}),
    ),
)


@method
def pad(
    x: Any,
    pad: Any,
    mode: str = "constant",
    value: float = 0.0,
    data_format: str = "NCHW",
    pad_from_left_axis: bool = True,
    name: str | None = None,
) -> Any:
    """More elements around x.

    `pad` has two numbers an axis: for all axes from the first on, or, shorter, for the spatial
    axes from the last one back, as [left, right, top, bottom].
    """
    if mode not in _MODES:
        raise ArgumentError(f"pad: the mode is one of {', '.join(_MODES)}, not {mode!r}")
    given = list(as_shape(pad))
    rank = x.ndim
    if len(given) % 2:
        raise ArgumentError(f"pad: two numbers an axis, not {given}")
    pairs = [(given[i], given[i + 1]) for i in range(0, len(given), 2)]
    none: tuple[Size, Size] = (0, 0)
    if len(pairs) == rank:
        pads = pairs if pad_from_left_axis else pairs[::-1]
    else:
        channel_last = data_format[-1] == "C" and len(data_format) == rank
        spatial = list(range(1, rank - 1)) if channel_last else list(range(2, rank))
        if len(pairs) > len(spatial):
            raise ArgumentError(f"pad: {given} is too long for {data_format} of {x.shape}")
        pads = [none] * rank
        for pair, axis in zip(pairs, spatial[::-1], strict=False):
            pads[axis] = pair
    return apply("pad", x, pads=tuple(pads), mode=mode, value=float(value))


@public
def meshgrid(*args: Any, name: str | None = None) -> list[Any]:
    """Each vector repeated along the axes of all others: (n,), (m,) -> two of (n, m)."""
    vectors = list(args[0]) if len(args) == 1 and isinstance(args[0], (list, tuple)) else list(args)
    sizes = [vector.shape[0] for vector in vectors]
    grids = []
    for axis, vector in enumerate(vectors):
        wide: list[Size] = [1] * len(sizes)
        wide[axis] = sizes[axis]
        grids.append(broadcast_to(reshape(vector, wide), sizes))
    return grids
