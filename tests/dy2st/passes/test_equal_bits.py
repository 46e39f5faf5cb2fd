"""Exact passes keep every bit of special values: signs of zeros and of NaN, infinities, denormals.

What NumPy leaves open is not compared: which of two NaNs an operation gives depends on how many
elements the array has.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dy2st import passes
from dy2st.passes import PassContext
from dy2st_runtime.ir import F, apply

EXACT = (
    passes.DynamicToStatic,
    passes.FoldConstant,
    passes.EliminateCommonSubexpr,
    passes.SimplifyAlgebra,
    passes.CancelMoves,
    passes.CanonicalizeCast,
    passes.CanonicalizeConcatPos,
    passes.Peephole2,
    passes.ToNCHWLayout,
)
NUMBERS = (0.0, -0.0, 1.0, -1.0, 2.0, -2.5, np.inf, -np.inf, 1e-45, -1e-45, 6e-8, 6e4, -3.4e38)
SPECIAL = (*NUMBERS, np.nan, -np.nan)
BINARY = ("add", "subtract", "multiply", "divide", "pow", "maximum", "minimum")
UNARY = ("neg", "abs", "relu", "square", "sign", "floor", "exp", "isnan")
DTYPES = ("float32", "float64", "float16")


def edges(dtype):
    """All special values, twice and one more: so many that vectors and their rest are computed."""
    with np.errstate(all="ignore"):
        return np.resize(np.array(SPECIAL), 37).astype(dtype)


def bits(array):
    return array.view(f"u{array.dtype.itemsize}") if array.dtype.kind in "fV" else array


def assert_same_bits(t, program, *inputs):
    """Assert that all exact passes, in a row and then again, change no bit of the results."""
    with np.errstate(all="ignore"), PassContext():
        before = t.run(program, inputs)
        after = passes.Sequential([made() for made in (*EXACT, *EXACT)])(program)
        results = t.run(after, inputs)
    for left, right in zip(before, results, strict=True):
        assert left.dtype == right.dtype
        equal = bits(left) == bits(right)
        assert equal.all(), f"{left[~equal]} became {right[~equal]} in\n{program}\n{after}"


def binary(name, x, number, is_left):
    return apply(name, number, x) if is_left else apply(name, x, number)


def constants(dtype):
    with np.errstate(all="ignore"):
        return [np.asarray(number, dtype) for number in NUMBERS]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BINARY)
def test_an_operator_on_a_constant_keeps_its_bits(t, name, dtype):
    def build(x):
        numbers = [c for number in constants(dtype) for c in (number, np.full(37, number))]
        return [binary(name, x, c, left) for c in numbers for left in (False, True)]

    assert_same_bits(t, t.program_of(build, t.floats(37, dtype=dtype)), edges(dtype))


PAIRS = list(enumerate(itertools.product(BINARY, BINARY)))


@pytest.mark.parametrize(("seed", "pair"), PAIRS)
def test_two_operators_on_constants_keep_their_bits(t, seed, pair):
    dtype = DTYPES[seed % len(DTYPES)]
    pairs = list(itertools.product(constants(dtype), constants(dtype)))
    zeros = list(itertools.product(constants(dtype)[:2], repeat=2))
    order = np.random.default_rng(seed).permutation(len(pairs))
    chosen = zeros + [pairs[i] for i in order[:6]]

    def build(x):
        sides = list(itertools.product((False, True), repeat=2))
        return [
            binary(pair[1], binary(pair[0], x, a, inner), b, outer)
            for a, b in chosen
            for inner, outer in sides
        ]

    assert_same_bits(t, t.program_of(build, t.floats(37, dtype=dtype)), edges(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_two_functions_in_a_row_keep_their_bits(t, dtype):
    def build(x):
        return [apply(b, apply(a, x)) for a in UNARY for b in UNARY if a != "isnan"]

    assert_same_bits(t, t.program_of(build, t.floats(37, dtype=dtype)), edges(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*BINARY, "where"])
def test_operands_in_both_orders_keep_their_bits(t, name, dtype):
    x, y = np.meshgrid(edges(dtype)[:15], edges(dtype)[:15])
    x, y = np.where(np.isnan(x) & np.isnan(y), np.zeros((), dtype), x).ravel(), y.ravel()

    def build(x, y):
        if name == "where":
            return [F.where(x > y, x, x), F.where(np.True_, x, y), F.where(np.False_, x, y)]
        return [apply(name, x, y), apply(name, y, x), apply(name, x, x)]

    program = t.program_of(build, *[t.floats(225, dtype=dtype)] * 2)
    assert_same_bits(t, program, x, y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_leaky_choices_keep_their_bits(t, dtype):
    zero = np.zeros((), dtype)

    def build(x):
        return [
            F.where(x > zero, x, x * slope) for slope in (*constants(dtype), np.array(0.1, dtype))
        ]

    program = t.program_of(build, t.floats(37, dtype=dtype))
    assert "leaky_relu" in t.names(passes.SimplifyAlgebra()(program))
    assert_same_bits(t, program, edges(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_filled_tensors_keep_their_bits(t, dtype):
    def build(x):
        return [F.full_like(x, number) * x for number in SPECIAL]

    assert_same_bits(t, t.program_of(build, t.floats(1, dtype=dtype)), np.ones(1, dtype))


KINDS = ("bool", "int8", "uint8", "int32", "int64", "float16", "float32", "float64")


@pytest.mark.parametrize("dtype", KINDS)
def test_casts_in_a_row_keep_their_bits(t, dtype):
    def build(x):
        pairs = itertools.product(KINDS, KINDS)
        return [F.cast(F.cast(x, a), b) for a, b in pairs]

    if np.dtype(dtype).kind == "f":
        numbers = edges(dtype)
    else:
        ends = [0, 1] if dtype == "bool" else [np.iinfo(dtype).min, -1, 0, 1, np.iinfo(dtype).max]
        numbers = np.resize(np.array(ends).astype(dtype), 37)
    assert_same_bits(t, t.program_of(build, t.floats(37, dtype=dtype)), numbers)
