"""Runs a Program by XLA, behind the contract of all engines."""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import Dim, symbols
from dy2st_runtime.engine.numpy import executable as reference
from dy2st_runtime.engine.runner import Runner
from dy2st_runtime.engine.xla.compilation import KEPT, Islands
from dy2st_runtime.engine.xla.host_run import HostRun
from dy2st_runtime.engine.xla.library import exactly
from dy2st_runtime.engine.xla.plan import Island
from dy2st_runtime.ir.program import Operator, Program
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.lazy import cached_property

Array = np.ndarray[Any, Any]


class Executable(Runner):
    """A Program that XLA runs, as a whole or in parts. Several threads may call it at once."""

    def __init__(self, program: Program) -> None:
        """Make the plan; what it calls for is compiled when the sizes are known."""
        super().__init__(program)
        self._islands = Islands(program)
        self._run = HostRun(program, self._islands)
        yields = program.block.yields
        self._flows = [isinstance(v.maker, Operator) and bool(v.maker.blocks) for v in yields]
        self._sizes: dict[Any, dict[Dim, int]] = {}
        self._sized = [
            index
            for index, variable in enumerate(program.block.parameters)
            if isinstance(variable.type, TensorType) and symbols(variable.type.shape)
        ]
        self._accepted: set[Any] = set()

    @cached_property
    def reference(self) -> reference.Executable:
        """The same Program in NumPy's engine."""
        return reference.compile_program(self.program)

    @cached_property
    def source(self) -> str:
        """What runs where, in order."""
        return self.explain()

    def explain(self) -> str:
        """The steps: islands of so many operators, and what the host runs, with the reason."""
        planner, lines = self._islands.planner, []
        for step in planner.plans[self.program.block].steps:
            if isinstance(step, Island):
                lines.append(f"xla    {len(step.operators)} operators")
            else:
                reason = planner.reasons.get(step, "a few numbers beside such an operator")
                lines.append(f"numpy  {step.name}: {reason}")
        return "\n".join(lines)

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
            return self.reference.run(inputs, state, as_is, as_one, bare)
        made = self.compute(inputs, state)
        fetched: dict[int, Array] = {}
        results: list[Any] = []
        copied: list[bool] = []
        for one in made:
            is_ours = not isinstance(one, (np.ndarray, np.generic, list))
            if is_ours and id(one) not in fetched:
                fetched[id(one)] = np.array(one)
            results.append(fetched[id(one)] if is_ours else one)
            copied.append(not is_ours)
        return self.given(results, (inputs, state), as_is, as_one, bare, copied)

    def compute(self, inputs: Sequence[Array], state: Sequence[Array]) -> list[Any]:
        """The yields, as arrays of jax and of NumPy."""
        values = [*inputs, *state]
        run = self._run.again()
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
        key = tuple([(array.shape, array.dtype) for array in inputs])
        if key not in self._accepted:
            super().check(inputs)
            if len(self._accepted) >= KEPT:
                self._accepted.clear()
            self._accepted.add(key)


def compile_program(program: Program) -> Executable:
    """Plan a Program for XLA."""
    return Executable(program)


__all__ = ["Executable", "compile_program"]
