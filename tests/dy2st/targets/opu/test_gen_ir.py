"""From a Program to quantised layers and their files."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st import nn, to_static
from dy2st.passes import Module, Sequential
from dy2st.passes.pipelines import opu
from dy2st.static import InputSpec
from dy2st.targets.opu.gen_ir import GenIR, gen_ir
from dy2st.targets.opu.host import as_images
from dy2st.targets.opu.interpreter import interpret
from dy2st.targets.opu.ir_file import read_ir
from dy2st.targets.opu.quantiser import quantised_inputs
from dy2st.targets.opu.unmapped import UnmappedError
from dy2st_runtime.errors import ArgumentError, Dy2stError
from tests.dy2st.targets.opu.models import (
    IMAGE,
    F,
    Model,
    TwoInputs,
    computed,
    conv,
    expected,
    images,
    module_of,
)
from tests.dy2st.targets.opu.random_models import RandomModel


def forward(m, x):
    return F.softmax(m.head(F.relu(m.b(F.relu(m.a(x)))).mean([2, 3])), -1)


@pytest.fixture
def model():
    """Two convolutions and a head."""
    return Model(forward, a=conv(), b=conv(4, 4), head=nn.Linear(4, 3))


def samples(count=3, shape=IMAGE):
    return [images(shape, seed=i)[0] for i in range(count)]


def test_a_program_becomes_a_quantised_network_with_stored_zeros(model):
    network, report = gen_ir(module_of(model, IMAGE), samples())
    assert set(network.int_weights) == {1, 2, 3} and network.layers[0].post_padding == 1
    assert len(report.layers) == 3


def test_the_last_softmax_stays_with_the_host(model):
    network, _ = gen_ir(module_of(model, IMAGE), samples())
    assert network.epilogues == {0: ("softmax", {"axis": 1})}
    inputs = images(IMAGE)
    np.testing.assert_allclose(computed(network, inputs)[0], expected(model, inputs)[0], rtol=1e-4)


def test_a_last_argmax_stays_with_the_host_too():
    model = Model(lambda m, x: m.a(x).mean([2, 3]).argmax(-1), a=conv())
    network, _ = gen_ir(module_of(model, IMAGE), quantize=False)
    inputs = images(IMAGE)
    (got,) = computed(network, inputs)
    assert network.epilogues[0][0] == "argmax"
    np.testing.assert_array_equal(got, expected(model, inputs)[0])


def test_a_program_takes_its_arrays_as_state(model):
    module = module_of(model, IMAGE)
    ((_, program),) = module.programs.items()
    network, _ = gen_ir(program, quantize=False, state=module.state)
    assert len(network.layers) == 3


def test_a_layer_or_function_that_is_traced_has_arrays_of_its_own(model):
    static = to_static(model, [InputSpec(list(IMAGE), "float32", "x")])
    for given in (static, static.forward):
        network, _ = gen_ir(given, quantize=False)
        assert len(network.layers) == 3
    with pytest.raises(ArgumentError, match="`state` goes with a Program"):
        gen_ir(static, quantize=False, state={})
    with pytest.raises(ArgumentError, match="the layer is not traced"):
        gen_ir(Model(forward), quantize=False)


def test_an_image_is_read_as_columns_where_that_is_faster(model):
    network, _ = gen_ir(module_of(model, IMAGE), samples())
    assert [layer.enhanced for layer in network.layers] == [1, 0, 0]


def test_without_quantising_there_are_no_integers_and_no_report(model):
    network, report = gen_ir(module_of(model, IMAGE), quantize=False)
    assert report is None and network.int_weights == {}


def test_without_post_padding_the_readers_keep_their_padding(model):
    network, _ = gen_ir(module_of(model, IMAGE), quantize=False, use_post_padding=False)
    assert network.layers[1].padding_size == [1, 1, 1, 1]
    assert all(layer.post_padding == 0 for layer in network.layers)


def test_as_the_last_pass_of_a_pipeline_it_leaves_the_module(model, tmp_path):
    last = GenIR(samples(), folder=tmp_path)
    after = Sequential([*opu(), last])(module_of(model, IMAGE))
    assert isinstance(after, Module) and len(after.programs) == 1
    assert last.result.network.layers == read_ir(tmp_path).layers


def test_both_ways_give_the_same(model):
    last = GenIR(samples())
    Sequential([*opu(), last])(module_of(model, IMAGE))
    network, _ = gen_ir(module_of(model, IMAGE), samples())
    assert network.layers == last.result.network.layers
    for index, weights in network.int_weights.items():
        np.testing.assert_array_equal(weights, last.result.network.int_weights[index])


def test_several_inputs_are_calibrated_by_tuples():
    model = TwoInputs(lambda m, x, y: m.a(x) + m.b(y), a=conv(), b=conv(5, 4))
    other = (1, 5, 8, 8)
    pairs = list(zip(samples(), samples(shape=other), strict=True))
    network, _ = gen_ir(module_of(model, IMAGE, other), pairs)
    assert network.input_sizes == [(1, 8, 8, 3), (1, 8, 8, 5)]


@pytest.mark.parametrize(
    "calibration",
    [
        [],
        [np.zeros((1, 3, 8, 9), "float32")],
        [np.full(IMAGE, np.nan, "float32")],
        [(np.zeros(IMAGE, "float32"),) * 2],
    ],
)
def test_wrong_calibration_is_refused_and_nothing_is_written(model, calibration, tmp_path):
    folder = tmp_path / "out"
    with pytest.raises(Dy2stError):
        gen_ir(module_of(model, IMAGE), calibration, folder=folder)
    assert not folder.exists()


def test_a_program_that_cannot_be_mapped_writes_nothing(tmp_path):
    model = Model(lambda m, x: m.b(F.sigmoid(m.a(x))), a=conv(), b=conv(4, 4))
    with pytest.raises(UnmappedError):
        gen_ir(module_of(model, IMAGE), samples(), folder=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_how_to_quantise_means_nothing_without_quantising(model):
    with pytest.raises(ArgumentError, match="mode has no meaning"):
        gen_ir(module_of(model, IMAGE), quantize=False, mode="max")


def test_the_module_that_is_given_stays_as_it_is(model):
    module = module_of(model, IMAGE)
    before = {name: str(program) for name, program in module.programs.items()}
    gen_ir(module, samples())
    assert {name: str(program) for name, program in module.programs.items()} == before


@pytest.mark.parametrize("seed", range(8))
def test_stored_zeros_change_no_integer(seed):
    module = module_of(RandomModel(seed), IMAGE)
    stored, _ = gen_ir(module, samples())
    read, _ = gen_ir(module, samples(), use_post_padding=False)
    inputs = quantised_inputs(stored, as_images(stored, images(IMAGE)))
    one, two = interpret(stored, inputs), interpret(read, inputs)
    assert one.keys() == two.keys()
    for index in one:
        np.testing.assert_array_equal(one[index], two[index])


def test_an_input_that_only_the_host_reads_is_no_hindrance():
    model = TwoInputs(lambda m, x, y: m.a(x) * F.sigmoid(y), a=conv(3, 3))
    pairs = list(zip(samples(), samples(), strict=True))
    network, _ = gen_ir(module_of(model, IMAGE, IMAGE), pairs, unmapped="host")
    assert network.tail.inputs == [1] and network.input_sizes[1] == (0, 0, 0, 0)
    inputs = images(IMAGE, IMAGE)
    np.testing.assert_allclose(
        computed(network, inputs)[0], expected(model, inputs)[0], rtol=1e-4, atol=1e-5
    )


def narrow_tiny_yolo(m, x):
    """TinyYOLO's windows, strides and paddings; sizes do not depend on its channels."""
    for number in range(6):
        x = F.leaky_relu(m.sublayers()[number](x), 0.125)
        x = F.max_pool2d(x, 2, 2 if number < 5 else 1)
    for number in (6, 7):
        x = F.leaky_relu(m.sublayers()[number](x), 0.125)
    return m.sublayers()[8](x)


