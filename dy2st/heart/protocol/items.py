"""Items: `o[i]`, its assignment and deletion."""

from __future__ import annotations

from collections import defaultdict, deque
from operator import delitem, setitem
from types import FunctionType
from typing import Any

from dy2st.heart.kinds.dicts import DICTS as _DICTS
from dy2st.heart.kinds.dicts import refuse_moved
from dy2st.heart.kinds.entries import may_be_missing, there
from dy2st.heart.kinds.layers import held_in_order
from dy2st.heart.kinds.lists import (
    as_dynamic,
    held,
    item_of,
    new_list,
    set_item_of,
    set_slice_of,
    whole_of,
)
from dy2st.heart.kinds.outward import refuse_change
from dy2st.heart.protocol.attributes import method
from dy2st.heart.protocol.bracket import bracketed
from dy2st.heart.protocol.calls import call
from dy2st.heart.protocol.keys import is_traced_key, refuse_new_key, value_at
from dy2st.heart.protocol.unions import known, spread
from dy2st.heart.stage.branch import stage_if
from dy2st.heart.stage.checks import check_place
from dy2st.heart.trace import MISSING, Trace
from dy2st.heart.values.layout import is_traced_number
from dy2st.heart.values.special import Dynamic, Union
from dy2st_runtime.ir import F, Tensor


def item(trace: Trace, owner: Any, index: Any) -> Any:
    """`owner[index]`."""
    kind = type(owner)
    if kind is Union or type(index) is Union:
        return spread(
            trace, lambda o, i: item(trace, o, i), known(trace, owner), known(trace, index)
        )
    if kind in (list, tuple, deque, Dynamic):
        return _of_sequence(trace, owner, index)
    if kind in _DICTS:
        return _of_dict(trace, owner, index)
    if isinstance(owner, Tensor):
        return owner[trace.exported((index,))[0]]
    own = getattr(kind, "__getitem__", None)
    if type(own) is FunctionType:
        inner = held_in_order(trace, owner, "__getitem__") if _is_traced(index) else None
        if inner is not None:
            return _of_sequence(trace, trace.made([*inner]), index)
        return call(trace, own, owner, index)
    if isinstance(owner, type) and own is None:
        return owner[index]  # type: ignore[index]
    if is_traced_number(index) and isinstance(owner, (str, range)):
        return _of_sequence(trace, tuple(owner), index)
    index = trace.exported((index,))[0]
    return bracketed(trace, [owner], lambda: trace.native(owner)[index])


def _of_sequence(trace: Trace, owner: Any, index: Any) -> Any:
    is_slice = isinstance(index, slice)
    is_traced = _is_traced(index)
    content = owner if type(owner) in (tuple, Dynamic) else trace.content(owner)
    kind = type(owner)
    if type(content) is Dynamic:
        found = item_of(trace, content, index)
        is_part = is_slice or kind is Dynamic  # of a tuple, or a new list
        return found if is_part else trace.lend(owner, index, found)
    if is_traced and not is_slice:
        return _chosen(trace, held(trace, owner), index, kind)
    if is_traced:
        return item_of(trace, as_dynamic(trace, held(trace, owner), kind), index)
    if is_slice:
        return new_list(trace, held(trace, owner)[index], kind)
    index = index if type(index) is int else _as_index(trace, index)
    if kind is tuple:
        return content[index]
    if not -len(content) <= index < len(content):
        trace.read_length(owner)
    return trace.read_item(owner, index, content[index])


def _is_traced(index: Any) -> bool:
    """Whether the Program computes an index, or an end of a slice."""
    parts = (index.start, index.stop, index.step) if isinstance(index, slice) else (index,)
    return any(is_traced_number(part) or isinstance(part, Tensor) for part in parts)


def _as_index(trace: Trace, index: Any) -> Any:
    own = getattr(type(index), "__index__", None)
    return call(trace, own, index) if type(own) is FunctionType else index


def _chosen(trace: Trace, content: Any, index: Any, kind: type) -> Any:
    """`content[index]` of things of Python, by a number of the Program: a case split."""
    if not content:
        raise IndexError(f"{kind.__name__} index out of range")
    number = trace.tracer.variable(index)
    number = F.where(F.less_than(number, 0), number + len(content), number)

    def pick(start: int, stop: int) -> Any:
        if stop - start == 1:
            return content[start]
        middle = (start + stop) // 2
        pred = F.less_than(trace.tracer.local(number), middle)
        sides = (lambda: (pick(start, middle),)), (lambda: (pick(middle, stop),))
        return stage_if(trace, pred, *sides, (), ("an element",))[0]

    outside = F.logical_or(F.less_than(number, 0), F.greater_equal(number, len(content)))
    trace.tracer.check(F.logical_not(outside), IndexError(f"{kind.__name__} index out of range"))
    return pick(0, len(content))


