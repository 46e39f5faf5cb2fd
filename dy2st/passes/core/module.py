"""Module: holds what passes work on, Programs by name and the arrays of their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dy2st_runtime.errors import ArgumentError, WrongKind, counted
from dy2st_runtime.ir import Program
from dy2st_runtime.ir.clone import clone
from dy2st_runtime.kept_inputs import array_names

Array = np.ndarray[Any, Any]


@dataclass(eq=False, repr=False)
class Module:
    """Programs by name, and the arrays of parameters and buffers as far as they are known.

    A pass changes a Module of its own; the arrays in it are never changed, only replaced.

    Attributes
    ----------
    epilogues
        operators that were taken off the outputs of a Program, for the host to compute: by its
        name and the index of the output, their names and attributes.
    frozen
        names of the arrays that have become part of a Program's text or weights: when one of
        them gets another array, the Programs are out of date.

    Examples
    --------
    >>> net = dy2st.to_static(dy2st.nn.Linear(3, 2), [dy2st.static.InputSpec(["n", 3])])
    >>> arrays = {name: tensor.numpy() for name, tensor in net.state_dict().items()}
    >>> module = dy2st.passes.Module({"forward": net.forward.main_program}, arrays)
    >>> module
    Module(forward of 2 operators; arrays: weight, bias)
    >>> [array.shape for array in module.state_of(module.programs["forward"])]
    [(3, 2), (2,)]
    >>> frozen = dy2st.passes.FreezeParameters()(module.copy())
    >>> frozen.drop_unused_state()
    >>> frozen.state
    {}
    """

    programs: dict[str, Program]
    state: dict[str, Array] = field(default_factory=dict)
    epilogues: dict[str, dict[int, tuple[str, dict[str, Any]]]] = field(default_factory=dict)
    frozen: set[str] = field(default_factory=set)

    def copy(self) -> Module:
        """A Module that can be changed while this one stays as it is; arrays are shared."""
        programs = {name: clone(program) for name, program in self.programs.items()}
        epilogues = {name: dict(entries) for name, entries in self.epilogues.items()}
        return Module(programs, dict(self.state), epilogues, set(self.frozen))

    def drop_unused_state(self) -> None:
        """Forget arrays that no Program names any more."""
        programs = [*self.programs.values()]
        named = {name for program in programs for name in program.state}
        named.update(array_names(programs, self.state))
        self.state = {name: array for name, array in self.state.items() if name in named}

    def state_of(self, program: Program) -> list[Array]:
        """The arrays of a Program in the order in which engines take them.

        Raises ArgumentError for one that is not known.
        """
        missing = [name for name in program.state if name not in self.state]
        if missing:
            raise ArgumentError(
                f"the arrays of {', '.join(missing)} are not known: give them to the Module"
            )
        return [self.state[name] for name in program.state]

    def __repr__(self) -> str:
        """`Module(forward of 7 operators; arrays: fc.weight, fc.bias)`."""
        programs = [
            f"{name} of {counted(len(p.operators), 'operator')}"
            for name, p in self.programs.items()
        ]
        return f"Module({', '.join(programs)}; arrays: {', '.join(self.state) or 'none'})"


def as_module(target: Module | Program, state: Mapping[str, Any] | None = None) -> Module:
    """A Module of its own for a Module, or for one Program with arrays for its parameters."""
    if isinstance(target, Module):
        if state is not None:
            raise WrongKind("`state` goes with a Program: a Module has arrays of its own")
        return target.copy()
    if isinstance(target, Program):
        arrays = {name: np.asarray(array) for name, array in (state or {}).items()}
        return Module({target.name: clone(target)}, arrays)
    given = getattr(target, "forward", target)
    hint = ": give its main_program" if hasattr(type(given), "main_program") else ""
    raise WrongKind(f"a pass takes a Program or a Module, not {target!r:.80}{hint}")


__all__ = ["Array", "Module", "as_module"]
