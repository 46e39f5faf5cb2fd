"""Sets: of values of Python, tensors among them as the objects that they are, or keyed ones.

A set of ints that the data decides is gone through in the order of Python's table if it has only
grown, or was a range and has only lost elements. Of any other the Program cannot know the order, so
only such code may go through it as shows nobody in which order it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from dy2st.convert.kinds import traced_keys
from dy2st.convert.kinds.iterators import all_at_once
from dy2st.convert.kinds.lists import each, held, is_lazy, when
from dy2st.convert.kinds.table import SPECIAL, for_each, function_row, method_row, operator_row
from dy2st.convert.polyfills import methods
from dy2st.convert.trace import Trace
from dy2st.convert.types import info
from dy2st.convert.values.flatten import element_at
from dy2st.convert.values.layout import Number
from dy2st.convert.values.special import GROWN, ORDERED, Generated, Indexed, SymbolicSequence
from dy2st_runtime.errors import ConversionError


def elements(trace: Trace, iterable: Any) -> Any:
    """What is put into a set, in any order: values of Python, or a SymbolicSequence."""
    return trace.listed(in_any_order(trace, iterable))


def as_list(trace: Trace, content: Any) -> Any:
    """What a set holds as a list, whose order says nothing."""
    if type(content) is not SymbolicSequence or content.kind is not set:
        return content
    return SymbolicSequence(list, content.element, content.arrays)


def in_table_order(trace: Trace, owner: Any) -> Indexed:
    """The elements of a set that the data decides, in the order that Python's table gives ints."""
    content = traced_keys.content_of(trace, owner)
    if not _has_order(content):
        refuse_order()
    reads, asked = trace.state.reads, (id(content), 0)
    if asked not in reads:  # until something changes
        found = as_list(trace, content)
        found = trace.call(methods.in_table, found) if content.like is GROWN else found
        reads[asked] = content, None, trace.content(found)
    items = reads[asked][-1]
    item = lambda place: element_at(trace, items, place)  # noqa: E731
    return traced_keys.unchanged(trace, owner, item, items)


def _has_order(content: Any) -> bool:
    """Whether the Program can tell in which order Python's set gives what it holds."""
    element = getattr(content, "element", None)
    return isinstance(element, Number) and element.kind is int and content.like in (GROWN, ORDERED)


def without_order(trace: Trace, iterable: Any) -> SymbolicSequence | None:
    """The elements, as a list, of a set that the data decides and whose order nobody knows."""
    content = held(trace, iterable) if type(iterable) is set else None
    is_unknown = type(content) is SymbolicSequence and not _has_order(content)
    return as_list(trace, content) if is_unknown else None


def _source_of(iterable: Any) -> Any:
    """What generator expressions go through."""
    while type(iterable) is Generated:
        iterable = iterable.iterable
    return iterable


def _lose_order(trace: Trace, owner: Any) -> None:
    """Note that elements are taken away, or that many were put in at once."""
    content = trace.content(owner)
    for one in (owner, content):
        trace.origins.pop(id(one), None)
    if type(content) is SymbolicSequence and content.like is not None:
        trace.hold(owner, SymbolicSequence(set, content.element, content.arrays))


def refuse_order(*_: str) -> NoReturn:
    """For a loop over a set that the data decides."""
    raise ConversionError(
        "the code goes through a set whose elements the data decides",
        why="in which order Python's set gives them is not known to the Program",
        hint="go through sorted(...) of it, or keep a list beside it",
    )


def in_any_order(trace: Trace, iterable: Any, ends_early: bool = False) -> Any:
    """What a function takes to which the order of the items says nothing: of a set, a list.

    ends_early: the function may not ask for all of them.
    """
    if type(iterable) is set and _is_decided(trace, held(trace, iterable)):
        return as_list(trace, held(trace, iterable))
    if type(iterable) is not Generated or iterable.items is not None:
        return iterable
    items = in_any_order(trace, iterable.iterable)
    if items is iterable.iterable or _has_order(held(trace, _source_of(iterable))):
        return iterable
    unseen = trace.generate(iterable.generator, items, iterable.pushing, iterable.is_map)
    return all_at_once(trace, unseen, refuse_order, Exception if ends_early else KeyError)


def _is_decided(trace: Trace, items: Any) -> bool:
    return type(items) is SymbolicSequence or any(
        traced_keys.is_decided(trace, one) for one in items
    )


