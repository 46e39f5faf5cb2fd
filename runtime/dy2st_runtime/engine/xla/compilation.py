"""Islands as functions that XLA compiled: one for each device and sizes, the last ones kept.

Large ones are compiled in the background, by a thread: NumPy's kernels compute them until then.
`DY2ST_XLA_BACKGROUND=off` compiles every island when it is called.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from dy2st_runtime.dims import Dim
from dy2st_runtime.engine.xla.library import (
    chosen_device,
    draws_on_device,
    exactly,
    jax,
    jnp,
    sharding,
)
from dy2st_runtime.engine.xla.mesh import layout, replicated_layout
from dy2st_runtime.engine.xla.plan import Island, Planner
from dy2st_runtime.engine.xla.trace import Layouts, traceable
from dy2st_runtime.errors import EngineError, PeerError
from dy2st_runtime.ir.program import Program, Variable
from dy2st_runtime.ops.generator import generator
from dy2st_runtime.progress import Progress

KEPT = 64
"""So many combinations of a device and sizes of each island stay compiled."""

MANY = 1000
"""From so many operators on, which take many seconds, an island is compiled in the background."""


class _Background:
    """A function that is compiled by a thread; where the process ends it is waited for."""

    _one_at_a_time = threading.Lock()

    def __init__(self, function: Any, given: Any, device: Any) -> None:
        """Begin to compile it for arrays of these types, and a device or the one of jax."""
        self._device = device
        self.compiled: Any = None  # until it is there
        self.failure: Exception | None = None
        types = jax.tree.map(_without_data, given)
        self._thread = threading.Thread(
            target=self._compile, args=(function, types), name="dy2st compiles"
        )
        self._thread.start()

    def _compile(self, function: Any, types: Any) -> None:
        try:
            compiling = Progress("compiling by XLA")
            with self._one_at_a_time, exactly(self._device), compiling:
                if threading.main_thread().is_alive():  # else the process ends
                    self.compiled = function.lower(*types).compile()
        except Exception as error:  # reported by the next call
            self.failure = error

    def wait(self, seconds: float | None) -> bool:
        """Wait until it is compiled, or so long; whether it is."""
        self._thread.join(seconds)
        return self.compiled is not None


def _refuse_alone(arguments: Sequence[Any], error: Exception) -> None:
    """PeerError where parts lie in other processes: none of them can go on by itself."""
    lying = [one.sharding for one in arguments if isinstance(one, jax.Array)]
    if not all(one.is_fully_addressable for one in lying):
        first = str(error).strip().partition("\n")[0]
        raise PeerError(
            f"a step on a mesh of {jax.process_count()} processes has failed, as it does if one of "
            f"them is gone: {first}"
        ) from None


class Compiled:
    """An island for some sizes, compiled at the first call."""

    def __init__(
        self,
        name: str,
        planner: Planner,
        island: Island,
        sizes: Mapping[Dim, int],
        layouts: Layouts,
        updates: Mapping[Variable, Variable],
    ):
        """Take the numbers of all symbols, and what updates which parameter of the Program."""
        self._name = name
        self._device = chosen_device()
        self._calls_back = island.calls_back
        self._takes_key = island.takes_key
        self._run = traceable(planner, island, dict(sizes), layouts)
        self._function = jax.jit(self._run)
        # By the place of a buffer among what is read, that of its new value among what is written.
        read = {variable: place for place, variable in enumerate(island.reads)}
        written = {variable: place for place, variable in enumerate(island.writes)}
        self._used_up = {
            read[buffer]: written[new]
            for new, buffer in updates.items()
            if new in written and buffer in read and not island.calls_back
        }
        self._in_place = jax.jit(self._updated, donate_argnums=1)
        self._example: tuple[Any, Any] | None = None  # a function, and what it was called with
        self._failure: Exception | None = None
        self._is_reported = False
        # On a mesh NumPy could not compute it until then: it has a part of each array.
        self._is_large = not layouts and _is_large(island)
        self._compiling: dict[Any, _Background] = {}

    def made(self) -> Any:
        """What XLA has made of it, as jax has it; None before the first call."""
        if self._example is None:
            return None
        function, given = self._example
        with exactly(self._device):
            return function.lower(*given).compile()

    def _updated(
        self, read: Sequence[Any], used_up: Sequence[Any], key: Any
    ) -> tuple[Any, Any, Any]:
        """As the island, but the new values first, which may have the memory of the old ones.

        jax gives the memory of each to the first result of its shape, so both have one order. The
        old ones are gone then: a run that a check stops gives them back instead of the new ones.
        """
        given = [*read]
        for place, old in zip(self._used_up, used_up, strict=True):
            given[place] = old
        made, well = self._run(given, key)
        updated = [made[new] for new in self._used_up.values()]
        if well is not None:
            pairs = zip(updated, used_up, strict=True)
            updated = [jnp.where(well, new, old) for new, old in pairs]
        rest = [None if n in self._used_up.values() else one for n, one in enumerate(made)]
        return updated, rest, well

    def __call__(self, arguments: list[Any], may_use_up: bool = False) -> list[Any] | None:
        """What the island writes; None if NumPy is to compute it, since a check does not hold.

        Where the memory of arguments may be used up, what is put in their place has their values.
        """
        if self._failure is not None:
            return None
        is_in_place = may_use_up and all(
            isinstance(arguments[place], jax.Array) for place in self._used_up
        )
        try:
            key = generator().integers(0, 2**32, 2, np.uint32) if self._takes_key else None
            function, given = self._function, tuple[Any, ...]((arguments, key))
            if is_in_place and self._used_up:
                rest = [None if n in self._used_up else one for n, one in enumerate(arguments)]
                function, given = self._in_place, (rest, [arguments[n] for n in self._used_up], key)
            if self._example is None:
                self._example = function, jax.tree.map(_without_data, given)
            if self._is_large:
                function = self._by_background(function, given)
                if function is None:
                    return None
            *updated, made, well = function(*given)
            for values in updated:
                for new, value in zip(self._used_up.values(), values, strict=True):
                    made[new] = value
            if well is not None and not bool(well):
                if is_in_place:
                    for place, new in self._used_up.items():
                        arguments[place] = made[new]
                return None
            if self._calls_back:
                jax.block_until_ready(made)
        except jax.errors.JaxRuntimeError as error:
            _refuse_alone(arguments, error)
            if not self._calls_back:
                raise EngineError(
                    f"XLA has failed while it ran a part of {self._name!r}: {error}"
                ) from error
            return None  # a kernel that draws has raised something
        except Exception as error:  # reported, if NumPy's kernels have nothing to say against it
            _refuse_alone(arguments, error)
            self._failure = error
            return None
        return list(made)

    def _by_background(self, function: Any, given: Any) -> Any:
        """What was compiled of a function; None as long as it is not."""
        if function not in self._compiling:
            self._compiling[function] = _Background(function, given, self._device)
        self._failure = self._compiling[function].failure
        return self._compiling[function].compiled

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all that was begun is compiled, or so long for each; whether all is."""
        return all([one.wait(seconds) for one in self._compiling.values()])

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


