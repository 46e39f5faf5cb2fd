"""Which tensors of a call are one object, and checks of what a Program assumes of that.

A function that returns its argument returns the object itself, and so does a call of its Program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from dy2st_runtime.autograd import depends
from dy2st_runtime.errors import ConversionError, Location, TensorAsPython
from dy2st_runtime.ir import Block, Operator, Program, Tracer, Variable
from dy2st_runtime.ir.aliasing import is_fresh
from dy2st_runtime.ir.functions import CALL, function_of
from dy2st_runtime.ir.tracing.gradient_flow import SETTER
from dy2st_runtime.ir.types import ArrayType
from dy2st_runtime.lazy import cached_property
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
            places.setdefault(_object(variable), place)
            # One that a branch changes in place has a Variable of each moment.
            for one in (_object(variable), *tracer.aliases.of(variable)):
                may_be.setdefault(one, set()).add(place)
        walk = _Walk(program, may_be)
        earlier: dict[Variable, int] = {}
        origins: dict[int, tuple[set[Variable], set[Variable]]] = {}
        for index, output in enumerate(outputs):
            variable = _object(output)
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


# The operands that an operator puts into the list that it gives: tensors, or a list of them.
_ELEMENTS = {
    "array_create": slice(None),
    "array_append": slice(1, 2),
    "array_write": slice(2, 3),
    "array_insert": slice(2, 3),
    "array_extend": slice(1, 2),
}
_NO_ELEMENTS = slice(0)
# Those that may give an element of a list several times.
_REPEAT = ("array_gather", "array_repeat")


class _Walk:
    """Back from a value, through branches and iterations, to tensors of the call."""

    def __init__(self, program: Program, places: Mapping[Variable, set[int]]) -> None:
        self.program, self.places = program, places
        self.owners = {b: o for o in program.walk() for b in o.blocks}
        self.calls: dict[Block | None, list[Operator]] = {}  # of each function
        for operator in program.walk():
            if operator.name == CALL:
                self.calls.setdefault(function_of(operator), []).append(operator)

    @cached_property
    def blocks(self) -> dict[Operator, Block]:
        """Where each operator stands."""
        return {o: block for block in (*self.program.roots, *self.owners) for o in block.operators}

    @cached_property
    def list_uses(self) -> Counter[Variable]:
        """How often a list goes into another one, into a branch, or into a loop."""
        return Counter(
            operand
            for operator in self.program.walk()
            if any(isinstance(result.type, ArrayType) for result in operator.results)
            for operand in operator.operands
        )

    def origins(self, variable: Variable) -> tuple[set[Variable], set[Variable]]:
        """What it may be, and what may have its array and be another tensor."""
        found: tuple[set[Variable], set[Variable]] = (set(), set())
        todo = [(_object(variable), False)]
        while todo:
            # Loops lead back to what was met: each Variable is taken once as itself, once as an
            # array.
            one, is_other = todo.pop()
            if one not in found[is_other]:
                found[is_other].add(one)
                todo += [(_object(v), other) for v, other in self.before(one, is_other)]
        return found

    def places_of(self, variables: set[Variable]) -> set[int]:
        """Those of them that are tensors of the call."""
        return {place for one in variables for place in self.places.get(one, ())}

    def may_hold_twice(self, variable: Variable) -> bool:
        """Whether a new tensor may stand in a list twice."""
        if not isinstance(variable.type, ArrayType):
            return False
        makers = {one.maker for one in self.origins(variable)[0] if isinstance(one.type, ArrayType)}
        puts: Counter[Variable] = Counter()
        for maker in makers:
            if isinstance(maker, Block) or not maker.name.startswith("array_"):
                continue
            loops, may_repeat = self.loops_around(maker), maker.name in _REPEAT
            for one in maker.operands[_ELEMENTS.get(maker.name, _NO_ELEMENTS)]:
                is_list = isinstance(one.type, ArrayType)
                for origin, around in self.new(one):
                    # Once more in each iteration of a loop that does not make it anew.
                    puts[origin] += len(loops - around) + (not is_list)
            for one in maker.operands:
                if isinstance(one.type, ArrayType) and (may_repeat or self.list_uses[one] > 1):
                    puts.update(origin for origin, _ in self.new(one))
        return any(count > 1 for count in puts.values())

    def new(self, variable: Variable) -> list[tuple[Variable, set[Operator]]]:
        """The new tensors that it may be or hold, with the loops that make each anew."""
        return [
            (one, self.loops_around(one.maker))
            for one in self.origins(variable)[0]
            if isinstance(one.maker, Operator)
            and not isinstance(one.type, ArrayType)
            and is_fresh(one.maker)
            and one not in self.places
        ]

    def loops_around(self, operator: Operator) -> set[Operator]:
        """The loops in whose iterations an operator runs."""
        found: set[Operator] = set()
        block: Block | None = self.blocks[operator]
        while block is not None:
            owner = self.owners.get(block)
            block = None if owner is None else self.blocks[owner]
            found |= {owner} if owner is not None and owner.name == "while" else set()
        return found

    def before(self, variable: Variable, is_other: bool) -> list[tuple[Variable, bool]]:
        """What a value may be, or whose array it may have."""
        maker = variable.maker
        if isinstance(maker, Block):
            owner = self.owners.get(maker)
            if owner is not None:
                return self.outside(owner, maker, variable, is_other)
            place = _place(variable, maker.parameters)
            return [(call.operands[place], is_other) for call in self.calls.get(maker, ())]
        if maker.blocks:
            place = _place(variable, maker.results)
            # No iteration gives the operand, any other what the body yields.
            if maker.name == "while":
                values = [maker.operands[place], maker.blocks[1].yields[place]]
            else:
                values = [block.yields[place] for block in maker.blocks]
            return [(value, is_other) for value in values]
        if maker.name == CALL:
            function = function_of(maker)
            assert function is not None
            return [(function.yields[_place(variable, maker.results)], is_other)]
        if is_fresh(maker):
            return []
        is_other = is_other or not maker.name.startswith("array_")  # lists hold what is put in
        return [(operand, is_other) for operand in maker.operands]

    def outside(
        self, owner: Operator, block: Block, parameter: Variable, is_other: bool
    ) -> list[tuple[Variable, bool]]:
        """What the parameter of a nested Block may be."""
        place = _place(parameter, block.parameters)
        # The first operand is the condition.
        if owner.name == "cond":
            return [(owner.operands[place + 1], is_other)]
        values = [owner.operands[place]]
        # Operands behind the loop variables are captured: they are the same in every iteration.
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
