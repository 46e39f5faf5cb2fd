"""Known networks from their Python source to words that run, beside the integers of their layers."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import dy2st
from dy2st import to_static
from dy2st.targets.opu.compiled import CompiledModel, compile_network
from dy2st.targets.opu.gen_ir import gen_ir
from dy2st.targets.opu.host import VIEWS, as_images, run_tail
from dy2st.targets.opu.interpreter import interpret
from dy2st.targets.opu.ir_file import read_ir, write_ir
from dy2st.targets.opu.network import Network
from dy2st.targets.opu.quantiser import dequantised, quantised_inputs
from dy2st_runtime import nn
from examples.networks.models import MODELS

DEEP = ("googlenet", "mobilenet_v1", "resnet50", "yolo_v2", "yolo_v3")
"""Random deep networks pass on errors larger than they get them."""


@cache
def small(name: str) -> tuple[nn.Layer, Network]:
    return generate(name, is_small=True)


def generate(name: str, is_small: bool) -> tuple[nn.Layer, Network]:
    """A network and its layers, quantised with two images."""
    model = MODELS[name]
    layer = model.make(is_small)
    calibration = [image(name, is_small, seed) for seed in (1, 2)]
    return layer, gen_ir(to_static(layer, model.specs(is_small)), calibration).network


def image(name: str, is_small: bool, seed: int) -> np.ndarray:
    return MODELS[name].inputs(np.random.default_rng(seed), is_small)[0]


def integers(network: Network, *images: np.ndarray) -> list[np.ndarray]:
    """int8 inputs of several images."""
    return quantised_inputs(network, as_images(network, [np.concatenate(images)]))


@cache
def compiled(name: str, mode: str = "own") -> CompiledModel:
    return compile_network(small(name)[1], mode=mode)


def check(model: CompiledModel, inputs: list[np.ndarray]) -> None:
    """Whether the words give what the interpreter says."""
    network = model.network
    wanted = interpret(network, inputs)
    made = model.run(inputs)
    for index, output in zip(network.outputs, made, strict=True):
        assert len(np.unique(wanted[index])) > 5, "hardly anything is shown"
        np.testing.assert_array_equal(output, wanted[index], err_msg=f"layer {index}")


@pytest.mark.parametrize("mode", ["own", "compat"])
@pytest.mark.parametrize("name", MODELS)
def test_words_make_of_random_images_what_the_layers_do(name: str, mode: str) -> None:
    model = compiled(name, mode)
    check(model, integers(model.network, image(name, True, 3), image(name, True, 4)))


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_words_of_the_published_size_make_what_the_layers_do(name: str) -> None:
    _, network = generate(name, is_small=False)
    check(compile_network(network), integers(network, image(name, False, 3)))


@pytest.mark.parametrize("name", MODELS)
def test_not_one_operator_is_left_to_the_host(name: str) -> None:
    _, network = small(name)
    assert network.tail is not None and network.notes == [] and not network.epilogues
    assert {operator.name for operator in network.tail.program.operators} <= VIEWS


@pytest.mark.parametrize("name", MODELS)
def test_words_make_what_python_computes_but_for_8_bits(name: str) -> None:
    layer, network = small(name)
    x = image(name, True, 1)
    made = compiled(name).run(integers(network, x))
    lengths = [network.layer(index).output_fraclen for index in network.outputs]
    reals = [dequantised(a, length) for a, length in zip(made, lengths, strict=True)]
    with dy2st.no_grad():
        wanted = layer(dy2st.to_tensor(x))
    wanted = wanted if isinstance(wanted, (tuple, list)) else [wanted]
    for found, real in zip(run_tail(network, reals), wanted, strict=True):
        assert found.shape == tuple(real.shape)
        assert cosine(found, real.numpy()) > (0.75 if name in DEEP else 0.98)


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.vdot(a, b) / np.linalg.norm(a) / np.linalg.norm(b))


@pytest.mark.parametrize("name", MODELS)
def test_layers_that_were_written_and_read_are_the_same(name: str, tmp_path) -> None:
    network = small(name)[1]
    again = read_ir(write_ir(network, tmp_path))
    assert again.layers == network.layers
    for mine, other in (
        (network.int_weights, again.int_weights),
        (network.int_biases, again.int_biases),
    ):
        assert mine.keys() == other.keys()
        assert all(np.array_equal(array, other[index]) for index, array in mine.items())


def test_equal_layers_give_equal_words(tmp_path) -> None:
    again = read_ir(write_ir(small("tiny_yolo")[1], tmp_path))
    np.testing.assert_array_equal(compile_network(again).words, compiled("tiny_yolo").words)
