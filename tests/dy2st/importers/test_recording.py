"""Programs recorded from calls of operators, as the readers of other people's models do."""

import numpy as np
import pytest

from dy2st.errors import ArgumentError
from dy2st.importers.recording import layer_of, record
from dy2st_runtime.dims import symbol
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.ops.control_flow import cond, while_loop

FLOAT = np.dtype("float32")
STATE = {"w": np.ones((3, 2), FLOAT), "b": np.arange(2, dtype=FLOAT), "spare": np.ones(1, FLOAT)}


def network(inputs, state):
    y = F.add(F.matmul(inputs[0], state["w"]), state["b"])
    (y,) = cond(F.greater_than(F.sum(y), 0), lambda: [y], lambda: [F.exp(y)])
    _, y = while_loop(
        lambda i, _: F.less_than(i, 3),
        lambda i, y: [F.add(i, 1), F.multiply(y, 2.0)],
        [np.array(0), y],
    )
    return [y, F.reshape(y, [y.shape[0] * 2])]


def recorded():
    batch = symbol("batch", minimum=0)
    return record("net", {"x": TensorType(FLOAT, (batch, 3))}, STATE, {"w"}, network)


@pytest.mark.parametrize("rows", [0, 1, 2, 5])
def test_branches_loops_and_unknown_sizes_run(rows):
    model = layer_of(recorded(), STATE)
    whole, flat = model(np.ones((rows, 3), FLOAT))
    expected = np.tile([24.0, 32.0], (rows, 1)) if rows else np.zeros((0, 2))
    np.testing.assert_array_equal(whole.numpy(), expected)
    np.testing.assert_array_equal(flat.numpy(), expected.reshape(-1))


def test_state_that_nothing_uses_goes():
    assert [*recorded().state] == ["w", "b"]


def test_trained_names_are_parameters_that_can_be_trained():
    model = layer_of(recorded(), STATE)
    model.train()
    model(np.ones((2, 3), FLOAT))[0].sum().backward()
    assert [name for name, _ in model.named_parameters()] == ["w"]
    np.testing.assert_array_equal(model.w.grad.numpy(), np.full((3, 2), 16.0))


def test_an_engine_that_is_none_is_refused():
    with pytest.raises(ArgumentError, match="nowhere"):
        layer_of(recorded(), STATE, "nowhere")(np.ones((2, 3), FLOAT))
