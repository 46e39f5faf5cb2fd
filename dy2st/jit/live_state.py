"""The tensors that a Program reads when it runs, and what becomes of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dy2st_runtime.autograd import Array
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
    tensor: EagerTensor, value: EagerTensor | Array, may_be_cut: bool, records: bool
) -> None:
    """A tensor that the call has changed in place; `set_value` cuts it off what it was made of.

    Where nothing is recorded for gradients they go on flowing to that. An array is a tensor to
    which none flow.
    """
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
