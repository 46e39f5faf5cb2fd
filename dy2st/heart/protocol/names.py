"""Globals, and variables that inner functions share."""

from __future__ import annotations

import builtins
from types import CellType, FunctionType
from typing import Any

from dy2st.heart.trace import MISSING, Trace
from dy2st.heart.values.special import UNBOUND, Union

CELL = "cell_contents"


def glob(trace: Trace, function: FunctionType, name: str) -> Any:
    """A global or builtin of a function."""
    names = function.__globals__
    if trace.over:
        place = trace.over.get((id(names), name))
        if place is not None:
            if place.value is not MISSING:
                return place.value
            return _builtin(trace, names, name)
    value = names.get(name, MISSING)
    if value is MISSING:
        trace.read("item", names, name, MISSING)
        return _builtin(trace, names, name)
    return trace.read("item", names, name, value)


def _builtin(trace: Trace, names: dict[str, Any], name: str) -> Any:
    held = names.get("__builtins__", builtins)
    found = held.get(name, MISSING) if isinstance(held, dict) else getattr(held, name, MISSING)
    if found is MISSING:
        raise NameError(f"name {name!r} is not defined", name=name)
    return found


def set_glob(trace: Trace, function: FunctionType, name: str, value: Any) -> None:
    """`global name; name = value`."""
    trace.write(function.__globals__, name, value)


def del_glob(trace: Trace, function: FunctionType, name: str) -> None:
    """`global name; del name`."""
    glob(trace, function, name)
    trace.write(function.__globals__, name, MISSING)


def new_cell(trace: Trace, value: Any = UNBOUND) -> CellType:
    """A variable that inner functions share."""
    cell = CellType() if value is UNBOUND else CellType(value)
    return trace.made(cell)  # type: ignore[no-any-return]


def cell(trace: Trace, owner: CellType, name: str) -> Any:
    """What a shared variable holds."""
    value = _held(trace, owner)
    if value is UNBOUND:
        raise NameError(
            f"cannot access free variable {name!r} where it is not associated with a value in "
            "enclosing scope",
            name=name,
        )
    return trace.bound(value, name) if type(value) is Union else value


def local_cell(trace: Trace, owner: CellType, name: str) -> Any:
    """What a variable of the function itself holds that inner functions share."""
    return trace.bound(_held(trace, owner), name)


def _held(trace: Trace, owner: CellType) -> Any:
    place = trace.over.get((id(owner), CELL))
    if place is not None:
        return place.value
    try:
        value = owner.cell_contents
    except ValueError:
        value = UNBOUND
    return trace.read("cell", owner, CELL, value) if trace.is_outside(owner) else value


def set_cell(trace: Trace, owner: CellType, value: Any) -> None:
    """Assign a shared variable."""
    if not trace.is_made_here(owner) or (id(owner), CELL) in trace.over:
        trace.write(owner, CELL, value)
    elif value is UNBOUND:
        del owner.cell_contents
    else:
        owner.cell_contents = value


def del_cell(trace: Trace, owner: CellType, name: str) -> None:
    """`del name` of a shared variable."""
    cell(trace, owner, name)
    set_cell(trace, owner, UNBOUND)


__all__ = ["cell", "del_cell", "del_glob", "glob", "local_cell", "new_cell", "set_cell", "set_glob"]
