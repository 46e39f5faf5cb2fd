"""Kernels of activations, against NumPy written by hand."""

from __future__ import annotations

import numpy as np
from measuring import times

import dy2st
from dy2st.nn import functional as F

# Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26: error 1.5e-7
SHARE = 0.3275911
FACTORS = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
BLOCK = 1 << 14


def gelu_by_hand(x):
    """x * (1 + erf(x / sqrt(2))) / 2 in float32, block by block."""
    result = np.empty_like(x)
    source, target = x.reshape(-1), result.reshape(-1)
    for begin in range(0, x.size, BLOCK):
        part, out = source[begin : begin + BLOCK], target[begin : begin + BLOCK]
        scaled = part * np.float32(0.5**0.5)
        size = np.abs(scaled)
        t = size * np.float32(SHARE)
        t += np.float32(1)
        np.divide(np.float32(1), t, out=t)
        np.multiply(t, np.float32(FACTORS[0]), out=out)
        for factor in FACTORS[1:]:
            out += np.float32(factor)
            out *= t
        size *= size
        np.negative(size, out=size)
        np.exp(size, out=size)
        out *= size
        np.subtract(np.float32(1), out, out=out)
        np.copysign(out, scaled, out=out)
        out += np.float32(1)
        out *= part
        out *= np.float32(0.5)
    return result


def against(function, by_hand, shape):
    x = np.random.default_rng(0).standard_normal(shape).astype("float32")
    tensor = dy2st.to_tensor(x)
    np.testing.assert_allclose(function(tensor).numpy(), by_hand(x), rtol=1e-5, atol=1e-6)
    return times(lambda: function(tensor), lambda: by_hand(x), 51)


def test_gelu(figure):
    what = "gelu on (512, 1024), against NumPy in blocks by hand"
    figure(what, lambda: against(F.gelu, gelu_by_hand, (512, 1024)), "times", 1.3)


def test_relu6(figure):
    what = "relu6 on (1, 96, 112, 112), against np.clip"
    by_hand = lambda x: np.clip(x, 0, 6)  # noqa: E731
    figure(what, lambda: against(F.relu6, by_hand, (1, 96, 112, 112)), "times", 1.3)
