"""What is made of weights: once for all plans that want it alike, and only while they come."""

from __future__ import annotations

import gc
from weakref import ref

import numpy as np
import pytest

from dy2st_runtime import exported_buffers, ops
from dy2st_runtime.engine.native.convolution import region_calls
from dy2st_runtime.engine.native.convolution.region_calls import region_call
from dy2st_runtime.engine.native.convolution.regions import Region, with_regions
from tests.recorded import program_of as traced

from .networks import drawn, needs_library

pytestmark = needs_library


@pytest.fixture(autouse=True)
def _plans_at_once(monkeypatch):
    monkeypatch.setattr(region_calls, "is_much", lambda *_: True)


def called():
    """A convolution that is called by its region."""
    shapes = ("n", 16, "h", "h"), (16, 16, 3, 3)
    program = traced(ops.conv2d, *(("float32", shape) for shape in shapes))
    (region,) = [one for one in with_regions(program.block) if isinstance(one, Region)]
    return region_call(region, "program")


def made_of(call):
    """The arrays that were made of weights."""
    return [array for kept in call._packing._made.values() for _, array in kept]


def picture(n, size):
    return drawn((n, 16, size, size))[0]


def test_calls_with_the_same_array_make_nothing_anew():
    call, (w,) = called(), drawn((16, 16, 3, 3))
    call(picture(1, 8), w)
    (before,) = made_of(call)
    call(picture(1, 8), w)
    assert made_of(call)[0] is before


def test_plans_of_several_sizes_share_it():
    call, (w,) = called(), drawn((16, 16, 3, 3))
    for size in range(12, 20):
        call(picture(2, size), w)
    assert len(made_of(call)) < 3


def test_it_is_given_up_when_another_array_comes():
    call, sizes = called(), (8, 9, 10)
    for size in sizes:
        call(picture(1, size), drawn((16, 16, 3, 3))[0])
    old = [ref(array) for array in made_of(call)]
    call(picture(1, 8), drawn((16, 16, 3, 3), seed=1)[0])
    gc.collect()
    assert [one() for one in old] == [None] * len(old)


def test_what_was_lent_is_read_at_each_call():
    call, (w,) = called(), drawn((16, 16, 3, 3))
    before = call(picture(1, 8), w)
    exported_buffers.note_export(w)
    w *= 2
    np.testing.assert_allclose(call(picture(1, 8), w), 2 * before, rtol=1e-5, atol=1e-5)
    w *= 2
    np.testing.assert_allclose(call(picture(1, 8), w), 4 * before, rtol=1e-5, atol=1e-5)
