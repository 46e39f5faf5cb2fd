"""Objects of Python's library and NumPy that keep their state in C: what it is, and setting it.

A branch or loop body that depends on a tensor must not change it, as it must not change a list
from outside.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

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


def _generator_state(generator: Any) -> Any:
    return _plain(generator.bit_generator.state)


def _set_generator(generator: Any, state: Any) -> None:
    generator.bit_generator.state = _unplain(state)


def _legacy_state(generator: Any) -> Any:
    return _plain(generator.get_state(legacy=False))


def _set_legacy(generator: Any, state: Any) -> None:
    generator.set_state(_unplain(state))


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
    ("random", "SystemRandom"): (lambda one: None, lambda one, old: None),  # that of the machine
    ("random", "Random"): (lambda one: one.getstate(), lambda one, old: one.setstate(old)),
    ("array", "array"): (lambda values: values.tobytes(), _write_array),
    ("numpy.random", "Generator"): (_generator_state, _set_generator),
    ("numpy.random", "RandomState"): (_legacy_state, _set_legacy),
}


def has_state(value: object) -> bool:
    """Whether an object has a state that no attribute shows.

    >>> import io
    >>> has_state(io.StringIO()), has_state([])
    (True, False)
    """
    return _access(value) is not None


def state_of(value: Any) -> Any:
    """The state of an object, to compare with later.

    >>> import io
    >>> state_of(io.StringIO("ab"))
    ('ab', 0)
    """
    access = _access(value)
    assert access is not None
    return access[0](value)


def set_state(value: Any, state: Any) -> None:
    """Give an object a state that it had."""
    access = _access(value)
    assert access is not None
    access[1](value, state)


def _access(value: object) -> _State | None:
    for (module, name), access in _STATES.items():
        loaded = sys.modules.get(module)
        if loaded is not None and issubclass(type(value), getattr(loaded, name, ())):
            return access
    return None


__all__ = ["has_state", "set_state", "state_of"]
