"""Weights of other libraries in our Layers: names, transposed matrices, and one table of what differs."""

import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import save_file

import dy2st
from dy2st_runtime import nn
from dy2st_runtime.checkpoint.weights import load_weights
from dy2st_runtime.errors import ArgumentError, ParameterMismatch
from dy2st_runtime.tensor import EagerTensor, to_tensor

DATA = Path(__file__).parent / "data"
TORCH = dict(np.load(DATA / "torch.npz"))
NAMES = [("running_mean$", "_mean"), ("running_var$", "_variance"), ("num_batches_tracked", None)]


def network():
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4), nn.Linear(4, 2))


@pytest.mark.parametrize("file", ["torch_net.pt", "torch_legacy.bin"])
def test_a_network_of_torch_gives_its_numbers(file):
    net = network()
    report = load_weights(net, DATA / file, rename=NAMES, transpose=True)
    assert report.fits and report.left_out == ["1.num_batches_tracked"]
    net.eval()
    found = net(EagerTensor(TORCH["x"])).numpy()
    np.testing.assert_allclose(found, TORCH["y"], rtol=1e-5, atol=1e-6)


def test_a_safetensors_file_with_a_prefix_and_short_floats_is_read(tmp_path):
    arrays = {
        "bert.fc.weight": np.arange(6).reshape(3, 2).astype(ml_dtypes.bfloat16),
        "bert.fc.bias": np.ones(3, "float16"),
        "cls.bias": np.ones(7, "float32"),
    }
    save_file(arrays, tmp_path / "model.safetensors")
    layer = nn.Linear(2, 3)
    report = dy2st.utils.load_weights(
        layer, str(tmp_path / "model.safetensors"), prefix="bert.fc.", transpose=["weight"]
    )
    assert report.loaded == ["bias", "weight"] and report.left_out == ["cls.bias"]
    assert layer.weight.tolist() == [[0, 2, 4], [1, 3, 5]]
    assert layer.weight.dtype == layer.bias.dtype == np.float32


@pytest.mark.parametrize(
    "rename",
    [
        {"w.gamma": "weight", "w.beta": "bias", "w.step": None},
        [("gamma", "weight"), ("beta", "bias"), (r"^w\.", ""), ("step", None)],
        lambda name: {"gamma": "weight", "beta": "bias"}.get(name[2:]),
    ],
)
def test_names_are_given_by_a_dict_expressions_or_a_function(rename):
    layer = nn.Linear(1, 1)
    state = {"w.gamma": [[5.0]], "w.beta": [6.0], "w.step": 1}
    state = {name: np.array(value) for name, value in state.items()}
    load_weights(layer, state, rename=rename)
    assert (layer.weight.item(), layer.bias.item()) == (5, 6)


def test_all_that_differs_stands_in_one_table_and_nothing_changes():
    net = network()
    before = {name: tensor.numpy() for name, tensor in net.state_dict().items()}
    state = {
        "0.weight": np.ones((4, 3), "float32"),
        "0.bias": np.ones(5, "float32"),
        "1.weight": np.ones(4, "int64"),
        "1.gamma": np.ones(4, "float32"),
        "2.weight": np.ones((4, 2), "float32"),
        "2.bias": np.ones(2, "float32"),
    }
    with pytest.raises(ParameterMismatch) as caught:
        load_weights(net, state)
    assert str(caught.value) == (
        "weights of Sequential: 2 loaded, 3 missing, 1 unexpected, 3 unfit\n"
        "  missing     1.bias       [4]\n"
        "  missing     1._mean      [4]\n"
        "  missing     1._variance  [4]\n"
        "  unexpected  1.gamma      [4]\n"
        "  unfit       0.weight     [3, 4] here, [4, 3] in the state; transposed it fits\n"
        "  unfit       0.bias       [4] here, [5] in the state\n"
        "  unfit       1.weight     float32 here, int64 in the state\n"
        "strict=False loads what fits"
    )
    for name, tensor in net.state_dict().items():
        np.testing.assert_array_equal(tensor.numpy(), before[name])
    report = load_weights(net, state, strict=False)
    assert report.loaded == ["2.weight", "2.bias"]
    assert net.state_dict()["2.bias"].tolist() == [1, 1]


