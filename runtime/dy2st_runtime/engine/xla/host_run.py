"""The host's part of a run: its steps one by one, by NumPy's kernels, and islands by XLA."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import Dim
from dy2st_runtime.engine.xla.compilation import Islands
from dy2st_runtime.engine.xla.library import jax
from dy2st_runtime.engine.xla.lists import buffer_of, list_of
from dy2st_runtime.engine.xla.plan import Island, Known
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.interpret import Run
from dy2st_runtime.ir.program import Block, Operator, Program, Variable
from dy2st_runtime.ops.generator import get_rng_state, set_rng_state

Sizes = dict[Dim, int]


class OnArrays(Run):
    """As the interpreter, but by the kernels, on arrays of NumPy and jax, and lists of them."""

    def operation(self, operator: Operator, operands: list[Any], sizes: Sizes) -> Sequence[Any]:
        """The results of one operator."""
        kernel = lookup(operator.name).kernel
        if kernel is None or operator.name == "require":
            return super().operation(operator, operands, sizes)
        attributes = self.attributes(operator, sizes)
        result = kernel(*map(on_host, operands), **attributes)
        return [result] if len(operator.results) == 1 else result


class HostRun(OnArrays):
    """One run of a Program: the steps of its plan."""

    def __init__(self, program: Program, islands: Islands) -> None:
        """Take the compiled islands."""
        super().__init__(program)
        self._islands = islands
        self.may_use_up = False
        self.hands_on = False  # whether a value that a branch has chosen stays the same object
        # What was used up by a run that a check has stopped, as it was.
        self.restored: dict[Variable, Any] = {}

    def again(self, may_use_up: bool = False) -> HostRun:
        """Another run of the same Program, which may use up the memory of what it updates."""
        run = HostRun.__new__(HostRun)  # `copy` takes longer
        vars(run).update(vars(self))
        run.operator, run.may_use_up, run.restored = None, may_use_up, {}
        return run

    def block(self, block: Block, arguments: Sequence[Any], outer: Sizes) -> list[Any]:
        """What the Block yields."""
        plan, sizes = self._islands.planner.plans[block], dict(outer)
        known = Known(plan.alias)
        known.update(zip(block.parameters, arguments, strict=True))
        for parameter in plan.sized:
            self.bind(parameter, known[parameter], sizes)
        for step in plan.steps:
            if isinstance(step, Island):
                self._island(step, known, sizes)
            else:
                for variable in step.operands:
                    known[variable] = list_of(known[variable])
                self.operators([step], known, sizes)
        return [known[variable] for variable in plan.yields]

    def _island(self, island: Island, known: dict[Variable, Any], sizes: Sizes) -> None:
        compiled = self._islands.compiled(island, sizes)
        arguments = [buffer_of(known[variable]) for variable in island.reads]
        before = get_rng_state() if island.calls_back else None
        made = compiled(arguments, self.may_use_up)
        if made is not None:
            known.update(zip(island.writes, made))
            if self.hands_on:
                for place, origin in zip(island.chosen, jax.device_get(made[len(island.writes) :])):
                    if origin:
                        known[island.writes[place]] = arguments[int(origin) - 1]
            return
        if self.may_use_up:
            self.restored.update(zip(island.reads, arguments, strict=True))
            known.update(self.restored)
        if before is not None:
            set_rng_state(before)
        run, own = OnArrays(self.program), island.known(map(list_of, arguments))
        try:
            run.operators(island.operators, own, dict(sizes))
        finally:
            self.operator = run.operator
        known.update((variable, own[variable]) for variable in island.writes)
        compiled.report()


def on_host(value: Any) -> Any:
    """An array as NumPy's; a list as one of arrays."""
    value = list_of(value)
    return value if isinstance(value, (np.ndarray, np.generic, list)) else np.asarray(value)


__all__ = ["HostRun", "OnArrays", "on_host"]
