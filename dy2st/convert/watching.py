"""Who wants to know which functions converted code calls: every trace of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType

from dy2st_runtime.thread_state import Shared, ThreadState


class _Watched(ThreadState):
    functions: dict[int, FunctionType] | None = None
    meet: Callable[[type, bool], None] | None = None


watched = _Watched()


class Era:
    """The time between two changes in who watches."""

    __slots__ = ()


class _Now:
    __slots__ = ("era",)

    def __init__(self) -> None:
        self.era = Era()

    def renew(self) -> None:
        """A new era begins."""
        self.era = Era()


now = _Now()
_watches = Shared(now.renew, now.renew)


@contextmanager
def watch(meet: Callable[[type, bool], None]) -> Iterator[dict[int, FunctionType]]:
    """Gather the functions that are called in converted form inside the `with`.

    `meet` is told the classes of objects whose methods are called, and (with True) those called.
    """
    outer, outer_meet = watched.functions, watched.meet
    functions: dict[int, FunctionType] = {}
    watched.functions, watched.meet = functions, meet
    try:
        with _watches.held():
            yield functions
    finally:
        watched.functions, watched.meet = outer, outer_meet


def is_noted(function: FunctionType) -> bool:
    """Note a function for the one who watches; whether that holds for all of this era."""
    functions = watched.functions
    if functions is None:
        return not _watches.users
    functions[id(function)] = function
    return _watches.users.__len__() == 1  # the user may have a `len` of her own
