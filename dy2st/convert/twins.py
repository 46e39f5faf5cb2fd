"""Objects that a join has made one: when one of them changes, nobody may look at the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dy2st.convert.marks import Marks
from dy2st.convert.objects import ATOMS, attributes_of
from dy2st.convert.states import CONTAINERS
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import user_location


class Twins:
    """Which objects stand for one, and which of them are out of date since another has changed."""

    def __init__(self, watched: set[int], marks: Marks):
        """`watched` gets the ids of all that must be asked about; `marks` what is out of date."""
        self._watched, self._marks = watched, marks
        self.groups: dict[int, list[Any]] = {}

    def join(self, values: Sequence[Any]) -> None:
        """Note that objects stand for one after a join."""
        group: list[Any] = []
        for value in filter(_may_change, values):
            for other in self.groups.get(id(value), [value]):
                if not any(other is one for one in group):
                    group.append(other)
        if len(group) > 1:
            for value in group:
                self.groups[id(value)] = group
                self._watched.add(id(value))

    def add_to(self, groups: dict[int, list[Any]]) -> None:
        """Go back to what was known before a path, and keep what it has joined."""
        new, self.groups = self.groups, groups
        for key, group in new.items():
            if groups.get(key) is not group:
                self.join(group)

    def of(self, value: Any) -> list[Any]:
        """All that may be one with an object, and that itself."""
        return self.groups.get(id(value), [value])

    def part(self, owner: Any) -> list[Any]:
        """An object is about to change: whoever reads a twin of it would not see that."""
        group = self.groups.pop(id(owner), ()) if self.groups else ()
        others = [other for other in group if other is not owner]
        for other in others:
            del self.groups[id(other)]
        self.outdate(others)
        return others

    def outdate(self, others: Iterable[Any]) -> None:
        """Note objects that may be one that is about to change."""
        for other in others:
            self._marks.stale[id(other)] = other, user_location()
            self._watched.add(id(other))

    def check(self, owner: Any) -> None:
        """Refuse to read an object whose other form has changed."""
        stale = self._marks.stale
        if not stale or id(owner) not in stale:
            return
        at, kind = stale[id(owner)][1], type(owner).__name__
        raise ConversionError(
            f"a {kind} is used that a branch or loop may have made one with another, which has "
            "changed since",
            at=user_location(),
            why=f"whether it is the one that changed (at {at}) is known only when the Program runs",
            hint=f"make a copy where the {kind} gets its second name",
        )


def _may_change(value: Any) -> bool:
    kind = type(value)
    return kind in CONTAINERS or (kind not in ATOMS and attributes_of(value) is not None)


__all__ = ["Twins"]
