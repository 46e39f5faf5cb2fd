"""Errors of an output whose way from the cut to the end is taken with integers, per candidate.

A mean or a sum of rounded numbers has another error than the rounded mean or sum.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dy2st.targets.opu.layer import Layer
from dy2st.targets.opu.network import Array
from dy2st.targets.opu.post_processing import post_process
from dy2st.targets.opu.quantiser.fraction_lengths import FIRST, LAST, SEED_LAST


def simulated_errors(layer: Layer, cut: Array, residual: Array | None, wanted: Array) -> Array:
    """Sums of squared errors of all candidates for the output `wanted`, before any upsampling.

    cut       the real numbers that are cut to 8 bits.
    residual  what is added; it has the output's fraction length.

    Infinite beyond SEED_LAST, which no feature has.
    """
    real = wanted.astype(np.float64).reshape(-1)
    errors = np.full(LAST - FIRST + 1, float(real @ real))  # where all is rounded to zero
    errors[SEED_LAST + 1 - FIRST :] = np.inf
    size = max(float(np.abs(x).max(initial=0)) for x in (cut, residual) if x is not None)
    if not size:
        return errors
    for fraclen in range(max(FIRST, -1 - math.frexp(size)[1]), SEED_LAST + 1):
        probe = replace(layer, output_fraclen=fraclen, upsample=0)
        added = None if residual is None else _rounded(residual, fraclen)
        made, _ = post_process(probe, _rounded(cut, fraclen), added)
        off = made.reshape(-1) * 2.0**-fraclen - real
        errors[fraclen - FIRST] = float(off @ off)
    return errors


def _rounded(x: Array, fraclen: int) -> Array:
    """As `quantised`, but for halves, whose error is the same in either direction: faster."""
    scaled: Array = x * x.dtype.type(2.0**fraclen)
    np.rint(scaled, out=scaled)
    np.clip(scaled, -128, 127, out=scaled)
    integers: Array = scaled.astype(np.int8)
    return integers


__all__ = ["simulated_errors"]
