"""Variables that a traced branch, loop body or call shares with code outside of it.

A place is a variable of a closure, a global or an attribute. Whoever may write to one announces it
first. What surrounds the writer (a branch, a turn of a loop, the whole trace) remembers the value
before, and puts it back at its end: so the other branch starts from the same, and what each has
written is joined like any other result.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from types import CellType, MemberDescriptorType, ModuleType
from typing import Any

from dy2st.convert.attributes import attribute_of, contents_of, set_attribute
from dy2st.convert.outward import outward
from dy2st.convert.undefined import Undefined
from dy2st.transpiler import StatementInfo
from dy2st_runtime.errors import Location, UnsupportedSyntax
from dy2st_runtime.ir import user_location
from dy2st_runtime.ir.choice import Choice
from dy2st_runtime.nn.layer import Layer, note_other_buffers
from dy2st_runtime.thread_state import ThreadState


@dataclass(eq=False, repr=False)
class Attribute:
    """An attribute of an object."""

    owner: Any
    attribute: str
    name: str
    is_copied = is_outside = is_inner = False

    @property
    def key(self) -> Hashable:
        """The same for the same variable."""
        return id(self.owner), self.attribute

    def get(self) -> Any:
        """The value now; Undefined if there is none."""
        return self.or_missing(attribute_of(self.owner, self.attribute))

    def or_missing(self, value: Any) -> Any:
        """The value, or what raises Python's error where it is read."""
        if not isinstance(value, Undefined):
            return value
        is_class = isinstance(self.owner, type)
        kind = f"type object '{self.owner.__name__}'" if is_class else _kind_of(self.owner)
        text = f"{kind} has no attribute '{self.attribute}'"
        return Undefined(self.name, lambda: AttributeError(text))

    def put(self, value: Any) -> None:
        """Set or remove the attribute, past the methods of its owner."""
        now = self.get()
        if value is now or (isinstance(value, Undefined) and isinstance(now, Undefined)):
            return
        set_attribute(self.owner, self.attribute, value)


def _kind_of(owner: Any) -> str:
    return f"'{type(owner).__name__}' object"


@dataclass(eq=False, repr=False)
class Cell:
    """A variable of a function that closures use too; `is_inner`: in one statement only."""

    cell: CellType
    name: str
    is_inner: bool = False
    is_copied = True

    @property
    def key(self) -> Hashable:
        """The same for the same variable."""
        return id(self.cell)

    @property
    def is_outside(self) -> bool:
        """Whether the variable was there before the trace."""
        return id(self.cell) not in _active.own

    def get(self) -> Any:
        """The value now; Undefined if there is none."""
        return contents_of(self.cell, self.name)

    def put(self, value: Any) -> None:
        """Set or unbind the variable."""
        set_attribute(self.cell, self.name, value)


@dataclass(eq=False, repr=False)
class Global:
    """A variable of a module; `module` is the name of one that is not the function's own."""

    namespace: dict[str, Any]
    name: str
    module: str = ""
    is_copied = is_outside = True
    is_inner = False

    @property
    def key(self) -> Hashable:
        """The same for the same variable."""
        return id(self.namespace), self.name

    def get(self) -> Any:
        """The value now; Undefined if there is none."""
        return self.namespace.get(self.name, Undefined(self.name, self._missing))

    def _missing(self) -> Exception:
        if self.module:
            return AttributeError(f"module '{self.module}' has no attribute '{self.name}'")
        return NameError(f"name '{self.name}' is not defined")

    def put(self, value: Any) -> None:
        """Set or remove the variable."""
        if not isinstance(value, Undefined):
            self.namespace[self.name] = value
        else:
            self.namespace.pop(self.name, None)


