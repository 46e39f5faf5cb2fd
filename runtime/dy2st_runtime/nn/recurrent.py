"""Recurrent cells, and the layers that run them along a sequence."""

from __future__ import annotations

from typing import Any, ClassVar

from dy2st_runtime.ir import F
from dy2st_runtime.nn.containers import LayerList
from dy2st_runtime.nn.initializer import Uniform
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.nn.scan import scan


class _Cell(Layer):
    """Weights of one step: weight_ih (gates*hidden, input), weight_hh (gates*hidden, hidden)."""

    gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
    ):
        """Make the parameters, uniform within 1 / sqrt(hidden_size)."""
        super().__init__()
        if hidden_size <= 0:
            raise ValueError(f"hidden_size is above 0, not {hidden_size}")
        self.input_size, self.hidden_size = input_size, hidden_size
        limit = Uniform(-(hidden_size**-0.5), hidden_size**-0.5)
        rows = self.gates * hidden_size

        def make(shape: list[int], attr: Any) -> Any:
            return self.create_parameter(shape, attr, default_initializer=limit)

        self.weight_ih = make([rows, input_size], weight_ih_attr)
        self.weight_hh = make([rows, hidden_size], weight_hh_attr)
        self.bias_ih = make([rows], bias_ih_attr)
        self.bias_hh = make([rows], bias_hh_attr)

    def initial_state(self, batch: Any, like: Any) -> Any:
        """Zeros of the shape of one state."""
        return F.zeros([batch, self.hidden_size], like.dtype)

    def gates_of(self, x: Any, h: Any) -> tuple[Any, Any]:
        """x @ weight_ih' + bias_ih and h @ weight_hh' + bias_hh."""
        from_input = F.matmul(x, self.weight_ih, transpose_y=True)
        from_state = F.matmul(h, self.weight_hh, transpose_y=True)
        if self.bias_ih is not None:
            from_input = from_input + self.bias_ih
        if self.bias_hh is not None:
            from_state = from_state + self.bias_hh
        return from_input, from_state

    def extra_repr(self) -> str:
        """Sizes."""
        return f"{self.input_size}, {self.hidden_size}"


class SimpleRNNCell(_Cell):
    """h' = tanh(W x + b + U h + c), or relu: (n, input), (n, hidden) -> (n, hidden), twice."""

    def __init__(self, input_size: int, hidden_size: int, activation: str = "tanh", **attrs: Any):
        """Take 'tanh' or 'relu'."""
        super().__init__(input_size, hidden_size, **attrs)
        if activation not in ("tanh", "relu"):
            raise ValueError(f"activation is 'tanh' or 'relu', not {activation!r}")
        self.activation = activation

    def forward(self, inputs: Any, states: Any = None) -> tuple[Any, Any]:
        """Output and new state, which are the same."""
        states = self.initial_state(inputs.shape[0], inputs) if states is None else states
        from_input, from_state = self.gates_of(inputs, states)
        h = getattr(F, self.activation)(from_input + from_state)
        return h, h


class LSTMCell(_Cell):
    """c' = f * c + i * g;  h' = o * tanh(c') (Hochreiter and Schmidhuber 1997).

    The gates i, f, g, o follow each other in the rows of the weights.
    """

    gates = 4

    def initial_state(self, batch: Any, like: Any) -> Any:
        """Zeros for h and c."""
        h = super().initial_state(batch, like)
        return h, h

    def forward(self, inputs: Any, states: Any = None) -> tuple[Any, tuple[Any, Any]]:
        """(n, input), ((n, hidden), (n, hidden)) -> output, (h, c)."""
        states = self.initial_state(inputs.shape[0], inputs) if states is None else states
        h, c = states
        from_input, from_state = self.gates_of(inputs, h)
        i, f, g, o = F.split(from_input + from_state, 4, axis=-1)
        c = F.sigmoid(f) * c + F.sigmoid(i) * F.tanh(g)
        h = F.sigmoid(o) * F.tanh(c)
        return h, (h, c)


