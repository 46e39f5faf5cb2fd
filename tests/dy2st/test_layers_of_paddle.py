"""Layers and functions give what PaddlePaddle gives, and their Programs the same for every size."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.static import InputSpec
from tests.runtime.nn.of_paddle.cases import answer
from tests.runtime.nn.of_paddle.families import families
from tests.runtime.nn.of_paddle.record import ANSWERS, as_array, signatures

CASES = {
    f"{cases.family}: {name}": case for cases in families() for name, case in cases.cases.items()
}
RECORDED = {
    f"{cases.family}: {name}": given
    for cases in families()
    for name, given in json.loads((ANSWERS / f"{cases.family}.json").read_text("utf-8")).items()
}


def compare(given, wanted):
    """Results and gradients are alike."""
    for kind in ("results", "gradients"):
        assert len(given[kind]) == len(wanted[kind])
        for ours, theirs in zip(given[kind], map(as_array, wanted[kind]), strict=True):
            assert ours.shape == theirs.shape
            assert ours.dtype.kind == theirs.dtype.kind
            np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", CASES)
def test_results_and_gradients_are_those_of_paddle(name):
    given = answer(dy2st, CASES[name])
    assert given["parameters"] == RECORDED[name]["parameters"]
    compare(given, RECORDED[name])


@pytest.mark.parametrize("name", CASES)
def test_one_program_of_unknown_sizes_gives_the_same(name):
    case = CASES[name]
    specs = [
        InputSpec(
            [None if axis in unknown else n for axis, n in enumerate(array.shape)], array.dtype
        )
        for array, unknown in zip(case.inputs, case.unknown, strict=True)
    ]

    def converted(called):
        return dy2st.to_static(lambda *tensors: called(*tensors), input_spec=specs)

    compare(answer(dy2st, case, converted), RECORDED[name])


SIGNATURES = json.loads((ANSWERS / "signatures.json").read_text("utf-8"))


@pytest.mark.parametrize("name", SIGNATURES)
def test_arguments_are_those_of_paddle(name):
    assert signatures(dy2st)[name] == SIGNATURES[name]


def test_an_initializer_that_is_given_a_tensor_can_be_made_and_left():
    tensor = dy2st.zeros([2, 3])
    dy2st.nn.initializer.TruncatedNormal(tensor, std=0.02)
    assert tensor.tolist() == [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("layer", ["TransformerEncoderLayer", "TransformerDecoderLayer"])
def test_an_activation_may_be_a_function_that_a_user_put_into_functional(monkeypatch, layer):
    monkeypatch.setattr(dy2st.nn.functional, "twice", lambda x: x * 2, raising=False)
    made = getattr(dy2st.nn, layer)(4, 2, 8, activation="twice")
    assert made.activation(dy2st.to_tensor([1.5])).tolist() == [3.0]
    monkeypatch.undo()
    with pytest.raises(AttributeError, match="twice"):
        getattr(dy2st.nn, layer)(4, 2, 8, activation="twice")


def test_a_package_may_put_properties_in_the_place_of_the_sizes_of_linear(monkeypatch):
    assert (nn.Linear(4, 3).in_features, nn.Linear(4, 3).out_features) == (4, 3)
    monkeypatch.setattr(nn.Linear, "in_features", property(lambda self: self.weight.shape[0]))
    monkeypatch.setattr(nn.Linear, "out_features", property(lambda self: self.weight.shape[1]))
    layer = nn.Linear(4, 3)
    assert (layer.in_features, layer.out_features) == (4, 3)
    assert repr(layer) == "Linear(in_features=4, out_features=3)"


def test_a_subclass_of_linear_may_set_its_sizes_itself():
    class Padded(nn.Linear):
        def __init__(self):
            super().__init__(4, 3)
            self.in_features = 7

        def forward(self, x):
            return super().forward(x) * self.in_features

    layer, x = Padded(), dy2st.ones([2, 4])
    assert dy2st.to_static(layer)(x).tolist() == (nn.Linear.forward(layer, x) * 7).tolist()
