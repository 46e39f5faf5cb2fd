"""Images of many channels are transposed by code of our own, and lie as the library's reorders lay them."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime import ops
from dy2st_runtime.engine.native.convolution.library import find
from dy2st_runtime.engine.native.convolution.primitives import plan
from dy2st_runtime.engine.native.convolution.recipe import nodes_of
from dy2st_runtime.engine.native.convolution.reorders import LayoutCopy, layout_copy_between
from dy2st_runtime.engine.native.machine.threads import set_num_threads
from tests.recorded import program_of as traced

from .networks import assert_alike, assert_by_library, compiled, drawn, needs_library

pytestmark = needs_library


def test_images_are_transposed_between_planes_and_channels_that_lie_last():
    library, sizes = find(), (2, 20, 5, 6)
    plain, last = library.plain(sizes), library.channels_last(sizes)
    assert layout_copy_between(library, plain, last, sizes) == LayoutCopy(2, 20, 30)
    assert layout_copy_between(library, last, plain, sizes) == LayoutCopy(2, 30, 20)
    assert layout_copy_between(library, plain, plain, sizes) is None
    assert layout_copy_between(library, plain, library.blocked(sizes)[0], sizes) is None


@pytest.mark.parametrize("sizes", [(2, 3, 30, 30), (2, 64, 3, 5), (64, 64)])
def test_few_channels_and_few_places_are_left_to_the_library(sizes):
    library = find()
    last = library.channels_last(sizes) if len(sizes) > 2 else library.in_order(sizes, (1, 0))
    assert layout_copy_between(library, library.plain(sizes), last, sizes) is None


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("shape", [(1, 16, 4, 4), (2, 17, 5, 5), (1, 33, 16, 3), (3, 40, 31, 29)])
def test_transposed_images_are_the_very_same(shape, threads, monkeypatch):
    """The largest of one element, scaled by 2, comes out of the library's own layout."""
    channels = shape[1]

    def run(x, w):
        y = ops.conv2d(x, w, padding=1)
        return y, ops.max_pool2d(y, 1) * 2.0

    filters = (channels, channels, 3, 3)
    executable, inputs = compiled(run, shape, filters), drawn(shape, filters)
    set_num_threads(threads)
    try:
        assert_alike(executable, inputs)
        assert_by_library(executable, inputs, monkeypatch)
        y, doubled = executable.run(inputs, [])
        assert np.array_equal(2 * y, doubled)
    finally:
        set_num_threads(1)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_an_image_of_a_sequence_is_transposed_too(axes):
    shape, filters = (2, 24, *[17, 6, 3][:axes]), (24, 24, *[3] * axes)
    conv = {1: ops.conv1d, 2: ops.conv2d, 3: ops.conv3d}[axes]
    program = traced(lambda x, w: conv(x, w, padding=1), ("float32", shape), ("float32", filters))
    (x, w), results = program.inputs, program.block.yields
    made = plan(find(), nodes_of(program.block.operators, results), results, {x: shape, w: filters})
    copies = [step.primitive for step in made.steps if isinstance(step.primitive, LayoutCopy)]
    places = int(np.prod(shape[2:]))
    if copies:  # where the library wants channels beside each other
        assert copies == [LayoutCopy(2, 24, places), LayoutCopy(2, places, 24)]
    assert_alike(
        compiled(lambda x, w: conv(x, w, padding=1), shape, filters), drawn(shape, filters)
    )
