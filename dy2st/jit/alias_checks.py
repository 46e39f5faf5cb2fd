"""Checks what a Program assumes of the tensors of a call: that some are not made of others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dy2st_runtime.autograd import depends
from dy2st_runtime.errors import ConversionError, Location, TensorAsPython
from dy2st_runtime.ir import Program, Tracer, Variable
from dy2st_runtime.storage import shares_memory
from dy2st_runtime.tensor import EagerTensor

Pair = tuple[int, int, Location | None]


@dataclass
class Distinct:
    """Pairs of tensors of a call, its inputs and then the state, by number.

    asked   those of which the function has asked, and where, whether they are one tensor.
    apart   the second is behind a gradient with respect to the first, which the function takes.
    """

    asked: list[Pair] = field(default_factory=list)
    apart: list[Pair] = field(default_factory=list)

    @classmethod
    def of(cls, program: Program, tracer: Tracer) -> Distinct:
        """Those of a Program that has been traced."""
        variables = program.block.parameters
        return cls(_numbered(variables, tracer.distinct), _numbered(variables, tracer.flags.apart))

    def __bool__(self) -> bool:
        return bool(self.asked or self.apart)

    def check(self, program: Program, held: Sequence[Any]) -> None:
        """Raise TensorAsPython if two are one tensor, or the second is made of the first."""
        for left, right, at in self.asked:
            if held[left] is held[right]:
                raise TensorAsPython(
                    f"{program.name}() asks whether {' and '.join(_names(program, (left, right)))} "
                    "are one tensor, as they are at this call",
                    at=at,
                    why="a Program has an input for each, whatever it is given",
                    hint="say it by an argument of its own: f(x, x, is_same=True)",
                )
        for left, right, at in self.apart:
            if not held[right].stopped and depends(held[right], held[left]):
                by, of = _names(program, (left, right))
                raise TensorAsPython(
                    f"{program.name}() takes a gradient by {by}, of which {of} was made before "
                    "this call",
                    at=at,
                    why="a Program knows nothing of what was computed outside of it",
                    hint=f"compute {of} inside of the function, or give it {of}.detach()",
                )


def _numbered(
    variables: Sequence[Variable], found: Sequence[tuple[Variable, Variable, Location | None]]
) -> list[Pair]:
    places = {variable: place for place, variable in enumerate(variables)}
    return [
        (places[left], places[right], at)
        for left, right, at in found
        if left in places and right in places
    ]


def _names(program: Program, pair: tuple[int, int]) -> list[str]:
    return [f"`{program.block.parameters[place].name}`" for place in pair]


def check_changes(program: Program, tensors: Sequence[Any], state: Mapping[str, Any]) -> None:
    """Raise TensorAsPython if an argument is a tensor that the function changes in place.

    So where another tensor of the call shares memory with one that it changes.
    """
    for name in program.updates:
        if state[name].storage is not None:
            _check_shared(program, name, tensors, state)
    given = {id(tensor): place for place, tensor in enumerate(tensors)}
    if given.keys().isdisjoint(map(id, map(state.__getitem__, program.updates))):
        return
    name = next(name for name in program.updates if id(state[name]) in given)
    argument = program.block.parameters[given[id(state[name])]].name
    raise TensorAsPython(
        f"{program.name}() changes `{name}` in place, which its argument `{argument}` is at this "
        "call",
        at=None,
        why="a Program has an input for each, whatever it is given",
        hint="give it a copy: clone()",
    )


def _check_shared(
    program: Program, name: str, tensors: Sequence[Any], state: Mapping[str, Any]
) -> None:
    others = state[name].storage.others(state[name])
    for place, tensor in enumerate([*tensors, *state.values()]):
        if any(tensor is one for one in others) and shares_memory(tensor, state[name]):
            raise TensorAsPython(
                f"{program.name}() changes `{name}` in place, and is given "
                f"`{program.block.parameters[place].name}` too, which shares its memory at this "
                "call",
                at=None,
                why="a Program has an input for each, whatever it is given",
                hint="give it a copy: clone(), or make the view inside of the function",
            )


def check_apart(
    programs: Iterable[Program], state: Mapping[str, EagerTensor], at: Location | None = None
) -> None:
    """Raise ConversionError if a Program of a file changes a tensor that has a view in the file."""
    names = {id(tensor): name for name, tensor in state.items()}
    for program in programs:
        for name in program.updates:
            tensor = state.get(name)  # none: it is written, and nothing in the file reads it
            if tensor is None or tensor.storage is None:
                continue
            for other in tensor.storage.others(tensor):
                if id(other) in names and shares_memory(other, tensor):
                    raise ConversionError(
                        f"{program.name}() changes `{name}`, which shares its memory with "
                        f"`{names[id(other)]}`",
                        at=at,
                        why="a Program that is saved or compiled has a value of its own for each "
                        "name",
                        hint="make the view inside of the function: row = self.table[0], or give "
                        "it a copy: clone()",
                    )


def check_leaf(program: Program, place: int, tensor: Any) -> None:
    """Raise TensorAsPython if gradients do not end in an argument, or it has one already."""
    is_made, what = tensor.node is not None, "has a gradient already"
    if not is_made and tensor.grad is None:
        return
    raise TensorAsPython(
        f"{program.name}() calls backward(), and its argument "
        f"`{program.block.parameters[place].name}` {'was computed' if is_made else what}",
        at=None,
        why="a Program knows nothing of what was computed outside of it",
        hint="compute it inside of the function, or give it detach()"
        if is_made
        else "call its clear_grad() before",
    )
