"""Operators that move elements or change the shape around them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dy2st_runtime.dims import (
    Condition,
    Size,
    equal,
    maximum,
    product,
    require,
    require_equal,
    same_shape,
)
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import (
    F,
    Kind,
    Sample,
    Scales,
    Shape,
    TensorType,
    View,
    apply,
    current_tracer,
    define,
    method,
    public,
)
from dy2st_runtime.ir.arguments import (
    Axes,
    as_int,
    as_integers,
    as_ints,
    as_shape,
    as_size,
    is_unknown,
    normalize_axes,
    normalize_axis,
    one_integer,
    rank_of,
    shape_of,
)
from dy2st_runtime.ir.attribute_kinds import AXES, AXIS, INDICES, ORDER, SIZES, several
from dy2st_runtime.ir.dispatch import as_view
from dy2st_runtime.ops.rules import broadcast_shapes, created

if TYPE_CHECKING:
    from dy2st_runtime.ir.padding import Site

# -- reshape ----------------------------------------------------------------------------------


def _reshape_infer(x: TensorType, shape: Shape) -> TensorType:
    created("reshape", x.dtype, shape)
    have, want = product(x.shape), product(shape)
    require_equal(
        have, want, f"reshape: {list(x.shape)} has {have} elements, {list(shape)} has {want}"
    )
    return x.with_shape(shape)


def _reshape_padding(site: Site) -> Iterable[int]:
    """An axis goes on if as many elements stand before it, and it keeps its size."""
    old, new, found = site.shape(0), site.result, set()
    for axis in site.longer[0]:
        before = product(old[:axis])
        for place, size in enumerate(new):
            if size is old[axis] and equal(product(new[:place]), before) is True:
                found.add(place)
                break
        else:
            site.refuse("mixes it with other axes")
    return site.places(found) if site.is_places(0) else found


define(
    "reshape",
    takes_complex=True,
    doc="The same elements in another shape.",
    inputs="x",
    padding=_reshape_padding,
    kind=Kind.INJECTIVE,
    sizes=("shape",),
    view=View.SAME,
    shares=True,
    put_back=lambda x, y, place, shape: F.reshape(y, x.shape),
    attributes={"shape": SIZES},
    infer=_reshape_infer,
    kernel=lambda x, shape: x.reshape(shape),
    data=True,
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
    """The same elements in another shape, row by row; the result is a view of x.

    One size may be -1: what is left for it. 0 copies the size of x there. Raises ShapeError if the
    numbers of elements differ.

    >>> x = dy2st.arange(6)
    >>> dy2st.reshape(x, [2, 3]).tolist(), x.reshape(3, -1).shape
    ([[0, 1, 2], [3, 4, 5]], [3, 2])
    """
    if is_unknown(shape):
        sizes, known = as_integers(shape)
        return as_view(x, F.dynamic("reshape", x, sizes, known=known))
    own = tuple(shape_of(x))
    # Paddle's 0: the size of x at that place, unless x has no elements at all.
    shape = as_shape(shape)
    if any(isinstance(size, int) and size == 0 for size in own):
        copied_sizes = shape
    else:
        sizes = list(shape)
        for axis, size in enumerate(shape):
            if isinstance(size, int) and size == 0:
                if axis >= len(own):
                    raise ShapeError(f"reshape: there is no axis {axis} in {list(own)} to copy")
                others = product([*own[:axis], *own[axis + 1 :]])
                reason = f"reshape: 0 copies no size of a tensor without elements: {list(own)}"
                require(others != 0, reason)
                sizes[axis] = own[axis]
        copied_sizes = tuple(sizes)
    wanted = _filled(own, copied_sizes)
    if same_shape(own, wanted):
        return as_view(x, F.assign(x))
    return apply("reshape", x, shape=wanted)


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
    require_equal(left * rest, total, f"reshape: {list(own)} does not fit {list(shape)}")
    return (*shape[: unknown[0]], left, *shape[unknown[0] + 1 :])


@method
def flatten(x: Any, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Any:
    """The axes from start_axis to stop_axis as one: (n, k, m) -> (n, k * m) for 1 and -1.

    The result is a view of x. Raises ArgumentError if start_axis comes after stop_axis.

    >>> dy2st.flatten(dy2st.zeros([2, 3, 4]), 1).shape
    [2, 12]
    """
    own = shape_of(x)
    if not own:
        return reshape(x, [1])
    first, last = normalize_axis(start_axis, len(own)), normalize_axis(stop_axis, len(own))
    if first > last:
        raise ArgumentError(f"flatten: axis {start_axis} comes after axis {stop_axis}")
    return reshape(x, [*own[:first], product(own[first : last + 1]), *own[last + 1 :]])


@method
def unflatten(x: Any, axis: int, shape: Any, name: str | None = None) -> Any:
    """One axis as several: (6, n) -> (2, 3, n) for axis 0 and shape [2, 3]; one may be -1.

    >>> dy2st.unflatten(dy2st.zeros([6, 5]), 0, [2, -1]).shape
    [2, 3, 5]
    """
    own = shape_of(x)
    place = normalize_axis(axis, len(own))
    parts = _filled((own[place],), as_shape(shape))
    return reshape(x, [*own[:place], *parts, *own[place + 1 :]])


@method
def squeeze(x: Any, axis: Axes = None, name: str | None = None) -> Any:
    """Without axes of size 1: all of them, or the given ones if their size is 1.

    (n, 1, m, 1) -> (n, m).

    A given axis whose size is not known must have the size 1 when the Program runs; one that is
    not given must have another one.

    >>> x = dy2st.zeros([1, 3, 1])
    >>> dy2st.squeeze(x).shape, dy2st.squeeze(x, 0).shape
    ([3], [3, 1])
    """
    if is_unknown(axis):
        return as_view(x, F.dynamic("squeeze", x, as_integers(axis)[0]))
    own = shape_of(x)
    gone = []
    for place in normalize_axes(axis, len(own)):
        is_one = equal(own[place], 1)
        if is_one is None and axis is None:
            require(
                Condition("!=", own[place], 1),
                f"squeeze() keeps axis {place}, whose size {own[place]} is not known: it is taken "
                "not to be 1; name the axes that go",
            )
            continue
        if is_one is None:
            reason = (
                f"squeeze: axis {place} has the size {own[place]}, not 1: an axis goes or stays in "
                "all calls; index it, x[:, 0], or give the size a number in the InputSpec"
            )
            require_equal(own[place], 1, reason)
        if is_one is not False:
            gone.append(place)
    return reshape(x, [size for place, size in enumerate(own) if place not in gone])


@method
def unsqueeze(x: Any, axis: Any, name: str | None = None) -> Any:
    """With an axis of size 1 at a place of the result: (n, m) -> (n, 1, m) for axis 1.

    Several places are taken one after another, each of what is there by then, as PaddlePaddle does.

    >>> x = dy2st.ones([2, 3])
    >>> dy2st.unsqueeze(x, 1).shape, dy2st.unsqueeze(x, [2, 0]).shape
    ([2, 1, 3], [1, 2, 3, 1])
    """
    if is_unknown(axis):
        return as_view(x, F.dynamic("unsqueeze", x, as_integers(axis)[0]))
    own = shape_of(x)
    for place in as_ints(axis, "an axis"):
        own.insert(normalize_axis(place, len(own) + 1), 1)
    return reshape(x, own)


# -- transpose --------------------------------------------------------------------------------

define(
    "transpose",
    takes_complex=True,
    doc="The axes in another order: axis i of the result is axis perm[i] of x.",
    inputs="x",
    scales=Scales.ALL,
    padding=lambda site: [site.attributes["perm"].index(axis) for axis in site.longer[0]],
    kind=Kind.INJECTIVE,
    view=View.PERMUTED,
    shares=True,
    put_back=lambda x, y, place, perm: F.transpose(y, [perm.index(i) for i in range(len(perm))]),
    attributes={"perm": ORDER},
    infer=lambda x, perm: x.with_shape(x.shape[p] for p in perm),
    kernel=lambda x, perm: x.transpose(perm),
    data=True,
    gradient=lambda g, y, x, perm: F.transpose(g, [perm.index(i) for i in range(len(perm))]),
    samples=(
        Sample(((2, 3),), {"perm": (1, 0)}),
        Sample(((2, 3, 4),), {"perm": (2, 0, 1)}),
    ),
)


@method
def transpose(
    x: Any, perm: Any = None, *more: Any, name: Any = None, dim0: Any = None, dim1: Any = None
) -> Any:
    """The axes in another order: axis i of the result is axis perm[i] of x.

    (n, m, k) -> (k, n, m) for [2, 0, 1].

    Two numbers, `transpose(x, 0, 1)`, exchange two axes.

    Raises ArgumentError for what is no order of all axes.

    >>> x = dy2st.zeros([2, 3, 4])
    >>> dy2st.transpose(x, [2, 0, 1]).shape, x.transpose(0, 1).shape
    ([4, 2, 3], [3, 2, 4])
    """
    if perm is None and dim0 is None is dim1:  # as NumPy's function of the name asks
        return F.transpose(x, list(range(rank_of(x)))[::-1])
    if perm is None:
        return swapaxes(x, dim0, dim1)
    if len(more) > 1:
        raise ArgumentError(f"transpose: two axes, or all in a list: transpose(x, {[perm, *more]})")
    if more:
        return swapaxes(x, perm, *more)
    order = tuple(normalize_axis(p, x.ndim) for p in as_ints(perm, "an axis"))
    if sorted(order) != list(range(x.ndim)):
        raise ArgumentError(f"transpose: {list(perm)} is no order of {x.ndim} axes")
    if order == tuple(range(x.ndim)):
        return as_view(x, F.assign(x))
    return apply("transpose", x, perm=order)


@method
def t(input: Any, name: str | None = None) -> Any:
    """The transposed matrix: (n, m) -> (m, n); vectors and numbers stay.

    >>> dy2st.t(dy2st.to_tensor([[1, 2, 3]])).tolist()
    [[1], [2], [3]]
    """
    if input.ndim > 2:
        raise ShapeError(f"t takes at most two axes, not {input.shape}")
    return transpose(input, list(range(input.ndim))[::-1])


@method
def moveaxis(x: Any, source: Any, destination: Any, name: str | None = None) -> Any:
    """The axes `source` at the places `destination`, the others in order.

    (n, m, k) -> (m, k, n) for 0 and -1.

    >>> dy2st.moveaxis(dy2st.zeros([2, 3, 4]), 0, -1).shape
    [3, 4, 2]
    """
    sources = as_ints(source, "source")
    targets = as_ints(destination, "destination")
    if len(sources) != len(targets):
        raise ArgumentError("moveaxis: as many destinations as sources")
    sources = [normalize_axis(a, x.ndim) for a in sources]
    targets = [normalize_axis(a, x.ndim) for a in targets]
    order = [a for a in range(x.ndim) if a not in sources]
    for target, source_axis in sorted(zip(targets, sources, strict=True)):
        order.insert(target, source_axis)
    return transpose(x, order)


@method
def swapaxes(x: Any, axis0: Any, axis1: Any, name: str | None = None) -> Any:
    """Two axes exchanged; the result is a view of x.

    (n, m, k) -> (k, m, n) for 0 and 2.

    >>> dy2st.swapaxes(dy2st.zeros([2, 3, 4]), 0, 2).shape
    [4, 3, 2]
    """
    order = list(range(x.ndim))
    a, b = normalize_axis(axis0, x.ndim), normalize_axis(axis1, x.ndim)
    order[a], order[b] = order[b], order[a]
    return transpose(x, order)


@method
def rot90(x: Any, k: int = 1, axes: Sequence[int] = (0, 1), name: str | None = None) -> Any:
    """The plane of two axes rotated by k quarters, from the first axis towards the second.

    (n, m) -> (m, n).

    >>> dy2st.rot90(dy2st.to_tensor([[1, 2], [3, 4]])).tolist()
    [[2, 4], [1, 3]]
    """
    plane = [normalize_axis(axis, x.ndim) for axis in as_ints(axes, "an axis")]
    if len(set(plane)) != 2 or len(plane) != 2:
        raise ArgumentError(f"rot90: {axes!r} are not two axes")
    a, b = plane
    quarters = as_int(k, "k") % 4
    if quarters == 2:
        return flip(x, [a, b])
    if quarters == 1:
        return swapaxes(flip(x, [b]), a, b)
    return flip(swapaxes(x, a, b), [b]) if quarters else F.assign(x)


# -- broadcasting and repeating ---------------------------------------------------------------


def _broadcast_to_infer(x: TensorType, shape: Shape) -> TensorType:
    created("broadcast_to", x.dtype, shape)
    joined = broadcast_shapes("broadcast_to", x.shape, shape)
    if len(joined) != len(shape):
        raise ShapeError(f"broadcast_to: {list(x.shape)} has more axes than {list(shape)}")
    for axis, (have, want) in enumerate(zip(joined, shape, strict=True)):
        require_equal(
            have, want, f"broadcast_to: {list(x.shape)} does not fit {list(shape)} at axis {axis}"
        )
    return x.with_shape(shape)


def _broadcast_padding(site: Site) -> set[int]:
    """Longer where it was, and where it is repeated so often."""
    rank, own = len(site.result), len(site.shape(0))
    found, made = site.joined((0,), rank), site.made_longer()
    for axis in (axis - rank + own for axis in made - found):
        if axis >= 0 and not site.is_one(0, axis):
            site.refuse("joins it with an axis that is not longer")
    return found | made


define(
    "broadcast_to",
    takes_complex=True,
    doc="x repeated along axes of size 1 and along new leading axes.",
    inputs="x",
    padding=_broadcast_padding,
    kind=Kind.INJECTIVE,
    sizes=("shape",),
    view=View.REPEATED,
    attributes={"shape": SIZES},
    infer=_broadcast_to_infer,
    kernel=np.broadcast_to,
    data=True,
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
    """x repeated to a shape, by the rules of broadcasting: (m,) -> (n, m), (n, 1) -> (n, m).

    Raises ShapeError if the shape of x does not broadcast to it.

    >>> dy2st.broadcast_to(dy2st.to_tensor([1, 2]), [2, 2]).tolist()
    [[1, 2], [1, 2]]
    """
    if is_unknown(shape):
        sizes, known = as_integers(shape)
        return F.dynamic("broadcast_to", x, sizes, known=known)
    wanted = as_shape(shape)
    own = tuple(shape_of(x))
    if same_shape(own, wanted):
        return F.assign(x)
    return apply("broadcast_to", x, shape=wanted)


@method
def expand(x: Any, shape: Any, name: str | None = None) -> Any:
    """x repeated to a shape; -1 keeps the size of x.

    (n, 1) -> (n, m).

    >>> dy2st.expand(dy2st.to_tensor([[1], [2]]), [-1, 3]).tolist()
    [[1, 1, 1], [2, 2, 2]]
    """
    if is_unknown(shape):
        sizes, known = as_integers(shape)
        return F.dynamic("broadcast_to", x, sizes, known=known)
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
    """x repeated to the shape of y: (m,), (n, m) -> (n, m).

    >>> dy2st.expand_as(dy2st.to_tensor([1, 2]), dy2st.zeros([2, 2])).tolist()
    [[1, 2], [1, 2]]
    """
    return broadcast_to(x, shape_of(y))


@method
def tile(x: Any, repeat_times: Any, name: str | None = None) -> Any:
    """x put together repeat_times[i] times along axis i; missing axes of either are in front.

    (n, m) -> (2 * n, 3 * m) for [2, 3].

    >>> dy2st.tile(dy2st.to_tensor([1, 2]), [2, 2]).tolist()
    [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    if is_unknown(repeat_times):
        return F.dynamic("tile", x, as_integers(repeat_times)[0])
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
    x: Any,
    repeats: Any,
    axis: int | None = None,
    name: str | None = None,
    output_size: int | None = None,
) -> Any:
    """Every element along an axis `repeats` times in a row; a list has one number an element.

    Without an axis x is flattened. `output_size`, how long that makes the axis, is not needed.

    >>> x = dy2st.to_tensor([7, 8])
    >>> dy2st.repeat_interleave(x, 2).tolist(), dy2st.repeat_interleave(x, [3, 1]).tolist()
    ([7, 7, 8, 8], [7, 7, 7, 8])
    """
    if axis is None:
        x, axis = flatten(x), 0
    place, own = normalize_axis(axis, x.ndim), x.shape
    if is_unknown(repeats) and rank_of(repeats):
        # Counts that only the run knows.
        size = own[place]
        count, tracer = repeats.shape[0], current_tracer()
        require_equal(count, size, f"repeat_interleave: {count} repeats for {size} elements")
        assert tracer is not None
        error = ArgumentError("repeat_interleave: a number of repeats is negative")
        tracer.check(F.all(F.greater_equal(repeats, 0)), error)
        repeated_by_counts = F.searchsorted(F.cumsum(repeats), F.arange(F.sum(repeats)), right=True)
        return F.gather(x, repeated_by_counts, place)
    if rank_of(repeats):
        # The places 0, 1, ... each as often as its count says.
        counts = as_shape(repeats)
        size = own[place]
        numbers = [as_int(count, "an entry of repeats") for count in counts]
        if min(numbers, default=0) < 0:
            raise ArgumentError(f"repeat_interleave: {min(numbers)} repeats")
        if equal(size, len(numbers)) is not True:
            raise ShapeError(f"repeat_interleave: {len(numbers)} repeats for {size} elements")
        if sum(numbers) >= _MOST_ELEMENTS:  # NumPy adds them as integers of 64 bits
            raise ArgumentError(
                f"repeat_interleave: {sum(numbers)} elements do not fit into memory"
            )
        repeated = np.repeat(np.arange(len(numbers)), numbers)
        return F.gather(x, repeated, place)
    count = as_size(repeats, "repeats")
    wide = unsqueeze(x, [place + 1])
    spread = broadcast_to(wide, [*own[: place + 1], count, *own[place + 1 :]])
    return reshape(spread, [*own[:place], own[place] * count, *own[place + 1 :]])


