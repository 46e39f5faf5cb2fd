from __future__ import annotations

import pytest

from dy2st.targets.opu.cost import (
    ConvShape,
    Transfer,
    Work,
    compute_cycles,
    pooled,
    roofline,
    two_engines,
    weight_words,
)
from dy2st.targets.opu.machine import machine

OPU = machine("opu1024")


def test_transfers_hide_under_computing() -> None:
    loads = [Transfer(10, -1), Transfer(10, -1), Transfer(10, 0)]
    works = [Work(50, 0), Work(50, 1), Work(50, 2)]
    assert two_engines(loads, works, [Transfer(5, 2)]) == 10 + 3 * 50 + 5


def test_a_store_that_is_ready_with_a_load_goes_first() -> None:
    loads = [Transfer(10, -1), Transfer(100, 0)]
    assert two_engines(loads, [Work(20, 0), Work(1, 1)], [Transfer(7, 0), Transfer(7, 1)]) == (
        10 + 20 + 7 + 100 + 1 + 7
    )


def test_partial_sums_that_are_not_stored_hold_up_the_next_tile() -> None:
    loads = [Transfer(10, -1), Transfer(10, -1)]
    works = [Work(20, 0), Work(20, 1, store=0)]
    assert two_engines(loads, works, [Transfer(30, 0), Transfer(30, 1)]) == 10 + 2 * (20 + 30)


def test_work_that_waits_for_its_own_store_never_begins() -> None:
    with pytest.raises(RuntimeError, match="wait for each other"):
        two_engines([Transfer(1, -1)], [Work(1, 0, store=0)], [Transfer(1, 0)])


@pytest.mark.parametrize(
    "channels, outputs, words", [(64, 64, 576), (32, 64, 288), (16, 32, 144), (64, 30, 288)]
)
def test_weights_take_whole_rows(channels: int, outputs: int, words: int) -> None:
    assert weight_words(channels, outputs, 9, OPU) == words


def test_the_roofline_is_the_larger_of_passes_and_words() -> None:
    deep = roofline(ConvShape(58, 58, 256, 256, 3, 3), OPU)
    assert (deep.pe, deep.label) == (56 * 56 * 9 * 4 * 16, "pe")
    flat = roofline(ConvShape(416, 416, 27, 16), OPU)
    assert (flat.cycles, flat.label) == (2 * 416 * 416 + 16, "dma")


def test_what_comes_between_passes_counts_for_each() -> None:
    shape = ConvShape(10, 10, 64, 64, 3, 3)
    slow = OPU.but(pe_epilogue=30)
    assert compute_cycles(shape, slow) == compute_cycles(shape, OPU) + 9 * 30


def test_only_whole_windows_are_pooled() -> None:
    assert [pooled(edge, 2, 2) for edge in (1, 2, 5)] == [0, 1, 2]
    assert pooled(5, 1, 1) == 5
