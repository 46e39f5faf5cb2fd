"""Groups of processes, and the one of all: it is made when this process joins the others."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TypeVar

from dy2st_runtime.errors import ArgumentError, PeerError
from dy2st_runtime.processes import environment
from dy2st_runtime.processes.channel import Channel, Work, connect, disconnect

R = TypeVar("R")


class Group:
    """Some of the processes, by their ranks; this one may be among them or not.

    `ranks` are those among all processes; `rank` is the place of this one, -1 if it takes no part.

    >>> group = Group([0])
    >>> group.nranks, group.rank, group.ranks, group.get_group_rank(3)
    (1, 0, [0], -1)
    """

    def __init__(
        self, ranks: Sequence[int] = (0,), id: int = 0, timeout: float | None = None
    ) -> None:
        """Take the ranks, a number, and after how many seconds a collective fails."""
        env = environment()
        self.ranks, self.id = list(ranks), id
        self.timeout = env.group_timeout if timeout is None else timeout
        self._own = env.rank
        self._channel: Channel | None = None

    @property
    def rank(self) -> int:
        """The place of this process, -1 if it takes no part."""
        return self.get_group_rank(self._own)

    @property
    def nranks(self) -> int:
        """How many processes take part.

        >>> Group([0, 1]).nranks
        2
        """
        return len(self.ranks)

    world_size = nranks

    @property
    def name(self) -> str:
        """What to call it.

        >>> Group([0], id=3).name
        '_default_pg3'
        """
        return f"_default_pg{self.id or ''}"

    @property
    def process_group(self) -> Group:
        """The group itself.

        >>> group = Group([0])
        >>> group.process_group is group
        True
        """
        return self

    def is_member(self) -> bool:
        """Whether this process takes part.

        >>> Group([0]).is_member(), Group([1]).is_member()
        (True, False)
        """
        return self.rank >= 0

    def get_group_rank(self, rank: int) -> int:
        """The place in the group of a rank among all processes, -1 if it takes no part."""
        return self.ranks.index(rank) if rank in self.ranks else -1

    def start(self, what: str, run: Callable[[Channel], R]) -> Work[R]:
        """Do something with the others, in another thread; `finish` waits for it.

        >>> Group([0, 1]).start("sum", lambda channel: None)  # doctest: +SKIP
        """
        if self._channel is None:
            if not _STATE.joined:
                raise ArgumentError(f"{what}: call init_parallel_env() first")
            self._channel = Channel(self.ranks, self._own)
        return self._channel.start(what, run)

    def finish(self, work: Work[R]) -> R:
        """The result of what was started.

        Raises PeerError if a process is gone or does something else, PeerTimeout if it hangs.

        >>> group = Group([0, 1])
        >>> group.finish(group.start("sum", lambda channel: None))  # doctest: +SKIP
        """
        return work.result(self.timeout, self.ranks)

    def __repr__(self) -> str:
        """The rank and the ranks."""
        return f"Group(rank={self.rank}, ranks={self.ranks}, id={self.id})"


class _State:
    """Whether this process has joined the others, and all groups by their numbers."""

    joined = False

    def __init__(self) -> None:
        self.groups: dict[int, Group] = {}


_STATE = _State()


def is_joined() -> bool:
    """Whether several processes are connected."""
    return _STATE.joined


def world() -> Group:
    """The group of all processes, by the environment."""
    if 0 not in _STATE.groups:
        _STATE.groups[0] = Group(range(environment().world_size))
    return _STATE.groups[0]


def group_of(id: int) -> Group:
    """The group of that number; ArgumentError if there is none."""
    if id and id not in _STATE.groups:
        raise ArgumentError(f"there is no group {id}: they are {sorted(_STATE.groups)}")
    return _STATE.groups[id] if id else world()


def group_with(ranks: Sequence[int]) -> Group:
    """The group of these ranks, made if there is none."""
    for group in (world(), *_STATE.groups.values()):
        if group.ranks == [*ranks]:
            return group
    return new_group(ranks)


def new_group(ranks: Sequence[int] | None = None, timeout: float | None = None) -> Group:
    """A group of some ranks, all by default: every process makes the same ones in the same order.

    Raises ArgumentError for ranks that no process has, or twice the same.
    """
    count = world().nranks
    chosen = list(range(count)) if ranks is None or not len(ranks) else sorted(ranks)
    if len({*chosen}) < len(chosen) or not 0 <= chosen[0] <= chosen[-1] < count:
        raise ArgumentError(f"a group of the ranks {list(ranks or ())}: there are {count}, from 0")
    group = Group(chosen, max(_STATE.groups) + 1, timeout)
    _STATE.groups[group.id] = group
    return group


def join() -> Group:
    """Connect this process to the others that the environment tells of; the group of all.

    Raises PeerTimeout, with the address, if they do not come.
    """
    env = environment()
    _STATE.groups.pop(0, None)
    if env.world_size > 1 and not _STATE.joined:
        connect(env)
        _STATE.joined = True
        atexit.register(leave)
        sys.excepthook = _leave_at_once
    return world()


def leave() -> None:
    """Wait until all have come to their end, and part: who dies before makes the others fail."""
    if not _STATE.joined:
        return
    try:
        group = world()
        group.finish(group.start("the end of the process", lambda c: c.meet("its end", 0)))
    except PeerError as error:
        print(f"rank {environment().rank} has come to its end: {error}", file=sys.stderr)
        _end(1)
    _STATE.joined = False
    disconnect()


def _leave_at_once(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Show an exception that ends the process, and end it: the others would be waited for."""
    sys.__excepthook__(kind, error, trace)
    _end(130 if issubclass(kind, KeyboardInterrupt) else 1)


def _end(code: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
