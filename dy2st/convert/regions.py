"""Blocks of user code traced apart: the branches of an `if`, the condition and body of a loop."""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CellType, FunctionType, TracebackType
from typing import Any

from dy2st.convert.catchers import refuse_if_caught
from dy2st.convert.heap import Heap, changed_outside, reached
from dy2st.convert.iterators import refuse_advanced
from dy2st.convert.outer import Attribute, Cell, Change, Notes, Place, noting
from dy2st.convert.undefined import Undefined
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import ConversionError, Dy2stError
from dy2st_runtime.ir import Block, F, Tensor, Tracer, ValueType, Variable, user_location
from dy2st_runtime.ir.choice import Choice, Text
from dy2st_runtime.ir.gradient_flow import refuse_leaf
from dy2st_runtime.ir.location import is_own_file, location_of
from dy2st_runtime.ir.raised import ErrorKind
from dy2st_runtime.ir.structure import flatten, is_container, map_entries


class AlwaysRaises(BaseException):
    """What follows is never run: the Program has raised on every path. No user's code catches it,
    for each of the exceptions was looked after by `refuse_if_caught`."""


class Copies:
    """For every list, dict or set that some code was given: its copy, and the original."""

    def __init__(self) -> None:
        """None yet."""
        self.pairs: dict[int, tuple[Any, Any]] = {}
        self._own: dict[int, Any] = {}

    def copied(self, value: Any) -> Any:
        """The copy of a container, and of those in it; the leaves are shared."""
        if isinstance(value, Text) or not (is_container(value) or type(value) is set):
            return value
        if id(value) in self.pairs:
            return value
        known = self._own.get(id(value))
        if known is not None:
            return known
        copy = set(value) if type(value) is set else map_entries(value, self.copied)
        self.pairs[id(copy)] = (copy, value)
        self._own[id(value)] = copy
        return copy

    def stand_in(self, value: Any, original: Any) -> None:
        """Let a value count as the copy of another one."""
        self.pairs[id(value)] = (value, original)

    def original_of(self, value: Any) -> Any:
        """The user's container that this is the copy of, or the value itself."""
        known = self.pairs.get(id(value))
        return value if known is None else known[1]

    def copy_of(self, original: Any) -> Any:
        """The copy of a user's container, or the original itself."""
        return self._own.get(id(original), original)

    def has_changed(self, copy: Any, original: Any) -> bool:
        """Whether code put other entries into its copy; what is inside of those is asked apart."""
        if type(copy) is set:
            return bool(copy != original)
        return _has_other_entries(map_entries(copy, self.original_of), original)

    def has_changed_inside(self, value: Any) -> bool:
        """Whether a copy, or a copy in it, holds something else than its original."""
        known = self.pairs.get(id(value))
        if known is None:
            return False
        found = self.has_changed(value, known[1])

        def look(entry: Any) -> Any:
            nonlocal found
            found = found or self.has_changed_inside(entry)
            return entry

        map_entries(value, look)
        return found


@dataclass(eq=False, repr=False)
class Region:
    """What one run of user code left behind.

    block        the Block that was recorded.
    results      what the code returned, Python values and Variables mixed.
    changed      registered tensors (buffers) that the code gave a new value, by identity.
    overwritten  Variables that it changed in place.
    raised       whether the code raised an exception, which the Block raises when it runs.
    outer        variables of other functions and attributes that it changed, by their keys.
    copies       what it worked on instead of the lists and dicts that it was given.
    heap         what else it could reach.
    """

    block: Block
    results: tuple[Any, ...] = ()
    changed: dict[int, tuple[Tensor, Variable]] = field(default_factory=dict)
    overwritten: list[Variable] = field(default_factory=list)
    raised: bool = False
    outer: dict[Hashable, Change] = field(default_factory=dict)
    copies: Copies = field(default_factory=Copies)
    heap: Heap | None = None

    def value_of(self, place: Place) -> Any:
        """What a place holds at the end; Undefined after an exception."""
        if self.raised:
            return Undefined(place.name)
        known = self.outer.get(place.key)
        return self.copies.copy_of(place.get()) if known is None else known.after


Arguments = Callable[[Block, Copies], Sequence[Any]]


