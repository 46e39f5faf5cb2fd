"""Globals, and variables that inner functions share."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import resolve_name
from types import CellType, FunctionType
from typing import Any, NoReturn

from dy2st.convert.effect_table import is_polyfill
from dy2st.convert.stage.branch import stage_if
from dy2st.convert.stage.cases import is_case, is_constant, known
from dy2st.convert.stage.checks import map_cases
from dy2st.convert.trace import MISSING, Trace, native_attribute
from dy2st.convert.values.special import UNBOUND, UNBOUND_FREE, UNBOUND_LOCAL, Union

CELL = "cell_contents"


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
    if type(value) is Union and any(is_constant(one, MISSING) for one in value.layouts):
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
    return _surely(trace, _held(trace, owner), lambda: NameError(text, name=name))


def local_cell(trace: Trace, owner: CellType, name: str) -> Any:
    """What a variable of the function itself holds that inner functions share."""
    text = UNBOUND_LOCAL.format(repr(name))
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
    # What was unbound has raised: behind this it is one of the others.
    trace.know_cases(value, frozenset(cases) - {place})
    return known(trace, value)


def _held(trace: Trace, owner: CellType) -> Any:
    _mark(trace, owner)
    place = trace.over.get((id(owner), CELL))
    if place is not None:
        return place.value
    try:
        value = owner.cell_contents
    except ValueError:
        value = UNBOUND
    return trace.seen("cell", owner, CELL, value)


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
    # Whoever ends the trace while the code runs gives the cells back what they had.
    known = len(trace.undo_stack)
    trace.undo_stack += [partial(_fill, one, before) for one, _, before in changed]
    try:
        for one, value, _ in changed:
            _fill(one, value)
        yield
    finally:
        for one, _, before in changed:
            _fill(one, before)
        del trace.undo_stack[known:]


def del_cell(trace: Trace, owner: CellType, name: str) -> None:
    """`del name` of a shared variable."""
    cell(trace, owner, name)
    set_cell(trace, owner, UNBOUND)