_MOST_ELEMENTS = 2**48


@public
def broadcast_tensors(input: Any, name: str | None = None) -> list[Any]:
    """All tensors repeated to the shape that they broadcast to: (n, 1), (m,) -> two of (n, m).

    >>> x, y = dy2st.broadcast_tensors([dy2st.zeros([3, 1]), dy2st.zeros([2])])
    >>> x.shape, y.shape
    ([3, 2], [3, 2])
    """
    if not len(input):
        raise ArgumentError("broadcast_tensors of an empty list")
    shape = broadcast_shapes("broadcast_tensors", *(tuple(shape_of(x)) for x in input))
    return [broadcast_to(x, shape) for x in input]


# -- rotating and shifting ---------------------------------------------------------------------

define(
    "flip",
    takes_complex=True,
    doc="The elements along axes in reverse order.",
    inputs="x",
    kind=Kind.INJECTIVE,
    along="axis",
    view=View.PERMUTED,
    attributes={"axis": AXES},
    infer=lambda x, axis: x,
    kernel=np.flip,
    data=True,
    gradient=lambda g, y, x, axis: F.flip(g, list(axis)),
    samples=(Sample(((2, 3),), {"axis": (1,)}), Sample(((2, 3),), {"axis": (0, 1)})),
)


def _roll_infer(x: TensorType, shifts: Sequence[Size], axis: Sequence[int]) -> TensorType:
    if len(shifts) != len(axis):
        raise ShapeError(f"roll: {len(shifts)} shifts for {len(axis)} axes")
    return x