def trace_region(
    tracer: Tracer,
    function: Callable[..., Any],
    arguments: Sequence[Any],
    block_arguments: Arguments | None = None,
    holds: Condition | None = None,
) -> Region:
    """Record one call of `function` into a new Block, which runs where a condition holds.

    Lists and dicts among the arguments are copied, so that what the code appends is seen in its
    results only. `block_arguments` makes the arguments once the Block is there.
    """
    before = tracer.assignments()
    heap = reached(function, arguments)
    mark = tracer.overwritten_mark
    copies = Copies()
    with (
        heap.handed_out(copies.copied),
        tracer.nested(holds) as block,
        noting(copies.copied) as notes,
    ):
        region = Region(block, copies=copies, heap=heap)
        given = arguments if block_arguments is None else block_arguments(block, copies)
        try:
            results = function(*map(copies.copied, given))
        except AlwaysRaises:
            region.raised, results = True, ()
        except RecursionError:
            raise _endless() from None
        except Exception as error:  # `record_raise` lets all go on that is no statement of the user
            record_raise(error, block)
            region.raised, results = True, ()
    region.results = results if isinstance(results, tuple) else (results,)
    region.outer = _changes(notes, heap, copies, block)
    region.overwritten = tracer.take_overwritten(mark)
    region.changed = tracer.take_assignments(before, block)
    refuse_advanced(heap.iterators)
    heap.refuse_changed()
    for copy, original in copies.pairs.values():
        known = tracer.outside.get(id(original))
        if known is not None and copies.has_changed(copy, original):
            raise changed_outside(known[1], original)
    return region


def _changes(notes: Notes, heap: Heap, copies: Copies, block: Block) -> dict[Hashable, Change]:
    """What was announced, and what has changed all the same."""
    found: dict[Hashable, Change] = {}
    for key, change in notes.changes.items():
        if _is_inside(change, heap, block):
            continue
        change.before = copies.original_of(change.before)
        if _is_change(change, copies):
            found[key] = change
    for owner, name, before, after in heap.changed_attributes():
        place = _place(owner, name, heap)
        if isinstance(owner, type) and any(isinstance(v, FunctionType) for v in (before, after)):
            raise ConversionError(
                f"the method {name}() of the class {owner.__name__} is set in a branch or loop "
                "that depends on a tensor",
                at=user_location(),
                why="which function it is would be known only when the Program runs",
                hint="keep the function in a variable, and call that",
            )
        if isinstance(place, Attribute):
            before, after = place.or_missing(before), place.or_missing(after)
        change = Change(place, before, after, user_location(), is_announced=False)
        if place.key not in found and _is_change(change, copies):
            found[place.key] = change
    return found


def _is_inside(change: Change, heap: Heap, block: Block) -> bool:
    """Whether a variable is one of the code itself: nobody outside has it."""
    if not isinstance(change.place, Cell) or id(change.place.cell) in heap.names:
        return False
    found, _ = flatten(change.before, lambda leaf: isinstance(leaf, Variable))
    return isinstance(change.before, Undefined) or any(leaf.block is block for leaf in found)


def _place(owner: Any, name: str, heap: Heap) -> Place:
    if isinstance(owner, CellType):
        return Cell(owner, heap.names[id(owner)])
    kind = owner.__name__ if isinstance(owner, type) else type(owner).__name__
    return Attribute(owner, name, f"{kind}.{name}")


def _is_change(change: Change, copies: Copies) -> bool:
    """Whether the code gave a place another value, or its list or dict other entries."""
    before, after = change.before, change.after
    if after is before or (isinstance(after, Undefined) and isinstance(before, Undefined)):
        return False
    return copies.original_of(after) is not before or copies.has_changed_inside(after)


def record_raise(error: Exception, block: Block) -> None:
    """Let the Block raise what the user's code raised; all other errors go on now.

    A wrong name or type is a fault of the code whether or not the branch is taken; errors that
    arise inside of dy2st or NumPy are no statements of the user. Whether a local variable is bound
    may depend on the branches that were taken before.
    """
    is_unbound = type(error) is UnboundLocalError
    innermost = _innermost(error, skips_own=False).tb_frame.f_code.co_filename
    # What stands for a statement or builtin in converted code does what the user wrote.
    is_users = is_unbound or innermost in _STAND_INS or not is_own_file(innermost)
    place = _innermost(error, skips_own=is_users)
    kind = type(error)
    if not isinstance(error, ConversionError):
        refuse_if_caught(kind, location_of(place), error)
    wrong = isinstance(error, (Dy2stError, AttributeError, NameError, TypeError)) and not is_unbound
    if wrong or not is_users:
        raise error
    record_exception(error)
    block.operators[-1].location = location_of(place)


