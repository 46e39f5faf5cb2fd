"""Idioms that fill and change buffers, as PaddlePaddle answers them, and as Programs."""

import json
from pathlib import Path

import numpy as np
import pytest

import dy2st
from dy2st.jit import to_static
from dy2st.static import InputSpec
from tests.dy2st.against_paddle.sharing import calls_of_layer, numbers
from tests.dy2st.jit.buffer_idioms import IDIOMS, LAYERS

INPUTS = [
    (np.arange(16, dtype="float32").reshape(4, 4) - 2, 2),
    (np.full((4, 4), 0.5, "float32"), 3),
    (-np.arange(16, dtype="float32").reshape(4, 4), 0),
]
ANSWERS = json.loads((Path(__file__).parents[2] / "data" / "paddle" / "views.json").read_text())
SIZES = pytest.mark.parametrize("sizes", [[4, 4], [None, 4]], ids=["known", "unknown"])
ENGINES = pytest.mark.parametrize("engine", ["numpy", "native"])


def answers(function):
    return [numbers(function(dy2st.to_tensor(x), dy2st.to_tensor(n))) for x, n in INPUTS]


def check(found, expected):
    """The same numbers in the same lists, but for rounding."""
    if not isinstance(expected, list):
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-6)
        return
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        check(one, other)


def specs(sizes):
    return [InputSpec(sizes, "float32", "x"), InputSpec([], "int64", "n")]


def test_there_are_forty():
    assert len(IDIOMS) + len(LAYERS) >= 40


@pytest.mark.parametrize("name", IDIOMS)
def test_an_idiom_gives_what_paddlepaddle_gives(name):
    check(answers(IDIOMS[name])[0], ANSWERS["idioms"][name])


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_gives_and_keeps_what_it_does_in_paddlepaddle(name):
    layer = LAYERS[name]()
    check(calls_of_layer(dy2st, layer, layer), ANSWERS["idioms"][name])


@ENGINES
@SIZES
@pytest.mark.parametrize("name", IDIOMS)
def test_an_idiom_is_the_same_in_a_program(name, sizes, engine):
    converted = to_static(IDIOMS[name], input_spec=specs(sizes), engine=engine)
    check(answers(converted), answers(IDIOMS[name]))


@ENGINES
@SIZES
@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_is_the_same_in_a_program(name, sizes, engine):
    layer = LAYERS[name]()
    converted = to_static(layer, input_spec=specs(sizes), engine=engine)
    check(calls_of_layer(dy2st, layer, converted), ANSWERS["idioms"][name])


@pytest.mark.parametrize("name", [*IDIOMS][::4])
def test_an_idiom_is_the_same_once_it_is_saved(name, tmp_path):
    dy2st.jit.save(to_static(IDIOMS[name], input_spec=specs([4, 4])), str(tmp_path / "idiom"))
    check(answers(dy2st.jit.load(str(tmp_path / "idiom"))), answers(IDIOMS[name]))
