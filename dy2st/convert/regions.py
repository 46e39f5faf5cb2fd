"""Blocks of user code traced apart: the branches of an `if`, the condition and body of a loop."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from types import CellType, FunctionType, ModuleType
from typing import Any

from dy2st.convert.catchers import refuse_if_caught
from dy2st.convert.iterators import iterators_seen_by, refuse_advanced
from dy2st.convert.outer import Change, Place, noting
from dy2st.convert.undefined import Undefined
from dy2st_runtime.dims import Condition
from dy2st_runtime.errors import ConversionError, Dy2stError
from dy2st_runtime.ir import Block, F, Tensor, Tracer, ValueType, Variable, user_location
from dy2st_runtime.ir.location import is_own_file, location_of
from dy2st_runtime.ir.structure import is_container, map_entries


class AlwaysRaises(BaseException):
    """What follows is never run: the Program has raised on every path. No user's code catches it,
    for each of the exceptions was looked after by `refuse_if_caught`."""


@dataclass
class Region:
    """What one run of user code left behind.

    block        the Block that was recorded.
    results      what the code returned, Python values and Variables mixed.
    changed      registered tensors (buffers) that the code gave a new value, by identity.
    overwritten  Variables that it changed in place.
    raised       whether the code raised an exception, which the Block raises when it runs.
    outer        variables of other functions and attributes that it changed, by their keys.
    copies       for every list or dict the code was given: the copy it worked on, and the original.
    """

    block: Block
    results: tuple[Any, ...] = ()
    changed: dict[int, tuple[Tensor, Variable]] = field(default_factory=dict)
    overwritten: list[Variable] = field(default_factory=list)
    raised: bool = False
    outer: dict[Hashable, Change] = field(default_factory=dict)
    copies: dict[int, tuple[Any, Any]] = field(default_factory=dict)

    def value_of(self, place: Place) -> Any:
        """What a place holds at the end; Undefined after an exception."""
        if self.raised:
            return Undefined(place.name)
        known = self.outer.get(place.key)
        return place.get() if known is None else known.after


def trace_region(
    tracer: Tracer,
    function: Callable[..., Any],
    arguments: Sequence[Any],
    block_arguments: Callable[[Block], Sequence[Any]] | None = None,
    holds: Condition | None = None,
) -> Region:
    """Record one call of `function` into a new Block, which runs where a condition holds.

    Lists and dicts among the arguments are copied, so that what the code appends is seen in its
    results only. `block_arguments` makes the arguments once the Block is there.
    """
    before = tracer.assignments()
    held = _held(function, arguments)
    iterators = iterators_seen_by(function, arguments)
    mark = tracer.overwritten_mark
    copies: dict[int, tuple[Any, Any]] = {}
    with tracer.nested(holds) as block, noting(lambda v: _copied(v, copies)) as notes:
        region = Region(block, copies=copies)
        given = arguments if block_arguments is None else block_arguments(block)
        try:
            results = function(*[_copied(value, region.copies) for value in given])
        except AlwaysRaises:
            region.raised, results = True, ()
        except RecursionError:
            raise _endless() from None
        except Exception as error:
            record_raise(error, block)
            region.raised, results = True, ()
    region.results = results if isinstance(results, tuple) else (results,)
    changes = notes.changes.items()
    region.outer = {key: change for key, change in changes if _is_change(change, region)}
    region.overwritten = tracer.take_overwritten(mark)
    region.changed = tracer.take_assignments(before)
    refuse_advanced(iterators)
    for owner, container, contents in held:
        if _has_other_entries(container, contents):
            raise _changed_outside(owner, container)
    return region


def record_raise(error: Exception, block: Block) -> None:
    """Let the Block raise what the user's code raised; all other errors go on now.

    A wrong name or type is a fault of the code whether or not the branch is taken; errors that
    arise inside of dy2st or NumPy are no statements of the user.
    """
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    assert place is not None
    is_users = not is_own_file(place.tb_frame.f_code.co_filename)
    kind = type(error)
    if not isinstance(error, ConversionError):
        refuse_if_caught(kind, location_of(place))
    if isinstance(error, (Dy2stError, AttributeError, NameError, TypeError)) or not is_users:
        raise error
    plain = len(error.args) < 2 and all(isinstance(entry, str) for entry in error.args)
    if getattr(builtins, kind.__name__, None) is not kind or not plain:
        raise ConversionError(
            f"{kind.__name__} is raised in a branch or loop that depends on a tensor",
            at=location_of(place),
            why="a Program can raise only Python's own exceptions, with a text",
            hint=f"raise ValueError(...) or another builtin exception instead of {error!r}",
        ) from error
    F.raise_(kind.__name__, *(error.args or (None,)))
    block.operators[-1].location = location_of(place)


def shows_when_run(block: Block) -> bool:
    """Whether the user's code in a Block may raise or print when it runs."""
    return any(
        operator.name in _SHOWN or any(map(shows_when_run, operator.blocks))
        for operator in block.operators
    )


