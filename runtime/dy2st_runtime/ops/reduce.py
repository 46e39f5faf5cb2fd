"""Reductions along axes, and running sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from dy2st_runtime.dims import Size, equal, less, maximum, minimum, product, require, same_shape
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir import (
    F,
    Kind,
    Sample,
    Scales,
    Shape,
    TensorType,
    View,
    apply,
    define,
    is_differentiable,
    method,
    public,
)
from dy2st_runtime.ir.arguments import (
    Axes,
    as_dtype,
    as_shape,
    normalize_axis,
    rank_of,
    reduced_axes,
    shape_of,
)
from dy2st_runtime.ir.attribute_kinds import AXES, AXIS, SIZES
from dy2st_runtime.ops.rules import holomorphic
from dy2st_runtime.ops.short_floats import in_float32
from dy2st_runtime.ops.zero_rank import of_numbers_too

if TYPE_CHECKING:
    from dy2st_runtime.ir.padding import Site


_LONG = 2048
"""From how many elements along an axis on they are added in blocks."""


def in_blocks(x: Any, axis: tuple[int, ...]) -> Any:
    """What has the same sums, of float32: some elements along the axes are added already.

    NumPy adds pairs of pairs where elements lie one after the other, and else one by one: of a
    million equal numbers only two digits are right then.
    """
    if x.dtype.itemsize != 4 or x.dtype.kind != "f" or len(axis) == x.ndim:
        return x
    for place in axis:
        count = x.shape[place]
        if count > _LONG and abs(x.strides[place]) > 4:
            rows = math.isqrt(count)
            ahead = (slice(None),) * place
            whole, rest = x[(*ahead, slice(rows * rows))], x[(*ahead, slice(rows * rows, None))]
            shape = (*x.shape[:place], rows, rows, *x.shape[place + 1 :])
            x = np.concatenate([np.add.reduce(whole.reshape(shape), axis=place + 1), rest], place)
    return x


def add_up(x: Any, axis: tuple[int, ...], **options: Any) -> Any:
    """`np.add.reduce` along the axes."""
    return np.add.reduce(in_blocks(x, axis), axis=axis, **options)


_AXES: dict[str, Any] = {"axis": AXES, "keepdim": False}


def reduced_shape(shape: Shape, axis: tuple[int, ...], keepdim: bool) -> Shape:
    """The shape without the axes, or with size 1 there."""
    if keepdim:
        return tuple(1 if i in axis else size for i, size in enumerate(shape))
    return tuple(size for i, size in enumerate(shape) if i not in axis)


def restore(g: Any, x: Any, axis: tuple[int, ...], keepdim: bool) -> Any:
    """A reduced tensor with the axes back, of size 1."""
    if keepdim or not axis:
        return g
    return F.reshape(g, list(reduced_shape(tuple(x.shape), axis, True)))


def _spread(g: Any, x: Any, axis: tuple[int, ...], keepdim: bool) -> Any:
    return F.broadcast_to(restore(g, x, axis, keepdim), x.shape)


def _samples(low: float = -2.0, high: float = 2.0) -> tuple[Sample, ...]:
    return (
        Sample(((2, 3),), {"axis": (0, 1)}, low=low, high=high),
        Sample(((2, 3, 2),), {"axis": (1,)}, low=low, high=high),
        Sample(((2, 3),), {"axis": (0,), "keepdim": True}, low=low, high=high),
    )


_EMPTY = (Sample(((0, 3),), {"axis": (0,)}), Sample(((),), {"axis": ()}))


def _define(
    name: str,
    doc: str,
    kernel: Callable[..., Any],
    result: Callable[[np.dtype[Any]], Any],
    gradient: Callable[..., Any] | None,
    samples: tuple[Sample, ...],
    needs_elements: bool = False,
    data: Callable[..., Any] | bool | None = None,
    scales: Scales | None = None,
) -> None:
    def infer(x: TensorType, axis: tuple[int, ...], keepdim: bool) -> TensorType:
        if needs_elements:
            # There must be something to take the largest of.
            for place in axis:
                require(x.shape[place] > 0, f"{name} of no elements: the shape is {list(x.shape)}")
        return TensorType(result(x.dtype), reduced_shape(x.shape, axis, keepdim))

    define(
        name,
        doc=doc,
        inputs="x",
        takes_complex=name in ("sum", "mean", "prod", "any", "all"),
        attributes=_AXES,
        infer=infer,
        kernel=lambda x, axis, keepdim: kernel(x, axis=axis, keepdims=keepdim),
        gradient=gradient,
        data=data,
        fails=_of_none if needs_elements else None,
        kind=Kind.REDUCTION,
        along="axis",
        scales=scales,
        samples=samples,
    )


def _of_none(x: Any, axis: int | tuple[int, ...], keepdim: bool) -> bool:
    """Whether there may be nothing to take the largest of."""
    for place in axis if isinstance(axis, tuple) else (axis,):
        if not less(0, x.shape[place]):
            return True
    return False


def _extreme_data(function: Callable[[Size, Size], Size]) -> Callable[..., Any]:
    """The rule for data of max and min."""
    reduce = np.frompyfunc(function, 2, 1).reduce

    def rule(x: Any, axis: tuple[int, ...], keepdim: bool) -> Any:
        if not isinstance(x, np.ndarray) or not x.size:
            return None
        for place in sorted(axis, reverse=True):
            x = np.asarray(reduce(x, axis=place, keepdims=keepdim), object)
        return x

    return rule


def _sum_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """int64 of integers, without a sign too, and of bools; those of uint64 would not fit."""
    return np.dtype("int64") if dtype.kind in "iub" and dtype != np.uint64 else dtype


def _widened(reduce: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel of NumPy that gives `_sum_dtype`; NumPy would give uint64 for uint8."""

    def run(x: Any, *args: Any, **options: Any) -> Any:
        return reduce(x, *args, dtype=_sum_dtype(x.dtype), **options)

    return run


