"""Containers filled item by item, from what may read them before it gives the next item."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st.convert.trace import Trace
from dy2st.convert.values.forms import DICTS
from dy2st.convert.values.special import SymbolicSequence, Union
from dy2st_runtime.ir import Tensor

# What holds its items: nothing of the user's runs while they are taken.
_WHOLE = frozenset(
    {
        list,
        tuple,
        set,
        frozenset,
        deque,
        str,
        bytes,
        bytearray,
        range,
        SymbolicSequence,
        Union,
        *DICTS,
    }
)


def is_lazy(trace: Trace, iterable: Any) -> bool:
    """Whether code of the user's may run between two items: a generator, a map, an iterator."""
    kind = type(iterable)
    is_whole = kind in _WHOLE or issubclass(kind, (Tensor, np.ndarray))
    return not is_whole and id(iterable) not in trace.views


def each(trace: Trace, iterable: Any, take: Callable[[Any], Any]) -> None:
    """Call `take` with each item, before the next one is asked for."""
    trace.for_(iterable, None, lambda item: (take(item), ())[1], (), ())
