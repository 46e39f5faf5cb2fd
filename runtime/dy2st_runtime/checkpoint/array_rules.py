"""Builds what calls in a pickle may make: plain containers, numbers and NumPy's arrays.

The table names every function that a checkpoint may ask for, and what we do in its place.
"""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Literal, TypeGuard

import numpy as np

from dy2st_runtime.checkpoint.pickle_machine import Builds, Global, Machine, described

Array = np.ndarray[Any, Any]
_Rule = Callable[[Machine, tuple[Any, ...]], Any]

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


RULES: dict[Global, _Rule] = {}


def _rule_of(*names: Global) -> Callable[[_Rule], _Rule]:
    """Enter what is done in place of some functions."""

    def enter(rule: _Rule) -> _Rule:
        RULES.update(dict.fromkeys(names, rule))
        return rule

    return enter


def _of_python(name: str) -> list[Global]:
    """A builtin, as Python 3 and Python 2 name its module."""
    return [Global("builtins", name), Global("__builtin__", name)]


def _of_numpy(module: str, name: str) -> list[Global]:
    """A function of NumPy, as NumPy 1 and NumPy 2 name its module."""
    return [Global(f"numpy.{core}.{module}", name) for core in ("core", "_core")]


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


for _made in (tuple, list, set, frozenset):
    _rule_of(*_of_python(_made.__name__))(_of_items(_made))


@_rule_of(Global("collections", "OrderedDict"))
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


@_rule_of(Global("_codecs", "encode"))
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


@_rule_of(*_of_python("bytes"))
def _bytes(machine: Machine, arguments: tuple[Any, ...]) -> bytes:
    """`bytes()`: how protocol 2 writes no bytes."""
    if arguments:
        machine.fail("it calls bytes of something")
    return b""


@_rule_of(*_of_python("bytearray"))
def _bytearray(machine: Machine, arguments: tuple[Any, ...]) -> bytearray:
    """`bytearray(b"...")`; of none it is called without arguments."""
    data = arguments[0] if arguments else b""
    if len(arguments) > 1 or type(data) is not bytes:
        machine.fail("it calls bytearray of what are no bytes")
    machine.spend(len(data))
    return bytearray(data)


@_rule_of(*_of_python("complex"))
def _complex(machine: Machine, arguments: tuple[Any, ...]) -> complex:
    if len(arguments) != 2 or any(type(part) is not float for part in arguments):
        machine.fail("it calls complex of what are not two numbers")
    return complex(*arguments)


# -- NumPy's ----------------------------------------------------------------------------------


@_rule_of(Global("numpy", "dtype"))
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


@_rule_of(*_of_numpy("multiarray", "_reconstruct"))
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


@_rule_of(*_of_numpy("multiarray", "scalar"))
def _scalar(machine: Machine, arguments: tuple[Any, ...]) -> Any:
    """`scalar(dtype, data)`: one of NumPy's numbers."""
    if len(arguments) != 2:
        machine.fail("it has a number that is damaged")
    dtype, data = arguments
    if type(data) is str:
        data = _latin(machine, data)
    return _on_bytes(machine, data, dtype, (), "C")[()]


@_rule_of(*_of_numpy("numeric", "_frombuffer"))
def _from_buffer(machine: Machine, arguments: tuple[Any, ...]) -> PickledArray:
    """`_frombuffer(data, dtype, shape, order)`: how protocol 5 writes arrays."""
    if len(arguments) != 4:
        machine.fail("it has an array that is damaged")
    made = PickledArray()
    made.array = _on_bytes(machine, *arguments)
    return made


BUILDS: Builds = {PickledDtype: _set_dtype, PickledArray: _set_array}

__all__ = ["BUILDS", "RULES", "Array", "PickledArray", "are_counts"]
