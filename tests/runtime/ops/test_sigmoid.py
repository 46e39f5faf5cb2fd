"""sigmoid and what is made of it against mpmath, on both engines."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import dy2st as P

F = P.nn.functional
POINTS = np.concatenate(
    [np.linspace(-103, -0.01, 97), np.linspace(0.01, 90, 31), [0.0, -0.0, -1e30, 1e30, -1e-30]]
)


def _exact(x):
    return 1 / (1 + mpmath.exp(-mpmath.mpf(float(x))))


def _ulps(found, wanted):
    ulp = max(np.spacing(np.abs(found)), np.finfo(found.dtype).smallest_subnormal)
    return float(abs(mpmath.mpf(float(found)) - wanted) / mpmath.mpf(float(ulp)))


FUNCTIONS = {
    "sigmoid": (F.sigmoid, _exact),
    "silu": (F.silu, lambda x: mpmath.mpf(float(x)) * _exact(x)),
    "swish": (F.swish, lambda x: mpmath.mpf(float(x)) * _exact(x)),
    "glu": (lambda x: F.glu(P.concat([P.ones_like(x), x])), _exact),
}


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_digits_are_lost_below_zero(name, dtype, engine):
    function, exact = FUNCTIONS[name]
    x = POINTS.astype(dtype)
    found = P.to_static(function, engine=engine)(P.to_tensor(x)).numpy()
    with mpmath.workdps(40):
        ulps = [_ulps(value, exact(v)) for value, v in zip(found, x, strict=True)]
    if engine == "native":  # machine code multiplies with a share that may be denormal
        ulps = [u for u, v in zip(ulps, x, strict=True) if v > -87]
    assert max(ulps) <= 2.0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_short_floats_are_rounded_once(dtype):
    x = P.to_tensor(np.linspace(-9, 9, 181).astype("float32")).astype(dtype)
    wide = x.astype("float64").numpy()
    for found, wanted in (
        (F.sigmoid(x), 1 / (1 + np.exp(-wide))),
        (F.silu(x), wide / (1 + np.exp(-wide))),
    ):
        rounded = P.to_tensor(wanted.astype("float32")).astype(dtype)
        np.testing.assert_array_equal(
            found.astype("float32").numpy(), rounded.astype("float32").numpy()
        )


def test_the_logarithm_of_a_small_share_is_the_number():
    x = P.to_tensor([-10.0, -17.0, -20.0, -50.0, -87.0])
    np.testing.assert_allclose(P.log(P.sigmoid(x)).numpy(), x.numpy(), rtol=1e-5)
    ones = P.ones([5])
    losses = F.binary_cross_entropy(P.sigmoid(x), ones, reduction="none")
    np.testing.assert_allclose(losses.numpy(), -x.numpy(), rtol=1e-5)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_infinities_and_nan_are_torchs(dtype, engine):
    x = P.to_tensor(np.array([-np.inf, np.inf, np.nan], dtype))
    sigmoid, silu = (P.to_static(f, engine=engine)(x).numpy() for f in (F.sigmoid, F.silu))
    np.testing.assert_array_equal(sigmoid, np.array([0, 1, np.nan], dtype))
    np.testing.assert_array_equal(silu, np.array([np.nan, np.inf, np.nan], dtype))
