"""Processes that work together: who takes part, and how bytes go from one to the others.

Nothing here knows of tensors or Programs: arrays of NumPy go in and come out. jax connects the
processes (`channel.py` is all that speaks of it); a process that is alone needs none. Which of how
many a process is stands in its environment, in the variables of PaddlePaddle's launcher.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from dy2st_runtime.errors import ArgumentError


class Environment(NamedTuple):
    """Which of how many processes this is, and where the others meet it.

    `coordinator` is host:port where rank 0 answers; `join_timeout` and `group_timeout` are seconds.
    """

    rank: int
    world_size: int
    local_rank: int
    coordinator: str
    endpoints: list[str]
    current_endpoint: str
    join_timeout: float
    group_timeout: float


def environment() -> Environment:
    """What the environment says now: rank 0 of 1, if it says nothing.

    Raises ArgumentError for a variable that is no number, or a rank that is none of the ranks.
    """
    rank, world_size = _number("PADDLE_TRAINER_ID", 0), _number("PADDLE_TRAINERS_NUM", 1)
    if not 0 <= rank < world_size:
        raise ArgumentError(f"PADDLE_TRAINER_ID={rank} of PADDLE_TRAINERS_NUM={world_size}")
    endpoints = os.environ.get("PADDLE_TRAINER_ENDPOINTS", "").split(",")
    return Environment(
        rank,
        world_size,
        _number("PADDLE_LOCAL_RANK", _number("PADDLE_RANK_IN_NODE", rank)),
        os.environ.get("PADDLE_MASTER") or endpoints[0],
        endpoints,
        os.environ.get("PADDLE_CURRENT_ENDPOINT", endpoints[rank] if rank < len(endpoints) else ""),
        _number("DY2ST_JOIN_TIMEOUT", 300),
        _number("PADDLE_PG_TIMEOUT", 1_800_000) / 1000,
    )


class _Data:
    all_read_all = False


_DATA = _Data()


def let_all_read_all(is_so: bool) -> None:
    """Say whether each process reads all of the data, as on a mesh, and not its share."""
    _DATA.all_read_all = is_so


def all_read_all() -> bool:
    """Whether each process reads all of the data."""
    return _DATA.all_read_all


def share_of_data() -> tuple[int, int]:
    """Which of how many parts of the data this process reads: 0 of 1 is all of it."""
    env = environment()
    return (0, 1) if _DATA.all_read_all else (env.rank, env.world_size)


def _number(name: str, otherwise: int) -> int:
    text = os.environ.get(name, "")
    try:
        return int(text) if text else otherwise
    except ValueError:
        raise ArgumentError(f"the environment has {name}={text!r}, which is no number") from None
