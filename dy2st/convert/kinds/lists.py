"""Lists, deques and tuples: those of Python, and those whose length the data decides."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from dy2st.convert.aliases import BorrowedElement
from dy2st.convert.kinds.scalars import check, is_traced, scalar
from dy2st.convert.kinds.table import function_row, method_row
from dy2st.convert.polyfills import methods
from dy2st.convert.stage.checks import check_place
from dy2st.convert.trace import Trace, own_method
from dy2st.convert.types import info
from dy2st.convert.types.values import emptied
from dy2st.convert.values.flatten import build, element_at, promote_elements, row_of
from dy2st.convert.values.layout import Layout, Lub, Same, Unlike, number_kind, width
from dy2st.convert.values.special import CONTENT, MISSING, Indexed, SymbolicSequence, Union
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import ArrayType, F, Variable
from dy2st_runtime.ir.choice import Text
from dy2st_runtime.ir.kernel_errors import empty_words
from dy2st_runtime.ir.tracing.python_numbers import check_index

# -- writes into containers -------------------------------------------------------------------
# They note what they depend on. A write may leave a container from outside as it was: where an
# element is put that is there already, this call changes nothing, and another one may.


def to_move(trace: Trace, owner: Any) -> Any:
    """The content of a list or deque, to be changed: elements get other places."""
    trace.read_content(owner)
    return trace.writable(owner)


def note_put(trace: Trace, owner: Any, key: Any, value: Any) -> None:
    """Note that a value gets a place or key; one that was taken away gets another place."""
    if not trace.is_as_found(owner):
        return
    if isinstance(owner, dict):
        before = owner.get(key, MISSING)
        if before is not MISSING and key not in trace.content(owner):
            trace.read_content(owner)
    elif -len(owner) <= key < len(owner):
        before = owner[key]
    else:  # one that the call has put there: which it is depends on how many there were
        trace.read_length(owner)
        return
    if before is value:
        trace.read_item(owner, key, value)


def is_lazy(trace: Trace, iterable: Any) -> bool:
    """Whether code of the user's may run between two items: a generator, a map, an iterator."""
    kind = type(iterable)
    row = info(kind)
    # What holds its items: nothing of the user's runs while they are taken.
    is_own = kind in (tuple, SymbolicSequence, Union) or row.is_traced or row.state == "array"
    is_whole = row.is_container or row.is_atom or is_own or row.family == "set"
    return not is_whole and trace.view_of(iterable) is None


def each(trace: Trace, iterable: Any, take: Callable[[Any], Any]) -> None:
    """Call `take` with each item, before the next one is asked for."""
    trace.for_(iterable, None, lambda item: (take(item), ())[1], (), ())


def when(trace: Trace, flag: Any, run: Callable[[], Any]) -> None:
    """Call `run` where a flag holds."""
    trace.if_exp(flag, lambda: (run(), None)[1], lambda: None)


def held(trace: Trace, owner: Any) -> Any:
    """What a container holds; of one from outside that is a read of all."""
    if type(owner) in (tuple, frozenset, SymbolicSequence):
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
    item = trace.known(item)
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
        trace.alias_tracker.put(content, item, element)
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
    made = trace.made(emptied(kind, like))
    if type(content) is SymbolicSequence:
        trace.hold(made, SymbolicSequence(kind, content.element, content.arrays, made))
    else:
        made += content
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


def joined(trace: Trace, left: Any, right: Any, kind: type) -> Any:
    """Two lists, one after the other: a SymbolicSequence, or a list of Python where both are."""
    if type(left) is not SymbolicSequence and type(right) is not SymbolicSequence:
        return [*left, *right]
    first, second = as_dynamic(trace, left, kind), as_dynamic(trace, right, kind)
    if first.element is None:
        return SymbolicSequence(kind, second.element, second.arrays, first.like)
    if second.element is None:
        return first
    element = of_both(first.element, second.element)
    are_one = trace.alias_tracker.are_linked(first.element, second.element)
    trace.alias_tracker.fix(element if are_one else None)
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
    kinds = [one.kind if type(one) is SymbolicSequence else type(one) for one in (left, right)]
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
    trace.alias_tracker.fix(whole.element)
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
    trace.locations.enter([borrowed.item])
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
    content, is_box = trace.content(owner), trace.locations.is_box(item)
    if type(content) is not SymbolicSequence and not is_box:
        trace.writable(owner).append(item)
        return
    new = with_item(trace, _of_length(trace, owner), item, F.array_append)
    trace.write(owner, CONTENT, new)
    trace.alias_tracker.give(owner, -1, item, new.element)


