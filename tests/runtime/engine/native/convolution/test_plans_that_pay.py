"""A plan is made at once if it pays for one call, else when its sizes come again."""

from __future__ import annotations

import pytest

from dy2st_runtime import ops
from dy2st_runtime.engine.native.convolution.region_calls import RegionCall, is_much, region_call
from dy2st_runtime.engine.native.convolution.regions import Region
from dy2st_runtime.ir import apply
from tests.recorded import program_of as traced

from .networks import drawn, needs_library


def region_of(function, *shapes):
    block = traced(function, *(("float32", shape) for shape in shapes)).block
    return Region(list(block.operators), list(block.parameters), list(block.yields))


GEOMETRY = {"strides": (1, 1), "pads": ((1, 1), (1, 1)), "dilations": (1, 1), "groups": 1}


@pytest.mark.parametrize(
    "function",
    [
        lambda x, w: ops.conv2d(x, w, padding=1),
        lambda x, w: apply("conv_transpose", x, w, sizes=(100, 100), **GEOMETRY),
        lambda x, w: ops.relu(ops.conv2d(ops.conv2d(x, w, padding=1), w, padding=1)),
    ],
)
def test_products_are_counted_by_the_sizes_of_the_call(function):
    """100 * 100 places, 32 * 32 filters of 3 * 3: 92 million for each picture."""
    region = region_of(function, ("n", 32, 100, 100), (32, 32, 3, 3))
    few, many = ((n, 32, 100, 100) for n in (0, 1))
    for shape in (few, many):
        shapes = dict(zip(region.operands, (shape, (32, 32, 3, 3))))
        assert is_much(region, shapes) == (shape is many)


def test_gradients_of_filters_are_counted_too():
    options = {**GEOMETRY, "kernel": (3, 3)}
    shapes = [("n", 32, 100, 100)] * 2
    region = region_of(lambda x, g: apply("conv_weight", x, g, **options), *shapes)
    for n in (0, 1):
        assert is_much(region, {v: (n, 32, 100, 100) for v in region.operands}) == bool(n)


@needs_library
def test_little_work_waits_for_the_second_call_of_its_sizes(monkeypatch):
    region = region_of(ops.conv2d, ("n", 4, 8, 8), (4, 4, 3, 3))
    call, asked, own = region_call(region, "program"), [], RegionCall._by_kernels
    monkeypatch.setattr(
        RegionCall, "_by_kernels", lambda self, arrays: asked.append(1) or own(self, arrays)
    )
    for n in (1, 2, 1, 1, 2, 2):
        call(*drawn((n, 4, 8, 8), (4, 4, 3, 3)))
    assert len(asked) == 2


@needs_library
def test_known_sizes_wait_for_nothing(monkeypatch):
    region = region_of(ops.conv2d, (1, 4, 8, 8), (4, 4, 3, 3))
    call = region_call(region, "program")
    monkeypatch.setattr(RegionCall, "_by_kernels", None)
    call(*drawn((1, 4, 8, 8), (4, 4, 3, 3)))
