# ruff: noqa: E501
"""Which function of ours answers an entry of torch's operator tests, in torch's order of arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dy2st as P

F, L = P.nn.functional, P.linalg


def _pooled(function: Any) -> Any:
    def call(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
             count_include_pad: bool = True, divisor_override: Any = None) -> Any:  # fmt: skip
        if isinstance(padding, tuple) and len(padding) == 1:  # for all axes
            padding = padding[0]
        more = {} if function is F.avg_pool1d else {"divisor_override": divisor_override}
        return _batched(
            x, lambda y: function(y, kernel_size, stride or None, padding, ceil_mode=ceil_mode,
                                  exclusive=not count_include_pad, **more), _rank(function)
        )  # fmt: skip

    return call


def _rank(function: Any) -> int:
    return int(function.__name__[-2]) + 2


def _batched(x: Any, function: Any, rank: int) -> Any:
    """Of a tensor without the axis of a batch, too."""
    if x.ndim == rank:
        return function(x)
    found = function(x.unsqueeze(0))
    if isinstance(found, (list, tuple)):
        return [one.squeeze(0) for one in found]
    return found.squeeze(0)


def _max_pooled(function: Any) -> Any:
    def call(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
             ceil_mode: bool = False, return_indices: bool = False) -> Any:  # fmt: skip
        if dilation not in (1, (1,), (1, 1), (1, 1, 1), [1], [1, 1]):
            raise P.errors.ArgumentError("max_pool has no dilation")
        return _batched(
            x, lambda y: function(y, kernel_size, stride or None, padding, return_indices, ceil_mode),
            _rank(function),
        )  # fmt: skip

    return call


def _adaptive(function: Any) -> Any:
    def call(x: Any, output_size: Any, return_indices: bool = False) -> Any:
        more = (return_indices,) if return_indices else ()
        size = (
            output_size[0]
            if _rank(function) == 3 and isinstance(output_size, tuple)
            else output_size
        )
        return _batched(x, lambda y: function(y, size, *more), _rank(function))

    return call


def _conv(function: Any, transposed: bool = False) -> Any:
    def call(
        x: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        *rest: Any,
        **named: Any,
    ) -> Any:
        names = ("output_padding", "groups", "dilation") if transposed else ("dilation", "groups")
        named |= dict(zip(names, rest, strict=False))
        padding = padding.upper() if isinstance(padding, str) else padding
        lists = {k: list(v) if isinstance(v, tuple) else v for k, v in named.items()}
        stride, padding = (list(v) if isinstance(v, tuple) else v for v in (stride, padding))
        return _batched(
            x, lambda y: function(y, weight, bias, stride, padding, **lists), weight.ndim
        )

    return call


def _norm_like(name: str) -> Any:
    def call(x: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None,
             bias: Any = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5) -> Any:  # fmt: skip
        channels = [x.shape[1]]
        mean = P.zeros(channels, x.dtype) if running_mean is None else running_mean.detach().clone()
        var = P.ones(channels, x.dtype) if running_var is None else running_var.detach().clone()
        training = training or running_mean is None
        return F.batch_norm(x, mean, var, weight, bias, training, 1 - momentum, eps)

    return call


def _instance(x: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None,
              bias: Any = None, use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5) -> Any:  # fmt: skip
    return F.instance_norm(
        x, running_mean, running_var, weight, bias, use_input_stats, 1 - momentum, eps
    )


def _pad(x: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    formats = {3: "NCL", 4: "NCHW", 5: "NCDHW"}
    if mode == "constant":
        return F.pad(x, list(pad), mode, 0.0 if value is None else value, pad_from_left_axis=False)
    rank = len(pad) // 2 + 2
    return _batched(x, lambda y: F.pad(y, list(pad), mode, data_format=formats[rank]), rank)


def _interpolate(x: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
                 align_corners: Any = None, recompute_scale_factor: Any = None, antialias: bool = False) -> Any:  # fmt: skip
    spatial = x.ndim - 2
    size = [size] * spatial if isinstance(size, int) else size
    more = {"recompute_scale_factor": recompute_scale_factor}
    formats = {3: "NCW", 4: "NCHW", 5: "NCDHW"}
    return F.interpolate(
        x, size, scale_factor, mode, bool(align_corners), 0, formats[x.ndim], **more
    )


def _div(x: Any, y: Any, rounding_mode: Any = None) -> Any:
    return P.divide(x, y, rounding_mode=rounding_mode)


def _var(function: Any) -> Any:
    def call(x: Any, *args: Any, **named: Any) -> Any:
        names = ("dim", "unbiased", "keepdim")
        if args and isinstance(args[0], bool):
            names = ("unbiased",)
        named = {**dict(zip(names, args, strict=False)), **named}
        correction = named.pop("correction", None)
        if correction is None:
            correction = int(named.pop("unbiased", True))
        return function(
            x, named.get("dim"), None, named.get("keepdim", False), correction=correction
        )

    return call


def _reduced(function: Any) -> Any:
    """max, min: of all elements, of pairs, or along an axis with the places."""
    name = "maximum" if function is P.max else "minimum"
    places = P.argmax if function is P.max else P.argmin

    def call(x: Any, *args: Any, **named: Any) -> Any:
        if args and isinstance(args[0], P.Tensor) or "other" in named:
            return getattr(P, name)(x, args[0] if args else named["other"])
        if not args and "dim" not in named:
            return function(x)
        named = {**dict(zip(("dim", "keepdim"), args, strict=False)), **named}
        dim, keepdim = named["dim"], named.get("keepdim", False)
        return function(x, dim, keepdim), places(x, dim, keepdim)

    return call


def _added(name: str, beta_first: Any) -> Any:
    def call(x: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Any:
        product = beta_first(a, b) * alpha
        return product if beta == 0 else x * beta + product

    return call


def _loss(function: Any, **more: Any) -> Any:
    def call(*args: Any, reduction: str = "mean", **named: Any) -> Any:
        named = {k: v for k, v in named.items() if k not in ("size_average", "reduce")}
        return function(*args, reduction=reduction, **named, **more)

    return call


def _cross_entropy(x: Any, y: Any, weight: Any = None, size_average: Any = None, ignore_index: int = -100,
                   reduce: Any = None, reduction: str = "mean", label_smoothing: float = 0.0) -> Any:  # fmt: skip
    soft = y.dtype.kind == "f"
    axis = 1 if x.ndim > 1 else 0
    if not soft:
        y = y.astype("int64")
    found = F.cross_entropy(
        x, y, weight, ignore_index, reduction, soft, axis, True, label_smoothing
    )
    return found.squeeze(axis) if soft and reduction == "none" else found


def _unfold(x: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    listed = [
        list(v) if isinstance(v, tuple) else v for v in (kernel_size, stride, padding, dilation)
    ]
    return _batched(x, lambda y: F.unfold(y, *listed), 4)


def _std_mean(function: Any) -> Any:
    def call(x: Any, *args: Any, **named: Any) -> Any:
        dims = args[0] if args and not isinstance(args[0], bool) else named.get("dim")
        keepdim = args[2] if len(args) > 2 else named.get("keepdim", False)
        return _var(function)(x, *args, **named), P.mean(x, dims, keepdim)

    return call


def _cast(dtype: str) -> Any:
    return lambda x, **_: P.cast(x, dtype)


def _norm(x: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    if (
        p != "nuc"
        and dim is not None
        and len(dim if isinstance(dim, (tuple, list)) else [dim]) == 2
    ):
        return L.vector_norm(x, 2.0 if p in ("fro", None) else p, list(dim), keepdim)
    dim = list(dim) if isinstance(dim, tuple) else dim
    return P.norm(x, 2.0 if p in ("fro", None) and dim is None else p, dim, keepdim, dtype)


def _lists(function: Any, at: int = 0) -> Any:
    """Tensors one by one, which we take as a list."""
    return lambda *tensors, **named: function(list(tensors), **named)


def _scatter(x: Any, dim: int, index: Any, src: Any, reduce: Any = None) -> Any:
    names = {None: "assign", "add": "add", "multiply": "mul"}
    src = src if isinstance(src, P.Tensor) else P.full(index.shape, src, x.dtype)
    src = src[tuple(slice(size) for size in index.shape)]
    return P.put_along_axis(x, index, src, dim, names[reduce], broadcast=False)


def _scatter_reduce(
    x: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool = True
) -> Any:
    names = {"sum": "add", "prod": "mul", "mean": "mean", "amax": "amax", "amin": "amin"}
    if not x.ndim:
        shaped = (P.reshape(one, [1]) for one in (x, index, src))
        return _scatter_reduce(
            next(shaped), dim, next(shaped), next(shaped), reduce, include_self
        ).reshape([])
    src = src[tuple(slice(size) for size in index.shape)]
    return P.put_along_axis(x, index, src, dim, names[reduce], include_self, broadcast=False)


def _gather(x: Any, dim: int, index: Any, sparse_grad: bool = False) -> Any:
    return P.take_along_axis(x, index, dim, broadcast=False)


def _repeat(x: Any, *sizes: Any) -> Any:
    return P.tile(
        x,
        list(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else list(sizes),
    )


def _softmax(function: Any) -> Any:
    def call(x: Any, dim: Any = None, dtype: Any = None, **_: Any) -> Any:
        return function(x, dim, dtype=dtype)

    return call


def _full_like(x: Any, value: Any, **named: Any) -> Any:
    return P.full_like(x, value, **_plain(named))


def _plain(named: Any) -> Any:
    return {key: value for key, value in named.items() if key in ("dtype",)}


def _made(function: Any) -> Any:
    return lambda x, size=None, *args, **named: function(
        list(size), *args, dtype=named.get("dtype") or x.dtype
    )


def _right(function: Any) -> Any:
    return lambda x, y: function(y if isinstance(y, P.Tensor) else P.to_tensor(y), x)


def _clamp(x: Any, min: Any = None, max: Any = None) -> Any:
    if isinstance(min, P.Tensor) or isinstance(max, P.Tensor):
        x = x if min is None else P.maximum(x, min)
        return x if max is None else P.minimum(x, max)
    return P.clip(x, min, max)


def _ordered(x: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    return P.sort(x, dim, descending, True), P.argsort(x, dim, descending, True)


def _same(x: Any, *_: Any, **__: Any) -> Any:
    return x + 0 if x.dtype.kind != "b" else P.logical_or(x, x)


def _tolerances(function: Any) -> Any:
    return lambda x, y, rtol=1e-5, atol=1e-8, equal_nan=False: function(x, y, rtol, atol, equal_nan)


def _diagonal(x: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    return P.diagonal(x, offset, dim1, dim2)


def _images(x: Any, function: Any) -> Any:
    """Of images with any number of axes of a batch before them."""
    found = function(x.reshape([-1, *x.shape[-3:]]) if 0 not in x.shape else x)
    return found.reshape([*x.shape[:-3], *found.shape[1:]])


def _pinv(
    x: Any, y: Any = None, *, rtol: Any = None, atol: Any = None, hermitian: bool = False
) -> Any:
    if y is not None:
        x = P.matmul(x, y.mT)
    return L.pinv(x, 1e-15 if rtol is None else rtol, hermitian)


def _cov(x: Any, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    if correction > 1:
        raise P.errors.ArgumentError("cov divides by n or n - 1")
    return L.cov(x, True, bool(correction), fweights, aweights)


def _meshgrid(*tensors: Any, indexing: str = "ij") -> Any:
    """Of the first two exchanged, and their axes back, for 'xy'."""
    given = list(tensors[0]) if isinstance(tensors[0], (list, tuple)) else list(tensors)
    if indexing == "ij" or len(given) < 2:
        return P.meshgrid(given)
    made = P.meshgrid([given[1], given[0], *given[2:]])
    return [made[1], made[0], *made[2:]]


def _split(x: Any, size: Any, dim: int) -> Any:
    if not isinstance(size, int):
        return P.split(x, list(size), dim)
    whole = x.shape[dim]
    if not whole:
        return [x]
    return P.split(x, [min(size, whole - start) for start in range(0, whole, size)], dim)


def _chunks(x: Any, count: int, dim: int) -> Any:
    return _split(x, max(-(-x.shape[dim] // count), 1), dim)


def _xlogy(x: Any, y: Any, log: Any) -> Any:
    x, y = (one if isinstance(one, P.Tensor) else P.to_tensor(one, "float64") for one in (x, y))
    product = x * log(y)
    return P.where(P.logical_and(x == 0, P.logical_not(P.isnan(y))), P.zeros_like(product), product)


def _entropy(x: Any) -> Any:
    none = P.where(x == 0, P.zeros_like(x), P.full_like(x, -float("inf")))
    return P.where(
        x > 0, -x * P.log(P.where(x > 0, x, P.ones_like(x))), P.where(P.isnan(x), x, none)
    )


SPECIAL: dict[str, Callable[..., Any]] = {
    "H": lambda x: P.conj(x).t() if x.dtype.kind == "c" else x.t(),
    "T": lambda x: x.T,
    "mH": lambda x: P.conj(x).mT if x.dtype.kind == "c" else x.mT,
    "mT": lambda x: x.mT,
    "__getitem__": lambda x, i: x[tuple(i) if isinstance(i, list) and any(not isinstance(v, int) for v in i) else i],
    "__radd__": lambda x, y: y + x,
    "__rand__": lambda x, y: P.bitwise_and(x, P.to_tensor(y)) if not isinstance(y, P.Tensor) else y & x,
    "__rdiv__": lambda x, y: y / x,
    "__rmatmul__": lambda x, y: P.matmul(y, x),
    "__rmod__": lambda x, y: y % x,
    "__rmul__": lambda x, y: y * x,
    "__ror__": lambda x, y: P.bitwise_or(x, P.to_tensor(y)) if not isinstance(y, P.Tensor) else y | x,
    "__rpow__": lambda x, y: y**x,
    "__rsub__": lambda x, y: y - x,
    "__rxor__": lambda x, y: P.bitwise_xor(x, P.to_tensor(y)) if not isinstance(y, P.Tensor) else y ^ x,
    "rsub": lambda x, y, alpha=1: y - x * alpha,
    "add": lambda x, y, alpha=1: P.add(x, y, alpha=alpha),
    "sub": lambda x, y, alpha=1: P.subtract(x, y, alpha=alpha),
    "mul": P.multiply,
    "div": _div,
    "true_divide": P.divide,
    "addbmm": _added("addbmm", lambda a, b: P.bmm(a, b).sum(0)),
    "addmm": lambda x, a, b, beta=1, alpha=1: P.addmm(x, a, b, beta, alpha),
    "addmv": _added("addmv", P.mv),
    "addr": _added("addr", P.outer),
    "baddbmm": lambda x, a, b, beta=1, alpha=1: P.baddbmm(x, a, b, beta, alpha),
    "addcdiv": lambda x, a, b, value=1: x + value * (a / b),
    "addcmul": lambda x, a, b, value=1: x + value * (a * b),
    "alias_copy": _same, "clone": _same, "contiguous": _same, "resolve_conj": _same,
    "resolve_neg": _same, "aminmax": lambda x, dim=None, keepdim=False: (P.amin(x, dim, keepdim), P.amax(x, dim, keepdim)),
    "amax": lambda x, dim=None, keepdim=False: P.amax(x, dim or None if dim == () else dim, keepdim),
    "amin": lambda x, dim=None, keepdim=False: P.amin(x, dim or None if dim == () else dim, keepdim),
    "max": _reduced(P.max), "min": _reduced(P.min),
    "atleast_1d": P.atleast_1d,
    "allclose": _tolerances(P.allclose), "isclose": _tolerances(P.isclose),
    "arange": P.arange,
    "argwhere": lambda x: P.nonzero(x),
    "bool": _cast("bool"), "byte": _cast("uint8"), "char": _cast("int8"), "short": _cast("int16"),
    "int": _cast("int32"), "long": _cast("int64"), "half": _cast("float16"), "float": _cast("float32"),
    "double": _cast("float64"), "bfloat16": _cast("bfloat16"), "cfloat": _cast("complex64"),
    "cdouble": _cast("complex128"),
    "block_diag": _lists(P.block_diag), "broadcast_tensors": _lists(P.broadcast_tensors),
    "cartesian_prod": _lists(P.cartesian_prod), "meshgrid": _meshgrid,
    "bitwise_left_shift": P.bitwise_left_shift, "bitwise_right_shift": P.bitwise_right_shift,
    "bucketize": lambda x, b, out_int32=False, right=False: P.bucketize(x, b, out_int32, right),
    "cat": lambda x, dim=0: P.concat(list(x), dim), "cdist": lambda x, y, p=2.0, compute_mode=None: P.cdist(x, y, p),
    "clamp": _clamp, "clamp_max": lambda x, m: _clamp(x, None, m), "clamp_min": lambda x, m: _clamp(x, m),
    "combinations": lambda x, r=2, with_replacement=False: P.combinations(x, r, with_replacement),
    "conj_physical": P.conj, "copysign": P.copysign,
    "constant_pad_nd": lambda x, pad, value=0: _pad(x, pad, "constant", value),
    "count_nonzero": lambda x, dim=None: P.count_nonzero(x, list(dim) if isinstance(dim, tuple) else dim),
    "cov": _cov,
    "cross": lambda x, y, dim=None: P.cross(x, y, 9 if dim is None else dim),
    "cumprod": lambda x, dim, dtype=None: P.cumprod(x, dim, dtype),
    "diag": lambda x, diagonal=0: P.diag(x, diagonal), "diff": lambda x, n=1, dim=-1, prepend=None, append=None: P.diff(x, n, dim, prepend, append),
    "diagonal": _diagonal, "diagonal_copy": _diagonal, "dist": P.dist, "einsum": lambda eq, x: P.einsum(eq, *x) if isinstance(eq, str) else P.einsum(x, *eq),
    "equal": P.equal_all, "eq": P.equal, "ne": P.not_equal, "ge": P.greater_equal, "gt": P.greater_than,
    "le": P.less_equal, "lt": P.less_than, "erfc": lambda x: P.erfc(x) if hasattr(P, "erfc") else 1 - P.erf(x),
    "exp2": lambda x: P.exp2(x) if hasattr(P, "exp2") else P.pow(2.0, x.astype("float64") if x.dtype.kind in "iub" else x),
    "expand": lambda x, *s: P.expand(x, list(s[0]) if isinstance(s[0], (tuple, list)) else list(s)),
    "expand_copy": lambda x, *s: P.expand(x, list(s[0]) if isinstance(s[0], (tuple, list)) else list(s)),
    "eye": lambda n, m=None, **k: P.eye(n, m, **_plain(k)),
    "fill": lambda x, value: P.full_like(x, value) if not isinstance(value, P.Tensor) else P.zeros_like(x) + value.astype(x.dtype) if x.dtype.kind != "b" else P.logical_or(P.zeros_like(x), value),
    "flatten": lambda x, start_dim=0, end_dim=-1: P.flatten(x, start_dim, end_dim),
    "flip": lambda x, dims: P.flip(x, list(dims)),
    "fliplr": lambda x: P.flip(x, [1]), "flipud": lambda x: P.flip(x, [0]),
    "float_power": lambda x, y: P.pow(P.cast(x, "float64") if isinstance(x, P.Tensor) and x.dtype.kind != "c" else x, P.cast(y, "float64") if isinstance(y, P.Tensor) and y.dtype.kind != "c" else y),
    "fmod": lambda x, y: x - P.divide(x, y if isinstance(y, P.Tensor) else P.to_tensor(y, x.dtype), rounding_mode="trunc") * y,
    "full": lambda size, value, **k: P.full(list(size), value, k.get("dtype") or ("float32" if isinstance(value, float) else None)),
    "full_like": _full_like, "gather": _gather, "gradient": None, "heaviside": P.heaviside,
    "histc": lambda x, bins=100, min=0, max=0: P.histogram(x, bins, min, max).astype(x.dtype),
    "igamma": lambda x, y: P.gammainc(x, y), "igammac": lambda x, y: P.gammaincc(x, y),
    "index_add": lambda x, dim, index, source, alpha=1: P.index_add(x.reshape([1]) if not x.ndim else x, index.reshape([-1]), dim, source.reshape([1]) if not source.ndim else source, alpha).reshape(x.shape),
    "index_copy": lambda x, dim, index, source: P.index_put(P.moveaxis(x, dim, 0), (index,), P.moveaxis(source, dim, 0)).moveaxis(0, dim) if x.ndim else source.reshape([]),
    "index_fill": lambda x, dim, index, value: P.index_fill(x.reshape([1]) if not x.ndim else x, index.reshape([-1]), dim, value).reshape(x.shape),
    "index_put": lambda x, i, v, accumulate=False: P.index_put(x, i, v, accumulate),
    "index_select": lambda x, dim, index: P.index_select(x if x.ndim else x.reshape([1]), index.reshape([-1]), dim).reshape([-1] if not x.ndim else [*x.shape[:dim % x.ndim], index.size, *x.shape[dim % x.ndim + 1:]]) if x.ndim else x,
    "isin": lambda x, y, assume_unique=False, invert=False: P.isin(x, y, assume_unique, invert),
    "item": lambda x: x.item() if isinstance(x, P.Tensor) and not hasattr(x, "maker") else x,
    "kthvalue": lambda x, k, dim=-1, keepdim=False: P.kthvalue(x, k, dim, keepdim),
    "linspace": lambda a, b, n, **k: P.linspace(a, b, n, **_plain(k)), "logspace": lambda a, b, n, base=10.0, **k: P.logspace(a, b, n, base, **_plain(k)),
    "log_softmax": _softmax(F.log_softmax), "softmax": _softmax(F.softmax), "torch.ops.aten._safe_softmax.default": None,
    "logaddexp2": lambda x, y: P.logaddexp(x * np.log(2), y * np.log(2)) / np.log(2),
    "logdet": lambda x: P.log(L.det(x)), "linalg.vander": None,
    "masked_fill": P.masked_fill, "masked_scatter": P.masked_scatter,
    "mean": lambda x, dim=None, keepdim=False, dtype=None: P.mean(x, dim, keepdim, dtype=dtype),
    "median": lambda x, *a, **k: P.median(x, *a, mode="min", **k) if not (a or k) else P.median(x, *a, mode="min", **k),
    "nanmedian": lambda x, *a, **k: P.nanmedian(x, *a, mode="min", **k),
    "movedim": P.moveaxis, "mvlgamma": lambda x, p: P.multigammaln(x, p),
    "nansum": lambda x, dim=None, keepdim=False, dtype=None: P.nansum(x, dim, dtype, keepdim),
    "narrow": lambda x, dim, start, length: P.narrow(x, dim, start, length) if hasattr(P, "narrow") else P.slice(x, [dim], [start], [start + length]),
    "narrow_copy": lambda x, dim, start, length: P.slice(x, [dim], [start], [start + length]),
    "new_full": lambda x, size, v, **k: P.full(list(size), v, k.get("dtype") or x.dtype),
    "new_ones": _made(P.ones), "new_zeros": _made(P.zeros), "norm": _norm,
    "ones": lambda *s, **k: P.ones(list(s[0]) if isinstance(s[0], (tuple, list)) else list(s), **_plain(k)),
    "zeros": lambda *s, **k: P.zeros(list(s[0]) if isinstance(s[0], (tuple, list)) else list(s), **_plain(k)),
    "permute": lambda x, *d: P.transpose(x, list(d[0]) if isinstance(d[0], (tuple, list)) else list(d)),
    "permute_copy": lambda x, *d: P.transpose(x, list(d[0]) if isinstance(d[0], (tuple, list)) else list(d)),
    "pinverse": lambda x, rcond=1e-15: L.pinv(x, rcond), "polygamma": lambda x, n: P.polygamma(x, n), "special.polygamma": lambda x, n: P.polygamma(x, n),
    "polar": P.polar, "positive": P.positive, "prod": lambda x, dim=None, keepdim=False, dtype=None: P.prod(x, dim, keepdim, dtype),
    "put": None, "quantile": lambda x, q, dim=None, keepdim=False, interpolation="linear": P.quantile(x, q, dim, keepdim, interpolation),
    "nanquantile": lambda x, q, dim=None, keepdim=False, interpolation="linear": P.nanquantile(x, q, dim, keepdim, interpolation),
    "renorm": P.renorm, "repeat": _repeat, "tile": lambda x, *s: _repeat(x, *s),
    "repeat_interleave": lambda x, repeats, dim=None, output_size=None: P.repeat_interleave(x, repeats, dim),
    "reshape_as": lambda x, y: P.reshape(x, y.shape), "view_as": lambda x, y: P.reshape(x, y.shape),
    "view": lambda x, *s: P.reshape(x, list(s[0]) if isinstance(s[0], (tuple, list)) else list(s)) if not isinstance(s[0], str) else P.view(x, s[0]),
    "view_copy": lambda x, *s: P.reshape(x, list(s[0]) if isinstance(s[0], (tuple, list)) else list(s)) if not isinstance(s[0], str) else P.view(x, s[0]),
    "reshape": lambda x, *s: P.reshape(x, list(s[0]) if isinstance(s[0], (tuple, list)) else list(s)),
    "roll": lambda x, shifts, dims=None: P.roll(x, shifts, None if dims is None or dims == () else dims),
    "rot90": lambda x, k=1, dims=(0, 1): P.rot90(x, k, list(dims)), "round": lambda x, decimals=0: P.round(x, decimals) if decimals else P.round(x),
    "scalar_tensor": lambda v, **k: P.to_tensor(v, **_plain(k)), "scatter": _scatter, "scatter_add": lambda x, d, i, s: _scatter(x, d, i, s, "add") if x.ndim else x + s,
    "scatter_reduce": _scatter_reduce, "searchsorted": lambda s, v, out_int32=False, right=False, side=None, sorter=None: P.searchsorted(s if sorter is None else P.take_along_axis(s, sorter, -1), v, out_int32, right or side == "right"),
    "select": lambda x, dim, i: P.index_select(x, P.to_tensor([i % x.shape[dim]]), dim).squeeze(dim),
    "select_scatter": lambda x, v, dim, i: P.select_scatter(x, v, dim, i), "slice": lambda x, dim=0, start=0, end=None, step=1: P.strided_slice(x, [dim], [start or 0], [2**31 - 1 if end is None else end], [step]),
    "slice_scatter": lambda x, v, dim=0, start=None, end=None, step=1: P.slice_scatter(x, v, [dim], [start or 0], [x.shape[dim] if end is None else end], [step]),
    "sort": _ordered, "msort": lambda x: P.sort(x, 0), "split": lambda x, n, dim=0: _split(x, n, dim),
    "split_with_sizes": lambda x, n, dim=0: P.split(x, list(n), dim), "split_with_sizes_copy": lambda x, n, dim=0: P.split(x, list(n), dim),
    "unsafe_split": lambda x, n, dim=0: _split(x, n, dim), "chunk": lambda x, n, dim=0: _chunks(x, n, dim), "unsafe_chunk": lambda x, n, dim=0: _chunks(x, n, dim),
    "square": P.square, "squeeze": lambda x, *d: P.squeeze(x, list(d[0]) if d and isinstance(d[0], tuple) else d[0] if d else None), "squeeze_copy": lambda x, *d: P.squeeze(x, d[0] if d else None),
    "stack": lambda x, dim=0: P.stack(list(x), dim), "std": _var(P.std), "var": _var(P.var), "std_mean": _std_mean(P.std), "var_mean": _std_mean(P.var),
    "sum": lambda x, dim=None, keepdim=False, dtype=None: P.sum(x, dim, dtype, keepdim), "sum_to_size": lambda x, *s: P.reduce_as(x, P.zeros(list(s[0]) if isinstance(s[0], (tuple, list)) else list(s))),
    "t": P.t, "t_copy": P.t, "take": P.take, "take_along_dim": lambda x, i, dim=None: P.take_along_axis(x.flatten(), i.flatten(), 0) if dim is None else P.take_along_axis(x, i, dim),
    "tensordot": lambda x, y, dims=2: P.tensordot(x, y, dims), "to": None, "topk": lambda x, k, dim=-1, largest=True, sorted=True: P.topk(x, k, dim, largest, sorted),
    "transpose": P.swapaxes, "transpose_copy": P.swapaxes, "trapz": lambda y, x=None, dim=-1, dx=None: P.trapezoid(y, x, dx, dim), "trapezoid": lambda y, x=None, dim=-1, dx=None: P.trapezoid(y, x, dx, dim),
    "cumulative_trapezoid": lambda y, x=None, dim=-1, dx=None: P.cumulative_trapezoid(y, x, dx, dim),
    "tril_indices": lambda r, c, offset=0, **k: P.tril_indices(r, c, offset), "triu_indices": lambda r, c, offset=0, **k: P.triu_indices(r, c, offset),
    "unbind": lambda x, dim=0: P.unbind(x, dim), "unbind_copy": lambda x, dim=0: P.unbind(x, dim), "unflatten": lambda x, dim, sizes: P.unflatten(x, dim, list(sizes)),
    "unfold": lambda x, dim, size, step: P.unfold(x, dim, size, step) if x.ndim else x.reshape([1]), "unfold_copy": lambda x, dim, size, step: P.unfold(x, dim, size, step) if x.ndim else x.reshape([1]),
    "unique_consecutive": lambda x, return_inverse=False, return_counts=False, dim=None: P.unique_consecutive(x, return_inverse, return_counts, dim),
    "unique": lambda x, sorted=True, return_inverse=False, return_counts=False, dim=None: P.unique(x, False, return_inverse, return_counts, dim),
    "unsqueeze_copy": P.unsqueeze, "vdot": lambda x, y: P.sum((P.conj(x) if x.dtype.kind == "c" else x) * y), "where": lambda x, condition, y: P.where(condition, x, y),
    "xlogy": lambda x, y: _xlogy(x, y, P.log), "special.xlog1py": lambda x, y: _xlogy(x, y, P.log1p), "zero_": lambda x: P.zeros_like(x), "hypot": P.hypot,
    "linalg.vecdot": lambda x, y, dim=-1: P.vecdot(x, y, dim), "linalg.cross": lambda x, y, dim=-1: P.cross(x, y, dim), "linalg.diagonal": lambda x, offset=0, dim1=-2, dim2=-1: _diagonal(x, offset, dim1, dim2),
    "linalg.norm": lambda x, ord=None, dim=None, keepdim=False, dtype=None: L.norm(x, ord, list(dim) if isinstance(dim, tuple) else dim, keepdim) if dim is not None or ord is None else L.norm(x, ord, [0, 1] if x.ndim == 2 else None, keepdim),
    "linalg.matrix_norm": lambda x, ord="fro", dim=(-2, -1), keepdim=False, dtype=None: L.matrix_norm(x, ord, list(dim), keepdim),
    "linalg.vector_norm": lambda x, ord=2, dim=None, keepdim=False, dtype=None: L.vector_norm(x, ord, list(dim) if isinstance(dim, tuple) and dim else None if dim == () else dim, keepdim),
    "linalg.solve_triangular": lambda a, b, upper, left=True, unitriangular=False: L.triangular_solve(a, b, upper, False, unitriangular) if left else L.triangular_solve(a.mT, b.mT, not upper, False, unitriangular).mT, "triangular_solve": lambda b, a, upper=True, transpose=False, unitriangular=False: (L.triangular_solve(a, b, upper, transpose, unitriangular), a + 0),
    "linalg.svd": None, "linalg.eig": None, "linalg.eigh": None, "svd": None, "linalg.qr": lambda x, mode="reduced": L.qr(x, mode), "qr": lambda x, some=True: L.qr(x, "reduced" if some else "complete"), "linalg.tensorinv": None,
    "linalg.multi_dot": lambda x: L.multi_dot(list(x)), "linalg.matrix_rank": lambda x, tol=None, hermitian=False, **k: L.matrix_rank(x, tol, hermitian, **k), "linalg.cholesky": lambda x, upper=False: L.cholesky(x, upper), "cholesky": lambda x, upper=False: L.cholesky(x, upper), "linalg.cholesky_ex": lambda x, upper=False, check_errors=False: (L.cholesky(x, upper), P.zeros(x.shape[:-2], "int32")), "linalg.inv_ex": lambda x, check_errors=False: (L.inv(x), P.zeros(x.shape[:-2], "int32")),
    "linalg.solve_ex": lambda x, y, left=True, check_errors=False: (L.solve(x, y, left), P.zeros(x.shape[:-2], "int32")), "linalg.slogdet": lambda x: list(P.unbind(L.slogdet(x), 0)), "cholesky_solve": lambda x, y, upper=False: L.cholesky_solve(x, y, upper), "linalg.pinv": _pinv, "lu_unpack": None, "linalg.lu_factor": None, "linalg.lu_solve": None, "lu": None, "linalg.lu": None, "linalg.lstsq": None,
    "nn.functional.conv1d": _conv(F.conv1d), "nn.functional.conv2d": _conv(F.conv2d), "nn.functional.conv3d": _conv(F.conv3d), "nn.functional.conv_transpose1d": _conv(F.conv1d_transpose, True), "nn.functional.conv_transpose2d": _conv(F.conv2d_transpose, True), "nn.functional.conv_transpose3d": _conv(F.conv3d_transpose, True),
    **{f"nn.functional.avg_pool{n}d": _pooled(getattr(F, f"avg_pool{n}d")) for n in (1, 2, 3)}, **{f"nn.functional.max_pool{n}d": _max_pooled(getattr(F, f"max_pool{n}d")) for n in (1, 2, 3)},
    **{f"nn.functional.adaptive_{kind}_pool{n}d": _adaptive(getattr(F, f"adaptive_{kind}_pool{n}d")) for n in (1, 2, 3) for kind in ("avg", "max")}, **{f"nn.functional.max_unpool{n}d": None for n in (1, 2, 3)},
    "nn.functional.batch_norm": _norm_like("batch_norm"), "nn.functional.instance_norm": _instance, "nn.functional.group_norm": lambda x, n, weight=None, bias=None, eps=1e-5: F.group_norm(x, n, eps, weight, bias), "nn.functional.layer_norm": lambda x, s, weight=None, bias=None, eps=1e-5: F.layer_norm(x, list(s), weight, bias, eps), "nn.functional.rms_norm": lambda x, s, weight=None, eps=None: F.rms_norm(x, list(s), weight, 2.220446049250313e-16 if eps is None else eps)[0],
    "nn.functional.pad": _pad, "nn.functional.interpolate": _interpolate, "nn.functional.upsample_nearest": lambda x, size=None, scale_factor=None: _interpolate(x, size, scale_factor), "nn.functional.upsample_bilinear": lambda x, size=None, scale_factor=None: _interpolate(x, size, scale_factor, "bilinear", True),
    "nn.functional.unfold": _unfold, "nn.functional.cross_entropy": _cross_entropy, "nn.functional.nll_loss": lambda x, y, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean": F.nll_loss(x, y, weight, ignore_index, reduction), "nn.functional.softmin": _softmax(lambda x, dim, dtype: F.softmax(-x, dim, dtype=dtype)), "nn.functional.threshold": lambda x, t, v, inplace=False: F.thresholded_relu(x, t, v),
    "nn.functional.huber_loss": _loss(lambda x, y, reduction="mean", delta=1.0: F.smooth_l1_loss(x, y, reduction, delta)), "nn.functional.smooth_l1_loss": lambda x, y, reduction="mean", beta=1.0: F.smooth_l1_loss(x, y, reduction, beta, is_huber=False) if beta else F.l1_loss(x, y, reduction), "nn.functional.multilabel_margin_loss": _loss(F.multi_label_margin_loss), "nn.functional.multilabel_soft_margin_loss": _loss(F.multi_label_soft_margin_loss), "nn.functional.multi_margin_loss": _loss(F.multi_margin_loss),
    "nn.functional.binary_cross_entropy": _loss(F.binary_cross_entropy), "nn.functional.mse_loss": _loss(F.mse_loss), "nn.functional.l1_loss": _loss(F.l1_loss), "nn.functional.kl_div": _loss(F.kl_div), "nn.functional.soft_margin_loss": _loss(F.soft_margin_loss), "nn.functional.poisson_nll_loss": lambda x, y, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean": F.poisson_nll_loss(x, y, log_input, full, eps, reduction), "nn.functional.gaussian_nll_loss": lambda x, y, var, full=False, eps=1e-6, reduction="mean": F.gaussian_nll_loss(x, y, var, full, eps, reduction), "nn.functional.hinge_embedding_loss": lambda x, y, margin=1.0, size_average=None, reduce=None, reduction="mean": F.hinge_embedding_loss(x, y, margin, reduction), "nn.functional.margin_ranking_loss": lambda a, b, y, margin=0, reduction="mean": F.margin_ranking_loss(a, b, y, margin, reduction), "nn.functional.cosine_embedding_loss": lambda a, b, y, margin=0, reduction="mean": F.cosine_embedding_loss(a, b, y, margin, reduction), "nn.functional.triplet_margin_loss": lambda a, b, c, margin=1.0, p=2, eps=1e-6, swap=False, reduction="mean": F.triplet_margin_loss(a, b, c, margin, p, eps, swap, reduction), "nn.functional.triplet_margin_with_distance_loss": None, "nn.functional.ctc_loss": lambda x, y, n, m, blank=0, reduction="mean", zero_infinity=False: F.ctc_loss(x, y, P.to_tensor(n) if not isinstance(n, P.Tensor) else n, P.to_tensor(m) if not isinstance(m, P.Tensor) else m, blank, reduction),
    "nn.functional.embedding": lambda w, i, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False: F.embedding(i, w, padding_idx, max_norm, norm_type), "nn.functional.prelu": F.prelu, "nn.functional.leaky_relu": lambda x, s=0.01, inplace=False: F.leaky_relu(x, s), "nn.functional.gelu": lambda x, approximate="none": F.gelu(x, approximate == "tanh"), "nn.functional.hardtanh": lambda x, min_val=-1.0, max_val=1.0, inplace=False: F.hardtanh(x, min_val, max_val), "nn.functional.hardsigmoid": lambda x, inplace=False: F.hardsigmoid(x), "nn.functional.hardswish": lambda x, inplace=False: F.hardswish(x), "nn.functional.elu": lambda x, alpha=1.0, inplace=False: F.elu(x, alpha), "nn.functional.celu": lambda x, alpha=1.0, inplace=False: F.celu(x, alpha), "nn.functional.selu": lambda x, inplace=False: F.selu(x), "nn.functional.silu": lambda x, inplace=False: F.silu(x), "nn.functional.mish": lambda x, inplace=False: F.mish(x), "nn.functional.relu": lambda x, inplace=False: F.relu(x), "nn.functional.relu6": lambda x, inplace=False: F.relu6(x), "nn.functional.glu": lambda x, dim=-1: F.glu(x, dim), "nn.functional.linear": lambda x, w, b=None: P.matmul(x, w.t()) + (0 if b is None else b) if w.ndim == 2 else P.matmul(x, w) + (0 if b is None else b), "nn.functional.normalize": lambda x, p=2.0, dim=1, eps=1e-12: F.normalize(x, p, dim, eps), "nn.functional.cosine_similarity": lambda x, y, dim=1, eps=1e-8: F.cosine_similarity(x, y, dim, eps), "nn.functional.pairwise_distance": lambda x, y, p=2.0, eps=1e-6, keepdim=False: F.pairwise_distance(x, y, p, eps, keepdim), "nn.functional.pdist": lambda x, p=2.0: P.pdist(x, p), "nn.functional.one_hot": lambda x, num_classes=-1: F.one_hot(x, num_classes).astype("int64"), "nn.functional.grid_sample": lambda x, g, mode="bilinear", padding_mode="zeros", align_corners=False: F.grid_sample(x, g, mode, padding_mode, bool(align_corners)), "nn.functional.local_response_norm": lambda x, n, alpha=1e-4, beta=0.75, k=1.0: F.local_response_norm(x, n, alpha, beta, k), "nn.functional.scaled_dot_product_attention": None, "nn.functional.multi_head_attention_forward": None,
    "nn.functional.pixel_shuffle": lambda x, upscale_factor: _images(x, lambda y: F.pixel_shuffle(y, upscale_factor)), "nn.functional.pixel_unshuffle": lambda x, downscale_factor: _images(x, lambda y: F.pixel_unshuffle(y, downscale_factor)), "nn.functional.channel_shuffle": None, "stft": None, "istft": None, "histogram": None, "special.i1e": P.i1e, "special.entr": lambda x: _entropy(x), "_chunk_cat": None, "native_layer_norm": None, "matmul": P.matmul, "mm": P.mm, "broadcast_shapes": lambda *s: None, "sparse.mm": None, "masked_select": P.masked_select, "cholesky_inverse": lambda x, upper=False: L.cholesky_inverse(x, upper), "ormqr": None, "linalg.householder_product": L.householder_product, "jiterator_unary": None, "as_strided_copy": None, "as_strided": None, "as_strided_scatter": None, "ravel": lambda x: P.flatten(x), "linalg.cond": lambda x, p=None: L.cond(x, p), "linalg.matrix_power": L.matrix_power, "grid_sampler_2d": None, "unravel_index": None, "fft.hfft2": None, "signal.windows.hann": None, "broadcast_to": lambda x, s: P.broadcast_to(x, list(s)), "tensor_split": lambda x, n, dim=0: P.tensor_split(x, n if isinstance(n, int) else list(n) if not isinstance(n, P.Tensor) else n.tolist(), dim), "dsplit": lambda x, n: P.dsplit(x, n if isinstance(n, int) else list(n)), "hsplit": lambda x, n: P.hsplit(x, n if isinstance(n, int) else list(n)), "vsplit": lambda x, n: P.vsplit(x, n if isinstance(n, int) else list(n)), "dstack": lambda x: P.dstack(list(x)), "hstack": lambda x: P.hstack(list(x)), "vstack": lambda x: P.vstack(list(x)), "column_stack": lambda x: P.column_stack(list(x)), "nonzero": lambda x, as_tuple=False: P.nonzero(x, as_tuple), "norm.nuc": None, "special.log_ndtr": None, "special.i1": P.i1, "special.i0e": P.i0e,
}  # fmt: skip


def _transform(function: Any) -> Any:
    """With `dim`, which is `axis` or `axes` here."""
    if function is None:
        return None
    is_one = function.__name__ in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    name = "axis" if is_one else "axes"

    def call(x: Any, *args: Any, dim: Any = None, **named: Any) -> Any:
        if dim is not None:
            named[name] = (
                dim
                if is_one or isinstance(dim, int) and "shift" in function.__name__
                else list(dim)
                if isinstance(dim, tuple)
                else [dim]
            )
        return function(x, *args, **named)

    return call


def adapted(op: Any) -> Callable[..., Any] | None:
    """The function that answers an entry; None if there is none."""
    if op.name in SPECIAL:
        return SPECIAL[op.name]
    first, _, last = op.name.rpartition(".")
    if first == "fft":
        return _transform(getattr(P.fft, last, None))
    spaces = {
        "nn.functional": (F, P),
        "linalg": (L, P),
        "fft": (P.fft,),
        "": (P, F, L),
        "special": (P,),
    }
    for space in spaces.get(first, ()):
        found = getattr(space, last, None)
        if callable(found):
            return found
    return None
