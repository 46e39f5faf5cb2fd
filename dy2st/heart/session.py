"""One trace from its beginning to its end: a function and placeholders in, a Program out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dy2st.heart.protocol.machine import Machine
from dy2st.heart.replay.result import Finished, finish
from dy2st.heart.stage.outcome import AlwaysRaises, note_raise
from dy2st_runtime.ir import Program, Tensor, Tracer, Variable
from dy2st_runtime.ir.grad_mode import enable_grad
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.tensor import EagerTensor, Parameter


@dataclass(eq=False)
class Traced:
    """A Program, the tensors behind its state, and what the trace knows of the outside."""

    program: Program
    state: dict[str, EagerTensor]
    machine: Machine
    finished: Finished = field(default_factory=Finished)


def trace(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    program: Program,
    names: Mapping[int, str],
    specs: Sequence[Any],
) -> Traced:
    """Run a function once on arguments that hold placeholders of `program`."""
    state: dict[str, EagerTensor] = {}
    tracer = Tracer(program, _capturing(program, state, names))
    tracer.flags.begin(program.inputs, specs, ())
    with tracer.tracing(), enable_grad():
        machine = Machine(tracer)
        machine.mark_outside(function)
        for value in (*args, *kwargs.values()):
            machine.mark_outside(value)
        try:
            result = machine.call(function, *args, **kwargs)
        except AlwaysRaises:
            result = None
        except Exception as error:
            if not program.block.operators:
                raise
            note_raise(machine, error)
            result = None
        finished = finish(machine, result, state)
    program.block.parameters = [*program.inputs, *program.state.values()]
    return Traced(program, state, machine, finished)


def _capturing(
    program: Program, state: dict[str, EagerTensor], names: Mapping[int, str]
) -> Callable[[Tracer, Tensor], Variable]:
    """What makes a tensor from outside a parameter or buffer; `state` gets it by its key."""

    def capture(tracer: Tracer, tensor: Tensor) -> Variable:
        assert isinstance(tensor, EagerTensor)
        known = program.parameters if isinstance(tensor, Parameter) else program.buffers
        key = names.get(id(tensor)) or f"tensor_{len(state)}"
        known[key] = program.block.add_parameter(TensorType(tensor.dtype, tensor.array.shape), key)
        program.trainable[key] = not tensor.stop_gradient
        state[key] = tensor
        return known[key]

    return capture


__all__ = ["Traced", "trace"]