def _comparable(trace: Trace, iterable: Any) -> Any:
    """As `elements`, of what the Program can compare."""
    items = elements(trace, iterable)
    if type(items) is SymbolicSequence:
        traced_keys.check_keys(trace, items.element, set)
    return items


@function_row(set)
def _set(trace: Trace, iterable: Any = ()) -> Any:
    is_in_order, made = _comes_in_order(trace, iterable), trace.made(set())
    if type(iterable) is Generated and iterable.items is None:  # its items are added one by one
        found = iterable if is_in_order else in_any_order(trace, iterable)
    else:
        found = _comparable(trace, iterable)
        if trace.origins.get(id(iterable), (None, None))[1] is ORDERED:  # range(n)
            trace.hold(made, SymbolicSequence(set, found.element, found.arrays, ORDERED))
            return made
        if not _is_decided(trace, found):
            return trace.made(set(found))
    each(trace, found, lambda item: _add(trace, made, item))
    if not is_in_order:
        _lose_order(trace, made)
    return made


def _comes_in_order(trace: Trace, iterable: Any) -> bool:
    """Whether Python puts the items of an iterable into a set one by one, in a known order."""
    source = _source_of(iterable)
    if info(type(source)).family != "set":
        return info(type(iterable)).family != "dict"
    content = held(trace, source)
    return source is not iterable and (_has_order(content) or not _is_decided(trace, content))


@function_row(frozenset)
def _frozenset(trace: Trace, iterable: Any = ()) -> Any:
    found = elements(trace, iterable)
    if _is_decided(trace, found):
        raise ConversionError(
            "a frozenset is made of elements that the data decides",
            why="the Program has no value for it",
            hint="make a set, or a sorted tuple",
        )
    return frozenset(found)


@method_row(set)
def _add(trace: Trace, owner: Any, item: Any) -> None:
    item = trace.known(item)
    if traced_keys.is_decided(trace, item) or traced_keys.is_keyed(trace, owner):
        traced_keys.put(trace, owner, item)
    else:
        if trace.is_as_found(owner) and item in owner:
            held(trace, owner)  # it is there already
        trace.writable(owner).add(item)


@method_row(set)
def _discard(trace: Trace, owner: Any, item: Any) -> None:
    if traced_keys.is_decided(trace, item) or traced_keys.is_keyed(trace, owner):
        find: Any = lambda: traced_keys.found(trace, traced_keys.content_of(trace, owner), item)  # noqa: E731
        when(trace, find()[1], lambda: traced_keys.taken(trace, owner, find()[0]))
        return
    held(trace, owner)  # what it takes away depends on what was there
    _lose_order(trace, owner)
    trace.writable(owner).discard(item)


@method_row(set)
def _remove(trace: Trace, owner: Any, item: Any) -> None:
    if traced_keys.is_decided(trace, item) or traced_keys.is_keyed(trace, owner):
        traced_keys.taken(trace, owner, traced_keys.sure_place(trace, owner, item))
        return
    held(trace, owner)
    _lose_order(trace, owner)
    trace.writable(owner).remove(item)


@method_row(set)
def _pop(trace: Trace, owner: Any) -> Any:
    if traced_keys.is_keyed(trace, owner):
        refuse_order()
    held(trace, owner)
    _lose_order(trace, owner)
    return trace.writable(owner).pop()


# -- two sets -----------------------------------------------------------------------------------
_NAMES = {
    "__or__": "union",
    "__and__": "intersection",
    "__sub__": "difference",
    "__xor__": "symmetric_difference",
    "__le__": "issubset",
    "__ge__": "issuperset",
}


def _is_set(value: Any) -> bool:
    return info(type(value)).base.family in ("set", "keys")


def _found(trace: Trace, owner: Any, name: str, others: Any) -> Any:
    """What a method of two sets, or of views of dicts, gives: element by element."""
    owner, *others = (one if _is_set(one) else _set(trace, one) for one in (owner, *others))
    for other in others:
        items = [_comparable(trace, one) for one in (owner, other)]
        items = [one if type(one) is SymbolicSequence else list(one) for one in items]
        owner = trace.call(methods.OF_SETS[name], owner, other, *items)
        if type(owner) is set:
            _lose_order(trace, owner)
    return owner


