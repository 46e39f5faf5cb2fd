"""LSTM, GRU and plain recurrent networks, step by step along a length that may be unknown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dy2st.importers.torch.rows.shapes import picked
from dy2st.importers.torch.table import Call, Row, rows
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.nn import functional as N
from dy2st_runtime.nn.scan import scan

Step = Callable[[Any, Any, Sequence[Any]], Any]
"""The next state of the gates of an input, of the state, and of the state's own weights."""


def _gates(h: Any, own: Sequence[Any]) -> Any:
    weight, bias = own[:2]
    made = F.matmul(h, weight, transpose_y=True)
    return made if bias is None else F.add(made, bias)


def _lstm(x: Any, state: Any, own: Sequence[Any]) -> Any:
    h, c = state
    i, f, g, o = F.split(F.add(x, _gates(h, own)), 4, axis=-1)
    c = F.add(F.multiply(F.sigmoid(f), c), F.multiply(F.sigmoid(i), F.tanh(g)))
    h = F.multiply(F.sigmoid(o), F.tanh(c))
    return (h if len(own) < 3 else F.matmul(h, own[2], transpose_y=True)), c


def _gru(x: Any, state: Any, own: Sequence[Any]) -> Any:
    (h,) = state
    xr, xz, xn = F.split(x, 3, axis=-1)
    hr, hz, hn = F.split(_gates(h, own), 3, axis=-1)
    r, z = F.sigmoid(F.add(xr, hr)), F.sigmoid(F.add(xz, hz))
    n = F.tanh(F.add(xn, F.multiply(r, hn)))
    return (F.add(n, F.multiply(z, F.subtract(h, n))),)


def _plain(activation: str) -> Step:
    def step(x: Any, state: Any, own: Sequence[Any]) -> Any:
        return (getattr(F, activation)(F.add(x, _gates(state[0], own))),)

    return step


def _one_way(step: Step, x: Any, state: Any, weights: Sequence[Any], is_reverse: bool) -> Any:
    """(l, n, input): the outputs of all times, and the last state."""
    w_ih, w_hh, *more = weights
    bias = more[:2] if len(more) >= 2 else [None, None]
    project = more[len(more) // 2 * 2 :]
    gates = F.matmul(x, w_ih, transpose_y=True)
    gates = gates if bias[0] is None else F.add(gates, bias[0])
    own = [w_hh, bias[1], *project]

    def iteration(row: Any, held: Any) -> tuple[Any, Any]:
        held = step(row, held, own)
        return held[0], held

    return scan(iteration, gates, tuple(state), is_reverse)


def _network(step: Step, is_lstm: bool) -> Row:
    def record(
        at: Call,
        x: Any,
        first: Any,
        params: Sequence[Any],
        has_biases: bool,
        layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool = False,
    ) -> Any:
        states = list(first) if is_lstm else [first]
        if batch_first:
            x = F.transpose(x, [1, 0, 2])
        ways = 2 if bidirectional else 1
        each = len(params) // (layers * ways)
        last: list[list[Any]] = [[] for _ in states]
        for layer in range(layers):
            outputs = []
            for way in range(ways):
                place = layer * ways + way
                start = [picked(one, 0, place) for one in states]
                weights = params[place * each : (place + 1) * each]
                made, end = _one_way(step, x, start, weights, way == 1)
                outputs.append(made)
                for held, one in zip(last, end, strict=True):
                    held.append(one)
            x = outputs[0] if ways == 1 else F.concat(outputs, -1)
            if dropout and train and layer < layers - 1:
                x = N.dropout(x, dropout)
        x = F.transpose(x, [1, 0, 2]) if batch_first else x
        return (x, *(F.stack(one, 0) for one in last))

    return record


rows(
    {
        "lstm.input": _network(_lstm, True),
        "gru.input": _network(_gru, False),
        "rnn_tanh.input": _network(_plain("tanh"), False),
        "rnn_relu.input": _network(_plain("relu"), False),
    }
)


def _cell(step: Step, is_lstm: bool) -> Row:
    def record(
        at: Call, x: Any, first: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None
    ) -> Any:
        gates = F.matmul(x, w_ih, transpose_y=True)
        gates = gates if b_ih is None else F.add(gates, b_ih)
        made = step(gates, first if is_lstm else (first,), [w_hh, b_hh])
        return made if is_lstm else made[0]

    return record


rows(
    {
        "lstm_cell": _cell(_lstm, True),
        "gru_cell": _cell(_gru, False),
        "rnn_tanh_cell": _cell(_plain("tanh"), False),
        "rnn_relu_cell": _cell(_plain("relu"), False),
    }
)
