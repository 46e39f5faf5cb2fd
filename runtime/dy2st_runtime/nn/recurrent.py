"""Recurrent cells, and the layers that run them along a sequence."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F
from dy2st_runtime.ir.dispatch import active
from dy2st_runtime.ir.promotion import autocast
from dy2st_runtime.ir.types import is_floating
from dy2st_runtime.lazy import Lazy
from dy2st_runtime.nn.containers import LayerList
from dy2st_runtime.nn.initializer import Constant, Uniform
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.nn.parameters import ParamAttr
from dy2st_runtime.nn.scan import scan

_sequences = Lazy("dy2st_runtime.nn.sequences")


class RNNCellBase(Layer):
    """Base of cells: one step, (n, input), states -> output, new states.

    A cell of one's own writes `forward` and `state_shape`; `RNN` runs it along sequences.

    >>> class Sum(dy2st.nn.RNNCellBase):
    ...     state_shape = (2,)
    ...     def forward(self, inputs, states=None):
    ...         states = self.get_initial_states(inputs) if states is None else states
    ...         return inputs + states, inputs + states
    >>> y, last = dy2st.nn.RNN(Sum())(dy2st.ones([1, 3, 2]))
    >>> y[0, :, 0].tolist(), Sum().state_shape
    ([1.0, 2.0, 3.0], (2,))
    """

    @property
    def state_shape(self) -> Any:
        """The shape of a state of one sample, or a tuple of several; each cell says it."""
        raise NotImplementedError(f"{type(self).__name__} has no state_shape")

    def get_initial_states(
        self,
        batch_ref: Any,
        shape: Any = None,
        dtype: Any = None,
        init_value: float = 0.0,
        batch_dim_idx: int = 0,
    ) -> Any:
        """States of one value for a batch like `batch_ref`, of `state_shape` or another shape."""
        batch = batch_ref.shape[batch_dim_idx]
        if dtype is None:
            dtype = batch_ref.dtype if is_floating(batch_ref.dtype) else self._dtype

        def full(shape: Any) -> Any:
            if shape and not isinstance(shape[0], int):
                return tuple(full(entry) for entry in shape)
            return F.full([batch, *shape], init_value, dtype)

        return full(self.state_shape if shape is None else shape)


class _Cell(RNNCellBase):
    """Weights of one step: weight_ih (gates*hidden, input), weight_hh (gates*hidden, output)."""

    gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        proj_size: int = 0,
        name: str | None = None,
    ):
        """Make the parameters, uniform within 1 / sqrt(hidden_size).

        An attribute that is False makes weights of ones and biases of zeros that are not trained.
        """
        super().__init__()
        if hidden_size <= 0:
            raise ArgumentError(f"hidden_size is above 0, not {hidden_size}")
        if not 0 <= proj_size < hidden_size:
            raise ArgumentError(f"proj_size is from 0 to below hidden_size, not {proj_size}")
        self.input_size, self.hidden_size, self.proj_size = input_size, hidden_size, proj_size
        self._limit = Uniform(-(hidden_size**-0.5), hidden_size**-0.5)
        rows = self.gates * hidden_size
        self.weight_ih = self._make([rows, input_size], weight_ih_attr, 1.0)
        self.weight_hh = self._make([rows, proj_size or hidden_size], weight_hh_attr, 1.0)
        self.bias_ih = self._make([rows], bias_ih_attr, 0.0)
        self.bias_hh = self._make([rows], bias_hh_attr, 0.0)

    def _make(self, shape: list[int], attr: Any, fixed: float) -> Any:
        if attr is False:
            attr = ParamAttr(initializer=Constant(fixed), trainable=False)
        is_bias = len(shape) == 1
        return self.create_parameter(shape, attr, None, is_bias, self._limit)

    @property
    def state_shape(self) -> Any:
        """(hidden,)."""
        return (self.hidden_size,)

    def weights(self) -> list[Any]:
        """What a step reads: weight_ih, weight_hh, bias_ih, bias_hh, then weight_ho if need be."""
        weights = [self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh]
        return [*weights, self.weight_ho] if self.proj_size else weights

    def extra_repr(self) -> str:
        """Sizes."""
        return f"{self.input_size}, {self.hidden_size}"


def _gates(x: Any, h: Any, wx: Any, wh: Any, bx: Any, bh: Any) -> tuple[Any, Any]:
    """x @ wx' + bx and h @ wh' + bh."""
    from_input = F.matmul(x, wx, transpose_y=True) + bx
    return from_input, F.matmul(h, wh, transpose_y=True) + bh


def simple_step(x: Any, h: Any, *weights: Any, activation: str) -> tuple[Any, Any]:
    """One step of a plain recurrent layer: its output, and the next state, which is the same."""
    from_input, from_state = _gates(x, h, *weights)
    h = getattr(F, activation)(from_input + from_state)
    return h, h


def lstm_step(x: Any, states: Any, *weights: Any) -> tuple[Any, tuple[Any, Any]]:
    """One step of an LSTM, projected by a fifth weight: its output, and the next (h, c)."""
    h, c = states
    from_input, from_state = _gates(x, h, *weights[:4])
    i, f, g, o = F.split(from_input + from_state, 4, axis=-1)
    c = F.sigmoid(f) * c + F.sigmoid(i) * F.tanh(g)
    h = F.sigmoid(o) * F.tanh(c)
    for project in weights[4:]:
        h = F.matmul(h, project)
    return h, (h, c)


def gru_step(x: Any, h: Any, *weights: Any) -> tuple[Any, Any]:
    """One step of a GRU: its output, and the next state, which is the same."""
    from_input, from_state = _gates(x, h, *weights)
    xr, xz, xc = F.split(from_input, 3, axis=-1)
    hr, hz, hc = F.split(from_state, 3, axis=-1)
    r, z = F.sigmoid(xr + hr), F.sigmoid(xz + hz)
    candidate = F.tanh(xc + r * hc)
    h = z * h + (1.0 - z) * candidate
    return h, h


class SimpleRNNCell(_Cell):
    """h' = tanh(W x + b + U h + c), or relu: (n, input), (n, hidden) -> (n, hidden), twice.

    >>> cell = dy2st.nn.SimpleRNNCell(4, 3)
    >>> y, h = cell(dy2st.ones([2, 4]))
    >>> y.shape, cell.weight_ih.shape, cell.weight_hh.shape
    ([2, 3], [3, 4], [3, 3])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        activation: str = "tanh",
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ):
        """Take 'tanh' or 'relu'."""
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        super().__init__(input_size, hidden_size, *attrs)
        if activation not in ("tanh", "relu"):
            raise ArgumentError(f"activation is 'tanh' or 'relu', not {activation!r}")
        self.activation = activation

    def forward(self, inputs: Any, states: Any = None) -> tuple[Any, Any]:
        """Output and new state, which are the same."""
        states = self.get_initial_states(inputs) if states is None else states
        return simple_step(inputs, states, *self.weights(), activation=self.activation)


