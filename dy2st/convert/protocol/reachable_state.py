"""Notes all that untraced code may read of what it is given: whatever it can reach."""

from __future__ import annotations

import dis
from collections import deque
from types import (
    CodeType,
    FunctionType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any
from weakref import ProxyTypes, ref

from dy2st.convert.classes import HEAP_TYPE
from dy2st.convert.ignored_modules import is_machinery, module_of_code
from dy2st.convert.kinds.layers import read_layer
from dy2st.convert.kinds.process import is_of_library, is_opaque, note_settings
from dy2st.convert.states import has_state
from dy2st.convert.trace import CONTAINERS, EACH_CALL, MISSING, Trace, native_attribute
from dy2st_runtime.ir import Tensor
from dy2st_runtime.nn.layer import Layer

_COLLECTIONS = (list, dict, set, deque, MappingProxyType) + tuple(
    type(getattr({}, name)()) for name in ("keys", "values", "items")
)
_MOST_PLACES = 5000  # to ask them all would take longer than to trace the call
_STORES = ("_parameters", "_buffers", "_sub_layers")
# What a Layer keeps for itself; who calls its hooks notes them.
_OWN = frozenset(
    ("_state_dict_hooks", "_non_persistable_buffer_names_set", "_hooks_with_kwargs")
    + ("_forward_pre_hooks", "_forward_post_hooks", *_STORES)
)


def note_reached(trace: Trace, values: Any, through_users: bool = True) -> list[Any]:
    """Note all that can be reached from values as read; gives those objects.

    `through_users`: Layers of the user's inside of others too; they are traced if they are called.
    """
    todo, seen = list(values), dict[int, Any]()
    known = len(trace.reads)
    while todo:
        value = todo.pop()
        if id(value) not in seen and not _is_gone(value) and not isinstance(value, Tensor):
            seen[id(value)] = value
            todo += _parts(trace, value, through_users)
    if len(trace.reads) - known > _MOST_PLACES:
        text = f"code that is not traced may read more than {_MOST_PLACES} places"
        trace.read(EACH_CALL, note_reached, "reached", text)
    return list(seen.values())


def _is_gone(value: Any) -> bool:
    """Whether it is a proxy of an object that is there no more: whatever asks it raises."""
    if type(value) not in ProxyTypes:
        return False
    try:
        bool(value.__class__)
    except ReferenceError:
        return True
    return False


def _parts(trace: Trace, value: Any, through_users: bool) -> list[Any]:
    kind = type(value)
    note_settings(trace, value)
    if isinstance(value, tuple):
        return list(value)
    if kind in CONTAINERS:
        content = trace.content(value)
        trace.read_content(value)
        if type(content) not in CONTAINERS or kind is bytearray:
            return []
        if isinstance(content, dict):
            return [*content.values(), *_marked(trace, value, _objects(content))]
        return list(content)
    if isinstance(value, Layer):
        return _of_layer(trace, value, through_users)
    if is_machinery(value):  # a converted function stands for what it was made of
        return [value.dygraph_function] if hasattr(kind, "dygraph_function") else []
    if kind is FunctionType:
        return _of_function(trace, value)
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if not trace.is_outside(value):
        return list((trace.fields(value) or {}).values())
    if isinstance(value, _COLLECTIONS):
        trace.read("content", value, None, None)
        is_dict = isinstance(value, (dict, MappingProxyType))
        items = [*value.values(), *_objects(value)] if is_dict else [*value]
        return [*_marked(trace, value, items), *note_fields(trace, value)]
    if isinstance(value, ref):
        target = value()
        found = [] if target is None else _marked(trace, value, [target])
        return [*found, *note_fields(trace, value)]
    if has_state(value):
        trace.read("state", value, None, None)
    elif is_opaque(value):
        text = f"a {kind.__name__} from outside is given to code that is not traced"
        trace.read(EACH_CALL, value, "", text)
    note_class(trace, kind)
    return note_fields(trace, value)


def _objects(keys: Any) -> list[Any]:
    """The keys that may hold something themselves."""
    return [key for key in keys if not isinstance(key, (str, int))]


def note_class(trace: Trace, kind: type) -> None:
    """Note all that a class holds: native code may call any method."""
    for one in kind.__mro__:
        if one.__flags__ & HEAP_TYPE and id(one) not in trace.own:
            trace.read("names", one, None, None)


def _of_function(trace: Trace, function: FunctionType) -> list[Any]:
    """What the code of a function of the user's names, where it runs natively."""
    if is_of_library(module_of_code(function)):
        return []
    trace.read("code", function, "__code__", function.__code__)
    names, scope = names_of(function.__code__), function.__globals__
    found = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    for cell in function.__closure__ or ():
        held = native_attribute(cell, "cell_contents")
        found.append(
            held if id(cell) in trace.own else trace.read("cell", cell, "cell_contents", held)
        )
    for name in names:
        held = trace.read("item", scope, name, scope.get(name, MISSING))
        found.append(held)
        if isinstance(held, ModuleType) and not is_of_library(held.__name__):
            found += [trace.attr(held, one) for one in names if one in vars(held)]
    dynamic = runs_unknown_text(function.__code__)
    if dynamic:
        text = f"{function.__qualname__}() is not traced, and calls {dynamic}()"
        trace.read(EACH_CALL, function, "called", text)
    return [one for one in found if one is not MISSING]


def note_fields(trace: Trace, owner: Any) -> list[Any]:
    """Note all attributes that an object from outside itself holds; gives their values."""
    if not trace.is_outside(owner) or isinstance(owner, (type, ModuleType, FunctionType)):
        return []
    held = getattr(owner, "__dict__", None)
    if isinstance(held, dict):
        trace.read("fields", owner, None, None)
    held = dict(held) if isinstance(held, dict) else {}
    for kind in type(owner).__mro__:
        slots = [one for one in vars(kind).values() if isinstance(one, MemberDescriptorType)]
        held |= {one.__name__: getattr(owner, one.__name__, MISSING) for one in slots}
    for name, one in held.items():
        if (id(owner), name) not in trace.over:
            trace.read("attr", owner, name, one)
    return list(held.values())


def _of_layer(trace: Trace, layer: Layer, through_users: bool) -> list[Any]:
    if trace.is_outside(layer):
        read_layer(trace, layer)
    fields = [value for name, value in vars(layer).items() if name not in _OWN]
    children = [one for store in _STORES for one in vars(layer).get(store, {}).values()]
    _marked(trace, layer, [*fields, *children])
    inner = [one for one in children if through_users or not is_users(one)]
    return [*(one for one in fields if not isinstance(one, Layer)), *inner]


def is_users(value: Any) -> bool:
    """Whether an object is a Layer of a class of the user's."""
    return isinstance(value, Layer) and not str(type(value).__module__).startswith("dy2st_runtime.")


def _marked(trace: Trace, owner: Any, values: Any) -> list[Any]:
    """What an owner outside holds is outside."""
    found = list(values)
    if trace.is_outside(owner):
        for value in found:
            trace.mark_outside(value)
    return found


_RUNS_TEXT = frozenset({"eval", "exec"})
_CALLS = frozenset({"CALL", "CALL_FUNCTION", "PRECALL"})


def names_of(code: CodeType) -> set[str]:
    """The globals and attributes that a code names, and those inside of it."""
    return set().union(*(one.co_names for one in _codes(code)))


def runs_unknown_text(code: CodeType) -> str:
    """The function by which a code runs a text that it does not hold itself; empty if none."""
    for one in _codes(code):
        if _RUNS_TEXT.isdisjoint(one.co_names):
            continue
        steps = [*dis.get_instructions(one)]
        for place, step in enumerate(steps):
            is_one = step.opname == "LOAD_GLOBAL" and step.argval in _RUNS_TEXT
            if is_one and not _holds_text(steps[place + 1 :]):
                return str(step.argval)
    return ""


def _holds_text(steps: list[dis.Instruction]) -> bool:
    """Whether the arguments are a text and variables: nothing is computed before the call."""
    if steps[0].opname != "LOAD_CONST" or not isinstance(steps[0].argval, str):
        return False
    called = next(step.opname for step in steps if not step.opname.startswith("LOAD_"))
    return called in _CALLS


def _codes(code: CodeType) -> list[CodeType]:
    found = [code]
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found += _codes(inner)
        elif isinstance(inner, str) and not _RUNS_TEXT.isdisjoint(code.co_names):
            try:
                found.append(compile(inner, "<text>", "exec"))
            except SyntaxError:
                continue
    return found
