"""Calls: the user's functions in their traced form, C functions by their rows, the rest refused."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from inspect import CO_GENERATOR
from types import (
    BuiltinFunctionType,
    FunctionType,
    GeneratorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

from dy2st.convert.call import is_ignored_module
from dy2st.heart.form import traced_form
from dy2st.heart.kinds.objects import call_generated
from dy2st.heart.kinds.outward import is_fresh, note_call
from dy2st.heart.kinds.table import CODES, row_of_function, row_of_method
from dy2st.heart.protocol.bracket import bracketed, shown
from dy2st.heart.protocol.reach import note_reached
from dy2st.heart.protocol.unions import has_union, known, spread
from dy2st.heart.trace import Trace
from dy2st.heart.values.special import Union
from dy2st_runtime.errors import SourceUnavailable
from dy2st_runtime.nn.layer import Layer

_BUILTIN_METHODS = (BuiltinFunctionType, MethodWrapperType)


def call(trace: Trace, function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`function(*args, **kwargs)`."""
    kind = type(function)
    if kind is FunctionType:
        return call_function(trace, function, args, kwargs)
    if kind is MethodType:
        return call(trace, function.__func__, function.__self__, *args, **kwargs)
    if kind in _BUILTIN_METHODS:
        return _call_builtin(trace, function, args, kwargs)
    if kind is Union:
        return spread(trace, lambda one: call(trace, one, *args, **kwargs), known(trace, function))
    if isinstance(function, type):
        return _construct(trace, function, args, kwargs)
    if kind is partial:
        return _call_partial(trace, function, args, kwargs)
    if isinstance(function, Layer):
        return call_layer(trace, function, args, kwargs)
    return _call_object(trace, function, args, kwargs)


def is_library(module: str) -> bool:
    """Whether the functions of a module are called as they are."""
    return module != "contextlib" and is_ignored_module(module)


