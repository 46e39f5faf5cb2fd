"""Images that are resized inside of a region: rows and columns are picked as they lie."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime import ops
from dy2st_runtime.engine.native.convolution.gather import Picks, picks
from dy2st_runtime.engine.native.convolution.library import Layout, find
from dy2st_runtime.engine.native.machine.threads import set_num_threads
from tests.effort import effort

from .networks import (
    assert_alike,
    assert_by_library,
    compiled,
    drawn,
    in_float64,
    needs_library,
    regions_of,
)

pytestmark = [needs_library, pytest.mark.filterwarnings("ignore::RuntimeWarning")]


def convs_of(rank):
    return {3: ops.conv1d, 4: ops.conv2d, 5: ops.conv3d}[rank]


def drawn_resize(seed):
    """Shapes of x and of filters, and the sizes or the factors that are asked for."""
    random = np.random.default_rng(seed)
    axes = int(random.choice([1, 2, 2, 2, 3]))
    channels, groups = random.choice([(4, 1), (8, 8), (16, 1), (20, 1), (48, 3)])
    sizes = [int(size) for size in random.integers(1, 9, axes)]
    if random.random() < 0.5:
        options = {"scale_factor": [int(factor) for factor in random.integers(1, 5, axes)]}
    else:
        options = {"size": [int(size) for size in random.integers(1, 20, axes)]}
    if random.random() < 0.6:
        options["mode"] = {1: "linear", 2: "bilinear", 3: "trilinear"}[axes]
        options |= {
            "align_corners": bool(random.random() < 0.3),
            "align_mode": int(random.integers(2)),
        }
    else:
        options["mode"] = "nearest"
    shape = (int(random.integers(1, 3)), int(channels), *sizes)
    return shape, (int(channels), int(channels // groups), *[3] * axes), int(groups), options


@pytest.mark.parametrize("seed", range(effort(40, 400)))
def test_any_image_of_another_size_is_numpys(seed, monkeypatch):
    shape, filters, groups, options = drawn_resize(seed)

    def run(x, w):
        y = ops.relu(convs_of(x.ndim)(x, w, padding=1, groups=groups))
        z = ops.interpolate(y, **options)
        return convs_of(x.ndim)(z, w, padding=1, groups=groups), ops.tanh(z)

    names = (shape[0], shape[1], *"dhw"[: len(shape) - 2]) if seed % 2 else shape
    executable = compiled(run, names, filters)
    inputs = drawn(shape, filters, seed=seed)
    assert_alike(executable, inputs, exact=in_float64(run, inputs))
    assert_by_library(executable, inputs, monkeypatch)


def unet(mode):
    """A network that halves an image and doubles it again."""

    def run(x, w, v):
        y = ops.relu(ops.conv2d(x, w, padding=1))
        z = ops.relu(ops.conv2d(ops.max_pool2d(y, 2), w, padding=1))
        z = ops.concat([ops.interpolate(z, scale_factor=2, mode=mode), y], 1)
        return ops.relu(ops.conv2d(z, v, padding=1))

    return run


UNET = [("n", 16, "h", "w"), (16, 16, 3, 3), (16, 32, 3, 3)]


@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_network_that_resizes_images_is_one_region(threads, mode, monkeypatch):
    executable = compiled(unet(mode), (2, 16, 32, 48), *UNET[1:])
    assert [names.count("index") for names in regions_of(executable)] == [{"b": 4, "n": 2}[mode[0]]]
    inputs = drawn((2, 16, 32, 48), *UNET[1:])
    set_num_threads(threads)
    try:
        assert_alike(executable, inputs)
        assert_by_library(executable, inputs, monkeypatch)
    finally:
        set_num_threads(1)


def test_picked_elements_are_the_very_same():
    def run(x, w):
        y = ops.conv2d(x, w)
        return y, ops.max_pool2d(ops.interpolate(y, scale_factor=[3, 2], mode="nearest"), 1)

    executable = compiled(run, (2, 24, 5, 7), (24, 24, 1, 1))
    assert len(regions_of(executable)) == 1
    for _ in range(2):
        y, z = executable.run(drawn((2, 24, 5, 7), (24, 24, 1, 1)), [])
        assert np.array_equal(y.repeat(3, axis=2).repeat(2, axis=3), z)


def test_rows_that_may_be_missing_are_left():
    def run(x, w):
        y = ops.conv2d(x, w, padding=1)
        return ops.conv2d(ops.gather(y, ops.arange(3) + 1, 2), w, padding=1)

    executable = compiled(run, (1, 8, 7, 7), (8, 8, 3, 3))
    assert regions_of(executable) == [["conv"], ["conv"]]
    assert_alike(executable, drawn((1, 8, 7, 7), (8, 8, 3, 3)))


def test_what_nobody_reads_in_a_region_is_left_to_nests():
    executable = compiled(
        lambda x, w: ops.exp(ops.interpolate(ops.conv2d(x, w), scale_factor=2)),
        (1, 8, 7, 7),
        (8, 8, 3, 3),
    )
    assert regions_of(executable) == [["conv"]]


@pytest.mark.parametrize("block", [4, 8, 16])
def test_blocks_of_channels_are_picked_whole(block):
    library, sizes = find(), (2, 32, 5, 6)
    place = (16, 8, 4).index(block)
    layout = library.blocked(sizes)[place]
    wider = library.alike(layout, sizes, (2, 32, 10, 18))
    assert wider.is_like(library.blocked((2, 32, 10, 18))[place])
    planes = 2 * 32 // block
    assert picks(layout, sizes, 2, [10, 18]) == Picks(planes, 5, 6, block, 10, 18)
    assert picks(layout, sizes, 3, [18]) == Picks(planes * 5, 6, 1, block, 18, 1)


def test_layouts_without_blocks_are_kept():
    library, sizes = find(), (2, 32, 5, 6)
    for lie in (library.plain, library.channels_last):
        layout: Layout = library.alike(lie(sizes), sizes, (2, 32, 10, 18))
        assert layout.is_like(lie((2, 32, 10, 18)))
    assert picks(library.channels_last(sizes), sizes, 2, [10]) == Picks(2, 5, 1, 192, 10, 1)
