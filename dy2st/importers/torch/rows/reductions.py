"""Reductions, cumulative functions, orders and counts."""

from __future__ import annotations

from typing import Any

from dy2st.importers.torch.rows.shapes import cut
from dy2st.importers.torch.table import (
    Call,
    Row,
    as_tensor,
    axes_of,
    axis_of,
    is_tensor,
    row,
    rows,
    truth,
)
from dy2st_runtime.dims import product
from dy2st_runtime.ir.dispatch import F


def _reduced(name: str) -> Row:
    """In the dtype of the result; an empty list of axes means all."""

    def record(at: Call, x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
        x = at.cast(x)
        if not x.ndim:
            return getattr(F, name)(F.reshape(x, [1]), [0], keepdim=False)
        return getattr(F, name)(x, axes_of(dim, x.ndim), keepdim=keepdim)

    return record


def _of_all(name: str) -> Row:
    record = _reduced(name)
    return lambda at, x, dtype=None: record(at, x)


rows(
    {
        "sum": _of_all("sum"),
        "sum.dim_IntList": _reduced("sum"),
        "nansum": _reduced("nansum"),
        "mean": _of_all("mean"),
        "mean.dim": _reduced("mean"),
        "nanmean": _reduced("nanmean"),
        "prod": _of_all("prod"),
        "prod.dim_int": _reduced("prod"),
        "amax": _reduced("amax"),
        "amin": _reduced("amin"),
    }
)


@row("aten.logsumexp.default")
def _log_of_sum(at: Call, x: Any, dim: Any, keepdim: bool = False) -> Any:
    x = at.cast(x)
    if x.dtype.kind != "c":
        return _reduced("logsumexp")(at, x, dim, keepdim)
    flat, axes = (x, axes_of(dim, x.ndim)) if x.ndim else (F.reshape(x, [1]), [0])
    most = F.detach(F.amax(F.real(flat), axes, True))
    most = F.cast(F.where(F.isfinite(most), most, F.zeros_like(most)), x.dtype)
    found = F.add(F.log(F.sum(F.exp(F.subtract(flat, most)), axes, keepdim=True)), most)
    return found if keepdim and x.ndim else F.squeeze(found, axes)


def _tested(name: str) -> Row:
    def record(at: Call, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        x = truth(x)
        if not x.ndim:
            return x
        axes = list(range(x.ndim)) if dim is None else axes_of(dim, x.ndim)
        return x if dim == [] else getattr(F, name)(x, axes, keepdim)

    return record


rows({f"{name} {name}.dim {name}.dims": _tested(name) for name in ("all", "any")})


def _extreme(name: str, places: str) -> Row:
    """The values, and the place of the first; the gradient goes there alone."""

    def record(at: Call, x: Any, dim: int, keepdim: bool = False) -> Any:
        if not x.ndim:
            return F.clone(x), F.zeros([], "int64")
        dim = axis_of(dim, x.ndim)
        place = getattr(F, places)(_ordered(x), dim, True)
        value = F.take_along_axis(x, place, dim, broadcast=False)
        return (value, place) if keepdim else (F.squeeze(value, dim), F.squeeze(place, dim))

    return record


def _ordered(x: Any) -> Any:
    return F.cast(x, "uint8") if x.dtype.kind == "b" else x


def _arg(name: str) -> Row:
    def record(at: Call, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        x = _ordered(x)
        if not x.ndim:
            return F.zeros([], "int64")
        if dim is None:
            place = getattr(F, name)(F.reshape(x, [-1]), 0)
            return F.reshape(place, [1] * x.ndim if keepdim else [])
        return getattr(F, name)(x, dim, keepdim)

    return record


rows(
    {
        "max": lambda at, x: at.cast(F.amax(_ordered(x))),
        "min": lambda at, x: at.cast(F.amin(_ordered(x))),
        "max.dim": _extreme("max", "argmax"),
        "min.dim": _extreme("min", "argmin"),
        "argmax": _arg("argmax"),
        "argmin": _arg("argmin"),
        "aminmax": lambda at, x, dim=None, keepdim=False: tuple(
            at.cast(getattr(F, name)(_ordered(x), dim, keepdim) if x.ndim else x)
            for name in ("amin", "amax")
        ),
    }
)


# -- moments ----------------------------------------------------------------------------------


def _variance(at: Call, x: Any, dim: Any, correction: Any, keepdim: bool) -> tuple[Any, Any]:
    """The variance and the mean; NaN where no degree of freedom is left."""
    axes = axes_of(dim, x.ndim)
    flat = x if x.ndim else F.reshape(x, [1])
    axes = axes or [0]
    mean = F.mean(flat, axes, True)
    off = F.subtract(flat, mean)
    squares = F.abs(off) if x.dtype.kind == "c" else off
    total = F.sum(F.multiply(squares, squares), axes, keepdim=True)
    count = product([flat.shape[axis] for axis in axes])
    correction = 1 if correction is None else correction
    if isinstance(correction, float) and not correction.is_integer():
        free = F.subtract(as_tensor(count, total.dtype), as_tensor(correction, total.dtype))
    else:
        free = as_tensor(count - int(correction), total.dtype)
    zero = as_tensor(0, total.dtype)
    found = F.divide(total, F.where(F.greater_than(free, zero), free, zero))
    if not x.ndim:
        return F.reshape(found, []), F.reshape(mean, [])
    return (found, mean) if keepdim else (F.squeeze(found, axes), F.squeeze(mean, axes))


def _moment(is_root: bool, with_mean: bool, is_old: bool) -> Row:
    def record(at: Call, x: Any, *args: Any, **named: Any) -> Any:
        names = ["dim", "unbiased" if is_old else "correction", "keepdim"]
        if is_old and args and isinstance(args[0], bool):
            names = ["unbiased"]
        given = {**dict(zip(names, args, strict=False)), **named}
        correction = int(given.get("unbiased", True)) if is_old else given.get("correction", 1)
        found, mean = _variance(at, x, given.get("dim"), correction, given.get("keepdim", False))
        found = F.sqrt(found) if is_root else found
        return (found, mean) if with_mean else found

    return record


for _full in ("var", "std", "var_mean", "std_mean"):
    _kind = _full.startswith("std"), _full.endswith("mean")
    rows(
        {
            f"{_full} {_full}.dim": _moment(*_kind, is_old=True),
            f"{_full}.correction": _moment(*_kind, is_old=False),
        }
    )


def _vector_norm(
    at: Call, x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Any:
    if dtype is not None:
        x = as_tensor(x, dtype)
    axes = axes_of(dim, x.ndim)
    if not x.ndim:
        x, axes, keepdim = F.reshape(x, [1]), [0], False
    return F.vector_norm(x, float(ord), axes, keepdim)


rows(
    {
        "linalg_vector_norm": _vector_norm,
        "norm.Scalar": lambda at, x, p=2: _vector_norm(at, x, p),
        "norm.ScalarOpt_dim norm.ScalarOpt_dtype norm.ScalarOpt_dim_dtype": (
            lambda at, x, p=2, dim=None, keepdim=False, dtype=None: _vector_norm(
                at, x, 2 if p is None else p, dim, keepdim, dtype
            )
        ),
    }
)


# -- cumulative -------------------------------------------------------------------------------


def _cumulative(name: str) -> Row:
    def record(at: Call, x: Any, dim: int, dtype: Any = None) -> Any:
        x = at.cast(x)
        return getattr(F, name)(x, axis_of(dim, x.ndim)) if x.ndim else x

    return record


def _cumulative_extreme(name: str) -> Row:
    def record(at: Call, x: Any, dim: int) -> Any:
        if not x.ndim:
            return x, F.zeros([], "int64")
        dim = axis_of(dim, x.ndim)
        _, places = getattr(F, name)(_ordered(x), dim)
        return F.take_along_axis(x, places, dim, broadcast=False), places

    return record


rows(
    {name: _cumulative(name) for name in ("cumsum", "cumprod", "logcumsumexp")}
    | {name: _cumulative_extreme(name) for name in ("cummax", "cummin")}
)


# -- orders -----------------------------------------------------------------------------------


def _sorted(at: Call, x: Any, dim: int = -1, descending: bool = False) -> Any:
    if not x.ndim:
        return F.clone(x), F.zeros([], "int64")
    dim = axis_of(dim, x.ndim)
    places = F.argsort(_ordered(x), dim, descending, True)
    return F.take_along_axis(x, places, dim, broadcast=False), places


@row("aten.topk.default")
def _top(at: Call, x: Any, k: Any, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    if not x.ndim:
        return F.clone(x), F.zeros([], "int64")
    return F.topk(x, k, axis_of(dim, x.ndim), largest, sorted)


def _chosen(name: str, **more: Any) -> Row:
    """Values with their places along an axis, where the gradient goes."""

    def record(at: Call, x: Any, *args: Any, dim: Any = None, keepdim: bool = False) -> Any:
        names = ("k", "dim", "keepdim") if name == "kthvalue" else ("dim", "keepdim")
        given = {"dim": dim, "keepdim": keepdim, **dict(zip(names, args, strict=False))}
        if not x.ndim:
            return F.clone(x), F.zeros([], "int64")
        axis = axis_of(-1 if given["dim"] is None else given["dim"], x.ndim)
        first = [given["k"]] if name == "kthvalue" else []
        _, place = getattr(F, name)(x, *first, axis=axis, keepdim=True, **more)
        value = F.take_along_axis(x, place, axis, broadcast=False)
        if given["keepdim"]:
            return value, place
        return F.squeeze(value, axis), F.squeeze(place, axis)

    return record


rows(
    {
        "sort": _sorted,
        "sort.stable": lambda at, x, stable=None, dim=-1, descending=False: _sorted(
            at, x, dim, descending
        ),
        "argsort": lambda at, x, dim=-1, descending=False: _sorted(at, x, dim, descending)[1],
        "argsort.stable": lambda at, x, stable=True, dim=-1, descending=False: _sorted(
            at, x, dim, descending
        )[1],
        "kthvalue": _chosen("kthvalue"),
        "mode": _chosen("mode"),
        "median.dim": _chosen("median", mode="min"),
        "nanmedian.dim": _chosen("nanmedian", mode="min"),
        "median": lambda at, x: F.median(x, mode="min"),
        "nanmedian": lambda at, x: F.nanmedian(x, mode="min"),
    }
)


@row("aten.searchsorted.Tensor", "aten.searchsorted.Scalar")
def _searched(
    at: Call,
    edges: Any,
    x: Any,
    out_int32: bool = False,
    right: bool = False,
    side: Any = None,
    sorter: Any = None,
) -> Any:
    if sorter is not None:
        edges = F.take_along_axis(edges, sorter, -1, broadcast=False)
    x = x if is_tensor(x) else as_tensor(x, edges.dtype)
    shape, flat = x.shape, edges.ndim == 1
    found = F.searchsorted(
        edges, F.reshape(x, [-1]) if flat else x, out_int32, right or side == "right"
    )
    return F.reshape(found, shape)


@row("aten.bucketize.Tensor", "aten.bucketize.Scalar")
def _bucketed(at: Call, x: Any, edges: Any, out_int32: bool = False, right: bool = False) -> Any:
    return _searched(at, edges, x, out_int32, right)


@row("aten.bincount.default")
def _counted(at: Call, x: Any, weights: Any = None, minlength: int = 0) -> Any:
    return F.bincount(x, weights, minlength)


@row("aten.count_nonzero.default", "aten.count_nonzero.dim_IntList")
def _counted_nonzero(at: Call, x: Any, dim: Any = None) -> Any:
    found = F.cast(F.not_equal(x, F.zeros_like(x)), "int64")
    return F.sum(found, axes_of(dim, x.ndim)) if x.ndim else found


def _asked(values: Any, inverse: Any, counts: Any, has_inverse: bool, has_counts: bool) -> Any:
    """What was not asked for is empty."""
    empty = F.zeros([0], "int64")
    return values, inverse if has_inverse else empty, counts if has_counts else empty


@row("aten._unique2.default")
def _unique(
    at: Call,
    x: Any,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> Any:
    values, inverse, counts = F.unique(F.reshape(x, [-1]), return_inverse=True, return_counts=True)
    inverse = F.reshape(inverse, x.shape)
    return _asked(values, inverse, counts, return_inverse, return_counts)


@row("aten.unique_dim.default")
def _unique_rows(
    at: Call,
    x: Any,
    dim: int,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> Any:
    return F.unique(x, return_inverse=True, return_counts=True, axis=axis_of(dim, x.ndim))


@row("aten.unique_consecutive.default")
def _runs(
    at: Call,
    x: Any,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: Any = None,
) -> Any:
    if dim is not None:
        return F.unique_consecutive(x, True, True, axis_of(dim, x.ndim))
    values, inverse, counts = F.unique_consecutive(F.reshape(x, [-1]), True, True, 0)
    inverse = F.reshape(inverse, x.shape)
    return _asked(values, inverse, counts, return_inverse, return_counts)


@row("aten.quantile.default", "aten.quantile.scalar")
def _quantile(
    at: Call, x: Any, q: Any, dim: Any = None, keepdim: bool = False, interpolation: str = "linear"
) -> Any:
    return F.quantile(x, q, dim, keepdim, interpolation)


@row("aten.nanquantile.default", "aten.nanquantile.scalar")
def _nanquantile(
    at: Call, x: Any, q: Any, dim: Any = None, keepdim: bool = False, interpolation: str = "linear"
) -> Any:
    return F.nanquantile(x, q, dim, keepdim, interpolation)


@row("aten.renorm.default")
def _renormed(at: Call, x: Any, p: Any, dim: int, maxnorm: Any) -> Any:
    dim = axis_of(dim, x.ndim)
    axes = [axis for axis in range(x.ndim) if axis != dim]
    norm = F.vector_norm(x, float(p), axes, True) if axes else F.abs(x)
    most = as_tensor(maxnorm, norm.dtype)
    scale = F.divide(most, F.add(norm, as_tensor(1e-7, norm.dtype)))
    scale = F.where(F.greater_than(norm, most), scale, F.ones_like(norm))
    return F.multiply(x, F.cast(scale, x.dtype))


@row("aten.trace.default")
def _trace(at: Call, x: Any) -> Any:
    return F.sum(at.cast(F.diagonal(x)))


@row("aten.diff.default")
def _differences(
    at: Call, x: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None
) -> Any:
    parts = [at.cast(one) for one in (prepend, x, append) if one is not None] if n else [x]
    dim = axis_of(dim, x.ndim)
    made = F.concat(parts, dim) if len(parts) > 1 else parts[0]
    for _ in range(n):
        later, sooner = cut(made, dim, 1, None), cut(made, dim, None, -1)
        made = F.logical_xor(later, sooner) if x.dtype.kind == "b" else F.subtract(later, sooner)
    return made