class GRUCell(_Cell):
    """h' = z * h + (1 - z) * tanh(W x + r * (U h)) (Cho et al. 2014).

    The gates r, z and the candidate follow each other in the rows of the weights.
    """

    gates = 3

    def forward(self, inputs: Any, states: Any = None) -> tuple[Any, Any]:
        """(n, input), (n, hidden) -> output and new state, which are the same."""
        states = self.initial_state(inputs.shape[0], inputs) if states is None else states
        from_input, from_state = self.gates_of(inputs, states)
        xr, xz, xc = F.split(from_input, 3, axis=-1)
        hr, hz, hc = F.split(from_state, 3, axis=-1)
        r, z = F.sigmoid(xr + hr), F.sigmoid(xz + hz)
        candidate = F.tanh(xc + r * hc)
        h = z * states + (1.0 - z) * candidate
        return h, h


class RNN(Layer):
    """Runs a cell along a sequence: (n, l, input) -> (n, l, hidden), final state.

    With `time_major` the first two axes are swapped.
    """

    def __init__(self, cell: Layer, is_reverse: bool = False, time_major: bool = False):
        """Take the cell."""
        super().__init__()
        self.cell, self.is_reverse, self.time_major = cell, is_reverse, time_major

    def forward(self, inputs: Any, initial_states: Any = None) -> tuple[Any, Any]:
        """Outputs of all steps and the last state."""
        x = inputs if self.time_major else F.transpose(inputs, [1, 0, 2])
        if initial_states is None:
            initial_states = self.cell.initial_state(x.shape[1], x)
        outputs, state = scan(self.cell, x, initial_states, self.is_reverse)
        return (outputs if self.time_major else F.transpose(outputs, [1, 0, 2])), state


class _Stack(Layer):
    """Several layers of cells, forward or in both directions."""

    cell: ClassVar[type[_Cell]]
    states = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        **cell_settings: Any,
    ):
        """Make the cells; `direction` is 'forward' or 'bidirect'."""
        super().__init__()
        if direction not in ("forward", "bidirect", "bidirectional"):
            raise ValueError(f"direction is 'forward' or 'bidirect', not {direction!r}")
        self.directions = 1 if direction == "forward" else 2
        self.num_layers, self.time_major, self.dropout = num_layers, time_major, dropout
        self.hidden_size = hidden_size
        sizes = [input_size] + [hidden_size * self.directions] * (num_layers - 1)
        self.runs = LayerList(
            RNN(self.cell(size, hidden_size, **cell_settings), is_reverse=bool(d), time_major=True)
            for size in sizes
            for d in range(self.directions)
        )

    def forward(self, inputs: Any, initial_states: Any = None) -> tuple[Any, Any]:
        """Outputs of the last layer, and the last states as (layers*directions, n, hidden)."""
        x = inputs if self.time_major else F.transpose(inputs, [1, 0, 2])
        finals = []
        for layer in range(self.num_layers):
            if layer and self.dropout:
                x = F.dropout(x, p=self.dropout, training=self.training)
            outputs = []
            for direction in range(self.directions):
                index = layer * self.directions + direction
                states = self._state(initial_states, index)
                output, final = self.runs[index](x, states)
                outputs.append(output)
                finals.append(final)
            x = outputs[0] if len(outputs) == 1 else F.concat(outputs, axis=-1)
        return (x if self.time_major else F.transpose(x, [1, 0, 2])), self._stacked(finals)

    def _state(self, states: Any, index: int) -> Any:
        if states is None:
            return None
        return tuple(s[index] for s in states) if self.states > 1 else states[index]

    def _stacked(self, finals: list[Any]) -> Any:
        if self.states == 1:
            return F.stack(finals, axis=0)
        return tuple(F.stack([final[i] for final in finals], axis=0) for i in range(self.states))


class SimpleRNN(_Stack):
    """Layers of SimpleRNNCell: (n, l, input) -> (n, l, hidden*directions), last states."""

    cell = SimpleRNNCell


class LSTM(_Stack):
    """Layers of LSTMCell: (n, l, input) -> (n, l, hidden*directions), (h, c)."""

    cell = LSTMCell
    states = 2


class GRU(_Stack):
    """Layers of GRUCell: (n, l, input) -> (n, l, hidden*directions), last states."""

    cell = GRUCell