def _mean_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype if is_differentiable(dtype) else np.dtype("float64")


@holomorphic
@in_float32
def _prod_gradient(g: Any, y: Any, x: Any, axis: tuple[int, ...], keepdim: bool) -> Any:
    """For one axis: the product of all others, from both sides, so that zeros are no problem."""
    if len(axis) != 1:
        rest = [i for i in range(x.ndim) if i not in axis]
        last = F.reshape(
            F.transpose(x, [*rest, *axis]), [*(x.shape[i] for i in rest), _count(x, axis)]
        )
        if keepdim:
            g = F.reshape(g, list(reduced_shape(tuple(x.shape), axis, False)))
        flat = F.expand(F.unsqueeze(g, [-1]), last.shape)
        slope = flat * _others(last, last.ndim - 1)
        back = F.reshape(slope, [x.shape[i] for i in (*rest, *axis)])
        order = [*rest, *axis]
        return F.transpose(back, [order.index(i) for i in range(x.ndim)])
    return _spread(g, x, axis, keepdim) * _others(x, axis[0])


def _count(x: Any, axis: tuple[int, ...]) -> Size:
    return product([x.shape[a] for a in axis])


def _others(x: Any, axis: int) -> Any:
    """The product of all other elements along an axis."""
    one = F.ones_like(F.slice(x, [axis], [0], [1]))
    before = F.cumprod(F.slice(F.concat([one, x], axis=axis), [axis], [0], [-1]), axis)
    flipped = F.flip(x, [axis])
    after = F.cumprod(F.slice(F.concat([one, flipped], axis=axis), [axis], [0], [-1]), axis)
    return before * F.flip(after, [axis])


def _extreme_gradient(g: Any, y: Any, x: Any, axis: tuple[int, ...], keepdim: bool) -> Any:
    """Equal largest elements share the gradient."""
    hit = F.cast(F.equal(x, restore(y, x, axis, keepdim)), g.dtype)
    share = hit / apply("sum", hit, axis=axis, keepdim=True)  # the axes may be none
    return share * restore(g, x, axis, keepdim)


@in_float32
def _mean_kernel(x: Any, axis: Any, keepdims: bool) -> Any:
    """NumPy's mean, which would warn of no elements before it gives NaN for them."""
    if x.size and x.dtype.kind == "f":
        count = math.prod(x.shape[place] for place in axis)
        return add_up(x, axis, keepdims=keepdims) / x.dtype.type(count)
    if x.size:
        return np.mean(x, axis=axis, keepdims=keepdims)
    sums = add_up(x, axis, keepdims=keepdims)
    return np.full(np.shape(sums), np.nan, _mean_dtype(x.dtype))