define(
    "roll",
    takes_complex=True,
    doc="The elements along axes shifted; what leaves at one end comes in at the other.",
    inputs="x",
    kind=Kind.INJECTIVE,
    along="axis",
    attributes={"shifts": INDICES, "axis": several(AXIS, "axes")},
    infer=_roll_infer,
    kernel=lambda x, shifts, axis: np.roll(x, shifts, axis),
    gradient=lambda g, y, x, shifts, axis: F.roll(g, [-s for s in shifts], list(axis)),
    samples=(Sample(((2, 3),), {"shifts": (1,), "axis": (1,)}),),
)


@method
def flip(x: Any, axis: Axes, name: str | None = None) -> Any:
    """The elements along axes in reverse order: (..., n, ...) -> (..., n, ...).

    >>> dy2st.flip(dy2st.to_tensor([[1, 2], [3, 4]]), axis=1).tolist()
    [[2, 1], [4, 3]]
    """
    return apply("flip", x, axis=normalize_axes(axis, x.ndim))


@method
def roll(x: Any, shifts: Any, axis: Any = None, name: str | None = None) -> Any:
    """The elements along axes shifted; what leaves at one end comes in at the other.

    (..., n, ...) -> (..., n, ...).

    Without an axis all elements are shifted as one row.

    Raises ArgumentError unless there are as many shifts as axes.

    >>> dy2st.roll(dy2st.to_tensor([1, 2, 3, 4]), 1).tolist()
    [4, 1, 2, 3]
    """
    if axis is None or (isinstance(axis, (list, tuple)) and not axis):
        return reshape(roll(flatten(x), shifts, 0), x.shape)
    amounts = tuple(shifts) if isinstance(shifts, (list, tuple)) else (shifts,)
    axes = tuple(axis) if isinstance(axis, (list, tuple)) else (axis,)
    if len(amounts) != len(axes):
        raise ArgumentError("roll: as many shifts as axes")
    moves: dict[int, Size] = {}
    for amount, a in zip(amounts, axes, strict=True):
        place = normalize_axis(a, x.ndim)
        if is_unknown(amount):
            # By a number of places known only at run time: each element is picked where it
            # comes from.
            size = maximum(x.shape[place], 1)
            x = F.gather(
                x,
                F.remainder(
                    F.subtract(F.arange(x.shape[place]), one_integer(amount, "a shift")), size
                ),
                place,
            )
        else:
            moves[place] = moves.get(place, 0) + as_size(amount, "a shift")
    if amounts and not moves:  # all are done
        return x
    return apply("roll", x, shifts=tuple(moves.values()), axis=tuple(moves))
