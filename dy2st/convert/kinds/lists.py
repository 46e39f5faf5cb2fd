"""Lists, deques and tuples: those of Python, and those whose length the data decides."""

from __future__ import annotations

import operator
from collections import deque
from typing import Any

from dy2st.convert.aliases import BorrowedElement
from dy2st.convert.kinds.container_writes import to_move
from dy2st.convert.kinds.scalars import is_traced, scalar
from dy2st.convert.polyfills import lists_
from dy2st.convert.stage.checks import check_place
from dy2st.convert.trace import Trace, own_method
from dy2st.convert.types import info
from dy2st.convert.values.flatten import copied, element_at, promote_elements, row_of
from dy2st.convert.values.layout import Layout, Lub, Same, Unlike, number_kind, width
from dy2st.convert.values.special import CONTENT, Generated, Indexed, SymbolicSequence, Union
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import ArrayType, F, Variable, user_location
from dy2st_runtime.ir.choice import Text


def held(trace: Trace, owner: Any) -> Any:
    """What a list or tuple holds: a container of Python or a SymbolicSequence."""
    if type(owner) in (tuple, SymbolicSequence):
        return owner
    content = trace.content(owner)
    trace.read_content(owner)
    return content


def length_of(trace: Trace, content: SymbolicSequence) -> Variable:
    """How many elements there are, as a number of Python."""
    length: Variable = F.array_length(trace.tracer.local(content.arrays[0]))
    length.number = int
    return length


def of_each(
    trace: Trace, content: SymbolicSequence, change: Any, kind: Any = None
) -> SymbolicSequence:
    """A list of a length, of what a function makes of each of its arrays."""
    arrays = [change(trace.tracer.local(array)) for array in content.arrays]
    return SymbolicSequence(kind or content.kind, content.element, arrays, content.like)


def with_item(trace: Trace, content: SymbolicSequence, item: Any, change: Any) -> SymbolicSequence:
    """A list of a length that `change(array, leaf)` has given one more element."""
    new = Lub().by_value(Same(item, trace), trace)
    element = new if content.element is None else of_both(content.element, new)
    if content.element is not None and element is not content.element:
        trace.alias_tracker.link(content.element, element)
    arrays = promote_elements(trace, content, element, trace)
    row = row_of(trace, item, element, trace)
    changed = [change(array, leaf) for array, leaf in zip(arrays, row, strict=True)]
    return SymbolicSequence(content.kind, element, changed, content.like)


def of_both(left: Layout, right: Layout, join: Lub | None = None) -> Layout:
    """The layout of elements of two layouts in one list."""
    try:
        return (join or Lub())(left, right)
    except Unlike as error:
        raise ConversionError(
            f"an element of a list whose length depends on a tensor is {error}",
            at=user_location(),
            why="the list becomes arrays, and one Program must serve all of its elements",
            hint="let all elements be of one kind, such as tensors of one dtype and rank",
        ) from None


def as_dynamic(trace: Trace, content: Any, kind: type, like: Any = None) -> SymbolicSequence:
    """A list of Python as one of a length, with the layout of all its elements."""
    if type(content) is SymbolicSequence:
        return content
    element: Layout | None = None
    join = Lub()
    for item in content:
        new = join.by_value(Same(item, trace), trace)
        element = new if element is None else of_both(element, new, join)
    rows = [row_of(trace, item, element, trace) for item in content]
    for item in content:
        trace.alias_tracker.keep_copied(copied(trace, item, element, trace), element)
    columns = zip(*rows, strict=True) if rows else [()] * width(element)
    return SymbolicSequence(kind, element, [F.array_of(list(column)) for column in columns], like)


def tuple_of(trace: Trace, content: SymbolicSequence) -> SymbolicSequence:
    """A tuple of the elements of a list."""
    made = SymbolicSequence(tuple, content.element, content.arrays)
    trace.alias_tracker.note_elements(made, made.element)
    return made


