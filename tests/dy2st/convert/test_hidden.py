"""The state of objects that Python's library and NumPy keep in C."""

from __future__ import annotations

import array
import io
import random

import numpy as np
import pytest

from dy2st.convert.hidden import has_state, set_state, state_of


def _written():
    stream = io.StringIO("some text")
    stream.seek(4)
    return stream


CHANGES = {
    "text": (_written, lambda stream: stream.write("more")),
    "bytes": (lambda: io.BytesIO(b"abc"), lambda stream: stream.read(1)),
    "array": (lambda: array.array("d", [1.0, float("nan")]), lambda values: values.append(2.0)),
    "random": (lambda: random.Random(1), lambda source: source.random()),
    "generator": (lambda: np.random.default_rng(1), lambda source: source.random()),
    "mt19937": (
        lambda: np.random.Generator(np.random.MT19937(1)),
        lambda source: source.integers(5),
    ),
    "legacy": (lambda: np.random.RandomState(1), lambda source: source.rand()),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_a_change_is_seen_and_taken_back(kind):
    make, change = CHANGES[kind]
    value = make()
    assert has_state(value)
    before = state_of(value)
    assert state_of(value) == before
    change(value)
    assert state_of(value) != before
    set_state(value, before)
    assert state_of(value) == before
    change(value)
    other = make()
    change(other)
    assert state_of(value) == state_of(other)


def test_a_closed_stream_is_left_alone():
    stream = io.StringIO("a")
    before = state_of(stream)
    stream.close()
    set_state(stream, before)
    assert state_of(stream) is None