_define(
    "sum",
    "The sum along axes.",
    in_float32(
        lambda x, axis, keepdims: add_up(x, axis, keepdims=keepdims, dtype=_sum_dtype(x.dtype))
    ),
    _sum_dtype,
    lambda g, y, x, axis, keepdim: _spread(g, x, axis, keepdim),
    _samples() + _EMPTY,
    data=True,
    scales=Scales.ALL,
)
_define(
    "mean",
    "The mean along axes.",
    _mean_kernel,
    _mean_dtype,
    in_float32(
        lambda g, y, x, axis, keepdim: _spread(
            g / F.cast(_count(x, axis), g.dtype), x, axis, keepdim
        )
    ),
    _samples(),
    scales=Scales.ALL,
)
_define(
    "prod",
    "The product along axes.",
    in_float32(_widened(np.multiply.reduce)),
    _sum_dtype,
    _prod_gradient,
    _samples() + _EMPTY,
    data=True,
)
_define(
    "max",
    "The largest element along axes.",
    in_float32(np.maximum.reduce),
    lambda dtype: dtype,
    _extreme_gradient,
    _samples(),
    needs_elements=True,
    data=_extreme_data(maximum),
    scales=Scales.POSITIVE,
)
_define(
    "min",
    "The smallest element along axes.",
    in_float32(np.minimum.reduce),
    lambda dtype: dtype,
    _extreme_gradient,
    _samples(),
    needs_elements=True,
    data=_extreme_data(minimum),
    scales=Scales.POSITIVE,
)
_define(
    "any",
    "Whether any element is true along axes.",
    np.logical_or.reduce,
    lambda dtype: "bool",
    None,
    _samples() + _EMPTY,
)
_define(
    "all",
    "Whether all elements are true along axes.",
    np.logical_and.reduce,
    lambda dtype: "bool",
    None,
    _samples() + _EMPTY,
)


def _arg_infer(x: TensorType, axis: int, keepdim: bool) -> TensorType:
    size = x.shape[axis]
    require(size > 0, f"the largest or smallest of no elements: the shape is {list(x.shape)}")
    return TensorType("int64", reduced_shape(x.shape, (axis,), keepdim))


for _name, _doc, _kernel in (
    ("argmax", "The index of the (first) largest element along an axis.", np.argmax),
    ("argmin", "The index of the (first) smallest element along an axis.", np.argmin),
):
    define(
        _name,
        doc=_doc,
        inputs="x",
        attributes={"axis": AXIS, "keepdim": False},
        infer=_arg_infer,
        kernel=lambda x, axis, keepdim, kernel=_kernel: kernel(x, axis=axis, keepdims=keepdim),
        fails=_of_none,
        kind=Kind.REDUCTION,
        along="axis",
        samples=(Sample(((2, 3),), {"axis": 1}, dtypes=("float32",)),),
    )


@in_float32
def _sum_to_kernel(x: Any, shape: tuple[int, ...]) -> Any:
    lead = x.ndim - len(shape)
    axes = list(range(lead))
    for axis, want in enumerate(shape, lead):
        if x.shape[axis] != want:
            if want != 1:
                raise _not_broadcast(shape, x.shape)
            axes.append(axis)
    if not axes:
        return x
    return add_up(x, tuple(axes), keepdims=True, dtype=x.dtype).reshape(shape)


def _sum_to_infer(x: TensorType, shape: Shape) -> TensorType:
    lead = x.rank - len(shape)
    fits = lead >= 0
    for axis, size in enumerate(shape):
        is_one = equal(size, 1) is not False
        fits = fits and (is_one or equal(size, x.shape[lead + axis]) is not False)
    if not fits:
        raise _not_broadcast(shape, x.shape)
    return x.with_shape(shape)


def _not_broadcast(shape: Shape, result: Shape) -> ShapeError:
    return ShapeError(f"sum_to: {list(shape)} is not what {list(result)} was broadcast from")


def _sum_to_padding(site: Site) -> set[int]:
    """What is longer is not summed over."""
    lead, found = len(site.shape(0)) - len(site.result), set()
    for axis in site.longer[0]:
        if axis < lead or site.result[axis - lead] is not site.size:
            site.refuse("works along it")
        found.add(axis - lead)
    return found


