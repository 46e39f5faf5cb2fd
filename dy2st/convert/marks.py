"""Objects that may not be changed, or read, any more: on the path on which they came to be so.

What a branch puts into a list that keeps its elements by value may not change on that path; on the
other one it may. Behind the branch it is as if both had been gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from dy2st.convert.values.carry import copied_parts
from dy2st.convert.values.layout import Layout, View
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import user_location

if TYPE_CHECKING:
    from dy2st.convert.trace import Trace


@dataclass(eq=False)
class Marks:
    """What a path has made so, by id.

    fragile: what nobody may change, for a list keeps it by value.
    stale: what nobody may read, for another that may be the same has changed.
    """

    fragile: dict[int, Any] = field(default_factory=dict)
    stale: dict[int, Any] = field(default_factory=dict)

    def take(self, other: Marks) -> None:
        """As if the path of the other had been gone, too."""
        self.fragile.update(other.fragile)
        self.stale.update(other.stale)


@contextmanager
def path_of(trace: Trace, marks: Marks) -> Iterator[None]:
    """Go on a path; `marks` has what it has made so, and gets what it makes so."""
    before, groups, loans = Marks(), trace.twins.groups.copy(), trace.loans.noted()
    before.take(trace.marks)
    trace.marks.take(marks)
    try:
        yield
    finally:
        now = trace.marks
        marks.fragile = {k: v for k, v in now.fragile.items() if k not in before.fragile}
        marks.stale = {k: v for k, v in now.stale.items() if k not in before.stale}
        now.fragile, now.stale = before.fragile, before.stale
        trace.twins.add_to(groups)
        trace.loans.put_back(loans)


@dataclass(eq=False)
class Part:
    """A list, dict or object that a path carries by value to a join, with its layout there."""

    layout: Layout
    value: Any
    is_fragile: bool
    is_stale: bool


def parts_noted(
    trace: Trace, value: Any, layout: Layout, view: View, path: Marks | None = None
) -> list[Part]:
    """What a value carries, with what is known of it where this is called, or behind a path."""
    paths = (trace.marks,) if path is None else (trace.marks, path)
    return [
        Part(
            node,
            part,
            any(id(part) in marks.fragile for marks in paths),
            any(id(part) in marks.stale for marks in paths),
        )
        for node, part in copied_parts(trace, value, layout, view)
    ]


def note_joins(trace: Trace, parts: Iterable[Part], known: dict[Any, Any]) -> None:
    """What was put together stands for the objects of all paths; `known` has it by its layout."""
    hidden = []
    for part in parts:
        node = id(part.layout)
        made = known.get(node, known.get(("case", node)))
        if made is None:
            hidden.append(part.value)  # it is put together anew at each look
        elif made is not part.value:
            trace.twins.join([made, part.value])
            trace.keep_fragile(*[made] if part.is_fragile or part.is_stale else [])
            trace.twins.outdate([made] if part.is_stale else [])
    trace.note_copied(hidden)


def refuse_fragile(owner: Any) -> NoReturn:
    """Refuse to change what is looked up in a list of a length, or in one of several values."""
    raise ConversionError(
        f"a {type(owner).__name__} is changed in place that is an element of a list whose "
        "length depends on a tensor, or inside of a value that may be another one",
        at=user_location(),
        why="the Program keeps the elements by value",
        hint="put a changed copy into the list: items[i] = items[i] + [new]",
    )


__all__ = ["Marks", "Part", "note_joins", "parts_noted", "path_of", "refuse_fragile"]
