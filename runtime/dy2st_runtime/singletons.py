"""Makes an object once a process: one thread makes it, others wait, and so does a fork.

`functools.cache` lets two threads that come at once make two, of which one is dropped while it may
be in use. A lock that some thread holds while another one forks would be held for ever in the
child, so a fork first takes every lock that is registered here.
"""

from __future__ import annotations

import os
from _thread import RLock
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_lock = RLock()
# Whoever makes something may take the others meanwhile, so that one comes first.
_locks: list[AbstractContextManager[Any]] = [_lock]
_taken: list[AbstractContextManager[Any]] = []


def once(make: Callable[P, R]) -> Callable[P, R]:
    """Mark a function of hashable positional arguments that runs once for each of them.

    >>> table = once(lambda: [])
    >>> table() is table()
    True
    """
    made: dict[Any, R] = {}

    @wraps(make)
    def get(*args: P.args, **kwargs: P.kwargs) -> R:
        assert not kwargs
        if args not in made:
            with _lock:
                if args not in made:
                    made[args] = make(*args, **kwargs)
        return made[args]

    return get


def held_by_forks(lock: AbstractContextManager[Any]) -> None:
    """Let a fork wait until no other thread holds a lock, so that a child finds it free.

    The lock is one that the thread which holds it may take once more.
    """
    if lock not in _locks:
        _locks.append(lock)


def _take() -> None:
    for lock in _locks:
        lock.__enter__()
        _taken.append(lock)


def _release() -> None:
    while _taken:
        _taken.pop().__exit__(None, None, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take, after_in_parent=_release, after_in_child=_release)

__all__ = ["held_by_forks", "once"]
