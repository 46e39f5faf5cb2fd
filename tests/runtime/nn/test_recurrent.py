"""Recurrent cells and layers: against NumPy, by lengths of samples, and their names."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st_runtime as rt
from dy2st_runtime import nn, ops

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 5, 4)).astype("float32")
LENGTHS = np.array([5, 2, 3])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm_step(cell, x, state):
    h, c = state
    gates = x @ cell.weight_ih.numpy().T + cell.bias_ih.numpy()
    gates = gates + h @ cell.weight_hh.numpy().T + cell.bias_hh.numpy()
    i, f, g, o = np.split(gates, 4, axis=-1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    h = sigmoid(o) * np.tanh(c)
    h = h @ cell.weight_ho.numpy() if cell.proj_size else h
    return h, (h, c)


def along(cell, xs, reverse=False):
    """Outputs of one sample, in the order of its steps, and the last state."""
    h = np.zeros((1, cell.proj_size or cell.hidden_size), "float32")
    state, found = (h, np.zeros((1, cell.hidden_size), "float32")), []
    for x in xs[::-1] if reverse else xs:
        output, state = lstm_step(cell, x[None], state)
        found.append(output[0])
    return np.array(found[::-1] if reverse else found), state


@pytest.mark.parametrize("proj_size", [0, 3])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_cell_runs_along_as_many_steps_as_a_sample_has(reverse, proj_size):
    ops.seed(0)
    run = nn.RNN(nn.LSTMCell(4, 5, proj_size=proj_size), is_reverse=reverse)
    outputs, (h, c) = run(rt.to_tensor(X), sequence_length=rt.to_tensor(LENGTHS))
    for i, length in enumerate(LENGTHS):
        expected, (last, cell) = along(run.cell, X[i, :length], reverse)
        np.testing.assert_allclose(outputs.numpy()[i, :length], expected, atol=1e-5)
        np.testing.assert_allclose(h.numpy()[i], last[0], atol=1e-5)
        np.testing.assert_allclose(c.numpy()[i], cell[0], atol=1e-5)


def test_both_directions_side_by_side_and_zeros_past_the_ends():
    ops.seed(0)
    lstm = nn.LSTM(4, 5, direction="bidirect")
    outputs, (h, c) = lstm(rt.to_tensor(X), None, rt.to_tensor(LENGTHS))
    assert h.shape == c.shape == [2, 3, 5]
    cells = lstm[0].cell_fw, lstm[0].cell_bw
    for i, length in enumerate(LENGTHS):
        sides = [along(cell, X[i, :length], d) for d, cell in enumerate(cells)]
        expected = np.concatenate([side[0] for side in sides], -1)
        np.testing.assert_allclose(outputs.numpy()[i, :length], expected, atol=1e-5)
        assert (outputs.numpy()[i, length:] == 0).all()
        np.testing.assert_allclose(h.numpy()[:, i], [side[1][0][0] for side in sides], atol=1e-5)


def test_a_pair_of_cells():
    one, two = nn.GRUCell(4, 5), nn.GRUCell(4, 6)
    x = rt.to_tensor(X)
    outputs, (first, second) = nn.BiRNN(one, two)(x)
    assert outputs.shape == [3, 5, 11] and (first.shape, second.shape) == ([3, 5], [3, 6])
    np.testing.assert_allclose(outputs.numpy()[..., :5], nn.RNN(one)(x)[0].numpy(), atol=1e-6)
    backwards = nn.RNN(two, is_reverse=True)(x)[0].numpy()
    np.testing.assert_allclose(outputs.numpy()[..., 5:], backwards, atol=1e-6)
    with pytest.raises(ValueError, match="features"):
        nn.BiRNN(nn.GRUCell(4, 5), nn.GRUCell(3, 5))


# Names as PaddlePaddle gives them for the same layers.
def test_names_of_states_and_parameters():
    short = [
        f"{part}_l{layer}{end}"
        for layer in (0, 1)
        for end in ("", "_reverse")
        for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    ]
    long = [
        f"{layer}.cell_{end}.{part}"
        for layer in (0, 1)
        for end in ("fw", "bw")
        for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    ]
    lstm = nn.LSTM(4, 5, num_layers=2, direction="bidirect")
    assert list(lstm.state_dict()) == [*short, *long]
    assert [name for name, _ in lstm.named_parameters()] == short
    one = nn.LSTM(4, 5, proj_size=3, bias_ih_attr=False)
    assert list(one.state_dict()) == [
        "weight_ih_l0", "weight_hh_l0", "bias_hh_l0", "0.cell.weight_ih", "0.cell.weight_hh",
        "0.cell.bias_ih", "0.cell.bias_hh", "0.cell.weight_ho",
    ]  # fmt: skip
    assert (one[0].cell.bias_ih.numpy() == 0).all() and one[0].cell.bias_ih.stop_gradient


@pytest.mark.parametrize("kept", ["_l0", "0."])
def test_either_form_of_the_names_is_enough_to_load(kept):
    one, two = nn.GRU(4, 5), nn.GRU(4, 5)
    state = {name: value for name, value in one.state_dict().items() if kept in name}
    assert len(state) == 4 and two.set_state_dict(state) == ([], [])
    x = rt.to_tensor(X)
    np.testing.assert_array_equal(one(x)[0].numpy(), two(x)[0].numpy())


def test_a_cell_of_ones_own():
    class Sum(nn.RNNCellBase):
        @property
        def state_shape(self):
            return (4,)

        def forward(self, inputs, states, scale=1.0):
            total = states + inputs * scale
            return total, total

    outputs, last = nn.RNN(Sum())(rt.to_tensor(X), scale=2.0)
    np.testing.assert_allclose(outputs.numpy(), 2 * X.cumsum(1), atol=1e-5)
    np.testing.assert_allclose(last.numpy(), 2 * X.sum(1), atol=1e-5)


def test_first_states():
    cell = nn.LSTMCell(4, 5, proj_size=3)
    assert cell.state_shape == ((3,), (5,)) and nn.GRUCell(4, 5).state_shape == (5,)
    h, c = cell.get_initial_states(rt.to_tensor(X), init_value=2.0, batch_dim_idx=1)
    assert h.shape == [5, 3] and c.shape == [5, 5] and (c.numpy() == 2).all()
    given = cell.get_initial_states(rt.to_tensor([[1, 2]]), [7], "float64")
    assert given.shape == [1, 7] and given.dtype == np.float64
    with pytest.raises(NotImplementedError, match="state_shape"):
        nn.RNNCellBase().get_initial_states(rt.to_tensor(X))


def test_settings_have_paddles_names():
    lstm = nn.LSTM(4, 5, 2, "bidirectional", True, 0.1)
    found = lstm.mode, lstm.num_directions, lstm.state_components, lstm.time_major, lstm.dropout
    assert found == ("LSTM", 2, 2, True, 0.1) and len(lstm) == 2
    assert nn.SimpleRNN(4, 5, activation="relu").mode == "RNN_RELU"
    with pytest.raises(ValueError, match="proj_size"):
        nn.LSTM(4, 5, proj_size=5)
