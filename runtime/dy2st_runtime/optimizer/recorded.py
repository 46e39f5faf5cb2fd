"""Rules of optimizers as Programs, where an engine that makes machine code is the default.

NumPy goes through an array once for each operator of a rule, machine code once for all of them. A
rule is recorded for tensors of any size, so there is one Program for all parameters of a dtype: an
element of the new weight, and of the state, needs those at its own place alone.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any

import numpy as np

from dy2st_runtime import engine as engines
from dy2st_runtime.dims import symbol
from dy2st_runtime.ir.program import Program
from dy2st_runtime.ir.tracing.tracer import Tracer
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.updating import Value

Array = np.ndarray[Any, Any]
State = dict[str, Value]
Compute = Callable[[Value, Value, Any, State], Value]
"""The new weight, of a weight, its gradient, the rate and the state, which it changes."""

_NATIVE = (np.dtype("float32"), np.dtype("float64"))
_PLAIN = (bool, int, float, str, type(None))

_MOST = 16
"""Programs of one optimizer: settings that change at every step are not worth one each."""


class RecordedRules:
    """The Programs of an optimizer's rule, by all that they depend on."""

    def __init__(self) -> None:
        """Start empty."""
        self._executables: dict[Any, Any] = {}

    def __reduce__(self) -> tuple[type[RecordedRules], tuple[()]]:
        """A copy records anew."""
        return RecordedRules, ()

    def step(
        self, compute: Compute, facts: Any, values: tuple[Array, Array, float], state: State
    ) -> Array:
        """What `compute` gives for values, and the state that it leaves.

        `facts` are all that it depends on beside its arguments.
        """
        weight, gradient, rate = values
        is_usual = weight.dtype in _NATIVE and weight.shape == gradient.shape
        if not is_usual or not weight.size:
            return np.asarray(compute(*values, state))
        key = facts, weight.dtype, *((one.dtype, one.size == 1) for one in state.values())
        executable = self._executables.get(key)
        if executable is None:
            if len(self._executables) >= _MOST:
                return np.asarray(compute(*values, state))
            program = _recorded(compute, weight.dtype, state)
            executable = self._executables[key] = engines.compile(program)
        flat = [one.reshape(-1) for one in (weight, gradient, *state.values())]
        new, *rest = executable.run([np.asarray(rate, np.float64), *flat], [])
        for (slot, old), one in zip(list(state.items()), rest, strict=True):
            state[slot] = one.reshape(old.shape)
        return np.asarray(new).reshape(weight.shape)


def plain_facts(settings: Mapping[str, Any], names: Container[str]) -> Any:
    """The numbers and texts of settings; None if one is anything else, but for some names."""
    found = tuple((name, value) for name, value in settings.items() if name not in names)
    return found if all(type(value) in _PLAIN for _, value in found) else None


def _recorded(compute: Compute, dtype: np.dtype[Any], state: Mapping[str, Array]) -> Program:
    """The Program of a rule: of the rate, a weight, its gradient, and the state."""
    program = Program("update")
    whole = TensorType(dtype, (symbol("n", minimum=1),))
    parameter = program.block.add_parameter
    rate = parameter(TensorType(np.dtype("float64"), ()), "rate")
    rate.number = float  # it takes the dtype of what it is multiplied by
    weight, gradient = parameter(whole, "weight"), parameter(whole, "gradient")
    held: State = {}
    for slot, one in state.items():
        held[slot] = parameter(TensorType(one.dtype, (1,) if one.size == 1 else whole.shape), slot)
    program.inputs = list(program.block.parameters)
    tracer = Tracer(program)
    with tracer.tracing():
        new = compute(weight, gradient, rate, held)
        program.block.yields = [tracer.variable(one) for one in (new, *held.values())]
    return program


__all__ = ["RecordedRules", "plain_facts"]
