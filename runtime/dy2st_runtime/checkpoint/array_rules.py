"""Builds what calls in a pickle may make: plain containers, numbers and NumPy's arrays.

The table names every function that a checkpoint may ask for, and what we do in its place.
"""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from typing import Any, Literal, TypeGuard

import numpy as np

from dy2st_runtime.checkpoint.pickle_machine import Builds, Global, Machine, Rules, described

Array = np.ndarray[Any, Any]

_MAX_AXES, _LIMIT = 64, 2**59
_NUMBERS = re.compile(r"(b1|[iu][1248]|f[248]|c8|c16)")
_ORDERS: dict[str, Literal["<", ">", "="]] = {"<": "<", ">": ">", "|": "=", "=": "="}
_NDARRAY = Global("numpy", "ndarray")


class PickledDtype:
    """A dtype in the making: its state comes after it."""

    def __init__(self, dtype: np.dtype[Any]):
        """Take the dtype as it is named."""
        self.dtype = dtype


class PickledArray:
    """An array in the making: its state comes after it."""

    array: Array | None = None


def are_counts(value: Any) -> TypeGuard[tuple[int, ...]]:
    """Whether it is a tuple of sizes that arrays can have."""
    return (
        type(value) is tuple
        and len(value) <= _MAX_AXES
        and all(type(size) is int and 0 <= size < _LIMIT for size in value)
        and math.prod(size or 1 for size in value) < _LIMIT
    )


# -- Python's own -----------------------------------------------------------------------------


def _of_items(made: Any) -> Any:
    """`tuple(list)` and the like."""

    def rule(machine: Machine, arguments: tuple[Any, ...]) -> Any:
        items = arguments[0] if len(arguments) == 1 else []
        if len(arguments) > 1 or type(items) not in (list, tuple):
            machine.fail(f"it calls {made.__name__} of what is no list")
        machine.spend(16 * len(items))
        is_set = made in (set, frozenset)
        return made(map(machine.key, items) if is_set else items)

    return rule


def _ordered(machine: Machine, arguments: tuple[Any, ...]) -> Any:
    """`OrderedDict()`; Python 2 gives a list of pairs."""
    pairs = arguments[0] if len(arguments) == 1 else []
    if len(arguments) > 1 or type(pairs) is not list:
        machine.fail("it calls OrderedDict of what is no list of pairs")
    machine.spend(64 * len(pairs))
    found: OrderedDict[Any, Any] = OrderedDict()
    for pair in pairs:
        if type(pair) not in (list, tuple) or len(pair) != 2:
            machine.fail("it calls OrderedDict of what is no list of pairs")
        found[machine.key(pair[0])] = pair[1]
    return found


def _encoded(machine: Machine, arguments: tuple[Any, ...]) -> bytes:
    """`_codecs.encode(text, "latin1")`: how protocol 2 writes bytes."""
    if len(arguments) != 2 or type(arguments[0]) is not str or arguments[1] != "latin1":
        machine.fail("it encodes what is no text of bytes")
    return _latin(machine, arguments[0])


def _latin(machine: Machine, text: str) -> bytes:
    machine.spend(len(text))
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        machine.fail("it has a text for bytes that holds more than bytes")


def _bytes(machine: Machine, arguments: tuple[Any, ...]) -> bytes:
    """`bytes()`: how protocol 2 writes no bytes."""
    if arguments:
        machine.fail("it calls bytes of something")
    return b""


def _bytearray(machine: Machine, arguments: tuple[Any, ...]) -> bytearray:
    """`bytearray(b"...")`; of none it is called without arguments."""
    data = arguments[0] if arguments else b""
    if len(arguments) > 1 or type(data) is not bytes:
        machine.fail("it calls bytearray of what are no bytes")
    machine.spend(len(data))
    return bytearray(data)


def _complex(machine: Machine, arguments: tuple[Any, ...]) -> complex:
    if len(arguments) != 2 or any(type(part) is not float for part in arguments):
        machine.fail("it calls complex of what are not two numbers")
    return complex(*arguments)


# -- NumPy's ----------------------------------------------------------------------------------


def _dtype(machine: Machine, arguments: tuple[Any, ...]) -> PickledDtype:
    """`dtype("f4", False, True)`."""
    name = arguments[0] if arguments else None
    if type(name) is not str or len(arguments) > 3 or not _NUMBERS.fullmatch(name):
        shown = f"{name!r:.40}" if type(name) is str else described(name)
        machine.fail(f"it has elements of the type {shown}; only numbers and bools are read")
    return PickledDtype(np.dtype(name))


