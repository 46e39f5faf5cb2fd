"""Objects of Python's library and NumPy that keep their state in C: what it is, and setting it.

A branch or loop body that depends on a tensor must not change it, as it must not change a list
from outside.
"""

from __future__ import annotations

import array
import io
import random
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
    target[:] = array.array(target.typecode, state)


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


_STATES: dict[Any, _State] = {
    random.Random: (lambda source: source.getstate(), lambda source, old: source.setstate(old)),
    io.StringIO: (_read_text, _write_text),
    io.BytesIO: (_read_text, _write_text),
    array.array: (lambda values: values.tobytes(), _write_array),
}
# By name: to look at the classes would load numpy.random.
_OF_NUMPY: dict[str, _State] = {
    "Generator": (_generator_state, _set_generator),
    "RandomState": (_legacy_state, _set_legacy),
}
_KINDS = tuple(_STATES)


def has_state(value: object) -> bool:
    """Whether an object has a state that no attribute shows.

    >>> has_state(io.StringIO()), has_state([])
    (True, False)
    """
    return issubclass(type(value), _KINDS) or _is_generator(value)


def state_of(value: Any) -> Any:
    """The state of an object, to compare with later.

    >>> state_of(io.StringIO("ab"))
    ('ab', 0)
    """
    return _access(value)[0](value)


def set_state(value: Any, state: Any) -> None:
    """Give an object a state that it had."""
    _access(value)[1](value, state)


def _is_generator(value: object) -> bool:
    kind = type(value)
    return kind.__name__ in _OF_NUMPY and str(kind.__module__).startswith("numpy.random")


def _access(value: Any) -> _State:
    if _is_generator(value):
        return _OF_NUMPY[type(value).__name__]
    return next(_STATES[kind] for kind in _KINDS if issubclass(type(value), kind))


__all__ = ["has_state", "set_state", "state_of"]