@for_each(
    ("update", "union"),
    *(
        (f"{plain}_update", plain)
        for plain in ("difference", "intersection", "symmetric_difference")
    ),
)
def _changing(name: str, plain: str) -> None:
    one_by_one = {"update": _add, "difference_update": _discard}.get(name)

    @method_row(set, name=name)
    def row(trace: Trace, owner: Any, *others: Any) -> None:
        if plain != "union" or not all(_comes_in_order(trace, one) for one in others):
            _lose_order(trace, owner)
        if one_by_one is not None and any(is_lazy(trace, one) for one in others):
            for other in others:
                items = other if is_lazy(trace, other) else elements(trace, other)
                each(trace, items, lambda item: one_by_one(trace, owner, item))
            return
        # Before anything changes: one may be it.
        given = [_comparable(trace, one) for one in others]
        if not any(_is_decided(trace, one) for one in (*given, held(trace, owner))):
            getattr(trace.writable(owner), name)(*given)
        elif plain == "union":
            for one in given:
                each(trace, one, lambda item: _add(trace, owner, item))
        elif others:  # without any other, Python leaves the set as it is
            found = held(trace, _found(trace, owner, plain, given))
            trace.hold(owner, found)


@for_each(
    *("union", "difference", "intersection", "symmetric_difference"),
    *("issubset", "issuperset", "isdisjoint"),
)
def _asking(name: str) -> None:
    @method_row("set", name=name)
    def row(trace: Trace, owner: Any, *others: Any) -> Any:
        return _asked(trace, owner, name, others)


def _asked(trace: Trace, owner: Any, name: str, others: Sequence[Any]) -> Any:
    """What a method of sets gives: Python's own where it knows the elements."""
    if name in methods.STOPPING and len(others) == 1 and is_lazy(trace, others[0]):
        return trace.call(methods.STOPPING[name], owner, *others)
    # What is no set is gone through once.
    others = [one if _is_set(one) else elements(trace, one) for one in others]
    given = [elements(trace, one) for one in others]
    if any(_is_decided(trace, one) for one in (*given, held(trace, owner))):
        return _found(trace, owner, name, others)
    found = getattr(held(trace, owner), name)(*given)
    return trace.made(found or set()) if isinstance(found, set) else found


@method_row("keys", name="isdisjoint")
def _is_disjoint(trace: Trace, view: Any, other: Any) -> Any:
    return trace.call(methods.STOPPING["isdisjoint"], view, in_any_order(trace, other))


_COMPUTING = frozenset({"or_bits", "and_bits", "sub", "xor"})


@for_each(*SPECIAL.items())
def _operator(name: str, special: str) -> None:
    if not hasattr(set, special):
        return
    method = _NAMES.get(special, special)

    @operator_row(name, "set")
    def of_sets(trace: Trace, left: Any, right: Any) -> Any:
        if info(type(right)).family == "keys":
            return of_views(trace, left, right)
        if not isinstance(right, (set, frozenset)):
            return NotImplemented
        return _asked(trace, left, method, [right])

    # A view, on either side, makes new sets of whatever can be gone through; what it is compared
    # with, and what both have, is looked up in it, so that values need no hash.
    @operator_row(name, "keys")
    def of_views(trace: Trace, left: Any, right: Any) -> Any:
        view, other = (left, right) if info(type(left)).family == "keys" else (right, left)
        if name in _COMPUTING and hasattr(type(other), "__iter__"):
            if name == "and_bits":
                return trace.call(methods.selected, _comparable(trace, other), view, True)
            return of_sets(trace, _set(trace, left), _set(trace, right))
        if _is_set(other):
            return _found(trace, left, method, [right])
        is_unlike = name in ("eq", "ne") and type(other) in (list, tuple)
        return name == "ne" if is_unlike else NotImplemented


@method_row("set", name="__contains__")
def _contains(trace: Trace, owner: Any, item: Any) -> Any:
    content = trace.content(owner) if type(owner) is set else owner
    if type(content) is SymbolicSequence:
        return traced_keys.contains(trace, owner, item)
    if traced_keys.is_decided(trace, item):
        return trace.any_of(lambda one: trace.equals(one, item), [*held(trace, owner)])
    found = item in content
    if trace.is_outside(owner) and found == (item in owner):
        trace.read("has", owner, item, found)
    return found
