"""A Program on the gradient tape: it runs compiled, and leaves one Node for all its operators.

The first half of the Program gives what the second needs to compute gradients; the Node keeps that.
What cannot be taken apart so runs operator by operator (`ir/interpret.py`): see `why_not`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from dy2st_runtime import engine as engines
from dy2st_runtime.autodiff.flows import UnknownFlow
from dy2st_runtime.autodiff.halves import Backward, Given, Halves, joint
from dy2st_runtime.autograd import Array, Node
from dy2st_runtime.errors import ConversionError, LimitExceeded, ShapeError
from dy2st_runtime.ir.definition import Effect, lookup
from dy2st_runtime.ir.functions import inlined
from dy2st_runtime.ir.grad_mode import is_grad_enabled
from dy2st_runtime.ir.interpret import interpret
from dy2st_runtime.ir.program import Program
from dy2st_runtime.ir.tracing.gradient_flow import SETTER, begins_gradients
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType
from dy2st_runtime.ops.generator import get_rng_state, set_rng_state
from dy2st_runtime.tensor import EagerTensor, wrapped


def why_not(program: Program) -> str | None:
    """Why a Program is run operator by operator where gradients are wanted; None if it is not."""
    for operator in program.walk():
        if operator.name == SETTER and not begins_gradients(operator):
            return "it sets stop_gradient of its arguments, or in a branch or loop"
        if lookup(operator.name).hidden:
            return f"the gradient of `{operator.name}` runs code of the user's"
    return None


class TrainedProgram:
    """A Program whose calls take part in training."""

    def __init__(self, program: Program, engine: str | None = None) -> None:
        """Look whether it can be taken apart; `engine` names what runs the parts."""
        self.program, self.engine = program, engine
        self.why_not = why_not(program)
        self._is_random = any(lookup(one.name).effect is Effect.RANDOM for one in program.walk())
        self._parts: dict[tuple[int, ...], Parts | None] = {}

    def parts(self, held: Sequence[EagerTensor]) -> Parts | None:
        """The halves for a call with these tensors; None where it is run operator by operator."""
        if self.why_not is not None:
            return None
        wanted = tuple([place for place, tensor in enumerate(held) if not tensor.stopped])
        if wanted not in self._parts:
            kinds = [self.program.block.parameters[place].type for place in wanted]
            places = [
                place
                for place, type in zip(wanted, kinds, strict=True)
                if isinstance(type, TensorType) and type.is_differentiable
            ]
            try:
                # Calls are differentiated as what they call.
                whole = inlined(self.program)
                self._parts[wanted] = Parts(whole, places, self._is_random, self.engine)
            except (ConversionError, LimitExceeded, ShapeError, UnknownFlow) as error:
                self.why_not = self.why_not or str(error).splitlines()[0]
                self._parts[wanted] = None
        return self._parts[wanted]

    def executables(self) -> list[engines.Executable]:
        """What runs the halves that were needed so far."""
        found = []
        for parts in filter(None, self._parts.values()):
            seconds = [whole[1] for whole in parts._second.values() if whole is not None]
            found += [parts._executable, *seconds]
        return found


class Parts:
    """The halves of a Program for gradients with respect to some of its parameters, compiled."""

    def __init__(
        self, program: Program, wanted: Sequence[int], is_random: bool, engine: str | None = None
    ) -> None:
        """Take it apart, for the engine of a name."""
        self.program, self.wanted, self.is_random = program, wanted, is_random
        self.engine = engine
        self.halves = Halves(program, wanted)
        self._executable = engines.compile(self.halves.forward, engine)
        self._second: dict[Given, tuple[Backward, engines.Executable] | None] = {}
        self._joint: dict[Given, Backward] = {}
        self._dtypes: dict[Given, list[Any]] = {}
        self._count = len(program.outputs)
        self._bare = len(self.halves.residuals) + sum(f is not None for f in self.halves.flags)

    def run(
        self,
        inputs: Sequence[EagerTensor],
        state: Mapping[str, EagerTensor],
        as_is: Collection[int] = (),
        as_one: Collection[int] = (),
    ) -> tuple[list[Any], dict[str, EagerTensor]]:
        """Outputs, and new values of buffers by name, connected to what they are computed of."""
        held = [*inputs, *state.values()]
        random = get_rng_state() if self.is_random else None
        count, bare, executable = self._count, self._bare, self._executable
        arrays = [tensor.array for tensor in inputs]
        if engines.has_resident_state(executable) and not (as_is or as_one):
            values = executable.resident_values([one.as_resident() for one in state.values()])
        else:
            values = [tensor.array for tensor in state.values()]
        results = executable.run(arrays, values, as_is, as_one, bare)
        arrays += values
        extra = results[count : count + bare]
        del results[count : count + bare]
        made = [wrapped(result) for result in results]
        if self.halves.targets:
            kept = len(self.halves.residuals)
            node = ProgramNode(self, held, arrays, extra[:kept], random)
            flags = iter(extra[kept:])
            pairs = zip(self.halves.targets, self.halves.flags, strict=True)
            for place, flag in pairs:
                node.give(made[place], True if flag is None else next(flags))
        if len(made) == count:
            return made, {}
        return made[:count], dict(zip(self.program.updates, made[count:], strict=True))

    def fit(self, given: Given, starts: Sequence[Any]) -> bool:
        """Whether the gradients to begin with have the types that the Program takes."""
        wanted = self._dtypes.get(given)
        if wanted is None:
            yields = self.program.block.yields
            targets = [
                t for t, is_given in zip(self.halves.targets, given, strict=True) if is_given
            ]
            types = [yields[target].type for target in targets]
            wanted = [_dtype(one) for one in types]
            self._dtypes[given] = wanted
        return all(map(_has_dtype, starts, wanted))

    def second(self, given: Given) -> tuple[Backward, engines.Executable] | None:
        """The backward half for gradients of some targets, None where more is needed."""
        if given not in self._second:
            made = self.halves.backward(given)
            whole = None if made is None else (made, engines.compile(made.program, self.engine))
            self._second[given] = whole
        return self._second[given]

    def joint(self, given: Given) -> Backward:
        """The gradients as a Program of inputs and state, to be differentiated once more."""
        if given not in self._joint:
            self._joint[given] = joint(self.program, self.wanted, given, self.halves.targets)
        return self._joint[given]


class ProgramNode(Node):
    """A run of a Program: what its backward half will take.

    kept is what the forward half gave for it; arrays are those of all that the run has read, of
    the state perhaps as the engine has them.
    """

    __slots__ = ("_held", "_kept", "_parts", "_places", "_random")

    def __init__(
        self,
        parts: Parts,
        held: Sequence[EagerTensor],
        arrays: list[Array],
        kept: list[Any],
        random: Any,
    ) -> None:
        """Keep it, with snapshots of the tensors that want gradients."""
        super().__init__(_PROGRAM, [held[place] for place in parts.wanted], [], {})
        self._parts, self._kept, self._random = parts, kept, random
        self._held = arrays
        self._places: list[Any] = []  # of each target: among the outputs, in lists where it is one

    def give(self, result: Any, is_open: Any) -> None:
        """Let gradients of a result come back to it, if it is open; of a list, of its elements."""
        self._places.append(self._given(result, is_open))

    def _given(self, result: Any, is_open: Any) -> Any:
        if isinstance(result, list):
            flags = is_open if isinstance(is_open, list) else repeat(is_open, len(result))
            return [self._given(*pair) for pair in zip(result, flags, strict=True)]
        place = len(self.outputs)
        self.outputs.append(_NOTHING)
        if bool(is_open):
            result.node, result.index, result.stopped = self, place, False
        return place

    @property
    def kept_bytes(self) -> int:
        """The bytes that are kept for the gradients, beside what the run has read."""
        read = {id(array) for array in self._held}
        return sum(_bytes(value, read) for value in self._kept)

    def gradients(self, output_gradients: list[Any]) -> list[Any]:
        """Gradients of the tensors that want them, None where there is none."""
        found = [_gathered(place, output_gradients) for place in self._places]
        given = tuple(gradient is not None for gradient in found)
        starts = [gradient for gradient in found if gradient is not None]
        if is_grad_enabled() or not self._parts.fit(given, starts):
            return self._interpreted(given, starts)
        second = self._parts.second(given)
        if second is None:
            return self._interpreted(given, starts)
        backward, executable = second
        values = [_array(start) for start in starts]
        for variable in backward.inputs:
            place = self._parts.halves.place_of[variable]
            values.append(self._held[place] if place >= 0 else self._kept[~place])
        results = executable.run(values, [])
        return _found(backward, [EagerTensor(result) for result in results])

    def _interpreted(self, given: Given, starts: Sequence[Any]) -> list[Any]:
        """The gradients by way of the tape: as operators that leave Nodes, or of other types."""
        edges, parts = self.edges, self._parts
        assert edges is not None
        backward = parts.joint(given)
        values: list[Any] = [EagerTensor(np.asarray(array)) for array in self._held]
        for edge, place in zip(edges, parts.wanted, strict=True):
            values[place] = edge.value()
        count = len(parts.program.inputs)
        state = dict(zip(parts.program.state, values[count:], strict=True))
        before = get_rng_state() if parts.is_random else None
        try:
            if self._random is not None:
                set_rng_state(self._random)
            results, _ = interpret(backward.program, [*values[:count], *starts], state)
        finally:
            if before is not None:
                set_rng_state(before)
        return _found(backward, results)

    def free(self) -> None:
        """Drop what the Node holds."""
        super().free()
        self._kept, self._held = [], []


class _Record:
    """What the tape calls a Node of a Program."""

    name = "program"
    gradient = None


_PROGRAM = _Record()
_NOTHING: Array = np.zeros(0)


def _found(backward: Backward, results: Sequence[Any]) -> list[Any]:
    """The gradients that are there."""
    made: list[Any] = []
    for entry in backward.found:
        if entry is None or (entry[1] is not None and not bool(results[entry[1]].array)):
            made.append(None)
        else:
            made.append(results[entry[0]])
    return made


def _gathered(place: Any, gradients: Sequence[Any]) -> Any:
    """The gradient of a result; that of a list as `type_of_gradient` has it."""
    if not isinstance(place, list):
        return gradients[place]
    entries = [_gathered(one, gradients) for one in place]
    if all(entry is None for entry in entries):
        return None
    return [[] if entry is None else [entry] for entry in entries]


def _array(start: Any) -> Any:
    return [_array(entry) for entry in start] if isinstance(start, list) else start.array


def _dtype(type: ValueType) -> Any:
    """The dtype of a tensor, or of the elements of a list; what no array has of an empty one."""
    while isinstance(type, ArrayType):
        if type.element is None:
            return _NOTHING
        type = type.element
    return type.dtype


def _has_dtype(start: Any, dtype: Any) -> bool:
    if isinstance(start, list):
        return all(_has_dtype(entry, dtype) for entry in start)
    return bool(start.array.dtype == dtype)


def _bytes(value: Any, known: set[int]) -> int:
    if isinstance(value, list):
        return sum(_bytes(entry, known) for entry in value)
    if id(value) in known:
        return 0
    known.add(id(value))
    return int(value.nbytes)


__all__ = ["Parts", "ProgramNode", "TrainedProgram", "why_not"]
