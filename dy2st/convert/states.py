"""Takes what objects hold in C as a value: to compare, to carry, and to put back."""

from __future__ import annotations

import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st_runtime.nn.tables import Table

CONTAINERS: frozenset[type] = frozenset(
    {list, dict, set, deque, OrderedDict, Table, defaultdict, Counter, bytearray}
)


# What other classes may be derived from; an OrderedDict keeps its order beside that of a dict.
_BASES: tuple[type, ...] = (OrderedDict, dict, list, set, deque)
_State = tuple[Callable[[Any], Any], Callable[[Any, Any], None]]


def _read_text(stream: Any) -> Any:
    return None if stream.closed else (stream.getvalue(), stream.tell())


def _write_text(stream: Any, state: Any) -> None:
    if state is None or stream.closed:
        return
    stream.seek(0)
    stream.truncate()
    stream.write(state[0])
    stream.seek(state[1])


def _write_array(target: Any, state: bytes) -> None:
    del target[:]
    target.frombytes(state)


def _plain(state: Any) -> Any:
    """The state of a generator of NumPy as what == compares."""
    if isinstance(state, dict):
        return {name: _plain(value) for name, value in state.items()}
    if isinstance(state, np.ndarray):
        return (state.dtype.str, state.tobytes())
    return state


def _unplain(state: Any) -> Any:
    if isinstance(state, dict):
        return {name: _unplain(value) for name, value in state.items()}
    if isinstance(state, tuple):
        return np.frombuffer(state[1], state[0])
    return state


# By module and name: who has such an object has loaded its module, others need not.
_STATES: dict[tuple[str, str], _State] = {
    ("io", "StringIO"): (_read_text, _write_text),
    ("io", "BytesIO"): (_read_text, _write_text),
    # Before Random, from which it is derived.
    ("random", "SystemRandom"): (lambda one: None, lambda one, old: None),  # that of the machine
    ("random", "Random"): (lambda one: one.getstate(), lambda one, old: one.setstate(old)),
    ("array", "array"): (lambda values: values.tobytes(), _write_array),
    ("numpy.random", "Generator"): (
        lambda one: _plain(one.bit_generator.state),
        lambda one, old: setattr(one.bit_generator, "state", _unplain(old)),
    ),
    ("numpy.random", "RandomState"): (
        lambda one: _plain(one.get_state(legacy=False)),
        lambda one, old: one.set_state(_unplain(old)),
    ),
}


def has_states(owner: Any) -> bool:
    """Whether an object has a state that no attribute or item shows."""
    return isinstance(owner, np.ndarray) or has_state(owner)


def has_state(owner: Any) -> bool:
    """As `has_states`, but for arrays, which are noted as a whole."""
    return isinstance(owner, memoryview) or _access(owner) is not None


def base_of(owner: Any) -> Any:
    """The container from which the class of an object is derived; None of all others."""
    if type(owner) in CONTAINERS:
        return None
    return next((base for base in _BASES if isinstance(owner, base)), None)


def read_state(owner: Any) -> Any:
    """What an object holds, as a copy."""
    if type(owner) in CONTAINERS or isinstance(owner, np.ndarray):
        return owner.copy()
    base = base_of(owner)
    if base is not None:
        # Past what its own class says.
        if issubclass(base, dict):
            return dict(base.items(owner))
        return set(base.__iter__(owner)) if base is set else list(base.__iter__(owner))
    if isinstance(owner, memoryview):
        return owner.tobytes()
    access = _access(owner)
    assert access is not None
    return access[0](owner)


def write_state(owner: Any, state: Any) -> None:
    """Let an object hold what `read_state` has given."""
    if type(owner) in CONTAINERS:
        fill(owner, state)
    elif isinstance(owner, np.ndarray):
        owner[...] = state
    elif isinstance(owner, memoryview):
        owner.cast("B")[:] = state
    elif base_of(owner) is not None:
        base = base_of(owner)
        base.clear(owner)
        if base is set:
            base.update(owner, state)
        elif not issubclass(base, dict):
            base.extend(owner, state)
        else:
            for key, value in state.items():
                base.__setitem__(owner, key, value)
    else:
        access = _access(owner)
        assert access is not None
        access[1](owner, state)


def _access(value: object) -> _State | None:
    for (module, name), access in _STATES.items():
        loaded = sys.modules.get(module)
        if loaded is not None and issubclass(type(value), getattr(loaded, name, ())):
            return access
    return None


def fill(owner: Any, value: Any) -> None:
    """Let a container of Python hold what another one holds."""
    if isinstance(owner, bytearray):
        owner[:] = value  # which somebody may look into
    elif owner is not value:
        items = value.copy()
        owner.clear()
        owner.extend(items) if hasattr(owner, "extend") else owner.update(items)


def same_state(left: Any, right: Any) -> bool:
    """Whether two states cannot be distinguished."""
    if isinstance(left, np.ndarray):
        return bool(left.shape == right.shape and left.tobytes() == right.tobytes())
    if isinstance(left, dict):
        # As lists, since the order of the keys counts.
        left, right = [*left, *left.values()], [*right, *right.values()]
    if type(left) in CONTAINERS and not isinstance(left, (bytearray, set)):
        return len(left) == len(right) and all(a is b for a, b in zip(left, right, strict=True))
    return bool(left == right)
