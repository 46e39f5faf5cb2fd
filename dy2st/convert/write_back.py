"""After a loop: lists and dicts that the body changed in place are changed for all their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.convert.heap import changed_outside
from dy2st.convert.joining import entries_of, same_layout
from dy2st.convert.regions import Region
from dy2st.convert.stale import make_stale
from dy2st_runtime.ir import Tracer
from dy2st_runtime.ir.structure import is_container, map_entries


def written_back(
    tracer: Tracer, region: Region, is_changed: Callable[[Any], bool]
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
            make_stale(_mine(initial))
            return after
        own = region.copies.copy_of(given)
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
