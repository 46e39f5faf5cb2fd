"""Numbers: int, float, bool, abs, round, divmod, pow, and what math and NumPy compute of them."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from dy2st.convert.effect_table import changed, row_of
from dy2st.convert.kinds.scalars import (
    as_number,
    as_numpy,
    check,
    int_of,
    is_traced,
    scalar,
    to_float,
)
from dy2st.convert.kinds.table import Row, for_each, function_row, method_row, say_misfit
from dy2st.convert.kinds.text import as_codes
from dy2st.convert.polyfills import methods
from dy2st.convert.trace import Trace, own_method
from dy2st.convert.types.values import is_of_codes
from dy2st.convert.values.layout import is_traced_number, number_kind
from dy2st_runtime.dims import Condition, Dim, maximum
from dy2st_runtime.errors import ConversionError, TensorAsPython
from dy2st_runtime.ir import F, Tensor, Variable
from dy2st_runtime.ir.choice import Text
from dy2st_runtime.ir.refusals import refused_by_numpy


@function_row(int)
def _int(trace: Trace, *args: Any, **options: Any) -> Any:
    base = options.get("base", args[1] if args[1:] else 10)
    text = as_codes(trace, args[0]) if args and type(base) is int and 1 < base < 11 else None
    if is_of_codes(text) and len(args) + len(options) < 3:
        return trace.call(methods.integer, text, base)
    if len(args) != 1 or options:
        return int(*args, **options)
    value = _own(trace, int, args[0], "__int__", "__index__", "__trunc__")
    if not is_traced(value):
        return int(value)
    return value if isinstance(value, Dim) else whole(trace, scalar(trace, value))


def _own(trace: Trace, kind: Any, value: Any, *names: str) -> Any:
    """A value; of an object of the user's the number that one of its methods gives."""
    if type(value) is Text:
        raise TensorAsPython(
            f"{kind.__name__}() of a text with values of tensors in it",
            why="the Program writes texts, and has no numbers of them",
            hint="compute with the numbers that the text is made of",
        )
    own = own_method(trace, value, *names)
    if own is None:
        return value
    found = trace.call(own, value)
    if is_traced(found):
        return found
    # Python judges what the method gives, so that its errors and warnings have Python's words.
    name = own.__name__ if own.__name__ in ("__index__", "__trunc__") else f"__{kind.__name__}__"
    return kind(type(type(value).__name__, (), {name: lambda _: found})())


def whole(trace: Trace, value: Variable) -> Variable:
    """A 0-d Variable without what is behind the point, as an int of Python."""
    if value.tensor_type.dtype.kind == "f":
        if trace.handlers:  # one that catches it is told by a branch
            words = "cannot convert float {} to integer".format
            trace.carry_check(F.equal(value, value), ValueError(words("NaN")))
            is_finite = F.logical_not(_is_infinite(value))
            trace.carry_check(is_finite, OverflowError(words("infinity")))
        local = trace.tracer.local(value)
        trace.tracer.append("check_int", [local], {"operation": "int"}, [])
    return as_number(trace, value, int)


@function_row(float)
def _float(trace: Trace, *args: Any) -> Any:
    if len(args) != 1:
        return float(*args)
    value = _own(trace, float, args[0], "__float__", "__index__")
    if not is_traced(value):
        return float(value)
    is_one = number_kind(value) is float
    return value if is_one else as_number(trace, to_float(trace, value), float)


function_row(bool)(lambda trace, value=False: trace.truth_value(value))


@function_row(complex)
def _complex(trace: Trace, *args: Any, **options: Any) -> Any:
    if any(map(is_traced, (*args, *options.values()))):
        raise TensorAsPython(
            "complex() of a traced tensor",
            why="only the run has its value, and a Program has no complex numbers of Python",
            hint="compute with a tensor of them: x + 0j",
        )
    return complex(*args, **options)


@function_row(abs, operator.abs)
def _abs(trace: Trace, value: Any) -> Any:
    own = own_method(trace, value, "__abs__")
    if own is not None:
        return trace.call(own, value)
    value = trace.tracer.number(value) if isinstance(value, Condition) else value
    return maximum(value, -value) if isinstance(value, Dim) else abs(value)


