"""Sequences that are made step by step, by whatever decides on each step: beam search is one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F, Tensor, current_tracer
from dy2st_runtime.ir.structure import flatten, rebuild
from dy2st_runtime.nn.functions.trees import gather_tree
from dy2st_runtime.ops.control_flow import while_loop

_UNLIKELY = -1e9


class Decoder:
    """What `dynamic_decode` asks; a base for decoders of one's own."""

    def initialize(self, inits: Any) -> tuple[Any, Any, Any]:
        """The first inputs and states, and what is finished from the start."""
        raise NotImplementedError

    def step(self, time: Any, inputs: Any, states: Any, **kwargs: Any) -> tuple[Any, Any, Any, Any]:
        """Outputs, the next states, the next inputs, and what is finished now."""
        raise NotImplementedError

    def finalize(self, outputs: Any, final_states: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        """Outputs of all steps, along the first axis, and states: what becomes of them at last."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """Whether `step` remembers what is finished; else that is done for it."""
        return False


class BeamOutput(NamedTuple):
    """What a step of a beam search gives: (n, beams) each."""

    scores: Any
    predicted_ids: Any
    parent_ids: Any


class BeamState(NamedTuple):
    """The state of a beam search: of the cell (n, beams, ...), the others (n, beams)."""

    cell_states: Any
    log_probs: Any
    finished: Any
    lengths: Any


class BeamSearchDecoder(Decoder):
    """Keep the `beam_size` likeliest sequences of what a recurrent cell predicts.

    `embedding_fn` makes inputs of chosen numbers, `output_fn` scores of what the cell gives. The
    result of `dynamic_decode` are the sequences, (n, steps, beams), the likeliest first.

    >>> nn = dy2st.nn
    >>> cell, embed, score = nn.GRUCell(4, 4), nn.Embedding(6, 4), nn.Linear(4, 6)
    >>> decoder = nn.BeamSearchDecoder(cell, 0, 5, 2, embed, score)
    >>> sequences, _ = nn.dynamic_decode(decoder, dy2st.zeros([3, 4]), max_step_num=4)
    >>> sequences.shape[0], sequences.shape[2]
    (3, 2)
    """

    OutputWrapper, StateWrapper = BeamOutput, BeamState

    def __init__(
        self,
        cell: Any,
        start_token: int,
        end_token: int,
        beam_size: int,
        embedding_fn: Callable[..., Any] | None = None,
        output_fn: Callable[..., Any] | None = None,
    ):
        """Take the cell and the numbers that stand for the start and the end of a sequence."""
        if beam_size < 1:
            raise ArgumentError(f"BeamSearchDecoder: at least one beam, not {beam_size}")
        self.cell, self.embedding_fn, self.output_fn = cell, embedding_fn, output_fn
        self.start_token, self.end_token, self.beam_size = start_token, end_token, beam_size

    @staticmethod
    def tile_beam_merge_with_batch(x: Any, beam_size: int) -> Any:
        """(n, ...) -> (n * beams, ...): every sample so often in a row.

        >>> BeamSearchDecoder.tile_beam_merge_with_batch(F.arange(2), 2).tolist()
        [0, 0, 1, 1]
        """
        return F.repeat_interleave(x, beam_size, 0)

    def initialize(self, initial_cell_states: Any) -> tuple[Any, BeamState, Any]:
        """All beams at the start, only the first one likely, so that they become different."""
        # (n, ...) -> (n, beams, ...)
        states = _each(
            initial_cell_states,
            lambda x: F.broadcast_to(
                F.unsqueeze(x, [1]), [x.shape[0], self.beam_size, *x.shape[1:]]
            ),
        )
        count = flatten(states, _is_tensor)[0][0].shape[0]
        shape = [count, self.beam_size]
        tokens = F.full(shape, self.start_token, "int64")
        first = F.equal(F.arange(self.beam_size), 0)
        likely = F.where(first, 0.0, F.full(shape, _UNLIKELY, "float32"))
        finished = F.zeros(shape, "bool")
        state = BeamState(states, likely, finished, F.zeros_like(tokens))
        return self._embedded(tokens), state, finished

    def step(
        self, time: Any, inputs: Any, states: BeamState, **kwargs: Any
    ) -> tuple[BeamOutput, BeamState, Any, Any]:
        """One more element for every beam."""
        # The cell takes (n * beams, ...) for (n, beams, ...).
        merged = _each(
            (inputs, states.cell_states),
            lambda x: F.reshape(x, [x.shape[0] * self.beam_size, *x.shape[2:]]),
        )
        outputs, cell_states = self.cell(*merged, **kwargs)
        scores, cell_states = _each(
            (outputs, cell_states),
            lambda x: F.reshape(x, [x.shape[0] // self.beam_size, self.beam_size, *x.shape[1:]]),
        )
        if self.output_fn is not None:
            scores = self.output_fn(scores)
        # The likeliest of all beams with one more element.
        classes = scores.shape[2]
        is_end = F.equal(F.arange(classes), self.end_token)
        ended = F.where(is_end, 0.0, F.full([classes], _UNLIKELY, scores.dtype))
        log_p = F.where(F.unsqueeze(states.finished, [2]), ended, F.log_softmax(scores, -1))
        total = F.flatten(log_p + F.unsqueeze(states.log_probs, [2]), 1)
        best, places = F.topk(total, self.beam_size)
        beams, tokens = F.floor_divide(places, classes), F.remainder(places, classes)

        def of_beams(x: Any) -> Any:
            rows = F.broadcast_to(F.unsqueeze(F.arange(x.shape[0]), [1]), beams.shape)
            return F.gather_nd(x, F.stack([rows, beams], axis=2))

        cell_states, finished, lengths = _each(
            (cell_states, states.finished, states.lengths), of_beams
        )
        lengths = lengths + F.cast(F.logical_not(finished), lengths.dtype)
        finished = F.logical_or(finished, F.equal(tokens, self.end_token))
        state = BeamState(cell_states, best, finished, lengths)
        output = BeamOutput(best, tokens, beams)
        return output, state, self._embedded(output.predicted_ids), state.finished

    def finalize(self, outputs: Any, final_states: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        """The sequences from their ends back to the start: (steps, n, beams)."""
        return gather_tree(outputs.predicted_ids, outputs.parent_ids), final_states

    @property
    def tracks_own_finished(self) -> bool:
        """Beams change places, and what is finished with them."""
        return True

    def _embedded(self, tokens: Any) -> Any:
        return tokens if self.embedding_fn is None else self.embedding_fn(tokens)


def dynamic_decode(
    decoder: Any,
    inits: Any = None,
    max_step_num: int | None = None,
    output_time_major: bool = False,
    impute_finished: bool = False,
    is_test: bool = False,
    return_length: bool = False,
    **kwargs: Any,
) -> Any:
    """Outputs of all steps and the last states, and the lengths with `return_length`.

    Steps are made until all is finished, and at most `max_step_num` + 1. The outputs are
    (n, steps, ...), or (steps, n, ...) with `output_time_major`. `impute_finished` keeps the states
    of what is finished as they are.

    >>> nn = dy2st.nn
    >>> cell, embed, score = nn.GRUCell(4, 4), nn.Embedding(6, 4), nn.Linear(4, 6)
    >>> decoder = nn.BeamSearchDecoder(cell, 0, 5, 2, embed, score)
    >>> _, _, lengths = nn.dynamic_decode(decoder, dy2st.zeros([3, 4]), 4, return_length=True)
    >>> lengths.shape
    [3, 2]
    """
    inputs, states, finished = decoder.initialize(inits)

    def iteration(time: Any, state: _Running) -> tuple[Any, _Running]:
        output, states, inputs, done = decoder.step(time, state.inputs, state.states, **kwargs)
        lengths = getattr(states, "lengths", state.lengths)
        if not decoder.tracks_own_finished:
            done = F.logical_or(done, state.finished)
            lengths = state.lengths + F.cast(F.logical_not(done), "int64")
            if impute_finished:
                # The old states of what is finished, the new ones of all else.
                before, _ = flatten(state.states, _is_tensor)
                after, structure = flatten(states, _is_tensor)
                ranks = [[1] * (y.ndim - done.ndim) for y in after]
                chosen = [
                    F.where(F.reshape(done, [*done.shape, *ones]), x, y)
                    for x, y, ones in zip(before, after, ranks, strict=True)
                ]
                states = rebuild(structure, chosen)
        return output, _Running(inputs, states, done, lengths)

    start = _Running(inputs, states, finished, F.cast(F.zeros_like(finished), "int64"))
    loop = _until_finished if current_tracer() is None else _staged
    outputs, last = loop(iteration, start, max_step_num)
    states = last.states
    with suppress(NotImplementedError):  # a decoder may leave it out
        outputs, states = decoder.finalize(outputs, states, last.lengths)
    if not output_time_major:
        outputs = _each(outputs, lambda x: F.swapaxes(x, 0, 1))
    return (outputs, states, last.lengths) if return_length else (outputs, states)


class _Running(NamedTuple):
    """What goes from step to step."""

    inputs: Any
    states: Any
    finished: Any
    lengths: Any


_Iteration = Callable[[Any, _Running], tuple[Any, _Running]]


def _until_finished(
    iteration: _Iteration, state: _Running, most: int | None
) -> tuple[Any, _Running]:
    outputs: list[list[Any]] = []
    structure: Any = None
    while not bool(F.all(state.finished)) and (most is None or len(outputs) <= most):
        output, state = iteration(F.full([1], len(outputs), "int64"), state)
        leaves, structure = flatten(output, _is_tensor)
        outputs.append(leaves)
    if not outputs:
        raise ArgumentError("dynamic_decode: all is finished before the first step")
    stacked = [F.stack(list(column), axis=0) for column in zip(*outputs, strict=True)]
    return rebuild(structure, stacked), state


def _staged(iteration: _Iteration, state: _Running, most: int | None) -> tuple[Any, _Running]:
    """The same as a loop of a Program, behind a first step, which shows the structure of states."""
    output, state = iteration(F.full([1], 0, "int64"), state)
    first, structure = flatten(output, _is_tensor)
    leaves, around = flatten(state, _is_tensor)
    count = len(leaves)

    def running(values: Any) -> _Running:
        return rebuild(around, values[:count])  # type: ignore[no-any-return]

    def more(time: Any, *values: Any) -> list[Any]:
        going = F.logical_not(F.all(running(values).finished))
        return [going if most is None else F.logical_and(going, F.less_equal(time, most))]

    def body(time: Any, *values: Any) -> list[Any]:
        output, after = iteration(F.reshape(time, [1]), running(values))
        parts, _ = flatten(output, _is_tensor)
        lists = [
            F.array_append(array, part) for array, part in zip(values[count:], parts, strict=True)
        ]
        return [time + 1, *flatten(after, _is_tensor)[0], *lists]

    initial = [F.full([], 1, "int64"), *leaves, *(F.array_of([leaf]) for leaf in first)]
    _, *last = while_loop(more, body, initial, names=["time"])
    stacked = [F.array_stack(array) for array in last[count:]]
    return rebuild(structure, stacked), running(last)


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    """Nested tensors, each of them changed."""
    leaves, structure = flatten(value, _is_tensor)
    return rebuild(structure, [change(leaf) for leaf in leaves])


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor)
