"""Records the Program of a model that is no Python code, by calls of operators on placeholders."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.io import LoadedModel
from dy2st_runtime.ir import Program
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ir.program import Output, Variable
from dy2st_runtime.ir.tracing.tracer import Tracer
from dy2st_runtime.ir.types import TensorType, ValueType

Array = np.ndarray[Any, Any]
Compute = Callable[[Sequence[Variable], Mapping[str, Variable]], Sequence[Any]]
"""The outputs of a model, of its inputs and of its parameters and buffers by name."""


def record(
    name: str,
    inputs: Mapping[str, ValueType],
    state: Mapping[str, Array],
    trained: Collection[str],
    compute: Compute,
    updates: Sequence[str] = (),
) -> Program:
    """The Program of what `compute` does with placeholders.

    Operators run on Variables (`F.relu(x)`), `cond` and `while_loop` of `ops.control_flow` record
    branches and loops. Names in `trained` become parameters, all other state buffers; what
    `compute` leaves unused goes. The last outputs are the new values of the buffers that `updates`
    names. A single output of the others is the result itself, several are a tuple.
    """
    program = Program(name)
    block = program.block
    program.inputs = [block.add_parameter(type, label) for label, type in inputs.items()]
    for key, array in state.items():
        table = program.parameters if key in trained else program.buffers
        table[key] = block.add_parameter(TensorType(array.dtype, array.shape), key)
        if key in trained:
            program.trainable[key] = True
    tracer = Tracer(program)
    with tracer.tracing():
        outputs = compute(program.inputs, program.state)
        block.yields = [tracer.variable(output) for output in outputs]
    used = {id(one) for operator in block.walk() for one in operator.operands}
    used |= {id(one) for one in block.yields}
    for key, variable in program.state.items():
        if id(variable) not in used and key not in updates:
            program.drop_state(key)
    block.parameters = [*program.inputs, *program.state.values()]
    program.updates = list(updates)
    places = tuple(Output(n) for n in range(len(outputs) - len(updates)))
    program.structure = places[0] if len(places) == 1 else places
    verify(program)
    return program


def layer_of(
    program: Program, state: Mapping[str, Array], engine: str | None = None
) -> LoadedModel:
    """A Layer that runs a Program, with its parameters and buffers."""
    return LoadedModel([program], {key: state[key] for key in program.state}, engine)


__all__ = ["Array", "Compute", "layer_of", "record"]
