"""Words: every Operation goes to bits and back, and what is no program of ours is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dy2st.errors import ArgumentError, FormatError
from dy2st.targets.opu.machine import machine
from dy2st.targets.opu.operations import FRACTION, Compute, Kind, Load, Origin, Pool, Store, Waits
from dy2st.targets.opu.timing import time_operations
from dy2st.targets.opu.word_table import WORDS
from dy2st.targets.opu.words import blocks, canonical, decode, encode, fetch_times
from tests.effort import effort

OPU = machine("opu1024")
NINE = tuple((r, s) for r in range(3) for s in range(3))
LOAD = Load(kind=Kind.FEATURES, address=3, height=2, width=5, pitch=9, bank=1, row=4)
COMPUTE = Compute(channels=64, outputs=64, height=4, width=5, in_width=7, taps=NINE)
WINDOW = Pool(kind=1, height=3, width=3, stride_y=1, stride_x=1)
STORE = Store(outputs=64, height=4, width=5, psum_row=0, address=100, pitch=20)


def upto(most, least=0):
    return st.integers(least, most) | st.sampled_from((least, most))


sides = st.tuples(*[upto(31)] * 4)


@st.composite
def tap_runs(draw):
    """A slice of the taps of a kernel, each direction forwards or backwards, from some offset."""
    height, width = draw(upto(15, 1)), draw(upto(15, 1))
    y, x = draw(st.integers(0, 15 - height)), draw(st.integers(0, 15 - width))
    rows, columns = range(y, y + height), range(x, x + width)
    rows = rows[:: draw(st.sampled_from((1, -1)))]
    columns = columns[:: draw(st.sampled_from((1, -1)))]
    every = [(r, s) for r in rows for s in columns]
    first = draw(st.integers(0, len(every) - 1))
    return tuple(every[first : draw(st.integers(first + 1, len(every)))])


@st.composite
def loads(draw):
    kind = draw(st.sampled_from(Kind))
    is_flat = kind in (Kind.WEIGHTS, Kind.BIAS)
    return Load(
        kind=kind,
        address=draw(upto((1 << 25) - 1)),
        height=1 if is_flat else draw(upto(4095, 1)),
        width=draw(upto(32767, 1)),
        pitch=draw(upto((1 << 25) - 1)),
        bank=draw(upto(15)),
        row=draw(upto(65535)),
    )


computes = st.builds(
    Compute,
    channels=upto(64, 1),
    outputs=upto(64, 1),
    height=upto(4095, 1),
    width=upto(4095, 1),
    in_width=upto(4095, 1),
    stride_y=upto(7, 1),
    stride_x=upto(7, 1),
    dilation_y=upto(127, 1),
    dilation_x=upto(127, 1),
    taps=tap_runs(),
    is_first=st.booleans(),
    is_weighted=st.booleans(),
    is_depthwise=st.booleans(),
    shift_features=upto(31),
    shift_bias=upto(31),
    feature_bank=upto(15),
    feature_row=upto(65535),
    weight_bank=upto(15),
    weight_row=upto(65535),
    bias_bank=upto(15),
    psum_row=upto(65535),
)
pools = st.builds(
    Pool,
    kind=upto(2, 1),
    height=upto(255, 1),
    width=upto(255, 1),
    stride_y=upto(63, 1),
    stride_x=upto(63, 1),
    padding=sides,
)


def fits(store):
    if store.pool is None:
        return True
    top, bottom, left, right = store.pool.padding
    tall, wide = store.height + top + bottom, store.width + left + right
    return store.pool.height <= tall and store.pool.width <= wide


stores = (
    st.builds(
        Store,
        outputs=upto(64, 1),
        height=upto(4095, 1),
        width=upto(4095, 1),
        psum_row=upto(65535),
        address=upto((1 << 25) - 1),
        pitch=upto((1 << 24) - 1),
        order=upto(3),
        activation=st.sampled_from((0, 1, 2, 4)),
        limit=upto(127),
        fraction=st.sampled_from(FRACTION),
        pool=st.none() | pools,
        residual_bank=st.none() | upto(15),
        residual_row=upto(65535),
        upsample=upto(15, 1),
        step_y=upto(127, 1),
        step_x=upto(127, 1),
        border=st.tuples(*[upto(63)] * 4),
    )
    .map(lambda store: store if store.activation == 4 else replace(store, fraction=0))
    .filter(fits)
)


@st.composite
def programs(draw):
    found, before = [], [0, 0, 0]
    for _ in range(draw(st.integers(0, 12))):
        kind = draw(st.integers(0, 2))
        waits = Waits(*(draw(st.integers(0, n)) for n in before))
        found.append(replace(draw((loads(), computes, stores)[kind]), waits=waits))
        before[kind] += 1
    return found


@settings(max_examples=effort(60, 400), deadline=None)
@given(programs(), st.sampled_from((1, 3, 32)))
def test_every_program_comes_back_from_its_words(operations, queue):
    opu = OPU.but(queue=queue)
    found = decode(encode(operations, opu), opu)
    assert found == canonical(operations, opu)
    of_ours = [replace(o, waits=Waits()) for o in found if isinstance(o, Compute)]
    given_ones = [replace(o, waits=Waits()) for o in operations if isinstance(o, Compute)]
    assert of_ours == given_ones


def long_program(count):
    return [
        part
        for i in range(count)
        for part in (
            replace(LOAD, waits=Waits(computes=max(0, i - 1))),
            replace(COMPUTE, waits=Waits(i + 1, 0, max(0, i - 1))),
            replace(STORE, waits=Waits(computes=i + 1)),
        )
    ]


def test_counts_of_waits_go_around_at_256():
    operations = long_program(1000)
    assert decode(encode(operations, OPU), OPU) == canonical(operations, OPU)
    assert canonical(operations, OPU)[-1].waits == Waits(computes=1000)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 4), st.data())
def test_waits_that_are_left_out_change_no_time(queue, data):
    opu = OPU.but(queue=queue)
    operations, before = [], [0, 0, 0]
    for _ in range(40):
        kind = data.draw(st.integers(0, 2))
        waits = Waits(*(data.draw(st.integers(0, n)) for n in before))
        operations.append(replace((LOAD, COMPUTE, STORE)[kind], waits=waits))
        before[kind] += 1
    shortened = canonical(operations, opu)
    given_times = time_operations(operations, opu).starts
    assert time_operations(shortened, opu).starts.tolist() == given_times.tolist()


def test_only_registers_that_change_are_sent():
    found = blocks(encode([STORE, STORE, replace(STORE, address=101)], OPU), OPU)
    assert fetch_times(found)[1:] == [1, 2]
    assert [block.first for block in found] == [0, found[0].count, found[0].count + 1]


def test_a_block_has_the_documented_bits():
    words = encode([replace(LOAD, width=5, height=1)], OPU)
    more = 1 << 31
    assert words[-2:].tolist() == [1 << 6 | 11, 1 << 6 | 22]
    assert (more | 3 << 6 | 3) in words  # ddr_fm_addr
    assert (more | 1 << 13 | 5 << 6 | 28) in words  # ddr_load_block
    assert not {12, 19, 34} & {int(word) & 63 for word in words}


def test_fields_of_a_word_do_not_overlap():
    for word in WORDS.values():
        bits = [b for high, low in word.fields.values() for b in range(low, high + 1)]
        assert len(bits) == len(set(bits)) and min(bits) >= 6 and max(bits) <= 30, word.name


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (replace(LOAD, address=1 << 25), r"load_features_at is 33554432, 0 to 33554431 fit"),
        (replace(COMPUTE, stride_y=8), r"stride_y is 8, 1 to 7 fit \(read_y_stride of word 13\)"),
        (replace(COMPUTE, channels=65), "channels is 65, 1 to 64 fit"),
        (replace(COMPUTE, shift_features=32), "shift_features is 32, 0 to 31 fit"),
        (replace(COMPUTE, taps=((0, 0), (1, 1), (2, 2))), "not one run"),
        (replace(COMPUTE, taps=()), "not one run"),
        (replace(COMPUTE, taps=((16, 0),)), "tap_y is 16, 0 to 15 fit"),
        (replace(STORE, height=0), "store_height is 0, 1 to 4095 fit"),
        (replace(STORE, order=4), "ddr_save_pos is 4"),
        (replace(STORE, address=-1), "store_at is -1"),
        (replace(LOAD, kind=Kind.WEIGHTS), "weights are one row, not 2"),
        (replace(STORE, pool=replace(WINDOW, height=5)), "a window of 5 x 3 over 4 x 5 pixels"),
    ],
)
def test_a_value_that_no_field_holds_is_refused_with_its_place(operation, message):
    placed = replace(operation, origin=Origin(7, "y0 x32"))
    with pytest.raises(ArgumentError, match=message) as caught:
        encode([LOAD, placed], OPU)
    assert str(caught.value).startswith("operation 1, a ")
    assert "of layer 7 tile y0 x32" in str(caught.value)


def test_a_program_longer_than_the_memory_of_instructions_is_refused():
    with pytest.raises(ArgumentError, match="holds 10"):
        encode([LOAD, COMPUTE], OPU.but(instruction_words=10))


def test_every_truncation_is_refused():
    words = encode([LOAD, COMPUTE, STORE], OPU)
    for count in range(len(words)):
        with pytest.raises(FormatError):
            decode(words[:count], OPU)


@settings(max_examples=effort(60, 300), deadline=None)
@given(st.data())
def test_a_flipped_bit_is_refused_or_read_as_another_program(data):
    words = encode(long_program(3), OPU)
    at = data.draw(st.integers(0, len(words) - 1))
    words[at] ^= np.uint32(1 << data.draw(st.integers(0, 31)))
    try:
        found = decode(words, OPU)
    except FormatError:
        return
    assert decode(encode(found, OPU), OPU) == found


def test_foreign_words_are_refused():
    words = encode([LOAD], OPU)
    public = np.array([0x80000000 | 5 << 6 | 3, 1 << 6 | 2 << 20 | 11], np.uint32)
    with pytest.raises(FormatError, match="no program of dy2st"):
        decode(public, OPU)
    with pytest.raises(FormatError, match="flat array of uint32"):
        decode(words.astype(np.int64), OPU)
    with pytest.raises(FormatError, match="is for 1024 multipliers, machine opu2048 has 2048"):
        decode(words, machine("opu2048"))
    with pytest.raises(FormatError, match="1 words follow network_done"):
        decode(np.append(words, words[-1]), OPU)
    with pytest.raises(FormatError, match="opcode 60 is not used"):
        decode(np.insert(words, 1, np.uint32(1 << 31 | 60)), OPU)
    with pytest.raises(FormatError, match="waits for 1 computes, but only 0 come before"):
        decode(np.insert(words, 1, np.uint32(1 << 31 | 1 << 14 | 34)), OPU)
