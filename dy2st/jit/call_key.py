"""What tells a call of a converted function from others, before its arguments are bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dy2st.jit.constants import constant_key
from dy2st.jit.input_spec import InputSpec
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import Tensor
from dy2st_runtime.ir.structure import is_container
from dy2st_runtime.tensor import EagerTensor, from_numpy

_PLAIN = frozenset({int, bool, str, bytes, type(None)})


def add_call(
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    key: list[Any],
    tensors: list[EagerTensor],
) -> bool:
    """Add to a key what a call is given beside the numbers in its tensors, and these to `tensors`.

    Equal keys are those of calls that a trace cannot tell apart. False if there is no key.
    """
    for value in args:
        if isinstance(value, EagerTensor):
            array = value.array
            key += array.dtype, array.shape
            tensors.append(value)
        elif not _add(value, key, tensors):
            return False
    for name, value in kwargs.items():
        key.append(name)
        if not _add(value, key, tensors):
            return False
    return True


def _add(value: Any, key: list[Any], tensors: list[EagerTensor]) -> bool:
    kind = type(value)
    if isinstance(value, EagerTensor):
        key += value.array.dtype, value.array.shape
        tensors.append(value)
    elif kind in _PLAIN:
        key += kind, value
    elif kind is list or kind is tuple:
        key += kind, len(value)
        for entry in value:
            if not _add(entry, key, tensors):
                return False
    elif kind is dict:
        key += kind, len(value)
        for name, entry in value.items():
            key.append(constant_key(name))
            if not _add(entry, key, tensors):
                return False
    else:
        return _add_other(value, key, tensors)
    return True


def _add_other(value: Any, key: list[Any], tensors: list[EagerTensor]) -> bool:
    if type(value) is np.ndarray:
        try:
            return _add(from_numpy(value), key, tensors)
        except ArgumentError:  # whoever binds the call says so
            return False
    if is_container(value) or isinstance(value, (Tensor, np.ndarray, InputSpec)):
        return False
    key.append(constant_key(value))
    return True


__all__ = ["add_call"]
