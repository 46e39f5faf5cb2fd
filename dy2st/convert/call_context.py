"""Keeps what the caches of the user's functions answer in one call of a converted function.

Python asks them once a use; so does a call, however many Programs are tried for it, and however
often it is traced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dy2st.convert.types import same
from dy2st_runtime.errors import ConversionError, Location
from dy2st_runtime.identity_tables import reference_to


@dataclass(eq=False)
class _Asked:
    """A question, and what was answered or raised."""

    function: Callable[..., Any]
    args: Sequence[Any]
    options: Mapping[str, Any]
    found: Any = None
    error: Exception | None = None

    def is_same(self, other: _Asked) -> bool:
        """Whether two questions are one."""
        ours, theirs = (one.args for one in (self, other))
        return (
            self.function == other.function
            and len(ours) == len(theirs)
            and list(self.options) == list(other.options)
            and all(map(same, ours, theirs))
            and all(map(same, self.options.values(), other.options.values()))
        )


class AsksCaches(ConversionError):
    """A trace that may be in vain would fill a cache of the user's."""


@dataclass(eq=False)
class CallContext:
    """One call of a converted function.

    gradients  whether they are recorded, and the `stop_gradient` of each tensor; None without a
               call.
    is_lost    whether a trace of it raises what Python is to raise by itself.
    place      how many questions the trace that runs has asked so far.
    is_tentative  whether Python makes the call where a trace is refused: the trace does nothing
               that cannot be undone.
    may_ask    whether caches are asked all the same, since Python has asked them before.
    may_leave  whether Python is to make the call, which makes parameters at a place.
    """

    gradients: tuple[bool, ...] | None = None
    is_lost: bool = False
    is_tentative: bool = False
    may_ask: bool = True
    may_leave: Callable[[Location | None], bool] = field(default=lambda at: False)
    _asked: list[_Asked] = field(default_factory=list)
    place: int = 0

    def lose(self) -> None:
        """The trace has raised, and what was written before is written by nobody."""
        self.is_lost = True

    def begin(self) -> None:
        """The function is traced, or its caches are asked, from the beginning."""
        self.place = 0

    def ask(self, function: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
        """What a function answers that Python asks once here."""
        if not self.may_ask:
            raise AsksCaches(
                f"the cache of {getattr(function, '__name__', 'a function')}() is asked"
            )
        asked, place = _Asked(function, args, options), self.place
        if place == len(self._asked) or not self._asked[place].is_same(asked):
            try:
                asked.found = function(*args, **options)
            except Exception as error:  # raised below, in every trace
                asked.error = error
            self._asked[place:] = [asked]
        self.place += 1
        known = self._asked[place]
        if known.error is not None:
            raise known.error
        return known.found


class Answer:
    """What a cache has answered while a function was traced; it keeps no object alive."""

    def __init__(self, function: Any, args: Sequence[Any], options: Mapping[str, Any], found: Any):
        """Remember it."""
        self._function, self._found = reference_to(function), reference_to(found)
        self._args = [reference_to(value) for value in args]
        self._options = {name: reference_to(value) for name, value in options.items()}

    def is_of(self, function: Any) -> bool:
        """Whether it is the answer of a function."""
        return self._function() is function

    def holds(self, call: CallContext) -> bool:
        """Ask the cache, as Python does at every call: whether it gives the same."""
        function = self._function()
        if function is None:
            return False
        args = tuple(get() for get in self._args)
        options = {name: get() for name, get in self._options.items()}
        try:
            return same(call.ask(function, args, options), self._found())
        except Exception:  # the trace that follows raises it
            return False
