"""Displays, f-strings, inner functions and classes."""

from __future__ import annotations

import builtins
from types import FunctionType
from typing import Any

from dy2st.convert.kinds.code_texts import one_text
from dy2st.convert.kinds.dicts import whole_dict
from dy2st.convert.kinds.entries import may_be_missing, there_or
from dy2st.convert.kinds.lists import joined, new_list
from dy2st.convert.kinds.text import formatted
from dy2st.convert.kinds.traced_keys import is_keyed, is_traced_key
from dy2st.convert.protocol.iteration import double_star, listed
from dy2st.convert.protocol.materialise import with_overlay_materialised
from dy2st.convert.protocol.names import CELL, filled
from dy2st.convert.stage.cases import known
from dy2st.convert.stage.checks import map_cases
from dy2st.convert.trace import Trace, native_attribute
from dy2st.convert.types import info
from dy2st.convert.values.special import SymbolicSequence, Union
from dy2st.transpiler.source import code_at, user_function
from dy2st_runtime.ir.choice import joined as joined_texts

_INNER = ("__func__", "fget", "fset", "fdel")  # where other things hold methods


def gather(trace: Trace, kind: type, *parts: tuple[bool, Any]) -> Any:
    """A display with stars: pairs of whether it is a star, and the value."""
    found: Any = []
    for is_star, value in parts:
        if not is_star:
            new: Any = [value]
        else:
            new = listed(trace, value)
        if type(found) is SymbolicSequence or type(new) is SymbolicSequence:
            found = joined(trace, found, new, kind)
        else:
            found = [*found, *new]
    if kind is set:
        return trace.call(set, found)
    return new_list(trace, found, kind)


def gather_dict(trace: Trace, *parts: tuple[Any, ...]) -> Any:
    """A dict display with `**`: pairs, and mappings alone."""
    found: dict[Any, Any] = {}
    for part in parts:
        is_keyed_one = info(type(part[0])).family == "dict" and is_keyed(trace, part[0])
        if len(part) == 1 and not is_keyed_one:
            # An entry that may be missing leaves what was there before.
            other = part[0]
            if info(type(other)).family != "dict":
                found.update(double_star(trace, other))
                continue
            for key, value in whole_dict(trace, other).items():
                if may_be_missing(trace, value) and key in found:
                    before = found[key]
                    value = there_or(trace, value, lambda before=before: before)  # type: ignore[misc]
                found[key] = value
        elif len(part) == 1 or is_traced_key(trace, part[0]):
            # A key that the Program computes: entries are put in one by one.
            made = trace.made({})
            for one in parts:
                if len(one) == 1:
                    trace.method(made, "update", one[0])
                else:
                    trace.set_item(made, *one)
            return made
        else:
            found[part[0]] = part[1]
    return trace.made(found)


def text(trace: Trace, *parts: Any) -> Any:
    """An f-string: literals, and (value, conversion, spec) for what stands in braces."""
    found: list[Any] = []
    for part in parts:
        if isinstance(part, str):
            found.append(part)
            continue
        value, conversion, spec = part
        value = known(trace, value)
        if type(value) is Union:
            return map_cases(trace, lambda one, part=part: _again(trace, parts, part, one), value)
        found.append(formatted(trace, value, conversion, spec))
    return map_cases(trace, lambda *texts: one_text(trace, joined_texts([*texts])), *found)


def _again(trace: Trace, parts: Any, part: Any, value: Any) -> Any:
    return text(trace, *((value, *one[1:]) if one is part else one for one in parts))


def make_function(
    trace: Trace,
    function: FunctionType,
    path: tuple[int, ...],
    cells: tuple[Any, ...],
    defaults: tuple[Any, ...] | None,
    kwdefaults: dict[str, Any] | None,
    annotations: Any = None,
) -> FunctionType:
    """An inner function: the user's own code with the cells of the traced form."""
    given = defaults or None, kwdefaults or None, annotations or None
    inner = user_function(function, path, cells or None, *given)
    inner.__module__ = function.__module__
    trace.own[id(inner)] = inner
    return trace.made(inner)  # type: ignore[no-any-return]


def make_class(
    trace: Trace,
    function: FunctionType,
    path: tuple[int, ...],
    cells: tuple[Any, ...],
    name: str,
    bases: tuple[Any, ...],
    keywords: dict[str, Any],
) -> Any:
    """A class: its body runs as Python has it."""
    body = FunctionType(code_at(function, path), function.__globals__, name, None, cells or None)
    build: Any = builtins.__build_class__
    hooks = [hook for base in bases for hook in _hooks_of(base)]
    with filled(trace, cells):
        reached = trace.note_reached((*hooks, *keywords.values())) if hooks else ()
        made = with_overlay_materialised(
            trace, reached, lambda: build(body, name, *bases, **keywords)
        )
    note_class_made(trace, made)
    return trace.made(made)


def _hooks_of(base: Any) -> list[FunctionType]:
    """What Python calls of the user's when a class is derived from another."""
    found = [getattr(base, "__init_subclass__", None)]
    meta = type(base) if isinstance(base, type) else type
    found += [getattr(meta, name, None) for name in ("__prepare__", "__new__", "__init__")]
    plain = [getattr(one, "__func__", one) for one in found]
    return [one for one in plain if isinstance(one, FunctionType)]


def make_generic(
    trace: Trace, function: FunctionType, path: tuple[int, ...], cells: tuple[Any, ...], *args: Any
) -> Any:
    """A function or class with type parameters: what makes it runs as Python has it."""
    code = code_at(function, path)
    with filled(trace, cells):
        made = FunctionType(code, function.__globals__, code.co_name, None, cells or None)(*args)
    trace.own[id(made)] = made
    note_class_made(trace, made)
    inner = vars(made).values() if isinstance(made, type) else (made,)
    for one in inner:
        known = [id(cell) for cell in cells]
        own = [cell for cell in getattr(one, "__closure__", None) or () if id(cell) not in known]
        trace.own.update((id(cell), cell) for cell in own)
    return trace.made(made)


def note_class_made(trace: Trace, kind: Any) -> None:
    """A class that the trace has made, its methods, and the cell through which they know it."""
    if not isinstance(kind, type):
        return
    trace.own[id(kind)] = kind
    for held in vars(kind).values():
        inner = (held, *(getattr(held, name, None) for name in _INNER))
        for method in [one for one in inner if type(one) is FunctionType]:
            trace.own[id(method)] = method
            for cell in method.__closure__ or ():
                if native_attribute(cell, CELL) is kind:
                    trace.own[id(cell)] = cell
