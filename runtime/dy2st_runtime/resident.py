"""Lets an engine keep the state of Programs where it computes, from call to call.

A tensor whose value an engine keeps has no array: its slot is empty, and who reads it gets the one
that is fetched at the first time. So whoever reads `tensor.array` need not know of this, and a loop
that looks at nothing moves nothing.

>>> kept = Resident(None, [1.0, 2.0], np.array)
>>> kept.array
array([1., 2.])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

Array = np.ndarray[Any, Any]
Parts = list[tuple[list[int], Array]]


class InParts(Protocol):
    """A value that is not here yet, and of which an engine asks what it needs: as of a file."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes."""
        ...

    def part(self, index: tuple[slice, ...]) -> Array:
        """The elements in a window."""
        ...


class Resident:
    """The value of one tensor: the array, what an engine has for it, or both.

    value   whatever the engine has made of it, with `dtype` and `shape`; None before. It may be
            `InParts` of which the engine has yet to make its own.
    """

    __slots__ = ("_fetch", "_parts", "host_array", "value")

    def __init__(
        self,
        array: Array | None = None,
        value: Any = None,
        fetch: Callable[[Any], Array] | None = None,
        parts: Callable[[Any], Parts] | None = None,
    ) -> None:
        """Of an array, or of a value and what makes an array, and this process' parts, of it."""
        self.host_array, self.value, self._fetch, self._parts = array, value, fetch, parts

    @property
    def array(self) -> Array:
        """The array, fetched at the first time."""
        if self.host_array is None:
            assert self._fetch is not None
            self.host_array = self._fetch(self.value)
        return self.host_array

    @property
    def parts(self) -> Parts | None:
        """Where each part begins that no other process writes, and the part; None of an array.

        Nothing is asked of other processes, and no part is another's copy.
        """
        return None if self._parts is None else self._parts(self.value)


__all__ = ["InParts", "Parts", "Resident"]
