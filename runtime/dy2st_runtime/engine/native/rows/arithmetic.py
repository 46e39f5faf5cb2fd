"""Has the rows of arithmetic: sums, products, quotients, bits, rounding, limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st_runtime.engine.native.rows.row import (
    Row,
    are,
    of_operands,
    of_result,
    with_attributes,
)
from dy2st_runtime.engine.native.text.lanes import BOOL, Lanes, Value, integers_of

# -- division ---------------------------------------------------------------------------------


def _safe(lanes: Lanes, y: Value, is_zero: Value) -> Value:
    """A divisor that no processor stops at: 1 for 0 and for -1, which overflows."""
    one = lanes.constant(1, y.dtype)
    if y.dtype.kind == "i":
        minus_one = lanes.compare("eq", y, lanes.constant(-1, y.dtype))
        is_zero = lanes.either(is_zero, minus_one)
    return lanes.select(is_zero, one, y)


def _quotient(lanes: Lanes, x: Value, y: Value) -> Value:
    """Of integers, rounded down; 0 of a division by 0, as NumPy gives with its warning."""
    zero = lanes.constant(0, y.dtype)
    is_zero = lanes.compare("eq", y, zero)
    safe = _safe(lanes, y, is_zero)
    if x.dtype.kind == "u":
        return lanes.select(is_zero, zero, lanes.binary("udiv", x, safe))
    down = lanes.binary("sdiv", x, safe)
    rest = lanes.subtract(x, lanes.multiply(down, safe))
    down = lanes.select(_is_short(lanes, rest, safe), lanes.subtract(down, _one(lanes, y)), down)
    minus_one = lanes.compare("eq", y, lanes.constant(-1, y.dtype))
    return lanes.select(is_zero, zero, lanes.select(minus_one, lanes.negate(x), down))


def _rest(lanes: Lanes, x: Value, y: Value) -> Value:
    """Of integers, with the sign of y; 0 of a division by 0."""
    zero = lanes.constant(0, y.dtype)
    is_zero = lanes.compare("eq", y, zero)
    safe = _safe(lanes, y, is_zero)
    if x.dtype.kind == "u":
        return lanes.select(is_zero, zero, lanes.binary("urem", x, safe))
    rest = lanes.binary("srem", x, safe)
    rest = lanes.select(_is_short(lanes, rest, safe), lanes.add(rest, safe), rest)
    minus_one = lanes.compare("eq", y, lanes.constant(-1, y.dtype))
    return lanes.select(lanes.either(is_zero, minus_one), zero, rest)


def _is_short(lanes: Lanes, rest: Value, y: Value) -> Value:
    """Whether what is left is not 0 and has not the sign of y."""
    zero = lanes.constant(0, y.dtype)
    is_opposite = lanes.compare("lt", lanes.differ(rest, y), zero)
    return lanes.both(is_opposite, lanes.compare("ne", rest, zero))


def _gcd(lanes: Lanes, x: Value, y: Value) -> Value:
    """As in C, of sizes: 2s out of both, then repeatedly the smaller odd one from the larger."""
    whole = np.dtype(f"uint{8 * x.dtype.itemsize}")
    a, b = (lanes.bits(lanes.magnitude(value), whole) for value in (x, y))
    zero, twos = lanes.constant(0, whole), _low_zeros(lanes, lanes.either(a, b))
    has_none = lanes.compare("eq", a, zero)
    a, b = lanes.select(has_none, b, a), lanes.select(has_none, zero, b)

    def step(a: Value, b: Value) -> list[Value]:
        b = lanes.binary("lshr", b, _low_zeros(lanes, b))
        least, most = lanes.minimum(a, b), lanes.maximum(a, b)
        is_over = lanes.compare("eq", b, zero)
        rest = lanes.subtract(most, least)
        return [lanes.select(is_over, a, least), lanes.select(is_over, b, rest)]

    odd = lanes.binary("lshr", a, _low_zeros(lanes, a))
    found, _ = lanes.iterate([odd, b], lambda a, b: lanes.compare("ne", b, zero), step)
    return lanes.bits(lanes.binary("shl", found, twos), x.dtype)


def _low_zeros(lanes: Lanes, x: Value) -> Value:
    """How many bits below the lowest 1 are 0; none of 0, so that it may be shifted by that."""
    wide = lanes.type(x.dtype)
    found = lanes.let(
        f"call {wide} @llvm.cttz.{lanes.suffix(x.dtype)}({wide} {x.text}, i1 false)", x.dtype
    )
    return lanes.both(found, lanes.constant(8 * x.dtype.itemsize - 1, x.dtype))


def _lcm(lanes: Lanes, x: Value, y: Value) -> Value:
    """|x| / gcd * |y|, which may wrap; 0 of 0 and 0."""
    whole = np.dtype(f"uint{8 * x.dtype.itemsize}")
    a, b = (lanes.bits(lanes.magnitude(value), whole) for value in (x, y))
    divisor = lanes.bits(_gcd(lanes, x, y), whole)
    divisor = lanes.maximum(divisor, lanes.constant(1, whole))
    return lanes.bits(lanes.multiply(lanes.binary("udiv", a, divisor), b), x.dtype)


def _one(lanes: Lanes, like: Value) -> Value:
    return lanes.constant(1, like.dtype)


def _rest_as_in_c(lanes: Lanes, x: Value, y: Value) -> Value:
    """fmod(x, y): exact, with the sign of x.

    x - q * y, rounded once, is exact for a quotient q that a float holds. Where q was rounded up
    what is left has the other sign, and y too few.
    """
    ratio, zero = lanes.divide(x, y), lanes.constant(0, x.dtype)
    limit = lanes.constant(2.0 ** (np.finfo(x.dtype).nmant - 1), x.dtype)
    endless = lanes.constant(np.inf, x.dtype)
    is_far = lanes.either(
        lanes.compare("ge", lanes.magnitude(ratio), limit),
        lanes.compare("eq", lanes.magnitude(y), endless),
    )

    def near() -> Value:
        down = lanes.negate(lanes.intrinsic("trunc", ratio))
        rest = lanes.intrinsic("fma", down, y, x)
        is_opposite = lanes.differ(lanes.compare("lt", rest, zero), lanes.compare("lt", x, zero))
        is_opposite = lanes.both(is_opposite, lanes.compare("ne", rest, zero))
        more = lanes.add(rest, lanes.intrinsic("copysign", y, x), exactly=True)
        return lanes.select(is_opposite, more, rest)

    def far() -> Value:
        return lanes.each(lambda one, *both: one.binary("frem", *both), x, y)

    return lanes.where_any(is_far, far, near)


def _float_parts(lanes: Lanes, x: Value, y: Value) -> tuple[Value, Value]:
    """The quotient as a float that is nearly whole, and the rest with the sign of y; y is not 0."""
    zero = lanes.constant(0, x.dtype)
    rest = _rest_as_in_c(lanes, x, y)
    quotient = lanes.divide(lanes.subtract(x, rest, exactly=True), y)
    has_rest = lanes.compare("ne", rest, zero)
    is_opposite = lanes.differ(lanes.compare("lt", y, zero), lanes.compare("lt", rest, zero))
    is_opposite = lanes.both(is_opposite, has_rest)
    quotient = lanes.select(
        is_opposite, lanes.subtract(quotient, _one(lanes, x), exactly=True), quotient
    )
    rest = lanes.select(is_opposite, lanes.add(rest, y, exactly=True), rest)
    return quotient, lanes.select(has_rest, rest, lanes.intrinsic("copysign", zero, y))


def _float_rest(lanes: Lanes, x: Value, y: Value) -> Value:
    is_zero = lanes.compare("eq", y, lanes.constant(0, y.dtype))
    return lanes.select(
        is_zero, lanes.constant(float("nan"), y.dtype), _float_parts(lanes, x, y)[1]
    )


def _float_quotient(lanes: Lanes, x: Value, y: Value) -> Value:
    zero = lanes.constant(0, x.dtype)
    nearly, _ = _float_parts(lanes, x, y)
    whole = lanes.intrinsic("floor", nearly)
    is_below = lanes.compare(
        "gt", lanes.subtract(nearly, whole, exactly=True), lanes.constant(0.5, x.dtype)
    )
    whole = lanes.select(is_below, lanes.add(whole, _one(lanes, x), exactly=True), whole)
    ratio = lanes.divide(x, y)
    signed = lanes.intrinsic("copysign", zero, ratio)
    whole = lanes.select(lanes.compare("ne", nearly, zero), whole, signed)
    return lanes.select(lanes.compare("eq", y, zero), ratio, whole)


# -- signs, rounding, limits ------------------------------------------------------------------


def _sign(lanes: Lanes, x: Value) -> Value:
    zero, one = lanes.constant(0, x.dtype), _one(lanes, x)
    is_above = lanes.compare("gt", x, zero)
    if x.dtype.kind == "u":
        return lanes.select(is_above, one, zero)
    below = lanes.select(lanes.compare("lt", x, zero), lanes.constant(-1, x.dtype), zero)
    signed = lanes.select(is_above, one, below)
    return signed if x.dtype.kind == "i" else lanes.select(lanes.is_nan(x), x, signed)


def _nextafter(lanes: Lanes, x: Value, y: Value) -> Value:
    """The bits of x and 1 more, or 1 less, seen as an integer; from 0 on the least number."""
    whole = integers_of(x.dtype)
    zero, one = lanes.constant(0, whole), lanes.constant(1, whole)
    bits = lanes.bits(x, whole)
    grows = lanes.differ(lanes.compare("gt", y, x), lanes.has_minus(x))
    moved = lanes.select(grows, lanes.add(bits, one), lanes.subtract(bits, one))
    least = lanes.bits(one, x.dtype)
    is_zero = lanes.compare("eq", x, lanes.bits(zero, x.dtype))
    found = lanes.select(is_zero, lanes.intrinsic("copysign", least, y), lanes.bits(moved, x.dtype))
    found = lanes.select(lanes.compare("eq", x, y), y, found)
    has_none = lanes.let(f"fcmp uno {lanes.type(x.dtype)} {x.text}, {y.text}", BOOL)
    return lanes.select(has_none, lanes.add(x, y), found)


def _rounding(name: str) -> Callable[..., Value]:
    def write(lanes: Lanes, x: Value) -> Value:
        return lanes.intrinsic(name, x) if x.dtype.kind == "f" else x

    return write


def _clip(lanes: Lanes, x: Value, min: Any, max: Any) -> Value:
    """x stays where it equals a limit; what no integer of the dtype is beyond limits nothing."""
    for limit, relation in ((min, "lt"), (max, "gt")):
        if limit is not None and not _is_beyond(limit, x, relation == "lt"):
            bound = lanes.constant(limit, x.dtype)
            x = (
                bound
                if limit != limit
                else lanes.select(lanes.compare(relation, x, bound), bound, x)
            )
    return x


def _is_beyond(limit: Any, x: Value, below: bool) -> bool:
    if x.dtype.kind == "f":
        return False
    bits = 8 * x.dtype.itemsize - (x.dtype.kind == "i")
    least = -(2**bits) if x.dtype.kind == "i" else 0
    return bool(limit <= least if below else limit >= 2**bits - 1)


def _leaky_relu(lanes: Lanes, x: Value, negative_slope: float) -> Value:
    is_above = lanes.compare("gt", x, lanes.constant(0, x.dtype))
    slope = lanes.constant(negative_slope, x.dtype)
    return lanes.select(is_above, x, lanes.multiply(x, slope, exactly=True))


# -- bits -------------------------------------------------------------------------------------


def _left_shift(lanes: Lanes, x: Value, y: Value) -> Value:
    shifted = lanes.binary("shl", x, _places(lanes, y))
    return lanes.select(_is_whole_shift(lanes, y), lanes.constant(0, x.dtype), shifted)


def _right_shift(lanes: Lanes, x: Value, y: Value) -> Value:
    """By the width or more nothing but the sign is left."""
    if x.dtype.kind == "u":
        shifted = lanes.binary("lshr", x, _places(lanes, y))
        return lanes.select(_is_whole_shift(lanes, y), lanes.constant(0, x.dtype), shifted)
    most = lanes.constant(8 * x.dtype.itemsize - 1, x.dtype)
    return lanes.binary("ashr", x, lanes.select(_is_whole_shift(lanes, y), most, y))


def _places(lanes: Lanes, y: Value) -> Value:
    """Less than the width, beyond which LLVM gives anything."""
    return lanes.both(y, lanes.constant(8 * y.dtype.itemsize - 1, y.dtype))


def _is_whole_shift(lanes: Lanes, y: Value) -> Value:
    """Whether y is the width or more; a negative one is as much."""
    width = lanes.constant(8 * y.dtype.itemsize, y.dtype)
    unsigned = np.dtype(f"uint{8 * y.dtype.itemsize}")
    return lanes.compare("ge", lanes.bits(y, unsigned), lanes.bits(width, unsigned))


ARITHMETIC = {
    "add": Row(
        of_result(
            lambda lanes, x, y: lanes.either(x, y) if x.dtype.kind == "b" else lanes.add(x, y)
        ),
        1,
    ),
    "subtract": Row(of_result(Lanes.subtract), 1),
    "multiply": Row(
        of_result(
            lambda lanes, x, y: lanes.both(x, y) if x.dtype.kind == "b" else lanes.multiply(x, y)
        ),
        1,
    ),
    "divide": Row(of_result(Lanes.divide), 4),
    "reciprocal": Row(of_result(lambda lanes, x: lanes.divide(_one(lanes, x), x)), 4, are("f")),
    "floor_divide": Row(
        of_result(
            lambda lanes, x, y: (
                _float_quotient(lanes, x, y) if x.dtype.kind == "f" else _quotient(lanes, x, y)
            )
        ),
        40,
    ),
    "remainder": Row(
        of_result(
            lambda lanes, x, y: (
                _float_rest(lanes, x, y) if x.dtype.kind == "f" else _rest(lanes, x, y)
            )
        ),
        40,
    ),
    "gcd": Row(of_result(_gcd), 200, are("iu")),
    "lcm": Row(of_result(_lcm), 240, are("iu")),
    "maximum": Row(of_operands(Lanes.maximum), 3),
    "minimum": Row(of_operands(Lanes.minimum), 3),
    "neg": Row(of_operands(Lanes.negate), 1),
    "abs": Row(of_operands(Lanes.magnitude), 1),
    "sign": Row(of_operands(_sign), 4),
    "nextafter": Row(of_result(_nextafter), 14),
    "signbit": Row(
        of_operands(
            lambda lanes, x: (
                lanes.has_minus(x)
                if x.dtype.kind == "f"
                else lanes.compare("lt", x, lanes.constant(0, x.dtype))
            )
        ),
        1,
    ),
    "square": Row(of_result(lambda lanes, x: lanes.multiply(x, x)), 1),
    "floor": Row(of_operands(_rounding("floor")), 1),
    "ceil": Row(of_operands(_rounding("ceil")), 1),
    "round": Row(of_operands(_rounding("rint")), 1),
    "trunc": Row(of_operands(_rounding("trunc")), 1),
    "relu": Row(of_operands(lambda lanes, x: lanes.maximum(x, lanes.constant(0, x.dtype))), 1),
    "relu6": Row(of_operands(lambda lanes, x: _clip(lanes, x, 0, 6)), 3),
    "clip": Row(with_attributes(_clip), 3),
    "hardtanh": Row(with_attributes(_clip), 3),
    "leaky_relu": Row(with_attributes(_leaky_relu), 2),
    "bitwise_and": Row(of_operands(Lanes.both), 1),
    "bitwise_or": Row(of_operands(Lanes.either), 1),
    "bitwise_xor": Row(of_operands(Lanes.differ), 1),
    "bitwise_not": Row(of_operands(Lanes.invert), 1),
    "left_shift": Row(of_operands(_left_shift), 3),
    "right_shift": Row(of_operands(_right_shift), 3),
}

__all__ = ["ARITHMETIC"]
