"""The objects of a call beside its arrays: which are one, which it changes, which it gives back.

A registered buffer is whichever tensor its Layer holds at that moment. A function that returns its
argument returns the object itself, and so does a call of its Program. A Program has an input for
each tensor, and a list of its own for each list that it is given: where it changes one of them, or
asks which are one, it is traced once more for calls that are tied so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from dy2st.convert.trace import Trace
from dy2st.jit.signature import Identity, sharing_of
from dy2st_runtime.autograd import Array, depends
from dy2st_runtime.errors import ConversionError, Location, TensorAsPython
from dy2st_runtime.ir import Program, Tracer, Variable
from dy2st_runtime.ir.aliasing import Origins, object_of
from dy2st_runtime.ir.structure import is_container, map_entries
from dy2st_runtime.ir.tracing.gradient_flow import flags_of
from dy2st_runtime.resident import Resident
from dy2st_runtime.storage import shares_memory
from dy2st_runtime.tensor import EagerTensor

Places = Mapping[str, tuple[dict[str, Any], str]]
State = Mapping[str, EagerTensor]


class LiveState:
    """Tensors by name. A registered buffer is whichever tensor its Layer holds at that moment."""

    def __init__(self, tensors: State, places: Places):
        """`places` says where the buffers among the tensors are registered."""
        self._tensors = dict(tensors)
        self.places = {name: place for name, place in places.items() if name in tensors}

    def now(self) -> dict[str, EagerTensor]:
        """The tensors of this moment."""
        known = self._tensors
        for name, (store, attribute) in self.places.items():
            held = store.get(attribute)
            if held is not known[name] and isinstance(held, EagerTensor):
                known[name] = held
        return known


def take_in_place(
    tensor: EagerTensor, value: EagerTensor | Array | Resident, may_be_cut: bool, records: bool
) -> None:
    """A tensor that the call has changed in place; `set_value` cuts it off what it was made of.

    Where nothing is recorded for gradients they go on flowing to that. An array, or what an engine
    keeps, is a tensor to which none flow.
    """
    if isinstance(value, Resident):
        if tensor.node is None:
            tensor.keep(value)
            return
        value = value.array
    if not isinstance(value, EagerTensor):
        if tensor.node is None:
            tensor.put(value)
            return
        value = EagerTensor(value)
    if not may_be_cut and not records:
        tensor.put(value.array)
        return
    is_cut = may_be_cut and tensor.node is not None and value.node is None
    tensor.stopped = value.stopped and (tensor.stopped or is_cut)
    tensor.put(value.array)
    tensor.node, tensor.index = value.node, value.index


def flags_hold(names: Mapping[int, str], read: Iterable[Any]) -> Callable[[State], bool]:
    """What tells whether gradients flow through tensors, and begin there, as they did when read.

    `names` are those of the tensors that are in the Program, by id.
    """
    named = {names[id(tensor)]: flags for tensor, flags in read if id(tensor) in names}
    others = [found for found in read if id(found[0]) not in names]
    stopped, are_ends = ([flags[place] for flags in named.values()] for place in (0, 1))

    def hold(now: State) -> bool:
        tensors = [now[name] for name in named]
        # If no operator has made any, `stopped` of each says all.
        are_same = all(are_ends) and [one.node for one in tensors].count(None) == len(tensors)
        are_same = are_same and [one.stopped for one in tensors] == stopped
        are_same = are_same or list(map(flags_of, tensors)) == list(named.values())
        return are_same and all(flags_of(tensor) == flags for tensor, flags in others)

    return hold


def hold_one(places: Sequence[tuple[Mapping[str, Any], str]], tensor: EagerTensor | None) -> bool:
    """Whether places hold one tensor; that one, if something else holds it."""
    held = [store.get(name) for store, name in places]
    wanted = held[0] if tensor is None else tensor
    return all(one is wanted for one in held)


class Ties(NamedTuple):
    """For each tensor, and for each list, dict or set of a call, what it is.

    That is the place of the first argument that is the same object, or an object from outside. ()
    where each argument is itself.
    """

    tensors: tuple[int | Identity, ...] = ()
    containers: tuple[int | Identity, ...] = ()

    def leaves(self, inputs: Sequence[Any]) -> list[Any]:
        """What a function gets in place of its tensors."""
        places = self.tensors or range(len(inputs))
        return [inputs[one] if isinstance(one, int) else one.value() for one in places]

    def tied(self, value: Any) -> Any:
        """New containers, in which those are one that are one in the call.

        >>> first, second = Ties(containers=(0, 1, 1)).tied([[1], [1]])
        >>> first is second
        True
        """
        found: list[Any] = []

        def of(entry: Any) -> Any:
            if isinstance(entry, tuple) or not (is_container(entry) or type(entry) is set):
                return map_entries(entry, of)
            place = self.containers[len(found)]
            found.append(entry)
            if type(entry) is not set:
                pairs = entry.items() if isinstance(entry, dict) else enumerate(entry)
                for key, inner in [*pairs]:
                    entry[key] = of(inner)
            return found[place] if isinstance(place, int) else place.value()

        return of(value) if self.containers else value


NO_TIES = Ties()


class OtherTies(TensorAsPython):
    """A call has arguments that are one object, of which its Program knows nothing."""

    def __init__(self, what: str, ties: Ties, *, why: str, hint: str):
        """Take those that the call has."""
        super().__init__(what, why=why, hint=hint)
        self.ties = ties


Pair = tuple[int, int, Location | None]


@dataclass(frozen=True)
class Apart:
    """What a Program takes to be objects of their own.

    Tensors are told by their places among its inputs and then the state.

    ties     those for which it was traced.
    changed  the arguments that it changes.
    asked    pairs of tensors of which it asks whether they are one, and where.
    behind   pairs of which the second is behind a gradient with respect to the first, which it
             takes.
    outside  what finds the containers from outside that it reads, if it changes any.
    """

    program: Program
    ties: Ties
    changed: Sequence[int]
    asked: Sequence[Pair]
    behind: Sequence[Pair]
    outside: Sequence[Callable[[], Any]]

    @classmethod
    def of(cls, trace: Trace, ties: Ties, outside: Sequence[Callable[[], Any]]) -> Apart:
        """What the Program of a trace takes so."""
        program = trace.tracer.program
        places = {variable: place for place, variable in enumerate(program.block.parameters)}
        changed = [n for n, one in enumerate(program.inputs) if one.name in program.changes]
        asked, behind = (
            [
                (places[left], places[right], at)
                for left, right, at in pairs
                if left in places and right in places
            ]
            for pairs in (trace.record.distinct, trace.tracer.flags.apart)
        )
        return cls(program, ties, changed, asked, behind, outside)

    def __bool__(self) -> bool:
        """Whether there is something to check."""
        has_pairs = self.asked or self.behind
        return bool(has_pairs or self.changed or self.program.updates or self.outside)

    def check(
        self, tensors: Sequence[Any], containers: Sequence[Any], state: Mapping[str, Any]
    ) -> None:
        """Raise OtherTies if objects of a call are less apart than that.

        TensorAsPython where Python knows of a tensor what the Program does not.
        """
        held = [*tensors, *state.values()]
        self._check_gradients(held)
        changed = {id(tensors[place]) for place in self.changed}
        updated = {id(state[name]) for name in self.program.updates}
        own = self.ties.tensors or range(len(tensors))  # those with an input of their own
        free = [id(one) for place, one in enumerate(tensors) if own[place] == place]
        is_other = (
            not updated.isdisjoint(free)
            or (len(set(free)) < len(free) and (changed or self.asked))
            or (changed and not changed.isdisjoint(map(id, state.values())))
            or any(held[left] is held[right] for left, right, _ in self.asked)
        )
        found = self.ties
        if is_other:
            of_state = {*map(id, state.values())}
            found = found._replace(tensors=_tied(tensors, found.tensors, of_state))
        if self.outside and containers:
            known = {id(find()) for find in self.outside}
            if not known.isdisjoint(map(id, containers)):
                found = found._replace(containers=_tied(containers, found.containers, known))
        if found != self.ties:
            raise OtherTies(
                f"{self.program.name}() is given one object for two that it takes for two",
                found,
                why="a Program has an input for each, whatever it is given",
                hint="call the converted function, which makes a Program for such calls",
            )
        _check_views(self.program, {*changed, *updated}, held)

    def _check_gradients(self, held: Sequence[Any]) -> None:
        """Refuse a call in which the second tensor of two is made of the first."""
        program = self.program
        for left, right, at in self.behind:
            if not held[right].stopped and depends(held[right], held[left]):
                by, of = (f"`{program.block.parameters[one].name}`" for one in (left, right))
                raise TensorAsPython(
                    f"{program.name}() takes a gradient by {by}, of which {of} was made before "
                    "this call",
                    at=at,
                    why="a Program knows nothing of what was computed outside of it",
                    hint=f"compute {of} inside of the function, or give it {of}.detach()",
                )


def _tied(
    objects: Sequence[Any], before: Sequence[int | Identity], known: Container[int]
) -> tuple[int | Identity, ...]:
    """What each object of a call is, where those of some ids are known from outside."""
    firsts = sharing_of(objects) or range(len(objects))
    return tuple(
        [
            Identity(one)
            if id(one) in known or (before and isinstance(before[place], Identity))
            else firsts[place]
            for place, one in enumerate(objects)
        ]
    )


def _check_views(program: Program, changed: Iterable[int], held: Sequence[Any]) -> None:
    """Refuse a call in which a tensor that changes shares elements with another one."""
    names = [variable.name for variable in program.block.parameters]
    places = {id(one): place for place, one in enumerate(held)}
    for key in changed:
        tensor = held[places[key]]
        for other in () if tensor.storage is None else tensor.storage.others(tensor):
            if id(other) in places and _overlap(tensor, other):
                raise TensorAsPython(
                    f"{program.name}() changes `{names[places[key]]}` in place, and is given "
                    f"`{names[places[id(other)]]}` too, which shares its memory at this call",
                    at=None,
                    why="a Program has an input for each, whatever it is given",
                    hint="give it a copy: clone(), or make the view inside of the function",
                )


def _overlap(tensor: Any, other: Any) -> bool:
    """Whether two tensors have an element in common."""
    if not shares_memory(tensor, other):
        return False
    try:
        work: Any = 1000  # which NumPy's types do not know
        return np.shares_memory(tensor.array, other.array, max_work=work)
    except np.exceptions.TooHardError:
        return True


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
