"""What tells a call of a converted function from others, before its arguments are bound."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dy2st.jit.constants import constant_key
from dy2st.jit.input_spec import InputSpec
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import Tensor
from dy2st_runtime.ir.structure import is_container
from dy2st_runtime.tensor import EagerTensor, from_numpy

_PLAIN = frozenset({int, bool, str, bytes, type(None)})


def add_values(values: Iterable[Any], key: list[Any], tensors: list[EagerTensor]) -> bool:
    """Add to a key what values are beside the numbers in their tensors, and these to `tensors`.

    Equal keys are those of calls that a trace cannot tell apart. False if there is no key.
    """
    for value in values:
        kind = type(value)
        if isinstance(value, EagerTensor):
            array = value.array
            key.append(array.dtype)
            key.append(array.shape)
            tensors.append(value)
        elif kind in _PLAIN:
            key += kind, value
        elif kind is list or kind is tuple:
            key += kind, len(value)
            if not add_values(value, key, tensors):
                return False
        elif not _add_other(value, key, tensors):
            return False
    return True


def _add_other(value: Any, key: list[Any], tensors: list[EagerTensor]) -> bool:
    if type(value) is dict:
        key += dict, len(value)
        key += map(constant_key, value)
        return add_values(value.values(), key, tensors)
    if type(value) is np.ndarray:
        try:
            return add_values((from_numpy(value),), key, tensors)
        except ArgumentError:  # whoever binds the call says so
            return False
    if is_container(value) or isinstance(value, (Tensor, np.ndarray, InputSpec)):
        return False
    key.append(constant_key(value))
    return True


__all__ = ["add_values"]
