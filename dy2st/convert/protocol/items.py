"""Items: `o[i]`, its assignment and deletion."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from operator import delitem, setitem
from types import FunctionType
from typing import Any

import numpy as np

from dy2st.convert.kinds import traced_keys
from dy2st.convert.kinds.code_texts import as_codes, is_of_codes, part_of
from dy2st.convert.kinds.container_writes import note_put, note_slice, to_move
from dy2st.convert.kinds.dicts import factory_of, is_moved
from dy2st.convert.kinds.entries import may_be_missing, there, there_or
from dy2st.convert.kinds.layers import held_in_order
from dy2st.convert.kinds.lists import (
    as_dynamic,
    held,
    item_of,
    new_list,
    of_each,
    set_item_of,
    set_slice_of,
    whole_of,
)
from dy2st.convert.kinds.side_effects import refuse_change
from dy2st.convert.objects import is_namespace
from dy2st.convert.protocol.attributes import method
from dy2st.convert.protocol.calls import call
from dy2st.convert.protocol.materialise import with_overlay_materialised
from dy2st.convert.protocol.natives import value_at
from dy2st.convert.stage.branch import stage_if
from dy2st.convert.stage.cases import known
from dy2st.convert.stage.checks import check_place, map_cases
from dy2st.convert.trace import MISSING, Sizes, Trace, own_method, special
from dy2st.convert.types import info
from dy2st.convert.values.layout import Number, Same, is_traced_number, number_kind
from dy2st.convert.values.special import SymbolicSequence, Union
from dy2st_runtime.ir import F, Tensor
from dy2st_runtime.ir.choice import Text


def item(trace: Trace, owner: Any, index: Any) -> Any:
    """`owner[index]`."""
    kind = type(owner)
    if kind is Union or (type(index) is Union and info(kind).family != "dict"):
        return map_cases(
            trace, lambda o, i: item(trace, o, i), known(trace, owner), known(trace, index)
        )
    if kind in (list, tuple, deque, SymbolicSequence):
        return _of_sequence(trace, owner, index)
    if info(kind).family == "dict":
        return _of_dict(trace, owner, index)
    if isinstance(owner, Tensor):
        return owner[trace.exported((index,))[0]]
    owner = as_codes(trace, owner)
    if is_of_codes(owner) or (kind is str and _is_traced(index)):
        return part_of(trace, owner, index)
    own = special(trace, owner, "__getitem__")
    if type(own) is FunctionType:
        inner = held_in_order(trace, owner, "__getitem__") if _is_traced(index) else None
        if inner is not None:
            return _of_sequence(trace, trace.made([*inner]), index)
        return call(trace, own, owner, index)
    if isinstance(owner, type) and own is None:
        return owner[index]  # type: ignore[index]
    if is_traced_number(index) and isinstance(owner, range):
        return _of_sequence(trace, tuple(owner), index)
    traced_keys.refuse_native_key(trace, owner, (index,))
    index = trace.exported((index,))[0]
    if isinstance(owner, dict):
        has_entry = lambda: dict.__contains__(trace.native(owner), index)  # noqa: E731
        if not with_overlay_materialised(trace, [owner], has_entry, only_reads=True):
            # What `__missing__` gives, which Python's own dict would call untraced
            own = special(trace, owner, "__missing__")
            if type(own) is FunctionType:
                return call(trace, own, owner, index)
            factory = factory_of(trace, owner) if isinstance(owner, defaultdict) else None
            if factory is None:
                raise KeyError(index)
            made = call(trace, factory)
            set_item(trace, owner, index, made)
            return made

    def part() -> Any:
        held = trace.native(owner)
        return owner[index] if isinstance(owner, np.ndarray) else held[index]  # a view of it itself

    found = with_overlay_materialised(trace, [owner], part, only_reads=True)
    is_part = trace.is_outside(owner) and not isinstance(found, np.ndarray)
    return trace.mark_outside(found) if is_part else found


def _of_sequence(trace: Trace, owner: Any, index: Any) -> Any:
    index = _as_place(trace, owner, index)
    is_slice = isinstance(index, slice)
    is_traced = _is_traced(index)
    content = owner if type(owner) in (tuple, SymbolicSequence) else trace.content(owner)
    kind = type(owner)
    if type(content) is SymbolicSequence:
        found = item_of(trace, content, index) if is_slice else _read(trace, content, index)
        is_part = is_slice or kind is SymbolicSequence  # of a tuple, or a new list
        return found if is_part else trace.alias_tracker.borrow_element(owner, index, found)
    if is_traced and not is_slice:
        content = held(trace, owner)
        if not content:
            raise IndexError(f"{kind.__name__} index out of range")
        number = trace.tracer.variable(index)
        number = F.where(F.less_than(number, 0), number + len(content), number)

        # A case split by halves: an element is found in as many branches as the length has binary
        # digits.
        def pick(start: int, stop: int) -> Any:
            if stop - start == 1:
                return content[start]
            middle = (start + stop) // 2
            pred = F.less_than(trace.tracer.local(number), middle)
            sides = (lambda: (pick(start, middle),)), (lambda: (pick(middle, stop),))
            return stage_if(trace, pred, *sides, (), ("an element",))[0]

        outside = F.logical_or(F.less_than(number, 0), F.greater_equal(number, len(content)))
        trace.tracer.check(
            F.logical_not(outside), IndexError(f"{kind.__name__} index out of range")
        )
        return pick(0, len(content))
    if is_traced and type(content) in (list, tuple, deque) and not content:
        trace.read_length(owner)
        return new_list(trace, [], kind)  # whatever its ends are
    if is_traced:
        # A slice whose ends the data decides has a length that the data decides.
        return item_of(trace, as_dynamic(trace, held(trace, owner), kind), index)
    if is_slice:
        found = new_list(trace, held(trace, owner)[index], kind)
        return trace.sized(found) if trace.origin(owner, Sizes) else found
    if kind is tuple:
        return content[index]
    if not -len(content) <= index < len(content):
        # The error depends on the length: a longer list outside needs another Program.
        trace.read_length(owner)
    return trace.read_item(owner, index, content[index])


def _read(trace: Trace, content: SymbolicSequence, index: Any) -> Any:
    """An element; one of several numbers and constants is the one that was read there before."""
    key = id(content.arrays[0]), index if type(index) is int else id(index)
    reads = trace.state.reads
    if key in reads:
        return known(trace, reads[key][-1])
    found = item_of(trace, content, index)
    if type(found) is Union and all(isinstance(one, (Same, Number)) for one in found.layouts):
        # What a test has told of it is known where it is read again.
        reads[key] = content.arrays[0], index, found
    return found


def _is_traced(index: Any) -> bool:
    """Whether the Program computes an index, or an end of a slice."""
    return any(is_traced_number(part) or isinstance(part, Tensor) for part in _parts(index))


def _parts(index: Any) -> tuple[Any, ...]:
    return (index.start, index.stop, index.step) if isinstance(index, slice) else (index,)


def _as_place(trace: Trace, owner: Any, index: Any) -> Any:
    """What a sequence takes as an index: a slice or number; of objects, what `__index__` gives."""
    kind = owner.kind if type(owner) is SymbolicSequence else type(owner)
    parts = _parts(index)
    if any(number_kind(part) is float for part in parts if isinstance(part, Tensor)):
        kind()[slice(0.0) if type(index) is slice else 0.0]  # raises what Python raises
    if type(index) in (int, slice) or _is_traced(index):
        return index
    if not hasattr(type(index), "__index__"):
        kind()["" if type(index) is Text else index]
    own = own_method(trace, index, "__index__")
    return index if own is None else call(trace, own, index)


def _of_dict(trace: Trace, owner: Any, key: Any) -> Any:
    if is_namespace(owner) and type(key) is str and (id(owner), key) in trace.over:
        value = trace.held(owner, key)
        if value is MISSING:
            raise KeyError(key)
        return value
    key = known(trace, key)
    content = trace.content(owner)
    has_factory = type(owner) is defaultdict and owner.default_factory is not None
    if type(content) is SymbolicSequence or (has_factory and traced_keys.is_decided(trace, key)):
        return traced_keys.item(trace, owner, key)
    if type(key) is Union:
        return map_cases(trace, lambda one: _of_dict(trace, owner, one), key)
    none = (lambda: 0) if type(owner) is Counter else None
    if traced_keys.is_decided(trace, key):
        trace.read_content(owner)
        return value_at(trace, content, key, none)
    found = trace.read_item(owner, key, content.get(key, MISSING))
    if has_factory and may_be_missing(trace, found):
        return method(trace, owner, "setdefault", key, call(trace, factory_of(trace, owner)))
    if none is not None:
        return there_or(trace, found, none)
    if found is not MISSING:
        return there(trace, key, found)
    if has_factory:
        made = call(trace, factory_of(trace, owner))
        set_item(trace, owner, key, made)
        return made
    raise KeyError(key)


def set_item(trace: Trace, owner: Any, index: Any, value: Any) -> None:
    """`owner[index] = value`."""
    kind = type(owner)
    if kind is Union or (type(index) is Union and info(kind).family != "dict"):
        map_cases(
            trace,
            lambda o, i: set_item(trace, o, i, value),
            known(trace, owner),
            known(trace, index),
        )
        return
    if kind in (list, deque):
        _set_in_list(trace, owner, index, value)
        return
    if info(kind).family == "dict":
        _set_in_dict(trace, owner, known(trace, index), value)
        return
    own = own_method(trace, owner, "__setitem__")
    if own is not None:
        call(trace, own, owner, index, value)
        return
    traced_keys.refuse_native_key(trace, owner, (index,))
    index, value = trace.exported((index, value))
    if isinstance(owner, Tensor):
        owner[index] = value
    else:
        refuse_change(trace, owner)
        with_overlay_materialised(trace, [owner], lambda: setitem(owner, index, value))


def _set_in_dict(trace: Trace, owner: Any, key: Any, value: Any) -> None:
    is_assigned = type(key) is str and (id(owner), key) in trace.over
    if is_assigned or is_namespace(owner):
        trace.write(owner, key, value)
    elif type(key) is Union and _has_all(trace, owner, key):
        # Every case has its entry, so the keys of the dict stay as they are.
        map_cases(trace, lambda one: _set_in_dict(trace, owner, one, value), key)
    elif traced_keys.is_decided(trace, key) or is_moved(trace, owner, key):
        traced_keys.set_item(trace, owner, key, value)
    else:
        note_put(trace, owner, key, value)
        trace.writable(owner)[key] = value


def _has_all(trace: Trace, owner: Any, key: Union) -> bool:
    """Whether a dict surely has an entry for each text or number that a key can be."""
    content = trace.content(owner)
    if type(content) is SymbolicSequence:
        return False
    nodes = [key.layouts[place] for place in trace.cases_of(key)]
    names = [node.value for node in nodes if isinstance(node, Same)]
    found = [content.get(name, MISSING) for name in names]
    sure = [one is not MISSING and not may_be_missing(trace, one) for one in found]
    return len(names) == len(nodes) and all(sure)


def _set_in_list(trace: Trace, owner: Any, index: Any, value: Any) -> None:
    index = _as_place(trace, owner, index)
    content = trace.writable(owner)
    if type(content) is not SymbolicSequence and not _is_traced(index):
        if not isinstance(index, slice):
            note_put(trace, owner, index, value)
            content[index] = value
            return
        value = trace.listed(value)
        if type(value) is not SymbolicSequence:
            note_slice(trace, owner, content, index, value)
            content[index] = value
            return
    # Which elements move, and where to, depends on the whole list: all of it is read.
    to_move(trace, owner)
    if isinstance(index, slice):
        set_slice_of(trace, owner, index, trace.listed(value))
    else:
        set_item_of(trace, owner, whole_of(trace, owner, content), index, value)


def del_item(trace: Trace, owner: Any, index: Any) -> None:
    """`del owner[index]`."""
    kind = type(owner)
    if kind is Union or (type(index) is Union and info(kind).family != "dict"):
        map_cases(
            trace, lambda o, i: del_item(trace, o, i), known(trace, owner), known(trace, index)
        )
        return
    if kind in (list, deque):
        index = _as_place(trace, owner, index)
        content = to_move(trace, owner)
        if type(content) is not SymbolicSequence and not _is_traced(index):
            del content[index]
        elif isinstance(index, slice):
            set_slice_of(trace, owner, index, None)
        else:
            whole = whole_of(trace, owner, content)
            check_place(trace, whole, index, "assignment index")
            trace.hold(owner, of_each(trace, whole, lambda array: F.array_delete(array, index)))
        return
    if info(kind).family == "dict":
        if traced_keys.is_keyed(trace, owner) or traced_keys.is_decided(trace, index):
            traced_keys.del_item(trace, owner, index)
            return
        item(trace, owner, index)  # raises KeyError as Python does, and is a read of the entry
        if is_namespace(owner):
            trace.write(owner, index, MISSING)
        else:
            del trace.writable(owner)[index]
        return
    own = own_method(trace, owner, "__delitem__")
    if own is not None:
        call(trace, own, owner, index)
        return
    traced_keys.refuse_native_key(trace, owner, (index,))
    index = trace.exported((index,))[0]
    refuse_change(trace, owner)
    with_overlay_materialised(trace, [owner], lambda: delitem(owner, index))
