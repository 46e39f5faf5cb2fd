"""Every function of `math` on floats and ints of the Program: CPython's result, or its error."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dy2st
import dy2st_runtime
from dy2st.jit import save, to_static
from dy2st.static import InputSpec

FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 5.0, 23.0, 100.5, -3.0, 1e-300, -1e300]
FLOATS += [1e300, 5e-324, 1.7e308, 710.0, 171.7, math.inf, -math.inf, math.nan, 1e16, -7.25, 0.1]
SECOND = [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -2.5, 1e300, math.inf, -math.inf, math.nan]
INTS = [0, 1, -1, 2, 7, 12, 20, 21, 36, -8, 10**6, 2**62]
OF_ONE = (
    "acos acosh asin asinh atan atanh cbrt ceil cos cosh degrees erf erfc exp exp2 expm1 fabs "
    "floor frexp gamma isfinite isinf isnan lgamma log log10 log1p log2 modf radians sin sinh sqrt "
    "tan tanh trunc ulp"
).split()
OF_TWO = "atan2 copysign fmod hypot isclose log nextafter pow remainder".split()
OF_INTS = "isqrt gcd lcm exp sqrt log hypot gamma".split()
# By their logarithms, or as a difference: to fewer digits than a float has.
CLOSE = {"gamma": 1e-12, "lgamma": 1e-12, "erfc": 1e-9, "log": 1e-13, "fsum": 0.0}


def _named(names: list[str]) -> list[str]:
    return [name for name in names if hasattr(math, name)]


def _outcome(function: Callable[..., Any], *values: Any) -> Any:
    try:
        return function(*values)
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        kind = type(error).__name__
        return next((one for one in ("ValueError", "OverflowError") if one in kind), kind)


def _is_same(found: Any, expected: Any, close: float) -> bool:
    if isinstance(expected, tuple):
        return all(_is_same(a, b, close) for a, b in zip(found, expected, strict=True))
    if isinstance(expected, str) or isinstance(found, str) or type(expected) is bool:
        return bool(found == expected)
    a, b = float(found), float(expected)
    if math.isnan(b):
        return math.isnan(a)
    if b == 0 or math.isinf(b):
        return a == b and math.copysign(1, a) == math.copysign(1, b)
    return math.isclose(a, b, rel_tol=close, abs_tol=1e-13 if close > 1e-13 else 0.0)


def _of(name: str, kind: type, count: int) -> Callable[..., Any]:
    function = getattr(math, name)
    if count == 1:
        return lambda x: function(kind(x))
    return lambda x, y: function(kind(x), kind(y))


def _check(name: str, kind: type, rows: list[tuple[Any, ...]], run: Callable[..., Any]) -> None:
    dtype, function = "float64" if kind is float else "int64", getattr(math, name)
    wrong = []
    for row in rows:
        expected = _outcome(function, *row)
        if kind is int and isinstance(expected, int) and abs(expected) > 2**63 - 1:
            expected = "OverflowError"
        found = _outcome(run, *[dy2st.to_tensor(value, dtype) for value in row])
        if not _is_same(found, expected, CLOSE.get(name, 1e-14)):
            wrong.append((row, found, expected))
    assert not wrong


CASES = [
    *[(name, float, [(value,) for value in FLOATS]) for name in _named(OF_ONE)],
    *[(name, float, [(a, b) for a in FLOATS for b in SECOND]) for name in _named(OF_TWO)],
    *[(name, int, [(value,) for value in INTS]) for name in _named(OF_INTS)],
    ("factorial", int, [(value,) for value in INTS[:-2]]),
    *[(name, int, [(a, b) for a in INTS[:-1] for b in INTS[:-1]]) for name in ("gcd", "lcm")],
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy: what is too large
@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize(
    ("name", "kind", "rows"), CASES, ids=lambda one: one if isinstance(one, str) else None
)
def test_results_and_errors_are_those_of_python(
    name: str, kind: type, rows: list[tuple[Any, ...]], engine: str
) -> None:
    if engine == "native":
        pytest.importorskip("llvmlite")
    if kind is float and name in ("ceil", "floor", "trunc"):  # an int of a Program has 64 bits
        rows = [row for row in rows if abs(row[0]) < 2**53]
    spec = [InputSpec([], "float64" if kind is float else "int64") for _ in rows[0]]
    static = to_static(_of(name, kind, len(rows[0])), input_spec=spec, engine=engine)
    _check(name, kind, rows, static)
    assert len(static.program_cache) == 1


@pytest.mark.parametrize("name", ["exp", "sin", "log", "hypot", "gamma", "fmod"])
def test_a_saved_program_raises_what_python_raises(name: str, tmp_path: Path) -> None:
    count = 2 if name in ("hypot", "fmod") else 1
    spec = [InputSpec([], "float64", one) for one in "xy"[:count]]
    save(_of(name, float, count), str(tmp_path / "m"), spec)
    rows = [(a, b)[:count] for a in FLOATS for b in SECOND[:count]]
    _check(name, float, rows, dy2st_runtime.load(str(tmp_path / "m")))


SUMS = [
    [0.5, 1e100, -1e100],
    [1e16, 1.0, 1e-16, 0.0],
    [1e308, 1e308, -1e308],
    [math.inf, 1.0, 2.0],
    [math.inf, -math.inf, 1.0],
    [math.nan, 1.0, 2.0],
    [0.1] * 10,
    [1e-320, -1.0, 1.0],
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_fsum_is_exact() -> None:
    def of_a_list(x: Any) -> Any:
        return math.fsum([float(one) for one in x])

    static = to_static(of_a_list, input_spec=[InputSpec([None], "float64")])
    for values in SUMS:
        expected = _outcome(math.fsum, values)
        found = _outcome(static, dy2st.to_tensor(values, "float64"))
        assert _is_same(found, expected, 0.0), (values, found, expected)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_dist_and_ldexp() -> None:
    def both(x: Any) -> Any:
        return math.dist([float(x[0]), 1.0], [3.0, float(x[1])]), math.ldexp(float(x[0]), int(x[2]))

    static = to_static(both, input_spec=[InputSpec([3], "float64")])
    for a, b, c in ([1.5, 4.0, 3], [-1e300, 1e300, -1000], [5e-324, 0.0, 1074], [1.0, 2.0, 2000]):
        expected = _outcome(
            lambda a, b, c: (math.dist([a, 1.0], [3.0, b]), math.ldexp(a, c)), a, b, int(c)
        )
        found = _outcome(static, dy2st.to_tensor([a, b, c], "float64"))
        assert _is_same(found, expected, 1e-15), (a, b, c, found, expected)


POWERS = [-math.inf, -2.0, -0.0, 0.0, 0.5, 1.0, 4.0, 1e300, math.inf, math.nan]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("exponent", [0.5, -0.5, 2.0, -1.0, 3.0, math.inf, math.nan])
def test_a_float_to_a_power(exponent: float) -> None:
    known = to_static(lambda x: float(x) ** exponent, input_spec=[InputSpec([], "float64")])
    both = to_static(lambda x, y: float(x) ** float(y), input_spec=[InputSpec([], "float64")] * 2)
    for base in POWERS:
        expected = _outcome(lambda a: a**exponent, base)
        expected = "ValueError" if isinstance(expected, complex) else expected  # refused
        x, y = dy2st.to_tensor(base, "float64"), dy2st.to_tensor(exponent, "float64")
        # NumPy takes the square root where it finds the exponent 0.5.
        is_other = exponent == 0.5 and base in (0.0, -math.inf)
        for found in [_outcome(known, x), *([] if is_other else [_outcome(both, x, y)])]:
            assert _is_same(found, expected, 1e-14), (base, exponent, found, expected)


def test_a_handler_meets_the_error() -> None:
    def guarded(x: Any) -> Any:
        try:
            return math.exp(float(x))
        except OverflowError:
            return 1e308

    static = to_static(guarded, input_spec=[InputSpec([], "float64")])
    for value in (1.0, 1000.0):
        assert math.isclose(float(static(dy2st.to_tensor(value, "float64"))), guarded(value))


def test_an_int_that_math_takes_may_be_a_tensor_of_integers():
    def of_ints(a: Any, b: Any) -> Any:
        return math.gcd(a, b), math.lcm(a, b), math.factorial(a), math.isqrt(b)

    static = to_static(of_ints)
    for pair in ((6, 4), (3, 9)):
        given = [dy2st.to_tensor(one) for one in pair]
        assert static(*given) == of_ints(*pair)
    for wrong in (2.0, True):
        with pytest.raises(TypeError, match="only an integer tensor can be an index"):
            static(dy2st.to_tensor(wrong), dy2st.to_tensor(3))
