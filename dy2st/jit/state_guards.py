"""What a Program asks of its tensors at each call: which are one, and how gradients flow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dy2st.jit.live_state import LiveState
from dy2st_runtime.ir.tracing.gradient_flow import flags_of
from dy2st_runtime.tensor import EagerTensor


@dataclass(frozen=True)
class SameFlags:
    """Whether gradients flow through tensors, and begin there: those of a Program by name, and
    others."""

    live: LiveState
    named: Mapping[str, tuple[bool, bool]]
    others: Sequence[tuple[EagerTensor, tuple[bool, bool]]]

    @classmethod
    def of(cls, live: LiveState, names: Mapping[int, str], read: Iterable[Any]) -> SameFlags:
        """Those that were read, with their flags; `names` are those in the Program, by id."""
        named = {names[id(tensor)]: flags for tensor, flags in read if id(tensor) in names}
        return cls(live, named, [found for found in read if id(found[0]) not in names])

    def holds(self) -> bool:
        """Whether it still is so."""
        now = self.live.now()
        known = all(flags_of(now[name]) == flags for name, flags in self.named.items())
        return known and all(flags_of(tensor) == flags for tensor, flags in self.others)


@dataclass(frozen=True)
class AllApart:
    """The tensors of the state are as many: a change of one in place is none of another."""

    live: LiveState

    def holds(self) -> bool:
        """Whether they still are."""
        held = self.live.now().values()
        return len({id(tensor) for tensor in held}) == len(held)


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
