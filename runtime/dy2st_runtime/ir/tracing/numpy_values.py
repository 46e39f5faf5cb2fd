"""Arrays and numbers of NumPy that only the run knows: what they have of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.refusals import needs_value
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.ir.tracing.python_numbers import kind_of
from dy2st_runtime.ir.tracing.traced_list import TracedList

# Methods of arrays that change them, or that take other arguments than NumPy's function does.
_OWN = frozenset(
    ("astype", "compress", "partition", "put", "reshape", "resize", "sort", "transpose")
)
# Methods that do to an array what those of a tensor do.
_AS_OF_TENSORS = frozenset(("astype", "flatten", "reshape", "transpose"))


def still_numpy(made: Any, *given: Any) -> Any:
    """What is made of values of NumPy and of numbers of Python alone: NumPy's, too."""
    taken = [*_leaves_in(given)]
    is_any = any(isinstance(one, (np.ndarray, np.generic)) or _is_numpy(one) for one in taken)
    tensors = (one for one in taken if isinstance(one, Tensor))
    if is_any and all(_is_numpy(one) or kind_of(one) for one in tensors):
        for one in _leaves_in(made):
            if hasattr(one, "is_numpy"):
                one.is_numpy = True
    return made


def _is_numpy(value: Any) -> bool:
    return bool(getattr(value, "is_numpy", False))


def _leaves_in(value: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, list, dict)) and type(value) is not TracedList:
        for one in value.values() if isinstance(value, dict) else value:
            yield from _leaves_in(one)
    else:
        yield value


def _function(name: str) -> Any:
    """NumPy's function that a method of arrays is, by the same name; None of others."""
    is_method = callable(getattr(np.ndarray, name, None)) and name not in _OWN
    return getattr(np, name, None) if is_method else None


def has_member(name: str) -> bool:
    """Whether `member` says what arrays have by a name: what tensors have is another thing.

    >>> has_member("std"), has_member("dtype")
    (True, False)
    """
    is_own = name in _AS_OF_TENSORS or name in ("T", "shape", "sort", "strides")
    return is_own or _function(name) is not None


def member(array: Any, name: str) -> Any:
    """`array.name`, for a name of `has_member`."""
    if name == "shape":
        return tuple(array.shape)
    function = _function(name)
    if function is not None:
        return partial(function, array)
    if name in ("sort", "strides"):
        raise needs_value(f"{name} of an array of NumPy", "call what makes a new one: np.sort(x)")
    found = getattr(array, name)
    if name == "T":
        return still_numpy(found, array)
    return lambda *args, **kwargs: still_numpy(found(*args, **kwargs), array)


def change(array: Any, compute: Callable[[Any], Any]) -> Any:
    """`array += ...`: the array itself, with what is computed of its elements."""

    def changed(old: Any) -> Any:
        made = compute(old)
        if not np.can_cast(made.dtype, array.dtype, "same_kind"):
            raise TypeError(f"an array of {array.dtype} cannot be changed to {made.dtype} in place")
        return F.cast(made, array.dtype)

    array.replace(changed)
    return array
