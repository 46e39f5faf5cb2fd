"""Rounding, errors of candidates, the rules and what is legal."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dy2st.targets.opu.layer import Layer, LayerType
from dy2st.targets.opu.quantiser.fraction_lengths import (
    DEFAULT,
    FIRST,
    LAST,
    Statistics,
    check_legal,
    dequantised,
    least_error,
    legal_bias,
    legal_weights,
    quantised,
    seed_rule,
    shift_bias,
    shift_features,
    squared_errors,
    statistics,
    without_saturation,
)
from dy2st_runtime.errors import ArgumentError

arrays = st.lists(st.floats(-1e4, 1e4, width=32), min_size=1, max_size=30).map(
    lambda values: np.array(values, np.float32)
)


def rounded(x, fraclen, bits, lowest=None):
    """Half away from zero, clamped, as real numbers: with Python's floats."""
    limit = 2 ** (bits - 1)
    lowest = -limit if lowest is None else lowest
    result = []
    for value in x.tolist():
        scaled = math.ldexp(abs(value), fraclen)
        whole = math.copysign(math.floor(scaled + 0.5), value)
        result.append(math.ldexp(min(max(whole, lowest), limit - 1), -fraclen))
    return np.array(result)


def error(x, fraclen, bits=8):
    return float(((x.astype(np.float64) - rounded(x, fraclen, bits)) ** 2).sum())


def test_halves_are_rounded_away_from_zero_and_ends_are_clamped():
    x = np.array([0.5, -0.5, 1.49, -1.5, 127.6, -128.6, 1e9], np.float32)
    assert quantised(x, 0).tolist() == [1, -1, 1, -2, 127, -128, 127]
    assert quantised(x, 0).dtype == np.int8
    assert quantised(np.array([1e9, -1e9]), 0, 16).tolist() == [32767, -32768]
    assert quantised(np.array([3.0]), -2, 16).tolist() == [1]


@given(st.integers(-30, 40))
def test_integers_come_back_from_real_numbers(fraclen):
    integers = np.arange(-128, 128, dtype=np.int8)
    np.testing.assert_array_equal(quantised(dequantised(integers, fraclen), fraclen), integers)
    wide = np.arange(-(2**15), 2**15, 7, dtype=np.int16)
    np.testing.assert_array_equal(quantised(dequantised(wide, fraclen), fraclen, 16), wide)


@given(arrays, st.integers(-8, 12))
def test_inside_the_range_the_error_is_half_a_step_at_most(x, fraclen):
    inside = x[np.abs(x) < 127 * 2.0**-fraclen]
    off = np.abs(dequantised(quantised(inside, fraclen), fraclen) - inside)
    assert (off <= 0.5 * 2.0**-fraclen).all()


@given(arrays, st.sampled_from([8, 16]))
def test_every_candidate_has_the_error_of_rounding_with_it(x, bits):
    errors = squared_errors(x, bits)
    for fraclen in range(-20, 25):
        wanted = error(x, fraclen, bits)
        assert errors[fraclen - FIRST] == pytest.approx(wanted, rel=1e-4, abs=1e-12)


def test_a_candidate_that_rounds_all_to_zero_costs_all():
    x = np.array([3.0, -1.0], np.float32)
    assert squared_errors(x)[0] == 10.0


def test_a_lowest_number_clamps_below_it():
    x = np.array([-100.0, 5.0], np.float32)
    assert squared_errors(x, 8, -16)[0 - FIRST] == 84.0**2


def test_parts_have_together_the_statistics_of_the_whole():
    x = np.random.default_rng(0).standard_normal(200_000).astype(np.float32) * 9
    whole, parts = statistics(x), Statistics()
    for part in np.array_split(x, 7):
        parts.add(part)
    assert (parts.smallest, parts.largest) == (whole.smallest, whole.largest)
    np.testing.assert_allclose(parts.errors, whole.errors, rtol=1e-4)


@given(arrays)
def test_the_least_error_is_the_least_of_all_candidates(x):
    best = least_error(squared_errors(x), -20, 24)
    assert error(x, best) <= min(error(x, f) for f in range(-20, 25)) * (1 + 1e-4) + 1e-12


def test_a_range_beyond_all_candidates_gives_its_nearest_end():
    errors = squared_errors(np.ones(3, np.float32))
    assert least_error(errors, LAST + 3, LAST + 9) == LAST + 3
    assert least_error(errors, FIRST - 9, FIRST - 3) == FIRST - 3
    assert least_error(errors, 5, 6) == 5


