"""Native code with real objects: it sees what the trace has written, and the trace what it does.

The objects that it can reach get what the trace holds for them, and afterwards what they had.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from dy2st.convert.kinds.process import variables
from dy2st.convert.objects import ATOMS, is_plain_field, slots_of
from dy2st.convert.protocol.shared_variables import HeldVariable, held_variables
from dy2st.convert.states import base_of, has_states, read_state, same_state, write_state
from dy2st.convert.trace import CONTAINERS, CONTENT, MISSING, STATE, Trace, native_attribute
from dy2st.convert.values.special import SymbolicSequence, Union
from dy2st_runtime.ir import Tensor
from dy2st_runtime.nn.layer import Layer


def with_overlay_materialised(
    trace: Trace, reached: Iterable[Any], run: Callable[[], Any], only_reads: bool = False
) -> Any:
    """Run native code that can reach some objects; what it does to them is written by the trace.

    only_reads: it changes none of them.
    """
    # Any code finds these by itself.
    by_itself = (sys.modules, sys.path, variables())
    reached = [*reached, *(one for one in by_itself if (id(one), CONTENT) in trace.over)]
    reached += [root for one in reached if (root := viewed(trace, one)) is not None]
    reached = list({id(one): one for one in reached}.values())
    older = [one for one in reached if not trace.is_made_here(one)]
    if only_reads:
        written_to = {key for key, _ in trace.over}
        older = [one for one in older if id(one) in written_to]
    held: list[_Held | _HeldFields | HeldVariable] = [
        _Held(trace, one) for one in older if _may_change(trace, one)
    ]
    written: dict[int, dict[str, Any]] = {}
    for (of, name), place in trace.over.items():
        if isinstance(name, str):
            written.setdefault(of, {})[name] = place.value
    held += [_HeldFields(trace, one, written.get(id(one), {})) for one in older if _has_fields(one)]
    held += [
        _HeldLayer(trace, one, written[id(one)])
        for one in older
        if isinstance(one, Layer) and id(one) in written
    ]
    held += held_variables(trace, reached)
    known = len(trace.undo_stack)
    trace.undo_stack += [
        one.give_back for one in held
    ]  # before: Ctrl-C may come between any two steps
    try:
        for one in held:
            one.begin()
        return run()
    finally:
        for one in reversed(held):  # a dict of globals sees none that was put there after it
            one.end()
        del trace.undo_stack[known:]


def viewed(trace: Trace, value: Any) -> Any:
    """The array from outside into whose memory another one looks; None if it looks into none."""
    found = value
    while isinstance(found, np.ndarray) and isinstance(found.base, np.ndarray):
        found = found.base
    return found if found is not value and trace.is_outside(found) else None


def shown(trace: Trace, value: Any, is_kept: bool = False) -> Any:
    """An argument of native code: a container itself, where the bracket lets it hold all.

    is_kept: what is given an array keeps it, as constants of a Program do.
    """
    if issubclass(type(value), np.ndarray) and not is_kept:  # a proxy is none
        return value
    if type(value) in CONTAINERS and type(trace.content(value)) in CONTAINERS:
        return value if _may_change(trace, value) else trace.native(value)
    return trace.native(value)


def _may_change(trace: Trace, value: Any) -> bool:
    """Whether native code could change an object that the code that runs now has not made."""
    if trace.is_made_here(value):
        return False
    if type(value) not in CONTAINERS:
        return has_states(value) or base_of(value) is not None
    items = trace.content(value)
    if type(items) in (SymbolicSequence, Union):
        return False
    values = items.values() if isinstance(items, dict) else items
    return not any(type(one) in (SymbolicSequence, Union) for one in values)


class _Held:
    """An object that native code may change: what it holds, and what the trace holds for it."""

    def __init__(self, trace: Trace, owner: Any):
        """Look at it before the code runs."""
        self.trace, self.owner = trace, owner
        self.name = CONTENT if type(owner) in CONTAINERS else STATE
        self.before = read_state(owner)
        place = trace.over.get((id(owner), self.name))
        self.now = self.before if place is None else place.value

    def begin(self) -> None:
        """Show native code what the trace holds."""
        if self.now is not self.before:
            write_state(self.owner, self.now)

    def give_back(self) -> None:
        """Give the object back what it had."""
        write_state(self.owner, self.before)

    def end(self) -> None:
        """Write what has changed, and give the object back what it had."""
        after = read_state(self.owner)
        if type(after) is dict and "__builtins__" not in self.now:
            after.pop("__builtins__", None)  # eval() puts them there
        is_changed = not same_state(after, self.now)
        if is_changed or self.now is not self.before:
            self.give_back()
        if self.name is STATE:
            self.trace.read("state", self.owner, None, None)
        if is_changed:
            self.trace.alias_tracker.part(self.owner)
            self.trace.write(self.owner, self.name, after)


def _has_fields(owner: Any) -> bool:
    """Whether an object has attributes that anybody may set, past the trace."""
    if type(owner) in ATOMS or type(owner) in CONTAINERS:
        return False
    if isinstance(owner, _OTHERS) or str(type(owner).__module__).startswith("dy2st"):
        return False
    return isinstance(getattr(owner, "__dict__", None), dict) or bool(slots_of(type(owner)))


_OTHERS = (type, ModuleType, FunctionType, Tensor, Layer)


class _HeldFields:
    """An object of the user's that native code may look at or change: its attributes."""

    def __init__(self, trace: Trace, owner: Any, written: dict[str, Any]):
        """Look at it before the code runs."""
        self.trace, self.owner = trace, owner
        self.slots = slots_of(type(owner))
        self.before = self.fields()
        self.now = self.before | written

    def fields(self) -> dict[str, Any]:
        """The attributes that it itself holds; those that are missing only as they are asked."""
        held = dict(getattr(self.owner, "__dict__", ()))
        return held | {name: native_attribute(self.owner, name) for name in self.slots}

    def begin(self) -> None:
        """Show native code what the trace holds."""
        for value in self.now.values():
            if type(value) in (SymbolicSequence, Union):
                self.trace.native(value)  # refused, in its words
        self.put(self.before, self.now)

    def give_back(self) -> None:
        """Give the object back what it had."""
        self.put(self.fields(), self.before)

    def end(self) -> None:
        """Write what has changed, and give the object back what it had."""
        after = self.fields()
        self.give_back()
        for name in {**self.now, **after}:
            value = after.get(name, MISSING)
            if value is not self.now.get(name, MISSING):
                self.trace.set_field(self.owner, name, value)

    def put(self, old: dict[str, Any], new: dict[str, Any]) -> None:
        """Let the object hold other attributes, past its class."""
        for name in {**old, **new}:
            value = new.get(name, MISSING)
            if value is old.get(name, MISSING):
                continue
            if name in self.slots:
                kind: Any = object
                kind.__delattr__(self.owner, name) if value is MISSING else kind.__setattr__(
                    self.owner, name, value
                )
            elif value is MISSING:
                del vars(self.owner)[name]
            else:
                vars(self.owner)[name] = value


class _HeldLayer(_HeldFields):
    """A Layer that native code may look at: what the trace has set of its plain attributes."""

    def __init__(self, trace: Trace, owner: Layer, written: dict[str, Any]):
        """Look at it before the code runs."""
        self.names = [name for name in written if is_plain_field(owner, name)]
        super().__init__(trace, owner, {name: written[name] for name in self.names})

    def fields(self) -> dict[str, Any]:
        """The attributes that the trace has set, as the Layer holds them."""
        held = vars(self.owner)
        return {name: held[name] for name in self.names if name in held}
