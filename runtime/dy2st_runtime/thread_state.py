"""Keeps state of threads and of objects while dy2st works, and restores what it changes for all.

Ctrl-C may come between any two steps, also in a `finally`; and a process may be forked while other
threads work. So nothing is counted up and down, and no lock is held: what was before is put back,
as often as one likes. What belongs to objects is found by identity, without holding them.
"""

from __future__ import annotations

import gc
import weakref
from _thread import _local  # threading.local, without the module that nobody else may need
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial, wraps
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")
Key = TypeVar("Key")
Value = TypeVar("Value")


class ThreadState(_local):
    """Attributes of each thread, which `Before` puts back; their values are never changed."""

    def __new__(cls) -> ThreadState:
        """One for all threads, known to `Before`."""
        made = super().__new__(cls)
        _states.append(made)
        return made

    def put_back(self, before: dict[str, Any]) -> None:
        """Have the attributes of before."""
        own = vars(self)
        own.update(before)
        for name in own.keys() - before.keys():
            own.pop(name, None)


class Shared:
    """A change that all threads see, for as long as somebody needs it."""

    def __init__(self, make: Callable[[], None], undo: Callable[[], None]) -> None:
        """Take what makes the change and what undoes it, however often they are called."""
        self._make, self._undo = make, undo
        self.users: set[object] = set()

    def hold(self) -> object:
        """From now on somebody needs it: who is given back, for `release`."""
        user = object()
        _held.users = (*_held.users, (self, user))
        self.users.add(user)
        self._make()
        return user

    def release(self, user: object) -> None:
        """Somebody needs it no longer."""
        self.users.discard(user)
        if not self.users:
            self._undo()
            if self.users:  # another thread has come meanwhile
                self._make()
        _held.users = tuple(held for held in _held.users if held[1] is not user)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Inside the `with` somebody needs it."""
        user = self.hold()
        try:
            yield
        finally:
            self.release(user)


class Before:
    """The state of this thread at a moment."""

    def __init__(self) -> None:
        """Now."""
        self._collects = gc.isenabled()
        self._known = [(state, dict(vars(state))) for state in _states]

    def put_back(self) -> None:
        """Have it again; a second time does nothing."""
        for state, before in self._known:
            state.put_back(before)
        if self._collects:
            gc.enable()


_WITH = ("contextlib", "dy2st", "dy2st_runtime")


def end_withs(error: BaseException) -> None:
    """End the `with` statements of ours that Ctrl-C has left: they would at any later time.

    Their managers are generators, which frames of the traceback hold.
    """
    trace = None if isinstance(error, Exception) else error.__traceback__
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__"))
        if module.partition(".")[0] in _WITH:
            with suppress(RuntimeError):  # it still runs
                trace.tb_frame.clear()
        trace = trace.tb_next


def put_back_after_errors(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a function whose `with` statements Ctrl-C may leave before they have ended."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        before = Before()
        try:
            try:
                return function(*args, **kwargs)
            except BaseException as error:  # goes on
                end_withs(error)
                before.put_back()
                raise
        except BaseException:  # once more: Ctrl-C may have come in the midst of the first
            before.put_back()
            raise

    return run


def room_for_frames(function: Callable[P, R]) -> Callable[P, R]:
    """Let all that a function calls have its frames in one piece of memory.

    Since 3.11 Python gets memory for frames in chunks of 16 kB, and gives each back once it is
    empty: a call from a depth where a chunk ends costs microseconds each time, for pages that the
    system clears. Frames that are said to be large get one of the next power of two, whose rest is
    for all that they call; of both only what is used takes memory.
    """
    made = cast("FunctionType", function)
    made.__code__ = made.__code__.replace(co_stacksize=_ROOM)
    return function


_ROOM = 1 << 16  # words, and as many are left for frames: half a megabyte

_states: list[ThreadState] = []


class _Held(ThreadState):
    users: tuple[tuple[Shared, object], ...] = ()

    def put_back(self, before: dict[str, Any]) -> None:
        """Release what has been held since."""
        known = before.get("users", ())
        for shared, user in self.users:
            if not any(user is held for _, held in known):
                shared.release(user)
        super().put_back(before)


_held = _Held()


def reference_to(instance: Any) -> Callable[[], Any]:
    """A weak reference, or a strong one to what takes none."""
    try:
        return weakref.ref(instance)
    except TypeError:
        return lambda: instance


class ByIdentity(Generic[Key, Value]):
    """Values of objects; a value goes with its object.

    Nothing of Python runs when an object goes: the search for garbage begins anywhere, so that a
    Python function would let other threads run in the midst of what C does at once (`ast.parse` of
    CPython 3.11 breaks by that), and Ctrl-C in it would be lost.

    >>> table = ByIdentity()
    >>> table[ByIdentity] = 1
    >>> table.get(ByIdentity), table.get(int)
    (1, None)
    """

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        """Start empty."""
        self._entries: dict[int, tuple[weakref.ref[Any], Value]] = {}

    def get(self, key: Key) -> Value | None:
        """What belongs to the object; None if nothing does."""
        known = self._entries.get(id(key))
        return known[1] if known is not None and known[0]() is key else None

    def __setitem__(self, key: Key, value: Value) -> None:
        """Let a value belong to an object, which can be referenced weakly."""
        # `pop` takes the reference, which it is called with, as its default.
        gone = partial(self._entries.pop, id(key))
        self._entries[id(key)] = weakref.ref(key, gone), value

    def setdefault(self, key: Key, value: Value) -> Value:
        """What belongs to the object; from now on this value, if nothing did."""
        gone = partial(self._entries.pop, id(key))
        return self._entries.setdefault(id(key), (weakref.ref(key, gone), value))[1]

    def pop(self, key: Key) -> Value:
        """What belongs to the object, and no longer."""
        return self._entries.pop(id(key))[1]

    def clear(self) -> None:
        """Forget all."""
        self._entries.clear()

    def __len__(self) -> int:
        """How many objects have a value."""
        return len(self._entries)


class _Paused(ThreadState):
    """Whether there was a search for garbage before it was paused."""

    was_enabled = False


_paused = _Paused()


@contextmanager
def without_collection() -> Iterator[None]:
    """What is made inside is kept: to look for garbage among it costs up to twice the time."""
    outer, was_enabled = _paused.was_enabled, gc.isenabled()
    _paused.was_enabled = outer or was_enabled
    gc.disable()
    try:
        yield
    finally:
        _paused.was_enabled = outer
        if was_enabled:
            gc.enable()


@contextmanager
def collection_as_before() -> Iterator[None]:
    """What asks for it inside finds the search for garbage as it was before it was paused."""
    is_paused = _paused.was_enabled and not gc.isenabled()
    if is_paused:
        gc.enable()
    try:
        yield
    finally:
        if is_paused:
            gc.disable()
