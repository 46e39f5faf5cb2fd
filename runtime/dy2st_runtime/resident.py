"""Lets an engine keep the state of Programs where it computes, from call to call.

A tensor whose value an engine keeps has no array until somebody looks at it: its slot is empty,
and is filled when it is read. So whoever reads `tensor.array` need not know of this, and a loop
that looks at nothing moves nothing.

>>> kept = Resident(None, [1.0, 2.0], np.array)
>>> kept.array
array([1., 2.])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class Resident:
    """The value of one tensor: the array, what an engine has for it, or both.

    value   whatever the engine has made of it, with `dtype` and `shape`; None before.
    """

    __slots__ = ("_fetch", "fetched", "value")

    def __init__(
        self,
        array: Array | None = None,
        value: Any = None,
        fetch: Callable[[Any], Array] | None = None,
    ) -> None:
        """Of an array, or of a value and what makes an array of it."""
        self.fetched, self.value, self._fetch = array, value, fetch

    @property
    def array(self) -> Array:
        """The array, fetched at the first time."""
        if self.fetched is None:
            assert self._fetch is not None
            self.fetched = self._fetch(self.value)
        return self.fetched


__all__ = ["Resident"]
