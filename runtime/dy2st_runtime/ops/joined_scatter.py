"""Elements joined with others at places along an axis: by product, mean, minimum or maximum."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.dims import require, require_equal
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir import F, Sample, TensorType, apply, define, public
from dy2st_runtime.ir.arguments import shape_of
from dy2st_runtime.ir.attribute_kinds import AXIS, one_of
from dy2st_runtime.lazy import public_dir

_DTYPES = ("float32", "int64", "float32")
_JOINS: dict[str, Any] = {"mul": np.multiply, "amin": np.minimum, "amax": np.maximum}


def _infer(x: TensorType, index: TensorType, values: TensorType, axis: int, **_: Any) -> TensorType:
    shapes = f"{list(x.shape)}, {list(index.shape)} and {list(values.shape)}"
    if not x.rank == index.rank == values.rank:
        raise ShapeError(f"scatter_reduce: {shapes} differ in rank")
    sizes = zip(x.shape, index.shape, values.shape, strict=True)
    for place, (size, count, given) in enumerate(sizes):
        require_equal(count, given, f"scatter_reduce: {shapes} do not fit at axis {place}")
        if place != axis:
            require(count <= size, f"scatter_reduce: {shapes} do not fit at axis {place}")
    return TensorType(x.dtype, x.shape)


def _kernel(x: Any, index: Any, values: Any, axis: int, reduce: str, include_self: bool) -> Any:
    if values.shape != index.shape:
        raise ValueError("every value has one place")
    places: list[Any] = list(np.ogrid[tuple(slice(size) for size in index.shape)])
    places[axis] = np.array(index)  # NumPy looks at it, then uses it: nobody may change it
    made = x.copy()
    if not include_self:
        # What changes nothing: 1, or what all others are below or above.
        dtype = x.dtype
        if reduce == "mul":
            made[tuple(places)] = 1
        elif dtype.kind == "b":
            made[tuple(places)] = reduce == "amin"
        elif dtype.kind in "iu":
            limits = np.iinfo(dtype)
            made[tuple(places)] = limits.max if reduce == "amin" else limits.min
        else:
            made[tuple(places)] = np.inf if reduce == "amin" else -np.inf
    _JOINS[reduce].at(made, tuple(places), values)
    return made


def _gradient(
    g: Any, y: Any, x: Any, index: Any, values: Any, axis: int, reduce: str, include_self: bool
) -> Any:
    """Of a product what the others give; a minimum or maximum is shared by all that are it."""

    def picked(tensor: Any) -> Any:
        return F.take_along_axis(tensor, index, axis, broadcast=False)

    def added(ones: Any) -> Any:
        return F.put_along_axis(F.zeros_like(x), index, ones, axis, "add", broadcast=False)

    own = F.cast(F.equal(added(F.ones_like(values)), 0), g.dtype)
    if include_self:
        own = F.ones_like(own)
    if reduce == "mul":
        no_x, no_values = F.cast(F.equal(x, 0), g.dtype), F.cast(F.equal(values, 0), g.dtype)
        x, values = x + no_x, values + no_values  # what is 0 is left out, and counted
        product = apply(
            "scatter_reduce", x, index, values, axis=axis, reduce=reduce, include_self=include_self
        )
        zeros = no_x * own + added(no_values)
        of_x = F.where(F.equal(zeros, no_x), product / x, 0.0)
        of_values = F.where(F.equal(picked(zeros), no_values), picked(product) / values, 0.0)
        return g * of_x * own, None, picked(g) * of_values
    is_own = F.cast(F.equal(x, y), g.dtype) * own
    is_it = F.cast(F.equal(values, picked(y)), g.dtype)
    share = g / F.maximum(is_own + added(is_it), 1.0)
    return share * is_own, None, picked(share) * is_it


define(
    "scatter_reduce",
    doc="x joined with values at places along an axis: by product, minimum or maximum.",
    inputs="x, index, values",
    attributes={"axis": AXIS, "reduce": one_of(*_JOINS), "include_self": True},
    promote=(0, 2),
    raises=IndexError,
    infer=_infer,
    kernel=_kernel,
    gradient=_gradient,
    samples=(
        Sample(((2, 3), (2, 1), (2, 1)), {"axis": 1, "reduce": "mul"}, _DTYPES, 0.5, 2.0),
        Sample(((3,), (4,), (4,)), {"axis": 0, "reduce": "amax"}, _DTYPES, 0, 2),
    ),
)


@public
def put_reduced(x: Any, index: Any, values: Any, axis: int, reduce: str, include_self: bool) -> Any:
    """x joined with values at places along an axis: mean, mul, amin or amax.

    >>> x, places = dy2st.to_tensor([1.0, 5.0]), dy2st.to_tensor([0, 0])
    >>> dy2st.ops.put_reduced(x, places, dy2st.to_tensor([3.0, 2.0]), 0, "amax", True).tolist()
    [3.0, 5.0]
    """
    if reduce != "mean":
        return apply(
            "scatter_reduce", x, index, values, axis=axis, reduce=reduce, include_self=include_self
        )
    total = F.put_along_axis(x, index, values, axis, "add", include_self, broadcast=False)
    count = F.put_along_axis(
        F.ones(shape_of(x), x.dtype),
        index,
        F.ones(shape_of(values), x.dtype),
        axis,
        "add",
        include_self,
        broadcast=False,
    )
    return (F.floor_divide if x.dtype.kind in "iu" else F.divide)(total, count)


__dir__ = public_dir(__name__)
