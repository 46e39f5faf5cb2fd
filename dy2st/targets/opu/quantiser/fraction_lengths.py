"""Chooses fraction lengths: errors of every candidate, rules, and what is legal.

real = integer * 2 ** -fraction length; rounded half away from zero, and clamped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from dy2st.targets.opu.float_network import named
from dy2st.targets.opu.layer import Layer, LayerType
from dy2st.targets.opu.network import Array
from dy2st_runtime.errors import ArgumentError

FIRST, LAST = -128, 40
"""The candidates: 8 bits at -128 hold the largest float32."""

FEATURES, BIAS = 8, 16
"""Bits of features and weights, and of the bias."""

SEED_LAST = 24
"""The seed's rule searches so far."""

DEFAULT = 7
"""The fraction length of a tensor of zeros, which fits any."""

_CHUNK = 1 << 15  # elements that stay in the cache while all candidates are tried


def quantised(x: Array, fraclen: int, bits: int = FEATURES) -> Array:
    """The integers (int8 or int16) of real numbers.

    >>> quantised(np.array([0.75, -0.75, 9.0]), 1).tolist()
    [2, -2, 18]
    """
    scaled = x.astype(np.float64) * 2.0**fraclen
    rounded = np.trunc(scaled + np.copysign(0.5, scaled))
    limit = 1 << (bits - 1)
    return np.clip(rounded, -limit, limit - 1).astype(np.int8 if bits == FEATURES else np.int16)


def dequantised(x: Array, fraclen: int) -> Array:
    """The real numbers (float32) of integers."""
    return np.ldexp(x.astype(np.float32), -fraclen)


@dataclass
class Statistics:
    """What is known of a tensor after any number of parts: extremes, and each candidate's error.

    errors   sums of squared errors (float64) of the fraction lengths FIRST..LAST.
    lowest   the smallest integer that the tensor can have, -128 but behind a leaky relu.
    """

    bits: int = FEATURES
    lowest: int = -(1 << 7)
    smallest: float = 0.0
    largest: float = 0.0
    errors: Array = field(default_factory=lambda: np.zeros(LAST - FIRST + 1))

    def add(self, x: Array, errors: Array | None = None) -> None:
        """Take in a part of finite numbers; its errors are those of rounding it, if not given."""
        if not x.size:
            return
        self.smallest = min(self.smallest, float(x.min()))
        self.largest = max(self.largest, float(x.max()))
        self.errors += squared_errors(x, self.bits, self.lowest) if errors is None else errors

    def error(self, fraclen: int) -> float:
        """The sum of squared errors of one candidate."""
        return float(self.errors[fraclen - FIRST])

    @property
    def is_zero(self) -> bool:
        """Whether there are only zeros."""
        return self.smallest == 0 == self.largest


def statistics(x: Array, bits: int = FEATURES) -> Statistics:
    """The Statistics of one array."""
    result = Statistics(bits, -(1 << (bits - 1)))
    result.add(x)
    return result


def squared_errors(x: Array, bits: int = FEATURES, lowest: int | None = None) -> Array:
    """Sums of squared errors of all candidates, from FIRST on; exact but for float rounding."""
    flat = np.ascontiguousarray(x).reshape(-1)
    if flat.dtype not in (np.float32, np.float64):
        flat = flat.astype(np.float32)
    highest = (1 << (bits - 1)) - 1
    lowest = -highest - 1 if lowest is None else lowest
    errors = np.zeros(LAST - FIRST + 1)
    for start in range(0, flat.size, _CHUNK):
        errors += _errors_of_chunk(flat[start : start + _CHUNK], lowest, highest)
    return errors


def _errors_of_chunk(x: Array, lowest: int, highest: int) -> Array:
    size = float(np.abs(x).max())
    wide = x.astype(np.float64)
    errors = np.full(LAST - FIRST + 1, float(wide @ wide))  # where all is rounded to zero
    if not size:
        return errors
    scaled, rounded = np.empty_like(x), np.empty_like(x)
    with np.errstate(over="ignore"):
        for fraclen in range(max(FIRST, -1 - math.frexp(size)[1]), LAST + 1):
            np.multiply(x, x.dtype.type(2.0**fraclen), out=scaled)
            np.rint(scaled, out=rounded)
            np.clip(rounded, lowest, highest, out=rounded)
            np.subtract(scaled, rounded, out=scaled)
            errors[fraclen - FIRST] = math.ldexp(float(scaled @ scaled), -2 * fraclen)
    return errors


