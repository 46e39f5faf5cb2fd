"""Converted Layers and functions are copied and pickled like any others."""

from __future__ import annotations

import copy
import pickle

import pytest

import dy2st
from dy2st import nn
from dy2st.jit import to_static


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        if not self.training:
            return x * 0
        if x.sum() > 0:
            return self.linear(x)
        return x


@to_static
def flip(x):
    return x if x.sum() > 0 else -x


WAYS = [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))]
X = [[1.0, 2.0]]


@pytest.mark.parametrize("way", WAYS, ids=["copy", "deepcopy", "pickle"])
def test_a_copied_layer_gives_the_same_and_is_its_own_self(way):
    model = to_static(Model())
    expected = model(dy2st.to_tensor(X)).numpy().tolist()
    other = way(model)
    assert other(dy2st.to_tensor(X)).numpy().tolist() == expected
    assert other.forward.class_instance is other
    other.training = False
    assert other(dy2st.to_tensor(X)).numpy().tolist() == [[0.0, 0.0]]
    assert model(dy2st.to_tensor(X)).numpy().tolist() == expected


def test_a_pickled_layer_has_parameters_of_its_own():
    model = to_static(Model())
    other = pickle.loads(pickle.dumps(model))
    model.linear.weight.set_value(model.linear.weight.numpy() * 0)
    assert other.linear.weight.numpy().any()


def plain(x):
    return x if x.sum() > 0 else -x


def test_a_converted_function_is_pickled_by_name():
    assert pickle.loads(pickle.dumps(flip)) is flip


def test_a_function_that_was_converted_under_another_name_is_converted_again():
    other = pickle.loads(pickle.dumps(to_static(plain)))
    assert other.dygraph_function is plain
    assert other(dy2st.to_tensor(X)).numpy().tolist() == X
