"""Bytes of features, weights and biases: literal ones worked by hand, and round trips."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dy2st.targets.opu.layout import (
    feature_words,
    pack_bias,
    pack_depthwise,
    pack_features,
    pack_weights,
    unpack_bias,
    unpack_depthwise,
    unpack_features,
    unpack_weights,
    weight_rows,
)
from dy2st.targets.opu.machine import machine
from dy2st_runtime.errors import ArgumentError

OPU = machine("opu1024")
MACHINES = st.sampled_from([64, 192, 512, 1024, 2048, 4096]).map(lambda n: OPU.but(macs=n))
SEEDS = st.integers(0, 2**32 - 1)


def random(seed, dtype, *shape):
    limits = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(limits.min, limits.max, shape, dtype, True)


def test_byte_63_of_a_word_is_channel_0_and_zeros_fill_the_left():
    words = pack_features(np.array([[[1, 2, 3]]], "int8"))
    assert words.tolist() == [[0] * 61 + [3, 2, 1]]


def test_negative_features_are_twos_complement():
    assert pack_features(np.array([[[-1, -128]]], "int8"))[0, -2:].tolist() == [0x80, 0xFF]


def test_features_are_a_map_for_every_64_channels_row_by_row():
    height, width, channels = 2, 3, 66
    x = random(0, "int8", height, width, channels)
    words = pack_features(x).view("int8")
    assert words.shape == (2 * 2 * 3, 64)
    for h, w, c in [(0, 0, 0), (1, 0, 63), (1, 2, 64), (0, 2, 65)]:
        assert words[c // 64 * height * width + h * width + w, 63 - c % 64] == x[h, w, c]
    assert not words[6:, :62].any()


def test_a_border_is_stored_as_zeros():
    words = pack_features(np.array([[[7]]], "int8"), (1, 0, 2, 1))
    assert words.shape == (2 * 4, 64)
    assert np.argwhere(words).tolist() == [[1 * 4 + 2, 63]]


def test_the_public_chain_has_a_partial_input_at_the_left_of_its_lanes():
    # 20 channels take 32 lanes: lanes 32 to 51 hold channels 19 to 0
    words = pack_features(np.arange(1, 21, dtype="int8").reshape(1, 1, 20), public=True)
    assert words.tolist() == [[0] * 32 + list(range(20, 0, -1)) + [0] * 12]


def test_weights_are_pairs_of_outputs_interleaved_lane_by_lane_and_reversed():
    # 128 multipliers, 64 lanes: two outputs a row. Output 0 has 1, 2, ..., output 1 has -1, -2, ...
    rising = np.arange(1, 65, dtype="int8")
    words = pack_weights(np.stack((rising, -rising), 1)[None], OPU.but(macs=128)).view("int8")
    sequence = [sign * lane for lane in range(1, 65) for sign in (1, -1)]
    assert words.reshape(-1).tolist() == sequence[::-1]


def test_rows_of_weights_are_tap_by_tap_then_round_by_round():
    tile = np.zeros((2, 64, 40), "int8")  # 16 outputs a row, three rounds
    tile[1, 5, 33] = 9
    words = pack_weights(tile, OPU).view("int8").reshape(6, 1024)
    # tap 1, round 2; there output 1 of pair 0, lane 5: byte 5 * 2 + 1 from the right
    assert np.argwhere(words).tolist() == [[1 * 3 + 2, 1023 - 11]]


def test_few_channels_give_more_outputs_a_row():
    tile = np.zeros((1, 3, 64), "int8")  # 16 lanes, 64 outputs a row
    tile[0, 2, 63] = 9
    words = pack_weights(tile, OPU).reshape(1, 1024)
    # pair 31 begins at byte 31 * 32, lane 2, the second of the pair
    assert np.argwhere(words).tolist() == [[0, 1023 - (31 * 32 + 2 * 2 + 1)]]


def test_the_public_chain_has_the_zeros_of_missing_channels_first():
    tile = np.full((1, 3, 1), 9, "int8")
    row = pack_weights(tile, OPU, public=True).reshape(-1)
    # lanes 13, 14, 15 of pair 0, first output
    assert np.flatnonzero(row[::-1]).tolist() == [26, 28, 30]
    assert np.flatnonzero(pack_weights(tile, OPU).reshape(-1)[::-1]).tolist() == [0, 2, 4]


def test_public_features_and_weights_meet_in_the_same_lanes():
    x = random(1, "int8", 1, 1, 20)
    tile = random(2, "int8", 1, 20, 2)
    for public in (False, True):
        lanes = pack_features(x, public=public).view("int8")[0, 32:].astype(int)
        row = pack_weights(tile, OPU.but(macs=64), public=public).view("int8").astype(int)
        dots = [lanes @ row.reshape(-1)[::-1].reshape(32, 2)[::-1, k] for k in range(2)]
        assert dots == (x[0, 0].astype(int) @ tile[0].astype(int)).tolist()


def test_a_depthwise_row_has_a_word_for_every_tap():
    words = pack_depthwise(np.array([[1, 2], [3, 4], [5, 6]], "int8"), OPU.but(macs=128))
    assert words[:, -2:].tolist() == [[2, 1], [4, 3], [6, 5], [0, 0]]
    assert not words[:, :-2].any()


def test_biases_are_big_endian_reversed_and_right_aligned():
    words = pack_bias(np.array([0x0102, -2, 0x7FFF], "int16"))
    assert words.tolist() == [[0] * 64, [0] * 58 + [0x7F, 0xFF, 0xFF, 0xFE, 0x01, 0x02]]


def test_biases_of_65_outputs_take_four_words():
    words = pack_bias(np.arange(65, dtype="int16"))
    assert words[0, :2].tolist() == [0, 63] and words[1, -2:].tolist() == [0, 0]
    assert words[2:].reshape(-1).tolist() == [0] * 127 + [64]


@given(
    seed=SEEDS,
    size=st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(1, 200)),
    padding=st.tuples(*[st.integers(0, 3)] * 4),
    public=st.booleans(),
)
def test_features_come_back(seed, size, padding, public):
    x = random(seed, "int8", *size)
    words = pack_features(x, padding, public)
    assert len(words) == feature_words(size, padding)
    assert np.array_equal(unpack_features(words, size, padding, public), x)


@given(
    seed=SEEDS,
    size=st.tuples(st.integers(1, 9), st.integers(1, 64), st.integers(1, 64)),
    opu=MACHINES,
    public=st.booleans(),
)
def test_weights_come_back_from_their_rows(seed, size, opu, public):
    tile = random(seed, "int8", *size)
    words = pack_weights(tile, opu, public)
    assert len(words) * 64 == weight_rows(*size, opu) * opu.macs
    assert np.array_equal(unpack_weights(words, size, opu, public), tile)


@given(seed=SEEDS, size=st.tuples(st.integers(1, 49), st.integers(1, 64)), opu=MACHINES)
def test_depthwise_weights_come_back_from_whole_rows(seed, size, opu):
    tile = random(seed, "int8", *size)
    words = pack_depthwise(tile, opu)
    assert len(words) * 64 % opu.macs == 0
    assert np.array_equal(unpack_depthwise(words[: size[0]], size[1]), tile)


@given(seed=SEEDS, outputs=st.integers(1, 300))
def test_biases_come_back(seed, outputs):
    bias = random(seed, "int16", outputs)
    assert np.array_equal(unpack_bias(pack_bias(bias), outputs), bias)


@pytest.mark.parametrize(
    "call",
    [
        lambda: pack_features(np.zeros((1, 1, 1), "uint8")),
        lambda: pack_features(np.zeros((1, 1), "int8")),
        lambda: unpack_features(np.zeros((3, 64), "uint8"), (2, 2, 1)),
        lambda: pack_weights(np.zeros((1, 65, 1), "int8"), OPU),
        lambda: pack_depthwise(np.zeros((1, 65), "int8"), OPU),
        lambda: unpack_weights(np.zeros((3, 64), "uint8"), (1, 64, 16), OPU),
        lambda: pack_bias(np.zeros(3, "int8")),
        lambda: unpack_bias(np.zeros((1, 64), "uint8"), 3),
    ],
)
def test_arrays_of_another_kind_are_refused(call):
    with pytest.raises(ArgumentError):
        call()
