"""Converted Layers: those that a forward makes for itself, those of the library, and copies."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.jit import to_static


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


# -- Layers of the library -------------------------------------------------------------------------


# In a process of its own: what the first call imports must not let the second trace anew.
SCRIPT = """
import dy2st
from dy2st.static import InputSpec
from dy2st.paddle.vision import models
from dy2st_runtime.engine.native.convolution import regions

if {without}:
    regions.find = lambda: None
for make in (lambda: dy2st.nn.Conv2D(3, 4, 3), lambda: models.resnet18().eval()):
    net = dy2st.to_static(make(), input_spec=[InputSpec([None, 3, 32, 32])], engine={engine!r})
    for batch in (2, 2, 3):
        net(dy2st.rand([batch, 3, 32, 32]))
    print(len(net.forward.program_cache))
"""


@pytest.mark.parametrize("without", [False, True])
@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_three_calls_have_one_program(engine, without):
    script = SCRIPT.format(engine=engine, without=without)
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert found.stdout.split() == ["1", "1"], found.stderr


# -- copies ----------------------------------------------------------------------------------------


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


class Settings(dict):
    __getattr__ = dict.__getitem__


@pytest.mark.parametrize("way", WAYS, ids=["copy", "deepcopy", "pickle"])
def test_a_copied_layer_keeps_the_converted_functions_that_it_was_given(way):
    model, other, x = Model(), Model(), dy2st.to_tensor(X)
    model.turn, model.own = to_static(plain), to_static(model.forward)
    model.of_other = to_static(other.forward)
    copied = way(model)
    assert copied.turn(-x).tolist() == X
    assert copied.own.class_instance is copied
    assert copied.of_other.class_instance is not copied
    assert copied.of_other(x).tolist() == other(x).tolist() != model(x).tolist()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 asks such a dict for __getstate__")
def test_an_attribute_that_answers_every_name_by_an_item_is_pickled():
    model = Model()
    model.settings = Settings(width=2)
    assert pickle.loads(pickle.dumps(model)).settings.width == 2


def test_a_class_method_is_converted():
    class Scaled:
        by = 3.0

        @classmethod
        def of(cls, x):
            return x * cls.by if x.sum() > 0 else x

    class Halved(Scaled):
        by = 0.5

    x = dy2st.to_tensor(X)
    for kind in (Scaled, Halved, Halved()):
        assert to_static(kind.of)(x).tolist() == kind.of(x).tolist()


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