@function_row(round)
def _round(trace: Trace, number: Any, ndigits: Any = None) -> Any:
    value = number
    own = own_method(trace, value, "__round__")
    if own is not None:
        return trace.call(own, value, *(() if ndigits is None else (ndigits,)))
    kind = number_kind(value)
    if not is_traced(value) or kind is None:
        return round(value) if ndigits is None else round(value, ndigits)
    # An int is rounded to itself, unless to tens.
    if kind is not float and (ndigits is None or (type(ndigits) is int and ndigits >= 0)):
        return trace.pos(value)
    if ndigits is None:
        return whole(trace, F.round(to_float(trace, value)))
    if type(ndigits) is not int or not 0 <= ndigits <= 22:
        raise ConversionError(
            "round() of a number to digits before the point, or to as many as the data say",
            why="a Program rounds to a known number of digits behind the point, to 22 at most",
            hint="write round(x / 100) * 100, or round a tensor",
        )
    return as_number(trace, _to_digits(to_float(trace, value), ndigits), float)


def _to_digits(x: Any, digits: int) -> Any:
    """The float nearest to the decimal number that is nearest to x: 2.675 is below its half.

    Powers of ten are exact up to 1e22, so only the product has an error. Dekker's product tells
    it, and so on which side of a half x is. From 2**53 on x has no more digits.
    """
    scale, most = 10.0**digits, 2.0**53
    known = F.where(F.abs(x) < most, x, 0.0)
    product = known * scale
    (high, low), (scale_high, scale_low) = _halves(known), _halves(scale)
    rest = ((product - high * scale_high) - low * scale_high) - high * scale_low
    error = low * scale_low - rest
    nearest = F.round(product)
    is_half = (F.abs(product - nearest) == 0.5) & (error != 0.0)
    nearest = F.where(is_half, product + F.sign(error) * 0.5, nearest)
    return F.where((F.abs(x) < most) & (F.abs(product) < most), nearest / scale, x)


def _halves(x: Any) -> tuple[Any, Any]:
    """A float as the sum of two that have half of its bits each: products of those are exact."""
    split = x * 134217729.0
    high = split - (split - x)
    return high, x - high


@function_row(divmod)
def _divmod(trace: Trace, left: Any, right: Any) -> Any:
    own = own_method(trace, left, "__divmod__")
    if own is not None:
        return trace.call(own, left, right)
    if not is_traced(left) and not is_traced(right):
        return divmod(left, right)
    return trace.floordiv(left, right), trace.mod(left, right)


@function_row(pow)
def _pow(trace: Trace, base: Any, exp: Any, mod: Any = None) -> Any:
    if mod is None:
        return trace.pow_(base, exp)
    if not any(map(is_traced, (base, exp, mod))):
        return pow(base, exp, mod)
    if any(number_kind(one) not in (int, bool) for one in (base, exp, mod)):
        raise TypeError("pow() 3rd argument not allowed unless all arguments are integers")
    return trace.call(methods.power_modulo, base, exp, mod)


# -- what math makes ints of ----------------------------------------------------------------------

Compute = Callable[..., Any]


