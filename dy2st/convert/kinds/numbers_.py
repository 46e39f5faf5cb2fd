"""Builtins of numbers: int, float, bool, complex, abs, round, divmod, pow."""

from __future__ import annotations

from typing import Any

from dy2st.convert.kinds.code_texts import READS_AND_WRITES, as_codes, is_of_codes
from dy2st.convert.kinds.scalars import as_number, is_traced, scalar, to_float
from dy2st.convert.kinds.table import function_row
from dy2st.convert.trace import Trace, own_method
from dy2st.convert.values.layout import number_kind
from dy2st_runtime.dims import Condition, Dim, maximum
from dy2st_runtime.errors import ConversionError, TensorAsPython
from dy2st_runtime.ir import F, Variable, user_location
from dy2st_runtime.ir.choice import Text


@function_row(int)
def _int(trace: Trace, *args: Any, **options: Any) -> Any:
    base = options.get("base", args[1] if args[1:] else 10)
    text = as_codes(trace, args[0]) if args and type(base) is int and 1 < base < 11 else None
    if is_of_codes(text) and len(args) + len(options) < 3:
        return trace.call(READS_AND_WRITES["integer"], text, base)
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
            at=user_location(),
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


@function_row(bool)
def _bool(trace: Trace, value: Any = False) -> Any:
    return trace.truth_value(value)


@function_row(complex)
def _complex(trace: Trace, *args: Any, **options: Any) -> Any:
    if any(map(is_traced, (*args, *options.values()))):
        raise TensorAsPython(
            "complex() of a traced tensor",
            at=user_location(),
            why="only the run has its value, and a Program has no complex numbers of Python",
            hint="compute with a tensor of them: x + 0j",
        )
    return complex(*args, **options)


@function_row(abs)
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
            at=user_location(),
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
    if not any(map(is_traced, (base, exp, mod))) and mod is not None:
        return pow(base, exp, mod)
    found = trace.pow_(base, exp)
    return found if mod is None else trace.mod(found, mod)