def new_list(trace: Trace, content: Any, kind: type = list, like: Any = None) -> Any:
    """A new list with that content; of a tuple the content itself. `like`: a deque's maxlen."""
    if kind is tuple:
        return tuple(content) if type(content) is not SymbolicSequence else tuple_of(trace, content)
    most = {} if kind is list or like is None else {"maxlen": like.maxlen}
    if type(content) is not SymbolicSequence:
        return trace.made(kind(content, **most))
    made = trace.made(kind(**most))
    trace.hold(made, SymbolicSequence(kind, content.element, content.arrays, made))
    return made


def whole_of(trace: Trace, owner: Any, content: Any) -> SymbolicSequence:
    """What a list or deque holds as a list of a length."""
    return as_dynamic(trace, content, type(owner), owner)


def replaced(trace: Trace, owner: Any, new: SymbolicSequence) -> None:
    """Let a list hold other elements; a deque drops what is too much at its beginning."""
    most = owner.maxlen if type(owner) is deque else None
    if most is not None:
        start = F.maximum(length_of(trace, new) - most, 0)
        new = of_each(trace, new, lambda array: F.array_slice(array, start))
    trace.hold(owner, SymbolicSequence(type(owner), new.element, new.arrays, owner))


def joined(trace: Trace, left: Any, right: Any, kind: type) -> SymbolicSequence:
    """Two lists, at least one of a length, one after the other."""
    first, second = as_dynamic(trace, left, kind), as_dynamic(trace, right, kind)
    if first.element is None:
        return SymbolicSequence(kind, second.element, second.arrays, first.like)
    if second.element is None:
        return first
    element = of_both(first.element, second.element)
    for one in (first.element, second.element):
        trace.alias_tracker.link(one, element)
    pairs = zip(
        promote_elements(trace, first, element, trace),
        promote_elements(trace, second, element, trace),
        strict=True,
    )
    return SymbolicSequence(kind, element, [F.array_extend(a, b) for a, b in pairs], first.like)


def concatenate(trace: Trace, left: Any, right: Any) -> Any:
    """`left + right`."""
    kinds = [
        value.kind if type(value) is SymbolicSequence else type(value) for value in (left, right)
    ]
    if kinds[0] is not kinds[1] or kinds[0] not in (list, tuple, deque):
        return NotImplemented
    first, second = held(trace, left), held(trace, right)
    if type(first) is not SymbolicSequence and type(second) is not SymbolicSequence:
        return new_list(trace, first + second, kinds[0], left)
    like = left if kinds[0] is deque else None
    return new_list(trace, joined(trace, first, second, kinds[0]), kinds[0], like)


def repeat(trace: Trace, owner: Any, times: Any) -> Any:
    """`owner * times`."""
    if type(owner) not in (list, tuple, SymbolicSequence, deque):
        return NotImplemented
    content = held(trace, owner)
    kind = owner.kind if type(owner) is SymbolicSequence else type(owner)
    if not isinstance(times, int) and number_kind(times) not in (int, bool):
        own = own_method(trace, times, "__index__")
        times = times if own is None else trace.call(own, times)
    if not isinstance(times, int) and number_kind(times) not in (int, bool):
        return NotImplemented
    if type(content) is not SymbolicSequence and isinstance(times, int):
        return new_list(trace, content * times, kind, owner)
    whole = as_dynamic(trace, content, kind)
    found = of_each(trace, whole, lambda array: F.array_repeat(array, times))
    return new_list(trace, found, kind, owner)


def is_surely_empty(content: SymbolicSequence) -> bool:
    """Whether nothing has been put into a list yet, as in the first round of a loop."""
    return content.arrays[0].type == ArrayType(None)


def item_of(trace: Trace, content: SymbolicSequence, index: Any) -> Any:
    """`content[index]` of a list of a length."""
    if isinstance(index, slice):
        parts = [index.start, index.stop, index.step]
        found = of_each(trace, content, lambda array: F.array_slice(array, *parts))
        return new_list(trace, found, content.kind)
    check_place(trace, content, index)
    return element_at(trace, content, index)