def test_long_tables_are_cut():
    state = {f"w{number}": np.ones(1) for number in range(100)}
    with pytest.raises(ParameterMismatch, match="and 83 more") as caught:
        load_weights(nn.Linear(1, 1), state)
    assert len(str(caught.value).splitlines()) < 25


def test_a_tensor_with_two_names_needs_one_value():
    class Tied(nn.Layer):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(2, 2)
            self.b = nn.Linear(2, 2)
            self.b.weight = self.a.weight

    tied = Tied()
    weight = np.arange(4.0).reshape(2, 2)
    state = {"a.weight": weight, "a.bias": np.ones(2), "b.bias": np.ones(2)}
    assert load_weights(tied, state, transpose=True).fits
    assert tied.b.weight.tolist() == weight.T.tolist()
    assert load_weights(tied, {**state, "b.weight": weight}).fits
    with pytest.raises(ParameterMismatch, match="is a.weight here, and has another value"):
        load_weights(tied, {**state, "b.weight": weight + 1})


@pytest.mark.parametrize(
    "state, options, cause",
    [
        ({"a": 1}, {}, "'a' is a int"),
        ([1], {}, "a list, not a dict"),
        (
            {"a": np.ones(1), "b": np.ones(1)},
            {"rename": lambda name: "x"},
            "'b' and 'a' the name 'x'",
        ),
        ({}, {"transpose": ["kernel"]}, "no tensor of the Layer has a name like 'kernel'"),
        ({}, {"transpose": "weight"}, "True, False or a list"),
    ],
)
def test_what_cannot_be_meant_is_refused(state, options, cause):
    with pytest.raises(ArgumentError, match=re.escape(cause)):
        load_weights(nn.Linear(1, 1), state, **options)


def test_a_state_of_tensors_is_taken():
    layer = nn.Linear(1, 1)
    load_weights(layer, {"weight": to_tensor([[3.0]]), "bias": to_tensor([4.0])})
    assert (layer.weight.item(), layer.bias.item()) == (3, 4)


SQUARE = DATA / "torch_square.pt"


def squares():
    return nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))


def assert_as_torch(net):
    file = dy2st.load(SQUARE)
    np.testing.assert_allclose(net(file["x"]).numpy(), file["y"].numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("as_numpy", [False, True])
def test_a_state_of_torch_is_taken_transposed(as_numpy):
    net = squares()
    net.set_state_dict(dy2st.load(SQUARE, return_numpy=as_numpy)["net"])
    assert_as_torch(net)


def test_square_weights_of_torch_are_refused_by_a_loading_that_shall_not_transpose():
    net = squares()
    before = net[0].weight.numpy()
    with pytest.raises(ParameterMismatch, match="square, and from a file of torch"):
        load_weights(net, dy2st.load(SQUARE)["net"])
    assert (net[0].weight.numpy() == before).all()


def test_a_state_of_torch_has_no_names_of_tensors():
    state = dy2st.load(SQUARE)["net"]
    with pytest.raises(ArgumentError, match="names of a structure"):
        squares().set_state_dict(state, use_structured_name=False)


def test_square_weights_of_torch_are_taken_transposed():
    net = squares()
    load_weights(net, dy2st.load(SQUARE)["net"], transpose=True)
    assert_as_torch(net)
    state = dy2st.load(SQUARE)["net"]
    net = squares()
    net.set_state_dict({n: v.T if n.endswith("weight") else v for n, v in state.items()})
    assert_as_torch(net)
    again = squares()
    again.set_state_dict(net.state_dict())
    assert_as_torch(again)


def test_a_safetensors_file_says_that_it_is_of_torch(tmp_path):
    array = np.arange(9, dtype="float32").reshape(3, 3)
    for metadata, wanted in (({"format": "pt"}, array.T), ({"format": "np"}, array), (None, array)):
        save_file({"weight": array}, tmp_path / "model.safetensors", metadata)
        layer = nn.Linear(3, 3, bias_attr=False)
        layer.set_state_dict(dy2st.load(tmp_path / "model.safetensors"))
        np.testing.assert_array_equal(layer.weight.numpy(), wanted)


def test_what_lies_as_in_torch_is_taken_from_its_files():
    table, square = nn.Embedding(3, 3), dy2st.load(SQUARE)["net"]["0.weight"]
    assert table.set_state_dict({"weight": square}) == ([], [])
    assert (table.weight.numpy() == square.numpy()).all()
