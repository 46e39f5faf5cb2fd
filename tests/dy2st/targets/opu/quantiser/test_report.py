"""The report's figures, against their formulas, and its three forms."""

import csv
import io
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from dy2st.targets.opu.float_network import run_float
from dy2st.targets.opu.interpreter import Saturation, interpret
from dy2st.targets.opu.layer import Activation, LayerType
from dy2st.targets.opu.quantiser import dequantised, quantise, quantised_inputs
from dy2st.targets.opu.quantiser.report import OutputFigures, input_fraclen
from tests.dy2st.targets.opu.hand_networks import Builder


def quantised_chain():
    b = Builder((7, 7, 3))
    first = b.conv(0, 8, padding=1, activation_type=Activation.LEAKY, name="stem")
    second = b.conv([first, 0], 8, padding=1, scale=3.0)
    b.add(second, (7, 7, 8), LayerType.NONE, activation_type=Activation.RELU, name="relu")
    network, inputs = b.done(), b.inputs(3)
    return network, inputs, quantise(network, [inputs[0]], keep=5)


def snr(wanted, got):
    noise = ((wanted.astype(np.float64) - got) ** 2).sum()
    return 10 * math.log10((wanted.astype(np.float64) ** 2).sum() / noise)


def test_ratios_are_those_of_the_integers_against_the_floats():
    network, inputs, report = quantised_chain()
    made = interpret(network, quantised_inputs(network, inputs))
    real = run_float(network, inputs)
    for layer, figures in zip(network.layers, report.layers):
        got = dequantised(made[layer.index], layer.output_fraclen)
        wanted = real[layer.index]
        assert figures.snr == pytest.approx(snr(wanted, got), abs=1e-3)
        cosine = (wanted * got).sum() / np.linalg.norm(wanted) / np.linalg.norm(got)
        assert figures.cosine == pytest.approx(float(cosine), abs=1e-5)


def test_a_layers_own_ratio_has_no_error_of_the_layers_before():
    network, inputs, report = quantised_chain()
    integers = quantised_inputs(network, inputs)
    made = interpret(network, integers)
    x = dequantised(integers[0], input_fraclen(network, 0))
    first = run_float(network, x)[1]
    got = dequantised(made[1], network.layer(1).output_fraclen)
    assert report.layers[0].own_snr == pytest.approx(snr(first, got), abs=1e-3)
    assert report.layers[1].own_snr > report.layers[1].snr
    assert report.layers[2].own_snr == math.inf  # a relu alone changes no integer


def test_counts_are_the_interpreters():
    network, inputs, report = quantised_chain()
    saturation: dict[int, Saturation] = {}
    interpret(network, quantised_inputs(network, inputs), saturation=saturation)
    for figures in report.layers:
        for name in ("accumulator", "partial_sum", "passes", "cut", "residual", "values", "peak"):
            assert getattr(figures, name) == getattr(saturation[figures.index], name)
    assert (report.calibrated, report.measured) == (3, 3)


def test_clamped_numbers_are_counted():
    b = Builder((6, 6, 3))
    mean = {"pooling_type": 2, "pooling_size": [1, 6, 6], "pooling_stride": [1, 6, 6]}
    b.add(b.conv(0, 4, padding=1), (1, 1, 4), LayerType.NONE, **mean)
    network, images = b.done(), b.inputs(2)[0]
    coarse = network.layer(1)
    before, behind = quantise(network, images, "seed").layers  # a mean is small: its range too
    limit = 128 >> (behind.output_fraclen - coarse.output_fraclen)
    made = interpret(network, quantised_inputs(network, images))[1]
    assert behind.partial_sum == ((made >= limit) | (made < -limit)).sum() > 0
    assert behind.cut == (made >= limit).sum() > 0  # 2 ** 15 - 1 is rounded up to 128
    assert (before.passes, before.values) == (9 * 2 * 6 * 6 * 4, 2 * 6 * 6 * 4)


def figures(**outputs):
    report = quantised_chain()[2]
    return replace(report, outputs=[OutputFigures(3, **outputs)]).warnings()


def test_outputs_that_are_far_from_real_numbers_are_warned_of():
    assert figures(snr=10.0, vectors=0, same=0) == []
    assert figures(snr=40.0, vectors=4, same=1) == []
    first, second = figures(snr=3.44, vectors=4, same=0)
    assert first == (
        "the output of layer 3 is 3.4 dB from that in real numbers, 10 is little and has its "
        "largest element at another place in all measured images"
    )
    assert second.startswith("layers that lose most by themselves: ") and "1 stem (" in second


def test_largest_elements_are_compared_image_by_image():
    b = Builder((1, 1, 6))
    b.conv(0, 4, kernel=1)
    network = b.done()
    inputs = [np.random.default_rng(7).standard_normal((9, 1, 1, 6)).astype(np.float32)]
    report = quantise(network, [inputs[0]], keep=9)
    real = run_float(network, inputs)[1].reshape(9, 4).argmax(1)
    got = interpret(network, quantised_inputs(network, inputs))[1].reshape(9, 4)
    same = sum(row[place] == row.max() for row, place in zip(got, real))
    assert [(y.index, y.vectors, y.same) for y in report.outputs] == [(1, 9, same)]


def test_only_the_kept_inputs_are_measured():
    network, inputs, _ = quantised_chain()
    report = quantise(network, list(inputs[0]), keep=2)
    assert (report.calibrated, report.measured) == (3, 2)
    assert report.layers[0].values == 2 * 7 * 7 * 8


def test_the_three_forms_say_the_same():
    _, _, report = quantised_chain()
    plain = report.as_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["mode"] == "mse"
    rows = list(csv.DictReader(io.StringIO(report.as_csv())))
    assert len(rows) == len(plain["layers"]) == 3
    for row, layer in zip(rows, plain["layers"]):
        assert list(row) == list(layer)
        for name, value in layer.items():
            assert row[name] == ("inf" if value is None else str(value))
    lines = report.as_table().splitlines()
    assert lines[0] == "mode mse: 3 calibrated, 3 measured"
    assert len(lines) == 5
    assert lines[2].split()[:2] == ["1", "stem"]
    assert lines[4].split()[-2] != "exact" and "exact" in lines[4].split()
    figures = report.layers[0]
    assert lines[2].split()[2:8] == [
        str(n)
        for n in (
            figures.input_fraclen,
            figures.weight_fraclen,
            figures.bias_fraclen,
            figures.output_fraclen,
            figures.shift_features,
            figures.shift_bias,
        )
    ]


def test_an_input_that_is_only_added_has_the_outputs_fraction_length():
    b = Builder((4, 4, 3), (4, 4, 5))
    b.conv(0, 5, kernel=1, residual_source=[-1], res_position=0)
    network = b.done()
    quantise(network, [b.inputs() for _ in range(3)])
    assert input_fraclen(network, 0) == network.layer(1).input_fraclen
    assert input_fraclen(network, 1) == network.layer(1).output_fraclen
