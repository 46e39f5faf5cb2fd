"""Trees over the outputs of a Program: what a call returns, and what it writes outside."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dy2st.heart.trace import CONTENT, MISSING, Place, Trace
from dy2st.heart.values.layout import is_traced_number, number_kind
from dy2st.heart.values.special import UNBOUND, Dynamic, Union
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.ir import Tensor, Variable
from dy2st_runtime.tensor import EagerTensor


@dataclass(frozen=True)
class Out:
    """The output of that index; a Python number of that kind where Python has one."""

    index: int
    number: type | None = None


@dataclass(frozen=True)
class State:
    """A tensor of the user's that the call hands on."""

    tensor: Any


@dataclass(eq=False)
class Made:
    """A new list, dict or object at each call; one that is met twice is made once."""

    kind: type
    keys: Sequence[Any]
    items: list[Any]
    like: Any = None


@dataclass(eq=False)
class Several:
    """One of several values, by a tag."""

    tag: Out
    cases: list[Any]


@dataclass(eq=False)
class Rows:
    """A list of a length: arrays, side by side, and the tree of one element over `Out`s."""

    kind: type
    arrays: list[Out]
    element: Any
    like: Any = None


@dataclass(eq=False)
class Effect:
    """A place outside that the call writes."""

    owner: Any
    name: Any
    value: Any
    before: Any = None


@dataclass(eq=False)
class Finished:
    """What a call gives back, and what it writes."""

    result: Any = None
    effects: list[Effect] = field(default_factory=list)


def finish(trace: Trace, result: Any, state: dict[str, EagerTensor]) -> Finished:
    """Let the Program yield what the result and the effects need."""
    taker = _Taker(trace)
    found = Finished(taker.take(result))
    for place in list(trace.over.values()):
        if trace.is_outside(place.owner):
            found.effects.append(taker.effect(place))
    program = trace.tracer.program
    program.block.yields = taker.leaves
    program.structure = [None] * 0
    by_id = {id(tensor): key for key, tensor in state.items()}
    for tensor, variable in trace.tracer.assigned():
        key = by_id[id(tensor)]
        new = trace.tracer.flags.value_of(variable)
        if new is not program.state[key]:
            program.updates.append(key)
            program.block.yields.append(trace.tracer.local(new))
    return found


class _Taker:
    """Takes values apart; what the Program computes becomes an output."""

    def __init__(self, trace: Trace):
        self.trace = trace
        self.leaves: list[Variable] = []
        self.known: dict[int, Any] = {}
        self.places: dict[Variable, int] = {}

    def out(self, variable: Variable, number: type | None = None) -> Out:
        local = self.trace.tracer.local(variable)
        if local not in self.places:
            self.places[local] = len(self.leaves)
            self.leaves.append(local)
        return Out(self.places[local], number)

    def take(self, value: Any) -> Any:
        if isinstance(value, (Variable, Dim, Condition)):
            kind = number_kind(value)
            return self.out(self.trace.tracer.variable(value), kind)
        if isinstance(value, EagerTensor):
            known = self.trace.tracer.captured_already(value)
            return State(value) if known is None else self.out(known)
        if type(value) is Union:
            return self._union(value)
        if type(value) is tuple:
            items = [self.take(item) for item in value]
            return Made(tuple, (), items) if not _all_plain(items) else value
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return Made(type(value), (), [self.take(item) for item in value])
        if type(value) is Dynamic:
            return self._rows(value)
        if id(value) in self.known:
            return self.known[id(value)]
        return self._object(value)

    def _object(self, value: Any) -> Any:
        trace, kind = self.trace, type(value)
        if trace.is_outside(value) or kind in (str, int, float, bool, bytes, type(None)):
            return value
        if kind in (list, deque, dict):
            return self._container(value, kind)
        held = trace.fields(value)
        if held is None or not any(map(_holds_traced, held.values())):
            return value
        made = self.known[id(value)] = Made(kind, list(held), [], object)
        made.items += [self.take(item) for item in held.values()]
        return made

    def _container(self, value: Any, kind: type) -> Any:
        content = self.trace.content(value)
        if type(content) is Dynamic:
            return self._rows(content)
        if type(content) is Union:
            return self._union(content)
        keys = list(content) if isinstance(content, dict) else ()
        made = self.known[id(value)] = Made(kind, keys, [], value)
        items = content.values() if isinstance(content, dict) else content
        made.items += [self.take(item) for item in items]
        return made

    def _rows(self, content: Dynamic) -> Rows:
        arrays = [self.out(array) for array in content.arrays]
        return Rows(content.kind, arrays, content.element, content.like)

    def _union(self, value: Union) -> Several:
        tag = self.out(value.tag, int)
        cases = [
            (layout, [self.out(array) for array in arrays])
            for layout, arrays in zip(value.layouts, value.arrays, strict=True)
        ]
        return Several(tag, cases)

    def effect(self, place: Place) -> Effect:
        """What a call writes into a place outside."""
        value = place.value
        if place.name is CONTENT and type(value) not in (Dynamic, Union):
            items = list(value.items()) if isinstance(value, dict) else list(value)
            taken = [self.take(item) for item in items]
            return Effect(place.owner, CONTENT, taken)
        if value in (MISSING, UNBOUND) if isinstance(value, type(UNBOUND)) else value is MISSING:
            return Effect(place.owner, place.name, value)
        return Effect(place.owner, place.name, self.take(value))


def _all_plain(items: Sequence[Any]) -> bool:
    return not any(isinstance(item, (Out, State, Made, Several, Rows)) for item in items)


def _holds_traced(value: Any) -> bool:
    return isinstance(value, (Tensor, Dim, Condition, Union, Dynamic, list, dict, tuple)) or (
        is_traced_number(value)
    )


__all__ = ["Effect", "Finished", "Made", "Out", "Rows", "Several", "State", "finish"]
