"""Globals, and variables that inner functions share."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import CellType, FunctionType
from typing import Any, NoReturn

from dy2st.heart.protocol.unions import spread
from dy2st.heart.stage.branch import stage_if
from dy2st.heart.stage.cases import is_case, is_constant, known
from dy2st.heart.trace import MISSING, Trace, native_attribute
from dy2st.heart.values.special import UNBOUND, Union

CELL = "cell_contents"


def glob(trace: Trace, function: FunctionType, name: str) -> Any:
    """A global or builtin of a function."""
    names = trace.mark_outside(function.__globals__)
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
    if type(value) is Union and any(is_constant(one, MISSING) for one in value.layouts):
        return spread(trace, lambda one: _present(trace, names, name, one), value)
    return value


def _builtin(trace: Trace, names: dict[str, Any], name: str) -> Any:
    held = names.get("__builtins__", builtins)
    found = held.get(name, MISSING) if isinstance(held, dict) else getattr(held, name, MISSING)
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


def new_cell(trace: Trace, value: Any = UNBOUND) -> CellType:
    """A variable that inner functions share."""
    cell = CellType() if value is UNBOUND else CellType(value)
    return trace.made(cell)  # type: ignore[no-any-return]


def cell(trace: Trace, owner: CellType, name: str) -> Any:
    """What a shared variable holds."""
    text = (
        f"cannot access free variable {name!r} where it is not associated with a value in "
        "enclosing scope"
    )
    return _surely(trace, _held(trace, owner), lambda: NameError(text, name=name))


def local_cell(trace: Trace, owner: CellType, name: str) -> Any:
    """What a variable of the function itself holds that inner functions share."""
    text = f"cannot access local variable {name!r} where it is not associated with a value"
    return _surely(trace, _held(trace, owner), lambda: UnboundLocalError(text))


def _surely(trace: Trace, value: Any, error: Callable[[], NameError]) -> Any:
    """A value; where it is none, the error is raised."""

    def fails() -> NoReturn:
        raise error()

    value = known(trace, value)
    if value is UNBOUND:
        fails()
    if type(value) is not Union:
        return value
    cases = trace.cases_of(value)
    place = next((i for i in cases if is_constant(value.layouts[i], UNBOUND)), None)
    if place is None:
        return value
    stage_if(trace, is_case(trace, value, place), fails, lambda: (), (), (), of_cases=True)
    trace.know_cases(trace.frame, value, frozenset(cases) - {place})
    return known(trace, value)


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
    else:
        _fill(owner, value)


def _fill(owner: CellType, value: Any) -> None:
    if value is UNBOUND:
        del owner.cell_contents
    else:
        owner.cell_contents = value


@contextmanager
def filled(trace: Trace, owners: Sequence[CellType]) -> Iterator[None]:
    """Let cells hold for code that runs as it is what they hold in the trace."""
    places = [(one, trace.over.get((id(one), CELL))) for one in owners]
    changed = [(one, place.value, native_attribute(one, CELL)) for one, place in places if place]
    for one, value, _ in changed:
        _fill(one, value)
    try:
        yield
    finally:
        for one, _, before in changed:
            _fill(one, before)


def del_cell(trace: Trace, owner: CellType, name: str) -> None:
    """`del name` of a shared variable."""
    cell(trace, owner, name)
    set_cell(trace, owner, UNBOUND)


__all__ = [
    "cell",
    "del_cell",
    "del_glob",
    "filled",
    "glob",
    "local_cell",
    "new_cell",
    "set_cell",
    "set_glob",
]
