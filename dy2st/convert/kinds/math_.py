"""Functions of `math`, and those of NumPy, on numbers and sizes that the Program computes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st.convert.kinds.numbers_ import whole
from dy2st.convert.kinds.scalars import as_number, as_numpy, is_traced, to_float
from dy2st.convert.kinds.table import function_row, method_row
from dy2st.convert.trace import Trace, own_method
from dy2st.convert.values.layout import is_traced_number, number_kind
from dy2st_runtime.ir import F, Tensor
from dy2st_runtime.ir.refusals import refused_by_numpy

Compute = Callable[..., Any]

_WHOLE: tuple[tuple[Any, str, Compute], ...] = (
    (math.ceil, "__ceil__", lambda v: F.ceil(v)),
    (math.floor, "__floor__", lambda v: F.floor(v)),
    (math.trunc, "__trunc__", lambda v: v),
)


def _row_of_whole(function: Any, name: str, compute: Compute) -> None:
    @function_row(function)
    def row(trace: Trace, value: Any) -> Any:
        own = own_method(trace, value, name)
        if own is not None:
            return trace.call(own, value)
        if not is_traced(value) or (function is math.trunc and number_kind(value) is None):
            return function(value)  # tensors have no such method
        if number_kind(value) in (int, bool):
            return trace.pos(value)
        return whole(trace, compute(to_float(trace, value)))


for _entry in _WHOLE:
    _row_of_whole(*_entry)


@function_row(math.prod)
def _prod(trace: Trace, iterable: Any, *, start: Any = 1) -> Any:
    def iteration(item: Any, product: Any) -> tuple[Any]:
        return (trace.mul(product, item),)

    return trace.for_(iterable, None, iteration, (start,), ("the product",))[0]


@function_row(math.isclose)
def _isclose(trace: Trace, a: Any, b: Any, *, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> Any:
    if not is_traced(a) and not is_traced(b):
        return math.isclose(a, b, rel_tol=rel_tol, abs_tol=abs_tol)
    left, right = to_float(trace, a), to_float(trace, b)
    largest = F.maximum(F.maximum(F.abs(left), F.abs(right)) * rel_tol, abs_tol)
    near = F.less_equal(F.abs(left - right), largest)
    same = F.logical_or(F.equal(left, right), F.logical_and(near, F.less_than(largest, math.inf)))
    return as_number(trace, same, bool)


# -- NumPy ------------------------------------------------------------------------------------

_OF_NUMPY: tuple[tuple[Any, Compute], ...] = (
    (np.sqrt, lambda v: F.sqrt(v)),
    (np.exp, lambda v: F.exp(v)),
    (np.log, lambda v: F.log(v)),
    (np.log2, lambda v: F.log2(v)),
    (np.log10, lambda v: F.log10(v)),
    (np.log1p, lambda v: F.log1p(v)),
    (np.sin, lambda v: F.sin(v)),
    (np.cos, lambda v: F.cos(v)),
    (np.tan, lambda v: F.tan(v)),
    (np.tanh, lambda v: F.tanh(v)),
    (np.ceil, lambda v: F.ceil(v)),
    (np.floor, lambda v: F.floor(v)),
    (np.rint, lambda v: F.round(v)),
)
# As Python's own, of numbers of one kind.
_AS_PYTHON: tuple[tuple[Any, str], ...] = (
    (np.add, "add"),
    (np.subtract, "sub"),
    (np.multiply, "mul"),
    (np.power, "pow_"),
    (np.floor_divide, "floordiv"),
    (np.true_divide, "truediv"),
    (np.mod, "mod"),
    (np.negative, "neg"),
)


def _row_of_numpy(function: Any, compute: Callable[[Trace, Any], Any]) -> None:
    @function_row(function)
    def row(trace: Trace, *values: Any, **options: Any) -> Any:
        given = (*values, *options.values())
        if not any(map(is_traced, given)):
            return ufunc(trace, function, *values, **options)
        if options or not all(number_kind(one) is not None for one in values):
            return ufunc(trace, function, *values, **options)
        return compute(trace, values)


def _float_of(compute: Compute) -> Callable[[Trace, Any], Any]:
    """NumPy's own floats are to tensors of dy2st what 0-d tensors of float64 are."""
    return lambda trace, values: as_numpy(trace, compute(to_float(trace, values[0])))


