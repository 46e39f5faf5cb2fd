"""Layers that a forward makes for itself are the trace's own: they may be set up and changed."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dy2st
from dy2st import nn


class Box(nn.Layer):
    def __init__(self, scale=1):
        super().__init__()
        self.scale = scale
        self.act = nn.ReLU()
        self.kernel = dy2st.full([2], 2.0)

    def forward(self, x):
        return self.act(x) * self.kernel * self.scale


def made_and_called(x):
    return Box(3)(x) + nn.LeakyReLU(0.5)(x) + nn.Softmax(axis=-1)(x)


def changed_in_a_branch(x):
    box = Box()
    if x.sum() > 0:
        box.scale = 5
    return box(x)


def changed_in_a_loop(x):
    box = Box()
    while x.abs().sum() < 20:
        x = x * 2
        box.scale = box.scale + 1
        box.kernel = box.kernel + x
    return box(x)


def one_of_two(x):
    act = nn.Sequential(nn.ReLU()) if x.sum() > 0 else nn.Sequential(nn.Sigmoid())
    return act(x)


FUNCTIONS = [made_and_called, changed_in_a_branch, changed_in_a_loop, one_of_two]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_it_gives_what_python_gives_and_is_traced_once(function):
    static = dy2st.to_static(function)
    for values in ([1.0, 2.0], [1.0, -3.0]):
        x = dy2st.to_tensor(values)
        np.testing.assert_allclose(static(x).numpy(), function(x).numpy(), rtol=1e-6)
    assert len(static.program_cache) == 1


def test_nobody_is_warned_of_it():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dy2st.to_static(made_and_called)(dy2st.ones([2]))


def test_a_layer_may_be_in_one_branch_alone():
    def function(x):
        box = Box()
        if x.sum() > 0:
            box.act = nn.Sigmoid()
        return box(x)

    static = dy2st.to_static(function)
    for x in (dy2st.ones([2]), -dy2st.ones([2])):
        assert static(x).tolist() == function(x).tolist()
