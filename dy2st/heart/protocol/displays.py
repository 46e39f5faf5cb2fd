"""Displays, f-strings, inner functions and classes."""

from __future__ import annotations

import builtins
from types import CodeType, FunctionType
from typing import Any

from dy2st.heart.kinds.dicts import DICTS, whole_dict
from dy2st.heart.kinds.entries import may_be_missing, there_or
from dy2st.heart.kinds.lists import joined, new_list
from dy2st.heart.kinds.text import formatted
from dy2st.heart.protocol.iteration import double_star, listed
from dy2st.heart.protocol.names import filled
from dy2st.heart.protocol.unions import known, spread
from dy2st.heart.trace import Trace
from dy2st.heart.values.special import Dynamic, Union
from dy2st_runtime.ir.choice import joined as joined_texts


def gather(trace: Trace, kind: type, *parts: tuple[bool, Any]) -> Any:
    """A display with stars: pairs of whether it is a star, and the value."""
    found: Any = []
    for is_star, value in parts:
        if not is_star:
            new: Any = [value]
        else:
            new = listed(trace, value)
        if type(found) is Dynamic or type(new) is Dynamic:
            found = joined(trace, found, new, kind)
        else:
            found = [*found, *new]
    if kind is set:
        return trace.made(set(found))
    return new_list(trace, found, kind)


def gather_dict(trace: Trace, *parts: tuple[Any, ...]) -> Any:
    """A dict display with `**`: pairs, and mappings alone."""
    found: dict[Any, Any] = {}
    for part in parts:
        if len(part) == 1:
            _spread_into(trace, found, part[0])
        else:
            found[part[0]] = part[1]
    return trace.made(found)


def _spread_into(trace: Trace, found: dict[Any, Any], other: Any) -> None:
    """`**other` in a display; an entry that may be missing leaves what was there before."""
    if type(other) not in DICTS:
        found.update(double_star(trace, other))
        return
    for key, value in whole_dict(trace, other).items():
        if may_be_missing(trace, value) and key in found:
            before = found[key]
            value = there_or(trace, value, lambda before=before: before)  # type: ignore[misc]
        found[key] = value


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
            return spread(trace, lambda one, part=part: _again(trace, parts, part, one), value)
        found.append(formatted(trace, value, conversion, spec))
    return joined_texts(found)


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
    code = _code(function, path)
    inner = FunctionType(code, function.__globals__, code.co_name, defaults or None, cells or None)
    inner.__kwdefaults__ = kwdefaults or None
    if annotations:
        inner.__annotations__ = annotations
    inner.__module__ = function.__module__
    return trace.made(inner)  # type: ignore[no-any-return]


def _code(function: FunctionType, path: tuple[int, ...]) -> CodeType:
    code = function.__code__
    for place in path:
        code = code.co_consts[place]
    return code


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
    body = FunctionType(_code(function, path), function.__globals__, name, None, cells or None)
    build: Any = builtins.__build_class__
    with filled(trace, cells):
        made = build(body, name, *bases, **keywords)
    if isinstance(made, type):
        trace.classes[id(made)] = made
    return trace.made(made)


__all__ = ["gather", "gather_dict", "make_class", "make_function", "text"]
