"""Operators that compute element by element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dy2st_runtime.engine.xla.library import jax, jnp, lax, special
from dy2st_runtime.engine.xla.lowerings.numbers import (
    cast,
    floats,
    in_float64,
    longer,
    on_floats,
    quotient,
)
from dy2st_runtime.engine.xla.table import check, lower, rows

# By their names in jax.numpy; of integers as of floats.
_FUNCTIONS = {
    name: name
    for name in (
        *("exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "sin", "cos", "tan", "sinh"),
        *("cosh", "tanh", "isnan", "isinf", "isfinite", "signbit"),
    )
}
_FUNCTIONS |= {
    f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")
}
# As they are, for all dtypes alike.
_PLAIN = {
    name: name
    for name in (
        *("add", "subtract", "multiply", "maximum", "minimum", "gcd", "lcm", "where", "real"),
        *("imag", "conj", "sign", "logical_not", "logical_and", "logical_or", "logical_xor"),
        *("bitwise_not", "bitwise_and", "bitwise_or", "bitwise_xor", "equal", "not_equal"),
        *("less_equal", "greater_equal", "left_shift", "right_shift", "nextafter", "logaddexp"),
    )
}
_PLAIN |= {"less_than": "less", "greater_than": "greater", "neg": "negative"}
_ROUNDING = ("floor", "ceil", "round", "trunc")


def _named(name: str) -> Any:
    return lambda *arrays: getattr(jnp, name)(*arrays)


def _rounded(name: str) -> Any:
    return lambda x: x if x.dtype.kind in "iub" else getattr(jnp, name)(x)


def _numbers(x: Any) -> Any:
    """Bools as NumPy counts them."""
    return x.astype(np.int8) if x.dtype == np.bool_ else x


def _angle(x: Any) -> Any:
    if x.dtype.kind == "c":
        return jnp.angle(x)
    x = floats(x)
    return jnp.where(x < 0, np.asarray(math.pi, x.dtype), x * 0)


rows({name: on_floats(function) for name, function in _FUNCTIONS.items()})
rows({name: _named(function) for name, function in _PLAIN.items()})
rows({name: _rounded(name) for name in _ROUNDING})
rows(
    {
        "abs": lambda x: x if x.dtype == np.bool_ else jnp.abs(x),
        "square": lambda x: jnp.square(_numbers(x)),
        "reciprocal": lambda x: 1 / floats(x),
        "rsqrt": lambda x: 1 / jnp.sqrt(floats(x)),
        "relu": lambda x: x if x.dtype == np.bool_ else jnp.maximum(x, np.zeros((), x.dtype)),
        "sigmoid": lambda x: (
            1 / (jnp.exp(-x) + 1) if x.dtype.kind == "c" else jax.nn.sigmoid(floats(x))
        ),
        "angle": _angle,
        "erf": lambda x: lax.erf(floats(x)),
        "divide": lambda x, y: quotient(floats(x), floats(y)),
        "pow": lambda x, y: jnp.power(_numbers(x), _numbers(y)),
        "complex": lambda x, y: lax.complex(*jnp.broadcast_arrays(x, y)),
        "cast": lambda x, dtype: cast(x, dtype),
        "bitcast": lambda x, dtype: (
            x.astype(dtype) if x.dtype == np.bool_ else lax.bitcast_convert_type(x, dtype)
        ),
        "assign": lambda x: x,
        "detach": lambda x: x,
        "set_stop_gradient": lambda x, value: x,
        "straight_through": lambda x, source: jnp.broadcast_arrays(x, source)[0],
        "hooked": lambda x, hook: x,
        "sealed": lambda x, *behind, maker: x,
        "sealed_results": lambda *values, count, maker: values[:count],
        "frexp": lambda x: jnp.frexp(longer(x)),
    }
)
# NumPy's kernels compute these in float64, too.
rows(
    {
        "lgamma": in_float64(lambda x: special.gammaln(x)),
        "polygamma": in_float64(
            lambda x, n: special.digamma(x) if n == 0 else special.polygamma(n, x)
        ),
        "erfinv": in_float64(lambda x: special.erfinv(x)),
        "gammainc": in_float64(lambda x, y: special.gammainc(x, y)),
        "gammaincc": in_float64(lambda x, y: special.gammaincc(x, y)),
        **{
            name: in_float64(lambda x, name=name: getattr(special, name)(x))
            for name in ("i0", "i0e", "i1", "i1e")
        },
    }
)


@lower("floor_divide")
def _floor_divide(x: Any, y: Any) -> Any:
    """Of floats by way of the remainder, so that the quotient is exact."""
    x, y = jnp.broadcast_arrays(longer(_numbers(x)), longer(_numbers(y)))
    if x.dtype.kind in "iu":
        return jnp.floor_divide(x, y)
    rest = lax.rem(x, y)
    quotient = (x - rest) / y - _is_other(rest, y)
    whole = jnp.floor(quotient)
    whole = jnp.where(quotient - whole > 0.5, whole + 1, whole)
    whole = jnp.where(quotient == 0, jnp.copysign(jnp.zeros_like(x), x / y), whole)
    return jnp.where(y == 0, x / y, whole)


def _is_other(rest: Any, y: Any) -> Any:
    """Whether a remainder of the sign of x has not that of y."""
    return (rest != 0) & ((rest < 0) != (y < 0))


@lower("remainder")
def _remainder(x: Any, y: Any) -> Any:
    """With the sign of y, as Python's."""
    x, y = jnp.broadcast_arrays(longer(_numbers(x)), longer(_numbers(y)))
    if x.dtype.kind in "iu":
        return jnp.remainder(x, y)
    rest = lax.rem(x, y)
    rest = jnp.where(_is_other(rest, y), rest + y, rest)
    return jnp.where(rest == 0, jnp.copysign(jnp.zeros_like(y), y), rest)


@check("floor_divide", "remainder")
def _divides(z: Any, x: Any, y: Any) -> Any:
    """An integer divided by 0 raises."""
    return jnp.all(y != 0) if y.dtype.kind in "iub" else True


@check("pow")
def _is_whole(z: Any, x: Any, y: Any) -> Any:
    """A negative power of an integer raises."""
    return jnp.all(y >= 0) if y.dtype.kind == "i" else True
