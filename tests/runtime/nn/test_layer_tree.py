"""What a Layer does with all that is inside: walking, hooks, state, dtype, gradients."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st_runtime as rt
from dy2st_runtime import nn
from dy2st_runtime.errors import ArgumentError, ParameterMismatch, ShapeError
from dy2st_runtime.nn.parameters import create_parameter


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.t = rt.to_tensor([1.0])
        self.p = create_parameter([1], "float32")
        self.l = nn.Linear(1, 1)
        self.register_buffer("kept", rt.to_tensor([2.0]))

    def forward(self, x, scale=1.0):
        return self.l(x) * scale


# Names as PaddlePaddle gives them for the same Layer.
WALKS = {
    "a.p a.l.weight a.l.bias": lambda net: [n for n, _ in net.named_parameters("a")],
    "p": lambda net: [n for n, _ in net.named_parameters(include_sublayers=False)],
    "t kept": lambda net: [n for n, _ in net.named_buffers()],
    "z z.l": lambda net: [n for n, _ in net.named_sublayers("z", include_self=True)],
    "l": lambda net: [n for n, _ in net.named_children()],
    "p kept l.weight l.bias": lambda net: list(net.state_dict()),
    "p kept": lambda net: list(net.state_dict(include_sublayers=False)),
    "x.p x.kept x.l.weight x.l.bias": lambda net: list(net.state_dict(structured_name_prefix="x.")),
    "p t kept l.weight l.bias": lambda net: list(net.to_static_state_dict()),
}


@pytest.mark.parametrize("names", WALKS)
def test_names_on_walks(names):
    assert WALKS[names](Net()) == names.split()


def test_a_shared_layer_is_met_once_unless_asked():
    shared = nn.Linear(1, 1)
    net = nn.Sequential(shared, shared)
    assert [n for n, _ in net.named_sublayers()] == ["0"]
    assert [n for n, _ in net.named_sublayers(remove_duplicate=False)] == ["0", "1"]
    names = [n for n, _ in net.named_parameters(remove_duplicate=False)]
    assert names == ["0.weight", "0.bias", "1.weight", "1.bias"]
    seen = {shared}
    assert list(net.named_sublayers(layers_set=seen)) == [] and net in seen


def test_sublayers_by_dotted_names():
    net = nn.Sequential(Net())
    assert net.get_sublayer("0.l") is net[0].l and net.get_sublayer("") is net
    net.set_sublayer("0.l", nn.ReLU())
    assert isinstance(net[0].l, nn.ReLU)
    with pytest.raises(AttributeError, match="no Layer"):
        net.get_sublayer("0.p")
    net[0].add_sublayer("later", None)
    assert net[0].later is None and len(net.sublayers()) == 2


def test_a_state_is_put_into_what_is_given_and_seen_by_hooks():
    net, given = Net(), {"before": 1}
    remover = net.register_state_dict_hook(lambda state: {**state, "last": 2})
    state = net.state_dict(destination=given)
    assert list(state) == ["before", "p", "kept", "l.weight", "l.bias", "last"]
    remover.remove()
    assert "last" not in net.state_dict()
    assert net.state_dict()["p"] is net.p
    assert net.state_dict(keep_vars=False)["p"].stop_gradient


@pytest.mark.parametrize("load", ["set_state_dict", "set_dict", "load_dict"])
def test_states_go_over_and_tell_what_does_not_fit(load):
    one, two = Net(), Net()
    assert getattr(two, load)(one.state_dict()) == ([], [])
    assert two.l.weight.item() == one.l.weight.item()
    with pytest.warns(UserWarning, match="missing"):
        found = getattr(two, load)({"p": np.ones(1), "head": np.ones(1)})
    assert found == (["kept", "l.weight", "l.bias"], ["head"]) and two.p.item() == 1
    with pytest.raises(ShapeError, match=r"l\.weight"):
        getattr(two, load)({"p": np.zeros(1), "l.weight": np.ones((2, 1))})
    assert two.p.item() == 1


def test_states_go_over_by_the_names_of_tensors():
    net = nn.Linear(1, 1, "w", "b")
    state = {"w": np.full((1, 1), 4.0), "b": np.full(1, 5.0)}
    assert net.set_state_dict(state, use_structured_name=False) == ([], [])
    assert net.weight.item() == 4 and net.bias.item() == 5


def test_a_strict_load_refuses_names():
    with pytest.raises(ParameterMismatch, match="head"):
        nn.Linear(1, 1).load_state_dict({"head": np.ones(1)})


def test_a_strict_load_takes_one_name_of_a_tensor_that_has_two():
    net = nn.LSTM(2, 3)
    state = {name: np.ones(one.shape) for name, one in net.state_dict().items() if "." not in name}
    assert net.load_state_dict(state) == ([], [])


def test_hooks_take_keywords_and_places():
    net, seen = Net(), []

    def before(layer, inputs, kwargs):
        seen.append("with")
        return inputs, {"scale": 10.0 * kwargs["scale"]}

    net.register_forward_pre_hook(lambda layer, inputs: seen.append("second"))
    net.register_forward_pre_hook(before, prepend=True, with_kwargs=True)
    net.register_forward_hook(
        lambda layer, inputs, kwargs, out: out + kwargs["scale"], with_kwargs=True
    )
    x = rt.to_tensor([[3.0]])
    expected = net.l(x).numpy() * 20 + 20
    np.testing.assert_allclose(net(x, scale=2.0).numpy(), expected, rtol=1e-6)
    assert seen == ["with", "second"]


@pytest.mark.parametrize(
    ("change", "dtypes"),
    [
        (lambda net: net.half(), "float16 float16"),
        (lambda net: net.to(dtype="float64"), "float64 float64"),
        (lambda net: net.to("float64"), "float64 float64"),
        (lambda net: net.astype("float16"), "float16 float16"),
        (lambda net: net.to("cpu", "float64", True), "float64 float64"),
        (lambda net: net.to(device="cpu"), "float32 float32"),
        (lambda net: net.double(), "float64 float64"),
        (lambda net: net.float16(excluded_layers=nn.BatchNorm2D), "float32 float16"),
        (lambda net: net.double().float(excluded_layers=[nn.Linear]), "float32 float64"),
    ],
)
def test_dtypes_of_all_that_is_inside(change, dtypes):
    net = nn.Sequential(nn.BatchNorm2D(2), nn.Linear(2, 2))
    assert change(net) is net
    assert f"{net[0]._mean.dtype} {net[1].weight.dtype}" == dtypes
    assert net[1]._dtype == net[1].weight.dtype


def test_another_device_is_refused():
    with pytest.raises(ArgumentError, match="gpu"):
        Net().to("gpu:0")


def test_gradients_are_set_to_zero_or_forgotten():
    net = Net()
    net(rt.to_tensor([[1.0]])).backward()
    net.clear_gradients()
    assert net.l.weight.grad.item() == 0 and net.p.grad is None
    net.clear_gradients(set_to_zero=False)
    assert net.l.weight.grad is None


def test_modes_and_flags():
    net = Net()
    assert not net.train(False).l.training and net.train().l.training
    assert all(p.stop_gradient for p in net.requires_grad_(False).parameters())
    empty = net.create_tensor(name="x", dtype="float64")
    assert empty.shape == [0] and empty.dtype == np.float64 and empty.name == "x"


def test_a_train_of_the_users_is_no_part_of_eval():
    class Frozen(Net):
        def train(self):
            super().train()
            self.l.eval()

    net = Frozen()
    net.train()
    assert net.training and not net.l.training
    assert not net.eval().training


def test_parameters_and_buffers_by_dotted_names():
    net = nn.Sequential(Net())
    assert net.get_parameter("0.l.weight") is net[0].l.weight
    assert net.get_buffer("0.kept") is net[0].kept
    with pytest.raises(AttributeError, match="no Parameter"):
        net.get_parameter("0.kept")
    with pytest.raises(AttributeError, match="no buffer"):
        net.get_buffer("0.p")


def test_names_as_torch_has_them():
    net = nn.Sequential(nn.ReLU())
    assert list(net.modules()) == [net, net[0]]
    assert [name for name, _ in net.named_modules()] == ["", "0"]
    net.add_module("last", nn.Tanh())
    with pytest.raises(AttributeError, match="other"):
        net.set_submodule("other", nn.Tanh(), strict=True)
    assert net.get_submodule("last") is net[1]


def test_the_helper_of_a_layer_makes_parameters():
    helper = nn.Layer()._helper
    made = helper.create_parameter("w", [2], helper.get_default_dtype(), is_bias=True)
    assert made.name == "w" and made.dtype == np.float32