# -- the seed's rule --------------------------------------------------------------------------


def seed_search(x, bits=8):
    """From the known tool chain's description, on arrays."""
    ends = [v for v in (float(x.max()), float(x.min())) if v]
    lengths = [bits - 1 - round(math.log2(abs(v))) for v in ends]
    fraclen = best = min(24, min(lengths) - 2)
    least = last = error(x, fraclen, bits)
    while fraclen < 24:
        fraclen += 1
        now = error(x, fraclen, bits)
        if now > last * (1 + 1e-9):
            break
        if now < least:
            best, least = fraclen, now
        last = now
    return best


@pytest.mark.parametrize("bits", [8, 16])
def test_the_seeds_rule_is_its_search(bits):
    random = np.random.default_rng(bits)
    for scale in np.exp(random.uniform(-8, 8, 60)):
        x = (random.standard_normal(200) * scale).astype(np.float32)
        assert seed_rule(statistics(x, bits)) == seed_search(x, bits)


def test_the_search_over_all_candidates_passes_an_error_that_grows_first():
    x = np.array([100.0] + [0.25] * 100_000, np.float32)  # 100 is clamped from 1 on, 0.25 fits 2
    stats = statistics(x)
    assert stats.error(0) < stats.error(1) > stats.error(2)
    assert stats.error(2) < stats.error(0)
    assert seed_rule(stats) == -2
    assert least_error(stats.errors) == 2


@given(arrays)
def test_the_search_over_all_candidates_is_never_worse_than_the_seeds_rule(x):
    stats = statistics(x)
    assert stats.error(least_error(stats.errors, last=24)) <= stats.error(seed_rule(stats))


def test_zeros_fit_any_fraction_length_and_get_the_usual_one():
    assert seed_rule(statistics(np.zeros(5, np.float32))) == DEFAULT
    one_sided = statistics(np.array([0.0, 0.5], np.float32))
    assert seed_rule(one_sided) == seed_search(np.array([0.5, 0.5], np.float32))


@given(st.floats(2.0**-60, 2.0**60, width=32), st.booleans())
def test_without_saturation_is_the_largest_that_clamps_nothing(value, negative):
    x = np.array([-value if negative else value], np.float32)
    found = without_saturation(statistics(x))

    def whole(fraclen):
        return math.floor(math.ldexp(value, fraclen) + 0.5)

    limit = 128 if negative else 127
    assert whole(found) <= limit
    assert found == LAST or whole(found + 1) > limit


# -- what is legal ----------------------------------------------------------------------------


def layer(**lengths):
    facts = {f"{name}_fraclen": length for name, length in lengths.items()}
    sizes = ([1, 1, 1, 1], [1, 1, 1, 1])
    return Layer(3, LayerType.CONVOLUTION, [0], [-1], *sizes, name="conv", **facts)


def test_the_shifts_of_the_hand_worked_vector():
    one = layer(input=4, weight=7, bias=10, output=4)
    assert (shift_features(one), shift_bias(one)) == (11, 12)
    check_legal(one)


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ({"input": 11, "weight": 7, "output": 0}, "features by 0; 1 to 31"),
        ({"input": -7, "weight": -7, "output": 0}, "features by 32; 1 to 31"),
        ({"weight": 7, "bias": 19, "output": 0}, "the bias by -1; 0 to 31"),
        ({"weight": 7, "bias": -14, "output": 0}, "the bias by 32; 0 to 31"),
    ],
)
def test_an_illegal_shift_is_refused_with_the_layer(lengths, message):
    with pytest.raises(ArgumentError, match=rf"layer 3 \(conv\).*{message}"):
        check_legal(layer(**lengths))


def test_the_legal_ranges_are_those_whose_shifts_fit():
    ends = legal_weights(3, 5)
    shifts = [shift_features(layer(input=3, weight=w, output=5)) for w in ends]
    assert shifts == [31, 1]
    ends = legal_bias(5)
    assert [shift_bias(layer(bias=b, output=5)) for b in ends] == [31, 0]


def test_a_layer_without_weights_moves_by_five_bits():
    one = layer(input=3, output=4)
    one.type = LayerType.NONE
    assert (shift_features(one), shift_bias(one)) == (17, 0)
    one.output_fraclen = 19
    with pytest.raises(ArgumentError, match="by 32; 0 to 31"):
        check_legal(one)