def _of_dict(trace: Trace, owner: Any, key: Any) -> Any:
    if "__builtins__" in owner and type(key) is str and (id(owner), key) in trace.over:
        value = trace.held(owner, key)
        if value is MISSING:
            raise KeyError(key)
        return value
    content = trace.content(owner)
    if is_traced_key(key):
        trace.read_content(owner)
        return value_at(trace, content, key)
    found = trace.read_item(owner, key, content.get(key, MISSING))
    has_factory = type(owner) is defaultdict and owner.default_factory is not None
    if has_factory and may_be_missing(trace, found):
        return method(trace, owner, "setdefault", key, call(trace, owner.default_factory))
    if found is not MISSING:
        return there(trace, key, found)
    if has_factory:
        made = call(trace, owner.default_factory)
        set_item(trace, owner, key, made)
        return made
    raise KeyError(key)


def set_item(trace: Trace, owner: Any, index: Any, value: Any) -> None:
    """`owner[index] = value`."""
    kind = type(owner)
    if kind is Union or type(index) is Union:
        spread(
            trace,
            lambda o, i: set_item(trace, o, i, value),
            known(trace, owner),
            known(trace, index),
        )
        return
    if kind in (list, deque):
        _set_in_list(trace, owner, index, value)
        return
    if kind in _DICTS:
        if is_traced_key(index):
            raise refuse_new_key("a dict")
        if type(index) is str and (id(owner), index) in trace.over:  # a global that was assigned
            trace.write(owner, index, value)
            return
        refuse_moved(trace.content(owner), index)
        if "__builtins__" in owner:  # the globals of a module, which are written by name
            trace.write(owner, index, value)
        else:
            trace.writable(owner)[index] = value
        return
    own = getattr(kind, "__setitem__", None)
    if type(own) is FunctionType and not isinstance(owner, Tensor):
        call(trace, own, owner, index, value)
        return
    index, value = trace.exported((index, value))
    if isinstance(owner, Tensor):
        owner[index] = value
    else:
        refuse_change(trace, owner)
        bracketed(trace, [owner], lambda: setitem(owner, index, value))


def _set_in_list(trace: Trace, owner: Any, index: Any, value: Any) -> None:
    content = trace.writable(owner)
    if type(content) is not Dynamic and not _is_traced(index):
        if not isinstance(index, slice):
            content[index] = value
            return
        value = trace.listed(value)
        if type(value) is not Dynamic:
            content[index] = value
            return
    if isinstance(index, slice):
        set_slice_of(trace, owner, index, trace.listed(value))
    else:
        set_item_of(trace, owner, whole_of(trace, owner, content), index, value)


def del_item(trace: Trace, owner: Any, index: Any) -> None:
    """`del owner[index]`."""
    kind = type(owner)
    if kind is Union or type(index) is Union:
        spread(trace, lambda o, i: del_item(trace, o, i), known(trace, owner), known(trace, index))
        return
    if kind in (list, deque):
        content = trace.writable(owner)
        if type(content) is not Dynamic and not _is_traced(index):
            del content[index]
        elif isinstance(index, slice):
            set_slice_of(trace, owner, index, None)
        else:
            whole = whole_of(trace, owner, content)
            check_place(trace, whole, index, "assignment index")
            arrays = [F.array_delete(trace.tracer.local(a), index) for a in whole.arrays]
            trace.hold(owner, Dynamic(kind, whole.element, arrays, whole.like))
        return
    if kind in _DICTS:
        if is_traced_key(index):
            raise refuse_new_key("a dict")
        item(trace, owner, index)
        del trace.writable(owner)[index]
        return
    own = getattr(kind, "__delitem__", None)
    if type(own) is FunctionType:
        call(trace, own, owner, index)
        return
    index = trace.exported((index,))[0]
    refuse_change(trace, owner)
    bracketed(trace, [owner], lambda: delitem(owner, index))


__all__ = ["del_item", "item", "set_item"]
