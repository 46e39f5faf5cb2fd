"""Elementwise operators in their many spellings."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st.nn import functional as F
from dy2st.targets.opu.host import FREE
from dy2st.targets.opu.layer import Activation
from dy2st.targets.opu.lowering import RULES
from dy2st.targets.opu.unmapped import UnmappedError
from dy2st_runtime.ir.definition import DEFINITIONS
from tests.dy2st.targets.opu.models import IMAGE, Model, conv, grouped, same

ZERO = dy2st.to_tensor(np.float32(0.0))
CHANNELS = dy2st.to_tensor(np.float32([[[1]], [[2]], [[-3]], [[0]]]))

RELU = {
    "maximum": lambda y: dy2st.maximum(y, ZERO),
    "maximum turned": lambda y: dy2st.maximum(ZERO, y),
    "kept above": lambda y: dy2st.where(y > 0, y, ZERO),
    "kept from": lambda y: dy2st.where(y >= 0, y, ZERO),
    "cut below": lambda y: dy2st.where(y < 0, ZERO, y),
    "turned": lambda y: dy2st.where(ZERO < y, y, ZERO),
    "a slope of zero": lambda y: dy2st.where(y > 0, y, y * 0.0),
}


@pytest.mark.parametrize("name", RELU)
def test_all_ways_to_write_a_relu_are_one(name):
    layers = same(Model(lambda m, x: RELU[name](m.c(x)), c=conv()), IMAGE).layers
    assert [layer.activation_type for layer in layers] == [Activation.RELU]
    assert layers[0].activation_limit is None


def below(y, number):
    limit = dy2st.to_tensor(np.float32(number))
    return dy2st.where(y > limit, limit, y)


LIMITED = {
    "relu first": lambda y: dy2st.minimum(dy2st.maximum(y, ZERO), dy2st.to_tensor(np.float32(0.5))),
    "relu last": lambda y: dy2st.maximum(dy2st.minimum(y, dy2st.to_tensor(np.float32(0.5))), ZERO),
    "clip": lambda y: y.clip(0.0, 0.5),
    "hardtanh": lambda y: F.hardtanh(y, 0.0, 0.5),
    "choices": lambda y: below(dy2st.where(y < ZERO, ZERO, y), 0.5),
    "twice": lambda y: y.clip(0.0, 0.75).clip(-1.0, 0.5),
}


@pytest.mark.parametrize("name", LIMITED)
def test_limits_on_both_sides_are_a_clipped_relu(name):
    (layer,) = same(Model(lambda m, x: LIMITED[name](m.c(x)), c=conv()), IMAGE).layers
    assert layer.activation_limit == 0.5


LEAKY = {
    "leaky_relu": lambda y: F.leaky_relu(y, 0.125),
    "kept above": lambda y: dy2st.where(y > 0, y, y * 0.125),
    "scaled below": lambda y: dy2st.where(y < 0, 0.125 * y, y),
    "the larger": lambda y: dy2st.maximum(y, 0.125 * y),
    "the larger turned": lambda y: dy2st.maximum(y * 0.125, y),
}


@pytest.mark.parametrize("name", LEAKY)
def test_all_ways_to_write_a_leaky_relu_are_one(name):
    (layer,) = same(Model(lambda m, x: LEAKY[name](m.c(x)), c=conv()), IMAGE).layers
    assert layer.activation_type == Activation.LEAKY


REFUSED = {
    "where x is dropped above": lambda y: dy2st.where(y > 0, ZERO, y),
    "a slope above zero": lambda y: dy2st.where(y > 0, y * 0.125, y),
    "a slope below one": lambda y: dy2st.where(y > 1.0, y, y * 0.125),
    "another lower limit": lambda y: dy2st.maximum(y, dy2st.to_tensor(np.float32(0.5))),
    "limits that cross": lambda y: y.clip(0.0, 3.0).clip(4.0, 5.0),
    "the smaller": lambda y: dy2st.minimum(y, y * 0.125),
    "a steep slope": lambda y: dy2st.maximum(y, y * 3.0),
    "a number over an image": lambda y: 1.0 / y,
    "a power": lambda y: y**3,
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_only_looks_like_an_activation_is_refused(name):
    model = Model(lambda m, x: m.d(REFUSED[name](m.c(x))), c=conv(), d=conv(4, 4))
    with pytest.raises(UnmappedError):
        grouped(model, IMAGE)


SCALED = {
    "product": lambda y: y * 2.5,
    "quotient": lambda y: y / 2.5,
    "shift": lambda y: 1.5 - y,
    "difference": lambda y: y - 1.5,
    "negative": lambda y: -y,
    "channels": lambda y: y * CHANNELS,
}


@pytest.mark.parametrize("name", SCALED)
def test_scales_and_shifts_go_into_the_weights_before_them(name):
    assert len(same(Model(lambda m, x: SCALED[name](m.c(x)), c=conv()), IMAGE).layers) == 1


def test_a_map_added_to_itself_is_doubled():
    model = Model(lambda m, x: m.d(m.c(x) + m.c(x)), c=conv(), d=conv(4, 4))
    layers = same(model, IMAGE).layers
    assert all(layer.residual == 0 for layer in layers)


def test_a_difference_adds_the_negative():
    parts = {"c": conv(), "d": conv(4, 4), "e": conv(4, 4)}
    model = Model(lambda m, x: m.d(m.c(x)) - m.e(m.c(x)), **parts)
    assert [layer.residual for layer in same(model, IMAGE).layers].count(1) == 1


def test_rules_and_what_the_host_does_are_of_operators_that_there_are():
    assert set(RULES) <= set(DEFINITIONS) and set(FREE) <= set(DEFINITIONS)