def put_at(trace: Trace, owner: Any, index: Any, item: Any) -> None:
    """Set the element at a place that the list has."""
    if type(trace.content(owner)) is not SymbolicSequence and type(index) is int:
        trace.writable(owner)[index] = item  # be it MISSING, of which `set_item` makes a `del`
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
    length = length_of(trace, as_dynamic(trace, trace.content(owner), type(owner)))
    if type(index) is int:
        return trace.add(length, index)
    whole = trace.tracer.local(scalar(trace, index))
    return F.where(F.less_than(whole, 0), whole + length, whole)


def set_slice_of(trace: Trace, owner: Any, index: slice, items: Any) -> None:
    """`owner[start:stop] = items` of a list of a length; `del owner[start:stop]` without items."""
    if index.step not in (None, 1):
        raise ConversionError(
            "a slice with a step is assigned in a list whose length depends on a tensor",
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
        kind, container = Indexed, Indexed(len(container), partial(trace.item, container))
    if kind is Indexed:
        return trace.any_in(
            lambda place: trace.equals(container.item(place), item), container.length
        )
    if type(item) is Union:
        return trace.map_cases(lambda one: contains(trace, one, container), item)
    if type(item) is Text:
        return container in item  # refused, in its words
    return item in trace.native(container)


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
        same = trace.call(methods.are_equal, *whole)
        return same if name == "eq" else trace.not_(same)
    return trace.call(methods.in_order, getattr(operator, name), *whole)


# -- methods --------------------------------------------------------------------------------------


def _is_known(content: Any, *numbers: Any) -> bool:
    """Whether a list of Python is changed at a place of Python."""
    return type(content) is not SymbolicSequence and Variable not in map(type, numbers)


@method_row(list, deque)
def _append(trace: Trace, owner: Any, item: Any) -> None:
    content, item = trace.writable(owner), trace.known(item)
    if type(content) is not SymbolicSequence:
        content.append(item)
        return
    new = with_item(trace, content, item, F.array_append)
    replaced(trace, owner, new)
    trace.alias_tracker.give(owner, -1, item, new.element)


@method_row(list, deque)
def _insert(trace: Trace, owner: Any, index: Any, item: Any) -> None:
    content = to_move(trace, owner)
    if _is_known(content, index):
        content.insert(index, item)
        return
    if type(owner) is deque and owner.maxlen is not None:
        raise ConversionError(
            "insert() of a deque with maxlen whose length depends on a tensor",
            why="whether it is full is known only when the Program runs",
            hint="use a list, and cut it: items = items[-most:]",
        )
    put, item = lambda array, leaf: F.array_insert(array, index, leaf), trace.known(item)
    new = with_item(trace, whole_of(trace, owner, content), item, put)
    replaced(trace, owner, new)
    trace.alias_tracker.put(owner, item, new.element)


@method_row(deque)
def _appendleft(trace: Trace, owner: Any, item: Any) -> None:
    _extendleft(trace, owner, [item])


@method_row(deque)
def _extendleft(trace: Trace, owner: Any, items: Any) -> None:
    if is_lazy(trace, items):
        each(trace, items, lambda item: _extendleft(trace, owner, [item]))
        return
    new = trace.listed(items)
    content = to_move(trace, owner)
    if type(content) is not SymbolicSequence and type(new) is not SymbolicSequence:
        content.extendleft(new)
        return
    flipped = of_each(trace, as_dynamic(trace, new, list), _flipped)
    found = joined(trace, flipped, content, deque)
    if owner.maxlen is not None:  # what is too much leaves at the end
        found = of_each(trace, found, lambda array: F.array_slice(array, 0, owner.maxlen))
    replaced(trace, owner, found)


def _flipped(array: Variable) -> Any:
    return F.array_slice(array, None, None, -1)


@method_row(list, deque)
def _extend(trace: Trace, owner: Any, items: Any) -> None:
    if is_lazy(trace, items):
        each(trace, items, lambda item: _append(trace, owner, item))
        return
    other = trace.listed(items)
    content = trace.writable(owner)
    if type(content) is not SymbolicSequence and type(other) is not SymbolicSequence:
        content.extend(other)
        return
    replaced(trace, owner, joined(trace, content, other, type(owner)))


@method_row(list, deque, name="__iadd__")
def _add_in_place(trace: Trace, owner: Any, items: Any) -> Any:
    _extend(trace, owner, items)
    return owner


@method_row(list, deque, name="__imul__")
def _repeat_in_place(trace: Trace, owner: Any, times: Any) -> Any:
    content = to_move(trace, owner)
    if _is_known(content, times) and isinstance(times, int):
        content *= times
        return owner
    made = repeat(trace, owner, times)
    if made is NotImplemented:
        raise TypeError(f"can't multiply sequence by non-int of type {type(times).__name__!r}")
    replaced(trace, owner, trace.content(made))
    return owner


@method_row(list, deque)
def _pop(trace: Trace, owner: Any, index: Any = -1) -> Any:
    check_index(index)
    content = trace.content(owner)
    is_last = type(index) is int and index == -1
    # None moves where the last one goes, that the call itself has put there.
    if not is_last or type(content) is not type(owner) or len(content) <= len(owner):
        trace.read_content(owner)
    content = trace.writable(owner)
    if _is_known(content, index):
        return content.pop() if type(owner) is deque else content.pop(index)
    content = whole_of(trace, owner, content)
    if content.element is None:
        raise IndexError(empty_words(content.kind))
    check_place(trace, content, index, "pop")
    pairs = [F.array_pop(trace.tracer.local(array), index) for array in content.arrays]
    arrays = [array for array, _ in pairs]
    trace.hold(owner, SymbolicSequence(content.kind, content.element, arrays, content.like))
    found = build(trace, content.element, iter([item for _, item in pairs]))
    return trace.alias_tracker.take_out(owner, found)


@method_row(deque)
def _popleft(trace: Trace, owner: Any) -> Any:
    content = to_move(trace, owner)
    return content.popleft() if type(content) is not SymbolicSequence else _pop(trace, owner, 0)


@method_row(deque)
def _rotate(trace: Trace, owner: Any, steps: Any = 1) -> None:
    content = to_move(trace, owner)
    if _is_known(content, steps):
        content.rotate(steps)
        return
    whole = whole_of(trace, owner, content)
    length = length_of(trace, whole)
    place = length - steps % F.maximum(length, 1)
    iteration = lambda a: F.array_extend(F.array_slice(a, place), F.array_slice(a, 0, place))  # noqa: E731
    replaced(trace, owner, of_each(trace, whole, iteration))


@method_row(list, deque)
def _reverse(trace: Trace, owner: Any) -> None:
    content = to_move(trace, owner)
    if type(content) is not SymbolicSequence:
        content.reverse()
        return
    replaced(trace, owner, of_each(trace, content, _flipped))


@function_row(list)
def _list(trace: Trace, iterable: Any = ()) -> Any:
    return new_list(trace, trace.listed(iterable))


@function_row(tuple)
def _tuple(trace: Trace, iterable: Any = ()) -> Any:
    return iterable if type(iterable) is tuple else new_list(trace, trace.listed(iterable), tuple)


@function_row(deque)
def _deque(trace: Trace, iterable: Any = (), maxlen: Any = None) -> Any:
    made = trace.made(deque(maxlen=maxlen))
    _extend(trace, made, trace.listed(iterable))
    return made


# -- where an element is ----------------------------------------------------------------------


@method_row(list, deque, tuple, SymbolicSequence)
def _count(trace: Trace, owner: Any, item: Any) -> Any:
    def iteration(one: Any, total: Any) -> tuple[Any]:
        return (trace.add(total, trace.if_exp(_is_same(trace, one, item), lambda: 1, lambda: 0)),)

    return trace.for_(owner, None, iteration, (0,), ("the count",))[0]


def _is_same(trace: Trace, one: Any, item: Any) -> Any:
    return True if one is item else trace.truth_value(trace.eq(one, item))


@method_row(list, deque, tuple, SymbolicSequence)
def _index(trace: Trace, owner: Any, item: Any, start: Any = 0, stop: Any = None) -> Any:
    return _place_of(trace, owner, "index", item, start, stop)


@method_row(list, deque)
def _remove(trace: Trace, owner: Any, item: Any) -> None:
    trace.del_item(owner, _place_of(trace, owner, "remove", item, 0, None))


def _place_of(trace: Trace, owner: Any, name: str, item: Any, start: Any, stop: Any) -> Any:
    """Where the first element stands that is equal; where there is none, the method's error."""
    content, kind = held(trace, owner), getattr(owner, "kind", type(owner))
    try:
        getattr(kind(), name)(item if info(type(item)).is_plain else ...)
    except ValueError as error:
        words = str(error).replace("Ellipsis", "x")
    if type(content) is SymbolicSequence or any(isinstance(n, Variable) for n in (start, stop)):
        whole = as_dynamic(trace, content, kind)
        return trace.call(methods.place_of, whole, item, start, stop, words)
    # Of a list of Python all elements are asked side by side: a loop in Python would nest as many
    # branches as there are elements.
    answers: list[tuple[int, Any]] = []
    for place in range(len(content))[start:stop]:
        answers.append((place, _is_same(trace, content[place], item)))
        if answers[-1][1] is True:
            break
    # From the last to the first: the first that holds has the last word.
    found: Any = -1
    for place, same in reversed(answers):
        if same is True:
            found = place
        elif same is not False:
            found = F.where(trace.tracer.variable(same), place, found)
            found.number = int
    check(trace, found >= 0, ValueError(words))
    return found
