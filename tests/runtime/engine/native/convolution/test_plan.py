"""A plan: who has a place in memory has it alone, as long as it is read."""

from __future__ import annotations

from itertools import combinations

import pytest

from dy2st_runtime import ops
from dy2st_runtime.engine.native.convolution.library import find
from dy2st_runtime.engine.native.convolution.primitives import plan
from dy2st_runtime.engine.native.convolution.recipe import nodes_of
from dy2st_runtime.engine.native.convolution.region_calls import RegionCall, is_much, region_call
from dy2st_runtime.engine.native.convolution.regions import Region
from dy2st_runtime.ir import apply
from tests.recorded import program_of as traced

from .networks import drawn, needs_library

pytestmark = needs_library


def network(x, *filters):
    for w in filters:
        y = ops.relu(ops.conv2d(x, w, padding=1))
        x = ops.max_pool2d(ops.conv2d(y, w, padding=1) + x, 3, 1, 1)
    return x, ops.mean(y, [2, 3])


def made():
    shapes = [(2, 24, 9, 7), *[(24, 24, 3, 3)] * 5]
    block = traced(network, *(("float32", shape) for shape in shapes)).block
    operators = [one for one in block.operators if one.name != "constant"]
    known = dict(zip(block.parameters, shapes))
    return plan(find(), nodes_of(operators, block.yields), block.yields, known)


def test_what_lives_at_the_same_time_lies_apart():
    found = made()
    own = [b for b in found.buffers if b.given is None and b.made is None and b.kept is None]
    assert len(own) > 10
    for one, other in combinations(own, 2):
        if one.first <= other.last and other.first <= one.last:
            is_before = one.offset + one.layout.bytes <= other.offset
            assert is_before or other.offset + other.layout.bytes <= one.offset
    assert all(b.offset + b.layout.bytes <= found.bytes for b in own)


def test_a_buffer_lives_from_its_step_to_its_last_reader():
    found = made()
    for number, step in enumerate(found.steps):
        assert all(b.first <= number <= b.last for b in step.arguments.values())


def test_results_have_the_shapes_of_the_program():
    assert made().shapes == [(2, 24, 9, 7), (2, 24)]


def steps_of(function, *shapes):
    """How many primitives compute a convolution and what is around it."""
    block = traced(function, *(("float32", shape) for shape in shapes)).block
    known = dict(zip(block.parameters, shapes))
    return len(plan(find(), nodes_of(block.operators, block.yields), block.yields, known).steps)


def test_filters_of_one_place_turn_no_large_image():
    shapes = (2, 20, 16, 16), (24, 20, 1, 1)
    assert steps_of(ops.conv2d, *shapes) == 1
    assert steps_of(ops.conv1d, (2, 20, 256), (24, 20, 1)) == 1
    assert steps_of(lambda *given: ops.relu(ops.conv2d(*given)), *shapes) > 1


# -- when a plan is made ---------------------------------------------------------------------------


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
