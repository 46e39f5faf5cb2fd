"""Computes recurrent cells along a whole sequence of arrays, and their gradients.

Eagerly an operator takes a microsecond for itself, and a step of a cell has some twenty of them. So
the inputs of all steps are multiplied by their weights at once, gates lie side by side, and what a
gradient needs of each step is computed for all of them outside of the loop. Time comes first:
x (l, n, input), states (n, hidden), outputs (l, n, hidden).

Gates of a sigmoid are 1 / (1 + e**a) with their weights negated.

One Node stands on the tape for all steps. Two layers of LSTM, 16 steps of 4 rows, take 0.6 ms so
and 3.1 ms step by step; with gradients 1.4 ms and 16.6. A Program has the steps, since engines know
what to do with their operators. So has the tape where gradients are differentiated once more, and
where a cell is the user's, has hooks, or computes in mixed precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import Any, ClassVar

import numpy as np

from dy2st_runtime.autograd import Array, Node, gathered
from dy2st_runtime.ir import F
from dy2st_runtime.ir.grad_mode import is_grad_enabled
from dy2st_runtime.nn.scan import scan
from dy2st_runtime.tensor import EagerTensor

Step = Callable[..., tuple[Any, Any]]
"""One step: x, the states (one, or a tuple), then the weights -> output, new states."""

_DTYPES = (np.dtype("float32"), np.dtype("float64"))
_NOTHING: Array = np.zeros(0)


class Run:
    """One run of a cell along a sequence; it keeps what `gradients` needs.

    `keep` (l, n, 1) marks the steps that leave the state as it was; None if there are none.
    """

    count_of_gates: ClassVar[int] = 1
    count_of_states: ClassVar[int] = 1

    def __init__(self, x: Array, states: Sequence[Array], weights: Sequence[Array], keep: Any):
        """Compute outputs and last states."""
        self.x, self.keep = x, keep
        self.wx, self.wh, *_ = (self.ordered(w) for w in weights[:2])
        self.bias_x, self.bias_h = weights[2:4]
        with np.errstate(over="ignore"):  # of e**a, which makes a gate 0
            self.outputs, self.held = self.forward(states, weights[4:])
        self.last = [one[-1].copy() for one in self.held]

    @classmethod
    def ordered(cls, w: Array) -> Array:
        """Weights or biases of the gates in the order of the run, with its signs."""
        return w

    @classmethod
    def restored(cls, w: Array) -> Array:
        """Their gradients, in the order of the cell."""
        return w

    def forward(self, states: Sequence[Array], rest: Sequence[Array]) -> tuple[Array, list[Array]]:
        """Outputs, and for each state the one before every step and the last, (l + 1, n, ...)."""
        raise NotImplementedError

    def backward(self, g: Array, last: list[Array]) -> tuple[Array, Array, list[Array], list[Any]]:
        """Gradients of the gates as they come from x and from h, of first states, and of the rest.

        `g` and `last` are those of outputs and last states; the latter may be written to.
        """
        raise NotImplementedError

    def gradients(self, g: Array, last: list[Array], of_x: bool) -> list[Any]:
        """Gradients of x, if it wants one, the first states and the weights."""
        from_x, from_h, first, rest = self.backward(g, last)
        flat_x, flat_h = _flat(from_x), _flat(from_h)
        x = (flat_x @ self.wx).reshape(self.x.shape) if of_x else None
        weights = flat_x.T @ _flat(self.x), flat_h.T @ _flat(self.held[0][:-1])
        biases = flat_x.sum(0), flat_h.sum(0)
        return [x, *first, *map(self.restored, (*weights, *biases)), *rest]

    def from_inputs(self, bias: Array) -> Array:
        """The part of the gates that comes from x, of all steps: (l, n, gates * hidden)."""
        gates = _flat(self.x) @ self.wx.T
        gates += bias
        return gates.reshape(*self.x.shape[:2], -1)

    def room(self, first: Array) -> Array:
        """A state before every step and behind the last, of which the first is known."""
        made = np.empty((self.x.shape[0] + 1, *first.shape), first.dtype)
        made[0] = first
        return made

    def outputs_beside(self, states: Array) -> Array:
        """Where outputs go: they are the states, unless some of these stay as they were."""
        return states[1:] if self.keep is None else np.empty_like(states[1:])

    def steps(self, *arrays: Array) -> Iterator[Any]:
        """What each step has of arrays, and of `keep`."""
        return zip(*arrays, repeat(None) if self.keep is None else self.keep)

    def steps_back(self, *arrays: Array) -> Iterator[Any]:
        """The same from the last to the first."""
        keep = repeat(None) if self.keep is None else self.keep[::-1]
        return zip(*(array[::-1] for array in arrays), keep)


class TanhRun(Run):
    """h' = tanh(W x + b + U h + c), or relu."""

    is_relu: ClassVar[bool] = False

    def forward(self, states: Sequence[Array], rest: Sequence[Array]) -> tuple[Array, list[Array]]:
        """Outputs and states."""
        h = self.room(states[0])
        y, u = self.outputs_beside(h), self.wh.T
        gates = self.from_inputs(self.bias_x + self.bias_h)
        zero = gates.dtype.type(0)
        for a, before, out, after, keep in self.steps(gates, h, y, h[1:]):
            np.matmul(before, u, out)
            out += a
            if self.is_relu:
                np.maximum(out, zero, out=out)
            else:
                np.tanh(out, out)
            if keep is not None:
                after[...] = np.where(keep, before, out)
        return y, [h]

    def backward(self, g: Array, last: list[Array]) -> tuple[Array, Array, list[Array], list[Any]]:
        """Gradients of what the activation takes."""
        y, (dh,) = self.outputs, last
        slopes = (y > 0).astype(y.dtype) if self.is_relu else 1 - y * y
        for slope, dy, keep in self.steps_back(slopes, g):
            kept, dh = _split(dh, keep)
            dh += dy
            slope *= dh
            np.matmul(slope, self.wh, dh)
            if keep is not None:
                dh += kept
        return slopes, slopes, [dh], []


