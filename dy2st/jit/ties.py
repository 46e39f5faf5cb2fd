"""Finds arguments of a call that are one object, or an object that its Program knows from outside.

A Program has an input for each tensor, and a list of its own for each list that it is given. Where
it changes one of them, or asks which are one, it must know: it is traced once more for calls that
are tied so.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dy2st.jit.signature import Identity, sharing_of
from dy2st_runtime.errors import TensorAsPython
from dy2st_runtime.ir import Program
from dy2st_runtime.ir.structure import is_container, map_entries
from dy2st_runtime.storage import shares_memory


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

    def is_free(self, place: int) -> bool:
        """Whether a tensor has an input of its own."""
        return not self.tensors or self.tensors[place] == place


NO_TIES = Ties()


class OtherTies(TensorAsPython):
    """A call has arguments that are one object, of which its Program knows nothing."""

    def __init__(self, what: str, ties: Ties, *, why: str, hint: str):
        """Take those that the call has."""
        super().__init__(what, why=why, hint=hint)
        self.ties = ties


def ties_of(containers: Sequence[Any]) -> Ties:
    """Those of a call that has no Program yet."""
    return Ties((), sharing_of(containers)) if len(containers) > 1 else NO_TIES


@dataclass(frozen=True)
class Apart:
    """What a Program takes to be objects of their own.

    ties     those for which it was traced.
    changed  the arguments that it changes, by place.
    asked    pairs of tensors of which it asks whether they are one.
    outside  what finds the containers from outside that it reads, if it changes any.
    """

    program: Program
    ties: Ties
    changed: Sequence[int]
    asked: Sequence[tuple[int, int, Any]]
    outside: Sequence[Callable[[], Any]]

    def __bool__(self) -> bool:
        return bool(self.changed or self.program.updates or self.asked or self.outside)

    def check(
        self, tensors: Sequence[Any], containers: Sequence[Any], state: Mapping[str, Any]
    ) -> None:
        """Raise OtherTies if objects of a call are less apart than that."""
        held = [*tensors, *state.values()]
        changed = {id(tensors[place]) for place in self.changed}
        updated = {id(state[name]) for name in self.program.updates}
        free = [id(one) for place, one in enumerate(tensors) if self.ties.is_free(place)]
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
