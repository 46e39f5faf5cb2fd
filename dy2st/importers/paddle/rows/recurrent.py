"""Recurrent layers, one operator for all layers and steps; operators on graphs and signals."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from dy2st.importers.paddle.calls import Call, Unsupported, table
from dy2st_runtime.errors import FormatError
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.nn.recurrent import gru_step, lstm_step, simple_step
from dy2st_runtime.nn.scan import scan

Row = Callable[[Call], Any]
ROWS: dict[str, Row] = {}
_row = table(ROWS)
Step = Callable[[Any, Any], tuple[Any, Any]]


def _step(mode: str, weights: list[Any]) -> Step:
    if mode == "LSTM":
        return lambda x, state: lstm_step(x, state, *weights)
    if mode == "GRU":
        return lambda x, state: gru_step(x, state, *weights)
    if mode not in ("RNN_TANH", "RNN_RELU"):
        raise FormatError(f"rnn has the mode {mode!r:.80}")
    activation = mode.removeprefix("RNN_").lower()
    return lambda x, state: simple_step(x, state, *weights, activation=activation)


@_row("rnn")
def _rnn(c: Call) -> Any:
    """(l, n, input), states (layers * directions, n, hidden), weights, then biases."""
    x, states, weights, lengths = c[0], c[1], c[2], c[3]
    directions = 2 if c.get("is_bidirec", False) else 1
    layers, mode = c.get("num_layers", 1), c.get("mode", "RNN_TANH")
    runs = layers * directions
    if len(weights) not in (2 * runs, 4 * runs) or not 0 < runs < 1000:
        raise FormatError(f"rnn has {len(weights)} weights for {layers} layers")
    if c.get("dropout_prob", 0.0) and not c.get("is_test", False):
        c.refuse_unless(False, "dropout: save the model in evaluation mode")
    mask = None
    if lengths is not None:
        limits = F.unsqueeze(F.cast(lengths, "int64"), [0, 2])
        mask = F.less_than(F.unsqueeze(F.arange(x.shape[0]), [1, 2]), limits)
    if isinstance(x.shape[0], int):
        c.few(x.shape[0], "steps")
    last: list[list[Any]] = [[] for _ in states]
    for layer in range(layers):
        outputs = []
        for direction in range(directions):
            run = layer * directions + direction
            own = [*weights[2 * run : 2 * run + 2]]
            if len(weights) == 4 * runs:
                own += weights[2 * (runs + run) : 2 * (runs + run) + 2]
            else:
                zeros = F.zeros([own[0].shape[0]], x.dtype)
                own += [zeros, zeros]
            first = [F.getitem(one, run) for one in states]
            state: Any = tuple(first) if mode == "LSTM" else first[0]
            output, state = scan(_step(mode, own), x, state, direction == 1, mask)
            if mask is not None:
                output = F.where(mask, output, F.zeros_like(output))
            outputs.append(output)
            for place, one in enumerate(state if mode == "LSTM" else [state]):
                last[place].append(one)
        x = F.concat(outputs, -1) if directions == 2 else outputs[0]
    return x, None, [F.stack(some, 0) for some in last]


# -- functions of PaddlePaddle's further name spaces ------------------------------------------


def _function(space: str, name: str) -> Any:
    """A function of `dy2st.paddle`, which is loaded for it: nothing here may need that package."""
    return getattr(import_module(f"dy2st.paddle.{space}"), name)


@_row("segment_pool")
def _segments(c: Call) -> Any:
    kind = str(c.get("pooltype", "SUM")).lower()
    if kind not in ("sum", "mean", "max", "min"):
        raise Unsupported(f"segment_pool of the kind {kind!r:.40}")
    return _function("geometric", f"segment_{kind}")(c[0], c[1])


@_row("send_u_recv")
def _messages(c: Call) -> Any:
    kind = str(c.get("reduce_op", "SUM")).lower()
    size = c.ints(3) if c[3] is not None else c.get("out_size", [])
    count = size[0] if isinstance(size, list) and size else None
    count = None if isinstance(count, int) and count <= 0 else count
    return _function("geometric", "send_u_recv")(c[0], c[1], c[2], kind, count)


@_row("viterbi_decode")
def _viterbi(c: Call) -> Any:
    decode = _function("text.viterbi", "viterbi_decode")
    return tuple(decode(c[0], c[1], c[2], c.get("include_bos_eos_tag", True)))


ROWS |= {
    "frame": lambda c: _function("signal", "frame")(
        c[0], c.need("frame_length"), c.need("hop_length"), c.get("axis", -1)
    ),
    "overlap_add": lambda c: _function("signal", "overlap_add")(
        c[0], c.need("hop_length"), c.get("axis", -1)
    ),
}

__all__ = ["ROWS"]