define(
    "sum_to",
    takes_complex=True,
    doc="The sum over the axes along which `shape` was broadcast to the shape of x.",
    inputs="x",
    padding=_sum_to_padding,
    kind=Kind.REDUCTION,
    sizes=("shape",),
    view=lambda x, shape: View.SAME if same_shape(x.shape, shape) else View.UNSURE,
    attributes={"shape": SIZES},
    infer=_sum_to_infer,
    kernel=_sum_to_kernel,
    gradient=lambda g, y, x, shape: F.broadcast_to(g, x.shape),
    samples=(Sample(((2, 3),), {"shape": (3,)}), Sample(((2, 3),), {"shape": (2, 1)})),
)


def _running_infer(x: TensorType, axis: int, reverse: bool) -> TensorType:
    return x.with_dtype(_sum_dtype(x.dtype))


def _running(kernel: Callable[..., Any]) -> Callable[..., Any]:
    def run(x: Any, axis: int, reverse: bool) -> Any:
        if reverse:
            return np.flip(kernel(np.flip(x, axis), axis), axis)
        return kernel(x, axis)

    return run


def _running_padding(site: Site) -> Iterable[int]:
    """A sum up to each place sees only what is before it."""
    axis, longer = site.attributes["axis"], site.longer[0]
    if site.attributes["reverse"]:
        site.keep_off([axis])
    return site.uneven(longer) if axis in longer else set(longer)


@holomorphic
@in_float32
def _cumprod_gradient(g: Any, y: Any, x: Any, axis: int, reverse: bool) -> Any:
    """sum(g * y) from each place on, by x; at the first 0 that of products without the 0.

    Behind that 0 everything is a multiple of it: written so, second derivatives are right, too.
    """
    is_zero = F.equal(x, 0)
    zeros = F.cumsum_of(F.cast(is_zero, "int64"), axis, reverse)
    first = F.logical_and(is_zero, F.equal(zeros, 1))
    one = F.ones_like(x)
    without = apply("cumprod", F.where(first, one, x), axis=axis, reverse=reverse)
    beside = F.cumsum_of(g * without, axis, not reverse)
    divisor = F.where(is_zero, one, x)
    missing = F.sum(F.where(first, x, F.zeros_like(x)), axis, keepdim=True)
    behind = F.where(is_zero, F.zeros_like(x), beside / divisor) * missing
    before = F.cumsum_of(g * y, axis, not reverse) / divisor
    return F.where(F.equal(zeros, 0), before, F.where(first, beside, behind))


define(
    "cumsum",
    takes_complex=True,
    doc="The sum of the elements up to each place along an axis.",
    inputs="x",
    padding=_running_padding,
    along="axis",
    attributes={"axis": AXIS, "reverse": False},
    infer=_running_infer,
    kernel=in_float32(_running(_widened(np.add.accumulate))),
    data=True,
    gradient=lambda g, y, x, axis, reverse: F.cumsum_of(g, axis, not reverse),
    samples=(Sample(((2, 3),), {"axis": 1}), Sample(((3, 2),), {"axis": 0, "reverse": True})),
)
define(
    "cumprod",
    takes_complex=True,
    doc="The product of the elements up to each place along an axis.",
    inputs="x",
    padding=_running_padding,
    along="axis",
    attributes={"axis": AXIS, "reverse": False},
    infer=_running_infer,
    kernel=in_float32(_running(_widened(np.multiply.accumulate))),
    gradient=_cumprod_gradient,
    samples=(Sample(((2, 3),), {"axis": 1}, low=0.5, high=2.0),),
)


def _reduce(name: str, x: Any, axis: Axes, keepdim: bool) -> Any:
    return apply(name, x, axis=reduced_axes(axis, rank_of(x)), keepdim=bool(keepdim))


@method
def sum(
    x: Any, axis: Axes = None, dtype: Any = None, keepdim: bool = False, name: str | None = None
) -> Any:
    """The sum along axes, all by default; integers and bools give int64 as in NumPy.

    (..., n) -> (...) along the last axis.

    `axis` is one or a list; with `keepdim` these axes stay, with size 1. `dtype` is that of the
    result, and x is cast to it first.

    >>> x = dy2st.to_tensor([[1, 2], [3, 4]])
    >>> dy2st.sum(x).item(), dy2st.sum(x, axis=0).tolist(), x.sum(1, keepdim=True).tolist()
    (10, [4, 6], [[3], [7]])
    """
    return _reduce("sum", x if dtype is None else F.cast(x, as_dtype(dtype)), axis, keepdim)