_SHOWN = frozenset({"assert", "assert_bound", "print", "raise", "write"})


def _endless() -> ConversionError:
    return ConversionError(
        "a recursion whose end depends on a tensor",
        at=user_location(),
        why="both branches of an `if` on a tensor are traced, so every call makes the next one",
        hint="write it as a `while` loop, or end it by a number of Python",
    )


def _held(function: Callable[..., Any], arguments: Sequence[Any]) -> list[tuple[str, Any, Any]]:
    """Lists and dicts that user code can change without us: in attributes, closures and globals.

    Each with what it belongs to, and a copy of what it holds; those inside of others too.
    """
    found: list[tuple[str, Any, Any]] = []
    seen: set[int] = set()

    def note(owner: str, value: Any) -> Any:
        if is_container(value) and id(value) not in seen:
            seen.add(id(value))
            if type(value) in (list, dict):
                found.append((owner, value, map_entries(value, lambda entry: entry)))
            map_entries(value, lambda entry: note(owner, entry))
        return value

    function = inspect.unwrap(function)  # the user's code, not what calls it
    code = getattr(function, "__code__", None)
    outside: dict[str, Any] = {}
    if code is not None:
        cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
        outside = {name: _contents(cell) for name, cell in cells}
        scope = function.__globals__
        outside.update((name, scope[name]) for name in code.co_names if name in scope)
    for name, value in outside.items():
        note(f"the variable `{name}`", value)
    for value in (*arguments, *outside.values()):
        if not isinstance(value, (type, ModuleType, FunctionType)):
            for name, entry in getattr(value, "__dict__", {}).items():
                note(f"the attribute `{name}` of a {type(value).__name__}", entry)
    return found


def _contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None


def _changed_outside(owner: str, container: Any) -> ConversionError:
    return ConversionError(
        f"the {type(container).__name__} in {owner} is changed in a branch or loop that depends on "
        "a tensor",
        at=user_location(),
        why="a Program cannot change an object of Python when it runs",
        hint="use a local list and return it, or a registered buffer",
    )


def _copied(value: Any, copies: dict[int, tuple[Any, Any]]) -> Any:
    """A copy of the containers in `value`; the leaves are shared."""
    if not is_container(value):
        return value
    copy = map_entries(value, lambda entry: _copied(entry, copies))
    copies[id(copy)] = (copy, value)
    return copy


def original_of(value: Any, region: Region) -> Any:
    """The user's list or dict that a region returned its copy of, or the value itself."""
    known = region.copies.get(id(value))
    return value if known is None else known[1]


def copy_of(original: Any, region: Region) -> Any:
    """The copy of a user's list or dict that a region worked on, or the original itself."""
    for copy, known in region.copies.values():
        if known is original:
            return copy
    return original


def has_changed(copy: Any, original: Any, region: Region) -> bool:
    """Whether user code put other entries into its copy; what is inside of those is asked apart."""
    return _has_other_entries(map_entries(copy, lambda e: original_of(e, region)), original)


def _is_change(change: Change, region: Region) -> bool:
    """Whether the code gave a place another value, or its list or dict other entries."""
    copy = change.after
    if copy is change.before:
        return False
    if original_of(copy, region) is not change.before:
        return True
    inside = _containers_in(copy)
    return any(has_changed(entry, original_of(entry, region), region) for entry in inside)


def _containers_in(value: Any) -> list[Any]:
    found: list[Any] = []

    def take(entry: Any) -> Any:
        if is_container(entry):
            found.append(entry)
            map_entries(entry, take)
        return entry

    take(value)
    return found


def _has_other_entries(now: Any, before: Any) -> bool:
    if len(now) != len(before):
        return True
    if isinstance(now, dict):
        return list(now) != list(before) or _differ(now.values(), before.values())
    return _differ(now, before)


def _differ(left: Iterable[Any], right: Iterable[Any]) -> bool:
    return any(a is not b for a, b in zip(left, right, strict=True))


def finish(
    tracer: Tracer,
    name: str,
    operands: Sequence[Variable],
    types: Sequence[ValueType],
    blocks: Sequence[Block],
) -> list[Variable]:
    """Append the static operator; returns its results."""
    return tracer.append(name, operands, {}, types, blocks).results
