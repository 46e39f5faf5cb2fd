"""Channels that move inside of a region: parts of images, images joined and shuffled."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dy2st_runtime import ops
from dy2st_runtime.engine.native.convolution.channels import Channels, runs
from dy2st_runtime.engine.native.machine.threads import set_num_threads
from tests.effort import effort

from .networks import (
    assert_alike,
    assert_by_library,
    compiled,
    drawn,
    needs_library,
    regions_of,
)

pytestmark = [needs_library, pytest.mark.filterwarnings("ignore::RuntimeWarning")]


def shuffled(x, groups):
    """Channels of groups in turn, as people write it."""
    n, c, *spatial = x.shape
    parted = x.reshape([n, groups, c // groups, *spatial])
    return parted.transpose([0, 2, 1, *range(3, x.ndim + 1)]).reshape([n, c, *spatial])


def random_moves(x, random):
    """Images whose channels are some of x, after some moves in any order."""
    images = [x]
    for _ in range(random.integers(1, 6)):
        one, kind = images[random.integers(len(images))], random.integers(4)
        count = one.shape[1]
        if kind == 0 and count > 1:
            images += ops.split(one, [(at := int(random.integers(1, count))), count - at], 1)
        elif kind == 1:
            start, step = int(random.integers(0, count)), int(random.choice([1, 2, -1]))
            images.append(one[:, start::step])
        elif kind == 2 and count % 2 == 0:
            images.append(shuffled(one, int(random.choice([2, count // 2]))))
        else:
            others = [images[random.integers(len(images))] for _ in range(2)]
            if sum(other.shape[1] for other in others) < 100:
                images.append(ops.concat(others, 1))
    return images[1:] or [x * 2]


@pytest.mark.parametrize("seed", range(effort(60, 600)))
def test_any_moves_of_channels_are_numpys(seed, monkeypatch):
    random = np.random.default_rng(seed)
    axes, channels = int(random.choice([1, 2, 2, 2, 3])), int(random.choice([2, 6, 16, 24]))
    conv = {1: ops.conv1d, 2: ops.conv2d, 3: ops.conv3d}[axes]
    draws = random.bit_generator.state

    def run(x, w):
        random.bit_generator.state = draws  # each trace moves alike
        images = random_moves(ops.relu(conv(x, w)), random)
        read = images[random.integers(len(images))]
        ones = ops.full([3, read.shape[1], *[1] * axes], 0.5)
        return ops.relu(conv(read, ones)), images[-1]

    sizes = [int(size) for size in random.integers(1, 9, axes)]
    shapes = [(int(random.integers(1, 4)), channels, *sizes), (channels, channels, *[1] * axes)]
    executable = compiled(run, ("n", *shapes[0][1:]), shapes[1])
    inputs = drawn(*shapes, seed=seed)
    set_num_threads(int(random.integers(1, 4)))
    try:
        assert_alike(executable, inputs)
        assert_by_library(executable, inputs, monkeypatch)
    finally:
        set_num_threads(1)


def test_units_that_shuffle_channels_are_one_region():
    def unit(x, w):
        left, right = ops.split(x, 2, 1)
        return shuffled(ops.concat([left, ops.relu(ops.conv2d(right, w))], 1), 2)

    def run(x, w, v):
        return ops.conv2d(unit(unit(ops.conv2d(x, v), w), w), v)

    executable = compiled(run, ("n", 12, "h", "w"), (6, 6, 1, 1), (12, 12, 1, 1))
    (region,) = regions_of(executable)
    assert region.count("conv") == 4 and region.count("transpose") == region.count("split") == 2
    for sizes in [(1, 7, 5), (2, 40, 30), (2, 40, 30)]:
        assert_alike(executable, drawn((sizes[0], 12, *sizes[1:]), (6, 6, 1, 1), (12, 12, 1, 1)))


def test_parts_that_nobody_reads_in_a_region_are_left_to_nests():
    def run(x, w):
        left, right = ops.split(ops.conv2d(x, w), 2, 1)
        return left * ops.sigmoid(right)

    executable = compiled(run, (1, 8, 7, 7), (8, 8, 3, 3))
    assert regions_of(executable) == [["conv"]]


def test_parts_of_what_is_no_image_are_left_to_nests():
    def run(x, w, v):
        y = ops.conv2d(x, w)
        return ops.conv2d(y, w), v[1:], ops.split(v, 2, 0)[1], ops.transpose(y, [0, 2, 3, 1])[0]

    executable = compiled(run, ("n", 8, 7, 7), (8, 8, 1, 1), (6,))
    assert regions_of(executable) == [["conv", "conv"]]
    assert_alike(executable, drawn((2, 8, 7, 7), (8, 8, 1, 1), (6,)))


def test_a_shuffle_that_is_read_between_its_steps_is_left_to_nests():
    def run(x, w):
        n, c, h, width = x.shape
        parted = ops.conv2d(x, w).reshape([n, 2, c // 2, h, width])
        y = parted.transpose([0, 2, 1, 3, 4]).reshape([n, c, h, width])
        return ops.conv2d(y, w), ops.exp(parted)

    executable = compiled(run, ("n", 8, 7, 7), (8, 8, 1, 1))
    assert regions_of(executable) == [["conv"], ["conv"]]
    assert_alike(executable, drawn((2, 8, 7, 7), (8, 8, 1, 1)))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_moved_channels_of_a_batch_of_any_size_are_numpys_where_it_computes(bad):
    def run(x, w):
        y = shuffled(ops.relu(ops.conv2d(x, w)), 2)
        return ops.conv2d(ops.concat([y[:, 2:6], y[:, :4]], 1), w)

    executable = compiled(run, ("n", 8, "h", 3), (8, 8, 1, 1))
    x, w = drawn((2, 8, 4, 3), (8, 8, 1, 1))
    x[0, 1, 2, 0] = bad
    assert_alike(executable, [x, w])
    assert_alike(executable, drawn((0, 8, 4, 3), (8, 8, 1, 1)))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9)), min_size=1, max_size=40))
def test_runs_hold_every_channel_once(pairs):
    which, places = np.array(pairs).T
    made = np.full((len(pairs), 2), -1)
    for run in runs(Channels((), which, places)):
        for number in range(run.size):
            at = run.to + number * run.step
            assert made[at, 0] == -1
            made[at] = run.source, run.first + number
    assert np.array_equal(made, np.array(pairs))


def test_a_shuffle_of_two_images_is_two_runs():
    order = np.arange(12).reshape(2, 6).T.reshape(-1)
    found = runs(Channels((), order // 6, order % 6))
    assert found == [(0, 0, 6, 0, 2), (1, 0, 6, 1, 2)]