@method
def mean(
    x: Any, axis: Axes = None, keepdim: bool = False, name: str | None = None, dtype: Any = None
) -> Any:
    """The mean along axes, all by default; of integers a float.

    (..., n) -> (...) along the last axis.

    `axis` is one or a list; with `keepdim` these axes stay, with size 1; x is cast to `dtype`.

    >>> x = dy2st.to_tensor([[1.0, 2.0], [3.0, 6.0]])
    >>> dy2st.mean(x).item(), dy2st.mean(x, axis=0).tolist()
    (3.0, [2.0, 4.0])
    """
    return _reduce("mean", x if dtype is None else F.cast(x, as_dtype(dtype)), axis, keepdim)


@method
def prod(
    x: Any, axis: Axes = None, keepdim: bool = False, dtype: Any = None, name: str | None = None
) -> Any:
    """The product along axes, all by default; 1 of no elements.

    (..., n) -> (...) along the last axis.

    `axis` is one or a list; with `keepdim` these axes stay, with size 1; x is cast to `dtype`.

    >>> dy2st.prod(dy2st.to_tensor([[1, 2], [3, 4]]), axis=1).tolist()
    [2, 12]
    """
    return _reduce("prod", x if dtype is None else F.cast(x, as_dtype(dtype)), axis, keepdim)


