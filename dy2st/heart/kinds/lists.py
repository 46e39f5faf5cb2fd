"""Lists, deques and tuples: those of Python, and those whose length the data decides."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable
from typing import Any

from dy2st.heart.kinds.table import method_row
from dy2st.heart.trace import CONTENT, Trace
from dy2st.heart.values.carry import build, element_at, risen, row_of, width
from dy2st.heart.values.layout import Layout, Same, lifted
from dy2st.heart.values.lub import Lub
from dy2st.heart.values.special import Dynamic
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import F, Variable, user_location

SEQUENCES = (list, deque)


def held(trace: Trace, owner: Any) -> Any:
    """What a list or tuple holds: a container of Python or a Dynamic."""
    if type(owner) in (tuple, Dynamic):
        return owner
    content = trace.content(owner)
    if trace.is_outside(owner) and content is owner:
        trace.read("content", owner, None, tuple(owner))
        for item in owner:
            trace.mark_outside(item)
    return content


def length_of(trace: Trace, content: Dynamic) -> Variable:
    """How many elements there are, as a number of Python."""
    length: Variable = F.array_length(trace.tracer.local(content.arrays[0]))
    length.number = int
    return length


def with_element(trace: Trace, content: Dynamic, item: Any) -> tuple[Layout, list[Variable]]:
    """A layout for the elements and one more, and the arrays in that layout."""
    new = lifted(Same(item, trace), numbers=True)
    element = new if content.element is None else Lub()(content.element, new)
    return element, risen(trace, content, element, trace)


def as_dynamic(trace: Trace, content: Any, kind: type, like: Any = None) -> Dynamic:
    """A list of Python as one of a length, with the layout of all its elements."""
    if type(content) is Dynamic:
        return content
    element: Layout | None = None
    join = Lub()
    for item in content:
        new = lifted(Same(item, trace), numbers=True)
        element = new if element is None else join(element, new)
    rows = [row_of(trace, item, element, trace) for item in content]
    columns = zip(*rows, strict=True) if rows else [()] * width(element)
    return Dynamic(kind, element, [F.array_of(list(column)) for column in columns], like)


def put(trace: Trace, owner: Any, content: Any) -> None:
    """Let a list hold other things from now on."""
    trace.hold(owner, content)


def new_list(trace: Trace, content: Any, kind: type = list) -> Any:
    """A new list with that content; of a tuple the content itself."""
    if kind is tuple:
        return content if type(content) is Dynamic else tuple(content)
    if type(content) is not Dynamic:
        return trace.made(kind(content))
    made = trace.made(kind())
    trace.hold(made, Dynamic(kind, content.element, content.arrays, content.like))
    return made


@method_row(list, deque)
def append(trace: Trace, owner: Any, item: Any) -> None:
    """`owner.append(item)`."""
    content = _changeable(trace, owner)
    if type(content) is not Dynamic:
        content.append(item)
        return
    element, arrays = with_element(trace, content, item)
    row = row_of(trace, item, element, trace)
    new = [F.array_append(a, b) for a, b in zip(arrays, row, strict=True)]
    put(trace, owner, Dynamic(content.kind, element, new, content.like))


def _changeable(trace: Trace, owner: Any) -> Any:
    return trace.writable(owner)


@method_row(list, deque)
def extend(trace: Trace, owner: Any, items: Any) -> None:
    """`owner.extend(items)`."""
    other = trace.listed(items)
    content = _changeable(trace, owner)
    if type(content) is not Dynamic and type(other) is not Dynamic:
        content.extend(other)
        return
    put(trace, owner, joined(trace, content, other, type(owner)))


def joined(trace: Trace, left: Any, right: Any, kind: type) -> Dynamic:
    """Two lists, at least one of a length, one after the other."""
    first, second = as_dynamic(trace, left, kind), as_dynamic(trace, right, kind)
    if first.element is None:
        return Dynamic(kind, second.element, second.arrays, first.like)
    if second.element is None:
        return first
    element = Lub()(first.element, second.element)
    pairs = zip(
        risen(trace, first, element, trace), risen(trace, second, element, trace), strict=True
    )
    return Dynamic(kind, element, [F.array_extend(a, b) for a, b in pairs], first.like)


@method_row(list, deque)
def pop(trace: Trace, owner: Any, index: Any = -1) -> Any:
    """`owner.pop(index)`."""
    content = _changeable(trace, owner)
    if type(content) is not Dynamic and type(index) is int:
        return content.pop() if type(owner) is deque else content.pop(index)
    content = as_dynamic(trace, content, type(owner))
    if content.element is None:
        raise IndexError("pop from empty list")
    pairs = [F.array_pop(trace.tracer.local(array), index) for array in content.arrays]
    put(trace, owner, Dynamic(content.kind, content.element, [a for a, _ in pairs], content.like))
    return build(trace, content.element, iter([item for _, item in pairs]))


@method_row(list, deque)
def clear(trace: Trace, owner: Any) -> None:
    """`owner.clear()`."""
    trace.hold(owner, type(owner)())


@method_row(list, deque)
def copy(trace: Trace, owner: Any) -> Any:
    """`owner.copy()`."""
    return new_list(trace, held(trace, owner), type(owner))


def concatenate(trace: Trace, left: Any, right: Any) -> Any:
    """`left + right`."""
    kinds = [value.kind if type(value) is Dynamic else type(value) for value in (left, right)]
    if kinds[0] is not kinds[1] or kinds[0] not in (list, tuple, deque):
        return NotImplemented
    first, second = held(trace, left), held(trace, right)
    if type(first) is not Dynamic and type(second) is not Dynamic:
        return new_list(trace, first + second, kinds[0])
    return new_list(trace, joined(trace, first, second, kinds[0]), kinds[0])


def repeat(trace: Trace, owner: Any, times: Any) -> Any:
    """`owner * times`."""
    if type(owner) not in (list, tuple, Dynamic, deque):
        return NotImplemented
    content = held(trace, owner)
    kind = owner.kind if type(owner) is Dynamic else type(owner)
    if type(content) is not Dynamic and type(times) in (int, bool):
        return new_list(trace, content * times, kind)
    whole = as_dynamic(trace, content, kind)
    arrays = [F.array_repeat(trace.tracer.local(array), times) for array in whole.arrays]
    return new_list(trace, Dynamic(kind, whole.element, arrays), kind)


def item_of(trace: Trace, content: Dynamic, index: Any) -> Any:
    """`content[index]` of a list of a length."""
    if isinstance(index, slice):
        parts = [index.start, index.stop, index.step]
        arrays = [F.array_slice(trace.tracer.local(a), *parts) for a in content.arrays]
        return new_list(trace, Dynamic(content.kind, content.element, arrays), content.kind)
    return element_at(trace, content, index)


def set_item_of(trace: Trace, owner: Any, content: Dynamic, index: Any, item: Any) -> None:
    """`owner[index] = item` of a list of a length."""
    element, arrays = with_element(trace, content, item)
    row = row_of(trace, item, element, trace)
    new = [F.array_write(a, index, b) for a, b in zip(arrays, row, strict=True)]
    put(trace, owner, Dynamic(content.kind, element, new, content.like))


def contains(trace: Trace, item: Any, container: Any) -> Any:
    """`item in container`."""
    kind = type(container)
    if kind is Dynamic or kind in SEQUENCES or kind is tuple:
        return _contains(trace, item, held(trace, container))
    if kind in (dict, set):
        content = trace.content(container)
        found = item in content
        if content is container and trace.is_outside(container):
            trace.read("has", container, item, found)
        return found
    return item in trace.native(container)


def _contains(trace: Trace, item: Any, content: Any) -> Any:
    if type(content) is not Dynamic:
        return trace.any_of(lambda one: one is item or trace.equals(one, item), content)
    length = length_of(trace, content)
    return trace.any_in(lambda index: trace.equals(element_at(trace, content, index), item), length)


_ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, name) for name in ("lt", "le", "gt", "ge")
}


def compare_lists(trace: Trace, name: str, left: Any, right: Any) -> Any:
    """`left == right` and its like, element by element."""
    first, second = held(trace, left), held(trace, right)
    if type(first) is Dynamic or type(second) is Dynamic:
        raise ConversionError(
            "two lists whose length depends on a tensor are compared",
            at=user_location(),
            why="how many elements there are is known only when the Program runs",
            hint="compare them in a `for` loop",
        )
    return trace.compare(name, first, second)


__all__ = [
    "CONTENT",
    "as_dynamic",
    "compare_lists",
    "concatenate",
    "contains",
    "held",
    "item_of",
    "length_of",
    "new_list",
    "repeat",
    "set_item_of",
]
