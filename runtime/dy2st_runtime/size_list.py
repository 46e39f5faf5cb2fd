"""The sizes of a tensor, as users see them."""

from __future__ import annotations

import math
from typing import Any


class SizeList(list[Any]):
    """A list of sizes that equals a tuple of the same ones, and joins with tuples and lists.

    >>> sizes = SizeList([2, 3])
    >>> sizes == (2, 3), sizes == [2, 3], (1,) + sizes, sizes[:1] + [4], sizes.numel()
    (True, True, [1, 2, 3], [2, 4], 6)
    """

    __slots__ = ()
    # Libraries refuse by isinstance a shape that is no tuple: it asks for the class that is told.
    __class__ = tuple  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        """As a copy has it, which would make one of the class that is told."""
        return SizeList, ([*self],)

    def __hash__(self) -> int:  # type: ignore[override]
        """That of the tuple: libraries look shapes up."""
        return hash(tuple(self))

    def __eq__(self, other: object) -> bool:
        return list.__eq__(self, list(other) if isinstance(other, tuple) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __add__(self, other: Any) -> SizeList:
        if not isinstance(other, (list, tuple)):
            return NotImplemented
        return SizeList([*self, *other])

    def __radd__(self, other: Any) -> SizeList:
        if not isinstance(other, (list, tuple)):
            return NotImplemented
        return SizeList([*other, *self])

    def __mul__(self, times: Any) -> SizeList:
        return SizeList(list.__mul__(self, times))

    __rmul__ = __mul__

    def __getitem__(self, index: Any) -> Any:
        found = list.__getitem__(self, index)
        return SizeList(found) if isinstance(index, slice) else found

    def numel(self) -> Any:
        """The number of elements of a tensor of these sizes."""
        return math.prod(self)
