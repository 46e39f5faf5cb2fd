"""Files of torch in Layers of ours, as they are: names, layouts, and the numbers that come of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import dy2st as P
from dy2st import nn
from dy2st.errors import ShapeError

T = torch.nn


def decoder(library, first):
    return library.TransformerDecoderLayer(8, 2, 12, 0.0, **first)


# torch's module, ours, and inputs
CASES = {
    "Linear": (T.Linear(3, 5), lambda: nn.Linear(3, 5), [(2, 3)]),
    "square Linear": (T.Linear(4, 4), lambda: nn.Linear(4, 4), [(2, 4)]),
    "Conv2D": (T.Conv2d(3, 3, 3), lambda: nn.Conv2D(3, 3, 3), [(1, 3, 5, 5)]),
    "Conv2DTranspose": (
        T.ConvTranspose2d(3, 4, 2),
        lambda: nn.Conv2DTranspose(3, 4, 2),
        [(1, 3, 5, 5)],
    ),
    "BatchNorm": (T.BatchNorm2d(3), lambda: nn.BatchNorm2D(3), [(2, 3, 4, 4)]),
    "InstanceNorm": (
        T.InstanceNorm2d(3, affine=True),
        lambda: nn.InstanceNorm2D(3),
        [(2, 3, 4, 4)],
    ),
    "PReLU": (T.PReLU(3), lambda: nn.PReLU(3), [(2, 3)]),
    "Embedding": (T.Embedding(6, 6), lambda: nn.Embedding(6, 6), [np.array([[0, 5], [3, 3]])]),
    "LSTM": (
        T.LSTM(4, 4, 2, batch_first=True, bidirectional=True),
        lambda: nn.LSTM(4, 4, 2, direction="bidirect"),
        [(2, 5, 4)],
    ),
    "GRU": (T.GRU(3, 4, batch_first=True), lambda: nn.GRU(3, 4), [(2, 5, 3)]),
    "LSTMCell": (T.LSTMCell(4, 4), lambda: nn.LSTMCell(4, 4), [(2, 4)]),
    "MultiHeadAttention": (
        T.MultiheadAttention(8, 2, batch_first=True),
        lambda: nn.MultiHeadAttention(8, 2),
        [(2, 5, 8)] * 3,
    ),
    "MultiHeadAttention of other sizes": (
        T.MultiheadAttention(8, 2, kdim=3, vdim=8, batch_first=True),
        lambda: nn.MultiHeadAttention(8, 2, kdim=3, vdim=8),
        [(2, 5, 8), (2, 4, 3), (2, 4, 8)],
    ),
    "TransformerDecoderLayer": (
        decoder(T, {"batch_first": True}),
        lambda: decoder(nn, {}),
        [(2, 5, 8), (2, 4, 8)],
    ),
    "nested": (
        T.Sequential(T.Linear(4, 4), T.BatchNorm1d(4), T.Linear(4, 4), T.Linear(4, 2)),
        lambda: nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1D(4), nn.Linear(4, 4), nn.Linear(4, 2)),
        [(3, 4)],
    ),
}


def saved(module, path, nested=False):
    state = module.state_dict()
    torch.save({"model": state, "epoch": 3} if nested else state, path)
    return str(path)


def first(value):
    return value[0] if isinstance(value, tuple) else value


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("as_numpy", [False, True])
def test_a_layer_takes_a_file_of_torch(name, as_numpy, tmp_path):
    module, make, shapes = CASES[name]
    rng = np.random.default_rng(0)
    inputs = [
        shape if isinstance(shape, np.ndarray) else rng.normal(size=shape).astype("float32")
        for shape in shapes
    ]
    module.train()
    with torch.no_grad():
        module(*map(torch.from_numpy, inputs))  # statistics that are not those of the start
    module.eval()
    layer = make()
    state = P.load(saved(module, tmp_path / "net.pt"), return_numpy=as_numpy)
    assert layer.set_state_dict(state) == ([], [])
    layer.eval()
    with torch.no_grad():
        wanted = first(module(*map(torch.from_numpy, inputs))).numpy()
    found = first(layer(*map(P.to_tensor, inputs))).numpy()
    np.testing.assert_allclose(found, wanted, 1e-4, 1e-5)


WAYS = {
    "as it is": lambda state: state,
    "part of a dict": lambda state: {k: v for k, v in state.items() if k in ("weight", "bias")},
    "other names": lambda state: {f"0.{k}"[2:]: v for k, v in state.items()},
    "floats": lambda state: {k: v.float() for k, v in state.items()},
    "casts": lambda state: {k: v.astype("float64") for k, v in state.items()},
    "clones": lambda state: {k: v.clone().detach().cpu() for k, v in state.items()},
}


@pytest.mark.parametrize("way", WAYS)
def test_the_mark_survives_what_is_done_with_states(way, tmp_path):
    module = T.Linear(4, 4).half()
    state = P.load(saved(module, tmp_path / "net.pt", nested=True))
    layer = nn.Linear(4, 4)
    layer.load_state_dict(WAYS[way](state["model"]))
    wanted = module.weight.detach().float().numpy().T
    np.testing.assert_array_equal(layer.weight.numpy(), wanted)
    again = nn.Linear(4, 4)
    again.set_state_dict(layer.state_dict())  # of ours: nothing turns round
    np.testing.assert_array_equal(again.weight.numpy(), wanted)


def test_what_is_transposed_by_hand_is_taken_as_it_lies(tmp_path):
    module = T.Linear(4, 4)
    state = P.load(saved(module, tmp_path / "net.pt"))
    layer = nn.Linear(4, 4)
    layer.set_state_dict({"weight": state["weight"].T, "bias": state["bias"]})
    np.testing.assert_array_equal(layer.weight.numpy(), module.weight.detach().numpy().T)


def test_a_file_whose_weights_lie_as_ours_is_refused_whole(tmp_path):
    lying = {"0.weight": torch.ones(2, 3), "1.weight": torch.ones(3, 3)}
    torch.save(lying, tmp_path / "net.pt")
    net = nn.Sequential(nn.Linear(2, 3, bias_attr=False), nn.Linear(3, 3, bias_attr=False))
    before = net[1].weight.numpy()
    with pytest.raises(ShapeError, match="'0.weight' is from a file of torch.*transposed before"):
        net.set_state_dict(P.load(str(tmp_path / "net.pt")))
    np.testing.assert_array_equal(net[1].weight.numpy(), before)
