"""What the rows of lists, dicts and sets have in common."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any

import numpy as np

from dy2st.convert.types.row import info, row


def fill(owner: Any, value: Any) -> None:
    """Let a container of Python hold what another one holds."""
    if owner is not value:
        items = value.copy()
        owner.clear()
        owner.extend(items) if hasattr(owner, "extend") else owner.update(items)


def read_state(owner: Any) -> Any:
    """What an object holds, as a copy."""
    return info(type(owner)).snapshot(owner)


def write_state(owner: Any, state: Any) -> None:
    """Let an object hold what `read_state` has given."""
    info(type(owner)).restore(owner, state)


def same_state(left: Any, right: Any) -> bool:
    """Whether two states cannot be distinguished."""
    if isinstance(left, np.ndarray):
        return bool(left.shape == right.shape and left.tobytes() == right.tobytes())
    if isinstance(left, dict):
        # As lists, since the order of the keys counts.
        left, right = [*left, *left.values()], [*right, *right.values()]
    if info(type(left)).family == "list":
        return len(left) == len(right) and all(map(is_, left, right))
    return bool(left == right)


def emptied(kind: type, like: Any) -> Any:
    """A new empty container; a deque has its maxlen, a defaultdict its factory."""
    empty = info(kind).empty
    return kind() if empty is None or like is None else empty(like)


def container(kind: Any, plain: Callable[[Any], Any], items: Any, put: Any, **fields: Any) -> None:
    """Give a class of containers its row.

    plain, items, put: a list, dict or set, the method that gives what is put there, and the one
    that puts it into an object of a derived class, past what that class says.
    """

    def restore(owner: Any, state: Any) -> None:
        kind.clear(owner)
        for one in state.items() if isinstance(state, dict) else ((one,) for one in state):
            put(owner, *one)

    derived = {"snapshot": lambda owner: plain(items(owner)), "restore": restore}
    row(
        kind,
        is_container=True,
        state="items",
        snapshot=lambda owner: owner.copy(),
        restore=fill,
        put=put,
        derived=lambda _: {"state": "derived", **derived},
        **fields,
    )
