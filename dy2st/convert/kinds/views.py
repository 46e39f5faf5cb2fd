"""Views of dicts: `keys()`, `values()` and `items()` show what the dict holds when somebody asks.

In a trace each is a view of Python's, which stands for the dict: what it shows is looked up there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.convert.kinds import traced_keys
from dy2st.convert.kinds.entries import gathered, is_sure
from dy2st.convert.kinds.table import method_row
from dy2st.convert.trace import DictView, Trace

_TAKEN: dict[str, Callable[[Any, Any], Any]] = {
    "items": lambda key, value: (key, value),
    "values": lambda key, value: value,
    "keys": lambda key, value: key,
}


def _row_of_view(name: str) -> None:
    def row(trace: Trace, owner: Any) -> Any:
        content = trace.content(owner)
        made = getattr(content if isinstance(content, dict) else type(owner)(), name)()
        trace.origins[id(made)] = made, DictView(owner, name)
        return made

    method_row("dict", name=name)(row)


for _name in _TAKEN:
    _row_of_view(_name)


def shown_by(trace: Trace, view: Any) -> Any:
    """What a view of the trace shows now: one of Python's, a list, or an Indexed."""
    _, (owner, name) = trace.origins[id(view)]
    if traced_keys.is_keyed(trace, owner):
        return traced_keys.ROWS[name](trace, owner)
    content = trace.content(owner)
    trace.read_content(owner)
    if is_sure(trace, content):
        return getattr(content, name)()
    return gathered(trace, content, _TAKEN[name])


@method_row("keys", "values", name="__len__")
def length(trace: Trace, view: Any) -> Any:
    """`len(view)`."""
    found = trace.origin(view, DictView)
    # One from outside is read by code in C.
    return len(trace.native(view)) if found is None else trace.call(len, found.owner)


@method_row("keys", "values", name="__contains__")
def _contains(trace: Trace, view: Any, item: Any) -> Any:
    owner, name = trace.origin(view, DictView) or (None, "")
    if name == "keys":
        return trace.in_(item, owner)
    if name != "items" or not isinstance(item, tuple) or len(item) != 2:
        return trace.in_(item, trace.call(list, view))
    key, value = item

    def same() -> Any:
        held = trace.item(owner, key)
        return held is value or trace.equals(held, value)

    return trace.and_(trace.in_(key, owner), same)