def _is_large(island: Island) -> bool:
    if os.environ.get("DY2ST_XLA_BACKGROUND", "") == "off":
        return False
    inside = (block.walk() for one in island.operators for block in one.blocks)
    return len(island.operators) + sum(1 for operators in inside for _ in operators) >= MANY


def _without_data(value: Any) -> Any:
    """What stands for an array where XLA compiles: shape, dtype, and where it lies on a mesh.

    What lies on one device is moved where the function runs.
    """
    where = getattr(value, "sharding", None)
    where = where if isinstance(where, sharding.NamedSharding) else None
    return jax.ShapeDtypeStruct(value.shape, value.dtype, sharding=where)


def _layouts(program: Program, alias: Mapping[Variable, Variable]) -> Layouts:
    """Where outputs and the new values of buffers lie: outputs everywhere."""
    mesh = program.mesh
    if mesh is None:
        return {}
    found: dict[Variable, Callable[[Sequence[int]], Any]] = {}
    first = len(program.outputs)
    for name, new in zip(program.updates, program.block.yields[first:], strict=True):
        if name in program.placements:
            found[alias.get(new, new)] = partial(layout, program.placements[name])
    for output in program.outputs:
        found.setdefault(alias.get(output, output), partial(replicated_layout, mesh))
    return found


class Islands:
    """The plan of a Program, and what of it is compiled. Several threads may ask at once."""

    def __init__(self, program: Program) -> None:
        """Make the plan."""
        is_on_a_mesh = program.mesh is not None
        self.planner = Planner(program.block, draws_on_device(is_on_a_mesh))
        self._name = program.name
        alias = self.planner.plans[program.block].alias
        self._layouts = _layouts(program, alias)
        first = len(program.outputs)
        # The new values of buffers, each of one only. A buffer that is given back, too, stays.
        given = {alias.get(variable, variable) for variable in program.block.yields}
        self._updates: dict[Variable, Variable] = {}
        for name, new in zip(program.updates, program.block.yields[first:], strict=True):
            if program.state[name] not in given:
                self._updates.setdefault(alias.get(new, new), program.state[name])
        self._compiled: dict[Island, OrderedDict[tuple[Any, ...], Compiled]] = {}
        self._lock = threading.Lock()

    def made(self) -> list[Any]:
        """What XLA has made of all that was called, for all sizes."""
        with self._lock:
            found = [one for known in self._compiled.values() for one in known.values()]
        return [made for one in found if (made := one.made()) is not None]

    def compiled(self, island: Island, sizes: Mapping[Dim, int]) -> Compiled:
        """An island for the chosen device and the numbers of its symbols."""
        key = chosen_device(), *[sizes.get(symbol, -1) for symbol in island.symbols]
        with self._lock:
            known = self._compiled.setdefault(island, OrderedDict())
            found = known.get(key)
            if found is None:
                found = known[key] = Compiled(
                    self._name, self.planner, island, sizes, self._layouts, self._updates
                )
                if len(known) > KEPT:
                    known.popitem(last=False)
            else:
                known.move_to_end(key)
        return found

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all that was called is compiled, or so long for each; whether all is."""
        with self._lock:
            called = [one for known in self._compiled.values() for one in known.values()]
        return all([one.wait(seconds) for one in called])


__all__ = ["KEPT", "MANY", "Compiled", "Islands"]
