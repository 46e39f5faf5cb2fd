"""Operators of the user's classes: which of the two methods is asked, in Python's order."""

from __future__ import annotations

from collections import deque
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    WrapperDescriptorType,
)
from typing import Any

from dy2st.convert.protocol.calls import call
from dy2st.convert.trace import MISSING, Trace, of_class

_NATIVE = (WrapperDescriptorType, MethodDescriptorType, BuiltinFunctionType)
# To put two of them together is asked last, after all methods of the right operand.
_SEQUENCES = (list, tuple, str, bytes, bytearray, deque)
_COMPARED = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
_SYMBOLS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow_": "**",
    "matmul": "@",
    "lshift": "<<",
    "rshift": ">>",
    "and_bits": "&",
    "or_bits": "|",
    "xor": "^",
}
COMPARISONS = frozenset(_COMPARED)


def is_users(method: Any) -> bool:
    """Whether a method of a class is other than those of Python's own classes in C."""
    return method is not MISSING and not isinstance(method, _NATIVE)


def bound(trace: Trace, method: Any, owner: Any) -> Any:
    """What a special method is when it is looked up for an object."""
    if type(method) is FunctionType:
        return MethodType(method, owner)
    get = of_class(trace, type(method), "__get__")
    return method if get is MISSING else call(trace, get, method, owner, type(owner))


def ask(
    trace: Trace, name: str, methods: tuple[Any, Any], left: Any, right: Any, reflected: str
) -> Any:
    """`left <operator> right`, where one of the two methods is the user's; NotImplemented if none.

    methods: what the classes of `left` and `right` hold for it, MISSING if nothing.
    """
    for method, one, other in _order(trace, name, methods, left, right, reflected):
        if method is MISSING:
            continue
        if is_users(method):
            found = call(trace, bound(trace, method, one), other)
        elif name == "ne" and is_opposite(trace, type(one)):
            # What object.__ne__ does, which in C would compare lists as they were before the trace.
            found = call(trace, bound(trace, of_class(trace, type(one), "__eq__"), one), other)
            found = found if found is NotImplemented else trace.not_(found)
        else:
            found = method(trace.native(one), trace.native(other))
        if found is not NotImplemented:
            return found
    return NotImplemented


def is_opposite(trace: Trace, kind: type) -> bool:
    """Whether `!=` of objects of a class is what the user's `==` is not."""
    is_plain = of_class(trace, kind, "__ne__") is object.__ne__
    return is_plain and is_users(of_class(trace, kind, "__eq__"))


def _order(
    trace: Trace, name: str, methods: tuple[Any, Any], left: Any, right: Any, reflected: str
) -> tuple[tuple[Any, Any, Any], ...]:
    """The methods that are asked, each with its own operand and the other one."""
    first, second = (methods[0], left, right), (methods[1], right, left)
    is_derived = type(left) in type(right).__mro__[1:]
    if name in COMPARISONS:
        return (second, first) if is_derived else (first, second)
    if type(left) is type(right):
        return (first,)
    overrides = is_derived and methods[1] is not of_class(trace, type(left), reflected)
    joins = name in ("add", "mul") and isinstance(left, _SEQUENCES) and not is_users(methods[0])
    return (second, first) if overrides or joins else (first, second)


def unsupported(name: str, left: Any, right: Any, in_place: bool = False) -> TypeError:
    """What Python raises where no method answers."""
    kinds = type(left).__name__, type(right).__name__
    if name in COMPARISONS:
        text = "{!r} not supported between instances of {!r} and {!r}"
        return TypeError(text.format(_COMPARED[name], *kinds))
    symbol = _SYMBOLS[name] + "=" * in_place
    if symbol == "**":
        symbol = "** or pow()"
    text = "unsupported operand type(s) for {}: {!r} and {!r}"
    return TypeError(text.format(symbol, *kinds))
