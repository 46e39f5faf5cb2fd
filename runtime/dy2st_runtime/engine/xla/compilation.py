"""Islands as functions that XLA compiled: one for each combination of sizes, the last ones kept."""

from __future__ import annotations

import threading
import warnings
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from dy2st_runtime.dims import Dim
from dy2st_runtime.engine.xla.library import jax
from dy2st_runtime.engine.xla.plan import Island, Planner
from dy2st_runtime.engine.xla.trace import traceable
from dy2st_runtime.ir.program import Program

KEPT = 64
"""So many combinations of sizes of each island stay compiled."""


class Compiled:
    """An island for some sizes, compiled at the first call."""

    def __init__(self, name: str, planner: Planner, island: Island, sizes: Mapping[Dim, int]):
        """Take the numbers of all symbols."""
        self._name = name
        self._draws = island.draws
        self._function = jax.jit(traceable(planner, island, dict(sizes)))
        self._failure: Exception | None = None
        self._is_reported = False

    def __call__(self, arguments: Sequence[Any]) -> list[Any] | None:
        """What the island writes; None if NumPy is to compute it, since a check does not hold."""
        if self._failure is not None:
            return None
        try:
            made, well = self._function(arguments)
            if well is not None and not bool(well):
                return None
            if self._draws:
                jax.block_until_ready(made)
        except jax.errors.JaxRuntimeError:
            if not self._draws:
                raise
            return None  # a kernel that draws has raised something
        except Exception as error:  # reported, if NumPy's kernels have nothing to say against it
            self._failure = error
            return None
        return list(made)

    def report(self) -> None:
        """Warn, once, that NumPy computes this part, if jax could not trace it."""
        error = self._failure
        if error is not None and not self._is_reported:
            self._is_reported = True
            warnings.warn(
                f"the engine 'xla' could not compile a part of {self._name!r}, which NumPy's "
                f"engine runs: {type(error).__name__}: {error}",
                RuntimeWarning,
                stacklevel=2,
            )


class Islands:
    """The plan of a Program, and what of it is compiled. Several threads may ask at once."""

    def __init__(self, program: Program) -> None:
        """Make the plan."""
        self.planner = Planner(program.block)
        self._name = program.name
        self._compiled: dict[Island, OrderedDict[tuple[int, ...], Compiled]] = {}
        self._lock = threading.Lock()

    def compiled(self, island: Island, sizes: Mapping[Dim, int]) -> Compiled:
        """An island for the numbers of its symbols."""
        key = tuple([sizes.get(symbol, -1) for symbol in island.symbols])
        with self._lock:
            known = self._compiled.setdefault(island, OrderedDict())
            found = known.get(key)
            if found is None:
                found = known[key] = Compiled(self._name, self.planner, island, sizes)
                if len(known) > KEPT:
                    known.popitem(last=False)
            else:
                known.move_to_end(key)
        return found


__all__ = ["KEPT", "Compiled", "Islands"]