def call_function(
    trace: Trace, function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A function of Python: in its traced form if it is the user's."""
    row = _forward if function is Layer.__call__ else row_of_function(function)
    if row is not None:
        return _by_row(trace, row, args, kwargs)
    row = CODES.get(function.__code__)
    if row is not None:
        return row(trace, function, *args, **kwargs)
    known_form = trace.forms.get(id(function))
    if known_form is not None:
        return _called(trace, function, known_form[1], args, kwargs)
    if is_library(str(function.__module__)):
        return call_library(trace, function, args, kwargs)
    try:
        form = traced_form(function)
    except SourceUnavailable:  # made by exec(), as those of dataclasses are
        found = call_generated(trace, function, args, kwargs)
        if found is not NotImplemented:
            return found
        return call_library(trace, function, args, kwargs)
    if form.untouched:
        return call_library(trace, function, args, kwargs)
    if trace.is_outside(function) or not function.__closure__:
        for one in function.__closure__ or ():
            trace.mark_outside(one)
    trace.read("code", function, "__code__", function.__code__)
    if trace.is_outside(function):
        for one in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            trace.mark_outside(one)
    bound = form.bind(trace.protocol, function)
    trace.forms[id(function)] = function, bound
    return _called(trace, function, bound, args, kwargs)


def _called(
    trace: Trace,
    function: FunctionType,
    bound: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    made = bound(*args, **kwargs)
    if type(made) is GeneratorType and function.__code__.co_flags & CO_GENERATOR:
        trace.note_generator(made, lambda push: pushing(trace, function, push)(*args, **kwargs))
    return made


class _Pushing:
    """The protocol for a generator function whose consumer takes each item at once."""

    def __init__(self, trace: Trace, push: Callable[[Any], Any]):
        """`push` takes an item, and gives what `yield` gives."""
        self.push = push
        self.push_all = partial(trace.push_all, push)
        self._protocol = trace.protocol

    def __getattr__(self, name: str) -> Any:
        """All else is that of the trace."""
        return getattr(self._protocol, name)


def pushing(trace: Trace, function: FunctionType, push: Callable[[Any], Any]) -> Callable[..., Any]:
    """A generator function as one that gives each item to `push`, and returns its value."""
    return traced_form(function, pushes=True).bind(_Pushing(trace, push), function)


def _call_builtin(
    trace: Trace, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    owner = getattr(function, "__self__", None)
    row = row_of_method(type(owner), function.__name__) if owner is not None else None
    if row is not None:
        return row(trace, owner, *args, **kwargs)
    row = row_of_function(function)
    if row is not None:
        return _by_row(trace, row, args, kwargs)
    return call_native(trace, function, args, kwargs)


def _by_row(trace: Trace, row: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a row gives, for each case of an argument that is one of several."""
    if has_union(args):
        return spread(trace, lambda *values: row(trace, *values, **kwargs), *args)
    return row(trace, *args, **kwargs)


def call_native(trace: Trace, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function in C without a row: it gets real objects."""
    if has_union((*args, *kwargs.values())):
        return _for_each_case(trace, call_native, function, args, kwargs)
    note_call(trace, function, (*args, *kwargs.values()))
    owner = getattr(function, "__self__", None)
    own = () if owner is None or isinstance(owner, (ModuleType, type)) else (owner,)
    reached = note_reached(trace, (*own, *args, *kwargs.values()))
    return _with_real_objects(trace, function, reached, args, kwargs)


def _for_each_case(
    trace: Trace, run: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`run(trace, function, args, kwargs)` for each case of arguments that are one of several."""
    count = len(args)

    def again(*values: Any) -> Any:
        named = dict(zip(kwargs, values[count:], strict=True))
        return run(trace, function, values[:count], named)

    return spread(trace, again, *args, *kwargs.values())


def _with_real_objects(
    trace: Trace, function: Any, reached: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    def run() -> Any:
        named = {name: shown(trace, value) for name, value in kwargs.items()}
        return function(*(shown(trace, value) for value in args), **named)

    found = bracketed(trace, reached, run)
    if is_fresh(function, args, found):
        trace.made(found)
    if any(function is one for one in _ASKED) or isinstance(owner_of(function), ContextVar):
        return trace.read("cached", function, (args, tuple(kwargs.items())), found)
    return found


def owner_of(function: Any) -> Any:
    """The object whose method a C function is."""
    return getattr(function, "__self__", None)


# What tells of the interpreter or the system is asked again at every call.
_ASKED = frozenset({os.getenv, os.getcwd, sys.getrecursionlimit, sys.getswitchinterval})


def call_library(trace: Trace, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function of dy2st, or of a library that is not looked into."""
    if has_union((*args, *kwargs.values())):
        return _for_each_case(trace, call_library, function, args, kwargs)
    note_call(trace, function, (*args, *kwargs.values()))
    reached = note_reached(trace, (*args, *kwargs.values()), function.__name__ != "forward")
    return _with_real_objects(trace, function, reached, args, kwargs)


def _construct(trace: Trace, kind: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A new object: `__new__`, then `__init__`, each in traced form if it is the user's."""
    row = row_of_function(kind)
    if row is not None:
        return _by_row(trace, row, args, kwargs)
    meta_call = type(kind).__call__
    if type(meta_call) is FunctionType:
        return call(trace, meta_call, kind, *args, **kwargs)
    new: Any = kind.__new__
    init: Any = kind.__init__  # type: ignore[misc]
    is_plain = isinstance(init, FunctionType) or isinstance(new, FunctionType)
    if not is_plain or issubclass(kind, type):
        made = trace.made(call_native(trace, kind, args, kwargs))
        if isinstance(made, type) and len(args) > 1:
            trace.classes[id(made)] = made
        return made
    if isinstance(new, FunctionType):
        made = call(trace, new, kind, *args, **kwargs)
    elif issubclass(kind, BaseException):
        made = new(kind, *args)
    else:
        made = new(kind)
    trace.made(made)
    if isinstance(made, kind) and isinstance(type(made).__init__, FunctionType):
        call(trace, type(made).__init__, made, *args, **kwargs)
    return made


def _call_partial(
    trace: Trace, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    for name in ("func", "args", "keywords") if trace.is_outside(function) else ():
        trace.read("attr", function, name, getattr(function, name))
    trace.read_content(function.keywords)
    words = trace.content(function.keywords)
    return call(trace, function.func, *function.args, *args, **{**words, **kwargs})


def call_layer(trace: Trace, layer: Layer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A Layer: pre hooks, `forward`, post hooks."""
    own: Any = type(layer).__call__
    if own is not Layer.__call__:
        return call(trace, own, layer, *args, **kwargs)
    return _forward(trace, layer, *args, **kwargs)


def _forward(trace: Trace, layer: Layer, *args: Any, **kwargs: Any) -> Any:
    """What `Layer.__call__` does."""
    trace.read("layer", layer, "hooks", None)
    for key, hook in tuple(layer._forward_pre_hooks.items()):
        convert = partial(call, trace, hook)
        args, kwargs = layer._before(key, convert, args, kwargs)
    outputs = call(trace, trace.attribute(layer, "forward"), *args, **kwargs)
    for key, hook in tuple(layer._forward_post_hooks.items()):
        given = (args, kwargs) if key in layer._hooks_with_kwargs else (args,)
        changed = call(trace, hook, layer, *given, outputs)
        outputs = outputs if changed is None else changed
    return outputs


def _call_object(trace: Trace, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    row = row_of_function(function)
    if row is not None:
        return _by_row(trace, row, args, kwargs)
    row = row_of_method(type(function), "__call__")
    if row is not None:
        return row(trace, function, *args, **kwargs)
    inner = getattr(function, "dygraph_function", None)
    if inner is not None:  # a converted function is called as what it was made of
        return call(trace, inner, *args, **kwargs)
    if isinstance(function, (MethodDescriptorType, WrapperDescriptorType)) and args:
        row = row_of_method(type(args[0]), function.__name__)
        if row is not None:
            return row(trace, *args, **kwargs)
        return call_native(trace, function, args, kwargs)
    own = getattr(type(function), "__call__", None)  # noqa: B004
    if type(own) is FunctionType:
        return call(trace, own, function, *args, **kwargs)
    wrapped = getattr(function, "__wrapped__", None)
    if type(wrapped) is FunctionType:  # functools.cache and its like
        return call(trace, wrapped, *args, **kwargs)
    if isinstance(function, weakref.ref):
        return trace.read("cached", function, (args, ()), function())
    return call_native(trace, function, args, kwargs)


Row = Callable[..., Any]

__all__ = [
    "call",
    "call_function",
    "call_layer",
    "call_library",
    "call_native",
    "is_library",
    "pushing",
]
