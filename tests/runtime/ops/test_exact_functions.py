"""Unary functions in all dtypes and engines, in units in the last place of what mpmath gives."""

from __future__ import annotations

import functools
import inspect

import ml_dtypes
import mpmath
import numpy as np
import pytest

import dy2st as P
from dy2st_runtime.errors import Dy2stError
from tests.effort import effort
from tests.runtime.ops.exact_functions import (
    ALIASES,
    MADE,
    OTHERS,
    ROWS,
    called,
    public_functions,
)

MIDDLES = (0.5, 1, 1.4616321449683623, 2, 3, 4, 6, 8, 10, 12, 20, 25, 30)  # kinks, roots, seams
ENDS = (87.3, 88.5, 88.9, 92, 100, 103.5, 104, 709, 710, 745, 746)  # where e**x begins and ends
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@functools.cache
def points(dtype):
    """Numbers of all sizes, of both signs; none is 0, infinite or NaN."""
    limits, count = np.finfo(dtype), effort(24, 400)
    tiny, largest = float(limits.smallest_subnormal), float(limits.max)
    middles = np.array(MIDDLES, dtype)
    near = [middles * dtype(1 + k * float(limits.eps)) for k in (-8, -1, 0, 1, 8)]
    parts = [
        np.geomspace(float(limits.tiny), largest / 1.01, count),
        [tiny, 3 * tiny, float(limits.tiny) / 2, largest, 1e22],
        np.linspace(0, 20, 2 * count)[1:],
        np.geomspace(21, 800, count),
        np.arange(1, 12) * (np.pi / 4),
        ENDS,
        middles * 0.999,
        *near,
    ]
    sizes = np.concatenate([np.asarray(part, dtype) for part in parts])
    return np.unique(np.concatenate([sizes, -sizes]))


def in_units(found, wanted, of, dtype):
    """How far a float is from the exact value, in units of its last place, or of that of `of`."""
    limits = np.finfo(dtype)
    if mpmath.isnan(wanted) or np.isnan(found):
        return 0.0 if mpmath.isnan(wanted) and np.isnan(found) else np.inf
    end = mpmath.mpf(2) ** int(limits.maxexp)  # in the place of infinity
    have, want = (min(max(mpmath.mpf(v), -end), end) for v in (float(found), wanted))
    size = max(abs(want), abs(of))
    exponent = mpmath.frexp(size)[1] - 1 if size else limits.minexp
    exponent = min(max(exponent, int(limits.minexp)), int(limits.maxexp) - 1)
    return float(abs(have - want) / mpmath.mpf(2) ** (exponent - int(limits.nmant)))


@functools.cache
def exactly(name, dtype):
    """The values of a row at the points, and what their errors are measured of."""
    row = ROWS[name]
    with mpmath.workdps(50):
        numbers = [mpmath.mpf(float(x)) for x in points(dtype)]
        return [(row.exact(x), row.of(x) if row.of else 0) for x in numbers]


@functools.cache
def converted(name, engine):
    function = called(name)
    return P.to_static(lambda x: function(x), engine=engine)


def run(name, engine, x):
    return converted(name, engine)(P.to_tensor(x)).numpy()


def worst(found, name, dtype, as_dtype):
    pairs = zip(found, exactly(name, dtype), points(dtype), strict=True)
    return max((in_units(have, want, of, as_dtype), float(x)) for have, (want, of), x in pairs)


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ROWS)
def test_values_are_within_some_units_in_the_last_place(name, dtype, engine):
    found = run(name, engine, points(dtype))
    error, at = worst(found, name, dtype, dtype)
    assert error <= max(ROWS[name].ulps, 0.5 if dtype is np.float64 else 0), (error, at)


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("name", ROWS)
def test_ends_and_zeros_are_exact(name, engine):
    for dtype in (np.float32, np.float64):
        x = np.array([-np.inf, -0.0, 0.0, np.inf, np.nan], dtype)
        last = "0" if name == "imag" else "nan"
        wanted = np.array([float(word) for word in f"{ROWS[name].ends} {last}".split()], dtype)
        found = run(name, engine, x)
        np.testing.assert_allclose(found, wanted, rtol=2 * np.finfo(dtype).eps)
        is_number = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(found)[is_number], np.signbit(wanted)[is_number])


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_erf_ends_at_one(engine):
    assert np.abs(run("erf", engine, np.linspace(-7, 7, 20_001, dtype="f4"))).max() == 1