def test_tiny_yolo_is_laid_out_as_it_is_published():
    """Sizes with borders, zeros stored and zeros skipped, as in the known tool chain's file."""
    paddings = [1, 1, 1, 1, 1, [1, 2, 1, 2], 1, 1]
    parts = {f"c{i}": conv(4 if i else 3, 4, 3, padding) for i, padding in enumerate(paddings)}
    module = module_of(Model(narrow_tiny_yolo, **parts, last=conv(4, 5, 1, 0)), (1, 3, 416, 416))
    layers = gen_ir(module, quantize=False, symmetric=True).network.layers
    edges = [418, 210, 106, 54, 28, 17, 15, 15, 13]
    assert [y.input_size[1:3] for y in layers] == [[edge, edge] for edge in edges]
    assert [y.output_size[1] for y in layers] == [*edges[1:], 13]
    stored = [1, 1, 1, 1, 2, 1, 1, 0, 0]
    assert [y.post_padding_size for y in layers] == [[sides] * 4 for sides in stored]
    skipped = [[1, 0, 1, 0] if number == 5 else [0] * 4 for number in range(9)]
    assert [y.pre_remove_padding_size for y in layers] == skipped
    assert {y.post_padding_mode for y in layers} == {1}
    assert [y.extra_pre_padding for y in layers] == [1] + [0] * 8
