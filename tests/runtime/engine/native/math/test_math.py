"""Mathematical functions in machine code: how far from the true values, and what ends give.

float32 is measured against float64 functions of NumPy or SciPy, on numbers spread over all bit
patterns: every one of them with DY2ST_TESTS=full. float64 is measured against 80-bit functions.
"""

from __future__ import annotations

import math as python

import numpy as np
import pytest
from scipy import special

from dy2st_runtime.engine.native.machine.llvm import Processor
from dy2st_runtime.engine.native.math import (
    arcs,
    error,
    exponential,
    logarithm,
    power,
    trigonometric,
)
from tests.effort import IS_FULL
from tests.runtime.engine.native.running import Runner

STEP = 1 if IS_FULL else 509
CHUNK = 1 << 20


def sigmoid(x):
    small = np.exp(-np.abs(x))
    return np.where(x < 0, small, 1) / (1 + small)


def erf(x):
    if x.dtype == np.float64:
        return special.erf(x)
    return np.array([python.erf(entry) for entry in x], x.dtype)


UNARY = {
    **{name: getattr(np, name) for name in ("exp", "expm1", "log", "log1p", "log2", "log10")},
    **{name: getattr(np, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{f"a{name}": getattr(np, f"arc{name}") for name in ("sin", "cos", "tan")},
    **{f"a{name}": getattr(np, f"arc{name}") for name in ("sinh", "cosh", "tanh")},
    "erf": erf,
    "sigmoid": sigmoid,
}
MODULES = (arcs, error, exponential, logarithm, power, trigonometric)
BINARY = {"pow": np.power, "atan2": np.arctan2, "logaddexp": np.logaddexp}


def written(name):
    """The function that writes this one."""
    return next(getattr(module, name) for module in MODULES if hasattr(module, name))


def ulps(found, exact):
    """How many units in the last place of a float each is off; inf where NaN or infinity is."""
    dtype = found.dtype
    limits = np.finfo(dtype)
    with np.errstate(all="ignore"):
        expected = exact.astype(dtype)
        size = np.where(np.isfinite(expected), np.abs(expected), limits.max)
        unit = np.maximum(np.spacing(size), limits.smallest_subnormal).astype(exact.dtype)
        off = np.abs(found - exact) / unit
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    is_number = np.isfinite(found) & np.isfinite(expected)
    off = np.where(is_number, off, np.where(same, 0, np.inf))
    wrong_sign = (np.signbit(found) != np.signbit(expected)) & ~np.isnan(expected)
    return np.where(wrong_sign, np.inf, off)


def worst(found, exact, *arrays):
    """The largest error, and where it is."""
    off = ulps(found, exact)
    at = int(np.argmax(off))
    return float(off[at]), [array[at] for array in arrays], found[at]


def all_float32():
    """Float32 numbers of every STEP-th bit pattern, in parts."""
    for begin in range(0, 1 << 32, CHUNK * STEP):
        end = min(begin + CHUNK * STEP, 1 << 32)
        yield np.arange(begin, end, STEP, dtype=np.uint64).astype(np.uint32).view(np.float32)


def some_float64(count):
    """Float64 numbers of all sizes, and near to where functions are interesting."""
    rng = np.random.default_rng(5)
    special_ones = [0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 2e-308, 1e308]
    parts = [special_ones, rng.integers(0, 1 << 64, count, np.uint64).view(np.float64)]
    parts += [rng.standard_normal(count) * scale for scale in (1e-3, 1, 30, 1e5)]
    parts += [rng.uniform(-760, 760, count), 1 + rng.uniform(-0.4, 0.5, count)]
    return np.concatenate(parts)


@pytest.fixture(scope="module")
def runner():
    made = Runner()
    for name in (*UNARY, *BINARY):
        operands = 2 if name in BINARY else 1
        for dtype, counts in (("float32", (1, 16)), ("float64", (1, 8))):
            for count in counts:
                write = written(name)
                made.add(f"{name}_{dtype}_{count}", write, [dtype] * operands, dtype, count)
    return made


@pytest.mark.parametrize("name", UNARY)
def test_float32_is_within_2_ulps_over_all_bit_patterns(name, runner):
    for x in all_float32():
        with np.errstate(all="ignore"):
            exact = UNARY[name](x.astype(np.float64))
        off, *where = worst(runner(f"{name}_float32_16", x), exact, x)
        assert off <= 2, where


@pytest.mark.parametrize("name", UNARY)
def test_float64_is_within_4_ulps(name, runner):
    x = some_float64(4_000)
    with np.errstate(all="ignore"):
        exact = UNARY[name](x.astype(np.longdouble))
    off, *where = worst(runner(f"{name}_float64_8", x), exact, x)
    assert off <= 4, where


@pytest.mark.parametrize("name", UNARY)
def test_one_lane_is_as_right_as_a_vector(name, runner):
    for dtype, most, wide in ((np.float32, 2, np.float64), (np.float64, 4, np.longdouble)):
        with np.errstate(all="ignore"):
            x = some_float64(500).astype(dtype)
            exact = UNARY[name](x.astype(wide))
        off, *where = worst(runner(f"{name}_{np.dtype(dtype)}_1", x), exact, x)
        assert off <= most, where


@pytest.mark.parametrize("name", ["tanh", "erf"])
def test_tables_give_the_same_bits_for_every_number_of_lanes(name):
    with np.errstate(all="ignore"):
        made, x = Runner(), some_float64(500).astype(np.float32)
    counts = (1, 2, 4, 8, 16, 32, 64)
    for count in counts:
        made.add(f"{name}_{count}", written(name), ["float32"], np.float32, count)
    found = {made(f"{name}_{count}", x).tobytes() for count in counts}
    assert len(found) == 1


def points(dtype):
    """Pairs of numbers: all pairs of special ones, and many at random."""
    rng = np.random.default_rng(7)
    ends = [0.0, 1, 0.5, 2, 3, 1e-30, 1e30, 2.5, 7, 1e9, np.inf, np.nan, np.finfo(dtype).tiny / 8]
    ends = np.array([*ends, *(-end for end in ends)], dtype)
    x, y = (grid.reshape(-1) for grid in np.meshgrid(ends, ends))
    drawn = [rng.standard_normal(40_000) * scale for scale in (1, 1, 20, 1e-3)]
    drawn[0] = np.abs(drawn[0])
    left = np.concatenate([x, *drawn]).astype(dtype)
    right = np.concatenate([y, *drawn[1:], drawn[0]]).astype(dtype)
    return left, right


@pytest.mark.parametrize("count", ["vector", 1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["pow", "atan2"])
def test_functions_of_two_numbers_are_near(name, dtype, count, runner):
    x, y = points(dtype)
    lanes = (16 if dtype == np.float32 else 8) if count == "vector" else 1
    wide = np.float64 if dtype == np.float32 else np.longdouble
    with np.errstate(all="ignore"):
        exact = BINARY[name](x.astype(wide), y.astype(wide))
    off, *where = worst(runner(f"{name}_{np.dtype(dtype)}_{lanes}", x, y), exact, x, y)
    assert off <= (2 if dtype == np.float32 else 4), where


def test_large_powers_of_float64_lose_no_digits(runner):
    rng = np.random.default_rng(11)
    x = np.exp(rng.standard_normal(100_000) * rng.choice([1e-6, 1e-3, 1, 100], 100_000))
    y = rng.uniform(-740, 705, 100_000) / np.log(x)
    exact = np.power(x.astype(np.longdouble), y.astype(np.longdouble))
    off, *where = worst(runner("pow_float64_8", x, y), exact, x, y)
    assert off <= 4, where


@pytest.mark.parametrize("exponent", [2, 3, -1, 0.5, 4])
def test_powers_of_a_constant_are_near(exponent):
    runner = Runner()
    for dtype, count in (("float32", 16), ("float64", 8), ("float64", 1)):

        def write(lanes, x):
            return power.pow(lanes, x, lanes.constant(exponent, x.dtype))

        runner.add(f"{dtype}_{count}", write, [dtype], dtype, count)
    for name, most, wide in (
        ("float32_16", 2, np.float64),
        ("float64_8", 4, np.longdouble),
        ("float64_1", 4, np.longdouble),
    ):
        with np.errstate(all="ignore"):
            x = some_float64(500).astype(name.split("_")[0])
            x_wide = x.astype(wide)
            exact = np.sqrt(x_wide) if exponent == 0.5 else np.power(x_wide, wide(exponent))
        off, *where = worst(runner(name, x), exact, x)
        assert off <= most, where


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logaddexp_is_as_near_as_its_largest_part(dtype, runner):
    x, y = points(dtype)
    lanes = 16 if dtype == np.float32 else 8
    found = runner(f"logaddexp_{np.dtype(dtype)}_{lanes}", x, y)
    with np.errstate(all="ignore"):
        exact = np.logaddexp(x.astype(np.longdouble), y.astype(np.longdouble))
        parts = np.maximum(np.abs(exact), np.minimum(np.maximum(np.abs(x), np.abs(y)), 1))
        close = np.abs(found - exact) <= 2 * np.finfo(dtype).eps * parts
    same = (found == exact) | (np.isnan(found) & np.isnan(exact))
    assert (close | same | (found == exact.astype(dtype))).all()


@pytest.mark.parametrize("name", ["exp", "log", "tanh", "erf", "sin", "atan", "asinh"])
def test_narrower_vectors_of_another_processor_are_as_near(name, monkeypatch):
    monkeypatch.setenv("DY2ST_NATIVE_CPU", "haswell")
    runner = Runner(Processor.host())
    for dtype, count in (("float32", 8), ("float64", 4)):
        runner.add(dtype, written(name), [dtype], dtype, count)
    for dtype, most, wide in ((np.float32, 2, np.float64), (np.float64, 4, np.longdouble)):
        with np.errstate(all="ignore"):
            x = some_float64(2_000).astype(dtype)
            exact = UNARY[name](x.astype(wide))
        off, *where = worst(runner(np.dtype(dtype).name, x), exact, x)
        assert off <= most, where
