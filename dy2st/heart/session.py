"""One trace from its beginning to its end: a function and placeholders in, a Program out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dy2st.heart.protocol.machine import Machine
from dy2st.heart.replay.effects import effects_of
from dy2st.heart.replay.places import Source, Varied
from dy2st.heart.replay.result import Finished, Taker, structure_of
from dy2st.heart.stage.outcome import AlwaysRaises, Refused, note_raise
from dy2st_runtime.dims import Condition, require
from dy2st_runtime.ir import Program, Tensor, Tracer, Variable
from dy2st_runtime.ir.grad_mode import enable_grad
from dy2st_runtime.ir.structure import is_container
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.tensor import EagerTensor, Parameter


@dataclass(eq=False)
class Traced:
    """A Program, the tensors behind its state, and what the trace knows of the outside.

    arguments  the containers among the arguments, by id: each call has its own.
    sources    where the numbers are found that are inputs, by the name that they have in the state.
    """

    program: Program
    state: dict[str, EagerTensor]
    machine: Machine
    arguments: dict[int, Any]
    finished: Finished = field(default_factory=Finished)
    sources: dict[str, tuple[Source, Any]] = field(default_factory=dict)


def trace(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    program: Program,
    names: Mapping[int, str],
    specs: Sequence[Any],
    declared: Sequence[tuple[Condition, str]] = (),
    gradients: tuple[bool, ...] | None = None,
    varied: Varied | None = None,
) -> Traced:
    """Run a function once on arguments that hold placeholders of `program`.

    names     of the tensors of the user's that have one, by id.
    varied    the places outside whose numbers are inputs.
    declared  what is known of the sizes of the arguments, with the reason.
    """
    state: dict[str, EagerTensor] = {}
    tracer = Tracer(program, _capturing(program, state, names))
    tracer.flags.begin(program.inputs, specs, gradients)
    arguments: dict[int, Any] = {}
    _note_containers((args, dict(kwargs)), arguments)
    with tracer.tracing(), enable_grad():
        for condition, reason in declared:
            require(condition, reason)
        tracer.locate_constraints(None)  # the reason names the place
        machine = Machine(tracer)
        for value in (function, *args, *kwargs.values(), *arguments.values()):
            machine.mark_outside(value)
        sources = {} if varied is None else varied.begin(machine)
        result = _run(machine, function, args, kwargs)
        found = Traced(program, state, machine, arguments, sources=sources)
        _finish(found, result)
    program.block.parameters = [*program.inputs, *program.state.values()]
    return found


def _note_containers(value: Any, found: dict[int, Any]) -> None:
    if is_container(value):
        found[id(value)] = value
        for entry in value.values() if isinstance(value, dict) else value:
            _note_containers(entry, found)


def _run(
    machine: Machine, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """What the function returns; what it raises after checks of the Program, that raises too."""
    try:
        return machine.call(function, *args, **kwargs)
    except AlwaysRaises:
        return None
    except Refused as refused:
        raise refused.error from None
    except Exception as error:  # the user's code raises: after checks of the Program, so does it
        if not machine.tracer.program.block.operators:
            raise
        note_raise(machine, error)
        return None


def _finish(traced: Traced, result: Any) -> None:
    """Let the Program yield what the result and the effects need, and the tensors it changes."""
    machine, program = traced.machine, traced.program
    tracer = machine.tracer
    taker = Taker(machine, traced.arguments)
    tree = taker.take(result)
    traced.finished = Finished(tree, len(taker.leaves))
    traced.finished.effects = effects_of(machine, taker)
    structure = structure_of(tree)
    program.structure = None if structure is None else structure[0]
    traced.finished.is_plain = structure is not None
    program.block.yields = list(taker.leaves)
    by_id = {id(tensor): key for key, tensor in traced.state.items()}
    for tensor, variable in tracer.assigned():
        key = by_id[id(tensor)]
        tracer.local(variable)  # refused where it was changed under another name
        new = tracer.flags.value_of(variable)
        if new is not program.state[key]:
            program.updates.append(key)
            program.block.yields.append(tracer.local(new))


def _capturing(
    program: Program, state: dict[str, EagerTensor], names: Mapping[int, str]
) -> Callable[[Tracer, Tensor], Variable]:
    """What makes a tensor from outside a parameter or buffer; `state` gets it by its key."""

    def capture(tracer: Tracer, tensor: Tensor) -> Variable:
        assert isinstance(tensor, EagerTensor)
        known = program.parameters if isinstance(tensor, Parameter) else program.buffers
        key = names.get(id(tensor)) or _unused(tensor, program)
        known[key] = program.block.add_parameter(TensorType(tensor.dtype, tensor.array.shape), key)
        program.trainable[key] = not tensor.stopped  # to ask would make it a guard
        state[key] = tensor
        return known[key]

    return capture


def _unused(tensor: EagerTensor, program: Program) -> str:
    """A name for a tensor that belongs to no Layer of ours."""
    taken = program.state
    if tensor.name and tensor.name not in taken and getattr(tensor, "is_named", True):
        return tensor.name
    prefix = "parameter" if isinstance(tensor, Parameter) else "tensor"
    return f"{prefix}_{sum(name.startswith(prefix) for name in taken)}"


__all__ = ["Traced", "trace"]