def set_item_of(trace: Trace, owner: Any, content: SymbolicSequence, index: Any, item: Any) -> None:
    """`owner[index] = item` of a list of a length."""
    check_place(trace, content, index, "assignment index")
    new = with_item(trace, content, item, lambda array, leaf: F.array_write(array, index, leaf))
    trace.hold(owner, new)
    trace.alias_tracker.give(owner, index, item, new.element)


def write_back(trace: Trace, borrowed: BorrowedElement) -> None:
    """Set an element anew that was looked up and changed."""
    owner = borrowed.owner
    content = as_dynamic(trace, trace.raw(owner), type(owner))
    put = lambda array, leaf: F.array_write(array, borrowed.index, leaf)  # noqa: E731
    new = with_item(trace, content, borrowed.item, put)
    # Not `hold`, which ends what is borrowed: all elements keep their places.
    trace.alias_tracker.change(owner)
    trace.write(owner, CONTENT, new)


def item_at(trace: Trace, owner: Any, index: Any) -> Any:
    """The element at a place that the list has: one object, until the list changes."""
    content = trace.content(owner)
    if type(content) is not SymbolicSequence and type(index) is int:
        return content[index]
    content = _of_length(trace, owner)
    key = id(content.arrays[0]), index if type(index) is int else id(index)
    reads = trace.state.reads
    if key not in reads:
        found = trace.alias_tracker.borrow_element(owner, index, element_at(trace, content, index))
        reads[key] = content.arrays[0], index, found
    return reads[key][-1]


def append_to(trace: Trace, owner: Any, item: Any) -> None:
    """Append to a list; what was looked up in it stays where it is."""
    content = trace.content(owner)
    if type(content) is not SymbolicSequence:
        trace.writable(owner).append(item)
        return
    new = with_item(trace, content, item, F.array_append)
    trace.write(owner, CONTENT, new)
    trace.alias_tracker.give(owner, -1, item, new.element)


def put_at(trace: Trace, owner: Any, index: Any, item: Any) -> None:
    """Set the element at a place that the list has."""
    if type(trace.content(owner)) is not SymbolicSequence and type(index) is int:
        trace.set_item(owner, index, item)
    else:
        set_item_of(trace, owner, _of_length(trace, owner), index, item)


def _of_length(trace: Trace, owner: Any) -> SymbolicSequence:
    content = trace.content(owner)
    if type(content) is not SymbolicSequence:
        trace.locations.enter([owner])
        content = as_dynamic(trace, trace.content(owner), list)
        trace.hold(owner, content)
    return content


def place_of_index(trace: Trace, owner: Any, index: Any) -> Any:
    """An index from the beginning."""
    if type(index) is int and index >= 0:
        return index
    length = length_of(trace, as_dynamic(trace, trace.raw(owner), type(owner)))
    if type(index) is int:
        return trace.add(length, index)
    whole = trace.tracer.local(scalar(trace, index))
    return F.where(F.less_than(whole, 0), whole + length, whole)


def set_slice_of(trace: Trace, owner: Any, index: slice, items: Any) -> None:
    """`owner[start:stop] = items` of a list of a length; `del owner[start:stop]` without items."""
    if index.step not in (None, 1):
        raise ConversionError(
            "a slice with a step is assigned in a list whose length depends on a tensor",
            at=user_location(),
            why="which places it has is known only when the Program runs",
            hint="assign the elements in a `for` loop",
        )
    whole = whole_of(trace, owner, to_move(trace, owner))
    length = length_of(trace, whole)
    start = _end_of(index.start, 0, length)
    stop = F.maximum(start, _end_of(index.stop, length, length))
    kept = of_each(trace, whole, lambda array: F.array_slice(array, 0, start), list)
    last = of_each(trace, whole, lambda array: F.array_slice(array, stop), list)
    kept = kept if items is None else joined(trace, kept, items, list)
    found = joined(trace, kept, last, list)
    trace.hold(owner, SymbolicSequence(list, found.element, found.arrays))


