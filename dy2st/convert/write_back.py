"""After a loop: lists and dicts that the body changed in place are changed for all their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from types import CellType
from typing import Any

from dy2st.convert.heap import Heap, changed_outside, containers_in
from dy2st.convert.joining import entries_of, same_layout
from dy2st.convert.outer import Place
from dy2st.convert.regions import Region
from dy2st.convert.stale import make_stale
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import Tracer, user_location
from dy2st_runtime.ir.structure import is_container, map_entries


class Others:
    """Who holds a list or dict besides the variable from which it goes from turn to turn."""

    def __init__(self, initial: Sequence[Any], places: Sequence[Place], heap: Heap | None) -> None:
        """The values before the loop, and what else the body could reach."""
        self._counts = Counter(id(held) for value in initial for held in containers_in(value))
        self._places = {place.key for place in places}
        self._heap = heap

    def hold(self, container: Any) -> bool:
        """Whether the body may read it under another name."""
        if self._counts[id(container)] > 1:
            return True
        found = self._heap.objects if self._heap is not None else []
        return any(
            key_of(owner, name) not in self._places
            and any(held is container for held in containers_in(value))
            for owner, attributes in found
            for name, value in attributes.items()
        )


def key_of(owner: Any, name: str) -> Hashable:
    """The key of a variable of a closure, or of an attribute."""
    return id(owner) if isinstance(owner, CellType) else (id(owner), name)


def _two_names(container: Any) -> ConversionError:
    return ConversionError(
        f"a {type(container).__name__} with two names is changed in a loop that depends on a "
        "tensor",
        at=user_location(),
        why="every name has its own value from turn to turn of a Program",
        hint="use one name for it in the loop",
    )


def written_back(
    tracer: Tracer, region: Region, is_changed: Callable[[Any], bool], others: Others
) -> Callable[[Any, Any, Any, Any, Any], Any]:
    """The function that gives the value of a variable after a loop.

    Of a variable it takes: the value before the loop, that after it, what the body was given, what
    it left, and what is carried of it, of which `is_changed` tells whether some turn changes it.
    """

    def settle(initial: Any, after: Any, given: Any, new: Any, carried: Any) -> Any:
        if not is_container(initial):
            return after
        if not isinstance(initial, (list, dict)):
            return _entries(initial, after, given, new, carried) if same(initial, after) else after
        if not is_container(given):
            if others.hold(initial):
                raise _two_names(initial)
            make_stale(_mine(initial))
            return after
        own = region.copies.copy_of(given)
        if own is not given and region.copies.has_changed_inside(own) and others.hold(initial):
            raise _two_names(initial)
        if new is not own:
            if region.copies.has_changed_inside(own):
                make_stale(_mine(initial))
            return after
        if not is_changed(carried):
            return initial
        if not same(initial, after):
            make_stale(_mine(initial))
            return after
        _put(_mine(initial), _entries(initial, after, given, new, carried))
        return initial

    def same(initial: Any, after: Any) -> bool:
        return same_layout(initial, after)

    def _mine(initial: Any) -> Any:
        known = tracer.outside.get(id(initial))
        if known is not None:
            raise changed_outside(known[1], initial)
        return initial

    def _entries(*values: Any) -> Any:
        rows = iter([settle(*row) for row in zip(*map(entries_of, values), strict=True)])
        return map_entries(values[1], lambda _: next(rows))

    return settle


def _put(target: Any, entries: Any) -> None:
    if isinstance(target, dict):
        target.update(entries)
    else:
        target[:] = entries
