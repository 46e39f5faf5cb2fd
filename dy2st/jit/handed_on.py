"""Which tensors of a call are one object.

A function that returns its argument returns the object itself, and so does a call of its Program.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dy2st.jit.live_state import known_tensor
from dy2st_runtime.ir import Block, Operator, Program, Tracer, Variable
from dy2st_runtime.ir.aliasing import is_fresh
from dy2st_runtime.ir.gradient_flow import SETTER
from dy2st_runtime.tensor import EagerTensor


@dataclass(eq=False)
class HandedOn:
    """Which outputs of a Program are tensors of the call: its inputs, then those of the state.

    sure      the place of the tensor, by output.
    again     an earlier output that is the same tensor, by output.
    perhaps   the places of tensors of which a branch or loop may hand on one, by output.
    is_told   whether the array of a result tells which of those it is, or that it is none.
    """

    sure: dict[int, int] = field(default_factory=dict)
    again: dict[int, int] = field(default_factory=dict)
    perhaps: dict[int, list[int]] = field(default_factory=dict)
    is_told: bool = True

    @classmethod
    def of(
        cls, outputs: Sequence[Variable], tracer: Tracer, state: Mapping[str, EagerTensor]
    ) -> HandedOn | None:
        """What the outputs of a trace are, at its end; None if they are all new tensors."""
        program = tracer.program
        found = cls()
        ends = [*program.inputs, *(tracer.captured(state[name]) for name in program.state)]
        places: dict[Variable, int] = {}
        for place, variable in enumerate(ends):
            places.setdefault(_object(variable), place)
        walk = _Walk(program, places)
        earlier: dict[Variable, int] = {}
        for index, output in enumerate(outputs):
            variable = _object(output)
            if variable in places:
                found.sure[index] = places[variable]
            elif variable in earlier:
                found.again[index] = earlier[variable]
            else:
                earlier[variable] = index
                objects, arrays = walk.ends(variable)
                found.perhaps.update({index: sorted(objects)} if objects else {})
                found.is_told = found.is_told and objects.isdisjoint(arrays)
        return found if found.sure or found.again or found.perhaps else None

    def as_is(self, has_passes: bool) -> Collection[int]:
        """The outputs whose arrays are those of the tensors, so that no copy is made.

        Passes may make one value of a copy and what was copied.
        """
        return self.sure if has_passes else {**self.sure, **self.perhaps}

    def needs_objects(self, held: Sequence[EagerTensor]) -> bool:
        """Whether arrays do not tell the tensors apart that a branch chooses from."""
        for places in self.perhaps.values():
            chosen = {id(held[place]): held[place].array for place in places}
            if not self.is_told or len({id(array) for array in chosen.values()}) < len(chosen):
                return True
        return False

    def put(self, outputs: list[Any], held: Sequence[EagerTensor], by_array: bool) -> None:
        """Put the tensors of a call into its outputs, where those are new tensors `by_array`."""
        for index, places in self.perhaps.items() if by_array else ():
            outputs[index] = known_tensor(outputs[index], [held[place] for place in places])
        for index, place in self.sure.items():
            outputs[index] = held[place]
        for index, before in self.again.items():
            outputs[index] = outputs[before]


class _Walk:
    """Back from a value, through branches and turns, to tensors of the call."""

    def __init__(self, program: Program, places: Mapping[Variable, int]) -> None:
        self.places = places
        self.owners = {b: o for o in program.block.walk() for b in o.blocks}

    def ends(self, variable: Variable) -> tuple[set[int], set[int]]:
        """The tensors that it may be, and those whose array it may have as another tensor."""
        found: tuple[set[int], set[int]] = (set(), set())
        todo, seen = [(_object(variable), False)], set[tuple[Variable, bool]]()
        while todo:
            entry = todo.pop()
            if entry in seen:
                continue
            seen.add(entry)
            if entry[0] in self.places:
                found[entry[1]].add(self.places[entry[0]])
            else:
                todo += [(_object(v), is_other) for v, is_other in self.before(*entry)]
        return found

    def before(self, variable: Variable, is_other: bool) -> list[tuple[Variable, bool]]:
        """What a value may be, or whose array it may have."""
        maker = variable.maker
        if isinstance(maker, Block):
            owner = self.owners.get(maker)
            return [] if owner is None else self.outside(owner, maker, variable, is_other)
        if maker.blocks:
            place = _place(variable, maker.results)
            if maker.name == "while":
                values = [maker.operands[place], maker.blocks[1].yields[place]]
            else:
                values = [block.yields[place] for block in maker.blocks]
            return [(value, is_other) for value in values]
        if is_fresh(maker):
            return []
        return [(operand, True) for operand in maker.operands]

    def outside(
        self, owner: Operator, block: Block, parameter: Variable, is_other: bool
    ) -> list[tuple[Variable, bool]]:
        """What the parameter of a nested Block may be."""
        place = _place(parameter, block.parameters)
        if owner.name == "cond":
            return [(owner.operands[place + 1], is_other)]
        values = [owner.operands[place]]
        if place < len(owner.results):
            values.append(owner.blocks[1].yields[place])
        return [(value, is_other) for value in values]


def _place(variable: Variable, variables: Sequence[Variable]) -> int:
    """Where a Variable stands; `==` of Variables is an operator."""
    return next(index for index, other in enumerate(variables) if other is variable)


def _object(variable: Variable) -> Variable:
    """The Variable that stands for the same tensor before its `stop_gradient` was set."""
    maker = variable.maker
    while isinstance(maker, Operator) and maker.name == SETTER:
        variable = maker.operands[0]
        maker = variable.maker
    return variable


__all__ = ["HandedOn"]