def _end_of(index: Any, default: Any, length: Any) -> Any:
    """Where a slice begins or ends: a place from 0 to the length."""
    if index is None:
        return default
    return F.where(
        F.less_than(index, 0), F.maximum(length + index, 0), F.minimum(length + 0, index)
    )


def contains(trace: Trace, item: Any, container: Any) -> Any:
    """`item in container`."""
    kind = type(container)
    if kind is SymbolicSequence or info(kind).family in ("list", "tuple"):
        return _contains(trace, item, held(trace, container))
    row = info(kind).methods.get("__contains__")
    if row is not None:
        return row(trace, container, item)
    # A number is compared with the ends; a tensor, of many elements perhaps, with each of them.
    if kind is range and number_kind(item) is not None and is_traced(item):
        # Whether a number is one of those of a range: between its ends, and whole steps from them
        if not container:
            return False
        low, high = min(container[0], container[-1]), max(container[0], container[-1])
        inside = trace.and_(trace.ge(item, low), lambda: trace.le(item, high))
        between = trace.sub(item, low)
        return trace.and_(inside, lambda: trace.eq(trace.mod(between, abs(container.step)), 0))
    if kind is range and is_traced(item):
        return trace.any_in(
            lambda place: trace.equals(trace.item(container, place), item), len(container)
        )
    if kind is Indexed and container.is_once:
        return contains(trace, item, trace.items_of(container))  # borrowed: it is read no further
    if kind is Indexed:
        return trace.any_in(
            lambda place: trace.equals(container.item(place), item), container.length
        )
    if kind is Generated or hasattr(kind, "__next__"):
        found = trace.iterate(container)
        is_decided = type(found) is Indexed
        return (contains if is_decided else _among_rest)(trace, item, found)
    if type(item) is Union:
        return trace.map_cases(lambda one: contains(trace, one, container), item)
    if type(item) is Text:
        return container in item  # refused, in its words
    return item in trace.native(container)


def _among_rest(trace: Trace, item: Any, iterable: Any) -> Any:
    """Whether an iterator gives an item; no more is taken of it than up to that."""
    rest = iter(iterable)
    for one in rest:
        same = one is item or trace.equals(one, item)
        if same is True:
            return True
        if same is not False:
            return _contains(trace, item, [one, *rest])
    return False


def _contains(trace: Trace, item: Any, content: Any) -> Any:
    if type(content) is not SymbolicSequence:
        return trace.any_of(lambda one: one is item or trace.equals(one, item), content)
    if is_surely_empty(content):
        return False
    length = length_of(trace, content)
    return trace.any_in(lambda index: trace.equals(element_at(trace, content, index), item), length)


def compare_lists(trace: Trace, name: str, left: Any, right: Any) -> Any:
    """`left == right` and its like, element by element."""
    first, second = held(trace, left), held(trace, right)
    if type(first) is not SymbolicSequence and type(second) is not SymbolicSequence:
        return trace.compare(name, first, second)
    kinds = [one.kind if type(one) is SymbolicSequence else type(one) for one in (first, second)]
    if kinds[0] is not kinds[1]:
        return trace.compare(name, kinds[0](), kinds[1]())  # as Python compares two of these kinds
    whole = [as_dynamic(trace, one, kinds[0]) for one in (first, second)]
    if any(one.element is None for one in whole):
        return getattr(trace, name)(*(length_of(trace, one) for one in whole))
    if name in ("eq", "ne"):
        same = trace.call(lists_.are_equal, *whole)
        return same if name == "eq" else trace.not_(same)
    return trace.call(lists_.in_order, getattr(operator, name), *whole)
