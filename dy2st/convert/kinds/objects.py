"""Objects: their attributes and classes; dataclasses, namedtuples, and copies."""

from __future__ import annotations

import copy
import copyreg
import inspect
from abc import ABCMeta
from collections import namedtuple
from collections.abc import Sequence
from operator import is_
from types import FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from dy2st.convert.kinds.lists import held
from dy2st.convert.kinds.scalars import is_traced_key
from dy2st.convert.kinds.side_effects import called_by_the_user, note_abstract
from dy2st.convert.kinds.table import function_row
from dy2st.convert.objects import fields_in, names_now
from dy2st.convert.stage.checks import caught
from dy2st.convert.trace import Sizes, Trace, own_method
from dy2st.convert.types import info
from dy2st.convert.types.row import HEAP_TYPE
from dy2st.convert.types.values import fill
from dy2st.convert.values.layout import Layout, Number, Reference, Same, all_of, number_kind
from dy2st.convert.values.special import MISSING, Asked, Generated, Indexed, SymbolicSequence, Union
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import ConversionError, TensorAsPython
from dy2st_runtime.ir import F, Tensor, Variable
from dy2st_runtime.ir.choice import Text, joined
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.size_list import SizeList
from dy2st_runtime.tensor import EagerTensor, is_tensor

# -- attributes -----------------------------------------------------------------------------------

_NOTHING = object()
_ITERATOR = type(iter(()))
_OF_PLACES = type(iter(np.empty(0)))  # of what has places, and no `__iter__`


def class_of(value: Any) -> type:
    """The class that Python's code sees."""
    kind = type(value)
    if isinstance(value, Variable) and value.mixed:
        raise TensorAsPython(
            "the class of a value is asked that is a number of Python on one path and a tensor, or "
            "another kind of number, on another",
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
    if kind in (_OF_PLACES, reversed):
        make, (owner, *_), *_ = value.__reduce__()
        is_list = type(owner) is Asked and type(owner.owner) is list
        return type(make([])) if is_list else kind
    if kind in (Indexed, Generated):
        return range if kind is Indexed and not value.is_once else _ITERATOR
    return str if kind is Text else kind


@function_row(isinstance)
def _isinstance(trace: Trace, value: Any, kinds: Any) -> Any:
    _note_class(trace, value)
    _note_asked(trace, value, type(value), kinds)
    kind = class_of(value)
    if trace.origin(value, Sizes):
        return isinstance(SizeList(), kinds)
    return isinstance(value, kinds) if kind is type(value) else issubclass(kind, kinds)


function_row(is_tensor)(lambda trace, value: _isinstance(trace, value, Tensor))


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
def type_(trace: Trace, /, *args: Any, **options: Any) -> Any:
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


@function_row(id)
def _id(trace: Trace, value: Any) -> Any:
    trace.alias_tracker.refuse_identity(value)
    return id(value)


@function_row(hash)
def _hash(trace: Trace, value: Any) -> Any:
    own = own_method(trace, value, "__hash__")
    if own is not None:
        return trace.call(own, value)
    trace.alias_tracker.refuse_identity(value)
    if is_traced_key(trace, value):
        raise TensorAsPython(
            "a traced number is a key of a dict or set, or a text or list of the Program is",
            why="it is known only when the Program runs",
            hint="compare it with the keys in an `if`, or keep entries in a tensor and index that",
        )
    return hash(value)


@function_row(getattr)
def _getattr(trace: Trace, owner: Any, name: Any, default: Any = _NOTHING) -> Any:
    if default is _NOTHING:
        return trace.attr(owner, name)
    return caught(trace, lambda: trace.attr(owner, name), AttributeError, lambda: default)


@function_row(hasattr)
def _hasattr(trace: Trace, owner: Any, name: Any) -> Any:
    there = lambda: trace.attr(owner, name) is not MISSING  # noqa: E731
    return caught(trace, there, AttributeError, lambda: False)


for _function, _row in (
    (super, lambda trace, *given: trace.made(super(*given))),
    (callable, lambda trace, value: callable(value)),
    (object.__getattribute__, lambda trace, owner, name: trace.plain_attr(owner, name)),
    (setattr, lambda trace, owner, name, value: trace.set_attr(owner, name, value)),
    (object.__setattr__, lambda trace, owner, name, value: trace.set_own(owner, name, value)),
    (Layer.__setattr__, lambda trace, owner, name, value: trace.set_plain(owner, name, value)),
    (delattr, lambda trace, owner, name: trace.del_attr(owner, name)),
    (object.__delattr__, lambda trace, owner, name: trace.set_plain(owner, name, MISSING)),
    (Layer.__delattr__, lambda trace, owner, name: trace.set_plain(owner, name, MISSING)),
):
    function_row(_function)(_row)


@function_row(vars)
def _vars(trace: Trace, owner: Any) -> Any:
    if isinstance(owner, (type, ModuleType)):
        held = trace.read("attr", owner, "__dict__", vars(owner))
        now = names_now(held, trace.over, owner if isinstance(owner, type) else None)
        return held if now is held else trace.seen_now(now)
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
            why="the object itself gets them when the Program has run",
            hint="ask for them by name: hasattr(o, name)",
        )
    trace.read("all", owner, "dir", None)
    return trace.made(dir(owner))


