"""Guards the tensors of a Program at each call: which are one, and how gradients flow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dy2st.jit.live_state import LiveState, State
from dy2st_runtime.ir.tracing.gradient_flow import flags_of
from dy2st_runtime.lazy import cached_property
from dy2st_runtime.tensor import EagerTensor


@dataclass(frozen=True)
class OfState:
    """What is asked of the tensors of the state, which are found once for all of it."""

    live: LiveState
    asked: Sequence[Callable[[State], bool]]

    def holds(self) -> bool:
        """Whether all of it is so."""
        now = self.live.now()
        return all(is_so(now) for is_so in self.asked)


def are_apart(now: State) -> bool:
    """Whether tensors are as many: a change of one in place is none of another."""
    return len(set(map(id, now.values()))) == len(now)


@dataclass(frozen=True)
class SameFlags:
    """Whether gradients flow through tensors, and begin there: those of a Program by name, and
    others."""

    named: Mapping[str, tuple[bool, bool]]
    others: Sequence[tuple[EagerTensor, tuple[bool, bool]]]

    @classmethod
    def of(cls, names: Mapping[int, str], read: Iterable[Any]) -> SameFlags:
        """Those that were read, with their flags; `names` are those in the Program, by id."""
        named = {names[id(tensor)]: flags for tensor, flags in read if id(tensor) in names}
        return cls(named, [found for found in read if id(found[0]) not in names])

    def hold(self, now: State) -> bool:
        """Whether it still is so."""
        tensors = [now[name] for name in self.named]
        are_ends = [tensor.node for tensor in tensors].count(None) == len(tensors)
        are_same = are_ends and [tensor.stopped for tensor in tensors] == self._if_ends
        are_same = are_same or list(map(flags_of, tensors)) == list(self.named.values())
        return are_same and all(flags_of(tensor) == flags for tensor, flags in self.others)

    @cached_property
    def _if_ends(self) -> list[bool] | None:
        """What `stopped` of the tensors is if no operator has made any; None if one has."""
        flags = self.named.values()
        return [stopped for stopped, _ in flags] if all(is_end for _, is_end in flags) else None


@dataclass(frozen=True)
class OneTensor:
    """Places of one tensor, which must go on being one; that one, if something else holds it."""

    name: str
    places: list[tuple[Mapping[str, Any], str]]
    tensor: EagerTensor | None

    def holds(self) -> bool:
        """Whether they still are."""
        held = [store.get(name) for store, name in self.places]
        wanted = held[0] if self.tensor is None else self.tensor
        return all(one is wanted for one in held)