class LSTMCell(_Cell):
    """c' = f * c + i * g;  h' = o * tanh(c') (Hochreiter and Schmidhuber 1997).

    (n, input), ((n, hidden), (n, hidden)) -> h', (h', c'). The gates i, f, g, o follow each other
    in the rows of the weights. With `proj_size` h' is multiplied by weight_ho, (hidden, proj_size).

    >>> cell = dy2st.nn.LSTMCell(4, 3)
    >>> y, (h, c) = cell(dy2st.ones([2, 4]))
    >>> y.shape, c.shape, cell.weight_ih.shape
    ([2, 3], [2, 3], [12, 4])
    """

    gates = 4

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        proj_size: int = 0,
        name: str | None = None,
    ):
        """Make the parameters, uniform within 1 / sqrt(hidden_size)."""
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        super().__init__(input_size, hidden_size, *attrs, proj_size)
        if proj_size:
            self.weight_ho = self._make([hidden_size, proj_size], weight_hh_attr, 1.0)

    @property
    def state_shape(self) -> Any:
        """((hidden or proj_size,), (hidden,))."""
        return (self.proj_size or self.hidden_size,), (self.hidden_size,)

    def forward(self, inputs: Any, states: Any = None) -> tuple[Any, tuple[Any, Any]]:
        """(n, input), ((n, hidden), (n, hidden)) -> output, (h, c)."""
        states = self.get_initial_states(inputs) if states is None else states
        return lstm_step(inputs, states, *self.weights())


