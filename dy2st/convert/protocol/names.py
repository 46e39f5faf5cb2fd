"""Globals, variables that functions share, and what code makes: displays, functions, classes."""

from __future__ import annotations

import builtins
import sys
from importlib.util import resolve_name
from types import CellType, FunctionType
from typing import Any

from dy2st.convert.effect_table import is_polyfill
from dy2st.convert.kinds.lists import joined, new_list
from dy2st.convert.kinds.text import formatted, one_text
from dy2st.convert.objects import cell_value, native_attribute, set_variable
from dy2st.convert.protocol.natives import CELL, held_variable, holding, with_overlay_materialised
from dy2st.convert.stage.branch import is_case, known
from dy2st.convert.stage.checks import map_cases, must
from dy2st.convert.trace import Trace
from dy2st.convert.types import info
from dy2st.convert.values.special import MISSING, UNBOUND, UNBOUND_FREE, UNBOUND_LOCAL, Union
from dy2st.transpiler.source import code_at, user_function
from dy2st_runtime.ir.choice import joined as joined_texts


def glob(trace: Trace, function: FunctionType, name: str) -> Any:
    """A global or builtin of a function."""
    names = function.__globals__
    if is_polyfill(names.get("__name__")):
        return names[name] if name in names else getattr(builtins, name)
    trace.mark_outside(names)
    if trace.over:
        place = trace.over.get((id(names), name))
        if place is not None:
            return _present(trace, names, name, place.value)
    value = names.get(name, MISSING)
    if value is MISSING:
        trace.read("item", names, name, MISSING)
        return _builtin(trace, names, name)
    return trace.read("item", names, name, value)


def _present(trace: Trace, names: dict[str, Any], name: str, value: Any) -> Any:
    """What a global holds; a builtin or NameError where it holds nothing."""
    if value is MISSING:
        return _builtin(trace, names, name)
    if type(value) is Union and value.places_that_are(MISSING):
        return map_cases(trace, lambda one: _present(trace, names, name, one), value)
    return value


def _builtin(trace: Trace, names: dict[str, Any], name: str) -> Any:
    held = names.get("__builtins__", builtins)
    held = held if isinstance(held, dict) else vars(held)
    found = trace.read("item", held, name, held.get(name, MISSING))
    if found is MISSING:
        raise NameError(f"name {name!r} is not defined", name=name)
    return found


def set_glob(trace: Trace, function: FunctionType, name: str, value: Any) -> None:
    """`global name; name = value`."""
    trace.write(trace.mark_outside(function.__globals__), name, value)


def del_glob(trace: Trace, function: FunctionType, name: str) -> None:
    """`global name; del name`."""
    glob(trace, function, name)
    trace.write(function.__globals__, name, MISSING)


def imported(
    trace: Trace, function: FunctionType, level: int, module: str, name: str, value: Any
) -> Any:
    """What `from module import name` binds, or `import module` without a name."""
    package = function.__globals__.get("__package__") or ""
    path = resolve_name("." * level + module, package) if level else module
    # A read as any other: a module put in its place is noticed at the next call.
    held = trace.read("item", sys.modules, path, sys.modules.get(path, MISSING))
    if not name or held is MISSING or not hasattr(held, name):
        return trace.mark_outside(value)
    return trace.attr(held, name)


def new_cell(trace: Trace, value: Any = UNBOUND) -> CellType:
    """A variable that inner functions share."""
    cell = CellType() if value is UNBOUND else CellType(value)
    trace.own[id(cell)] = cell  # held, so that no other object gets its id
    return trace.made(cell)  # type: ignore[no-any-return]


def cell(trace: Trace, owner: CellType, name: str) -> Any:
    """What a shared variable holds."""
    text = UNBOUND_FREE.format(repr(name))
    return _surely(trace, _held(trace, owner), NameError(text, name=name))


def local_cell(trace: Trace, owner: CellType, name: str) -> Any:
    """What a variable of the function itself holds that inner functions share."""
    text = UNBOUND_LOCAL.format(repr(name))
    return _surely(trace, _held(trace, owner), UnboundLocalError(text))


def _surely(trace: Trace, value: Any, error: NameError) -> Any:
    """A value; where it is none, the error is raised."""
    value = known(trace, value)
    if value is UNBOUND:
        raise error
    if type(value) is not Union:
        return value
    cases = trace.cases_of(value)
    there = [case for case in cases if case not in value.places_that_are(UNBOUND)]
    if len(there) < len(cases):
        must(trace, is_case(trace, value, *there), error, of_cases=True)
        # What was unbound has raised: behind this it is one of the others.
        trace.know_cases(value, frozenset(there))
    return known(trace, value)


def _held(trace: Trace, owner: CellType) -> Any:
    _mark(trace, owner)
    place = trace.over.get((id(owner), CELL))
    return trace.seen("cell", owner, CELL, cell_value(owner)) if place is None else place.value


def _mark(trace: Trace, owner: CellType) -> None:
    """A variable that the trace has not made is one of the outside."""
    if id(owner) not in trace.own:
        trace.mark_outside(owner)


def set_cell(trace: Trace, owner: CellType, value: Any) -> None:
    """Assign a shared variable."""
    _mark(trace, owner)
    if not trace.is_made_here(owner) or (id(owner), CELL) in trace.over:
        trace.write(owner, CELL, value)
    else:
        set_variable(owner, CELL, value)


def del_cell(trace: Trace, owner: CellType, name: str) -> None:
    """`del name` of a shared variable."""
    cell(trace, owner, name)
    set_cell(trace, owner, UNBOUND)


_INNER = ("__func__", "fget", "fset", "fdel")  # where other things hold methods


def gather(trace: Trace, kind: type, *parts: tuple[bool, Any]) -> Any:
    """A display with stars: pairs of whether it is a star, and the value."""
    found: Any = []
    for is_star, value in parts:
        found = joined(trace, found, trace.listed(value) if is_star else [value], kind)
    if kind is set:
        return trace.call(set, found)
    return new_list(trace, found, kind)


def gather_dict(trace: Trace, *parts: tuple[Any, ...]) -> Any:
    """A dict display with `**`, or with keys that are no constants: pairs, and mappings alone."""
    if all(len(part) == 2 and info(type(part[0])).is_plain for part in parts):
        return trace.made(dict(parts))
    made = trace.made({})
    for first, *value in parts:
        if value:
            trace.set_item(made, first, *value)
        else:
            is_dict = info(type(first)).family == "dict"
            trace.method(made, "update", first if is_dict else {**trace.double_star(first)})
    return made


def text(trace: Trace, *parts: Any) -> Any:
    """An f-string: literals, and (value, conversion, spec) for what stands in braces."""

    def of_values(*values: Any) -> Any:
        found = [
            part if isinstance(part, str) else formatted(trace, value, *part[1:])
            for part, value in zip(parts, values, strict=True)
        ]
        return map_cases(trace, lambda *texts: one_text(trace, joined_texts([*texts])), *found)

    return map_cases(trace, of_values, *(p if isinstance(p, str) else p[0] for p in parts))


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
    with holding(trace, [held_variable(trace, one, CELL) for one in cells]):
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
    with holding(trace, [held_variable(trace, one, CELL) for one in cells]):
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
    for member in vars(kind).values():
        inner = (member, *(getattr(member, name, None) for name in _INNER))
        for method in [one for one in inner if type(one) is FunctionType]:
            trace.own[id(method)] = method
            for cell in method.__closure__ or ():
                if native_attribute(cell, CELL) is kind:
                    trace.own[id(cell)] = cell
