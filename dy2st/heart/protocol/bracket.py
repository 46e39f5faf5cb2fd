"""Native code with real objects: it sees what the trace has written, and the trace what it does.

The objects that it can reach get what the trace holds for them, and afterwards what they had.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dy2st.heart.states import has_states, read_state, same_state, write_state
from dy2st.heart.trace import CONTAINERS, CONTENT, STATE, Trace
from dy2st.heart.values.special import Dynamic, Union


def bracketed(trace: Trace, reached: Iterable[Any], run: Callable[[], Any]) -> Any:
    """Run native code that can reach some objects; what it does to them is written by the trace."""
    held = [_Held(trace, one) for one in reached if _may_change(trace, one)]
    for one in held:
        one.begin()
    try:
        return run()
    finally:
        for one in held:
            one.end()


def shown(trace: Trace, value: Any) -> Any:
    """An argument of native code: a container itself, where the bracket lets it hold all."""
    if type(value) in CONTAINERS and type(trace.content(value)) in CONTAINERS:
        return value if _may_change(trace, value) else trace.native(value)
    return trace.native(value)


def _may_change(trace: Trace, value: Any) -> bool:
    """Whether native code could change an object that the code that runs now has not made."""
    if trace.is_made_here(value):
        return False
    if type(value) not in CONTAINERS:
        return has_states(value)
    items = trace.content(value)
    if type(items) in (Dynamic, Union):
        return False
    values = items.values() if isinstance(items, dict) else items
    return not any(type(one) in (Dynamic, Union) for one in values)


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

    def end(self) -> None:
        """Write what has changed, and give the object back what it had."""
        after = read_state(self.owner)
        is_changed = not same_state(after, self.now)
        if is_changed or self.now is not self.before:
            write_state(self.owner, self.before)
        if self.name is STATE:
            self.trace.read("state", self.owner, None, None)
        if is_changed:
            self.trace.invalidate_twins(self.owner)
            self.trace.write(self.owner, self.name, after)


__all__ = ["bracketed", "shown"]
