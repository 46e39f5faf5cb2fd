"""The key of a call: equal only for calls and Python values that a trace cannot tell apart."""

from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from dy2st.jit.input_spec import InputSpec
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.identity_tables import reference_to
from dy2st_runtime.ir import Output, Tensor
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
            # The length closes the list, so that `[a], b` and `[a, b]` have two keys.
            key += kind, len(value)
            if not add_values(value, key, tensors):
                return False
        elif not _add_other(value, key, tensors):
            return False
    return True


def _add_other(value: Any, key: list[Any], tensors: list[EagerTensor]) -> bool:
    if type(value) is dict:
        # Keys in their order, in which a trace goes through the dict.
        key += dict, len(value)
        key += map(constant_key, value)
        return add_values(value.values(), key, tensors)
    if type(value) is np.ndarray:
        try:
            return add_values((from_numpy(value),), key, tensors)
        except ArgumentError:  # whoever binds the call says so
            return False
    # Binding the arguments takes these apart, and finds the Program by their structure.
    if is_container(value) or isinstance(value, (Tensor, np.ndarray, InputSpec)):
        return False
    key.append(constant_key(value))
    return True


def constant_key(value: Any) -> Hashable:
    """A key that is equal only for Python values that a trace cannot tell apart.

    Types count (1, 1.0 and True differ), floats count by their bits (0.0 and -0.0 differ), and
    objects that are not plain values count by identity.

    >>> constant_key((1, "a")) == constant_key((1, "a"))
    True
    >>> constant_key(1) == constant_key(True)
    False
    """
    kind = type(value)
    if kind is float:
        return kind, struct.pack("<d", value)
    if kind in (int, bool, str, bytes, type(None), type(Ellipsis)):
        return kind, value
    if kind in (list, tuple) or (isinstance(value, tuple) and is_container(value)):
        return kind, tuple(constant_key(entry) for entry in value)
    if kind is dict or kind is OrderedDict:
        return kind, tuple((constant_key(k), constant_key(v)) for k, v in value.items())
    if kind in (set, frozenset):
        return kind, frozenset(constant_key(entry) for entry in value)
    if kind is Output or isinstance(value, InputSpec):
        return kind, value
    if isinstance(value, np.dtype):
        return np.dtype, value.str
    if isinstance(value, np.generic):
        return kind, value.tobytes()
    return _Identity(value)


def is_constant(value: Any) -> bool:
    """Whether a value that is no data stays what its key says.

    >>> is_constant(("a", None)), is_constant(["a"])
    (True, False)
    """
    kind = type(value)
    if kind is tuple:
        return all(map(is_constant, value))
    return kind is not set and not is_container(value)


class _Identity:
    """Equal to another only for the same object, and to none when it is gone."""

    __slots__ = ("hash", "value")

    def __init__(self, value: Any):
        self.value = reference_to(value)
        # Kept, since the key stays in tables when its object is gone.
        self.hash = id(value)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        value = self.value()
        return isinstance(other, _Identity) and value is not None and other.value() is value

    def __hash__(self) -> int:
        return self.hash


__all__ = ["add_values", "constant_key", "is_constant"]
