"""Methods of lists and deques, and of tuples whose length the data decides."""

from __future__ import annotations

from collections import deque
from typing import Any

from dy2st.convert.kinds.container_writes import each, is_lazy, to_cut, to_move
from dy2st.convert.kinds.lists import (
    as_dynamic,
    held,
    joined,
    length_of,
    new_list,
    of_each,
    repeat,
    replaced,
    whole_of,
    with_item,
)
from dy2st.convert.kinds.ordering import ordered
from dy2st.convert.kinds.table import method_row
from dy2st.convert.polyfills import lists_
from dy2st.convert.stage.checks import check_place
from dy2st.convert.trace import Trace
from dy2st.convert.values.flatten import build, copied
from dy2st.convert.values.layout import number_kind
from dy2st.convert.values.special import SymbolicSequence
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import F, Variable, user_location


def _is_known(content: Any, *numbers: Any) -> bool:
    """Whether a list of Python is changed at a place of Python."""
    return type(content) is not SymbolicSequence and not any(
        isinstance(n, Variable) for n in numbers
    )


@method_row(list, deque)
def _append(trace: Trace, owner: Any, item: Any) -> None:
    content = trace.writable(owner)
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
            at=user_location(),
            why="whether it is full is known only when the Program runs",
            hint="use a list, and cut it: items = items[-most:]",
        )
    put = lambda array, leaf: F.array_insert(array, index, leaf)  # noqa: E731
    new = with_item(trace, whole_of(trace, owner, content), item, put)
    replaced(trace, owner, new)
    trace.alias_tracker.keep_copied(copied(trace, item, new.element, trace), new.element)


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
    is_last = type(index) is int and index == -1
    content = to_cut(trace, owner) if is_last else to_move(trace, owner)
    if _is_known(content, index):
        return content.pop() if type(owner) is deque else content.pop(index)
    content = whole_of(trace, owner, content)
    if content.element is None:
        raise IndexError("pop from empty list")
    check_place(trace, content, index, "pop")
    pairs = [F.array_pop(trace.tracer.local(array), index) for array in content.arrays]
    trace.hold(
        owner, SymbolicSequence(content.kind, content.element, [a for a, _ in pairs], content.like)
    )
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
def _clear(trace: Trace, owner: Any) -> None:
    if type(trace.content(owner)) in (list, deque):
        trace.empty(owner)
    else:
        trace.hold(owner, [] if type(owner) is list else deque(maxlen=owner.maxlen))


@method_row(list, deque)
def _copy(trace: Trace, owner: Any) -> Any:
    return new_list(trace, held(trace, owner), type(owner), owner)


@method_row(list, deque)
def _reverse(trace: Trace, owner: Any) -> None:
    content = to_move(trace, owner)
    if type(content) is not SymbolicSequence:
        content.reverse()
        return
    replaced(trace, owner, of_each(trace, content, _flipped))


@method_row(list)
def _sort(trace: Trace, owner: Any, *, key: Any = None, reverse: Any = False) -> None:
    """As in Python, the list is empty for whoever looks at it meanwhile."""
    items = held(trace, owner)
    content = trace.writable(owner)
    if type(content) is SymbolicSequence:
        trace.hold(owner, [])
        replaced(trace, owner, ordered(trace, items, key, reverse))
        return
    items = list(items)
    content.clear()
    try:
        new = ordered(trace, items, key, reverse)
    except BaseException:  # any, Ctrl-C too: a list that could not be sorted is as it was
        content[:] = items
        raise
    was_changed = bool(content)
    content[:] = new
    if was_changed:
        raise ValueError("list modified during sort")


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
    found = place_of(trace, held(trace, owner), item, start, stop)
    if found is None:
        kind = owner.kind if type(owner) is SymbolicSequence else type(owner)
        is_shown = number_kind(item) is not None or isinstance(item, str)
        raise ValueError(f"{repr(item) if is_shown else 'x'} is not in {kind.__name__}")
    return found


@method_row(list, deque)
def _remove(trace: Trace, owner: Any, item: Any) -> None:
    found = place_of(trace, held(trace, owner), item, 0, None)
    if found is None:
        raise ValueError("list.remove(x): x not in list")
    trace.del_item(owner, found)


def place_of(trace: Trace, content: Any, item: Any, start: Any, stop: Any) -> Any:
    """Where the first element stands that is equal; None if surely nowhere; else it is checked."""
    if type(content) is SymbolicSequence or any(isinstance(n, Variable) for n in (start, stop)):
        whole = as_dynamic(trace, content, getattr(content, "kind", type(content)))
        return trace.call(lists_.place_of, whole, item, start, stop)
    # Of a list of Python all elements are asked side by side: a loop in Python would nest as many
    # branches as there are elements.
    places = range(len(content))[start:stop]
    answers: list[tuple[int, Any]] = []
    for place in places:
        same = _is_same(trace, content[place], item)
        if same is True and not answers:
            return place
        if same is not False:
            answers.append((place, same))
        if same is True:
            break
    if not answers:
        return None
    # From the last to the first: the first that holds has the last word.
    found: Any = trace.tracer.number(-1)
    for place, answer in reversed(answers):
        found = F.where(trace.tracer.variable(answer), place, found)
        found.number = int
    _check_found(trace, found)
    return found


def _check_found(trace: Trace, found: Any) -> None:
    flag = F.greater_equal(found, 0)
    trace.tracer.check(flag, ValueError("x is not in list"))
