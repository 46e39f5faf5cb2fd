"""Answers who takes part, and connects the processes that the environment tells of."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from dy2st.paddle.distributed.collectives import group_or_world
from dy2st_runtime.processes import environment
from dy2st_runtime.processes.group import Group, group_of, is_joined, join, leave, world
from dy2st_runtime.processes.group import new_group as make_group


def _get_default_group() -> Group:
    """The group of all processes."""
    return world()


_get_global_group = _get_default_group


class ParallelEnv:
    """What a process knows of itself and the others.

    >>> ParallelEnv().rank, ParallelEnv().world_size
    (0, 1)
    """

    device_id = dev_id = 0
    nrings = 1
    device_type = "cpu"

    def __init__(self) -> None:
        """Look into the environment."""
        env = environment()
        self.rank, self.world_size, self.local_rank = env.rank, env.world_size, env.local_rank
        self.nranks = env.world_size
        self.current_endpoint, self.trainer_endpoints = env.current_endpoint, env.endpoints
        self.pg_timeout = round(env.group_timeout * 1000)


def get_rank(group: Any = None) -> int:
    """The rank of this process among all, or its place in a group, -1 if it takes no part.

    >>> get_rank()
    0
    """
    return environment().rank if group is None else group_or_world(group).rank


def get_world_size(group: Any = None) -> int:
    """How many processes there are, or are in a group; -1 if this one takes no part in it.

    >>> get_world_size()
    1
    """
    group = group_or_world(group)
    return group.nranks if group.is_member() else -1


def init_parallel_env(nccl_config: Any = None) -> Group:
    """Connect this process to the others that `launch` or `spawn` has started; the group of all.

    With one process there is nobody to connect to. Raises PeerTimeout, with the address, if the
    others do not come.

    >>> dy2st.distributed.init_parallel_env().nranks
    1
    """
    return join()


def is_initialized() -> bool:
    """Whether processes are connected: with one there is nothing to connect.

    >>> dy2st.distributed.is_initialized()  # one process alone
    False
    """
    return is_joined()


def is_available() -> bool:
    """Whether these functions can be called.

    >>> dy2st.distributed.is_available()
    True
    """
    return True


def get_backend(group: Any = None) -> str:
    """What connects the processes: GLOO, on the hosts' memory; ALONE for one process.

    >>> dy2st.distributed.get_backend()
    'ALONE'
    """
    return "GLOO" if group_or_world(group).nranks > 1 else "ALONE"


def destroy_process_group(group: Any = None) -> None:
    """Part from the others: all processes call it. Groups of some cost nothing, and stay.

    >>> dy2st.distributed.destroy_process_group()
    """
    if group is None or group is world():
        leave()


def get_group(id: int = 0) -> Group:
    """The group of that number; 0 is that of all processes.

    >>> dy2st.distributed.get_group(0).ranks
    [0]
    """
    return group_of(id)


def new_group(
    ranks: Sequence[int] | None = None,
    backend: str | None = None,
    timeout: timedelta | None = None,
    *_: Any,
    **__: Any,
) -> Group:
    """A group of some ranks: every process makes the same ones, in the same order.

    Raises ArgumentError for a rank that no process has. A collective of it that takes longer than
    `timeout` raises PeerTimeout.

    >>> new_group([0]).ranks
    [0]
    """
    return make_group(ranks, None if timeout is None else timeout.total_seconds())


def _is_parallel_ctx_initialized() -> bool:
    """Whether several processes are connected."""
    return is_joined()
