"""Defines what callers ask of an engine, and of what it makes of a Program."""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence
from typing import Any, Protocol

import numpy as np

from dy2st_runtime.ir.program import Program
from dy2st_runtime.resident import Resident

Array = np.ndarray[Any, Any]


class Executable(Protocol):
    """A compiled Program. Several threads may call it at once.

    One that keeps state where it computes says so by `has_resident_state`, and has `run_resident`.
    It may have an `entry`, where `run` with any `as_is`, and without `as_one` and `bare`, does no
    more than that: a function of all arrays one by one, which gives None if `run` is to be asked.

    >>> f = dy2st.to_static(lambda x: x * 2)
    >>> y = f(dy2st.ones([2]))
    >>> executable = dy2st.engine.compile(f.main_program, "numpy")
    >>> executable.run([np.array([1.0, 2.0], "float32")], [])
    [array([2., 4.], dtype=float32)]
    >>> executable.check([np.zeros(2, "float32")])
    >>> executable.takes_shapes([[2]])
    True
    >>> executable.program is f.main_program, "def " in executable.source
    (True, True)
    >>> executable.has_resident_state, executable.resident_values([])
    (False, [])
    """

    @property
    def program(self) -> Program:
        """What it computes."""
        ...

    @property
    def source(self) -> str:
        """What runs, as text for readers; empty if there is none."""
        ...

    def run(
        self,
        inputs: Sequence[Array],
        state: Sequence[Array],
        as_is: Container[int] = (),
        as_one: Collection[int] = (),
        bare: int = 0,
    ) -> list[Array]:
        """Outputs, then new values of the buffers in `program.updates`.

        `state` holds parameters, then buffers, in the order of `program.state`. The results never
        share memory with what was given, but that a buffer may become one of the arrays in `state`,
        and an output whose number is in `as_is` any that was given, or that a buffer becomes.
        Outputs whose numbers are in `as_one`, too, are one array where the Program has one.
        The last `bare` outputs are given as the Program has them, which may share memory: they are
        for other Programs only. Raises SpecError if an input does not fit.
        """
        ...

    @property
    def has_resident_state(self) -> bool:
        """Whether `run_resident` is to be called where nobody asks which arrays results are."""
        ...

    def run_resident(self, inputs: Sequence[Array], state: Sequence[Resident]) -> list[Any]:
        """As `run`, with a Resident for each tensor: outputs, then new values of buffers.

        The values in `state` are the engine's: it fills those that are empty, and may use up the
        memory of those that are updated.

        >>> f = dy2st.to_static(lambda x: x * 2)
        >>> y = f(dy2st.ones([2]))
        >>> executable = dy2st.engine.compile(f.main_program, "numpy")
        >>> inputs = [np.ones(2, "float32")]
        >>> run = executable.run_resident if executable.has_resident_state else executable.run
        >>> run(inputs, [])[0].tolist()
        [2.0, 2.0]
        """
        ...

    def resident_values(self, state: Sequence[Resident]) -> list[Any]:
        """What `run` takes as state instead of arrays: values that stay where the engine computes.

        So that parameters of a Program that is called in halves are moved once.
        """
        ...

    def check(self, inputs: Sequence[Array]) -> None:
        """Raise SpecError unless number, dtypes and shapes of the inputs fit the Program."""
        ...

    def explain(self) -> str:
        """What runs how, for readers: a line an operator or step, with the user's lines.

        >>> f = dy2st.to_static(lambda x: x.exp())
        >>> y = f(dy2st.ones([2]))
        >>> "exp" in dy2st.engine.compile(f.main_program, "numpy").explain()
        True
        """
        ...

    def takes_shapes(self, shapes: Sequence[Sequence[int]]) -> bool:
        """Whether inputs of the right ranks with these shapes satisfy all that is required."""
        ...


class Engine(Protocol):
    """A function that compiles a Program: it takes the Program, and gives an Executable.

    >>> from dy2st_runtime.engine.numpy.executable import compile_program
    >>> f = dy2st.to_static(lambda x: x * 2)
    >>> y = f(dy2st.ones([2]))
    >>> compile_program(f.main_program).run([np.ones(2, "float32")], [])[0].tolist()
    [2.0, 2.0]
    """

    def __call__(self, program: Program, /) -> Executable:
        """What runs it."""
        ...


__all__ = ["Engine", "Executable"]
