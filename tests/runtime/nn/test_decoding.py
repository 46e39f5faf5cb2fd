"""Decoding: the likeliest of all sequences, and decoders of one's own."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.nn.functions.decoding import Decoder
from tests.runtime.nn.of_paddle.cases import wave

TABLE = wave(3, 3, low=-1.0, high=1.0)  # scores of what follows each of three numbers
END = 2


class Chain(nn.Layer):
    """A cell whose state is the number of the last element."""

    def forward(self, inputs, states):
        return dy2st.to_tensor(TABLE)[inputs], states + 1


def log_p(sequence):
    """log p of a sequence from 0 on; behind its end there is nothing else than ends."""
    total, last = 0.0, 0
    scores = TABLE - np.log(np.exp(TABLE).sum(1, keepdims=True))
    for element in sequence:
        if last == END:
            return total if set(sequence[sequence.index(END) :]) == {END} else -np.inf
        total, last = total + scores[last, element], element
    return (
        total if END not in sequence or set(sequence[sequence.index(END) :]) == {END} else -np.inf
    )


def test_with_beams_enough_the_likeliest_sequence_is_found():
    decoder = nn.BeamSearchDecoder(Chain(), 0, END, 30)
    found, state = nn.dynamic_decode(decoder, dy2st.zeros([1, 1]), max_step_num=3)
    likeliest = sorted(itertools.product(range(3), repeat=4), key=log_p)[::-1]
    assert [tuple(beam) for beam in found.numpy()[0].T[:4].tolist()] == likeliest[:4]
    expected = [log_p(sequence) for sequence in likeliest[:4]]
    np.testing.assert_allclose(state.log_probs.numpy()[0, :4], expected, rtol=1e-5)


class Counting(Decoder):
    """Sample i is finished after i + 1 steps; the state counts them."""

    def initialize(self, inits):
        return inits, inits, dy2st.zeros([inits.shape[0]], "bool")

    def step(self, time, inputs, states, **kwargs):
        limit = dy2st.arange(states.shape[0])
        return states * 10, states + 1, inputs, dy2st.greater_equal(time, limit)


class Reversed(Counting):
    def finalize(self, outputs, final_states, sequence_lengths):
        return outputs[::-1], final_states


def test_a_decoder_of_ones_own_is_asked_until_all_is_finished():
    outputs, states, lengths = nn.dynamic_decode(Counting(), dy2st.zeros([3]), return_length=True)
    assert outputs.tolist() == [[0, 10, 20]] * 3
    assert states.tolist() == [3, 3, 3] and lengths.tolist() == [0, 1, 2]
    outputs, states = nn.dynamic_decode(Counting(), dy2st.zeros([3]), impute_finished=True)
    assert states.tolist() == [0, 1, 2]
    outputs, _ = nn.dynamic_decode(Reversed(), dy2st.zeros([2]), 0, output_time_major=True)
    assert outputs.tolist() == [[0, 0]]


def test_no_step_and_no_beam_are_refused():
    class Finished(Counting):
        def initialize(self, inits):
            return inits, inits, dy2st.ones([1], "bool")

    with pytest.raises(ArgumentError, match="before the first step"):
        nn.dynamic_decode(Finished(), dy2st.zeros([1]))
    with pytest.raises(ArgumentError, match="one beam"):
        nn.BeamSearchDecoder(Chain(), 0, END, 0)
    for method, arguments in (("initialize", 1), ("step", 3), ("finalize", 3)):
        with pytest.raises(NotImplementedError):
            getattr(Decoder(), method)(*[None] * arguments)