class ReluRun(TanhRun):
    """h' = relu(W x + b + U h + c)."""

    is_relu = True


class LstmRun(Run):
    """c' = f * c + i * g;  h' = o * tanh(c'), projected if there is a fifth weight.

    The gates i, f, g, o of the cell are o, i, f, g here: three of a sigmoid, and three that c' has.
    """

    count_of_gates = 4
    count_of_states = 2

    @classmethod
    def ordered(cls, w: Array) -> Array:
        """From i, f, g, o to -o, -i, -f, g."""
        return _negated(np.roll(w, len(w) // 4, 0), 3 * len(w) // 4)

    @classmethod
    def restored(cls, w: Array) -> Array:
        """From -o, -i, -f, g to i, f, g, o."""
        return np.roll(_negated(w, 3 * len(w) // 4), -len(w) // 4, 0)

    def forward(self, states: Sequence[Array], rest: Sequence[Array]) -> tuple[Array, list[Array]]:
        """Outputs and states."""
        h, c = map(self.room, states)
        y, u, (self.project, *_) = self.outputs_beside(h), self.wh.T, (*rest, None)
        self.gates = gates = self.from_inputs(self.ordered(self.bias_x + self.bias_h))
        self.size = size = c.shape[-1]
        self.tanh = np.empty_like(c[1:])
        of_h, part = np.empty_like(gates[0]), np.empty_like(c[0])
        sigmoids, parts = gates[..., : 3 * size], _parts(gates, 4)
        steps = self.steps(gates, sigmoids, *parts, self.tanh, h, y, h[1:], c, c[1:])
        for a, s, o, i, f, g, tanh, h0, out, h1, c0, c1, keep in steps:
            np.matmul(h0, u, of_h)
            a += of_h
            np.exp(s, s)
            s += 1
            np.reciprocal(s, s)
            np.tanh(g, g)
            np.multiply(f, c0, c1)
            np.multiply(i, g, part)
            c1 += part
            np.tanh(c1, tanh)
            if self.project is None:
                np.multiply(o, tanh, out)
            else:
                np.multiply(o, tanh, part)
                np.matmul(part, self.project, out)
            if keep is not None:
                h1[...] = np.where(keep, h0, out)
                np.copyto(c1, c0, where=keep)
        return y, [h, c]

    def backward(self, g: Array, last: list[Array]) -> tuple[Array, Array, list[Array], list[Any]]:
        """Gradients of the gates; of o by that of h, of the others by that of c."""
        (dh, dc), size, tanh = last, self.size, self.tanh
        o, i, f, new = _parts(self.gates, 4)
        of_c = o * (1 - tanh * tanh)
        made = np.empty_like(self.gates)
        for part, factor in zip(_parts(made, 4), (tanh, new, self.held[1][:-1], i)):
            part[...] = factor
        made[..., : 3 * size] *= self.gates[..., : 3 * size] * (self.gates[..., : 3 * size] - 1)
        made[..., 3 * size :] *= 1 - new * new
        by_h = made[..., :size]
        by_c = made[..., size:].reshape(*made.shape[:2], 3, size)
        raw = np.empty_like(g) if self.project is not None else g
        for m, mh, mc, d, gate, dy, out, keep in self.steps_back(made, by_h, by_c, of_c, f, g, raw):
            kept_h, dh = _split(dh, keep)
            kept_c, dc = _split(dc, keep)
            dh += dy
            own = dh
            if self.project is not None:
                out[...] = dh
                own = dh @ self.project.T
            mh *= own
            dc += own * d
            mc *= dc[:, None]
            dc *= gate
            np.matmul(m, self.wh, dh)
            if keep is not None:
                dc += kept_c
                dh += kept_h
        rest = [] if self.project is None else [_flat(o * tanh).T @ _flat(raw)]
        return made, made, [dh, dc], rest


class GruRun(Run):
    """h' = z * h + (1 - z) * tanh(W x + r * (U h)), computed as n + z * (h - n)."""

    count_of_gates = 3

    @classmethod
    def ordered(cls, w: Array) -> Array:
        """From r, z, n to -r, -z, n."""
        return _negated(w.copy(), 2 * len(w) // 3)

    @classmethod
    def restored(cls, w: Array) -> Array:
        """The same backwards."""
        return _negated(w, 2 * len(w) // 3)

    def forward(self, states: Sequence[Array], rest: Sequence[Array]) -> tuple[Array, list[Array]]:
        """Outputs and states."""
        h = self.room(states[0])
        y, u, size = self.outputs_beside(h), self.wh.T, h.shape[-1]
        bias = self.ordered(self.bias_h)
        of_new, bias[2 * size :] = bias[2 * size :].copy(), 0
        self.gates = gates = self.from_inputs(self.ordered(self.bias_x) + bias)
        self.of_h = np.empty_like(gates)
        part = np.empty_like(h[0])
        steps = self.steps(
            gates[..., : 2 * size], *_parts(gates, 3), self.of_h,
            self.of_h[..., : 2 * size], self.of_h[..., 2 * size :], h, y, h[1:],
        )  # fmt: skip
        for s, r, z, new, product, to_s, to_new, h0, out, h1, keep in steps:
            np.matmul(h0, u, product)
            to_new += of_new
            s += to_s
            np.exp(s, s)
            s += 1
            np.reciprocal(s, s)
            np.multiply(r, to_new, part)
            new += part
            np.tanh(new, new)
            np.subtract(h0, new, part)
            part *= z
            np.add(new, part, out)
            if keep is not None:
                h1[...] = np.where(keep, h0, out)
        return y, [h]

    def backward(self, g: Array, last: list[Array]) -> tuple[Array, Array, list[Array], list[Any]]:
        """Gradients of r, z, and n, and of what h gives to n behind them."""
        r, z, new = _parts(self.gates, 3)
        made = np.empty((*r.shape[:2], 4, r.shape[-1]), r.dtype)
        by_new = (1 - z) * (1 - new * new)
        to_new = self.of_h[..., 2 * r.shape[-1] :]
        made[:, :, 0] = by_new * r
        made[:, :, 1] = by_new * to_new * (r * (r - 1))
        made[:, :, 2] = (self.held[0][:-1] - new) * (z * (z - 1))
        made[:, :, 3] = by_new
        flat, size, (dh,) = made.reshape(*r.shape[:2], -1), r.shape[-1], last
        weights = np.roll(self.wh, size, 0)  # n, r, z
        for m, from_h, gate, dy, keep in self.steps_back(made, flat[..., : 3 * size], z, g):
            kept, dh = _split(dh, keep)
            dh += dy
            m *= dh[:, None]
            dh *= gate
            dh += from_h @ weights
            if keep is not None:
                dh += kept
        return flat[..., size:], np.roll(flat[..., : 3 * size], -size, -1), [dh], []


def _flat(x: Array) -> Array:
    """All steps of all samples as rows."""
    return x.reshape(-1, x.shape[-1])


def _parts(gates: Array, count: int) -> list[Array]:
    size = gates.shape[-1] // count
    return [gates[..., size * place : size * (place + 1)] for place in range(count)]


def _negated(w: Array, count: int) -> Array:
    """The array itself, its first rows negated in place."""
    np.negative(w[:count], w[:count])
    return w


def _split(g: Array, keep: Any) -> tuple[Any, Array]:
    """The gradient that passes a step, and the one that goes through it."""
    return (None, g) if keep is None else (np.where(keep, g, 0), np.where(keep, 0, g))


class SequenceNode(Node):
    """A run on the tape. Gradients that are to be differentiated once more go step by step."""

    __slots__ = ("_is_reverse", "_run", "_step")

    def __init__(self, run: Run, step: Step, inputs: Sequence[EagerTensor], is_reverse: bool):
        """Keep the run."""
        super().__init__(_RECORD, inputs, [], {})
        self._run: Run | None = run
        self._step, self._is_reverse = step, is_reverse
        self.outputs = [_NOTHING] * (1 + len(run.last))

    def gradients(self, output_gradients: list[Any]) -> list[Any]:
        """Gradients of x, the states and the weights."""
        run, edges = self._run, self.edges
        assert run is not None and edges is not None
        if is_grad_enabled():
            count = len(run.last)
            keep = run.keep
            values = [edge.value() for edge in self.edges or ()]
            x, *others = copies = [F.assign(value) for value in values]
            states, weights = others[:count], others[count:]
            mask = None
            if keep is not None:
                mask = EagerTensor(~(keep[::-1] if self._is_reverse else keep))
            outputs, last = scan(
                lambda x, states: self._step(x, states, *weights),
                x,
                states[0] if count == 1 else tuple(states),
                self._is_reverse,
                mask,
            )
            results = [outputs, *([last] if count == 1 else last)]
            pairs = zip(results, output_gradients, strict=True)
            seeds = [(result, g) for result, g in pairs if g is not None]
            _, finished = gathered(seeds, True, True, stops=values)
            return [finished.get((one.node, one.index)) if one.node else None for one in copies]
        like = [run.outputs, *run.last]
        made = [
            np.zeros_like(array) if g is None else np.array(g.array, array.dtype)
            for g, array in zip(output_gradients, like, strict=True)
        ]
        of_x = edges[0].needs_gradient
        found = run.gradients(made[0][::-1] if self._is_reverse else made[0], made[1:], of_x)
        if of_x and self._is_reverse:
            found[0] = found[0][::-1]
        return [
            EagerTensor(np.ascontiguousarray(array)) if edge.needs_gradient else None
            for array, edge in zip(found, edges, strict=True)
        ]

    def free(self) -> None:
        """Drop what the Node holds."""
        super().free()
        self._run = None


class _Record:
    """What the tape calls such a Node."""

    name = "sequence"
    gradient = None


_RECORD = _Record()


def along(
    kind: type[Run], step: Step, x: Any, states: Any, weights: Any, is_reverse: bool, mask: Any
) -> tuple[Any, Any] | None:
    """Outputs and last states as `scan` gives them; None if the tensors are not what it takes."""
    leaves = [*states] if isinstance(states, (tuple, list)) else [states]
    tensors = [x, *leaves, *weights]
    if not _fit(kind, tensors, len(leaves), mask):
        return None
    keep = None if mask is None else ~mask.array
    arrays = [tensor.array for tensor in tensors]
    if is_reverse:
        arrays[0], keep = arrays[0][::-1], None if keep is None else keep[::-1]
    run = kind(arrays[0], arrays[1 : 1 + len(leaves)], arrays[1 + len(leaves) :], keep)
    outputs = np.ascontiguousarray(run.outputs[::-1]) if is_reverse else run.outputs
    made = [EagerTensor(array) for array in (outputs, *run.last)]
    if is_grad_enabled() and not all([tensor.stopped for tensor in tensors]):
        node = SequenceNode(run, step, tensors, is_reverse)
        for index, tensor in enumerate(made):
            tensor.node, tensor.index, tensor.stopped = node, index, False
    return made[0], made[1] if len(leaves) == 1 else tuple(made[1:])


def _fit(kind: type[Run], tensors: Sequence[Any], count: int, mask: Any) -> bool:
    """Whether all are tensors of one dtype and of the shapes of the cell, and none is empty."""
    if count != kind.count_of_states or not all(isinstance(one, EagerTensor) for one in tensors):
        return False
    x, *others = (tensor.array for tensor in tensors)
    if x.ndim != 3 or x.dtype not in _DTYPES or not x.size:
        return False
    length, samples, size = x.shape
    states, (wx, wh, *biases), project = (
        others[:count],
        others[count : count + 4],
        others[count + 4 :],
    )
    hidden = len(wx) // kind.count_of_gates
    outside = project[0].shape[1] if project else hidden
    widths = (outside, hidden)[:count]
    return (
        all(one.dtype == x.dtype for one in others)
        and [one.shape for one in states] == [(samples, width) for width in widths]
        and (wx.shape, wh.shape)
        == ((kind.count_of_gates * hidden, size), (kind.count_of_gates * hidden, outside))
        and all(one.shape == (kind.count_of_gates * hidden,) for one in biases)
        and (not project or project[0].shape == (hidden, outside))
        and (mask is None or mask.array.shape == (length, samples, 1))
    )
