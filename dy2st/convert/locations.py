"""Objects that lie in tables of the Program: what changes under one name is changed under all.

A trace keeps the objects that branches and loops make by value. Where that is refused, since one
of two names for an object would not see a change, the function is traced once more with a table
for each class: a list for each attribute, in which an object has one place, its location. A name
holds the number of that place, so two names hold equal numbers; what an attribute is at some
moment is what its list holds then, which branches and loops carry as any other list.

An object moves into its table when a branch, a loop or a list of a length has to carry it. Until
then it is an object of Python, and costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dy2st.convert.objects import attributes_of
from dy2st.convert.types import bare, info
from dy2st.convert.values.layout import Layout, Reference, Same, View, leaves_of
from dy2st.convert.values.special import COUNT, LOCATION, MISSING, SymbolicSequence, Union
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import Variable, user_location

if TYPE_CHECKING:
    from dy2st.convert.trace import Trace


class NewAttribute(ConversionError):
    """An object gets an attribute that its table has not: the next trace knows it."""


@dataclass(eq=False)
class Table:
    """The objects of one class.

    node     the layout of one of them.
    columns  a list for each attribute; it holds MISSING where an object has none.
    """

    node: Reference
    columns: dict[str, list[Any]] = field(default_factory=dict)


class Locations:
    """The tables of a trace; what traces have learned of attributes is known to the next one.

    is_on      whether objects get locations.
    is_wanted  whether the trace has made an object that may get one.
    given      how many objects have got one.
    """

    def __init__(self) -> None:
        """Nothing is known, and objects are carried by value."""
        self.is_on = False
        self.is_wanted = False
        self.given = 0
        self._names: dict[str, dict[str, None]] = {}
        self._trace: Trace

    def begin(self, trace: Trace) -> None:
        """Serve a trace."""
        self._trace = trace
        self._tables: dict[type, Table] = {}
        trace.repeats.is_off = trace.repeats.is_off or self.is_on

    # -- what has a location ----------------------------------------------------------------------

    def node(self, value: Any) -> Reference | None:
        """The layout of an object that has a location, or may get one; None of all others."""
        if not self.is_on:
            return None
        kind, row = type(value), info(type(value))
        if row.is_atom or row.is_container or row.is_value or self._trace.is_outside(value):
            return None
        if kind not in self._tables:
            if isinstance(value, BaseException) or attributes_of(value) is None:
                return None
            table = self._tables[kind] = Table(Reference(kind))
            # No object of the class has a place, on any path.
            self._trace.begin_place(table, COUNT, 0)
        return self._tables[kind].node

    def table(self, kind: type) -> Table:
        """The table of a class."""
        return self._tables[kind]

    def of(self, value: Any, view: View | None = None) -> Any:
        """The number of an object's place; None if it has none."""
        if not self.is_on:
            return None
        key = id(value), LOCATION
        place = getattr(view, "changes", {}).get(key) or self._trace.over.get(key)
        return None if place is None else place.value

    def object_at(self, node: Reference, index: Variable) -> Any:
        """What stands for an object of which the place alone is known."""
        index.number = int
        made = self._trace.made(bare(node.kind))
        self._trace.write(made, LOCATION, index)
        return made

    # -- what it holds ----------------------------------------------------------------------------

    def get(self, owner: Any, name: str) -> Any:
        """An attribute of an object that has a location; MISSING if there is none."""
        column = self._tables[type(owner)].columns.get(name)
        return MISSING if column is None else self._trace.item_at(column, self.of(owner))

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute of an object that has a location; MISSING deletes it."""
        column = self._tables[type(owner)].columns.get(name)
        if column is None:
            raise self._new_attribute(type(owner), [name])
        self.enter([value])
        self._trace.put_at(column, self.of(owner), value)

    def fields(self, owner: Any) -> dict[str, Any]:
        """All attributes of an object that has a location."""
        found = {name: self.get(owner, name) for name in self._tables[type(owner)].columns}
        return {name: value for name, value in found.items() if value is not MISSING}

    def _new_attribute(self, kind: type, names: Sequence[str]) -> NewAttribute:
        self._names.setdefault(_name_of(kind), {}).update(dict.fromkeys(names))
        return NewAttribute(
            f"a {kind.__name__} gets an attribute that none of its kind has had",
            at=user_location(),
            why="the objects of a class lie in tables, which have columns for all attributes",
            hint="set all attributes in `__init__`",
        )

    # -- objects that get a location --------------------------------------------------------------

    def enter(self, values: Sequence[Any]) -> None:
        """Give all objects that can be reached from values a location."""
        trace = self._trace
        new = self._without(values) if self.is_on else []
        held = [trace.fields(one) or {} for one in new]  # as long as they are found in themselves
        for one, fields in zip(new, held, strict=True):
            table = self._tables[type(one)]
            number = trace.held(table, COUNT)
            missing = [name for name in fields if name not in table.columns]
            if missing and not (type(number) is int and number == 0):
                raise self._new_attribute(type(one), missing)
            for name in {**fields, **self._names.get(_name_of(type(one)), {})}:
                table.columns.setdefault(name, [])
            self.given += 1
            trace.write(one, LOCATION, number)
            trace.write(table, COUNT, trace.add(number, 1))
        for one, fields in zip(new, held, strict=True):
            for name, column in self._tables[type(one)].columns.items():
                trace.append_to(column, fields.get(name, MISSING))

    def _without(self, values: Sequence[Any]) -> list[Any]:
        """The objects that have no location, in the order in which they are reached."""
        trace, found, seen = self._trace, list[Any](), dict[int, Any]()
        waiting = [*values]
        while waiting:
            one = waiting.pop()
            row = info(type(one))
            if id(one) in seen or row.is_atom or trace.is_outside(one):
                continue
            seen[id(one)] = one
            if type(one) is Union:
                waiting += [*_constants(one.layouts), *one.objects.values()]
            elif type(one) is SymbolicSequence:
                waiting += _constants([one.element] if one.element is not None else [])
            elif row.family in ("tuple", "bundle"):
                waiting += row.parts(one, ())
            elif row.is_container:
                held = trace.raw(one)
                waiting += [*held, *held.values()] if isinstance(held, dict) else ()
                waiting += held if info(type(held)).is_container else [held]
            elif self.node(one) is not None and self.of(one) is None:
                found.append(one)
                waiting += (trace.fields(one) or {}).values()
        return found


def _name_of(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _constants(nodes: Sequence[Layout]) -> list[Any]:
    """The values of Python in layouts."""
    found = []
    waiting = [*nodes]
    while waiting:
        node = waiting.pop()
        found += [node.value] if isinstance(node, Same) else []
        waiting += leaves_of(node)
    return found
