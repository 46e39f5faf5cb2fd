"""Programs become layers that compute the same, or an error that says what does not."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.passes import Module, pipeline
from dy2st.static import freeze
from dy2st.targets.opu.grouping import group
from dy2st.targets.opu.layer import Activation, LayerType, Order, Pooling
from dy2st.targets.opu.unmapped import UnmappedError
from dy2st_runtime.errors import ArgumentError, ShapeError
from examples.zoo.models import MODELS
from tests.dy2st.targets.opu.models import (
    IMAGE,
    F,
    Model,
    TwoInputs,
    computed,
    conv,
    expected,
    grouped,
    images,
    module_of,
    same,
)
from tests.dy2st.targets.opu.random_models import RandomModel


@pytest.mark.parametrize(
    ("name", "size", "layers"),
    [
        ("resnet18", 32, 9),
        ("resnet50", 32, 13),
        ("mobilenet_v2", 32, 17),
        ("googlenet", 32, 91),
        ("unet", 16, 15),
    ],
)
def test_whole_models_are_mapped_without_a_rest(name, size, layers):
    network = same(MODELS[name].tiny(), (1, 3, size, size))
    assert len(network.layers) == layers
    assert network.tail.program.operators == []


def test_a_leaky_slope_of_another_size_is_approximated_and_noted():
    network = grouped(MODELS["yolo_v3"].tiny(), (1, 3, 64, 64))
    assert len(network.layers) == 39 and network.outputs == [23, 31, 39]
    (note,) = network.notes
    assert "slope 0.1 of a leaky relu becomes 0.125" in note


@pytest.mark.parametrize("seed", range(60))
def test_random_models_compute_the_same_as_layers(seed):
    same(RandomModel(seed), IMAGE, tolerance=1e-3)


# -- what a layer holds ---------------------------------------------------------------------------


def test_convolution_bias_relu_and_pooling_are_one_layer():
    model = Model(lambda m, x: F.max_pool2d(F.relu(m.c(x)), 2, 2), c=conv())
    (layer,) = same(model, IMAGE).layers
    assert (layer.type, layer.activation_type) == (LayerType.CONVOLUTION, Activation.RELU)
    assert (layer.pooling_type, layer.pooling_size) == (Pooling.MAX, [1, 2, 2])
    assert layer.output_size == [1, 4, 4, 4] and layer.res_position == Order.ACTIVATION_POOLING


ORDERS = {
    Order.RESIDUAL_ACTIVATION_POOLING: lambda m, x: F.max_pool2d(F.relu(m.b(x) + x), 2, 2),
    Order.ACTIVATION_RESIDUAL_POOLING: lambda m, x: F.max_pool2d(F.relu(m.b(x)) + x, 2, 2),
    Order.ACTIVATION_POOLING_RESIDUAL: lambda m, x: F.max_pool2d(F.relu(m.b(x)), 2, 2) + m.half(x),
    Order.ACTIVATION_POOLING: lambda m, x: F.max_pool2d(F.relu(m.b(x)), 2, 2),
}


@pytest.mark.parametrize("order", Order)
def test_a_residual_is_added_in_each_of_the_orders(order):
    parts = {"a": conv(), "b": conv(4, 4), "half": conv(4, 4, 2, 0, stride=2)}
    model = Model(lambda m, x: ORDERS[order](m, m.a(x)), **parts)
    found = {layer.name: layer for layer in same(model, IMAGE).layers}
    if order == Order.ACTIVATION_POOLING_RESIDUAL:
        # Either operand may take the sum; the later one does, and the other is the residual.
        residual = found["half"] if found["half"].residual else found["b"]
        assert residual.residual_source == [found["a"].index + 1]
        return
    assert found["b"].res_position == order
    assert found["b"].residual == int(order != Order.ACTIVATION_POOLING)


def test_a_sum_of_pooled_maps_takes_the_order_with_pooling_in_front():
    parts = {"a": conv(), "b": conv(4, 4), "half": conv(4, 4, 2, 0, stride=2)}

    def forward(m, x):
        y = m.a(x)
        return m.half(y) + F.max_pool2d(F.relu(m.b(y)), 2, 2)

    last = same(Model(forward, **parts), IMAGE).layers[-1]
    assert last.name == "b" and last.res_position == Order.ACTIVATION_POOLING_RESIDUAL


def test_a_relu_behind_a_maximum_goes_in_front_of_it():
    model = Model(lambda m, x: F.relu(F.max_pool2d(m.c(x), 3, 2, padding=1)), c=conv())
    (layer,) = same(model, IMAGE).layers
    assert layer.activation_type == Activation.RELU and layer.pooling_type == Pooling.MAX


def test_a_relu_behind_an_average_is_a_layer_of_its_own():
    model = Model(lambda m, x: F.relu(F.avg_pool2d(m.c(x), 2, 2)), c=conv())
    assert [layer.type for layer in same(model, IMAGE).layers] == [1, LayerType.NONE]


def test_a_map_with_two_readers_is_stored():
    model = Model(lambda m, x: [m.b(F.relu(m.a(x))), F.relu(m.a(x))], a=conv(), b=conv(4, 4))
    network = same(model, IMAGE)
    assert [layer.output_layer for layer in network.layers] == [[2, -1], [-1]]


def test_the_limit_of_a_clipped_relu_is_kept():
    model = Model(lambda m, x: F.relu6(m.c(x)), c=conv())
    assert same(model, IMAGE).layers[0].activation_limit == 6.0


def test_asymmetric_padding_is_exact():
    model = Model(lambda m, x: m.c(x), c=conv(padding=[(0, 1), (2, 0)]))
    assert grouped(model, IMAGE).layers[0].padding_size == [0, 1, 2, 0]
    same(model, IMAGE)


def test_depthwise_grouped_and_dilated_convolutions_keep_their_facts():
    parts = {
        "a": conv(),
        "b": conv(4, 4, groups=4),
        "c": conv(4, 8, 3, 2, groups=2, dilation=2),
    }
    network = same(Model(lambda m, x: m.c(m.b(m.a(x))), **parts), IMAGE)
    assert [layer.group for layer in network.layers] == [1, 4, 2]
    assert network.layers[2].dilation == [1, 2, 2]
    assert [network.weights[i].shape for i in (2, 3)] == [(3, 3, 1, 4), (3, 3, 2, 8)]


@pytest.mark.parametrize("how", [{}, {"output_padding": 1}, {"groups": 2}, {"dilation": 2}])
def test_transposed_convolutions_are_layers(how):
    up = nn.Conv2DTranspose(4, 6, 3, stride=2, padding=1, **how)
    layer = same(Model(lambda m, x: F.relu(m.up(m.a(x))), a=conv(), up=up), IMAGE).layers[1]
    assert layer.type == LayerType.TRANSPOSED and layer.activation_type == Activation.RELU


def test_a_flattened_product_is_fully_connected_with_the_kernel_of_its_map():
    parts = {"c": conv(), "head": nn.Linear(256, 5)}
    layer = same(Model(lambda m, x: m.head(m.c(x).reshape([1, -1])), **parts), IMAGE).layers[1]
    assert layer.type == LayerType.FULLY_CONNECTED
    assert layer.ker_size == [1, 8, 8] and layer.input_size == [1, 8, 8, 4]


def test_a_product_of_more_than_2048_channels_is_fully_connected_too():
    parts = {"c": conv(3, 40), "head": nn.Linear(2560, 5)}
    layer = same(Model(lambda m, x: m.head(m.c(x).flatten(1)), **parts), IMAGE).layers[1]
    assert layer.type == LayerType.FULLY_CONNECTED and layer.output_size == [1, 1, 1, 5]


def test_an_input_that_is_only_flattened_has_one_pixel():
    network = same(
        Model(lambda m, x: m.head(x.flatten(1)), head=nn.Linear(3072, 5)), (1, 3, 32, 32)
    )
    assert network.input_sizes == [(1, 1, 1, 3072)]


def test_images_with_channels_last_need_no_layer_for_it():
    model = Model(lambda m, x: m.c(x.transpose([0, 3, 1, 2])), c=conv())
    network = same(model, (1, 8, 8, 3))
    assert network.input_orders == ["NHWC"] and len(network.layers) == 1


@pytest.mark.parametrize("size", [8, 16, 30, 32])
def test_global_means_are_windows_that_the_machine_has(size):
    model = Model(lambda m, x: F.relu(m.c(x)).mean(axis=[2, 3]), c=conv())
    network = same(model, (1, 3, size, size))
    assert all(max(layer.pooling_size) <= 15 for layer in network.layers)
    assert len(network.layers) == (1 if size <= 15 else 2)


def test_means_over_one_axis_after_the_other_are_one_window():
    model = Model(lambda m, x: m.c(x).mean(axis=3).mean(axis=2), c=conv())
    assert same(model, IMAGE).layers[0].pooling_size == [1, 8, 8]


def test_a_window_that_is_alone_has_a_stride_that_the_machine_has():
    model = Model(lambda m, x: F.max_pool2d(m.c(x), 9, 9), c=conv())
    assert same(model, (1, 3, 10, 9)).layers[0].pooling_stride == [1, 2, 1]


def test_nearest_enlargement_is_part_of_its_layer():
    model = Model(lambda m, x: F.relu(F.interpolate(m.c(x), scale_factor=2)), c=conv())
    (layer,) = same(model, IMAGE).layers
    assert layer.upsample == 2 and layer.output_size == [1, 16, 16, 4]


def test_a_scale_behind_a_relu_is_a_depthwise_layer():
    model = Model(lambda m, x: F.relu(m.n(F.relu(m.c(x)))), c=conv(), n=nn.BatchNorm2D(4))
    first, second = same(model, IMAGE).layers
    assert (second.group, second.ker_size) == (4, [1, 1, 1])
    assert second.activation_type == Activation.RELU


def test_a_scale_behind_an_average_goes_into_the_weights():
    model = Model(lambda m, x: F.avg_pool2d(m.c(x), 2, 2) * 3.0 - 1.0, c=conv())
    assert len(same(model, IMAGE).layers) == 1


# -- concats and channels -------------------------------------------------------------------------


def test_a_concat_is_read_by_parts():
    parts = {"a": conv(), "b": conv(3, 2), "c": conv(6, 5)}
    model = Model(lambda m, x: m.c(dy2st.concat([m.a(x), m.b(x)], axis=1)), **parts)
    last = same(model, IMAGE).layers[2]
    assert last.input_layer == [1, 2] and last.input_channels == [4, 2]


def test_pooling_of_a_concat_with_other_readers_is_pooling_of_its_parts():
    parts = {"a": conv(), "b": conv(3, 2), "c": conv(6, 5), "d": conv(6, 5)}

    def forward(m, x):
        y = dy2st.concat([m.a(x), m.b(x)], axis=1)
        return m.c(y) + m.d(F.max_pool2d(y, 3, 1, padding=1))

    network = same(Model(forward, **parts), IMAGE)
    assert [layer.type for layer in network.layers].count(LayerType.NONE) == 2


def test_a_concat_that_is_added_is_copied_to_one_map():
    parts = {"a": conv(), "b": conv(3, 2), "c": conv(3, 6)}

    def forward(m, x):
        return dy2st.concat([m.a(x), m.b(x)], axis=1) + m.c(x)

    network = same(Model(forward, **parts), IMAGE)
    copied = next(layer for layer in network.layers if len(layer.input_layer) == 2)
    np.testing.assert_array_equal(network.weights[copied.index][0, 0], np.eye(6))


def test_the_networks_input_is_copied_before_it_is_a_part():
    parts = {"a": conv(), "c": conv(7, 5)}
    model = Model(lambda m, x: m.c(dy2st.concat([m.a(x), x], axis=1)), **parts)
    network = same(model, IMAGE)
    assert all(min(y.input_layer) > 0 for y in network.layers if len(y.input_layer) > 1)


def test_parts_of_one_convolution_are_convolutions():
    def forward(m, x):
        first, second = dy2st.split(F.relu(m.a(x)), 2, axis=1)
        return m.b(first) + second

    network = same(Model(forward, a=conv(3, 8), b=conv(4, 4)), IMAGE)
    assert [layer.output_size[3] for layer in network.layers] == [4, 4, 4]


def test_channels_of_a_map_that_is_read_whole_too_are_copied():
    model = Model(lambda m, x: [m.a(x), F.relu(m.a(x)[:, 1:3])], a=conv())
    network = same(model, IMAGE)
    assert network.layers[1].ker_size == [1, 1, 1]
    assert set(np.unique(network.weights[2])) == {0.0, 1.0}


def test_shuffled_channels_are_weights_in_another_order():
    def forward(m, x):
        return m.b(m.a(x).reshape([1, 2, 3, 8, 8]).transpose([0, 2, 1, 3, 4]).reshape([1, 6, 8, 8]))

    assert len(same(Model(forward, a=conv(3, 6), b=conv(6, 6, groups=3)), IMAGE).layers) == 2


# -- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operator", "reason", "function"),
    [
        ("sigmoid", "no such step", lambda m, x: m.b(F.sigmoid(m.a(x)))),
        ("multiply", "a single pixel for each", lambda m, x: m.a(x) * m.c(x)),
        ("transpose", "exchange axes", lambda m, x: m.b(m.a(x).transpose([0, 1, 3, 2]))),
        ("clip", "an activation is max", lambda m, x: m.b(m.a(x).clip(-1.0, 1.0))),
        (
            "avg_pool2d",
            r"`exclusive=True` .*exclusive=False\)",
            lambda m, x: F.avg_pool2d(m.a(x), 3, 1, 1),
        ),
        ("avg_pool2d", "ceil_mode=False", lambda m, x: F.avg_pool2d(m.a(x), 3, 2, ceil_mode=True)),
        (
            "divide",
            "one number, or one a channel",
            lambda m, x: m.a(x) / np.arange(1, 65, dtype="float32").reshape(8, 8),
        ),
        ("pad", "pads with zeros", lambda m, x: m.b(F.pad(m.a(x), [1, 1, 1, 1], value=2.0))),
        ("pad", "mode 'reflect'", lambda m, x: m.b(F.pad(m.a(x), [1, 1, 1, 1], mode="reflect"))),
        ("add", "the shape of what it is", lambda m, x: m.a(x) + m.c(x).mean([2, 3], keepdim=True)),
        ("slice", "along its channels only", lambda m, x: m.b(m.a(x)[:, :, 1:])),
        ("slice", "along its channels only", lambda m, x: m.b(m.a(x)[:, :, ::-1])),
        ("slice", "along its channels only", lambda m, x: m.b(m.a(x)[:, :, :, ::-1])),
        ("flip", "no such step", lambda m, x: m.b(m.a(x).flip([2]))),
        ("mean", "not channels", lambda m, x: m.a(x).mean(axis=1, keepdim=True)),
        ("concat", "along channels only", lambda m, x: m.b(dy2st.concat([m.a(x), m.c(x)], 2))),
        ("add", "one a pixel", lambda m, x: m.b(m.a(x) + m.position)),
    ],
)
def test_what_no_layer_computes_is_refused_with_operator_line_and_reason(
    operator, reason, function
):
    model = Model(function, a=conv(), b=conv(4, 4), c=conv())
    model.position = dy2st.to_tensor(np.arange(64, dtype="float32").reshape(1, 1, 8, 8))
    with pytest.raises(UnmappedError, match=reason) as caught:
        grouped(model, IMAGE)
    entry = caught.value.entries[0]
    assert entry.operator == operator and entry.location.file == __file__


def test_everything_that_is_unmapped_is_said_at_once():
    model = Model(lambda m, x: F.sigmoid(m.a(x)) * F.tanh(m.c(x)), a=conv(), c=conv())
    with pytest.raises(UnmappedError, match="2 operators cannot be mapped") as caught:
        grouped(model, IMAGE)
    assert [entry.operator for entry in caught.value.entries] == ["sigmoid", "tanh"]


@pytest.mark.parametrize(
    ("layer", "reason"),
    [
        (conv(3, 4, 17, 8), "edges of at most 15"),
        (conv(3, 4, 3, 1, stride=8), "strides are at most 7"),
    ],
)
def test_windows_beyond_the_machines_fields_are_refused(layer, reason):
    with pytest.raises(UnmappedError, match=reason):
        grouped(Model(lambda m, x: m.c(x), c=layer), (1, 3, 20, 20))


def test_another_slope_of_a_leaky_relu_is_refused_on_demand():
    model = Model(lambda m, x: F.leaky_relu(m.c(x), 0.2), c=conv())
    with pytest.raises(UnmappedError, match="0.125, not 0.2"):
        grouped(model, IMAGE, leaky="refuse")
    exact = Model(lambda m, x: F.leaky_relu(m.c(x), 0.125), c=conv())
    assert same(exact, IMAGE, leaky="refuse").layers[0].activation_type == Activation.LEAKY


def test_unknown_sizes_are_refused_by_name_and_with_the_way_out():
    model = Model(lambda m, x: m.c(x), c=conv())
    with pytest.raises(ShapeError, match=r"axis 2 .*'x0'.* size height.*freeze.*bucket"):
        grouped(model, (1, 3, "height", 8))


def test_frozen_sizes_are_known_ones():
    module = module_of(Model(lambda m, x: m.c(x), c=conv()), ("batch", 3, "height", 8))
    ((name, program),) = module.programs.items()
    frozen = Module({name: freeze(program, batch=1, height=6)}, module.state)
    assert group(pipeline("opu")(frozen)).input_sizes == [(1, 6, 8, 3)]


def test_a_batch_of_several_images_is_refused():
    with pytest.raises(ShapeError, match="one image at a time"):
        grouped(Model(lambda m, x: m.c(x), c=conv()), (2, 3, 8, 8))


def test_a_model_in_training_is_refused():
    model = Model(lambda m, x: m.n(m.c(x)), c=conv(), n=nn.BatchNorm2D(4))
    model.train()
    with pytest.raises(ArgumentError, match="trace the model after eval"):
        grouped(model, IMAGE)


def test_a_module_without_arrays_is_refused():
    module = pipeline("opu")(module_of(Model(lambda m, x: m.c(x), c=conv()), IMAGE))
    with pytest.raises(ArgumentError, match="no arrays for c.weight"):
        group(Module(module.programs, {}))


def test_a_program_that_leaves_nothing_to_layers_is_refused():
    with pytest.raises(ArgumentError, match="nothing of the Program"):
        grouped(Model(lambda m, x: F.sigmoid(x)), IMAGE, unmapped="host")


@pytest.mark.parametrize("wrong", [{"unmapped": "skip"}, {"leaky": "exact"}, {"name": "other"}])
def test_wrong_arguments_are_refused(wrong):
    with pytest.raises(ArgumentError):
        grouped(Model(lambda m, x: m.c(x), c=conv()), IMAGE, **wrong)


def test_what_is_unmapped_runs_on_the_host_on_demand():
    model = Model(lambda m, x: [m.b(F.silu(m.a(x))), m.a(x)], a=conv(), b=conv(4, 4))
    network = same(model, IMAGE, unmapped="host")
    names = [operator.name for operator in network.tail.program.operators]
    assert len(network.layers) == 1 and names == ["silu", "conv"]
    (note,) = network.notes
    assert "test_grouping.py" in note and note.endswith(": on the host")
    assert "silu: the OPU has no such step; F.hardswish is one" in note


def test_the_host_takes_one_number_that_a_layer_makes():
    network = same(Model(lambda m, x: F.silu(x.max())), (1, 1, 8, 8), unmapped="host")
    (number,) = network.tail.program.inputs
    assert len(network.layers) == 1 and list(number.tensor_type.shape) == []


def test_a_branch_whose_result_is_read_is_what_is_refused():
    def forward(m, x):
        y = m.a(x)
        if y.sum() > 0:
            y = y * 2
        return m.b(y)

    with pytest.raises(UnmappedError, match="cond: its branches or iterations") as caught:
        grouped(Model(dy2st.jit.to_static(forward), a=conv(), b=conv(4, 4)), IMAGE)
    assert "conv" not in str(caught.value)


def test_what_is_only_seen_is_left_out_and_noted():
    def forward(m, x):
        y = m.c(x)
        print(y.sum())
        return y

    (note,) = grouped(Model(forward, c=conv()), IMAGE).notes
    assert "`print` is left out" in note


def test_two_inputs_are_numbered_downwards():
    model = TwoInputs(lambda m, x, y: m.a(x) + m.b(y), a=conv(), b=conv(5, 4))
    network = same(model, IMAGE, (1, 5, 8, 8))
    assert sorted(layer.input_layer for layer in network.layers) == [[-1], [0]]


def test_grouping_twice_gives_the_same():
    module = pipeline("opu")(module_of(MODELS["resnet18"].tiny(), (1, 3, 32, 32)))
    first, second = group(module), group(module)
    assert first.layers == second.layers
    for index in first.weights:
        np.testing.assert_array_equal(first.weights[index], second.weights[index])


def test_an_output_that_is_moved_and_rounded_off_needs_no_permission():
    def forward(m, x):
        return F.softmax(m.c(x).transpose([0, 2, 3, 1]).reshape([1, -1, 2]), -1)

    model = Model(forward, c=conv())
    network = grouped(model, IMAGE)
    inputs = images(IMAGE)
    np.testing.assert_allclose(
        computed(network, inputs)[0], expected(model, inputs)[0], rtol=1e-4, atol=1e-5
    )


def test_a_convolution_along_one_axis_is_one_of_a_single_row():
    parts = {"c": nn.Conv1D(3, 4, 3, padding=1), "d": nn.Conv1D(4, 5, 3, stride=2)}
    network = same(Model(lambda m, x: F.relu(m.d(F.relu(m.c(x)))), **parts), (1, 3, 9))
    assert network.input_sizes == [(1, 1, 9, 3)] and network.layers[1].ker_size == [1, 1, 3]


def test_channels_that_are_padded_are_made_by_a_matrix():
    model = Model(lambda m, x: m.d(F.pad(m.c(x), [0, 0, 1, 2, 0, 0, 0, 0])), c=conv(), d=conv(7, 4))
    layers = same(model, IMAGE).layers
    assert [layer.output_size[3] for layer in layers] == [4, 7, 4]


def test_zeros_around_a_maximum_count_as_zeros():
    model = Model(lambda m, x: F.max_pool2d(F.pad(m.c(x), [1, 1, 1, 1]), 3, 1), c=conv())
    first, second = same(model, IMAGE).layers
    assert second.pool_padding_size == [0, 0, 0, 0] and first.post_padding_size == [1, 1, 1, 1]


def test_the_largest_windows_of_the_machine_are_mapped():
    parts = {"c": conv(3, 4, 15, 7, stride=7), "d": conv(4, 4, 1, 0)}
    model = Model(lambda m, x: F.max_pool2d(m.d(m.c(x)), 15, 7, padding=7), **parts)
    assert len(same(model, (1, 3, 50, 57)).layers) == 2


def test_windows_with_room_on_one_side_only_are_mapped():
    model = Model(lambda m, x: F.max_pool2d(m.c(x), 3, 2, ceil_mode=True), c=conv())
    assert same(model, IMAGE).layers[0].pool_padding_size == [0, 1, 0, 1]


@pytest.mark.parametrize("cut", [slice(1, 6, 2), slice(None, None, -1), slice(5, 1, -2)])
def test_channels_may_be_taken_in_steps_and_backwards(cut):
    model = Model(lambda m, x: [m.c(x)[:, cut], m.c(x)], c=conv(3, 6))
    same(model, IMAGE)


def test_the_mean_of_two_by_two_pixels_is_a_window():
    model = Model(lambda m, x: m.c(x).mean([2, 3]), c=conv(3, 2))
    assert same(model, (1, 3, 2, 2)).layers[0].pooling_size == [1, 2, 2]


@pytest.mark.parametrize(("second", "layers"), [([1, 1, 1, 1], 3), ([0, 2, 2, 0], 5)])
def test_parts_that_are_padded_alike_are_padded_where_they_are_read(second, layers):
    def forward(m, x):
        first, other = F.pad(m.a(x), [1, 1, 1, 1]), F.pad(m.b(x), second)
        return m.c(dy2st.concat([first, other], axis=1))

    model = Model(forward, a=conv(), b=conv(), c=conv(8, 4, 3, 0))
    assert len(same(model, IMAGE).layers) == layers


def test_flattened_parts_of_one_size_are_parts():
    def forward(m, x):
        flat = dy2st.concat([m.a(x).flatten(1), m.b(x).flatten(1)], axis=1)
        return m.head(flat)

    network = same(Model(forward, a=conv(), b=conv(3, 2), head=nn.Linear(384, 5)), IMAGE)
    assert network.layers[-1].input_layer == [1, 2]


def test_flattened_parts_of_different_sizes_are_refused():
    def forward(m, x):
        pooled = F.max_pool2d(m.b(x), 2, 2)
        return m.head(dy2st.concat([m.a(x).flatten(1), pooled.flatten(1)], axis=1))

    model = Model(forward, a=conv(), b=conv(), head=nn.Linear(320, 5))
    with pytest.raises(UnmappedError, match="different heights and widths"):
        grouped(model, IMAGE)


def test_a_product_of_rows_is_refused():
    model = Model(lambda m, x: m.head(m.c(x)), c=conv(), head=nn.Linear(8, 5))
    with pytest.raises(UnmappedError, match="one vector and a matrix"):
        grouped(model, IMAGE)
