"""RNN, GRU and LSTM beside onnxruntime, which has all their attributes, and the reference."""

import sys

import numpy as np
import pytest

from dy2st.errors import ArgumentError
from dy2st.importers.onnx.functions.recurrent import gru, lstm, rnn
from dy2st_runtime.tensor import to_tensor
from tests.dy2st.importers.onnx.functions.reference import by_runtime, check, recorded
from tests.effort import effort

FUNCTIONS = {"RNN": (rnn, 1, 1), "GRU": (gru, 3, 2), "LSTM": (lstm, 4, 3)}
NAMES = ["Relu", "Tanh", "Sigmoid", "LeakyRelu", "ThresholdedRelu", "HardSigmoid",
         "Elu", "Softsign", "Softplus", "Affine", "ScaledTanh"]  # fmt: skip
TAKE_ALPHA = {"LeakyRelu", "ThresholdedRelu", "HardSigmoid", "Elu", "Affine", "ScaledTanh"}
TAKE_BETA = {"HardSigmoid", "Affine", "ScaledTanh"}


def drawn(op, seed):
    """The inputs of a node and its attributes."""
    draw = np.random.default_rng(seed)
    _, gates, functions = FUNCTIONS[op]
    direction = str(draw.choice(["forward", "reverse", "bidirectional"]))
    many = 2 if direction == "bidirectional" else 1
    steps, batch, size, hidden = draw.integers(1, 5, 4).tolist()

    def numbers(*shape):
        return draw.normal(size=shape).astype("float32") * np.float32(0.3)

    def maybe(value):
        return value if draw.integers(2) else None

    inputs = [numbers(steps, batch, size), numbers(many, gates * hidden, size)]
    inputs += [numbers(many, gates * hidden, hidden), maybe(numbers(many, 2 * gates * hidden))]
    inputs += [maybe(draw.integers(1, steps + 1, batch).astype("int32"))]
    inputs += [maybe(numbers(many, batch, hidden))]
    if op == "LSTM":
        inputs += [maybe(numbers(many, batch, hidden)), maybe(numbers(many, 3 * hidden))]
    named = {"hidden_size": hidden, "direction": direction}
    if draw.integers(2):
        names = draw.choice(NAMES, functions * many).tolist()
        named["activations"] = names
        named["activation_alpha"] = [0.3 for name in names if name in TAKE_ALPHA] or [0.3]
        named["activation_beta"] = [0.6 for name in names if name in TAKE_BETA] or [0.6]
    if op == "GRU":
        named["linear_before_reset"] = int(draw.integers(2))
    if op == "LSTM":
        named["input_forget"] = int(draw.integers(2))
    return inputs, named


@pytest.mark.skipif(sys.version_info < (3, 11), reason="its onnxruntime ends the process at some")
@pytest.mark.parametrize("seed", range(effort(8, 200)))
@pytest.mark.parametrize("op", FUNCTIONS)
def test_any_attributes(op, seed):
    inputs, named = drawn(op, seed)
    outputs = 3 if op == "LSTM" else 2
    expected = by_runtime(op, inputs, outputs, 14, **named)
    given = {"outputs": outputs, "expected": expected, "unknown": {0: (0, 1)}, **named}
    if any(one is not None for one in inputs[4:7]):  # their batch is a size that is known
        given["unknown"] = {0: (0,)}
    check(op, FUNCTIONS[op][0], *inputs, atol=1e-5, **given)


@pytest.mark.parametrize("op", FUNCTIONS)
def test_batches_may_come_first(op):
    function, gates, _ = FUNCTIONS[op]
    x = np.random.default_rng(1).normal(size=(2, 3, 4)).astype("float32")
    w = np.random.default_rng(2).normal(size=(1, gates * 5, 4)).astype("float32")
    r = np.random.default_rng(3).normal(size=(1, gates * 5, 5)).astype("float32")
    outputs = 3 if op == "LSTM" else 2
    check(op, function, x, w, r, outputs=outputs, hidden_size=5, layout=1, opset=14)


@pytest.mark.parametrize("op", FUNCTIONS)
def test_clip_bounds_what_activations_take(op):
    inputs, named = drawn(op, 3)
    named = {"hidden_size": named["hidden_size"], "direction": named["direction"], "clip": 0.4}
    outputs = 3 if op == "LSTM" else 2
    inputs[4] = None
    expected = by_runtime(op, inputs, outputs, 14, **named)
    given = {"outputs": outputs, "expected": expected, "unknown": {0: (0,)}, **named}
    check(op, FUNCTIONS[op][0], *inputs, atol=1e-5, **given)


def test_weights_can_be_trained():
    x = to_tensor(np.ones((3, 2, 4), "float32"))
    w, r = (to_tensor(np.ones((1, 20, n), "float32") * 0.1, stop_gradient=False) for n in (4, 5))
    lstm(x, w, r, hidden_size=5)[0].sum().backward()
    assert np.abs(np.asarray(w.grad)).min() > 0 and np.abs(np.asarray(r.grad)).max() > 0


def test_an_unknown_activation_is_refused():
    x, w = to_tensor(np.ones((1, 1, 1), "float32")), to_tensor(np.ones((1, 1, 1), "float32"))
    with pytest.raises(ArgumentError, match="Mystery"):
        rnn(x, w, w, activations=["Mystery"])


@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_many_steps_are_a_loop_of_few_operators(direction):
    many = 2 if direction == "bidirectional" else 1
    draw = np.random.default_rng(0)
    x, w, r = (draw.normal(size=s).astype("float32") * np.float32(0.3)
               for s in [(40, 2, 3), (many, 16, 3), (many, 16, 4)])  # fmt: skip
    expected = by_runtime("LSTM", [x, w, r], 3, 14, hidden_size=4, direction=direction)
    given = {"hidden_size": 4, "direction": direction, "expected": expected, "unknown": {0: (1,)}}
    check("LSTM", lstm, x, w, r, outputs=3, atol=1e-5, **given)
    program, _ = recorded(lstm, [x, w, r], {"hidden_size": 4, "direction": direction})
    assert len([*program.block.walk()]) < 200
