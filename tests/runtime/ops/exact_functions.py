"""What unary functions are, by mpmath: one row each, with the error that their floats may have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath as m
from mpmath import mpf

import dy2st as P
from dy2st_runtime.ops import lazy

F = P.nn.functional
inf, nan = m.inf, m.nan
Rule = Callable[[Any], Any]


class Row(NamedTuple):
    """A function of one number.

    exact     its value at a number that is finite and not 0; None where it has none (NaN)
    ends      its values at -inf, -0.0, 0.0 and inf
    ulps      how many units in the last place of a float32 or float64 it may be off
    of        those are units of this number, where it is larger than the value: of a part of the
              formula that others take away again
    call      what is called, where that is not the function of the name
    """

    exact: Rule
    ends: str
    ulps: float = 3
    of: Rule | None = None
    call: Callable[..., Any] | None = None


def _inside(rule: Rule, low: float, high: float) -> Rule:
    """NaN outside of limits."""
    return lambda x: rule(x) if low <= x <= high else nan


def _is_pole(x: Any) -> bool:
    return bool(x <= 0 and x == m.floor(x))


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + m.exp(-x))


def _softplus(x: Any) -> Any:
    return m.log1p(m.exp(x)) if x < 0 else x + m.log1p(m.exp(-x))


def _elu(x: Any) -> Any:
    return x if x > 0 else m.expm1(x)


def _lgamma(x: Any) -> Any:
    if _is_pole(x):
        return inf
    if x > 0:
        return m.loggamma(x)
    return m.log(m.pi / abs(m.sinpi(x))) - m.loggamma(1 - x)


def _parts_of_lgamma(x: Any) -> Any:
    """Left of 0 a sum of logarithms, which are near to each other where it is near to 0."""
    return 0 if x > 0 or _is_pole(x) else abs(m.loggamma(1 - x)) + abs(m.log(abs(m.sinpi(x)))) + 1


def _polygamma(n: int) -> Rule:
    def rule(x: Any) -> Any:
        if _is_pole(x):
            return nan if n == 0 else inf
        return m.digamma(x) if n == 0 else m.psi(n, x) if x > -200 else _trigamma_far(x)

    return rule


def _trigamma_far(x: Any) -> Any:
    return (m.pi / m.sinpi(x)) ** 2 - m.psi(1, 1 - x)


def _parts_of_digamma(x: Any) -> Any:
    """Left of 0 by reflection: how much pi / tan(pi * x) makes of the error of pi * x."""
    if x > 0 or _is_pole(x):
        return 0
    return abs(m.digamma(1 - x)) + m.pi**2 * abs(x - m.nint(x)) / m.sinpi(x) ** 2


def _bessel(order: int, is_scaled: bool) -> Rule:
    def rule(x: Any) -> Any:
        size = abs(x)
        if size < 3000:
            found = m.besseli(order, size) * (m.exp(-size) if is_scaled else 1)
        else:
            term = total = mpf(1)
            for k in range(1, 12):
                term = term * ((2 * k - 1) ** 2 - 4 * order * order) / (8 * k * size)
                total += term
            found = total / m.sqrt(2 * m.pi * size)
            found = found if is_scaled else found * m.exp(size) if size < 1e6 else inf
        return -found if order and x < 0 else found

    return rule


def _small_share(x: Any) -> Any:
    """A factor that is a denormal number has few digits."""
    return abs(x) * mpf(2) ** (-126 if abs(x) < 200 else -1022)


def _bent(x: Any) -> Any:
    return 2 * m.sqrt(2 / m.pi) * (x + mpf("0.044715") * x**3)


SCALE, ALPHA = mpf(1.0507009873554805), mpf(1.6732632423543772)

ROWS = {
    "abs": Row(abs, "inf 0 0 inf", 0),
    "neg": Row(lambda x: -x, "inf 0 -0 -inf", 0),
    "sign": Row(m.sign, "-1 0 0 1", 0),
    "sgn": Row(m.sign, "-1 0 0 1", 0),
    "floor": Row(m.floor, "-inf -0 0 inf", 0),
    "ceil": Row(m.ceil, "-inf -0 0 inf", 0),
    "round": Row(m.nint, "-inf -0 0 inf", 0),
    "trunc": Row(lambda x: m.floor(x) if x > 0 else m.ceil(x), "-inf -0 0 inf", 0),
    "frac": Row(lambda x: x - (m.floor(x) if x > 0 else m.ceil(x)), "nan 0 0 nan", 0),
    "angle": Row(lambda x: m.pi if x < 0 else mpf(0), f"{float(m.pi)} 0 0 0", 0.5),
    "imag": Row(lambda x: mpf(0), "0 0 0 0", 0),
    "relu": Row(lambda x: max(x, mpf(0)), "0 0 0 inf", 0),
    "relu6": Row(lambda x: min(max(x, mpf(0)), mpf(6)), "0 -0 0 6", 0),
    "hardtanh": Row(lambda x: min(max(x, mpf(-1)), mpf(1)), "-1 -0 0 1", 0),
    "hardshrink": Row(lambda x: x if abs(x) > 0.5 else mpf(0), "-inf 0 0 inf", 0),
    "softshrink": Row(lambda x: m.sign(x) * max(abs(x) - 0.5, mpf(0)), "-inf 0 0 inf", 0.5),
    "leaky_relu": Row(lambda x: x if x > 0 else x / 100, "-inf -0 0 inf", 1),
    "square": Row(lambda x: x * x, "inf 0 0 inf", 0.5),
    "reciprocal": Row(lambda x: 1 / x, "-0 -inf inf 0", 0.5),
    "sqrt": Row(_inside(m.sqrt, 0, inf), "nan -0 0 inf", 0.5),
    "rsqrt": Row(_inside(lambda x: 1 / m.sqrt(x), 0, inf), "nan -inf inf 0"),
    "exp": Row(m.exp, "0 1 1 inf"),
    "expm1": Row(m.expm1, "-1 -0 0 inf"),
    "log": Row(_inside(m.log, 0, inf), "nan -inf -inf inf"),
    "log1p": Row(_inside(lambda x: m.log1p(x) if x > -1 else -inf, -1, inf), "nan -0 0 inf"),
    "log2": Row(_inside(lambda x: m.log(x) / m.log(2), 0, inf), "nan -inf -inf inf"),
    "log10": Row(_inside(lambda x: m.log(x) / m.log(10), 0, inf), "nan -inf -inf inf"),
    "sin": Row(m.sin, "nan -0 0 nan"),
    "cos": Row(m.cos, "nan 1 1 nan"),
    "tan": Row(m.tan, "nan -0 0 nan"),
    "asin": Row(_inside(m.asin, -1, 1), "nan -0 0 nan"),
    "acos": Row(_inside(m.acos, -1, 1), f"nan {float(m.pi / 2)} {float(m.pi / 2)} nan"),
    "atan": Row(m.atan, f"{-float(m.pi / 2)} -0 0 {float(m.pi / 2)}"),
    "sinh": Row(m.sinh, "-inf -0 0 inf"),
    "cosh": Row(m.cosh, "inf 1 1 inf"),
    "tanh": Row(m.tanh, "-1 -0 0 1"),
    "asinh": Row(m.asinh, "-inf -0 0 inf"),
    "acosh": Row(_inside(m.acosh, 1, inf), "nan nan nan inf"),
    "atanh": Row(_inside(lambda x: m.atanh(x) if abs(x) < 1 else x * inf, -1, 1), "nan -0 0 nan"),
    "deg2rad": Row(lambda x: x * m.pi / 180, "-inf -0 0 inf"),
    "rad2deg": Row(lambda x: x * 180 / m.pi, "-inf -0 0 inf"),
    "sinc": Row(m.sincpi, "nan 1 1 nan"),
    "logit": Row(
        _inside(lambda x: m.log(x / (1 - x)) if x < 1 else inf, 0, 1), "nan -inf -inf nan"
    ),
    "erf": Row(m.erf, "-1 -0 0 1", 4),
    "erfinv": Row(
        _inside(lambda x: m.erfinv(x) if abs(x) < 1 else x * inf, -1, 1), "nan -0 0 nan"
    ),
    "sigmoid": Row(_sigmoid, "0 0.5 0.5 1"),
    "log_sigmoid": Row(lambda x: -_softplus(-x), f"-inf {-float(m.log(2))} {-float(m.log(2))} -0"),
    "softplus": Row(
        lambda x: x if x > 20 else _softplus(x), f"0 {float(m.log(2))} {float(m.log(2))} inf"
    ),
    "silu": Row(lambda x: x * _sigmoid(x), "nan -0 0 inf", of=_small_share),
    "mish": Row(lambda x: x * m.tanh(_softplus(x)), "nan -0 0 inf", 4, _small_share),
    "gelu": Row(
        lambda x: x * m.erfc(-x / m.sqrt(2)) / 2 if abs(x) < 1e6 else max(x, mpf(0)),
        "nan -0 0 inf",
        5,  # two powers of e, and a polynomial of 22 terms
        of=_small_share,
    ),
    "gelu of tanh": Row(
        lambda x: x * _sigmoid(_bent(x)),
        "nan -0 0 inf",
        # the error of the number in e**number, which is as much larger as that number is
        of=lambda x: max(_small_share(x), abs(x * _bent(x) * _sigmoid(_bent(x)))),
        call=lambda x: F.gelu(x, approximate=True),
    ),
    "elu": Row(_elu, "-1 -0 0 inf"),
    "celu": Row(_elu, "-1 -0 0 inf"),
    "selu": Row(
        lambda x: SCALE * (x if x > 0 else ALPHA * m.expm1(x)), f"{-float(SCALE * ALPHA)} -0 0 inf"
    ),
    "softsign": Row(lambda x: x / (1 + abs(x)), "nan -0 0 nan"),
    "stanh": Row(lambda x: mpf(1.7159) * m.tanh(mpf(0.67) * x), "-1.7159 -0 0 1.7159"),
    "hardswish": Row(lambda x: x * min(max(x + 3, mpf(0)), mpf(6)) / 6, "nan -0 0 inf"),
    "hardsigmoid": Row(  # slope * x + offset: near -3 both are equal but for the sign
        lambda x: min(max(x / 6 + mpf(1) / 2, mpf(0)), mpf(1)), "0 0.5 0.5 1", of=lambda x: 0.5
    ),
    "tanhshrink": Row(lambda x: x - m.tanh(x), "-inf 0 0 inf", of=abs),  # equal near 0
    "lgamma": Row(_lgamma, "inf inf inf inf", 6, of=_parts_of_lgamma),
    "digamma": Row(_polygamma(0), "nan inf -inf inf", of=_parts_of_digamma),
    "trigamma": Row(_polygamma(1), "nan inf inf 0", 8, call=lambda x: P.polygamma(x, 1)),
    **{
        f"i{order}{'e' * is_scaled}": Row(  # of x**2 / 4, whose error counts x / 2 times
            _bessel(order, is_scaled),
            " ".join(["-" * order + end, "-0 0" if order else "1 1", end]),
            8,
        )
        for order in (0, 1)
        for is_scaled in (False, True)
        for end in ["0" if is_scaled else "inf"]
    },
}  # fmt: skip

ALIASES = {
    "gammaln": "lgamma",
    "logsigmoid": "log_sigmoid",
    "negative": "neg",
    "polygamma": "trigamma",
    "swish": "silu",
}
MADE = ("empty_like", "ones_like", "zeros_like")  # of the shape alone
# Of several numbers, or no mathematics.
OTHERS = ("instance_norm", "increment", "array_reverse", "label_smooth", "thresholded_relu")


def called(name: str) -> Callable[..., Any]:
    """The function of a row."""
    return ROWS[name].call or getattr(P, name, None) or getattr(F, name)


def public_functions() -> dict[str, Any]:
    """All public functions by their names, those that change their tensor left out."""
    lazy.load_all()
    names = {*dir(P), *dir(F)}
    found = {n: getattr(P, n, getattr(F, n, None)) for n in names if not n.startswith("_")}
    return {n: f for n, f in sorted(found.items()) if callable(f) and not n.endswith("_")}
