"""What objects hold in C, as a value: to compare, to carry, and to put back."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from typing import Any

import numpy as np

from dy2st.convert.hidden import has_state, set_state, state_of

CONTAINERS: frozenset[type] = frozenset(
    {list, dict, set, deque, OrderedDict, defaultdict, bytearray}
)


def has_states(owner: Any) -> bool:
    """Whether an object has a state that no attribute or item shows."""
    return isinstance(owner, (np.ndarray, memoryview)) or has_state(owner)


def read_state(owner: Any) -> Any:
    """What an object holds, as a copy."""
    if type(owner) in CONTAINERS or isinstance(owner, np.ndarray):
        return owner.copy()
    return owner.tobytes() if isinstance(owner, memoryview) else state_of(owner)


def write_state(owner: Any, state: Any) -> None:
    """Let an object hold what `read_state` has given."""
    if type(owner) in CONTAINERS:
        fill(owner, state)
    elif isinstance(owner, np.ndarray):
        owner[...] = state
    elif isinstance(owner, memoryview):
        owner.cast("B")[:] = state
    else:
        set_state(owner, state)


def fill(owner: Any, value: Any) -> None:
    """Let a container of Python hold what another one holds."""
    if owner is not value:
        items = value.copy()
        owner.clear()
        owner.extend(items) if hasattr(owner, "extend") else owner.update(items)


def same_state(left: Any, right: Any) -> bool:
    """Whether two states cannot be told apart."""
    if isinstance(left, np.ndarray):
        return bool(left.shape == right.shape and left.tobytes() == right.tobytes())
    if isinstance(left, dict):
        left, right = [*left, *left.values()], [*right, *right.values()]
    if type(left) in CONTAINERS and not isinstance(left, (bytearray, set)):
        return len(left) == len(right) and all(a is b for a, b in zip(left, right, strict=True))
    return bool(left == right)


__all__ = ["CONTAINERS", "fill", "has_states", "read_state", "same_state", "write_state"]