@dataclass(eq=False, repr=False)
class Buffer:
    """A registered buffer of a Layer: which tensor it is."""

    store: dict[str, Any]
    attribute: str
    name: str
    is_copied = is_inner = False
    is_outside = True

    @property
    def key(self) -> Hashable:
        """The same for the same buffer."""
        return id(self.store), self.attribute

    def get(self) -> Any:
        """The tensor now; Undefined if there is none of that name."""
        return self.store.get(self.attribute, Undefined(self.name))

    def put(self, value: Any) -> None:
        """Set or remove the buffer, past the methods of its Layer."""
        note_other_buffers()
        if not isinstance(value, Undefined):
            self.store[self.attribute] = value
        else:
            self.store.pop(self.attribute, None)


Place = Attribute | Buffer | Cell | Global


@dataclass(eq=False, repr=False)
class Change:
    """What a piece of code did to a place: the values before and after, and where it began.

    What was not announced was found by looking at all that the code reaches.
    """

    place: Place
    before: Any
    after: Any = None
    at: Location | None = None
    is_announced: bool = True
    is_put_back: bool = False


@dataclass(eq=False, repr=False)
class Notes:
    """The places that a piece of code has announced; `copied` makes what it works on."""

    copied: Callable[[Any], Any]
    changes: dict[Hashable, Change] = field(default_factory=dict)

    def put_back(self) -> None:
        """Have every place as before; a second call goes on where the first was interrupted."""
        for change in self.changes.values():
            if not change.is_put_back:
                change.after = change.place.get()
                change.is_put_back = True
            change.place.put(change.before)

    def add(self, place: Place) -> None:
        """Remember the value of a place; a list or dict in it is copied for this code."""
        if place.key in self.changes:
            return
        before = place.get()
        self.changes[place.key] = Change(place, before, at=user_location())
        copy = self.copied(before) if place.is_copied else before
        if copy is not before:
            place.put(copy)


class _Active(ThreadState):
    notes: tuple[Notes, ...] = ()

    def __init__(self) -> None:
        self.own: dict[int, CellType] = {}

    def put_back(self, before: dict[str, Any]) -> None:
        """Put back what the code inside has written, too."""
        for notes in reversed(self.notes[len(before.get("notes", ())) :]):
            notes.put_back()
        super().put_back(before)


_active = _Active()


@contextmanager
def noting(copied: Callable[[Any], Any] = lambda value: value) -> Iterator[Notes]:
    """Take note of what the code inside writes; at the end every place is as before."""
    notes = Notes(copied)
    outer = _active.notes
    _active.notes = (*outer, notes)
    try:
        yield notes
    finally:
        notes.put_back()
        _active.notes = outer


@contextmanager
def whole_trace() -> Iterator[Notes]:
    """As `noting`, around a whole trace: its changes are those of variables from before it."""
    known, _active.own = _active.own, {}
    try:
        with noting() as notes:
            yield notes
        for change in notes.changes.values():
            if isinstance(change.place, Attribute):
                change.place.put(change.after)
        outside = {k: c for k, c in notes.changes.items() if c.place.is_outside}
        notes.changes = {k: c for k, c in outside.items() if c.after is not c.before}
    finally:
        _active.own = known


def write(place: Place, value: Any) -> None:
    """Announce a place to the code around, and set it.

    That code finds the attributes of objects by itself.
    """
    if _active.notes and not isinstance(place, Attribute):
        _active.notes[-1].add(place)
    place.put(value)


def announce_buffer(layer: Layer, name: str) -> None:
    """A Layer announces that a buffer of it becomes another tensor."""
    if _active.notes:
        _active.notes[-1].add(Buffer(layer._buffers, name, f"{type(layer).__name__}.{name}"))


def convert_outer(cells: Callable[[], Any], globals: tuple[str, ...] = ()) -> None:
    """A function announces the variables of other functions and the globals that it assigns.

    `cells` is a function that mentions the variables; it is not called.

    >>> convert_outer(lambda: None, ("count",))
    """
    if _active.notes:
        closure = zip(cells.__code__.co_freevars, cells.__closure__ or (), strict=True)
        for name, cell in closure:
            _active.notes[-1].add(Cell(cell, name))
        for name in globals:
            _active.notes[-1].add(Global(cells.__globals__, name))