@method
def max(x: Any, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The largest element along axes, all by default; equal ones share the gradient.

    (..., n) -> (...) along the last axis.

    It is NaN if one is; ShapeError if there are no elements. `argmax` gives the place.

    >>> x = dy2st.to_tensor([[1, 5], [3, 2]])
    >>> dy2st.max(x).item(), dy2st.max(x, axis=1).tolist()
    (5, [5, 3])
    """
    return _reduce("max", x, axis, keepdim)


@method
def min(x: Any, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The smallest element along axes, all by default; equal ones share the gradient.

    (..., n) -> (...) along the last axis.

    It is NaN if one is; ShapeError if there are no elements. `argmin` gives the place.

    >>> x = dy2st.to_tensor([[1, 5], [3, 2]])
    >>> dy2st.min(x).item(), dy2st.min(x, axis=1).tolist()
    (1, [1, 2])
    """
    return _reduce("min", x, axis, keepdim)


@method
def amax(x: Any, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The largest element along axes: `max` under another name.

    >>> dy2st.amax(dy2st.to_tensor([[1, 5], [3, 2]]), axis=[0, 1]).item()
    5
    """
    return _reduce("max", x, axis, keepdim)


@method
def amin(x: Any, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The smallest element along axes: `min` under another name.

    >>> dy2st.amin(dy2st.to_tensor([[1, 5], [3, 2]]), axis=[0, 1]).item()
    1
    """
    return _reduce("min", x, axis, keepdim)


@method
def any(x: Any, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Any:
    """Whether any element is true (not 0) along axes, all by default: bools, False of no elements.

    (..., n) -> (...) along the last axis.

    >>> dy2st.any(dy2st.to_tensor([[0, 0], [0, 3]]), axis=1).tolist()
    [False, True]
    """
    return _reduce("any", x, axis, keepdim)


@method
def all(x: Any, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Any:
    """Whether all elements are true (not 0) along axes, all by default: bools, True of no elements.

    (..., n) -> (...) along the last axis.

    >>> dy2st.all(dy2st.to_tensor([[1, 2], [0, 3]]), axis=1).tolist()
    [True, False]
    """
    return _reduce("all", x, axis, keepdim)


@method
@of_numbers_too
def argmax(
    x: Any,
    axis: int | None = None,
    keepdim: bool = False,
    dtype: Any = "int64",
    name: str | None = None,
) -> Any:
    """The index of the (first) largest element along an axis, or in the flattened tensor.

    (..., n) -> (...) along the last axis, int64.

    `dtype` is that of the indices. Raises ShapeError if there are no elements.

    >>> x = dy2st.to_tensor([[1, 9], [7, 2]])
    >>> dy2st.argmax(x).item(), dy2st.argmax(x, axis=1).tolist()
    (1, [1, 0])
    """
    return _arg("argmax", x, axis, keepdim, dtype)


@method
@of_numbers_too
def argmin(
    x: Any,
    axis: int | None = None,
    keepdim: bool = False,
    dtype: Any = "int64",
    name: str | None = None,
) -> Any:
    """The index of the (first) smallest element along an axis, or in the flattened tensor.

    (..., n) -> (...) along the last axis, int64.

    `dtype` is that of the indices. Raises ShapeError if there are no elements.

    >>> x = dy2st.to_tensor([[4, 9], [7, 2]])
    >>> dy2st.argmin(x).item(), dy2st.argmin(x, axis=1).tolist()
    (3, [0, 1])
    """
    return _arg("argmin", x, axis, keepdim, dtype)


def _arg(name: str, x: Any, axis: int | None, keepdim: bool, dtype: Any) -> Any:
    if axis is None:
        index = apply(name, F.flatten(x), axis=0, keepdim=False)
        if keepdim:
            index = F.reshape(index, [1] * x.ndim)
    else:
        index = apply(name, x, axis=normalize_axis(axis, x.ndim), keepdim=bool(keepdim))
    return F.cast(index, as_dtype(dtype))


@method
def count_nonzero(x: Any, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Any:
    """How many elements are not 0 along axes, all by default: int64.

    (..., n) -> (...) along the last axis.

    >>> dy2st.count_nonzero(dy2st.to_tensor([[0, 1], [2, 3]]), axis=1).tolist()
    [1, 2]
    """
    return sum(F.not_equal(x, 0), axis, keepdim=keepdim)


@method
@of_numbers_too
def cumsum(x: Any, axis: int | None = None, dtype: Any = None, name: str | None = None) -> Any:
    """The sum of the elements up to each place along an axis, or of the flattened tensor.

    (..., n, ...) -> (..., n, ...).

    >>> dy2st.cumsum(dy2st.to_tensor([1, 2, 3])).tolist()
    [1, 3, 6]
    >>> dy2st.cumsum(dy2st.to_tensor([[1, 2], [3, 4]]), axis=0).tolist()
    [[1, 2], [4, 6]]
    """
    x = x if dtype is None else F.cast(x, as_dtype(dtype))
    if axis is None:
        x, axis = F.flatten(x), 0
    return cumsum_of(x, normalize_axis(axis, x.ndim), False)


@public
def cumsum_of(x: Any, axis: int, reverse: bool) -> Any:
    """The sum of the elements up to each place along an axis; from the end with `reverse`.

    (..., n, ...) -> (..., n, ...).

    >>> dy2st.ops.cumsum_of(dy2st.to_tensor([1, 2, 3]), 0, True).tolist()
    [6, 5, 3]
    """
    return apply("cumsum", x, axis=axis, reverse=reverse)


@method
@of_numbers_too
def cumprod(x: Any, dim: int | None = None, dtype: Any = None, name: str | None = None) -> Any:
    """The product of the elements up to each place along an axis, or of the flattened tensor.

    (..., n, ...) -> (..., n, ...).

    >>> dy2st.cumprod(dy2st.to_tensor([1, 2, 3, 4])).tolist()
    [1, 2, 6, 24]
    """
    x = x if dtype is None else F.cast(x, as_dtype(dtype))
    if dim is None:
        x, dim = F.flatten(x), 0
    return apply("cumprod", x, axis=normalize_axis(dim, x.ndim), reverse=False)


@public
def sum_to(x: Any, shape: Any) -> Any:
    """The sum over the axes along which `shape` was broadcast to the shape of x: its gradient.

    (n, m) -> (1, m) for the shape [1, m].

    >>> dy2st.ops.sum_to(dy2st.ones([2, 3]), [1, 3]).tolist()
    [[2.0, 2.0, 2.0]]
    """
    own, wanted = shape_of(x), as_shape(shape)
    if len(own) == len(wanted) and all_same(own, wanted):
        return x
    return apply("sum_to", x, shape=wanted)


def all_same(left: Iterable[Size], right: Iterable[Size]) -> bool:
    """Whether the sizes are the same objects or equal ints: then nothing was broadcast."""
    for a, b in zip(left, right, strict=True):
        if a is not b and not (isinstance(a, int) and isinstance(b, int) and a == b):
            return False
    return True