@pytest.mark.parametrize("name", ROWS)
def test_what_runs_eagerly_is_what_the_engine_numpy_gives(name):
    x = np.concatenate([points(np.float32), np.array([0.0, -0.0, np.inf, -np.inf, np.nan], "f4")])
    eager = called(name)(P.to_tensor(x)).numpy()
    np.testing.assert_array_equal(eager, run(name, "numpy", x))


# x - tanh(x) has no digits near 0 in float32
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("name", [name for name in ROWS if name != "tanhshrink"])
def test_floats_of_16_bits_are_rounded_once(name, dtype):
    """What float64 gives, which is near to mpmath, rounded."""
    every = np.arange(0, 1 << 16, effort(7, 1), dtype=np.uint16).view(dtype)
    wanted = run(name, "numpy", every.astype(np.float64)).astype(np.float32).astype(dtype)
    for engine in ("numpy", "native"):
        found = run(name, engine, every)
        assert found.dtype == dtype
        is_same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
        steps = np.abs(_place(found) - _place(wanted))[~is_same]
        assert steps.max(initial=0) <= 1, every[~is_same][np.argmax(steps)]


def _place(x):
    """Which float of 16 bits, counted from 0."""
    bits = x.view(np.int16).astype(np.int32)
    return np.where(bits < 0, -(bits & 0x7FFF), bits)


def _is_elementwise(function):
    """Whether a call with one vector gives floats, each of the number at its place alone."""
    x = np.array([-0.4, 0.3, 0.7, 1.2])
    try:
        found = function(P.to_tensor(x))
    except (Dy2stError, TypeError, ValueError, RuntimeError, LookupError, AttributeError, OSError):
        return False
    if not isinstance(found, P.Tensor) or found.shape != [4] or found.dtype != P.float64:
        return False
    if np.array_equal(found.numpy(), x):  # what moves, joins, or copies
        return False
    turned = P.to_tensor(x[::-1].copy())
    again = [function(turned).numpy()[::-1] for _ in range(20)]  # what is random differs
    return all(np.array_equal(found.numpy(), one, equal_nan=True) for one in again)


def test_every_unary_function_of_floats_is_held_against_mpmath():
    functions = public_functions()
    candidates = {n: f for n, f in functions.items() if not inspect.isclass(f)}
    settings = {name for name in candidates if name.startswith("set_")}  # they would stay
    found = {name for name in {*candidates} - settings if _is_elementwise(candidates[name])}
    known = {*ROWS, *ALIASES, *MADE, *OTHERS}
    assert found <= known, sorted(found - known)
    assert all(name in functions for name in ROWS if ROWS[name].call is None)


# -- logarithms and gates of sigmoid ---------------------------------------------------------------


F = P.nn.functional


def test_a_gate_is_a_share_times_the_other_half():
    x = np.linspace(-100, 80, 97).astype("float32")
    found = F.glu(P.concat([P.ones([97]), P.to_tensor(x)])).numpy()
    np.testing.assert_array_equal(found, F.sigmoid(P.to_tensor(x)).numpy())


def test_the_logarithm_of_a_small_share_is_the_number():
    x = P.to_tensor([-10.0, -17.0, -20.0, -50.0, -87.0])
    np.testing.assert_allclose(P.log(P.sigmoid(x)).numpy(), x.numpy(), rtol=1e-5)
    ones = P.ones([5])
    losses = F.binary_cross_entropy(P.sigmoid(x), ones, reduction="none")
    np.testing.assert_allclose(losses.numpy(), -x.numpy(), rtol=1e-5)
