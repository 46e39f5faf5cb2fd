"""Which tensors of a call are one object, and checks of what a Program assumes of that.

A function that returns its argument returns the object itself, and so does a call of its Program.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from dy2st_runtime.autograd import depends
from dy2st_runtime.errors import ConversionError, Location, TensorAsPython
from dy2st_runtime.ir import Program, Tracer, Variable
from dy2st_runtime.ir.aliasing import Origins, object_of
from dy2st_runtime.storage import shares_memory
from dy2st_runtime.tensor import EagerTensor


@dataclass(eq=False)
class OutputAliasing:
    """Which outputs of a Program are tensors of the call: its inputs, then those of the state.

    sure      the place of the tensor, by output.
    again     an earlier output that is the same tensor, by output.
    perhaps   the places of tensors of which a branch or loop may hand on one, by output.
    merged    outputs of which a branch or loop may make two one new tensor, and lists of which two
              elements may be one.
    by_arrays   whether the array of a result decides which of those it is, or that it is none.
    """

    sure: dict[int, int] = field(default_factory=dict)
    again: dict[int, int] = field(default_factory=dict)
    perhaps: dict[int, list[int]] = field(default_factory=dict)
    merged: list[int] = field(default_factory=list)
    by_arrays: bool = True

    @classmethod
    def of(
        cls, outputs: Sequence[Variable], tracer: Tracer, state: Mapping[str, EagerTensor]
    ) -> OutputAliasing | None:
        """What the outputs of a trace are, at its end; None if they are all new tensors."""
        program = tracer.program
        found = cls()
        held = [*program.inputs, *(state[name] for name in program.state)]
        ends = [*map(tracer.captured, held)]
        places: dict[Variable, int] = {}
        may_be: dict[Variable, set[int]] = {}
        for place, variable in enumerate(ends):
            places.setdefault(object_of(variable), place)
            # One that a branch changes in place has a Variable of each moment.
            for one in (object_of(variable), *tracer.aliases.of(variable)):
                may_be.setdefault(one, set()).add(place)
        walk = Origins(program, may_be)
        earlier: dict[Variable, int] = {}
        origins: dict[int, tuple[set[Variable], set[Variable]]] = {}
        for index, output in enumerate(outputs):
            variable = object_of(output)
            if variable in places:
                found.sure[index] = places[variable]
            elif variable in earlier:
                found.again[index] = earlier[variable]
            else:
                earlier[variable] = index
                origins[index] = walk.origins(variable)
                objects, arrays = map(walk.places_of, origins[index])
                found.perhaps.update({index: sorted(objects)} if objects else {})
                found.by_arrays = found.by_arrays and objects.isdisjoint(arrays)
        # Outputs may be one tensor, though none of the call.
        merged = set()
        for (first, ours), (second, theirs) in combinations(origins.items(), 2):
            if not ours[0].isdisjoint(theirs[0]):
                merged |= {first, second}
                shared = [ours[1] & (theirs[0] | theirs[1]), theirs[1] & ours[0]]
                found.by_arrays = found.by_arrays and not any(shared)
        # So may the elements of one list.
        for index, (objects_in, arrays_in) in origins.items():
            if walk.may_hold_twice(outputs[index]):
                merged.add(index)
                found.by_arrays = found.by_arrays and objects_in.isdisjoint(arrays_in)
        # The new value of an argument, and what may be that argument, have one array.
        for index in program.changes.values():
            ones = {one for one, held in found.perhaps.items() if found.sure.get(index) in held}
            merged |= {index, *ones} if ones else set()
            # Two of them may have been given one value, whose array says nothing then.
            found.by_arrays = found.by_arrays and all(len(found.perhaps[one]) < 2 for one in ones)
        # A buffer that is given another tensor's value may have its array, which does not say then
        # which of the two an output is.
        news = program.block.yields[len(program.outputs) :]
        numbers = {name: place for place, name in enumerate(program.state, len(program.inputs))}
        for name, new in zip(program.updates, news, strict=True) if found.perhaps else ():
            own = numbers[name]
            objects, arrays = map(walk.places_of, walk.origins(new))
            if others := (objects | arrays) - {own}:
                mixed = ({own, *others} & {*held} for held in found.perhaps.values())
                found.by_arrays = found.by_arrays and not any(mixed)
        found.merged = sorted(merged)
        return found if found.sure or found.again or found.perhaps or found.merged else None

    def places_of(self, index: int) -> set[int]:
        """The tensors that an output may be."""
        index = self.again.get(index, index)
        sure = {self.sure[index]} if index in self.sure else set()
        return sure | {*self.perhaps.get(index, ())}

    def may_be_one(self, index: int, other: int) -> bool:
        """Whether two outputs may be one tensor."""
        index, other = self.again.get(index, index), self.again.get(other, other)
        return index == other or (index in self.merged and other in self.merged)

    def as_is(self, has_passes: bool) -> Collection[int]:
        """The outputs whose arrays are those of the tensors, so that no copy is made.

        Passes may make one value of a copy and what was copied.
        """
        return self.sure if has_passes else {**self.sure, **self.perhaps}

    def needs_objects(self, held: Sequence[EagerTensor]) -> bool:
        """Whether arrays do not distinguish the tensors that a branch chooses from."""
        if self.merged and not self.by_arrays:
            return True
        for places in self.perhaps.values():
            # Two tensors may share one array (x and x.detach()), which then does not say which it
            # is.
            chosen = {id(held[place]): held[place].array for place in places}
            if not self.by_arrays or len({id(array) for array in chosen.values()}) < len(chosen):
                return True
        return False

    def put(
        self,
        outputs: list[Any],
        held: Sequence[EagerTensor],
        by_array: bool,
        ends: Sequence[EagerTensor] | None = None,
    ) -> None:
        """Put the tensors of a call into its outputs, where those are new tensors `by_array`.

        `ends` are what the call makes of them; a tensor that is changed in place takes its own.
        """
        ends = held if ends is None else ends
        if by_array:
            known: dict[int, EagerTensor] = {}
            for index in self.merged:
                outputs[index] = _one_of(outputs[index], known)
        # What is merged may be a tensor of the call after all, so this comes behind it; and before
        # `again`, which copies.
        for index, places in self.perhaps.items():
            chosen = [(held[place], ends[place]) for place in places]
            outputs[index] = _known(outputs[index], chosen, by_array)
        for index, place in self.sure.items():
            outputs[index] = held[place]
        for index, before in self.again.items():
            outputs[index] = outputs[before]


def _known(value: Any, chosen: Sequence[tuple[EagerTensor, EagerTensor]], by_array: bool) -> Any:
    """The tensor of the call that a value is; those that a list holds; else the value itself."""
    if isinstance(value, list):
        return [_known(entry, chosen, by_array) for entry in value]
    for tensor, end in chosen:
        if end.array is value.array if by_array else end is value:
            return tensor
    return value


def _one_of(value: Any, known: dict[int, EagerTensor]) -> Any:
    """The first of those tensors that have its array."""
    if isinstance(value, list):
        return [_one_of(entry, known) for entry in value]
    return known.setdefault(id(value.array), value)


Pair = tuple[int, int, Location | None]


@dataclass
class Distinct:
    """Pairs of tensors of a call, its inputs and then the state, by number.

    asked   those of which the function has asked whether they are one tensor, and where.
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
        """Raise TensorAsPython if the second of two is made of the first."""
        for left, right, at in self.apart:
            if not held[right].stopped and depends(held[right], held[left]):
                by, of = (f"`{program.block.parameters[one].name}`" for one in (left, right))
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