def convert_module_variable(owner: Any, name: Any = None) -> None:
    """A function announces a variable of a module, or of a namespace, that it is about to set.

    >>> convert_module_variable(inspect, "count")
    """
    if not _active.notes:
        return
    if owner is os.environ:
        outward(owner.__setitem__)
    is_module = isinstance(owner, ModuleType)
    if not is_module and not (type(owner) is dict and "__builtins__" in owner):
        return
    if not isinstance(name, str):
        raise UnsupportedSyntax(
            "a variable of a module is set, whose name is computed",
            at=user_location(),
            why="a Program sets the same variables at every call",
            hint="write its name: `global count`, or `settings.count = ...`",
        )
    if not (is_module and _has_setter(type(owner), name)):
        namespace, module = (vars(owner), owner.__name__) if is_module else (owner, "")
        _active.notes[-1].add(Global(namespace, name, module))


def convert_own(cells: Callable[[], Any]) -> None:
    """A function says at its start which of its variables other functions may assign.

    >>> convert_own(lambda: None)
    """
    if _active.notes:
        _active.own.update((id(cell), cell) for cell in cells.__closure__ or ())


def places_of(info: StatementInfo, *calls: tuple[Callable[..., Any], Sequence[Any]]) -> list[Place]:
    """The places that a statement assigns, found among the arguments and cells of its functions."""
    known: dict[str, Any] = {}
    cells: dict[str, CellType] = {}
    namespace: dict[str, Any] = {}
    for function, arguments in calls:
        code = getattr(function, "__code__", None)
        if code is not None:
            namespace = function.__globals__
            known.update(zip(code.co_varnames, arguments, strict=False))
            cells.update(zip(code.co_freevars, function.__closure__ or (), strict=True))
    for name in info.own:
        _active.own[id(cells[name])] = cells[name]
    known.update((name, Cell(cell, name).get()) for name, cell in cells.items())
    names = (*info.own, *info.nonlocals)
    places: list[Place] = [Cell(cells[name], name, name in info.inner) for name in names]
    places += [Global(namespace, name) for name in info.globals]
    return places + _attributes(info.attributes, known)


def _attributes(paths: Sequence[tuple[str, ...]], known: dict[str, Any]) -> list[Place]:
    places: list[Place] = []
    for root, *path, attribute in paths:
        owner = known.get(root)
        for step in path:
            owner = Undefined(step) if type(owner) is Choice else _held_in(owner, step)
        if (
            owner is None
            or type(owner) in (Choice, Undefined, ModuleType)
            or _has_setter(type(owner), attribute)
        ):
            # What the setter does, or a case of several is given, is found by looking. Variables
            # of modules are announced.
            continue
        registered = owner._buffers if isinstance(owner, Layer) else {}
        if attribute not in registered:
            places.append(Attribute(owner, attribute, ".".join([root, *path, attribute])))
    return places


def _held_in(owner: Any, name: str) -> Any:
    """An attribute that an object holds: no code of the user runs, who asks for it once."""
    if isinstance(owner, Layer) and name in owner._sub_layers:
        return owner._sub_layers[name]
    return attribute_of(owner, name)


def _has_setter(kind: type, attribute: str) -> bool:
    """Whether setting an attribute runs code of the user."""
    static = inspect.getattr_static(kind, attribute, None)
    return not isinstance(static, MemberDescriptorType) and hasattr(type(static), "__set__")


def announcing(function: Callable[..., Any], places: Sequence[Place]) -> Callable[..., Any]:
    """The function, which announces these places before it runs."""

    @wraps(function, assigned=(), updated=())
    def run(*arguments: Any) -> Any:
        for place in places:
            _active.notes[-1].add(place)
        return function(*arguments)

    return run
