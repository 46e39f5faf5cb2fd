"""Models the functions that ask an object for its attributes and its class."""

from __future__ import annotations

from abc import ABCMeta
from types import ModuleType
from typing import Any

import numpy as np

from dy2st.convert.kinds.callers import called_by_the_user
from dy2st.convert.kinds.side_effects import note_abstract
from dy2st.convert.kinds.table import function_row
from dy2st.convert.stage.checks import caught
from dy2st.convert.trace import MISSING, Sizes, Trace, own_method
from dy2st.convert.types.row import HEAP_TYPE
from dy2st.convert.values.layout import is_traced_number, number_kind
from dy2st.convert.values.special import Generated, Indexed, SymbolicSequence, Union
from dy2st_runtime.errors import ConversionError, TensorAsPython
from dy2st_runtime.ir import Variable, user_location
from dy2st_runtime.ir.choice import Text
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.size_list import SizeList
from dy2st_runtime.tensor import EagerTensor

_NOTHING = object()
_ITERATOR = type(iter(()))


def class_of(value: Any) -> type:
    """The class that Python's code sees."""
    kind = type(value)
    if isinstance(value, Variable) and value.mixed:
        raise TensorAsPython(
            "the class of a value is asked that is a number of Python on one path and a tensor, or "
            "another kind of number, on another",
            at=user_location(),
            why="a Program has one kind of value for both",
            hint="let it be a tensor on both paths, to_tensor(0.0), or a number: x.item()",
        )
    number = number_kind(value)
    if number is not None:
        return number
    if isinstance(value, Variable) and value.is_numpy:
        return value.dtype.type if not value.ndim else np.ndarray
    if isinstance(value, Variable):
        return EagerTensor
    if kind is SymbolicSequence:
        return value.kind  # type: ignore[no-any-return]
    if kind in (Indexed, Generated):
        return _ITERATOR
    return str if kind is Text else kind


@function_row(isinstance)
def _isinstance(trace: Trace, value: Any, kinds: Any) -> Any:
    _note_class(trace, value)
    _note_asked(trace, value, type(value), kinds)
    kind = class_of(value)
    if trace.origin(value, Sizes):
        return isinstance(SizeList(), kinds)
    return isinstance(value, kinds) if kind is type(value) else issubclass(kind, kinds)


def _note_class(trace: Trace, value: Any) -> None:
    if trace.is_outside(value) and type(value).__flags__ & HEAP_TYPE:
        trace.read("attr", value, "__class__", type(value))


def _note_asked(trace: Trace, value: Any, kind: type, kinds: Any) -> None:
    """Note what a class looks at that answers by itself: abstract ones, protocols."""
    for one in kinds if isinstance(kinds, tuple) else (kinds,):
        is_own = type(one) is not type and isinstance(one, type) and isinstance(kind, type)
        if is_own and one not in kind.__mro__:
            trace.note_class(kind)
            if getattr(one, "_is_protocol", False):
                note_abstract(trace)
                if value is not kind:
                    trace.note_reached((value,))
            elif isinstance(one, ABCMeta):
                trace.read("subclass", one, kind, issubclass(kind, one))


@function_row(issubclass)
def _issubclass(trace: Trace, kind: Any, kinds: Any) -> Any:
    _note_asked(trace, kind, kind, kinds)
    return issubclass(kind, kinds)


@function_row(type)
def type_(trace: Trace, *args: Any, **options: Any) -> Any:
    """`type(value)`, or a new class."""
    if len(args) == 1 and not options:
        _note_class(trace, args[0])
        return class_of(args[0])
    if len(args) != 3 or not isinstance(args[2], dict):
        return type(*args, **options)  # raises, in Python's words
    name, bases, namespace = args
    given = name, bases, dict(trace.double_star(namespace))
    made = trace.made(called_by_the_user(type, given, options))
    trace.note_class_made(made)
    return made


@function_row(super)
def _super(trace: Trace, kind: Any, owner: Any) -> Any:
    return trace.made(super(kind, owner))


@function_row(callable)
def _callable(trace: Trace, value: Any) -> Any:
    return callable(value)


@function_row(id)
def _id(trace: Trace, value: Any) -> Any:
    trace.alias_tracker.refuse_identity(value)
    return id(value)


