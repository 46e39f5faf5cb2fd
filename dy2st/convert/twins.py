"""Objects that a join has made one: when one of them changes, nobody may look at the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dy2st.convert.objects import ATOMS, attributes_of
from dy2st.convert.states import CONTAINERS
from dy2st_runtime.errors import ConversionError, Location
from dy2st_runtime.ir import user_location


class Twins:
    """Which objects stand for one, and which of them are out of date since another has changed."""

    def __init__(self, watched: set[int]):
        """`watched` gets the ids of all that must be asked about."""
        self._watched = watched
        self._groups: dict[int, list[Any]] = {}
        self._stale: dict[int, tuple[Any, Location | None]] = {}

    def join(self, values: Sequence[Any]) -> None:
        """Note that objects stand for one after a join."""
        group: list[Any] = []
        for value in filter(_may_change, values):
            for other in self._groups.get(id(value), [value]):
                if not any(other is one for one in group):
                    group.append(other)
        if len(group) > 1:
            for value in group:
                self._groups[id(value)] = group
                self._watched.add(id(value))

    def part(self, owner: Any) -> None:
        """An object is about to change: whoever reads a twin of it would not see that."""
        group = self._groups.pop(id(owner), None) if self._groups else None
        if group is not None:
            others = [other for other in group if other is not owner]
            for other in others:
                del self._groups[id(other)]
            self.outdate(others)

    def outdate(self, others: Iterable[Any]) -> None:
        """Note objects that may be one that is about to change."""
        for other in others:
            self._stale[id(other)] = other, user_location()
            self._watched.add(id(other))

    def is_any_stale(self, values: Iterable[Any]) -> bool:
        """Whether one of some objects is out of date."""
        return bool(self._stale) and any(id(value) in self._stale for value in values)

    def check(self, owner: Any) -> None:
        """Refuse to read an object whose other form has changed."""
        if not self._stale or id(owner) not in self._stale:
            return
        at, kind = self._stale[id(owner)][1], type(owner).__name__
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
