"""Runs the passes of `build_strategy` and `pipeline` on traced Programs."""

from __future__ import annotations

from importlib import import_module
from operator import attrgetter, is_
from typing import Any

import numpy as np

from dy2st.jit.objects_of_calls import LiveState
from dy2st_runtime import engine as engines
from dy2st_runtime import exported_buffers
from dy2st_runtime.errors import ArgumentError, PassError, VerifyError
from dy2st_runtime.ir import Program
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.lazy import cached_property
from dy2st_runtime.tensor import EagerTensor, wrapped

Array = np.ndarray[Any, Any]

_array = attrgetter("array")


def as_pass(wanted: Any) -> Any:
    """A pass for a pass, a list of passes or the name of a pipeline; else None."""
    if wanted is None or isinstance(wanted, BuildStrategy):
        return None
    # Loading all passes takes longer than loading the rest: only who asks for passes waits.
    return import_module("dy2st.passes").as_pass(wanted)


def transformed(applied: Any, programs: dict[str, Program], state: dict[str, Array]) -> Any:
    """The Module that a pass makes of Programs and their arrays.

    Raises ArgumentError if it leaves work for the host, which nobody would do here, and PassError
    if it breaks a Program.
    """
    module = applied(import_module("dy2st.passes").Module(programs, state))
    for program in module.programs.values():
        try:
            verify(program)
        except VerifyError as error:
            raise PassError(
                f"the pass {applied.info.name} breaks the Program; the instrument VerifyAfter() of "
                f"a PassContext tells which of several passes does it: {error}"
            ) from None
    for name, entries in module.epilogues.items():
        operator = next(iter(entries.values()))[0]
        raise ArgumentError(
            f"the pass {applied.info.name} takes `{operator}` off an output of {name!r}, so the "
            "results would be others: use it with a back end whose host computes that operator"
        )
    return module


def as_constant(array: Array) -> Array:
    """The array as engines keep what they make of it: by rows, and nobody can write to it."""
    is_kept = array.flags.c_contiguous and exported_buffers.is_constant(array)
    return array if is_kept else np.array(array, order="C")


class OptimizedProgram:
    """A traced Program after passes, and the tensors and arrays that it reads.

    Passes may have built arrays into the Program: it holds as long as the tensors have those.
    """

    def __init__(self, program: Program, live: LiveState, applied: Any, engine: str | None = None):
        """Run the passes on a copy; `engine` names what will run it."""
        state = live.now()
        arrays = {name: tensor.array for name, tensor in state.items()}
        module = transformed(applied, {program.name: program}, dict(arrays))
        self.program: Program = module.programs[program.name]
        # A name that is kept with another array behind it was computed from the tensor's: it counts
        # as built in.
        replaced = {n for n, array in arrays.items() if module.state.get(n, array) is not array}
        built_in = module.frozen | replaced
        own = {
            name: wrapped(as_constant(module.state[name]))
            for name in self.program.state
            if name not in arrays or name in built_in
        }
        tensors = {n: own[n] if n in own else state[n] for n in self.program.state}
        self.engine, self._own = engine, own.keys()
        self._live = LiveState(tensors, {n: p for n, p in live.places.items() if n not in own})
        self.frozen = [(name, arrays[name]) for name in sorted(built_in)]
        self._source = live.only([name for name, _ in self.frozen])
        self._arrays = [array for _, array in self.frozen]

    @property
    def state(self) -> dict[str, EagerTensor]:
        """The live parameters and buffers that the Program reads, by name."""
        return self._live.now()

    @property
    def arrays(self) -> list[Array] | None:
        """The arrays that it reads, if they are its own: the same in every call."""
        own = self._live.last()
        is_own = not self._live.places and own.keys() <= self._own
        return [tensor.array for tensor in own.values()] if is_own else None

    def is_current(self) -> bool:
        """Whether all arrays that were built in are still those of the tensors."""
        return all(map(is_, map(_array, self._source.now().values()), self._arrays))

    @cached_property
    def executable(self) -> Any:
        """The compiled Program."""
        return engines.compile(self.program, self.engine)


class BuildStrategy:
    """Wishes about fusions and compilers: kept, and without effect on what is computed.

    `to_static(build_strategy="inference")` names passes of dy2st.

    >>> strategy = BuildStrategy()
    >>> strategy.build_cinn_pass = True
    """

    def __init__(self) -> None:
        """No wishes."""
        self.build_cinn_pass = False