@function_row(hash)
def _hash(trace: Trace, value: Any) -> Any:
    own = own_method(trace, value, "__hash__")
    if own is not None:
        return trace.call(own, value)
    refuse_as_key(value)
    trace.alias_tracker.refuse_identity(value)
    return hash(value)


def refuse_as_key(value: Any) -> None:
    """Refuse a number that only the run knows as a key, or in a set."""
    parts = value if isinstance(value, tuple) else (value,)
    for part in parts:
        if is_traced_number(part) or type(part) in (SymbolicSequence, Text, Union):
            raise TensorAsPython(
                "a traced number is a key of a dict or set, or a text or list of the Program is",
                at=user_location(),
                why="it is known only when the Program runs",
                hint="compare it with the keys in an `if`, or keep the entries in a tensor and "
                "index that",
            )


# -- attributes by name -----------------------------------------------------------------------


@function_row(getattr)
def _getattr(trace: Trace, owner: Any, name: Any, default: Any = _NOTHING) -> Any:
    if default is _NOTHING:
        return trace.attr(owner, name)
    held = _may_be_missing(trace, owner, name)
    if held is not None:
        return trace.map_cases(lambda one: default if one is MISSING else one, held)
    return caught(trace, lambda: trace.attr(owner, name), AttributeError, lambda: default)


@function_row(hasattr)
def _hasattr(trace: Trace, owner: Any, name: Any) -> Any:
    held = _may_be_missing(trace, owner, name)
    if held is not None:
        return trace.not_(trace.is_(held, MISSING))
    there = lambda: trace.attr(owner, name) is not MISSING  # noqa: E731
    return caught(trace, there, AttributeError, lambda: False)


def _may_be_missing(trace: Trace, owner: Any, name: Any) -> Union | None:
    """An attribute that only some paths have set."""
    place = trace.over.get((id(owner), name))
    own = getattr(owner, "__dict__", None) if place is None else None
    held = own.get(name) if isinstance(own, dict) else getattr(place, "value", None)
    held = trace.known(held)
    if type(held) is not Union:
        return None
    is_maybe = any(getattr(case, "value", None) is MISSING for case in held.layouts)
    return held if is_maybe else None


@function_row(object.__getattribute__)
def _plain_attr(trace: Trace, owner: Any, name: str) -> Any:
    return trace.plain_attr(owner, name)


@function_row(setattr)
def _setattr(trace: Trace, owner: Any, name: str, value: Any) -> None:
    trace.set_attr(owner, name, value)


@function_row(object.__setattr__)
def _set_own(trace: Trace, owner: Any, name: str, value: Any) -> None:
    trace.set_own(owner, name, value)


@function_row(Layer.__setattr__)
def _set_in_layer(trace: Trace, owner: Any, name: str, value: Any) -> None:
    trace.set_plain(owner, name, value)


@function_row(Layer.__delattr__)
def _del_in_layer(trace: Trace, owner: Any, name: str) -> None:
    trace.del_own(owner, name)


@function_row(delattr)
def _delattr(trace: Trace, owner: Any, name: str) -> None:
    trace.del_attr(owner, name)


@function_row(object.__delattr__)
def _del_own(trace: Trace, owner: Any, name: str) -> None:
    trace.del_own(owner, name)


@function_row(vars)
def _vars(trace: Trace, owner: Any) -> Any:
    if isinstance(owner, (type, ModuleType)):
        held = trace.read("attr", owner, "__dict__", vars(owner))
        key = id(owner) if isinstance(owner, type) else id(held)
        written = {n: one.value for (k, n), one in trace.over.items() if k == key}
        if not written:
            return held
        now = {name: value for name, value in {**held, **written}.items() if value is not MISSING}
        return trace.seen_now(now)
    return trace.attr(owner, "__dict__")


@function_row(dir)
def _dir(trace: Trace, owner: Any) -> Any:
    own = own_method(trace, owner, "__dir__")
    if own is not None:
        return trace.call(sorted, trace.call(own, owner))
    written = [name for key, name in trace.over if key == id(owner) and isinstance(name, str)]
    if written:
        raise ConversionError(
            "dir() of an object whose attributes the function has set",
            at=user_location(),
            why="the object itself gets them when the Program has run",
            hint="ask for them by name: hasattr(o, name)",
        )
    trace.read("all", owner, "dir", None)
    return trace.made(dir(owner))
