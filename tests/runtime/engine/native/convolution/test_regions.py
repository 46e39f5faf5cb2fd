"""Which operators are one region: what it takes, what it leaves, and when it runs."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st_runtime
from dy2st_runtime import ops
from dy2st_runtime.engine.native.convolution import regions
from dy2st_runtime.engine.native.convolution.regions import Region, with_regions
from dy2st_runtime.ir import apply
from tests.recorded import program_of as traced

X, W = ("float32", ("n", 4, 8, 8)), ("float32", (4, 4, 3, 3))


@pytest.fixture(autouse=True)
def _has_library(monkeypatch):
    monkeypatch.setattr(regions, "find", lambda: True)


def found(function, *types):
    return with_regions(traced(function, *types).block)


def names(steps):
    """The operators in their order, those of a region in a list."""
    return [
        [one.name for one in step.operators] if isinstance(step, Region) else step.name
        for step in steps
    ]


def conv(x, w):
    return ops.conv2d(x, w, padding=1)


def test_a_block_without_convolutions_has_none():
    assert names(found(ops.relu, X)) == ["relu"]


def test_what_follows_a_convolution_is_in_its_region():
    steps = found(lambda x, w: ops.relu(conv(ops.exp(x), w)), X, W)
    assert names(steps) == ["exp", ["conv", "relu"]]


def test_only_what_others_read_leaves_a_region():
    def run(x, w):
        y = ops.relu(conv(x, w))
        return ops.exp(y), conv(y, w)

    *_, region, exp = found(run, X, W)
    assert [one.maker.name for one in region.results] == ["relu", "conv"]
    assert exp.name == "exp"


def test_what_no_primitive_does_by_the_way_is_left_to_nests():
    def run(x, w):
        y = conv(x, w)
        z = ops.relu(y * ops.sigmoid(y))
        return z, ops.tanh(z)

    steps = names(found(run, X, W))
    assert steps == [["conv"], "sigmoid", "multiply", "relu", "tanh"]


def _divided_at_the_end(y):
    return y * ops.relu6(y + 3.0) / 6.0


@pytest.mark.parametrize("swish", [ops.hardswish, _divided_at_the_end])
def test_a_hard_swish_at_the_end_is_in_the_region(swish):
    *constants, region = found(lambda x, w: swish(conv(x, w)), X, W)
    assert {one.name for one in constants} == {"constant"}
    assert {"conv", "add", "relu6", "multiply"} <= {one.name for one in region.operators}
    assert len(region.results) == 1


@pytest.mark.parametrize("read_too", [ops.exp, lambda y: y, lambda y: ops.relu6(y + 3.0) * 2.0])
def test_one_of_what_others_read_too_is_left_to_nests(read_too):
    def run(x, w):
        y = conv(x, w)
        return ops.hardswish(y), read_too(y)

    steps = names(found(run, X, W))
    assert ["conv"] in steps and "multiply" in steps


def test_what_another_convolution_reads_stays_in_the_region():
    def run(x, w):
        y = conv(x, w)
        return conv(y * ops.sigmoid(y), w)

    assert names(found(run, X, W)) == [["conv", "sigmoid", "multiply", "conv"]]


def test_what_reads_a_region_runs_after_it():
    def run(x, w):
        y = conv(x, w)
        z = ops.exp(y)
        return z, ops.relu(conv(y, w))

    assert names(found(run, X, W)) == [["conv", "conv", "relu"], "exp"]


def test_what_comes_of_a_region_is_not_read_by_it():
    def run(x, w):
        return conv(ops.exp(conv(x, w)), w)

    assert names(found(run, X, W)) == [["conv"], "exp", ["conv"]]


def test_an_image_is_resized_where_another_convolution_reads_it():
    def run(x, w):
        y = ops.interpolate(conv(x, w), scale_factor=2)
        return conv(y, w), ops.relu(ops.interpolate(y, scale_factor=2))

    (region,) = [one for one in names(found(run, X, W)) if isinstance(one, list)]
    assert region == ["conv", "index", "index", "conv"]


def test_what_may_fail_is_not_passed_by():
    def run(x, w, i):
        y = conv(x, w)
        picked = ops.gather(y, i)
        return picked, conv(y, w)

    steps = names(found(run, X, W, ("int64", (3,))))
    assert steps[0] == steps[-1] == ["conv"]


def test_what_has_no_result_is_left():
    def run(x, w):
        y = conv(x, w)
        apply("require", condition=x.shape[0] > 1, message="more than one")
        return ops.relu(y)

    assert [one for one in names(found(run, X, W)) if isinstance(one, list)] == [["conv", "relu"]]


def test_other_dtypes_are_left():
    steps = found(conv, ("float64", X[1]), ("float64", W[1]))
    assert names(steps) == ["conv"]


def test_filters_of_unknown_sizes_are_left():
    assert names(found(conv, X, ("float32", ("o", 4, 3, 3)))) == ["conv"]


def test_all_operators_are_in_one_step_each():
    def run(x, w):
        y = x
        for iteration in range(4):
            y = ops.relu(conv(y, w)) + (ops.exp(y) if iteration % 2 else x)
        return ops.mean(y)

    program = traced(run, X, W)
    steps = with_regions(program.block)
    inside = [one for step in steps if isinstance(step, Region) for one in step.operators]
    alone = [step for step in steps if not isinstance(step, Region)]
    assert {id(one) for one in [*inside, *alone]} == {id(one) for one in program.block.operators}
    made = {id(one) for one in program.block.parameters}
    for step in steps:
        assert all(id(one) in made for one in step.operands)
        made.update(id(one) for one in step.results)
        if isinstance(step, Region):
            constants = [v for one in step.operators for v in one.operands]
            made.update(id(one) for one in constants)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_constant_is_no_operand():
    weight = np.ones((4, 4, 3, 3), np.float32)
    (region,) = [
        step
        for step in found(lambda x: conv(x, dy2st_runtime.to_tensor(weight)), X)
        if isinstance(step, Region)
    ]
    assert len(region.operands) == 1