def _by_protocol(name: str) -> Callable[[Trace, Any], Any]:
    return lambda trace, values: as_numpy(trace, getattr(trace, name)(*values))


def _by_builtin(function: Any) -> Callable[[Trace, Any], Any]:
    return lambda trace, values: as_numpy(trace, trace.call(function, *values))


for _numpy, _compute in _OF_NUMPY:
    _row_of_numpy(_numpy, _float_of(_compute))
for _numpy, _name in _AS_PYTHON:
    _row_of_numpy(_numpy, _by_protocol(_name))
for _numpy, _builtin in ((np.abs, abs), (np.maximum, max), (np.minimum, min)):
    _row_of_numpy(_numpy, _by_builtin(_builtin))


@function_row(np.clip)
def _clip(trace: Trace, value: Any, *ends: Any, **options: Any) -> Any:
    """`np.clip(number, low, high)`."""
    low, high = (*ends, options.pop("a_min", None), options.pop("a_max", None))[:2]
    if not any(map(is_traced, (value, low, high, *options.values()))):
        return np.clip(*trace.exported((value, low, high)), **trace.exported(options))
    numbers = [one for one in (value, low, high) if one is not None]
    if options or len(ends) > 2:
        raise refused_by_numpy(np.clip)
    if not all(number_kind(one) is not None for one in numbers):
        return np.clip(*trace.exported((value, low, high)))
    value, low, high = [
        trace.call(int, one) if number_kind(one) is bool else one for one in (value, low, high)
    ]
    value = value if low is None else trace.call(max, value, low)
    return as_numpy(trace, value if high is None else trace.call(min, value, high))


def _row_of_items(function: Any, own: Any) -> None:
    """NumPy's functions of a list of sizes and numbers, such as `np.prod(x.shape)`."""

    @function_row(function)
    def row(trace: Trace, values: Any, *rest: Any, **options: Any) -> Any:
        items = values if type(values) in (list, tuple) else ()
        if not any(map(is_traced_number, items)) or rest or options:
            return function(*trace.exported((values, *rest)), **options)
        if not all(number_kind(item) is not None for item in items):
            raise refused_by_numpy(function)
        return as_numpy(trace, trace.call(own, values))


@method_row(np.ufunc, name="__call__")
def ufunc(trace: Trace, function: Any, *values: Any, **options: Any) -> Any:
    """Any other ufunc: of tensors, of arrays and of numbers that are known."""
    if any(map(is_traced, (*values, *options.values()))):
        return _of_tensors(trace, function, "__call__", values, options)
    out = options.pop("out", values[function.nin :] or None)
    given, options = trace.exported(values[: function.nin]), trace.exported(options)
    if out is None:
        return function(*given, **options)
    out = out if isinstance(out, tuple) else (out,)
    arrays = [one for one in out if isinstance(one, np.ndarray)]
    return trace.with_overlay_materialised(arrays, lambda: function(*given, out=out, **options))


def _of_tensors(
    trace: Trace, function: Any, method: str, values: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """What the tensors themselves make of a ufunc of NumPy."""
    inputs, first = trace.exported(values[: function.nin]), values[function.nin :]
    tensors = [one for one in inputs if isinstance(one, Tensor)]
    if first or not tensors:
        raise refused_by_numpy(function)
    return tensors[0].__array_ufunc__(function, method, *inputs, **trace.exported(options))


for _numpy, _own in ((np.prod, math.prod), (np.sum, sum), (np.max, max), (np.min, min)):
    _row_of_items(_numpy, _own)
