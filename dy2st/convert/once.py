"""What one call of a converted function does once, however often it is traced for that call.

Calls that reach beyond the function's own objects, and those of functions with a cache, are noted
in their order with what they gave; a trace that begins anew gets that again.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Callable
from pathlib import PurePath
from typing import Any

from dy2st.convert.hidden import has_state, set_state, state_of
from dy2st.convert.joining import same_constant
from dy2st.convert.references import reference_to
from dy2st_runtime.errors import ConversionError, Location
from dy2st_runtime.ir import Tracer, user_location
from dy2st_runtime.ir.structure import flatten, is_container

LRU_CACHE: type = type(functools.lru_cache(abs))


class Done:
    """A call that was made, and what it gave.

    what    what it does beyond the function; empty for the answer of a cache.
    stream  the stream whose method it is, and its file: it closes when nobody else holds it.
    is_new  whether a cache had to compute its answer.
    """

    def __init__(self, function: Any, arguments: Any, options: Any, what: str = "") -> None:
        """It has given None so far."""
        owner = getattr(function, "__self__", None)
        is_stream = isinstance(owner, io.IOBase)
        self.function = function.__name__ if is_stream else function
        self.stream = reference_to(owner if is_stream else None)
        self.file = getattr(owner, "name", None), str(getattr(owner, "mode", ""))
        self.arguments, self.options = arguments, options
        self.what, self.at = what, user_location()
        self.is_new = False
        self.result: Any = None
        self.error: Exception | None = None

    def make(self, run: Callable[..., Any]) -> None:
        """Make the call."""
        try:
            self.result = run(*self.arguments, **self.options)
        except Exception as error:  # goes on in `given`, at every trace
            self.error = error

    def given(self) -> Any:
        """What the call gave, or raised."""
        if self.error is not None:
            raise self.error
        return self.result

    def is_same(self, other: Done) -> bool:
        """Whether two traces mean one call."""
        return self._says_the_same(other) and self.stream() is other.stream()

    def is_reopened(self, other: Done) -> bool:
        """Whether the other call is on a stream of the same file that was opened anew."""
        is_stream = isinstance(other.stream(), io.IOBase)
        return is_stream and self._says_the_same(other) and self.file == other.file

    def _says_the_same(self, other: Done) -> bool:
        given, others = [(one.arguments, one.options) for one in (self, other)]
        return _same_function(self.function, other.function) and same_values(given, others)


class OneCall:
    """What was done so far in one call of a converted function.

    `gradients` are whether they are recorded, and the `stop_gradient` of each tensor; None where
    there is no call yet.
    """

    def __init__(self, gradients: tuple[bool, ...] | None = None) -> None:
        """Nothing."""
        self.gradients = gradients
        self.made: list[Done] = []
        self._place = 0
        self._lasting: tuple[str, Location | None] = ("", None)
        self._random: dict[int, tuple[Any, Any]] = {}

    def begin(self) -> None:
        """The function is traced, or its caches asked, from the beginning."""
        what, at = self._lasting
        if what:
            raise _done_twice(what, at)
        self._place = 0
        for owner, state in self._random.values():
            set_state(owner, state)

    def finish(self) -> None:
        """A trace ends: what earlier ones did is part of it, too."""
        self._refuse_left()

    def lasts(self, what: str) -> None:
        """Something was done that no further trace may do, and none can do without."""
        self._lasting = what, user_location()

    def draws(self, owner: Any) -> None:
        """A random number is drawn; a further trace draws the same."""
        if id(owner) not in self._random and has_state(owner):
            self._random[id(owner)] = owner, state_of(owner)

    def ask(self, cached: Any, arguments: Any, options: Any) -> Done:
        """What a cache answers."""
        asked = Done(cached, arguments, options)
        known = self._known(asked)
        if known is None:
            before = cached.cache_info().misses
            asked.make(cached)
            asked.is_new = cached.cache_info().misses != before
            known = self._note(asked)
        return known

    def once(
        self, function: Any, what: str, run: Callable[..., Any] | None = None
    ) -> Callable[..., Any]:
        """What to call instead of a function that reaches beyond; `run` does it in other words."""

        def call(*arguments: Any, **options: Any) -> Any:
            done = Done(function, arguments, options, what)
            known = self._known(done)
            if known is None:
                done.make(function if run is None else run)
                known = self._note(done)
            return known.given()

        return call

    def once_in_place(self, function: Any, what: str) -> Callable[..., Any]:
        """As `once`, for a function that gives None and looks who has called it."""
        done = Done(function, (), {}, what)
        if self._known(done) is not None:
            return _nothing
        self._note(done)
        known: Callable[..., Any] = function
        return known

    def _note(self, done: Done) -> Done:
        self.made[self._place : self._place + 1] = [done]
        self._place += 1
        return done

    def _known(self, done: Done) -> Done | None:
        """The same call, if an earlier trace has made it."""
        if self._place == len(self.made):
            return None
        known = self.made[self._place]
        is_reopened = known.is_reopened(done)
        if is_reopened and "w" in done.file[1]:  # which has emptied it
            return None
        if is_reopened or known.is_same(done):
            self._place += 1
            return known
        self._refuse_left()
        del self.made[self._place :]
        return None

    def _refuse_left(self) -> None:
        for done in self.made[self._place :]:
            if done.what:
                raise _done_twice(done.what, done.at)


class Answer:
    """What a cache has answered while a function was traced, without keeping objects alive."""

    def __init__(self, done: Done) -> None:
        """Remember it."""
        self._function = reference_to(done.function)
        self._arguments = [reference_to(value) for value in done.arguments]
        self._options = {name: reference_to(value) for name, value in done.options.items()}
        self._result = reference_to(done.result)

    def holds(self, call: OneCall) -> bool:
        """Ask the cache, as Python does at every call: whether it gives the same."""
        cached = self._function()
        if cached is None:
            return False
        arguments = tuple(get() for get in self._arguments)
        options = {name: get() for name, get in self._options.items()}
        return same_constant(call.ask(cached, arguments, options).given(), self._result())


def call_of(tracer: Tracer) -> OneCall:
    """The call for which a function is traced."""
    if tracer.one_call is None:
        tracer.one_call = OneCall()
    call: OneCall = tracer.one_call
    return call


def same_values(left: Any, right: Any) -> bool:
    """Whether two containers hold values that nobody can tell apart."""
    ours, form = flatten(left, lambda entry: not is_container(entry))
    theirs, other = flatten(right, lambda entry: not is_container(entry))
    return bool(form == other) and all(map(_same, ours, theirs))


def _same(left: Any, right: Any) -> bool:
    is_path = isinstance(left, PurePath) and type(left) is type(right)
    return bool(left == right) if is_path else same_constant(left, right)


def _same_function(left: Any, right: Any) -> bool:
    if left is right or left == right:
        return True
    one, another = getattr(left, "__self__", None), getattr(right, "__self__", None)
    is_path = isinstance(one, PurePath) and _same(one, another)
    return is_path and bool(left.__name__ == right.__name__)


def _nothing(*arguments: Any, **options: Any) -> None:
    """Stand for a call that an earlier trace has made."""


def _done_twice(what: str, at: Location | None) -> ConversionError:
    return ConversionError(
        f"{what} in a function that has to be traced more than once",
        at=at,
        why="a tensor decides on what Python does by itself (an exception that passes a call, a "
        "property, a generator), so the trace began anew, and this would happen twice",
        hint="do it outside of the converted function, before or after the call",
    )


__all__ = ["Answer", "Done", "OneCall", "call_of", "same_values"]