class GRUCell(_Cell):
    """h' = z * h + (1 - z) * tanh(W x + r * (U h)) (Cho et al. 2014).

    (n, input), (n, hidden) -> h', h'. The gates r, z and the candidate follow each other in the
    rows of the weights.

    >>> cell = dy2st.nn.GRUCell(4, 3)
    >>> y, h = cell(dy2st.ones([2, 4]))
    >>> y.shape, cell.weight_ih.shape
    ([2, 3], [9, 4])
    """

    gates = 3

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ):
        """Make the parameters, uniform within 1 / sqrt(hidden_size)."""
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        super().__init__(input_size, hidden_size, *attrs)

    def forward(self, inputs: Any, states: Any = None) -> tuple[Any, Any]:
        """(n, input), (n, hidden) -> output and new state, which are the same."""
        states = self.get_initial_states(inputs) if states is None else states
        return gru_step(inputs, states, *self.weights())


def _along(
    cell: Any, x: Any, states: Any, is_reverse: bool, mask: Any, kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """Outputs of all steps and the last state: at once for a cell of ours on eager tensors.

    A Program has the steps: engines know what to do with their operators.
    """
    run = None if kwargs or active() is not None else _at_once(cell)
    if run is not None:
        name, step = run
        kind, weights = getattr(_sequences, name), cell.weights()
        found = _sequences.along(kind, step, x, states, weights, is_reverse, mask)
        if found is not None:
            return found  # type: ignore[no-any-return]
    one = (lambda x, states: cell(x, states, **kwargs)) if kwargs else cell
    return scan(one, x, states, is_reverse, mask)


def _at_once(cell: Any) -> tuple[str, Any] | None:
    """The class in `sequences` that runs a cell, and its step; None for cells of the user's.

    So it is with one that has hooks, or computes in mixed precision.
    """
    kind: Any = type(cell)
    if kind not in (SimpleRNNCell, LSTMCell, GRUCell) or "forward" in vars(cell):
        return None
    if cell._forward_pre_hooks or cell._forward_post_hooks or autocast() is not None:
        return None
    if kind is SimpleRNNCell:
        name = {"tanh": "TanhRun", "relu": "ReluRun"}.get(cell.activation)
        step = partial(simple_step, activation=cell.activation)
        return None if name is None else (name, step)
    return ("LstmRun", lstm_step) if kind is LSTMCell else ("GruRun", gru_step)


class RNN(Layer):
    """Runs a cell along a sequence: (n, l, input) -> (n, l, hidden), final state.

    With `time_major` the first two axes are swapped. A sample of `sequence_length` k keeps the
    state of its first k steps; backwards they are the steps from k to the first.

    >>> rnn = dy2st.nn.RNN(dy2st.nn.GRUCell(4, 3))
    >>> y, last = rnn(dy2st.ones([2, 5, 4]))
    >>> y.shape, last.shape
    ([2, 5, 3], [2, 3])
    """

    def __init__(self, cell: Any, is_reverse: bool = False, time_major: bool = False):
        """Take the cell."""
        super().__init__()
        self.cell, self.is_reverse, self.time_major = cell, is_reverse, time_major

    def forward(
        self, inputs: Any, initial_states: Any = None, sequence_length: Any = None, **kwargs: Any
    ) -> tuple[Any, Any]:
        """Outputs of all steps and the last state; `kwargs` go to the cell."""
        x = inputs if self.time_major else F.swapaxes(inputs, 0, 1)
        if initial_states is None:
            initial_states = self.cell.get_initial_states(x, batch_dim_idx=1)
        mask = None if sequence_length is None else _mask(sequence_length, x.shape[0])
        outputs, state = _along(self.cell, x, initial_states, self.is_reverse, mask, kwargs)
        return (outputs if self.time_major else F.swapaxes(outputs, 0, 1)), state


class BiRNN(Layer):
    """Runs one cell forwards and one backwards: (n, l, input) -> (n, l, 2*hidden), two states.

    ValueError if the cells take inputs of different sizes.

    >>> rnn = dy2st.nn.BiRNN(dy2st.nn.GRUCell(4, 3), dy2st.nn.GRUCell(4, 3))
    >>> y, (forward, backward) = rnn(dy2st.ones([2, 5, 4]))
    >>> y.shape, forward.shape
    ([2, 5, 6], [2, 3])
    """

    def __init__(self, cell_fw: Any, cell_bw: Any, time_major: bool = False):
        """Take the cells; ValueError if their inputs differ."""
        super().__init__()
        sizes = [getattr(cell, "input_size", None) for cell in (cell_fw, cell_bw)]
        if None not in sizes and sizes[0] != sizes[1]:
            raise ArgumentError(f"the cells take inputs of {sizes[0]} and of {sizes[1]} features")
        self.cell_fw, self.cell_bw, self.time_major = cell_fw, cell_bw, time_major

    def forward(
        self, inputs: Any, initial_states: Any = None, sequence_length: Any = None, **kwargs: Any
    ) -> tuple[Any, Any]:
        """Outputs of both side by side, and a pair of last states."""
        x = inputs if self.time_major else F.swapaxes(inputs, 0, 1)
        mask = None if sequence_length is None else _mask(sequence_length, x.shape[0])
        pair = (None, None) if initial_states is None else initial_states
        outputs, states = [], []
        for cell, first, is_reverse in zip((self.cell_fw, self.cell_bw), pair, (False, True)):
            start = cell.get_initial_states(x, batch_dim_idx=1) if first is None else first
            output, state = _along(cell, x, start, is_reverse, mask, kwargs)
            outputs.append(output)
            states.append(state)
        both = F.concat(outputs, axis=-1)
        return (both if self.time_major else F.swapaxes(both, 0, 1)), tuple(states)


def _mask(sequence_length: Any, steps: Any) -> Any:
    """(n,) -> (steps, n, 1): whether a step is one of the sample's."""
    lengths = F.unsqueeze(F.cast(sequence_length, "int64"), [0, 2])
    return F.less_than(F.unsqueeze(F.arange(steps), [1, 2]), lengths)


class _Stack(LayerList):
    """Several layers of cells, forward or in both directions."""

    cell: ClassVar[type[_Cell]]
    mode = ""
    state_components = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
        **cell_settings: Any,
    ):
        """Make the cells; `direction` is 'forward' or 'bidirect'."""
        super().__init__()
        if direction not in ("forward", "bidirect", "bidirectional"):
            raise ArgumentError(f"direction is 'forward' or 'bidirect', not {direction!r}")
        self.num_directions = 1 if direction == "forward" else 2
        self.num_layers, self.time_major, self.dropout = num_layers, time_major, dropout
        self.input_size, self.hidden_size = input_size, hidden_size
        self.proj_size = cell_settings.get("proj_size", 0)
        attrs = {
            "weight_ih_attr": weight_ih_attr,
            "weight_hh_attr": weight_hh_attr,
            "bias_ih_attr": bias_ih_attr,
            "bias_hh_attr": bias_hh_attr,
        }
        width = (self.proj_size or hidden_size) * self.num_directions
        for layer in range(num_layers):
            size = width if layer else input_size
            cells = [
                self.cell(size, hidden_size, **attrs, **cell_settings)
                for _ in range(self.num_directions)
            ]
            both = len(cells) == 2
            self.append(BiRNN(cells[0], cells[1], True) if both else RNN(cells[0], False, True))
            # Let the parameters of cells have short names too: `weight_ih_l0_reverse`.
            for cell, ending in zip(cells, ("", "_reverse")):
                for attr, wish in attrs.items():
                    name = attr.removesuffix("_attr")
                    if wish is not False:
                        self.add_parameter(f"{name}_l{layer}{ending}", getattr(cell, name))

    def forward(
        self, inputs: Any, initial_states: Any = None, sequence_length: Any = None
    ) -> tuple[Any, Any]:
        """Outputs of the last layer, and the last states as (layers*directions, n, hidden).

        Outputs past the `sequence_length` of a sample are zero.
        """
        x = inputs if self.time_major else F.transpose(inputs, [1, 0, 2])
        finals: list[Any] = []
        for layer in range(self.num_layers):
            if layer and self.dropout:
                x = F.dropout(x, p=self.dropout, training=self.training)
            # The first states of a layer, a pair of them for two directions.
            if initial_states is None:
                first_states = None
            else:
                first = layer * self.num_directions
                found = [
                    tuple(s[i] for s in initial_states)
                    if self.state_components > 1
                    else initial_states[i]
                    for i in range(first, first + self.num_directions)
                ]
                first_states = found[0] if self.num_directions == 1 else tuple(found)
            x, final = self[layer](x, first_states, sequence_length)
            finals += [final] if self.num_directions == 1 else final
            if sequence_length is not None:
                x = F.where(_mask(sequence_length, x.shape[0]), x, F.zeros_like(x))
        return (x if self.time_major else F.transpose(x, [1, 0, 2])), self._stacked(finals)

    def flatten_parameters(self) -> None:
        """Nothing: parameters need no common memory."""

    def _stacked(self, finals: list[Any]) -> Any:
        if self.state_components == 1:
            return F.stack(finals, axis=0)
        return tuple(F.stack([final[i] for final in finals], axis=0) for i in (0, 1))

    def extra_repr(self) -> str:
        """Sizes."""
        shown = f"{self.input_size}, {self.hidden_size}"
        shown += f", num_layers={self.num_layers}" if self.num_layers != 1 else ""
        shown += f", time_major={self.time_major}" if self.time_major else ""
        return shown + (f", dropout={self.dropout}" if self.dropout else "")


