"""exp and what is made of it: expm1, sinh, cosh, tanh, sigmoid.

x = n * ln(2) + r with n whole and |r| <= ln(2) / 2; e**r - 1 = r + r**2 * P(r); 2**n is made of
bits. P is fitted by `benchmarks/fit_math.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from dy2st_runtime.engine.native.math.tables import TANH, has_tables, odd
from dy2st_runtime.engine.native.text.lanes import DType, Lanes, Value, integers_of


class _Format(NamedTuple):
    """What differs between float32 and float64."""

    magic: float  # added to a number, it leaves that rounded in the lowest bits
    mantissa: int
    bias: int
    high: float  # the upper bits of ln(2): n * high is exact
    low: float
    least: float  # of smaller x exp is 0
    most: float  # of larger x it is inf
    flat: float  # of larger x tanh is 1
    rise: tuple[float, ...]
    sinh: tuple[float, ...]
    tanh: tuple[float, ...]

    @property
    def shift(self) -> int:
        """The bits of `magic`, which n in the lowest ones is added to."""
        return ((self.bias + self.mantissa) << self.mantissa) + (1 << self.mantissa - 1)


FORMATS = {
    4: _Format(
        magic=1.5 * 2**23,
        mantissa=23,
        bias=127,
        high=0.693359375,
        low=-2.12194440054690583e-4,
        least=-104.0,
        most=90.0,
        flat=9.1,
        rise=(0.4999999344, 0.1666652048, 0.04166838986, 0.008368735537, 0.001381456019),
        sinh=(0.1666671602, 0.00833028372, 0.0002037219428),
        tanh=(-0.333332819, 0.133314409, -0.05373960068, 0.0206386963, -0.005704531862),
    ),
    8: _Format(
        magic=1.5 * 2**52,
        mantissa=52,
        bias=1023,
        high=6.93147180369123816490e-01,
        low=1.90821492927058770002e-10,
        least=-746.0,
        most=711.0,
        flat=20.0,
        rise=(
            *(0.500000000000001065, 0.166666666666664118, 0.0416666666665298733),
            *(0.00833333333349480688, 0.00138888889437161169, 0.000198412695060357337),
            *(0.0000248014930000739891, 2.75575866687341802e-6, 2.76302866895419838e-7),
            2.50000297845174551e-8,
        ),
        sinh=(
            *(0.166666666666666674, 0.00833333333333314774, 0.000198412698414318726),
            *(2.75573191570718733e-6, 2.50521231367202657e-8, 1.6057259769116591e-10),
            7.75874878533065076e-13,
        ),
        tanh=(
            *(-0.333333333333328543, 0.13333333333261966, -0.0539682539312096618),
            *(0.021869487574770889, -0.00886322098536121598, 0.00359198903501203956),
            *(-0.00145495816730647179, 0.000586314216943304446, -0.00022855951696955168),
            *(0.0000771390279128917758, -0.0000160699562600630714),
        ),
    ),
}


def format_of(dtype: DType) -> _Format:
    """The numbers of a float's dtype."""
    return FORMATS[dtype.itemsize]


def _reduced(lanes: Lanes, x: Value, more: Value | None = None) -> tuple[Value, Value]:
    """n in the lowest bits of an integer, and e**r - 1, of x or of x + more."""
    form, dtype = format_of(x.dtype), x.dtype
    magic = lanes.constant(form.magic, dtype)
    shifted = lanes.fma(x, lanes.constant(1.4426950408889634, dtype), magic)
    n = lanes.subtract(shifted, magic, exactly=True)
    r = lanes.fma(n, lanes.constant(-form.high, dtype), x)
    r = lanes.fma(n, lanes.constant(-form.low, dtype), r)
    r = r if more is None else lanes.add(r, more)
    rise = lanes.fma(lanes.multiply(r, r), lanes.polynomial(r, form.rise), r)
    return lanes.bits(shifted, integers_of(dtype)), rise


def _power_of_2(lanes: Lanes, n: Value, dtype: DType, less: int = 0) -> Value:
    """2**(n - less), where that is no subnormal; n is in the lowest bits."""
    form = format_of(dtype)
    moved = lanes.binary("shl", n, lanes.constant(form.mantissa, n.dtype))
    one = lanes.constant((form.bias - less) << form.mantissa, n.dtype)
    return lanes.bits(lanes.add(moved, one), dtype)


def _limited(lanes: Lanes, x: Value, least: float | None, most: float | None) -> Value:
    """x between limits; NaN stays."""
    for limit, relation in ((least, "lt"), (most, "gt")):
        if limit is not None:
            bound = lanes.constant(limit, x.dtype)
            x = lanes.select(lanes.compare(relation, x, bound), bound, x)
    return x


