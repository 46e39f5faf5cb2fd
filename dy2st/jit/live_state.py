"""The tensors that a Program reads when it runs, what becomes of them, and guards of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dy2st_runtime.autograd import Array
from dy2st_runtime.ir.tracing.gradient_flow import flags_of
from dy2st_runtime.lazy import cached_property
from dy2st_runtime.resident import Resident
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

    def last(self) -> dict[str, EagerTensor]:
        """The tensors of the last call, which it may have replaced."""
        return self._tensors

    def only(self, names: Iterable[str]) -> LiveState:
        """Those of some names."""
        return LiveState({name: self._tensors[name] for name in names}, self.places)


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
