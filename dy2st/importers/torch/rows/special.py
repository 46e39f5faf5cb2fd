"""Fourier transforms, which torch takes apart to three, and special functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from dy2st.importers.torch.table import Call, Row, as_tensor, axis_of, row, rows
from dy2st_runtime.dims import product
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ops.control_flow import while_loop


def erfc(x: Any) -> Any:
    """1 - erf(x), exact where that cancels."""
    half = as_tensor(0.5, x.dtype)
    is_far = F.greater_than(x, half)
    far = F.where(is_far, x, F.ones_like(x))
    tail = F.gammaincc(F.full_like(far, 0.5), F.multiply(far, far))
    near = F.where(is_far, F.zeros_like(x), x)
    return F.where(is_far, tail, F.subtract(as_tensor(1, x.dtype), F.erf(near)))


@row("aten.erfc.default", "aten.special_erfc.default")
def _erfc(at: Call, x: Any) -> Any:
    return erfc(at.cast(x))


@row("aten.special_ndtr.default")
def _normal(at: Call, x: Any) -> Any:
    x = at.cast(x)
    half = as_tensor(0.5, x.dtype)
    return F.multiply(half, erfc(F.multiply(x, as_tensor(-math.sqrt(0.5), x.dtype))))


@row("aten.special_entr.default")
def _entropy(at: Call, x: Any) -> Any:
    x = at.cast(x)
    zero = F.zeros_like(x)
    is_some = F.greater_than(x, zero)
    safe = F.where(is_some, x, F.ones_like(x))
    below = F.where(
        F.less_than(x, zero), as_tensor(-math.inf, x.dtype), F.where(F.isnan(x), x, zero)
    )
    return F.where(is_some, F.neg(F.multiply(x, F.log(safe))), below)


rows(
    {
        "polygamma special_polygamma": lambda at, n, x: F.polygamma(at.cast(x), n),
        "mvlgamma": lambda at, x, p: F.multigammaln(at.cast(x), p),
    }
)


@row("aten.special_erfcx.default")
def _erfcx(at: Call, x: Any) -> Any:
    return _scaled_erfc(at.cast(x))


def _scaled_erfc(x: Any) -> Any:
    """exp(x^2) erfc(x): by a continued fraction from 3 on."""
    is_far = F.greater_than(x, as_tensor(3, x.dtype))
    far = F.where(is_far, x, as_tensor(3, x.dtype))
    fraction = far
    for k in range(40, 0, -1):
        fraction = F.add(far, F.divide(as_tensor(k / 2, x.dtype), fraction))
    tail = F.divide(as_tensor(1 / math.sqrt(math.pi), x.dtype), fraction)
    near = F.where(is_far, F.zeros_like(x), x)
    return F.where(is_far, tail, F.multiply(F.exp(F.multiply(near, near)), erfc(near)))


@row("aten.special_log_ndtr.default")
def _log_normal(at: Call, x: Any) -> Any:
    x = F.multiply(at.cast(x), as_tensor(math.sqrt(0.5), at.dtype))
    half = as_tensor(0.5, x.dtype)
    is_low = F.less_than(x, as_tensor(-0.7, x.dtype))
    low, high = F.where(is_low, x, F.neg(F.ones_like(x))), F.where(is_low, F.zeros_like(x), x)
    tail = F.subtract(F.log(F.multiply(half, _scaled_erfc(F.neg(low)))), F.multiply(low, low))
    return F.where(is_low, tail, F.log1p(F.neg(F.multiply(half, erfc(high)))))


rows(
    {
        "special_ndtri": lambda at, x: F.multiply(
            F.erfinv(F.subtract(F.multiply(at.cast(x), at.cast(2)), at.cast(1))),
            at.cast(math.sqrt(2)),
        ),
        "special_modified_bessel_i0": lambda at, x: F.i0(at.cast(x)),
        "special_modified_bessel_i1": lambda at, x: F.i1(at.cast(x)),
        "special_spherical_bessel_j0": lambda at, x: F.sinc(F.divide(at.cast(x), at.cast(math.pi))),
    }
)


# -- orthogonal polynomials -------------------------------------------------------------------

First = Callable[[Any], Any]
Next = Callable[[Any, Any, Any, Any], Any]


def _polynomial(first: First, following: Next, is_shifted: bool = False) -> Row:
    """By the recurrence from degree k to k + 1, up to the largest degree that is asked for."""

    def record(at: Call, x: Any, n: Any) -> Any:
        x, n = F.broadcast_tensors([at.cast(x), F.trunc(at.cast(n))])
        x = x * 2.0 - 1.0 if is_shifted else x
        zero, one = F.zeros_like(x), F.ones_like(x)
        start = F.where(F.greater_equal(n, zero), one, zero)
        most = F.amax(n) if product(x.shape) != 0 else as_tensor(0, x.dtype)

        def step(k: Any, below: Any, now: Any, found: Any) -> list[Any]:
            found = F.where(F.equal(n, k), now, found)
            return [k + 1.0, now, following(k, x, now, below), found]

        state = [as_tensor(1.0, x.dtype), one, first(x), start]
        return while_loop(lambda k, *_: [F.less_equal(k, most)], step, state)[3]

    return record


def _twice(k: Any, x: Any, now: Any, below: Any) -> Any:
    return x * now * 2.0 - below


_CHEBYSHEV: dict[str, First] = {
    "t": lambda x: x,
    "u": lambda x: x * 2.0,
    "v": lambda x: x * 2.0 - 1.0,
    "w": lambda x: x * 2.0 + 1.0,
}
rows(
    {
        f"special_{prefix}chebyshev_polynomial_{kind}": _polynomial(first, _twice, bool(prefix))
        for kind, first in _CHEBYSHEV.items()
        for prefix in ("", "shifted_")
    }
)
rows(
    {
        "special_hermite_polynomial_h": _polynomial(
            lambda x: x * 2.0, lambda k, x, now, below: (x * now - k * below) * 2.0
        ),
        "special_hermite_polynomial_he": _polynomial(
            lambda x: x, lambda k, x, now, below: x * now - k * below
        ),
        "special_laguerre_polynomial_l": _polynomial(
            lambda x: 1.0 - x,
            lambda k, x, now, below: ((k * 2.0 + 1.0 - x) * now - k * below) / (k + 1.0),
        ),
        "special_legendre_polynomial_p": _polynomial(
            lambda x: x,
            lambda k, x, now, below: ((k * 2.0 + 1.0) * x * now - k * below) / (k + 1.0),
        ),
    }
)


# -- Fourier transforms -----------------------------------------------------------------------

# torch says what the sum is divided by; NumPy's names say it of both directions.
_FORWARD = {0: "backward", 1: "ortho", 2: "forward"}
_INVERSE = {0: "forward", 1: "ortho", 2: "backward"}


@row("aten._fft_c2c.default")
def _complex(at: Call, x: Any, dim: Sequence[int], normalization: int, forward: bool) -> Any:
    x = at.cast(x)
    norm = (_FORWARD if forward else _INVERSE)[normalization]
    for axis in dim:
        x = F.fourier(x, axis_of(axis, x.ndim), not forward, norm)
    return x


@row("aten._fft_r2c.default")
def _of_real(at: Call, x: Any, dim: Sequence[int], normalization: int, onesided: bool) -> Any:
    if not onesided:
        return _complex(at, x, dim, normalization, True)
    made = F.fourier_of_real(x, axis_of(dim[-1], x.ndim), _FORWARD[normalization])
    return _complex(at, made, dim[:-1], normalization, True)


@row("aten._fft_c2r.default")
def _to_real(at: Call, x: Any, dim: Sequence[int], normalization: int, last_dim_size: Any) -> Any:
    for axis in dim[:-1]:
        x = F.fourier(x, axis_of(axis, x.ndim), True, _INVERSE[normalization])
    last = axis_of(dim[-1], x.ndim)
    return F.fourier_to_real(x, last, last_dim_size, _INVERSE[normalization])
