from __future__ import annotations

import pytest

from dy2st.targets.opu.machine import machine
from dy2st.targets.opu.places import lifetimes, place
from dy2st.targets.opu.steps import Input, Lowered, Source, Step, Tensor
from dy2st_runtime.errors import ArgumentError

OPU = machine("opu1024")


def chain(length: int) -> Lowered:
    """Steps one after the other over maps of 100 words."""
    tensors = [Tensor(f"t{i}", 10, 10, 64) for i in range(length + 1)]
    steps = [
        Step(i + 1, "copy", [Source(tensors[i], 0, 64)], tensors[i + 1], 64, 10, 10)
        for i in range(length)
    ]
    numbered = {i: tensor for i, tensor in enumerate(tensors)}
    return Lowered(steps, [Input(0, tensors[0])], numbered, [length])


def test_a_map_lives_from_its_step_to_its_last_reader() -> None:
    lowered = chain(3)
    lives = {tensor.name: life for tensor, life in lifetimes(lowered).items()}
    assert lives == {"t0": (-1, 3), "t1": (0, 1), "t2": (1, 2), "t3": (2, 3)}


def test_interleaved_steps_keep_the_maps_of_both() -> None:
    lives = {t.name: life for t, life in lifetimes(chain(4), pairs=[1]).items()}
    assert lives["t1"] == (0, 2) and lives["t2"] == (1, 2) and lives["t3"] == (1, 3)


def test_dead_maps_give_their_place_to_later_ones() -> None:
    lowered = chain(6)
    places = place(lowered, 50, OPU)
    assert lowered.tensors[0].address == 50
    assert places.words == 50 + 3 * 100
    third, first = lowered.tensors[3], lowered.tensors[1]
    assert third.address == first.address
    assert places.before[third] == [first]


def test_maps_that_live_together_do_not_overlap() -> None:
    lowered = chain(8)
    lives = place(lowered, 0, OPU).lives
    for one, (first, last) in lives.items():
        for other, (begin, end) in lives.items():
            if one is not other and first <= end and begin <= last:
                assert abs(one.address - other.address) >= 100


def test_a_border_takes_words_and_moves_pixels() -> None:
    tensor = Tensor("x", 4, 5, 70, address=1000)
    tensor.need(1, 2, 3, 0)
    tensor.need(0, 0, 1, 1)
    assert tensor.border == (1, 2, 3, 1)
    assert tensor.words == 2 * 7 * 9
    assert tensor.word(1, 0, 0) == 1000 + 63 + 9 + 3


def test_more_words_than_the_machine_has_are_an_error() -> None:
    with pytest.raises(ArgumentError, match="needs 300 words of DRAM, opu1024 has 299"):
        place(chain(2), 0, OPU.but(dram_words=299))