@for_each(
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


# -- NumPy ------------------------------------------------------------------------------------

_FLOATS = (
    *("sqrt", "exp", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "tanh"),
    *("ceil", "floor", "rint"),
)
# As Python's own, of numbers of one kind.
_AS_PYTHON = (
    *((np.add, operator.add), (np.subtract, operator.sub), (np.multiply, operator.mul)),
    *((np.floor_divide, operator.floordiv), (np.true_divide, operator.truediv)),
    *((np.mod, operator.mod), (np.power, operator.pow), (np.negative, operator.neg)),
    *((np.abs, abs), (np.maximum, max), (np.minimum, min)),
)


def _row_of_numpy(function: Any, compute: Compute) -> None:
    """NumPy's own numbers are to tensors of dy2st what 0-d tensors are."""

    @function_row(function)
    def row(trace: Trace, *values: Any, **options: Any) -> Any:
        are_numbers = not options and all(number_kind(one) is not None for one in values)
        if are_numbers and any(map(is_traced, values)):
            return as_numpy(trace, compute(trace, *values))
        return ufunc(trace, function, *values, **options)


for _name in _FLOATS:
    _operator = "round" if _name == "rint" else _name
    _row_of_numpy(
        getattr(np, _name), lambda trace, v, name=_operator: getattr(F, name)(to_float(trace, v))
    )
for _numpy, _python in _AS_PYTHON:
    _row_of_numpy(_numpy, lambda trace, *values, own=_python: trace.call(own, *values))


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


@for_each((np.prod, math.prod), (np.sum, sum), (np.max, max), (np.min, min))
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
    if not any(map(is_traced, (*values, *options.values()))):
        return _by_numpy(trace, function, values, options)
    # What the tensors themselves make of it.
    inputs, first = trace.exported(values[: function.nin]), values[function.nin :]
    tensors = [one for one in inputs if isinstance(one, Tensor)]
    if first or not tensors:
        raise refused_by_numpy(function)
    return tensors[0].__array_ufunc__(function, "__call__", *inputs, **trace.exported(options))


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


# -- math, on floats ------------------------------------------------------------------------------
# Results and errors are as in CPython. Where Python raises is a table: what compares with NaN is
# false, so NaN passes all of them.

_DOMAIN, _RANGE = ValueError("math domain error"), OverflowError("math range error")
_MOST_EXPONENT = 4000.0  # of ldexp: what is beyond it is 0 or infinite
_NAMES_OF_FLOAT = ("__float__", "__index__")


def _number_row(function: Any, own: Sequence[str] = _NAMES_OF_FLOAT) -> Callable[[Row], Row]:
    """Let a row stand for a function where one of its numbers is traced; else Python computes.

    own: the methods by which an object of the user's gives the number that stands for it.
    """

    def number_of(trace: Trace, value: Any) -> Any:
        method = own_method(trace, value, *own)
        return value if method is None else number_of(trace, trace.call(method, value))

    def register(row: Row) -> Row:
        @function_row(function)
        def either(trace: Trace, *values: Any, **options: Any) -> Any:
            values = tuple(number_of(trace, value) for value in values)
            if not any(map(is_traced, (*values, *options.values()))):
                return function(*values, **options)
            try:
                return row(trace, *values, **options)
            except TypeError as error:
                say_misfit(error, function, values, options)
                raise

        return either

    return register


def _is_finite(value: Any) -> Any:
    """Whether a float is neither infinite nor NaN."""
    return F.abs(value) < math.inf


def _is_infinite(value: Any) -> Any:
    return F.abs(value) == math.inf


def _is_nan(value: Any) -> Any:
    return F.not_equal(value, value)


def _is_pole(value: Any) -> Any:
    return (value <= 0) & (F.floor(value) == value)


def _from_to(low: float, high: float, value: Any) -> Any:
    return (value > low) & (value < high)


def _remainder(x: Any, y: Any) -> Any:
    """x - n * y for the n that is nearest to x / y, the even one of two."""
    size, divisor = F.abs(x), F.abs(y)
    low = F.mod(size, divisor)
    high = divisor - low
    even = low - 2.0 * F.mod(0.5 * (size - low), divisor)
    found = F.where(low < high, low, F.where(low > high, -high, even))
    return F.where(_is_nan(x), x, F.where(F.copysign(1.0, x) < 0, -found, found))


def _hypot(*values: Any) -> Any:
    """The length of a vector, scaled so that no square leaves the range of floats."""
    sizes = [F.abs(value) for value in values]
    largest = reduce(F.maximum, sizes)
    scale = F.where((largest == 0) | (largest == math.inf), 1.0, largest)
    total = reduce(F.add, [F.square(size / scale) for size in sizes])
    is_infinite = reduce(F.logical_or, [size == math.inf for size in sizes])
    return F.where(is_infinite, math.inf, scale * F.sqrt(total))


def _cbrt(x: Any) -> Any:
    # The cubes in a step of Newton's would leave the floats: 2 ** 600 has the root 2 ** 200.
    is_tiny = F.abs(x) < 1e-200
    size = F.where(is_tiny, F.abs(x) * 2.0**600, F.abs(x))
    root = F.pow(size, 1 / 3)
    is_plain = _is_finite(root) & (root > 0)
    safe = F.where(is_plain, root, 1.0)
    better = safe - (safe * safe * safe - size) / (3.0 * safe * safe)  # one step of Newton's
    found = F.where(is_plain, better, root)
    return F.copysign(F.where(is_tiny, found * 2.0**-200, found), x)


_FACTORIALS = [float(math.factorial(number)) for number in range(23)]


def _gamma(x: Any) -> Any:
    """By its logarithm; at whole numbers, where it is a factorial, by a table."""
    near = F.cast(F.minimum(F.maximum(F.where(_is_nan(x), 1.0, x), 1.0), 23.0), "int64")
    factorial = F.reshape(F.gather(np.asarray(_FACTORIALS), near - 1), [])
    is_whole = F.equal(F.cast(near, "float64"), x)
    positive = F.exp(F.lgamma(F.abs(x)))
    sine = F.sin(math.pi * F.remainder(F.where(_is_finite(x), F.abs(x), 1.0), 2.0))
    # Gamma(-a) is -pi / (a sin(pi a) gamma(a)).
    divisor = F.abs(x) * sine * positive
    negative = -math.pi / F.where(divisor == 0, 1.0, divisor)
    pole = F.where(F.floor(x) == x, math.nan, negative)
    left = F.where(x == 0, F.copysign(math.inf, x), F.where(x < 0, pole, positive))
    return F.where(is_whole, factorial, left)


_LOG_OF_MOST, _ACOSH_OF_MOST = math.log(sys.float_info.max), math.acosh(sys.float_info.max)
_LOG2_OF_MOST = math.nextafter(1024.0, 0.0)
# The largest numbers of which gamma, and its logarithm, are floats, and the least for gamma.
_MOST_OF_GAMMA, _MOST_OF_LGAMMA, _LEAST_OF_GAMMA = 171.62437695630271, 2.55e305, 5.56e-309
# Where a function is not defined, and where what it gives is no float.
_NOT_DEFINED: dict[str, Compute] = {
    "sqrt": lambda v: v < 0,
    **dict.fromkeys(("sin", "cos", "tan"), _is_infinite),
    **dict.fromkeys(("asin", "acos"), lambda v: F.abs(v) > 1),
    "acosh": lambda v: v < 1,
    "atanh": lambda v: F.abs(v) >= 1,
    **dict.fromkeys(("log", "log2", "log10"), lambda v: v <= 0),
    "log1p": lambda v: v <= -1,
    **dict.fromkeys(
        ("fmod", "remainder"),  # of what are numbers both
        lambda x, y: (_is_infinite(x) & F.equal(y, y)) | ((y == 0) & F.equal(x, x)),
    ),
    "lgamma": lambda v: _is_pole(v) & _is_finite(v),
    "gamma": _is_pole,
}
_TOO_LARGE: dict[str, Compute] = {
    **dict.fromkeys(("exp", "expm1"), lambda v: _from_to(_LOG_OF_MOST, math.inf, v)),
    **dict.fromkeys(("sinh", "cosh"), lambda v: _from_to(_ACOSH_OF_MOST, math.inf, F.abs(v))),
    "exp2": lambda v: _from_to(_LOG2_OF_MOST, math.inf, v),
    "lgamma": lambda v: _from_to(_MOST_OF_LGAMMA, math.inf, v),
    "gamma": lambda v: _from_to(_MOST_OF_GAMMA, math.inf, v) | (F.abs(v) < _LEAST_OF_GAMMA),
}
# What no operator computes, or none as CPython does.
_COMPUTED: dict[str, Compute] = {
    "fabs": lambda v: F.abs(v),
    "radians": lambda v: v * (math.pi / 180),
    "degrees": lambda v: v * (180 / math.pi),
    "erfc": lambda v: 1.0 - F.erf(v),
    "exp2": lambda v: F.pow(2.0, v),
    "expm1": lambda x: F.where(F.abs(x) < 1e-300, x, F.expm1(x)),
    "cbrt": _cbrt,
    "hypot": _hypot,
    "fmod": lambda x, y: F.copysign(F.mod(F.abs(x), F.abs(y)), x),
    "remainder": _remainder,
    "lgamma": lambda x: F.where(_is_infinite(x), math.inf, F.lgamma(x)),
    "gamma": _gamma,
    **{"isnan": _is_nan, "isinf": _is_infinite, "isfinite": _is_finite},
}
_OPERATORS = ("asinh", "atan", "tanh", "erf", "atan2", "copysign", "nextafter")


@for_each(*{**_NOT_DEFINED, **_TOO_LARGE, **_COMPUTED, **dict.fromkeys(_OPERATORS)})
def _row_of_floats(name: str) -> None:
    if not hasattr(math, name):
        return  # Python 3.10 has not all of them
    function, kind = getattr(math, name), bool if name.startswith("is") else float
    fails = (_NOT_DEFINED.get(name), _DOMAIN), (_TOO_LARGE.get(name), _RANGE)

    @_number_row(function)
    def row(trace: Trace, *values: Any) -> Any:
        if function is math.log and len(values) == 2:  # to a base
            return trace.truediv(row(trace, values[0]), row(trace, values[1]))
        numbers = [to_float(trace, value) for value in values]
        for test, error in fails:
            if test is not None:
                check(trace, F.logical_not(test(*numbers)), error)
        return as_number(trace, (_COMPUTED.get(name) or getattr(F, name))(*numbers), kind)


@_number_row(math.isclose)
def _isclose(trace: Trace, a: Any, b: Any, *, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> Any:
    left, right = to_float(trace, a), to_float(trace, b)
    largest = F.maximum(F.maximum(F.abs(left), F.abs(right)) * rel_tol, abs_tol)
    is_near = (F.abs(left - right) <= largest) & (largest < math.inf)
    return as_number(trace, F.equal(left, right) | is_near, bool)


_RAISES_FOR_POWER_OF_0 = sys.version_info < (3, 11)  # math.pow(0.0, -inf); inf since then


@_number_row(math.pow)
def _power(trace: Trace, base: Any, exponent: Any) -> Any:
    left, right = to_float(trace, base), to_float(trace, exponent)
    is_negative = _from_to(-math.inf, 0, right)
    if _RAISES_FOR_POWER_OF_0:
        is_negative = is_negative | (right == -math.inf)
    has_pole = (left == 0) & is_negative
    is_complex = _from_to(-math.inf, 0, left) & _from_to(-math.inf, math.inf, right)
    is_complex = is_complex & F.not_equal(F.floor(right), right)
    check(trace, F.logical_not(has_pole | is_complex), _DOMAIN)
    # NumPy takes the square root, which is another one of -0 and of -inf.
    result = F.pow(F.where(right == 0.5, F.abs(left), left), right)
    _check_size(trace, result, left, right)
    return as_number(trace, result, float)


def _check_size(trace: Trace, result: Any, *given: Any) -> None:
    """Record that what is infinite, of finite numbers, is too large."""
    has_reason = F.logical_not(reduce(F.logical_and, map(_is_finite, given)))
    check(trace, F.logical_not(_is_infinite(result)) | has_reason, _RANGE)


@_number_row(math.modf)
def _modf(trace: Trace, value: Any) -> Any:
    number = to_float(trace, value)
    whole = F.trunc(number)
    rest = F.where(_is_infinite(number), 0.0, number - whole)
    return as_number(trace, F.copysign(rest, number), float), as_number(trace, whole, float)


@_number_row(math.frexp)
def _frexp(trace: Trace, value: Any) -> Any:
    number = to_float(trace, value)
    is_plain = _is_finite(number) & (number != 0)
    part, exponent = F.frexp(F.where(is_plain, number, 1.0))
    exponent = F.where(is_plain, exponent, F.cast(0, exponent.dtype))
    part = as_number(trace, F.where(is_plain, part, number), float)
    return part, as_number(trace, F.cast(exponent, "int64"), int)


@_number_row(math.ldexp)
def _ldexp(trace: Trace, value: Any, exponent: Any) -> Any:
    if number_kind(exponent) not in (int, bool):
        raise TypeError("Expected an int as second argument to ldexp.")
    number, left = to_float(trace, value), to_float(trace, exponent)
    left = F.minimum(F.maximum(left, -_MOST_EXPONENT), _MOST_EXPONENT)
    result = number
    for _ in range(4):  # 2.0 ** exponent itself may be too large or small
        step = F.minimum(F.maximum(left, -1000.0), 1000.0)
        result, left = result * F.pow(2.0, step), left - step
    result = F.where(_is_finite(number) & (number != 0), result, number)
    _check_size(trace, result, number)
    return as_number(trace, result, float)


@_number_row(math.ulp)
def _ulp(trace: Trace, value: Any) -> Any:
    size = F.abs(to_float(trace, value))
    above = F.nextafter(size, math.inf) - size
    below = size - F.nextafter(size, -math.inf)
    found = F.where(above == math.inf, below, above)
    return as_number(trace, F.where(_is_finite(size), found, size), float)


# -- of ints ----------------------------------------------------------------------------------


@_number_row(math.factorial, ())
def _factorial(trace: Trace, value: Any) -> Any:
    number = int_of(trace, value)
    check(trace, number >= 0, ValueError("factorial() not defined for negative values"))
    text = "an int of a Program has 64 bits, and the factorial of more than 20 is larger"
    check(trace, number <= 20, OverflowError(text))
    table = np.asarray([math.factorial(one) for one in range(21)], "int64")
    return as_number(trace, F.reshape(F.gather(table, number), []), int)


@_number_row(math.isqrt, ())
def _isqrt(trace: Trace, value: Any) -> Any:
    number = int_of(trace, value)
    check(trace, number >= 0, ValueError("isqrt() argument must be nonnegative"))
    root = F.cast(F.sqrt(F.cast(number, "float64")), "int64")
    root = F.minimum(root, 3037000499)  # the largest whose square is an int of 64 bits
    root = F.where(root * root > number, root - 1, root)
    more = F.minimum(root + 1, 3037000499)
    return as_number(trace, F.where(more * more <= number, more, root), int)


@for_each((math.gcd, lambda a, b: F.gcd(a, b), 0), (math.lcm, lambda a, b: F.lcm(a, b), 1))
def _row_of_ints(function: Any, compute: Compute, start: int) -> None:
    @_number_row(function, ())
    def row(trace: Trace, *values: Any) -> Any:
        numbers = [F.abs(int_of(trace, value)) for value in values]
        return as_number(trace, reduce(compute, numbers, F.cast(start, "int64")), int)
