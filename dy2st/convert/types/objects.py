"""Objects with attributes, and those of C; functions; what stands for values of the Program."""

from __future__ import annotations

import io
import weakref
from _random import Random as Twister
from collections.abc import Iterable, Sequence
from enum import Enum
from functools import partial
from operator import attrgetter, itemgetter, methodcaller
from pickle import dumps, loads
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
    ModuleType,
    SimpleNamespace,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from dy2st.convert.types.row import info, row
from dy2st.convert.types.values import BUNDLE, by_name
from dy2st.convert.values.special import (
    MISSING,
    Generated,
    Indexed,
    Special,
    SymbolicSequence,
    Union,
)
from dy2st_runtime.dims import Condition, Dim, equal
from dy2st_runtime.ir import Tensor
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.tensor import wrapped

# -- attributes, classes, modules, values of the Program ------------------------------------------


def bare(kind: Any) -> Any:
    """An object without attributes, past what its class makes of new ones."""
    plain = BaseException if issubclass(kind, BaseException) else object
    return plain.__new__(kind) if kind.__new__.__class__ is FunctionType else kind.__new__(kind)


def set_attributes(made: Any, names: Iterable[str], values: Iterable[Any]) -> None:
    """Let a new object have attributes, past the methods and properties of its class."""
    for name, value in zip(names, values, strict=True):
        held = type(getattr(type(made), name, None))
        if value is not MISSING and hasattr(held, "__set__") and info(held).family != "slot":
            vars(made)[name] = value  # what a property of that name keeps there
        elif value is not MISSING:  # no branch has set it
            object.__setattr__(made, name, value)


def _object(kind: Any, parts: Sequence[Any], names: Any, like: Any) -> Any:
    made = bare(kind)
    set_attributes(made, names, parts)
    return made


_OBJECT: dict[str, Any] = {"is_open": True, "parts": by_name, "names": list, "make": _object}
row(object, SimpleNamespace, **_OBJECT)
row(BaseException, family="exception", is_fixed=True, **_OBJECT)
_CONSTANT: dict[str, Any] = {"is_open": True, "is_constant": True, "is_fixed": True}
row(type, family="class", **_CONSTANT)
row(ModuleType, family="module", **_CONSTANT)
row(Layer, family="layer", **_CONSTANT)
row(Enum, **_CONSTANT)
row(Special, is_constant=True, is_single=True)


_TENSOR: dict[str, Any] = {"family": "tensor", "is_open": True, "is_traced": True}
_TRACED: dict[str, Any] = {"is_value": True, "is_fixed": True}
row(Tensor, Condition, **_TENSOR, **_TRACED)
row(Dim, **_TENSOR, **_TRACED, same=lambda left, right: equal(left, right) is True)
row(Generated, word="generator", is_fixed=True)
row(Indexed, word="iterator", is_fixed=True)
row(Union, SymbolicSequence, **_TRACED)

# -- functions, methods, and what they are made of ------------------------------------------------


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
    "is_value": True,
    "is_unchanging": True,
    "is_fixed": True,
    "parts": lambda method, names: [] if method.__self__ is None else [method.__self__],
    "names": lambda method: (method.__qualname__,),
    "make": lambda kind, parts, names, like: getattr(parts[0], names[0].rpartition(".")[2]),
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

# -- objects that keep in C what they hold --------------------------------------------------------


def _write_text(stream: Any, state: Any) -> None:
    if state is None or stream.closed:
        return
    stream.seek(0)
    stream.truncate()
    stream.write(state[0])
    stream.seek(state[1])


def _hidden(*kinds: type | str, **fields: Any) -> None:
    row(*kinds, **{"is_open": True, "state": "hidden", **fields})


_hidden(
    np.ndarray,
    family="array",
    state="array",
    snapshot=lambda array: array.copy(),
    restore=lambda array, old: array.__setitem__(..., old),
)
_hidden(
    memoryview,
    snapshot=memoryview.tobytes,
    restore=lambda view, old: view.cast("B").__setitem__(slice(None), old),
)
_hidden(
    "array.array",
    snapshot=lambda values: values.tobytes(),
    restore=lambda values, old: values.__delitem__(slice(None)) or values.frombytes(old),
)
_hidden(
    io.StringIO,
    io.BytesIO,
    snapshot=lambda one: None if one.closed else (one.getvalue(), one.tell()),
    restore=_write_text,
)
# Random numbers: of those of the machine nobody has the state, and those of NumPy are in arrays.
_hidden("random.SystemRandom", snapshot=lambda one: None, restore=lambda one, old: None)


def state_of_twister(state: Any) -> Any:
    """The state of a random.Random for a Program: its words as a tensor, and its position."""
    if len(state) == 2:
        return state
    *words, position = state
    return wrapped(np.array(words)), position


def _set_twister(twister: Any, state: Any) -> None:
    if len(state) == 2:
        state = *state[0].tolist(), int(state[1])
    Twister.setstate(twister, state)


# What C keeps: the number that `gauss` has for its next call is an attribute like others.
_hidden(
    "random.Random",
    snapshot=Twister.getstate,
    restore=_set_twister,
    is_joined=True,
    as_value=state_of_twister,
)
_hidden(
    "numpy.random._generator.Generator",
    snapshot=lambda one: dumps(one.bit_generator.state),
    restore=lambda one, old: setattr(one.bit_generator, "state", loads(old)),
)
_hidden(
    "numpy.random.mtrand.RandomState",
    snapshot=lambda one: dumps(one.get_state(legacy=False)),
    restore=lambda one, old: one.set_state(loads(old)),
)
