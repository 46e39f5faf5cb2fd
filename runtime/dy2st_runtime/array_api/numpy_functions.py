"""What NumPy's functions give of tensors: those of dy2st, with their gradients, in NumPy's order.

NumPy asks the tensor (NEP 18, https://numpy.org/neps/nep-0018-array-function-protocol.html). Each
function here takes what NumPy's takes and dy2st computes; calls with more than that are not meant.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dy2st_runtime import array_api as xp
from dy2st_runtime.errors import DTypeError
from dy2st_runtime.ir import F
from dy2st_runtime.ir.arguments import rank_of

_FUNCTIONS: dict[Any, tuple[Callable[..., Any], inspect.Signature]] = {}


def apply_function(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What a function of NumPy gives of tensors; NotImplemented if dy2st has none for the call."""
    known = _FUNCTIONS.get(function)
    if known is None:
        return NotImplemented
    run, signature = known
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return NotImplemented
    try:
        return run(*bound.args, **bound.kwargs)
    except DTypeError:
        return NotImplemented


def _is(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Say which functions of NumPy a function stands for."""

    def note(run: Callable[..., Any]) -> Callable[..., Any]:
        _FUNCTIONS.update(dict.fromkeys(functions, (run, inspect.signature(run))))
        return run

    return note


def _floats(x: Any) -> Any:
    """Integers as float64, as NumPy's linear algebra and transforms have it."""
    made = F.assign(x)
    return made if made.dtype.kind in "fcV" else F.cast(made, "float64")


# -- over axes --------------------------------------------------------------------------------


def _over_axes(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return function(a, axis=axis, keepdims=keepdims)

    return run


def _into_dtype(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
        return function(a, axis=axis, dtype=dtype, keepdims=keepdims)

    return run


for _functions, _own in (
    ((np.max, np.amax), xp.max),
    ((np.min, np.amin), xp.min),
    ((np.all,), xp.all),
    ((np.any,), xp.any),
    ((np.count_nonzero,), xp.count_nonzero),
    ((np.argmax,), xp.argmax),
    ((np.argmin,), xp.argmin),
):
    _is(*_functions)(_over_axes(_own))
_is(np.sum)(_into_dtype(xp.sum))
_is(np.prod)(_into_dtype(xp.prod))


@_is(np.mean)
def _mean(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    return xp.mean(a if dtype is None else F.cast(a, dtype), axis=axis, keepdims=keepdims)


def _spread(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        *,
        ddof: Any = 0,
        keepdims: bool = False,
        correction: Any = None,
    ) -> Any:
        x = _floats(a) if dtype is None else F.cast(a, dtype)
        off = ddof if correction is None else correction
        return function(x, axis=axis, correction=off, keepdims=keepdims)

    return run


_is(np.std)(_spread(xp.std))
_is(np.var)(_spread(xp.var))


def _running(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(a: Any, axis: Any = None, dtype: Any = None) -> Any:
        x = F.reshape(a, [-1]) if axis is None else a
        return function(x, axis=0 if axis is None else axis, dtype=dtype)

    return run


_is(np.cumsum)(_running(xp.cumulative_sum))
_is(np.cumprod)(_running(xp.cumulative_prod))


@_is(np.nansum)
def _nansum(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    x = _floats(a)
    return xp.sum(F.where(F.isnan(x), 0, x), axis=axis, dtype=dtype, keepdims=keepdims)


@_is(np.median)
def _median(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
    return F.median(_floats(a), axis, keepdims)


@_is(np.nanmean)
def _nanmean(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    x = _floats(a) if dtype is None else F.cast(a, dtype)
    return F.nanmean(x, axis, keepdims)


@_is(np.average)
def _average(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    return xp.mean(_floats(a), axis=axis, keepdims=keepdims)


@_is(np.ptp)
def _ptp(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    sides = (run(a, axis=axis, keepdims=keepdims) for run in (xp.max, xp.min))
    return F.subtract(*sides)


@_is(np.quantile)
def _quantile(a: Any, q: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    return F.quantile(_floats(a), q, axis, keepdims)


@_is(np.percentile)
def _percentile(a: Any, q: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    part = [one / 100 for one in q] if isinstance(q, (list, tuple)) else q / 100
    return F.quantile(_floats(a), part, axis, keepdims)


_is(np.cov)(lambda m, *, rowvar=True: F.cov(_floats(m), rowvar))
_is(np.corrcoef)(lambda x, *, rowvar=True: F.corrcoef(_floats(x), rowvar))


@_is(np.diff)
def _diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    return xp.diff(a, axis=axis, n=n)


# -- elements ---------------------------------------------------------------------------------


@_is(np.where)
def _where(condition: Any, *values: Any) -> Any:
    if not values:
        return xp.nonzero(condition)
    return xp.where(F.cast(condition, "bool"), *values)


@_is(np.clip)
def _clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    return F.clip(a, a_min if min is None else min, a_max if max is None else max)


@_is(np.round, np.around)
def _round(a: Any, decimals: int = 0) -> Any:
    return F.round(a, decimals)


@_is(np.isclose)
def _isclose(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    return F.isclose(a, b, rtol, atol, equal_nan)


@_is(np.nan_to_num)
def _nan_to_num(
    x: Any, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Any:
    return F.nan_to_num(x, nan, posinf, neginf)


_is(np.real)(lambda val: xp.real(val))
_is(np.imag)(lambda val: F.imag(val) if val.dtype.kind == "c" else F.zeros_like(val))
_is(np.angle)(lambda z: F.angle(z))
_is(np.nonzero)(lambda a: xp.nonzero(a))
_is(np.zeros_like)(lambda a, dtype=None: F.zeros_like(a, dtype))
_is(np.ones_like)(lambda a, dtype=None: F.ones_like(a, dtype))
_is(np.empty_like)(lambda prototype, dtype=None: F.empty_like(prototype, dtype))
_is(np.full_like)(lambda a, fill_value, dtype=None: F.full_like(a, fill_value, dtype))
_is(np.copy)(lambda a: F.clone(a))


# -- places -----------------------------------------------------------------------------------


def _arrays(arrays: Any) -> list[Any]:
    return [F.assign(one) for one in arrays]


_is(np.concatenate)(lambda arrays, /, axis=0: xp.concat(_arrays(arrays), axis=axis))
_is(np.stack)(lambda arrays, axis=0: xp.stack(_arrays(arrays), axis=axis))
_is(np.vstack)(lambda tup: F.vstack(_arrays(tup)))
_is(np.hstack)(lambda tup: F.hstack(_arrays(tup)))
_is(np.dstack)(lambda tup: F.dstack(_arrays(tup)))
_is(np.column_stack)(lambda tup: F.column_stack(_arrays(tup)))
_is(np.swapaxes)(lambda a, axis1, axis2: F.swapaxes(a, axis1, axis2))
_is(np.moveaxis)(lambda a, source, destination: F.moveaxis(a, source, destination))
_is(np.reshape)(lambda a, /, shape: xp.reshape(a, shape))
_is(np.ravel)(lambda a: F.reshape(a, [-1]))
_is(np.broadcast_to)(lambda array, shape: F.broadcast_to(array, shape))
_is(np.repeat)(lambda a, repeats, axis=None: xp.repeat(F.assign(a), repeats, axis=axis))
_is(np.tile)(lambda A, reps: xp.tile(A, reps))
_is(np.flip)(lambda m, axis=None: xp.flip(m, axis=axis))
_is(np.roll)(lambda a, shift, axis=None: xp.roll(a, shift, axis=axis))
_is(np.rot90)(lambda m, k=1, axes=(0, 1): F.rot90(m, k, list(axes)))
_is(np.tril)(lambda m, k=0: F.tril(m, k))
_is(np.triu)(lambda m, k=0: F.triu(m, k))
_is(np.diag)(lambda v, k=0: F.diag(v, k))
_is(np.diagonal)(lambda a, offset=0, axis1=0, axis2=1: F.diagonal(a, offset, axis1, axis2))
_is(np.take_along_axis)(lambda arr, indices, axis: xp.take_along_axis(arr, indices, axis=axis))
_is(np.meshgrid)(lambda *xi, indexing="xy": xp.meshgrid(*_arrays(xi), indexing=indexing))
_is(np.atleast_1d)(lambda *arys: F.atleast_1d(*arys))
_is(np.atleast_2d)(lambda *arys: F.atleast_2d(*arys))


_is(np.append)(lambda arr, values, axis=None: xp.concat(_arrays((arr, values)), axis=axis))
_is(np.matrix_transpose)(lambda x, /: xp.matrix_transpose(x))
_is(np.argwhere)(lambda a: F.nonzero(F.cast(a, "bool")))


@_is(np.array_split)
def _array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    return F.tensor_split(ary, indices_or_sections, axis)


@_is(np.split)
def _split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    if isinstance(indices_or_sections, int):
        return F.split(ary, indices_or_sections, axis)
    return F.tensor_split(ary, indices_or_sections, axis)


@_is(np.pad)
def _pad(array: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Any:
    widths = np.broadcast_to(np.asarray(pad_width), (rank_of(array), 2))
    if mode != "constant" or not isinstance(constant_values, (int, float)):
        raise DTypeError("np.pad in this mode")
    return F.pad(array, widths.reshape(-1).tolist(), value=constant_values)


@_is(np.transpose, np.permute_dims)
def _transpose(a: Any, axes: Any = None) -> Any:
    return F.transpose(a, list(range(rank_of(a)))[::-1] if axes is None else list(axes))


@_is(np.squeeze)
def _squeeze(a: Any, axis: Any = None) -> Any:
    return F.squeeze(a) if axis is None else xp.squeeze(a, axis)


@_is(np.expand_dims)
def _expand_dims(a: Any, axis: Any) -> Any:
    return xp.expand_dims(a, axis=axis) if isinstance(axis, int) else F.unsqueeze(a, list(axis))


@_is(np.take)
def _take(a: Any, indices: Any, axis: int | None = None) -> Any:
    places = F.assign(indices)
    return xp.take(F.reshape(a, [-1]) if axis is None else a, places, axis=axis or 0)


# -- order ------------------------------------------------------------------------------------

_is(np.sort)(lambda a, axis=-1, *, stable=None: xp.sort(a, axis=axis, stable=bool(stable)))
_is(np.argsort)(lambda a, axis=-1, *, stable=None: xp.argsort(a, axis=axis, stable=bool(stable)))


@_is(np.searchsorted)
def _searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    return xp.searchsorted(F.assign(a), F.assign(v), side=side, sorter=sorter)


@_is(np.unique)
def _unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> Any:
    made = F.unique(ar, return_index, return_inverse, return_counts)
    if not return_inverse:
        return made
    several = list(made)
    several[1 + return_index] = F.reshape(several[1 + return_index], ar.shape)
    return tuple(several)


# -- linear algebra ---------------------------------------------------------------------------


@_is(np.dot)
def _dot(a: Any, b: Any) -> Any:
    if 0 in (rank_of(a), rank_of(b)):
        return F.multiply(a, b)
    if rank_of(b) > 2:  # not that of `matmul`
        raise DTypeError("np.dot of more than two axes")
    return F.matmul(a, b)


_is(np.inner)(lambda a, b: F.inner(a, b))
_is(np.cross)(lambda a, b, *, axis=-1: xp.linalg.cross(F.assign(a), F.assign(b), axis=axis))
_is(np.outer)(lambda a, b: F.outer(a, b))
_is(np.kron)(lambda a, b: F.kron(a, b))
_is(np.trace)(lambda a, offset=0, axis1=0, axis2=1: F.trace(a, offset, axis1, axis2))
_is(np.tensordot)(lambda a, b, axes=2: xp.tensordot(F.assign(a), F.assign(b), axes=axes))
_is(np.einsum)(lambda subscripts, *operands: F.einsum(subscripts, *operands))
_is(np.linalg.det)(lambda a: F.det(_floats(a)))
_is(np.linalg.inv)(lambda a: F.inverse(_floats(a)))
_is(np.linalg.solve)(lambda a, b: xp.linalg.solve(_floats(a), _floats(b)))
_is(np.linalg.cholesky)(lambda a, /, *, upper=False: xp.linalg.cholesky(_floats(a), upper=upper))
_is(np.linalg.slogdet)(lambda a: xp.linalg.slogdet(_floats(a)))
_is(np.linalg.eigvalsh)(lambda a, UPLO="L": F.eigvalsh(_floats(a), UPLO))
_is(np.linalg.svdvals)(lambda x, /: F.svdvals(_floats(x)))
_is(np.linalg.matrix_power)(lambda a, n: F.matrix_power(a, n))
_is(np.linalg.eigh)(lambda a, UPLO="L": xp.linalg.EighResult(*F.eigh(_floats(a), UPLO)))
_is(np.linalg.qr)(lambda a, mode="reduced": xp.linalg.qr(_floats(a), mode=mode))
_is(np.linalg.svd)(
    lambda a, full_matrices=True: xp.linalg.svd(_floats(a), full_matrices=full_matrices)
)


_is(np.linalg.eig)(lambda a: F.eig(_floats(a)))
_is(np.linalg.eigvals)(lambda a: F.eigvals(_floats(a)))
_is(np.linalg.matrix_rank)(lambda A: xp.linalg.matrix_rank(_floats(A)))
_is(np.linalg.multi_dot)(lambda arrays: F.multi_dot(_arrays(arrays)))
_is(np.linalg.cross)(lambda x1, x2, /, *, axis=-1: xp.linalg.cross(x1, x2, axis=axis))
_is(np.linalg.outer)(lambda x1, x2, /: xp.linalg.outer(F.assign(x1), F.assign(x2)))
_is(np.linalg.diagonal)(lambda x, /, *, offset=0: xp.linalg.diagonal(x, offset=offset))
_is(np.linalg.trace)(
    lambda x, /, *, offset=0, dtype=None: xp.linalg.trace(x, offset=offset, dtype=dtype)
)
_is(np.linalg.matrix_norm)(
    lambda x, /, *, keepdims=False, ord="fro": xp.linalg.matrix_norm(
        _floats(x), keepdims=keepdims, ord=ord
    )
)
_is(np.linalg.vector_norm)(
    lambda x, /, *, axis=None, keepdims=False, ord=2: xp.linalg.vector_norm(
        _floats(x), axis=axis, keepdims=keepdims, ord=ord
    )
)


@_is(np.linalg.pinv)
def _pinv(a: Any, rcond: Any = None) -> Any:
    return F.pinv(_floats(a), 1e-15 if rcond is None else rcond)


@_is(np.linalg.norm)
def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = _floats(x)
    axes = [axis] if isinstance(axis, int) else axis
    is_matrix = (axes is not None and len(axes) == 2) or (axes is None and x.ndim == 2)
    if ord is None or not is_matrix:
        return xp.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=2 if ord is None else ord)
    return F.matrix_norm(x, ord, [-2, -1] if axes is None else axes, keepdims)


# -- transforms -------------------------------------------------------------------------------


def _of_one(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
        return function(_floats(a), n=n, axis=axis, norm=norm or "backward")

    return run


def _of_many(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
        return function(_floats(a), s=s, axes=axes, norm=norm or "backward")

    return run


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    _is(getattr(np.fft, _name))(_of_one(getattr(xp.fft, _name)))
for _name in ("fftn", "ifftn", "rfftn", "irfftn"):
    _is(getattr(np.fft, _name))(_of_many(getattr(xp.fft, _name)))
_is(np.fft.fftshift)(lambda x, axes=None: xp.fft.fftshift(x, axes=axes))
_is(np.fft.ifftshift)(lambda x, axes=None: xp.fft.ifftshift(x, axes=axes))

FUNCTIONS = tuple(_FUNCTIONS)

__all__ = ["FUNCTIONS", "apply_function"]
