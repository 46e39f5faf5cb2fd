"""A list whose length the Program computes, as code sees it that is not converted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.program import Block, Variable, refused_list
from dy2st_runtime.ir.promotion import SCALAR_DTYPES
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.ir.types import ArrayType, TensorType


class TracedList(list[Any]):
    """It is a list, and no tensor; an operator that is given one takes it for a tensor.

    So do all functions that make tensors of lists. What asks for its items is refused.
    """

    def __init__(
        self, arrays: Sequence[Variable], numbers: Sequence[type] = (), has_rows: bool = False
    ):
        """One array has the tensors; of rows of numbers, each column is an array.

        numbers: what they, or those of a row, are in Python, if they are numbers.
        """
        super().__init__()
        self._arrays, self._has_rows = arrays, has_rows
        self.number = max(numbers, key=(bool, int, float).index, default=None)
        self._made: dict[Block, Any] = {}

    @property
    def array(self) -> Variable:
        """The array of the tensors."""
        if self._has_rows:
            raise refused_list("put together", "make a tensor of it first: to_tensor(rows)")
        return self._arrays[0]

    @property
    def rank(self) -> int:
        """How many axes each of the tensors has."""
        held = self._arrays[0].type
        if not isinstance(held, ArrayType) or not isinstance(held.element, TensorType):
            raise refused_list("put together", "put a tensor into it first, and no lists")
        return held.element.rank + self._has_rows

    def __getitem__(self, index: Any) -> Any:
        """The item at a place."""
        if isinstance(index, slice):
            raise refused_list("sliced by code that is not converted")
        item = F.array_read(self.array, index)
        item.number = self.number
        return item

    def tensor(self) -> Any:
        """The tensor of all items; once in a Block."""
        block = self._arrays[0].block
        if block not in self._made:
            columns = [F.array_stack(one) for one in self._arrays]
            if self._has_rows:
                assert self.number is not None
                columns = [F.stack([F.cast(one, np.dtype(self.number)) for one in columns], 1)]
            self._made[block] = columns[0]
        return self._made[block]

    def of_python(self) -> Any:
        """As `tensor`; numbers are what a tensor that is made of such a number is."""
        made = self.tensor()
        return made if self.number is None else F.cast(made, SCALAR_DTYPES[self.number])


def as_traced_list(value: Any) -> TracedList | None:
    """A list of the Program, or what code that knows of Programs has as its array; else None."""
    if isinstance(value, Variable) and isinstance(value.type, ArrayType):
        return TracedList([value])
    return value if type(value) is TracedList else None


class _Refused:
    """A method that is refused; no function, so tensors do not leave their operators to it."""

    def __init__(self, is_operator: bool):
        self._is_operator = is_operator

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self._refuse

    def _refuse(self, *args: Any, **options: Any) -> Any:
        if self._is_operator and args and isinstance(args[0], Tensor):
            return NotImplemented  # the tensor computes with it
        raise refused_list("unpacked, or gone through by code that is not converted")


_OF_ITEMS = (
    "__iter__ __len__ __setitem__ __delitem__ __contains__ __reversed__ __bool__ "
    "__add__ __radd__ __iadd__ __mul__ __rmul__ __imul__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ "
    "__repr__ __array__ __copy__ __deepcopy__ __reduce_ex__ append clear copy count extend index "
    "insert pop remove reverse sort"
)
for _name in _OF_ITEMS.split():
    setattr(TracedList, _name, _Refused(is_operator=_name.startswith("__")))


__all__ = ["TracedList", "as_traced_list"]