def _set_dtype(machine: Machine, value: PickledDtype, state: Any) -> None:
    """`(3, "<", None, None, None, -1, -1, 0)`: the byte order is all that numbers have."""
    fits = type(state) is tuple and 5 <= len(state) <= 9 and type(state[1]) is str
    if not fits or state[1] not in _ORDERS or any(part is not None for part in state[2:5]):
        machine.fail("it has elements of a type that is damaged, or has fields")
    value.dtype = value.dtype.newbyteorder(_ORDERS[state[1]])


def _empty(machine: Machine, arguments: tuple[Any, ...]) -> PickledArray:
    """`_reconstruct(ndarray, (0,), b"b")`: an array whose state follows."""
    if arguments[:2] != (_NDARRAY, (0,)) or arguments[2:] not in ((b"b",), ("b",)):
        machine.fail("it makes an array of another kind than ndarray")
    return PickledArray()


def _set_array(machine: Machine, value: PickledArray, state: Any) -> None:
    """`(1, shape, dtype, is_fortran, data)`."""
    if type(state) is not tuple or len(state) != 5 or value.array is not None:
        machine.fail("it has an array whose state is damaged")
    _, shape, dtype, is_fortran, data = state
    if type(data) is str:  # Python 2's bytes
        data = _latin(machine, data)
    value.array = _on_bytes(machine, data, dtype, shape, "F" if is_fortran else "C")


def _on_bytes(machine: Machine, data: Any, dtype: Any, shape: Any, order: Any) -> Array:
    """An array on bytes that are there: they are shared, not copied."""
    if type(data) not in (bytes, bytearray) or type(dtype) is not PickledDtype:
        machine.fail("it has an array whose data or type is damaged")
    if not are_counts(shape) or math.prod(shape) * dtype.dtype.itemsize != len(data):
        shown = f"{shape}"[:80] if type(shape) is tuple else described(shape)
        machine.fail(f"it has an array of {len(data)} bytes, which do not fit the shape {shown}")
    array: Array = np.ndarray(shape, dtype.dtype, data, order="F" if order == "F" else "C")
    if not array.dtype.isnative:
        machine.spend(len(data))
        array = array.astype(array.dtype.newbyteorder("="))
    return array


def _scalar(machine: Machine, arguments: tuple[Any, ...]) -> Any:
    """`scalar(dtype, data)`: one of NumPy's numbers."""
    if len(arguments) != 2:
        machine.fail("it has a number that is damaged")
    dtype, data = arguments
    if type(data) is str:
        data = _latin(machine, data)
    return _on_bytes(machine, data, dtype, (), "C")[()]


def _from_buffer(machine: Machine, arguments: tuple[Any, ...]) -> PickledArray:
    """`_frombuffer(data, dtype, shape, order)`: how protocol 5 writes arrays."""
    if len(arguments) != 4:
        machine.fail("it has an array that is damaged")
    made = PickledArray()
    made.array = _on_bytes(machine, *arguments)
    return made


# -- the tables -------------------------------------------------------------------------------


def _of_both(name: str, rule: Any) -> Rules:
    """A builtin, as Python 3 and Python 2 name its module."""
    return {Global("builtins", name): rule, Global("__builtin__", name): rule}


RULES: Rules = {
    **_of_both("tuple", _of_items(tuple)),
    **_of_both("list", _of_items(list)),
    **_of_both("set", _of_items(set)),
    **_of_both("frozenset", _of_items(frozenset)),
    **_of_both("bytes", _bytes),
    **_of_both("bytearray", _bytearray),
    **_of_both("complex", _complex),
    Global("_codecs", "encode"): _encoded,
    Global("collections", "OrderedDict"): _ordered,
    Global("numpy", "dtype"): _dtype,
    **{
        Global(f"numpy.{core}.{module}", name): rule
        for core in ("core", "_core")
        for module, name, rule in (
            ("multiarray", "_reconstruct", _empty),
            ("multiarray", "scalar", _scalar),
            ("numeric", "_frombuffer", _from_buffer),
        )
    },
}
BUILDS: Builds = {PickledDtype: _set_dtype, PickledArray: _set_array}

__all__ = ["BUILDS", "RULES", "Array", "PickledArray", "are_counts"]
