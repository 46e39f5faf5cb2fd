"""Lays features, weights and biases out in words of 64 bytes, in DRAM and in the buffers.

Everything is reversed and right-aligned: byte 63 of a word of features is its channel 0, the last
byte of a row of weights is output 0 of channel 0, the last two of a bias are output 0. Where fewer
channels than lanes are used, zeros fill the left, so that a stored output is an input as it is. The
public tool chain has such inputs at the left of the lanes, which its own outputs are not; `public`
gives that.
"""

from __future__ import annotations

import numpy as np

from dy2st.targets.opu.machine import CHANNELS, WORD, Machine
from dy2st.targets.opu.network import Array
from dy2st_runtime.errors import ArgumentError

Padding = tuple[int, int, int, int]
NO_PADDING: Padding = (0, 0, 0, 0)
BIAS_WORDS = 2
"""Words of a row of the bias buffer: 64 int16."""


def feature_words(size: tuple[int, int, int], padding: Padding = NO_PADDING) -> int:
    """Words of features (h, w, c) that are stored with a border (top, bottom, left, right)."""
    height, width, channels = size
    top, bottom, left, right = padding
    return -(-channels // CHANNELS) * (height + top + bottom) * (width + left + right)


def pack_features(x: Array, padding: Padding = NO_PADDING, public: bool = False) -> Array:
    """uint8 words of int8 features (h, w, c): a map of words for every 64 channels.

    >>> pack_features(np.arange(2, dtype="int8").reshape(1, 1, 2) + 5)[0, -3:].tolist()
    [0, 6, 5]
    """
    _want(x, "int8", 3, "features")
    top, bottom, left, right = padding
    channels = x.shape[2]
    groups = -(-channels // CHANNELS)
    x = np.pad(x, ((top, bottom), (left, right), (0, groups * CHANNELS - channels)))
    height, width = x.shape[:2]
    words = x.reshape(height, width, groups, CHANNELS).transpose(2, 0, 1, 3)[..., ::-1].copy()
    if public:
        words[-1] = np.roll(words[-1], -_idle_lanes(channels), axis=-1)
    return words.reshape(-1, WORD).view(np.uint8)


def unpack_features(
    words: Array, size: tuple[int, int, int], padding: Padding = NO_PADDING, public: bool = False
) -> Array:
    """The int8 features (h, w, c) of words; the border that they are stored with is left out."""
    _count(words, feature_words(size, padding), "features")
    top, bottom, left, right = padding
    height, width, channels = size
    maps = words.view(np.int8).reshape(-1, height + top + bottom, width + left + right, WORD)
    if public:
        maps = maps.copy()
        maps[-1] = np.roll(maps[-1], _idle_lanes(channels), axis=-1)
    inner = maps[:, top : top + height, left : left + width, ::-1]
    return inner.transpose(1, 2, 0, 3).reshape(height, width, -1)[..., :channels].copy()


def _idle_lanes(channels: int) -> int:
    last = (channels - 1) % CHANNELS + 1
    return (16 if last <= 16 else 32 if last <= 32 else CHANNELS) - last


def weight_rows(taps: int, channels: int, outputs: int, machine: Machine) -> int:
    """Rows of the weight buffer that a tile takes: one for every tap and round."""
    return taps * machine.rounds(channels, outputs)


def pack_weights(tile: Array, machine: Machine, public: bool = False) -> Array:
    """uint8 words of int8 weights (taps, channels, outputs), both at most 64: rows of the buffer.

    A row holds one tap and as many outputs as a cycle makes: pairs of outputs, interleaved lane by
    lane. It is `macs` bytes long, macs / 64 words.
    """
    _want(tile, "int8", 3, "weights")
    taps, channels, outputs = tile.shape
    lanes, a_cycle, rounds = _shape_of_rows(channels, outputs, machine)
    full = np.zeros((taps, rounds * a_cycle, lanes), np.int8)
    first = lanes - channels if public else 0
    full[:, :outputs, first : first + channels] = tile.transpose(0, 2, 1)
    full = full.reshape(taps * rounds, a_cycle, lanes)
    rows = np.zeros((taps * rounds, machine.macs), np.int8)
    # (rows, outputs, lanes) to (rows, bytes): lane 0 of outputs 0 and 1, lane 1 of both, ...
    count, each, width = full.shape
    even = each // 2 * 2
    pairs = full[:, :even].reshape(count, -1, 2, width).transpose(0, 1, 3, 2)
    rows[:, : a_cycle * lanes] = np.concatenate(
        (pairs.reshape(count, -1), full[:, even:].reshape(count, -1)), axis=1
    )
    return rows[:, ::-1].reshape(-1, WORD).view(np.uint8)


def unpack_weights(
    words: Array, size: tuple[int, int, int], machine: Machine, public: bool = False
) -> Array:
    """The int8 weights (taps, channels, outputs) of a tile's words."""
    taps, channels, outputs = size
    lanes, a_cycle, rounds = _shape_of_rows(channels, outputs, machine)
    _count(words, taps * rounds * machine.macs // WORD, "weights")
    rows = words.view(np.int8).reshape(taps * rounds, machine.macs)[:, ::-1]
    packed = rows[:, : a_cycle * lanes]
    count, even = len(packed), a_cycle // 2 * 2
    pairs = packed[:, : even * lanes].reshape(count, -1, lanes, 2).transpose(0, 1, 3, 2)
    rest = packed[:, even * lanes :].reshape(count, -1, lanes)
    full = np.concatenate((pairs.reshape(count, even, lanes), rest), axis=1)
    first = lanes - channels if public else 0
    full = full.reshape(taps, rounds * a_cycle, lanes)
    return full[:, :outputs, first : first + channels].transpose(0, 2, 1).copy()


def _shape_of_rows(channels: int, outputs: int, machine: Machine) -> tuple[int, int, int]:
    if not (0 < channels <= CHANNELS and 0 < outputs <= CHANNELS):
        raise ArgumentError(f"a tile of weights has 1 to 64 channels, not {channels} to {outputs}")
    return machine.lanes(channels), machine.outputs(channels), machine.rounds(channels, outputs)


def pack_depthwise(tile: Array, machine: Machine) -> Array:
    """uint8 words of depthwise weights (taps, channels), at most 64 channels: one for every tap.

    A word has its channels as features have them; a row of the buffer, one pass, takes macs / 64 of
    them, and the last is filled with zeros.
    """
    _want(tile, "int8", 2, "depthwise weights")
    taps, channels = tile.shape
    _shape_of_rows(channels, 1, machine)
    words = np.zeros((depthwise_words(taps, machine), WORD), np.int8)
    words[:taps, WORD - channels :] = tile[:, ::-1]
    return words.view(np.uint8)


def unpack_depthwise(words: Array, channels: int) -> Array:
    """The int8 weights (taps, channels) of depthwise words, one for every tap."""
    return words.view(np.int8)[:, WORD - channels :][:, ::-1].copy()


def depthwise_words(taps: int, machine: Machine) -> int:
    """Words of a depthwise tile: whole rows of the weight buffer."""
    a_row = machine.macs // WORD
    return -(-taps // a_row) * a_row


def pack_bias(bias: Array) -> Array:
    """uint8 words of int16 biases, high byte first: two words for every 64 outputs.

    >>> pack_bias(np.array([1, -2], "int16"))[1, -5:].tolist()
    [0, 255, 254, 0, 1]
    """
    _want(bias, "int16", 1, "biases")
    tiles = -(-len(bias) // CHANNELS)
    rows = np.zeros((tiles * CHANNELS,), ">i2")
    rows[: len(bias)] = bias
    return rows.reshape(tiles, CHANNELS)[:, ::-1].copy().view(np.uint8).reshape(-1, WORD)


def unpack_bias(words: Array, outputs: int) -> Array:
    """The int16 biases of as many outputs."""
    _count(words, -(-outputs // CHANNELS) * BIAS_WORDS, "biases")
    rows = np.ascontiguousarray(words).view(">i2").reshape(-1, CHANNELS)[:, ::-1]
    return rows.reshape(-1)[:outputs].astype(np.int16)


def _want(array: Array, dtype: str, dimensions: int, what: str) -> None:
    if array.dtype != dtype or array.ndim != dimensions:
        raise ArgumentError(
            f"{what} are {dtype} with {dimensions} dimensions, not {array.dtype} {array.shape}"
        )


def _count(words: Array, wanted: int, what: str) -> None:
    if words.dtype != np.uint8 or words.shape != (wanted, WORD):
        raise ArgumentError(
            f"the {what} are {wanted} words of 64 uint8, not {words.dtype} {words.shape}"
        )


__all__ = [
    "BIAS_WORDS",
    "NO_PADDING",
    "Padding",
    "depthwise_words",
    "feature_words",
    "pack_bias",
    "pack_depthwise",
    "pack_features",
    "pack_weights",
    "unpack_bias",
    "unpack_depthwise",
    "unpack_features",
    "unpack_weights",
    "weight_rows",
]
