"""Rules of optimizers as Programs, where the default engine makes machine code of them.

NumPy goes through an array once for each operator of a rule, machine code once for all of them. A
rule is recorded for tensors of any size, so there is one Program for all parameters of a dtype and
a rank: an element of the new weight, and of the state, needs those at its own place alone.

One call moves one parameter. A Program for several of them takes as long for each, but to compile
it takes as often as long as it has parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sized
from typing import Any

import numpy as np

from dy2st_runtime import engine as engines
from dy2st_runtime.dims import symbol
from dy2st_runtime.errors import SpecError
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.program import Program
from dy2st_runtime.ir.tracing.tracer import Tracer
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.parameter_updates import Value

Array = np.ndarray[Any, Any]
State = dict[str, Value]
Compute = Callable[[Value, Value, Any, State], Value]
"""The new weight, of a weight, its gradient, the rate and the state, which it changes."""

_NATIVE = (np.dtype("float32"), np.dtype("float64"))
_PLAIN = (bool, int, float, str, type(None))

_MOST = 16
"""Programs of one optimizer: settings that change at every step are not worth one each."""

_LAST_RANK = 2
"""What has more axes is taken as if it had one: such weights are few, and Programs take time."""


class RecordedRules:
    """The Programs of an optimizer's rule, by all that they depend on."""

    def __init__(self) -> None:
        """Start empty."""
        self._by_facts: dict[Any, dict[Any, RecordedRule | None]] = {}
        self._count = 0
        self.seconds = 0.0  # that steps have taken

    def __reduce__(self) -> tuple[type[RecordedRules], tuple[()]]:
        """A copy records anew."""
        return RecordedRules, ()

    def of(self, facts: Any) -> dict[Any, RecordedRule | None]:
        """Where those of a rule with these settings are kept, by what parameters differ in."""
        found = self._by_facts.get(facts)
        if found is None:
            found = {}
            if len(self._by_facts) < _MOST:
                self._by_facts[facts] = found
        return found

    def record(
        self, compute: Compute, weight: Array, state: Mapping[str, Array]
    ) -> RecordedRule | None:
        """The Program of a rule; None if there are too many, or the engine has no code for it."""
        if self._count >= _MOST or weight.dtype not in _NATIVE:
            return None
        self._count += 1
        made = RecordedRule(compute, weight, state)
        return made if made.entry is not None else None


class RecordedRule:
    """A Program that moves parameters of one dtype and rank."""

    def __init__(self, compute: Compute, weight: Array, state: Mapping[str, Array]) -> None:
        """Record what `compute` does with a weight, and compile it."""
        if weight.ndim > _LAST_RANK:
            weight = weight.reshape(-1)
            state = {slot: one.reshape(-1) for slot, one in state.items()}
        # A Program of the rate, a weight, its gradient and the state.
        program = Program("update")
        symbols = tuple(symbol(f"n{n}", minimum=1) for n in range(weight.ndim))
        sizes = weight.shape if weight.size == 1 and state else symbols
        whole = TensorType(weight.dtype, sizes)
        parameter = program.block.add_parameter
        rate = parameter(TensorType(np.dtype("float64"), ()), "rate")
        rate.number = float  # it takes the dtype of what it is multiplied by
        held: State = {"": parameter(whole, "weight")}
        gradient = parameter(whole, "gradient")
        for slot, one in state.items():
            shape = whole.shape if one.shape == weight.shape else one.shape
            held[slot] = parameter(TensorType(one.dtype, shape), slot)
        program.inputs = list(program.block.parameters)
        before, tracer = dict(held), Tracer(program)
        with tracer.tracing():
            held[""] = compute(held.pop(""), gradient, rate, held)
            changed = [slot for slot in held if held[slot] is not before[slot]]
            given = [(held[slot], before[slot].dtype) for slot in changed]
            cast = [one if one.dtype == dtype else F.cast(one, dtype) for one, dtype in given]
            program.block.yields = [tracer.variable(one) for one in cast]
        self._changed = changed[:-1]
        self._executable: Any = engines.compile(program)
        self._is_ready = not hasattr(self._executable, "wait")

    @property
    def entry(self) -> Any:
        """What takes the arrays one by one, None where the engine has no code."""
        return getattr(self._executable, "entry", None)

    def moved(self, weight: Array, gradient: Array, rate: float, held: Any) -> Array | None:
        """The new weight, of tensors that hold the state and get what it becomes.

        None if the arrays are not what the Program is for, and as long as there is no code.
        """
        if not self._is_ready:  # until then the rule itself is faster than NumPy's engine
            self._is_ready = self._executable.wait(0)
            if not self._is_ready:
                return None
        arrays = [weight, gradient, *[tensor.array for tensor in held.values()]]
        if weight.ndim > _LAST_RANK:
            if gradient.shape != weight.shape:
                return None
            arrays = [one.reshape(-1) for one in arrays]
        number = np.asarray(rate, np.float64)
        results = self.entry(number, *arrays)
        if results is None:  # they do not lie row by row, or do not fit
            given = [number, *arrays]
            try:
                self._executable.check(given)
            except SpecError:
                results = None
            else:
                results = self._executable.run(given, [])
            if results is None:
                return None
        new: Array = results.pop()
        for slot, array in zip(self._changed, results, strict=True):
            tensor = held[slot]
            tensor.array = array.reshape(tensor.array.shape) if weight.ndim > _LAST_RANK else array
        return new.reshape(weight.shape) if weight.ndim > _LAST_RANK else new


def kind_of(weight: Array, state: Sized) -> tuple[Any, ...]:
    """What a Program depends on of a weight: beside one element numbers of the state look alike."""
    rank = weight.ndim
    is_one = weight.size == 1 and len(state) > 0
    return weight.dtype, rank if rank <= _LAST_RANK else 1, is_one


def plain_facts(settings: Mapping[str, Any], names: Container[str]) -> Any:
    """The numbers and texts of settings; None if one is anything else, but for some names."""
    found = tuple((name, value) for name, value in settings.items() if name not in names)
    return found if all(type(value) in _PLAIN for _, value in found) else None


__all__ = ["RecordedRule", "RecordedRules", "kind_of", "plain_facts"]
