"""Functions, methods, and what they are made of."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from functools import partial
from operator import attrgetter, itemgetter, methodcaller
from types import (
    BuiltinFunctionType,
    CellType,
    ClassMethodDescriptorType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    WrapperDescriptorType,
)
from typing import Any

from dy2st.convert.types.containers import BUNDLE
from dy2st.convert.types.row import row


def _partial(kind: Any, parts: Sequence[Any], names: Any, like: Any) -> Any:
    (function, *args), keywords = parts[: len(parts) - len(names)], parts[len(parts) - len(names) :]
    return partial(function, *args, **dict(zip(names, keywords, strict=True)))


row(
    MethodType,
    **BUNDLE,
    is_fixed=True,
    same=lambda one, two: one.__func__ is two.__func__ and one.__self__ is two.__self__,
    parts=lambda method, names: [method.__func__, method.__self__],
    make=lambda kind, parts, names, like: MethodType(*parts),
)
row(
    partial,
    **BUNDLE,
    parts=lambda call, names: [call.func, *call.args, *call.keywords.values()],
    names=lambda call: tuple(call.keywords),
    make=_partial,
)
# Functions in C: those that have an object, and those that classes hold for theirs.
_BOUND: dict[str, Any] = {
    "family": "bound in C",
    "is_open": True,  # methods of some classes have a type of their own
    "is_unchanging": True,
    "is_fixed": True,
    "parts": lambda method, names: [] if method.__self__ is None else [method.__self__],
}
row(BuiltinFunctionType, **_BOUND, same=lambda a, b: a.__self__ is b.__self__ and a == b)
row(MethodWrapperType, **_BOUND)
row(
    MethodDescriptorType,
    WrapperDescriptorType,
    ClassMethodDescriptorType,
    family="of a C class",
    is_fixed=True,
)
row(GetSetDescriptorType, MemberDescriptorType, family="slot", is_fixed=True)
row(FunctionType, family="function", is_fixed=True)
row(
    classmethod,
    staticmethod,
    is_fixed=True,
    is_unchanging=True,
    parts=lambda method, names: [method.__func__],
)
# As keys of a weak dict are.
row(weakref.ref, is_unchanging=True, parts=lambda one, names: [] if one() is None else [one()])
row(CellType, family="cell", word="function that uses a variable of the trace")
row(CodeType, is_constant=True, is_fixed=True)
row(property, super, attrgetter, itemgetter, methodcaller, is_fixed=True)
row(*weakref.ProxyTypes, family="proxy")
