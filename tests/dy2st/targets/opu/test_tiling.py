from __future__ import annotations

from itertools import pairwise

import pytest

from dy2st.targets.opu.machine import machine, weight_words
from dy2st.targets.opu.operations import Pool
from dy2st.targets.opu.steps import Post, Source, Step, Tensor
from dy2st.targets.opu.tiling import (
    Plan,
    candidates,
    even_cuts,
    passes,
    span,
    square_cuts,
    taps_at_once,
)

OPU = machine("opu1024")


def step(
    edge: int, channels: int = 64, kernel: int = 3, stride: int = 1, pool: Pool | None = None
) -> Step:
    given = Tensor("x", edge, edge, channels)
    made = (edge - kernel) // stride + 1
    return Step(
        1,
        "dense",
        [Source(given, 0, channels)],
        Tensor("y", made, made, 64),
        64,
        made,
        made,
        taps=tuple((r, s) for r in range(kernel) for s in range(kernel)),
        stride=(stride, stride),
        post=Post(pool=pool),
    )


def test_a_span_reads_the_rows_under_its_windows() -> None:
    found = span(step(20, stride=2), 0, 2, 5)
    assert (found.start, found.loaded, found.length, found.stride) == (4, 7, 3, 2)


def test_pooling_windows_are_whole_and_padding_is_at_the_edges() -> None:
    pool = Pool(kind=1, height=3, width=3, stride_y=2, stride_x=2, padding=(1, 0, 1, 0))
    layer = step(18, pool=pool)
    first, second = span(layer, 0, 0, 4), span(layer, 0, 4, 8)
    assert (first.sums, first.before, first.after) == ((0, 8), 1, 0)
    assert (second.sums, second.before) == ((7, 16), 0)


def test_rows_that_a_stride_leaves_out_are_not_loaded() -> None:
    found = span(step(20, kernel=1, stride=2), 0, 1, 4)
    assert (found.start, found.loaded, found.skip, found.stride) == (2, 3, 2, 1)
    columns = span(step(20, kernel=1, stride=2), 1, 1, 4)
    assert (columns.loaded, columns.skip, columns.stride) == (5, 1, 2)


@pytest.mark.parametrize("length, pieces", [(1, 1), (10, 3), (56, 5), (7, 7)])
def test_even_cuts_differ_by_one_at_most(length: int, pieces: int) -> None:
    sizes = [b - a for a, b in pairwise(even_cuts(length, pieces))]
    assert len(sizes) == pieces and sum(sizes) == length and max(sizes) - min(sizes) <= 1


def test_square_cuts_leave_the_rest_at_the_end() -> None:
    assert square_cuts(10, 4) == (0, 4, 8, 10)


def test_every_candidate_fits_in_every_buffer() -> None:
    layer = step(114)
    for plan in candidates(layer, OPU):
        for a, b in pairwise(plan.rows):
            for c, d in pairwise(plan.columns):
                y, x = span(layer, 0, a, b), span(layer, 1, c, d)
                assert y.loaded * x.loaded <= OPU.fm_rows
                assert y.length * x.length <= OPU.psum_rows


def test_taps_are_split_where_a_bank_does_not_hold_all() -> None:
    assert taps_at_once(step(20, kernel=3), OPU) == 9
    assert taps_at_once(step(20, kernel=5), OPU) == 9
    assert taps_at_once(step(20, channels=16, kernel=5), OPU) == 25


def test_passes_count_every_tap_and_what_comes_between() -> None:
    plan = Plan((0, 9, 18), (0, 18))
    assert passes(step(20), plan, OPU) == 18 * 18 * 9 * 4
    assert passes(step(20), plan, OPU.but(pe_epilogue=30)) == 18 * 18 * 9 * 4 + 2 * 9 * 30


# -- rows of weights -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "channels, outputs, words", [(64, 64, 576), (32, 64, 288), (16, 32, 144), (64, 30, 288)]
)
def test_weights_take_whole_rows(channels: int, outputs: int, words: int) -> None:
    assert weight_words(channels, outputs, 9, machine("opu1024")) == words
