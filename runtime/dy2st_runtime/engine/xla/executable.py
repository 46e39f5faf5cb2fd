"""Runs a Program by XLA, behind the contract of all engines."""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import Dim, symbols
from dy2st_runtime.engine.numpy import executable as reference
from dy2st_runtime.engine.runner import Runner
from dy2st_runtime.engine.xla.agreement import Agreement, are_several
from dy2st_runtime.engine.xla.compilation import KEPT, Islands
from dy2st_runtime.engine.xla.host_run import HostRun, on_host
from dy2st_runtime.engine.xla.library import array_types, exactly, reuses_memory
from dy2st_runtime.engine.xla.lists import Buffer, list_of
from dy2st_runtime.engine.xla.mesh import (
    devices_of,
    fetch,
    layout,
    own_parts,
    put,
    replicated_layout,
)
from dy2st_runtime.engine.xla.plan import Island, is_flow
from dy2st_runtime.errors import counted
from dy2st_runtime.ir.program import Program
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.lazy import cached_property
from dy2st_runtime.resident import Resident

Array = np.ndarray[Any, Any]


class Executable(Runner):
    """A Program that XLA runs, as a whole or in parts. Several threads may call it at once."""

    has_resident_state = True

    def __init__(self, program: Program) -> None:
        """Make the plan; what it calls for is compiled when the sizes are known."""
        super().__init__(program)
        self._islands = Islands(program)
        self._run = HostRun(program, self._islands)
        self._flows = list(map(is_flow, program.block.yields))
        self._sizes: dict[Any, dict[Dim, int]] = {}
        self._sized = [
            index
            for index, variable in enumerate(program.block.parameters)
            if isinstance(variable.type, TensorType) and symbols(variable.type.shape)
        ]
        self._accepted: set[Any] = set()
        self._mesh = program.mesh
        self._names = [*program.state]
        self._numbers: dict[str, tuple[bytes, Any]] = {}  # of the state, on the devices
        steps = self._islands.planner.plans[program.block].steps
        self._is_one_island = len(steps) == 1 and isinstance(steps[0], Island)

    @cached_property
    def reference(self) -> reference.Executable:
        """The same Program in NumPy's engine."""
        return reference.compile_program(self.program)

    @cached_property
    def source(self) -> str:
        """What runs where, in order."""
        return self.explain()

    def compiled(self) -> list[Any]:
        """What XLA has made of it for the sizes of all calls so far, as jax has it.

        `memory_analysis()` and `cost_analysis()` of each say what it needs.
        """
        with exactly():
            return self._islands.made()

    def compiled_text(self) -> str:
        """The same, as XLA prints it (HLO)."""
        return "\n".join(made.as_text() for made in self.compiled())

    def explain(self) -> str:
        """The steps: islands of so many operators, and what the host runs, with the reason."""
        planner, lines = self._islands.planner, []
        for step in planner.plans[self.program.block].steps:
            if isinstance(step, Island):
                lines.append(f"xla    {counted(len(step.operators), 'operator')}")
            else:
                reason = planner.reasons.get(step, "a few numbers beside such an operator")
                lines.append(f"numpy  {step.name}: {reason}")
        return "\n".join(lines)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all that was called is compiled, or so long for each; whether all is."""
        return self._islands.wait(seconds)

    def run(
        self,
        inputs: Sequence[Array],
        state: Sequence[Array],
        as_is: Container[int] = (),
        as_one: Collection[int] = (),
        bare: int = 0,
    ) -> list[Array]:
        """As the contract says."""
        self.check(inputs)
        if as_one and any(self._flows[place] for place in as_one):
            # Which results of a branch are one array, XLA does not say.
            inputs = [on_host(one) for one in inputs]
            return self.reference.run(inputs, state, as_is, as_one, bare)
        self._agree([*inputs, *state])
        run = self._run.again()
        run.hands_on = bool(as_is)
        made = self._computed(run, [*inputs, *state])
        first = len(made) - len(self.program.updates)
        arrays: dict[int, Array] = {}
        results: list[Any] = []
        copied: list[bool] = []
        for place, one in enumerate(made):
            is_bare = first - bare <= place < first  # for another Program: it stays there
            one = one if is_bare else list_of(one)
            is_ours = not isinstance(one, (np.ndarray, np.generic, list))
            if is_ours and is_bare:
                results.append(one)
            else:
                if is_ours and id(one) not in arrays:
                    arrays[id(one)] = fetch(one)
                results.append(arrays[id(one)] if is_ours else one)
            copied.append(not is_ours)
        return self.given(results, (inputs, state), as_is, as_one, bare, copied)

    def run_resident(self, inputs: Sequence[Array], state: Sequence[Resident]) -> list[Any]:
        """As the contract says: the values are arrays of jax."""
        self.check(inputs)
        if self._mesh is not None:
            self._agree([*inputs, *[one.host_array for one in state if one.value is None]])
        values, kinds = self._values(state), array_types()
        # Two tensors may have one value, which is used up for neither.
        may_use_up = self._is_one_island and reuses_memory()
        may_use_up = may_use_up and len(set(map(id, values))) == len(values)
        run = self._run.again(may_use_up)
        try:
            results = self._computed(run, [*inputs, *values])
        finally:
            if run.restored:
                for variable, one in zip(self.program.state.values(), state, strict=True):
                    one.value = run.restored.get(variable, one.value)
        # A value that may be used up at a later call is the tensor's alone that is updated.
        first = len(results) - len(self.program.updates)
        others = set(map(id, results[first:])).union([id(one.value) for one in state])
        outputs = results[:first]
        for place in [place for place, one in enumerate(outputs) if id(one) in others]:
            one = outputs[place]
            outputs[place] = fetch(one) if type(one) in kinds else np.array(one)
        return [
            Resident(None, one, _fetched, own_parts) if type(one) in kinds else _on_host(one)
            for one in [*outputs, *results[first:]]
        ]

    def resident_values(self, state: Sequence[Resident]) -> list[Any]:
        """As the contract says; arrays of NumPy where a later step may use up what is kept."""
        if reuses_memory():
            return [one.array for one in state]
        with exactly():
            return self._values(state)

    def _values(self, state: Sequence[Resident]) -> list[Any]:
        values, kinds = [one.value for one in state], array_types()
        # Of hundreds of tensors most are there already: loops over all are few, and short.
        for place in [place for place, value in enumerate(values) if type(value) not in kinds]:
            values[place] = self._on_devices(place, state[place])
        return values

    def _agree(self, values: Sequence[Any]) -> None:
        """Let the processes of the mesh, if they are several, compare what of it is here."""
        mesh = self._mesh
        if mesh is not None and are_several() and devices_of(mesh) is not None:
            self._agreement.reach([one for one in values if isinstance(one, np.ndarray)])

    @cached_property
    def _agreement(self) -> Agreement:
        return Agreement(self.program)

    def _on_devices(self, place: int, one: Resident) -> Any:
        """A tensor of the state where it lies: a number as it is there, if it is that of before.

        A learning rate is a new array at each step, and mostly the same number.
        """
        name, held = self._names[place], one.value
        if type(held) in array_types():  # another thread has put it there meanwhile
            return held
        if held is None or not held.shape:
            held = one.array
        is_number = isinstance(held, np.ndarray) and held.ndim == 0
        is_number = is_number and name not in self.program.updates
        written = np.asarray(held).tobytes() if is_number else b""
        known = self._numbers.get(name)
        if known is not None and known[0] == written:
            one.value = known[1]
            return one.value
        placement = self.program.placements.get(name)
        shape = held.shape
        where = layout(placement, shape) if placement else replicated_layout(self._mesh, shape)
        with exactly():
            one.value = put(held, where)
        if is_number:
            self._numbers[name] = written, one.value
        return one.value

    def _computed(self, run: HostRun, values: list[Any]) -> list[Any]:
        """The yields, as arrays of jax and of NumPy."""
        with exactly():
            key = tuple([values[index].shape for index in self._sized])
            sizes = self._sizes.get(key)
            try:
                if sizes is None:
                    sizes = run.sizes_of(values)
                    if len(self._sizes) >= KEPT:
                        self._sizes.clear()
                    self._sizes[key] = sizes
                return run.block(self.program.block, values, sizes)
            except Exception as error:  # goes on, with the place of the operator
                run.add_place(error)
                raise

    def check(self, inputs: Sequence[Array]) -> None:
        """As the contract says."""
        if any([isinstance(one, Buffer) for one in inputs]):
            return  # what another Program of this engine has made for this one
        if any([isinstance(one, list) for one in inputs]):
            self.reference.check([on_host(one) for one in inputs])
            return
        key = tuple([(array.shape, array.dtype) for array in inputs])
        if key not in self._accepted:
            super().check(inputs)
            if len(self._accepted) >= KEPT:
                self._accepted.clear()
            self._accepted.add(key)


def _fetched(value: Any) -> Array:
    return fetch(value)  # as it is then


def _on_host(value: Any) -> Any:
    """A result that the host has computed: an array, or a list."""
    value = list_of(value)
    return value if isinstance(value, list) else Resident(np.asarray(value))


def compile_program(program: Program) -> Executable:
    """Plan a Program for XLA."""
    return Executable(program)


__all__ = ["Executable", "compile_program"]