_STAND_INS = frozenset(
    str(Path(__file__).with_name(f"{name}.py"))
    for name in ("assert_", "builtins_", "compare", "comprehensions", "containers", "text")
) | {refuse_leaf.__code__.co_filename}


def _innermost(error: Exception, skips_own: bool) -> TracebackType:
    """Where an error was raised, or the user's line on the way to there."""
    place = found = error.__traceback__
    while place is not None:
        if not skips_own or not is_own_file(place.tb_frame.f_code.co_filename):
            found = place
        place = place.tb_next
    assert found is not None
    return found


# What Python says where a special method gives a value of the Program to C code.
_INSISTS = re.compile(
    r"returned (non-\w+ \(type )?(Variable|Dim|Condition)"
    r"|^'(Variable|Dim|Condition)' object cannot be interpreted"
    r"|^Choice\.keys\(\) returned"
)


def is_insisting(error: Exception) -> bool:
    """Whether C code of Python refuses a value of the Program: no fault of the user's."""
    return type(error) is TypeError and _INSISTS.search(str(error)) is not None


def record_exception(error: Exception) -> None:
    """Let the Program raise an exception, with the values of its tensors, where this stands."""
    if is_insisting(error):
        raise error
    kind, state = type(error), vars(error)
    if getattr(builtins, kind.__name__, None) is kind and error.__cause__ is None:
        name = kind.__name__
    else:
        name = ErrorKind.of(error)
    wrong = [v for v in flatten((error.args, state), _is_foreign)[0]]
    if wrong:
        raise ConversionError(
            f"{kind.__name__} is raised with a {type(wrong[0]).__name__} in a branch or loop that "
            "depends on a tensor",
            at=user_location(),
            why="a Program can keep tensors, Python constants, and lists, tuples and dicts of them",
            hint="raise it with the text or numbers that it needs",
        )
    plain = len(error.args) < 2 and all(isinstance(entry, str) for entry in error.args)
    message = (error.args or (None,))[0] if plain else error.args
    F.raise_(name, message, state)


def raised_when_run(error: Exception) -> AlwaysRaises:
    """Record what Python would raise here; to be raised, for the rest is not reached."""
    refuse_if_caught(type(error), raised=error)
    record_exception(error)
    return AlwaysRaises()


def _is_foreign(value: Any) -> bool:
    constants = (bool, int, float, str, bytes, type(None), Tensor, Dim, Condition)
    return not is_container(value) and not isinstance(value, constants)


def shows_when_run(block: Block) -> bool:
    """Whether the user's code in a Block may raise or print when it runs."""
    return any(
        operator.name in _SHOWN or any(map(shows_when_run, operator.blocks))
        for operator in block.operators
    )


_SHOWN = frozenset({"assert", "assert_bound", "print", "raise", "write"})


def _endless() -> ConversionError:
    return ConversionError(
        "a recursion whose end depends on a tensor, or that is too deep to be traced",
        at=user_location(),
        why="both branches of an `if` on a tensor are traced, so every call makes the next one, up "
        f"to Python's limit of {sys.getrecursionlimit()} calls in each other",
        hint="write it as a `while` loop; if a number of Python ends it, raise the limit with "
        "sys.setrecursionlimit(...)",
    )


def _has_other_entries(now: Any, before: Any) -> bool:
    if isinstance(before, Choice):
        return now.tag is not before.tag or _differ(now.cases, before.cases)
    if len(now) != len(before):
        return True
    if isinstance(now, dict):
        return list(now) != list(before) or _differ([*now.values()], [*before.values()])
    return _differ(now, before)


def _differ(left: Sequence[Any], right: Sequence[Any]) -> bool:
    return len(left) != len(right) or any(a is not b for a, b in zip(left, right, strict=True))


def finish(
    tracer: Tracer,
    name: str,
    operands: Sequence[Variable],
    types: Sequence[ValueType],
    blocks: Sequence[Block],
) -> list[Variable]:
    """Append the static operator; returns its results."""
    return tracer.append(name, operands, {}, types, blocks).results
