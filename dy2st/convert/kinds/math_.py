"""Functions of `math`, and those of NumPy, on numbers and sizes that the Program computes."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from dy2st.convert.classes import own_method
from dy2st.convert.kinds.numbers_ import whole
from dy2st.convert.kinds.scalars import as_number, as_numpy, check, is_traced, to_float
from dy2st.convert.kinds.table import function_row, method_row
from dy2st.convert.trace import Trace
from dy2st.convert.values.layout import is_traced_number, number_kind
from dy2st.convert.values.special import Dynamic
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import F, user_location
from dy2st_runtime.ir.no_value import refused_by_numpy

Compute = Callable[..., Any]

# What gives a number of floats, and where Python has an answer (else ValueError).
_ANY: Compute | None = None
_OF_FLOATS: tuple[tuple[Any, Compute, Compute | None], ...] = (
    (math.sqrt, lambda v: F.sqrt(v), lambda v: F.greater_equal(v, 0)),
    (math.exp, lambda v: F.exp(v), _ANY),
    (math.log, lambda v: F.log(v), lambda v: F.greater_than(v, 0)),
    (math.log2, lambda v: F.log2(v), lambda v: F.greater_than(v, 0)),
    (math.log10, lambda v: F.log10(v), lambda v: F.greater_than(v, 0)),
    (math.log1p, lambda v: F.log1p(v), lambda v: F.greater_than(v, -1)),
    (math.sin, lambda v: F.sin(v), _ANY),
    (math.cos, lambda v: F.cos(v), _ANY),
    (math.tan, lambda v: F.tan(v), _ANY),
    (math.tanh, lambda v: F.tanh(v), _ANY),
    (math.sinh, lambda v: F.sinh(v), _ANY),
    (math.cosh, lambda v: F.cosh(v), _ANY),
    (math.asin, lambda v: F.asin(v), lambda v: F.less_equal(F.abs(v), 1)),
    (math.acos, lambda v: F.acos(v), lambda v: F.less_equal(F.abs(v), 1)),
    (math.atan, lambda v: F.atan(v), _ANY),
    (math.erf, lambda v: F.erf(v), _ANY),
    (math.fabs, lambda v: F.abs(v), _ANY),
    (math.radians, lambda v: v * (math.pi / 180), _ANY),
    (math.degrees, lambda v: v * (180 / math.pi), _ANY),
    (math.atan2, lambda a, b: F.atan2(a, b), _ANY),
    (math.hypot, lambda *v: F.sqrt(reduce(operator.add, map(F.square, v))), _ANY),
    (math.isnan, lambda v: F.not_equal(v, v), _ANY),
    (math.isinf, lambda v: F.equal(F.abs(v), math.inf), _ANY),
    (math.isfinite, lambda v: F.less_than(F.abs(v), math.inf), _ANY),
)


def _row_of_floats(function: Any, compute: Compute, holds: Compute | None) -> None:
    kind = bool if function.__name__.startswith("is") else float

    @function_row(function)
    def row(trace: Trace, *values: Any) -> Any:
        values = tuple(_number(trace, value) for value in values)
        if not any(map(is_traced, values)):
            return function(*values)
        if function is math.log and len(values) == 2:  # to a base
            return trace.truediv(row(trace, values[0]), row(trace, values[1]))
        numbers = [to_float(trace, value) for value in values]
        if holds is not None:
            check(trace, holds(*numbers), ValueError("math domain error"))
        return as_number(trace, compute(*numbers), kind)


def _number(trace: Trace, value: Any) -> Any:
    """A number; of an object of the user's that which it gives for itself."""
    own = own_method(trace, value, "__float__", "__index__")
    return value if own is None else _number(trace, trace.call(own, value))


for _line in _OF_FLOATS:
    _row_of_floats(*_line)

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
        if not is_traced(value):
            return function(value)
        if number_kind(value) in (int, bool):
            return trace.pos(value)
        return whole(trace, compute(to_float(trace, value)))


for _entry in _WHOLE:
    _row_of_whole(*_entry)


@function_row(math.pow)
def _pow(trace: Trace, base: Any, exponent: Any) -> Any:
    if not is_traced(base) and not is_traced(exponent):
        return math.pow(base, exponent)
    parts = [as_number(trace, to_float(trace, one), float) for one in (base, exponent)]
    return trace.pow_(*parts)


@function_row(math.prod)
def _prod(trace: Trace, iterable: Any, *, start: Any = 1) -> Any:
    def turn(item: Any, product: Any) -> tuple[Any]:
        return (trace.mul(product, item),)

    return trace.for_(iterable, None, turn, (start,), ("the product",))[0]


@function_row(math.fsum)
def _fsum(trace: Trace, iterable: Any) -> Any:
    items = trace.listed(iterable)
    if type(items) is not Dynamic and not any(map(is_traced, items)):
        return math.fsum(items)
    return trace.call(float, trace.call(sum, items, 0.0))


@function_row(math.isclose)
def _isclose(trace: Trace, a: Any, b: Any, *, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> Any:
    if not is_traced(a) and not is_traced(b):
        return math.isclose(a, b, rel_tol=rel_tol, abs_tol=abs_tol)
    left, right = to_float(trace, a), to_float(trace, b)
    largest = F.maximum(F.maximum(F.abs(left), F.abs(right)) * rel_tol, abs_tol)
    near = F.less_equal(F.abs(left - right), largest)
    same = F.logical_or(F.equal(left, right), F.logical_and(near, F.less_than(largest, math.inf)))
    return as_number(trace, same, bool)


@function_row(math.copysign)
def _copysign(trace: Trace, value: Any, sign: Any) -> Any:
    if not is_traced(value) and not is_traced(sign):
        return math.copysign(value, sign)
    size, other = F.abs(to_float(trace, value)), to_float(trace, sign)
    is_negative = F.logical_or(F.less_than(other, 0), F.less_than(1 / other, 0))
    return as_number(trace, F.where(is_negative, -size, size), float)


# -- of ints ----------------------------------------------------------------------------------


def _refusing(function: Any, hint: str) -> None:
    @function_row(function)
    def row(trace: Trace, *values: Any) -> Any:
        if not any(map(is_traced, values)):
            return function(*values)
        raise ConversionError(
            f"{function.__name__}() of a number that only the run knows",
            at=user_location(),
            why="a Program has no operator for it",
            hint=hint,
        )


for _function in (math.gcd, math.lcm, math.factorial, math.comb, math.perm, math.isqrt):
    _refusing(_function, "compute it in a loop, or of numbers that are known")


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
            return function(*values, **options)
        if options or not all(number_kind(one) is not None for one in values):
            raise refused_by_numpy(function)
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
    if options or len(ends) > 2 or not all(number_kind(one) is not None for one in numbers):
        raise refused_by_numpy(np.clip)
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
    """Any other ufunc: of arrays and numbers that are known."""
    if any(map(is_traced, (*values, *options.values()))):
        raise refused_by_numpy(function)
    return function(*trace.exported(values), **trace.exported(options))


for _numpy, _own in ((np.prod, math.prod), (np.sum, sum), (np.max, max), (np.min, min)):
    _row_of_items(_numpy, _own)