def exp(lanes: Lanes, x: Value, less: int = 0, more: Value | None = None) -> Value:
    """e**(x + more) / 2**less; of the two factors of its scale the last one alone rounds."""
    form = format_of(x.dtype)
    n, rise = _reduced(lanes, _limited(lanes, x, form.least, form.most), more)
    power = lanes.add(rise, lanes.constant(1, x.dtype))
    if lanes.function.scales:
        return lanes.scaled(power, lanes.subtract(n, lanes.constant(form.shift + less, n.dtype)))
    half = lanes.binary("ashr", n, lanes.constant(1, n.dtype))
    rest = lanes.subtract(n, half)
    power = lanes.multiply(power, _power_of_2(lanes, half, x.dtype))
    return lanes.multiply(power, _power_of_2(lanes, rest, x.dtype, less))


def exp_inside(lanes: Lanes, x: Value) -> Value:
    """e**x for x that is neither large nor very negative: the result is no subnormal."""
    n, rise = _reduced(lanes, x)
    power = lanes.add(rise, lanes.constant(1, x.dtype))
    return lanes.multiply(power, _power_of_2(lanes, n, x.dtype))


def expm1(lanes: Lanes, x: Value) -> Value:
    """e**x - 1 = 2 * (2**(n-1) * rise + (2**(n-1) - 1/2))."""
    form, dtype = format_of(x.dtype), x.dtype
    n, rise = _reduced(lanes, _limited(lanes, x, -2.0 * form.flat, form.most - 1))
    half = _power_of_2(lanes, n, dtype, less=1)
    whole = lanes.subtract(half, lanes.constant(0.5, dtype))
    result = lanes.multiply(lanes.constant(2, dtype), lanes.fma(half, rise, whole))
    return lanes.intrinsic("copysign", result, x)


def tanh(lanes: Lanes, x: Value) -> Value:
    """1 - 2 / (e**2|x| + 1), and a polynomial near 0; or of a table."""
    if has_tables(lanes, x):
        return odd(lanes, x, TANH)
    form, dtype = format_of(x.dtype), x.dtype
    size, one = lanes.magnitude(x), lanes.constant(1, dtype)
    near = _near(lanes, size, form.tanh)
    size = _limited(lanes, size, None, form.flat)
    n, rise = _reduced(lanes, lanes.add(size, size))
    power = _power_of_2(lanes, n, dtype)
    below = lanes.fma(power, rise, lanes.add(power, one))
    far = lanes.subtract(one, lanes.divide(lanes.constant(2, dtype), below))
    is_near = lanes.compare("lt", size, lanes.constant(0.625, dtype))
    return lanes.intrinsic("copysign", lanes.select(is_near, near, far), x)


def _near(lanes: Lanes, x: Value, terms: tuple[float, ...]) -> Value:
    """x + x**3 * P(x**2)."""
    square = lanes.multiply(x, x)
    return lanes.fma(lanes.multiply(x, square), lanes.polynomial(square, terms), x)


def sigmoid(lanes: Lanes, x: Value) -> Value:
    """m - m * q with z = e**-|x| and q = z / (1 + z), where m is z for x < 0, else 1."""
    one = lanes.constant(1, x.dtype)
    small = exp(lanes, lanes.negate(lanes.magnitude(x)))
    share = lanes.divide(small, lanes.add(one, small))
    is_below = lanes.compare("lt", x, lanes.constant(0, x.dtype))
    whole = lanes.select(is_below, small, one)
    return lanes.fma(lanes.negate(whole), share, whole)


def cosh(lanes: Lanes, x: Value) -> Value:
    """e**|x| / 2 + 1 / (2 * e**|x|)."""
    half, rest = _halves(lanes, x)
    return lanes.add(half, rest)


def sinh(lanes: Lanes, x: Value) -> Value:
    """e**|x| / 2 - 1 / (2 * e**|x|), and a polynomial near 0."""
    size = lanes.magnitude(x)
    half, rest = _halves(lanes, x)
    near = _near(lanes, size, format_of(x.dtype).sinh)
    is_near = lanes.compare("lt", size, lanes.constant(1, x.dtype))
    result = lanes.select(is_near, near, lanes.subtract(half, rest))
    return lanes.intrinsic("copysign", result, x)


def _halves(lanes: Lanes, x: Value) -> tuple[Value, Value]:
    half = exp(lanes, lanes.magnitude(x), less=1)
    return half, lanes.divide(lanes.constant(0.25, x.dtype), half)
