"""Functions of `math`, and those of NumPy, on numbers and sizes that the Program computes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dy2st.convert.effect_table import changed, row_of
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

_FLOATS = (
    *("sqrt", "exp", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "tanh"),
    *("ceil", "floor", "rint"),
)
# As Python's own, of numbers of one kind: what the protocol of a trace calls each.
_AS_PYTHON = {
    **{"add": "add", "subtract": "sub", "multiply": "mul", "power": "pow_", "negative": "neg"},
    **{"floor_divide": "floordiv", "true_divide": "truediv", "mod": "mod"},
}


def _row_of_numpy(function: Any, compute: Callable[[Trace, Any], Any]) -> None:
    @function_row(function)
    def row(trace: Trace, *values: Any, **options: Any) -> Any:
        given = (*values, *options.values())
        if not any(map(is_traced, given)):
            return ufunc(trace, function, *values, **options)
        if options or not all(number_kind(one) is not None for one in values):
            return ufunc(trace, function, *values, **options)
        return compute(trace, values)


def _float_of(name: str) -> Callable[[Trace, Any], Any]:
    """NumPy's own floats are to tensors of dy2st what 0-d tensors of float64 are."""
    own = "round" if name == "rint" else name
    return lambda trace, values: as_numpy(trace, getattr(F, own)(to_float(trace, values[0])))


def _by_protocol(name: str) -> Callable[[Trace, Any], Any]:
    return lambda trace, values: as_numpy(trace, getattr(trace, name)(*values))


def _by_builtin(function: Any) -> Callable[[Trace, Any], Any]:
    return lambda trace, values: as_numpy(trace, trace.call(function, *values))


for _name in _FLOATS:
    _row_of_numpy(getattr(np, _name), _float_of(_name))
for _name, _protocol in _AS_PYTHON.items():
    _row_of_numpy(getattr(np, _name), _by_protocol(_protocol))
for _numpy, _builtin in ((np.abs, abs), (np.maximum, max), (np.minimum, min)):
    _row_of_numpy(_numpy, _by_builtin(_builtin))


@function_row(np.clip)
def _clip(trace: Trace, value: Any, *ends: Any, **options: Any) -> Any:
    """`np.clip(number, low, high)`."""
    low, high = (*ends, options.pop("a_min", None), options.pop("a_max", None))[:2]
    if not any(map(is_traced, (value, low, high, *options.values()))):
        return _by_numpy(trace, np.clip, (value, low, high, *ends[2:]), options)
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
            return _by_numpy(trace, function, (values, *rest), options)
        if not all(number_kind(item) is not None for item in items):
            raise refused_by_numpy(function)
        return as_numpy(trace, trace.call(own, values))


@method_row(np.ufunc, name="__call__")
def ufunc(trace: Trace, function: Any, *values: Any, **options: Any) -> Any:
    """Any other ufunc: of tensors, of arrays and of numbers that are known."""
    if any(map(is_traced, (*values, *options.values()))):
        return _of_tensors(trace, function, "__call__", values, options)
    return _by_numpy(trace, function, values, options)


def _by_numpy(
    trace: Trace, function: Any, values: tuple[Any, ...], options: Mapping[str, Any]
) -> Any:
    """What NumPy makes of arrays and of what is known; it may write into arrays from outside."""
    held = [one if isinstance(one, tuple) else (one,) for one in (*values, *options.values())]
    arrays = [one for part in held for one in part if isinstance(one, np.ndarray)]
    out = changed(row_of(function, values), function, values, options)

    def own(one: Any) -> Any:
        is_array = any(one is array for array in arrays) or one is options.get("out")
        return one if is_array else trace.exported((one,))[0]

    def run() -> Any:
        return function(*map(own, values), **{key: own(one) for key, one in options.items()})

    return trace.with_overlay_materialised(arrays, run, not out)


def _of_tensors(
    trace: Trace, function: Any, method: str, values: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """What the tensors themselves make of a ufunc of NumPy."""
    inputs, first = trace.exported(values[: function.nin]), values[function.nin :]
    tensors = [one for one in inputs if isinstance(one, Tensor)]
    if first or not tensors:
        raise refused_by_numpy(function)
    return tensors[0].__array_ufunc__(function, method, *inputs, **trace.exported(options))


for _function, _own in ((np.prod, math.prod), (np.sum, sum), (np.max, max), (np.min, min)):
    _row_of_items(_function, _own)
