"""Variables that callbacks of native code share with the trace: globals, and those in cells."""

from __future__ import annotations

from collections.abc import Iterable
from types import CellType, FunctionType
from typing import Any

from dy2st.convert.ignored_modules import module_of_code
from dy2st.convert.kinds.process import is_of_library
from dy2st.convert.protocol.reachable_state import names_of
from dy2st.convert.trace import MISSING, Trace, native_attribute
from dy2st.convert.values.special import UNBOUND, SymbolicSequence, Union

_CELL = "cell_contents"


class HeldVariable:
    """A global or a cell: it holds what the trace has written for as long as native code runs."""

    def __init__(self, trace: Trace, owner: Any, name: str):
        """Look at it before the code runs."""
        self.trace, self.owner, self.name = trace, owner, name
        self.before = native_attribute(owner, name)
        place = trace.over.get((id(owner), name))
        self.now = self.before if place is None else place.value

    def begin(self) -> None:
        """Show native code what the trace holds."""
        if self.now is not self.before:
            self._put(self.now)

    def give_back(self) -> None:
        """Let it hold what it had."""
        self._put(self.before)

    def end(self) -> None:
        """Write what has changed, and give back what it had."""
        after = native_attribute(self.owner, self.name)
        if after is not self.before:
            self.give_back()
        if after is not self.now:
            self.trace.write(self.owner, self.name, after)

    def _put(self, value: Any) -> None:
        if type(self.owner) is CellType:
            self.owner.cell_contents = value
            if value is UNBOUND:
                del self.owner.cell_contents
        elif value is MISSING:
            self.owner.pop(self.name, None)
        else:
            self.owner[self.name] = value


def held_variables(trace: Trace, reached: Iterable[Any]) -> list[HeldVariable]:
    """The variables that functions may read or set which native code can reach."""
    found = {
        (id(place.owner), name): place.owner
        for (_, name), place in trace.over.items()
        if isinstance(name, str) and type(place.owner) in (dict, CellType)
    }
    named: set[tuple[int, str]] = set()
    for function in reached:
        if type(function) is FunctionType and not is_of_library(module_of_code(function)):
            places = _places(trace, function)
            named |= places.keys()
            found |= places
    held = [HeldVariable(trace, owner, name) for (_, name), owner in found.items()]
    for one in held:
        if type(one.now) in (SymbolicSequence, Union) and (id(one.owner), one.name) in named:
            trace.native(one.now)  # refused, in its words
    return [one for one in held if type(one.now) not in (SymbolicSequence, Union)]


def _places(trace: Trace, function: FunctionType) -> dict[tuple[int, str], Any]:
    """The globals that a function may set, and the variables of functions around it."""
    names = trace.mark_outside(function.__globals__)
    found: dict[tuple[int, str], Any] = {(id(names), n): names for n in names_of(function.__code__)}
    return found | {(id(cell), _CELL): cell for cell in function.__closure__ or ()}