# -- rules ------------------------------------------------------------------------------------


def least_extreme(stats: Statistics) -> int:
    """The seed's `bits - 1 - lround(log2 |x|)`, the smaller of both extremes'; not of zeros."""
    lengths = [
        stats.bits - 1 - math.floor(math.log2(abs(x)) + 0.5)
        for x in (stats.smallest, stats.largest)
        if x
    ]
    return min(lengths)


def seed_rule(stats: Statistics) -> int:
    """From two below the extremes' up to 24, until the error grows for the first time."""
    if stats.is_zero:
        return DEFAULT
    best = max(FIRST, min(SEED_LAST, least_extreme(stats) - 2))
    for fraclen in range(best + 1, SEED_LAST + 1):
        if stats.error(fraclen) > stats.error(fraclen - 1):
            break
        if stats.error(fraclen) < stats.error(best):
            best = fraclen
    return best


def least_error(errors: Array, first: int = FIRST, last: int = LAST) -> int:
    """The candidate of the least error between two; the smallest one if several have it."""
    if first > LAST or last < FIRST:
        return first if first > LAST else last
    first, last = max(first, FIRST), min(last, LAST)
    return first + int(np.argmin(errors[first - FIRST : last - FIRST + 1]))


def without_saturation(stats: Statistics) -> int:
    """The largest candidate that clamps nothing."""
    highest, fraclen = (1 << (stats.bits - 1)) - 1, LAST
    for limit, value in ((highest, stats.largest), (-stats.lowest, -stats.smallest)):
        if value > 0:
            fraclen = min(fraclen, math.frexp((limit + 0.5) / value)[1] - 1)
            while value * 2.0**fraclen >= limit + 0.5:
                fraclen -= 1
    return fraclen


# -- what the machine can do ------------------------------------------------------------------


def shift_features(layer: Layer) -> int:
    """The field of Compute: how far a product is moved to the left."""
    if layer.type == LayerType.NONE:
        return layer.output_fraclen - layer.input_fraclen + 16
    return layer.output_fraclen + 18 - layer.input_fraclen - layer.weight_fraclen


def shift_bias(layer: Layer) -> int:
    """The field of Compute: how far the bias is moved to the left; 0 without weights."""
    if layer.type == LayerType.NONE:
        return 0
    return layer.output_fraclen + 18 - layer.bias_fraclen


def check_legal(layer: Layer) -> None:
    """ArgumentError if a shift of the layer does not fit its field of five bits."""
    least = 0 if layer.type == LayerType.NONE else 1
    shifts = (("features", shift_features(layer), least), ("the bias", shift_bias(layer), 0))
    for what, shift, first in shifts:
        if not first <= shift <= 31:
            raise ArgumentError(
                f"{named(layer)}: its fraction lengths (input {layer.input_fraclen}, weights "
                f"{layer.weight_fraclen}, bias {layer.bias_fraclen}, output "
                f"{layer.output_fraclen}) shift {what} by {shift}; {first} to 31 is possible"
            )


def legal_weights(input_fraclen: int, output_fraclen: int) -> tuple[int, int]:
    """The first and the last fraction length of weights."""
    return output_fraclen - 13 - input_fraclen, output_fraclen + 17 - input_fraclen


def legal_bias(output_fraclen: int) -> tuple[int, int]:
    """The first and the last fraction length of a bias."""
    return output_fraclen - 13, output_fraclen + 18


__all__ = [
    "BIAS",
    "DEFAULT",
    "FEATURES",
    "FIRST",
    "LAST",
    "SEED_LAST",
    "Statistics",
    "check_legal",
    "dequantised",
    "least_error",
    "least_extreme",
    "legal_bias",
    "legal_weights",
    "quantised",
    "seed_rule",
    "shift_bias",
    "shift_features",
    "squared_errors",
    "statistics",
    "without_saturation",
]