class SimpleRNN(_Stack):
    """Layers of SimpleRNNCell: (n, l, input) -> (n, l, hidden*directions), last states.

    The last states are (layers*directions, n, hidden); see `LSTM` for the arguments.

    >>> y, h = dy2st.nn.SimpleRNN(4, 3)(dy2st.ones([2, 5, 4]))
    >>> y.shape, h.shape
    ([2, 5, 3], [1, 2, 3])
    """

    cell = SimpleRNNCell

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        activation: str = "tanh",
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ):
        """Make the cells; `activation` is 'tanh' or 'relu'."""
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr, name)
        common = (input_size, hidden_size, num_layers, direction, time_major, dropout)
        super().__init__(*common, *attrs, activation=activation)
        self.activation, self.mode = activation, f"RNN_{activation.upper()}"


class LSTM(_Stack):
    """Layers of LSTMCell: (n, l, input) -> (n, l, hidden*directions), (h, c).

    h and c are (layers*directions, n, hidden); outputs past the `sequence_length` of a sample are
    zero.

    Parameters
    ----------
    input_size, hidden_size
        Features of an input, and of a state.
    num_layers
        How many layers there are, each on the outputs of the one before.
    direction
        'forward' or 'bidirect'.
    time_major
        Inputs and outputs are (l, n, ...).
    dropout
        The probability of dropout between layers.
    proj_size
        Features of outputs and h, if they are projected.

    Examples
    --------
    >>> lstm = dy2st.nn.LSTM(4, 3, num_layers=2, direction="bidirect")
    >>> y, (h, c) = lstm(dy2st.ones([2, 5, 4]))
    >>> y.shape, h.shape, c.shape
    ([2, 5, 6], [4, 2, 3], [4, 2, 3])
    """

    cell = LSTMCell
    mode = "LSTM"
    state_components = 2

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        proj_size: int = 0,
        name: str | None = None,
    ):
        """Make the cells; `direction` is 'forward' or 'bidirect'."""
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr, name)
        common = (input_size, hidden_size, num_layers, direction, time_major, dropout)
        super().__init__(*common, *attrs, proj_size=proj_size)


class GRU(_Stack):
    """Layers of GRUCell: (n, l, input) -> (n, l, hidden*directions), last states.

    The last states are (layers*directions, n, hidden); see `LSTM` for the arguments.

    >>> y, h = dy2st.nn.GRU(4, 3)(dy2st.ones([2, 5, 4]), sequence_length=dy2st.to_tensor([5, 2]))
    >>> y.shape, y[1, 2:].abs().sum().item(), h.shape
    ([2, 5, 3], 0.0, [1, 2, 3])
    """

    cell = GRUCell
    mode = "GRU"
