"""Layer: registration, state, hooks, modes; containers; initialisers; eager tensors."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

import dy2st_runtime as rt
from dy2st_runtime import nn, ops, optimizer
from dy2st_runtime.autograd import grad
from dy2st_runtime.errors import ArgumentError, ParameterMismatch, ShapeError
from dy2st_runtime.ir.grad_mode import no_grad
from dy2st_runtime.nn import functional as F
from dy2st_runtime.tensor import EagerTensor, Parameter


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 3)
        self.blocks = nn.LayerList([nn.Linear(3, 3) for _ in range(2)])
        self.register_buffer("steps", rt.to_tensor(0))
        self.register_buffer("scratch", rt.to_tensor(0), persistable=False)

    def forward(self, x):
        x = self.fc(x)
        for block in self.blocks:
            x = block(x)
        return x


def test_parameters_buffers_and_sublayers_have_dotted_names():
    net = Net()
    names = [name for name, _ in net.named_parameters()]
    assert names == [
        "fc.weight", "fc.bias", "blocks.0.weight", "blocks.0.bias", "blocks.1.weight",
        "blocks.1.bias",
    ]  # fmt: skip
    assert set(net.state_dict()) == {*names, "steps"}
    assert [name for name, _ in net.named_sublayers()] == ["fc", "blocks", "blocks.0", "blocks.1"]


def test_a_shared_layer_counts_once():
    shared = nn.Linear(2, 2)
    net = nn.Sequential(shared, nn.ReLU(), shared)
    assert len(net.parameters()) == 2


def test_state_goes_over_by_name_and_names_what_does_not_fit():
    one, two = Net(), Net()
    two.set_state_dict(one.state_dict())
    x = rt.to_tensor([[1.0, 2.0]])
    np.testing.assert_array_equal(one(x).numpy(), two(x).numpy())
    state = dict(one.state_dict())
    del state["fc.bias"]
    with pytest.warns(UserWarning, match="fc.bias"):
        assert two.set_state_dict({**state, "head": x}) == (["fc.bias"], ["head"])
    with pytest.raises(ParameterMismatch, match="fc.bias"):
        two.load_state_dict(state)
    with pytest.raises(ShapeError, match="fc.bias"):
        two.set_state_dict({**one.state_dict(), "fc.bias": np.zeros(4)})


def test_modes_reach_all_sublayers():
    net = nn.Sequential(nn.Dropout(0.9), nn.Linear(2, 2)).eval()
    assert not net[0].training and net.train()[0].training


def test_hooks_see_and_replace_inputs_and_outputs():
    layer = nn.Identity()
    before = layer.register_forward_pre_hook(lambda layer, inputs: (inputs[0] + 1,))
    layer.register_forward_post_hook(lambda layer, inputs, outputs: outputs * 10)
    assert layer(1) == 20
    before.remove()
    assert layer(1) == 10


def test_assigning_before_init_says_what_to_call():
    class Wrong(nn.Layer):
        def __init__(self):
            self.fc = nn.Linear(1, 1)

    with pytest.raises(AttributeError, match="super"):
        Wrong()


def test_the_error_of_a_name_that_is_not_there_says_which_one_is_near():
    net = nn.Layer()
    net.linear = nn.Linear(1, 1)
    with pytest.raises(AttributeError) as caught:
        _ = net.liner
    assert caught.value.name == "liner" and "did you mean 'linear'?" in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert "linear" in dir(net)


def test_a_sublayer_comes_before_a_method_of_layers_with_its_name():
    net = nn.Layer()
    net.half = nn.Linear(2, 3)
    assert isinstance(net.half, nn.Linear)
    assert [name for name, _ in net.named_parameters()] == ["half.weight", "half.bias"]
    del net.half
    assert callable(net.half)


def test_plain_attributes_may_be_set_before_init():
    class Early(nn.Layer):
        def __init__(self, width):
            self.width = width
            super().__init__()

    assert Early(3).width == 3


def test_containers_behave_like_the_python_ones():
    layers = nn.LayerList([nn.ReLU(), nn.Tanh()])
    layers.insert(0, nn.Sigmoid())
    assert [type(entry).__name__ for entry in layers] == ["Sigmoid", "ReLU", "Tanh"]
    del layers[1]
    assert len(layers) == 2 and isinstance(layers[-1], nn.Tanh) and len(layers[:1]) == 1
    table = nn.LayerDict({"a": nn.ReLU()})
    table["b"] = nn.Tanh()
    assert list(table) == ["a", "b"] and "a" in table and isinstance(table.pop("a"), nn.ReLU)
    weights = nn.ParameterList([Parameter(np.zeros(1)), Parameter(np.ones(1))])
    assert len(weights) == 2 and weights[-1].item() == 1 and len(weights.parameters()) == 2
    named = nn.Sequential(("first", nn.ReLU()), ("second", nn.Tanh()))
    assert isinstance(named["second"], nn.Tanh) and len(named[1:]) == 1


def test_a_deep_copy_is_independent():
    net = Net()
    other = copy.deepcopy(net)
    other.fc.weight.set_value(np.zeros((2, 3), "float32"))
    assert net.fc.weight.numpy().any()


def test_apply_to_and_repr():
    net = Net()
    seen = []
    net.apply(lambda layer: seen.append(type(layer).__name__))
    assert seen[-1] == "Net" and len(seen) == 5
    assert net.to(dtype="float64").fc.weight.dtype == np.float64
    assert "(fc): Linear(in_features=2, out_features=3)" in repr(net)


@pytest.mark.parametrize(
    ("initializer", "std"),
    [
        (nn.initializer.XavierUniform(), (2 / 700) ** 0.5),
        (nn.initializer.XavierNormal(), (2 / 700) ** 0.5),
        (nn.initializer.KaimingUniform(), (2 / 300) ** 0.5),
        (nn.initializer.KaimingNormal(), (2 / 300) ** 0.5),
        (nn.initializer.Normal(0.0, 0.3), 0.3),
        (nn.initializer.Uniform(-1, 1), 3**-0.5),
    ],
)
def test_initialisers_have_their_spread(initializer, std):
    values = initializer.values((300, 400), np.dtype("float32"))
    assert values.std() == pytest.approx(std, rel=0.05) and abs(values.mean()) < std / 20


def test_special_initialisers():
    orthogonal = nn.initializer.Orthogonal().values((4, 6), np.dtype("float64"))
    np.testing.assert_allclose(orthogonal @ orthogonal.T, np.eye(4), atol=1e-12)
    truncated = nn.initializer.TruncatedNormal(0.0, 1.0).values((1000,), np.dtype("float32"))
    assert np.abs(truncated).max() <= 2
    assert (nn.initializer.Constant(3.0).values((2,), np.dtype("float32")) == 3).all()


# -- eager tensors and the tape ----------------------------------------------------------------


def test_arrays_go_in_and_out_without_copies_where_that_is_safe():
    array = np.arange(3.0)
    tensor = rt.from_numpy(array)
    assert np.shares_memory(tensor.array, array)
    assert np.shares_memory(np.asarray(tensor), array)
    assert not np.asarray(tensor).flags.writeable
    assert not np.shares_memory(tensor.numpy(), array)
    assert np.shares_memory(np.from_dlpack(tensor), array)
    np.testing.assert_array_equal(rt.from_dlpack(array).numpy(), array)


def test_numpy_leaves_mixed_arithmetic_to_tensors():
    result = np.ones(2) * rt.to_tensor(np.ones(2))
    assert isinstance(result, EagerTensor)


def test_in_place_changes_reach_views_and_no_other_tensors():
    x = rt.to_tensor([1.0, 2.0])
    y, z = x.reshape([2, 1]), x * 1
    x[0] = 9.0
    assert y.tolist() == [[9.0], [2.0]] and z.tolist() == [1.0, 2.0] and x.tolist() == [9.0, 2.0]


def test_gradients_are_exact_through_in_place_changes():
    x = rt.to_tensor([1.0, 2.0], stop_gradient=False)
    y = x * 2
    z = y * y
    y[0] = 100.0
    (z.sum() + y.sum()).backward()
    np.testing.assert_allclose(x.grad.numpy(), [8.0, 18.0])


def test_a_leaf_that_needs_gradients_is_not_changed_in_place():
    x = rt.to_tensor([1.0], stop_gradient=False)
    with pytest.raises(RuntimeError, match="no_grad"):
        x[0] = 2.0
    with no_grad():
        x[0] = 2.0


def test_gradients_add_up_and_are_cleared():
    x = rt.to_tensor([3.0], stop_gradient=False)
    for _ in range(2):
        (x * x).backward()
    assert x.grad.item() == 12.0
    x.clear_grad()
    assert x.grad is None


def test_third_order():
    x = rt.to_tensor([2.0], stop_gradient=False)
    y = x**4
    for expected in (32.0, 48.0, 48.0):
        (y,) = grad(y, x, create_graph=True)
        assert y.item() == pytest.approx(expected)


def test_no_grad_detach_and_stop_gradient():
    x = rt.to_tensor([2.0], stop_gradient=False)
    with no_grad():
        assert (x * x).stop_gradient
    assert (x.detach() * 2).stop_gradient
    y = x * x.detach()
    y.backward()
    assert x.grad.item() == 2.0


def test_hooks_on_leaves_and_between():
    x = rt.to_tensor([1.0], stop_gradient=False)
    y = x * 3
    y.register_hook(lambda g: g * 10)
    remove = x.register_hook(lambda g: g + 1)
    (y * 2).backward()
    assert x.grad.item() == 61.0
    remove()


def test_what_backward_refuses():
    x = rt.to_tensor([1.0, 2.0], stop_gradient=False)
    with pytest.raises(ArgumentError, match="stop_gradient"):
        rt.to_tensor(1.0).backward()
    y = (x * 2).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="retain_graph"):
        y.backward()
    with pytest.raises(ArgumentError, match="allow_unused"):
        grad((x * 2).sum(), rt.to_tensor(1.0, stop_gradient=False))


def test_a_small_network_learns():
    ops.seed(0)
    net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    x = rt.to_tensor(np.random.default_rng(0).uniform(-1, 1, (64, 2)).astype("float32"))
    y = x[:, :1] * x[:, 1:]
    for make in (optimizer.SGD, optimizer.Momentum, optimizer.Adam, optimizer.AdamW):
        step = make(learning_rate=0.02, parameters=net.parameters())
        losses = []
        for _ in range(60):
            loss = nn.functional.mse_loss(net(x), y)
            loss.backward()
            step.step()
            step.clear_grad()
            losses.append(loss.item())
        assert losses[-1] < losses[0]


def test_layers_keep_the_settings_of_paddlepaddle():
    x = rt.to_tensor(np.random.default_rng(1).standard_normal((1, 4, 4, 2)).astype("float32"))
    turned = x.transpose([0, 3, 1, 2])
    for layer, function, first in (
        (nn.MaxPool2D(2, data_format="NHWC"), nn.functional.max_pool2d, 2),
        (nn.AvgPool2D(2, 2, 0, False, True, None, "NHWC"), nn.functional.avg_pool2d, 2),
        (nn.AdaptiveAvgPool2D(2, "NHWC"), nn.functional.adaptive_avg_pool2d, 2),
    ):
        found = layer(x).transpose([0, 3, 1, 2])
        np.testing.assert_array_equal(found.numpy(), function(turned, first).numpy())
    up = nn.Upsample(scale_factor=2, mode="bilinear", align_mode=1, data_format="NHWC")
    wanted = nn.functional.interpolate(turned, scale_factor=2, mode="bilinear", align_mode=1)
    np.testing.assert_array_equal(up(x).transpose([0, 3, 1, 2]).numpy(), wanted.numpy())
    padded = nn.Pad2D([1, 0, 0, 2], data_format="NHWC")(x)
    assert padded.shape == [1, 6, 5, 2]


def test_an_embedding_is_given_or_frozen_or_limited():
    ops.seed(0)
    table = np.array([[3.0, 4.0], [0.3, 0.4]], "float32")
    layer = nn.Embedding(2, 2, max_norm=1.0, _weight=table, _freeze=True)
    assert layer.weight.stop_gradient
    found = layer(rt.to_tensor([0, 1])).numpy()
    np.testing.assert_allclose(found, [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)
    weight = nn.Embedding(400, 400).weight.numpy()
    limit = np.sqrt(6 / 800)  # of Xavier's uniform numbers
    assert limit * 0.99 < weight.max() < limit


def test_a_property_of_the_users_is_asked_to_set_itself():
    class Scaled(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("raw", rt.to_tensor([1.0]))

        @property
        def scale(self):
            return self.raw * 2

        @scale.setter
        def scale(self, value):
            self.raw = value / 2

        @property
        def fixed(self):
            return 3

    layer = Scaled()
    layer.scale = layer.scale + 4
    assert layer.raw.tolist() == [3.0]
    assert layer.scale.tolist() == [6.0]
    assert list(layer.state_dict()) == ["raw"]
    with pytest.raises(AttributeError):
        layer.fixed = 4


# -- convolutions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "std"),
    [
        (lambda: nn.Conv1D(30, 60, 3), math.sqrt(2 / 90)),
        (lambda: nn.Conv2D(30, 40, 3), math.sqrt(2 / 270)),
        (lambda: nn.Conv2D(30, 60, [3, 3], groups=3), math.sqrt(2 / 270)),
        (lambda: nn.Conv1DTranspose(30, 60, 5), math.sqrt(2 / (300 + 150))),
        (lambda: nn.Conv2DTranspose(30, 40, 3), math.sqrt(2 / (360 + 270))),
    ],
)
def test_first_values_have_paddles_spread(make, std):
    weight = make().weight.numpy()
    assert weight.std() == pytest.approx(std, rel=0.05) and abs(weight.mean()) < std / 10


def test_an_image_without_a_batch_is_refused_with_the_way_to_one():
    layer = nn.Conv2D(1, 2, 3)
    with pytest.raises(rt.errors.ShapeError, match=r"\[1, 8, 8\]; x.unsqueeze\(0\) is a batch"):
        layer(rt.to_tensor(np.ones([1, 8, 8], "float32")))
    with pytest.raises(rt.errors.ShapeError, match=r"4 axes .* the shape is \[8, 8\](\n|$)"):
        layer(rt.to_tensor(np.ones([8, 8], "float32")))


def test_arguments_of_transposed_convolutions_have_paddles_order():
    one = nn.Conv1DTranspose(2, 4, 3, 2, 1, 1, 2, 3)
    assert (one.output_padding, one._groups, one._dilation) == (1, 2, [3])
    two = nn.Conv2DTranspose(2, 4, 3, 2, 1, 1, 3, 2)
    assert (two.output_padding, two._groups, two._dilation) == (1, 2, [3, 3])


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_borders_of_the_input_itself(mode):
    layer = nn.Conv2D(2, 3, 3, padding=[1, 2], padding_mode=mode)
    x = np.random.default_rng(0).normal(size=(2, 2, 5, 6)).astype("float32")
    numpys = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode]
    around = np.pad(x, [(0, 0), (0, 0), (1, 1), (2, 2)], mode=numpys)
    expected = F.conv2d(rt.to_tensor(around), layer.weight, layer.bias).numpy()
    np.testing.assert_allclose(layer(rt.to_tensor(x)).numpy(), expected, rtol=1e-6)


def test_what_is_left_out_and_what_is_no_border():
    assert nn.Conv2D(1, 1, 1, bias=False).bias is None
    assert nn.Conv2D(1, 1, 1, dtype="float64").weight.dtype == np.float64
    with pytest.raises(ValueError, match="padding_mode"):
        nn.Conv2D(1, 1, 1, padding_mode="mirror")


def test_settings_are_read_and_changed_by_both_names():
    layer = nn.Conv2D(2, 3, 3, stride=2)
    assert layer._stride == layer.stride == [2, 2] and layer.kernel_size == [3, 3]
    layer.stride = [1, 1]
    assert layer._stride == [1, 1] and "stride" not in vars(layer)


def test_a_class_derived_from_ours_has_settings_of_its_own():
    class Causal(nn.Conv1D):
        def __init__(self):
            super().__init__(1, 1, 3)
            self.padding = 2

        def forward(self, x):
            return super().forward(F.pad(x, [self.padding, 0], data_format="NCL"))

    layer = Causal()
    assert layer._padding == 0 and layer.padding == 2
    assert layer(rt.ops.ones([1, 1, 5])).shape == [1, 1, 5]


# -- numbers of NumPy as settings ------------------------------------------------------------------


LAYERS = {
    "Conv2D": lambda n: nn.Conv2D(2, 2, n(3), stride=n(1), padding=n(1), groups=n(2)),
    "Conv2DTranspose": lambda n: nn.Conv2DTranspose(2, 2, n(2), stride=n(2)),
    "MaxPool2D": lambda n: nn.MaxPool2D(n(2), n(1)),
    "AvgPool2D": lambda n: nn.AvgPool2D(n(2), n(2)),
    "AdaptiveAvgPool2D": lambda n: nn.AdaptiveAvgPool2D(n(2)),
    "Pad2D": lambda n: nn.Pad2D(n(1), mode="reflect"),
    "ZeroPad2D": lambda n: nn.ZeroPad2D(n(2)),
    "LayerNorm": lambda n: nn.LayerNorm(n(4)),
    "GroupNorm": lambda n: nn.GroupNorm(n(1), n(2)),
    "Linear": lambda n: nn.Linear(n(4), n(3)),
    "PixelUnshuffle": lambda n: nn.PixelUnshuffle(n(2)),
    "Upsample": lambda n: nn.Upsample(scale_factor=n(2)),
    "Flatten": lambda n: nn.Flatten(n(1), n(2)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_of_numbers_of_numpy_is_the_same(name):
    x = rt.to_tensor(np.arange(2 * 2 * 4 * 4, dtype="float32").reshape(2, 2, 4, 4) / 7)
    own, theirs = LAYERS[name](int), LAYERS[name](np.int64)
    theirs.set_state_dict(own.state_dict())
    np.testing.assert_array_equal(np.asarray(theirs(x)), np.asarray(own(x)))


def test_a_pad_of_one_number_of_numpy_is_for_both_sides():
    x = rt.to_tensor(np.arange(3, dtype="float32").reshape(1, 1, 3))
    assert nn.Pad1D(np.prod([2]), mode="reflect")(x).tolist() == [[[2, 1, 0, 1, 2, 1, 0]]]
    assert F.unfold(rt.to_tensor(np.ones([1, 1, 2, 2])), np.int64(2)).shape == [1, 4, 1]