# -- what `dataclass` and `namedtuple` have written -------------------------------------------


def call_generated(
    trace: Trace, function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A function that `dataclass` or `namedtuple` has made; NotImplemented for all others."""
    name, file = function.__name__, function.__code__.co_filename
    kind = args[0] if args and isinstance(args[0], type) else type(args[0] if args else None)
    if name == "_replace" and file == namedtuple.__code__.co_filename:
        fields: Any = getattr(kind, "_fields")  # noqa: B009
        function(tuple.__new__(kind, fields), **kwargs)  # raises for another field
        return tuple.__new__(kind, [kwargs.get(*pair) for pair in zip(fields, *args, strict=True)])
    if not args or file.endswith(".py"):
        return NotImplemented
    held = [(one, one.__dict__.get(name)) for one in kind.__mro__]
    # A `__repr__` stands in a wrapper that stops at objects inside of themselves.
    owners = [one for one, own in held if getattr(own, "__wrapped__", own) is function]
    is_new = name == "__new__" and hasattr(kind, "_fields")
    if is_new or getattr(kind.__new__, "__func__", kind.__new__) is function:
        bound = _bound(function, args, kwargs)
        bound.apply_defaults()
        return tuple.__new__(kind, [*bound.arguments.values()][1:])
    if not owners or "__dataclass_fields__" not in owners[0].__dict__:
        return NotImplemented
    kind, owner = owners[0], args[0]
    if name == "__init__":
        return _initialise(trace, kind, owner, _bound(function, args, kwargs).arguments)
    if name in ("__eq__", "__lt__", "__le__", "__gt__", "__ge__"):
        if type(args[1]) is not type(owner):
            return NotImplemented
        names = [field.name for field in _fields(kind) if field.compare]
        pair = [tuple(trace.attr(one, name) for name in names) for one in args]
        return getattr(trace, name.strip("_"))(*pair)
    if name == "__repr__":
        parts: list[Any] = []
        for field in _fields(kind):
            if field.repr:
                value = trace.text((trace.attr(owner, field.name), "r", ""))
                parts += [", " if parts else "", f"{field.name}=", value]
        return joined([f"{type(owner).__qualname__}(", *parts, ")"])
    return NotImplemented


def _bound(function: FunctionType, args: Any, kwargs: Any) -> inspect.BoundArguments:
    """What each parameter gets; where a call does not fit, Python's own words."""
    try:
        return inspect.signature(function).bind(*args, **kwargs)
    except TypeError:
        function(*args, **kwargs)  # raises
        raise


def _initialise(trace: Trace, kind: Any, owner: Any, given: dict[str, Any]) -> None:
    extra = []
    put = trace.set_own if kind.__dataclass_params__.frozen else trace.set_attr
    for field in kind.__dataclass_fields__.values():
        role = _role(field)
        if role == "_FIELD_CLASSVAR":
            continue
        if field.name in given:
            value = given[field.name]
        elif _is_there(field.default_factory):
            value = trace.call(field.default_factory)
        elif _is_there(field.default) and (
            field.init or field.name in kind.__dict__.get("__slots__", ())
        ):
            value = field.default
        else:
            continue  # its class holds the default
        if role == "_FIELD_INITVAR":
            extra.append(value)
        else:
            put(owner, field.name, value)
    if hasattr(kind, "__post_init__"):
        trace.call(trace.attr(owner, "__post_init__"), *extra)


def _role(field: Any) -> str:
    """What a field is: known by name, for the module of dataclasses may have been loaded anew."""
    return str(field._field_type.name)


def _is_there(default: Any) -> bool:
    return type(default).__name__ != "_MISSING_TYPE"


def _fields(kind: Any) -> list[Any]:
    return [field for field in kind.__dataclass_fields__.values() if _role(field) == "_FIELD"]


# -- copies -----------------------------------------------------------------------------------


@function_row(copy.copy)
def _copy(trace: Trace, value: Any) -> Any:
    own, kind = own_method(trace, value, "__copy__"), type(value)
    if own is not None:
        return trace.call(own, value)
    if _is_atom(value) or kind is tuple:
        return value
    if isinstance(value, Tensor):
        return value if getattr(value, "number", None) is not None else F.assign(value)
    if isinstance(value, tuple) and (hasattr(kind, "_fields") or not _says_how(trace, value)):
        return _of_tuple(trace, value, value)
    if info(kind).is_container:
        return trace.call(value.copy)
    if _says_how(trace, value) or isinstance(value, BaseException):
        return trace.call_library(copy.copy, (value,), {})
    fields = trace.fields(value)
    if fields is None:
        return trace.made(copy.copy(trace.native(value)))
    trace.note_fields(value)
    return _new(trace, value, fields)


def _says_how(trace: Trace, value: Any) -> bool:
    """Whether a class of the user's says what copies of its objects are made of."""
    if isinstance(value, Layer):
        return False
    registry = trace.mark_outside(copyreg.dispatch_table)
    how = registry.get(type(value), MISSING)
    if trace.read("item", registry, type(value), how) is not MISSING:
        return True
    return any(own_method(trace, value, name) for name in _OF_COPIES)


def _is_atom(value: Any) -> bool:
    """Whether a copy is the same object: no object of a derived class, which holds more."""
    kinds = (Dim, Condition, SymbolicSequence, slice, type, FunctionType)
    return info(type(value)).is_atom or isinstance(value, kinds)


def _never_changes(case: Layout) -> bool:
    """Whether nobody asks which copy it is, beside others that a deep copy holds."""
    is_known = isinstance(case, Same) and (case.value is MISSING or _is_atom(case.value))
    return is_known or isinstance(case, Number)


_OF_COPIES = (
    *("__getstate__", "__setstate__", "__reduce__", "__reduce_ex__"),
    *("__getnewargs__", "__getnewargs_ex__"),
)


def _of_tuple(trace: Trace, value: Any, parts: Sequence[Any], memo: Any = None) -> Any:
    """An object like one of a class derived from tuple; a deep copy with a `memo`."""
    kind = type(value)
    if not kind.__flags__ & HEAP_TYPE and kind is not tuple:
        return copy.copy(value)  # what C code tells of the process
    made = tuple.__new__(kind, parts)
    for name, one in (fields_in(value) or {}).items():
        setattr(made, name, one if memo is None else _deepcopy(trace, one, memo))
    return made


def _new(trace: Trace, value: Any, fields: dict[str, Any]) -> Any:
    kind: Any = type(value)
    made = trace.made(kind.__new__(kind))
    for name, one in fields.items():
        trace.set_field(made, name, one)
    return made


@function_row(copy.deepcopy)
def _deepcopy(trace: Trace, value: Any, memo: Any = None) -> Any:
    if type(value) is Union and (memo is None or all(map(_never_changes, value.layouts))):
        return trace.map_cases(lambda one: _deepcopy(trace, one), value)
    memo = trace.made({}) if memo is None else memo
    known = trace.content(memo).get(id(value), MISSING)
    if known is not MISSING:
        return known
    found = _deep(trace, value, memo)
    if found is not value:
        _remember(trace, memo, value, found)
        alive = trace.writable(memo).setdefault(id(memo), trace.made([]))
        trace.call(alive.append, value)  # the ids are those of living objects
    return found


def _remember(trace: Trace, memo: Any, value: Any, made: Any) -> Any:
    trace.writable(memo)[id(value)] = made
    return made


def _deep(trace: Trace, value: Any, memo: Any) -> Any:
    kind = type(value)
    own = own_method(trace, value, "__deepcopy__")
    if own is not None and not isinstance(value, Layer):
        return trace.call(own, value, memo)
    if (_is_atom(value) and kind is not slice) or value is MISSING or kind is SymbolicSequence:
        return value
    if isinstance(value, Tensor):
        is_number = getattr(value, "number", None) is not None
        return value if is_number else F.assign(F.detach(value))
    if isinstance(value, tuple) and (hasattr(kind, "_fields") or not _says_how(trace, value)):
        parts = [_deepcopy(trace, one, memo) for one in value]
        made = trace.content(memo).get(id(value), MISSING)  # one of the parts holds the tuple
        if made is not MISSING:
            return made
        is_same = all(map(is_, parts, value))
        return value if is_same and kind is tuple else _of_tuple(trace, value, parts, memo)
    if kind is MethodType:  # of the copy of its object, as `copy` does it
        return MethodType(value.__func__, _deepcopy(trace, value.__self__, memo))
    if kind is slice:
        return slice(*(_deepcopy(trace, one, memo) for one in info(slice).parts(value, ())))
    if _says_how(trace, value) or isinstance(value, BaseException):
        return trace.call_library(copy.deepcopy, (value, memo), {})
    if info(kind).is_container:
        content = held(trace, value)
        if type(value) is set and type(content) is set:
            return trace.made({_deepcopy(trace, one, memo) for one in content})
        element = getattr(content, "element", None)
        inside = all_of([] if element is None else [element])
        if trace.locations.of(value) is not None or any(type(one) is Reference for one in inside):
            raise ConversionError(
                f"deepcopy() of a {kind.__name__} of what a branch, loop or list has chosen",
                why="which of the parts are one object, is known only when the Program runs",
                hint="copy each part: [row.copy() for row in rows]",
            )
        made = _remember(trace, memo, value, trace.call(value.copy))
        if type(content) is SymbolicSequence or type(value) in (set, bytearray):
            return made
        row, names = info(kind), info(kind).names(content)
        parts = [_deepcopy(trace, one, memo) for one in row.parts(content, names)]
        fill(made, row.make(kind, parts, names, value))
        return made
    fields = trace.fields(value)
    if fields is None:
        return trace.made(copy.deepcopy(trace.native(value)))
    trace.note_fields(value)
    made = _remember(trace, memo, value, _new(trace, value, {}))
    for name, one in fields.items():
        trace.set_field(made, name, _deepcopy(trace, one, memo))
    return made


@function_row(SimpleNamespace)
def _namespace(trace: Trace, /, **named: Any) -> Any:
    made = trace.made(SimpleNamespace())
    for name, value in named.items():
        trace.set_field(made, name, value)
    return made
