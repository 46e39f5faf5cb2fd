"""Objects that keep in C what they hold: arrays, streams of memory, random numbers."""

from __future__ import annotations

import io
from pickle import dumps, loads
from typing import Any

import numpy as np

from dy2st.convert.types.row import row


def _read_text(stream: Any) -> Any:
    return None if stream.closed else (stream.getvalue(), stream.tell())


def _write_text(stream: Any, state: Any) -> None:
    if state is None or stream.closed:
        return
    stream.seek(0)
    stream.truncate()
    stream.write(state[0])
    stream.seek(state[1])


def _hidden(*kinds: type | str, **fields: Any) -> None:
    row(*kinds, **{"is_open": True, "state": "hidden", **fields})


_hidden(
    np.ndarray,
    family="array",
    state="array",
    snapshot=lambda array: array.copy(),
    restore=lambda array, old: array.__setitem__(..., old),
)
_hidden(
    memoryview,
    snapshot=memoryview.tobytes,
    restore=lambda view, old: view.cast("B").__setitem__(slice(None), old),
)
_hidden(
    "array.array",
    snapshot=lambda values: values.tobytes(),
    restore=lambda values, old: values.__delitem__(slice(None)) or values.frombytes(old),
)
_hidden(io.StringIO, io.BytesIO, snapshot=_read_text, restore=_write_text)
# Random numbers: of those of the machine nobody has the state, and those of NumPy are in arrays.
_hidden("random.SystemRandom", snapshot=lambda one: None, restore=lambda one, old: None)
_hidden(
    "random.Random", snapshot=lambda one: one.getstate(), restore=lambda one, old: one.setstate(old)
)
_hidden(
    "numpy.random._generator.Generator",
    snapshot=lambda one: dumps(one.bit_generator.state),
    restore=lambda one, old: setattr(one.bit_generator, "state", loads(old)),
)
_hidden(
    "numpy.random.mtrand.RandomState",
    snapshot=lambda one: dumps(one.get_state(legacy=False)),
    restore=lambda one, old: one.set_state(loads(old)),
)
