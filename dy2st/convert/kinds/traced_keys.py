"""Dicts and sets whose keys the data decides, and entries of dicts that may be missing."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any

from dy2st.convert.effect_table import is_of_library
from dy2st.convert.kinds.lists import each, length_of, new_list, of_both, of_each, when, with_item
from dy2st.convert.kinds.scalars import is_traced_key
from dy2st.convert.kinds.text import as_codes
from dy2st.convert.polyfills import methods
from dy2st.convert.stage.branch import is_case
from dy2st.convert.stage.checks import map_cases, must
from dy2st.convert.trace import Trace, own_method
from dy2st.convert.types import info
from dy2st.convert.types.values import is_of_codes
from dy2st.convert.values.flatten import element_at, flatten
from dy2st.convert.values.layout import (
    Cases,
    Layout,
    Number,
    Parts,
    Reference,
    Same,
    SequenceLayout,
    count,
    has_code_points,
    has_objects,
    leaves_of,
    opened,
)
from dy2st.convert.values.special import MISSING, ORDERED, Indexed, SymbolicSequence, Union
from dy2st_runtime.errors import ConversionError, TensorAsPython
from dy2st_runtime.ir import F, Tensor, Variable
from dy2st_runtime.ir.choice import Text
from dy2st_runtime.ops.control_flow import cond

# -- entries that may be missing -----------------------------------------------------------------
# A branch has set or deleted them: each is one of several values, of which one is MISSING.


def may_be_missing(trace: Trace, value: Any) -> bool:
    """Whether an entry may be missing here."""
    gone = value.places_that_are(MISSING) if type(value) is Union else []
    return bool(gone) and not set(gone).isdisjoint(trace.cases_of(value))


def presence(trace: Trace, value: Any) -> Any:
    """Whether an entry is there: a bool, or one of the Program."""
    if value is MISSING:
        return False
    if not may_be_missing(trace, value):
        return True
    # A branch that has asked for the entry has ruled cases out: they do not count inside.
    gone = value.places_that_are(MISSING)
    there = [place for place in trace.cases_of(value) if place not in gone]
    return is_case(trace, value, *there) if there else False


def is_entry(trace: Trace, name: Any, value: Any, key: Any) -> Any:
    """Whether an entry is there and is that of a traced key."""
    here = trace.equals(name, key)
    if not may_be_missing(trace, value):
        return here
    return trace.and_(here, lambda: presence(trace, value))


def there(trace: Trace, key: Any, value: Any) -> Any:
    """An entry that must be there: KeyError where it is not."""
    must(trace, presence(trace, value), KeyError(key))
    return trace.known(value)


def there_or(trace: Trace, value: Any, default: Callable[[], Any]) -> Any:
    """An entry, or what else stands for it where it is missing."""
    flag = presence(trace, value)
    return trace.if_exp(flag, lambda: trace.known(value), default)


def is_sure(trace: Trace, content: Any) -> bool:
    """Whether all entries of a dict are there; a set holds what is there."""
    values = content.values() if isinstance(content, dict) else ()
    return Union not in map(type, values) or not any(may_be_missing(trace, one) for one in values)


def entry_count(trace: Trace, content: dict[Any, Any]) -> Any:
    """How many entries there are."""
    total: Any = 0
    for value in content.values():
        flag = presence(trace, value)
        total = trace.add(total, trace.if_exp(flag, lambda: 1, lambda: 0))
    return total


def gathered(trace: Trace, content: dict[Any, Any], take: Callable[[Any, Any], Any]) -> list[Any]:
    """A new list of what is taken of each entry that is there, by key and value."""
    out: list[Any] = trace.made([])
    add = lambda key, value: trace.call(out.append, take(key, trace.known(value)))  # noqa: E731
    for key, value in content.items():
        when(trace, presence(trace, value), partial(add, key, value))
    return out


def check_sure(trace: Trace, content: dict[Any, Any]) -> None:
    """Refuse entries that may be missing, where nothing can be done about it."""
    for key, value in content.items():
        if may_be_missing(trace, value):
            raise ConversionError(
                f"a dict is used as a whole whose entry {key!r} may be missing",
                why="a branch that depends on a tensor has set or deleted it",
                hint="give the entry a value before the branch, such as None",
            )


# -- keys that the data decides ------------------------------------------------------------------
# Pairs, or elements, are a SymbolicSequence in the order in which they came, and a key is found by
# going through them. A dict of Python becomes such a one when it first gets a key of the Program.

_NOTHING = object()


def is_decided(trace: Trace, key: Any) -> bool:
    """As `is_traced_key`, of a key that C code looks up: it asks the methods of its class."""
    if info(type(key)).is_plain:
        return False
    parts = (key, *key) if isinstance(key, tuple) else (key,)
    return is_traced_key(trace, key) or any([_is_written(trace, part) for part in parts])


def _is_written(trace: Trace, key: Any) -> bool:
    """Note what `__hash__` and `__eq__` of the user's read; whether only the trace knows it."""
    own = [own_method(trace, key, name) for name in ("__hash__", "__eq__")]
    users = [one for one in own if one is not None and not is_of_library(str(one.__module__))]
    reached = trace.note_reached((*users, key)) if users else ()
    written = {owner for owner, _ in trace.over}
    return any(id(one) in written for one in reached)


def is_keyed(trace: Trace, owner: Any) -> bool:
    """Whether the data decides which keys a dict, or elements a set, has."""
    return type(trace.content(owner)) is SymbolicSequence


def content_of(trace: Trace, owner: Any) -> SymbolicSequence:
    """What a dict or set holds, as pairs or elements of a length."""
    content = trace.content(owner)
    if type(content) is SymbolicSequence:
        return content
    trace.read_content(owner)
    held = opened(Same(owner, trace), is_content=True)
    like = getattr(held, "like", None) if type(owner) is set else None
    node = of_both(held, SequenceLayout(type(owner), None, like))
    if not isinstance(node, SequenceLayout):
        raise _no_key(type(owner))
    like = node.like if type(owner) is set else owner
    return SymbolicSequence(type(owner), node.element, flatten(trace, owner, node, trace), like)


def found(trace: Trace, content: SymbolicSequence, key: Any) -> tuple[Any, Any]:
    """Where a key stands, behind the last place if nowhere, and whether it stands somewhere.

    What was looked for on a path is known there until something changes: `if key in d: d[key]`.
    """
    parts = key if isinstance(key, tuple) else (key,)
    key = _as_codes(trace, key)
    written = key if isinstance(key, tuple) else (key,)
    if any(type(part) is Text and not is_of_codes(part) for part in written):
        raise TensorAsPython(
            "a text with values of tensors in it is a key of a dict or set",
            why="it is known only when the Program runs",
            hint="use the numbers that it is made of as the key: a tuple of int(...)",
        )
    if content.element is None:
        return 0, False
    asked, reads = (id(content), *map(id, parts)), trace.state.reads
    if asked not in reads:
        place = _place_of(trace, content, key)
        is_there = trace.lt(place, length_of(trace, content))
        reads[asked] = content, parts, (place, is_there)
    return reads[asked][-1]  # type: ignore[no-any-return]


def _as_codes(trace: Trace, key: Any) -> Any:
    """A key as a table has it: of texts with integers in them the characters."""
    if type(key) is tuple:
        return tuple(_as_codes(trace, one) for one in key)
    if type(key) is Union and any(getattr(one, "kind", None) is Text for one in key.layouts):
        return trace.map_cases(lambda one: as_codes(trace, one), key)
    return as_codes(trace, key)


def _place_of(trace: Trace, content: SymbolicSequence, key: Any) -> Any:
    length, is_dict = length_of(trace, content), content.kind is not set

    def differs(place: Any) -> Any:
        one = element_at(trace, content, place)
        return trace.not_(trace.equals(one[0] if is_dict else one, key))

    more = lambda place: trace.and_(trace.lt(place, length), lambda: differs(place))  # noqa: E731
    iteration = lambda place: (trace.add(place, 1),)  # noqa: E731
    return trace.while_(more, iteration, (0,), ("the place of a key",))[0]


def contains(trace: Trace, owner: Any, key: Any) -> Any:
    """`key in owner`."""
    return found(trace, content_of(trace, owner), key)[1]


def put(trace: Trace, owner: Any, key: Any, *value: Any) -> None:
    """Let a dict hold a pair, or a set an element, in the place of its key or behind all others."""
    content = content_of(trace, owner)
    place, is_old = found(trace, content, key)
    key = _as_codes(trace, key)
    item = (key, *value) if value else key
    pairs = with_item(trace, content, item, lambda array, leaf: (array, leaf))
    assert pairs.element is not None
    check_keys(trace, pairs.element, content.kind)
    # A key that is there keeps its place and itself, as in Python: 1 stays 1 where True is set.
    if content.kind is set:
        first = max(1, count(pairs.element))
    else:
        assert isinstance(pairs.element, Parts)
        first = count(pairs.element.items[0])

    def written() -> list[Variable]:
        local = [(trace.tracer.local(array), leaf) for array, leaf in pairs.arrays]
        changed = [F.array_write(array, place, leaf) for array, leaf in local[first:]]
        return [*(array for array, _ in local[:first]), *changed]

    def added() -> list[Variable]:
        return [F.array_append(array, leaf) for array, leaf in pairs.arrays]

    new = cond(trace.tracer.variable(trace.truth_value(is_old)), written, added)
    like = None if content.like is ORDERED else content.like
    trace.hold(owner, SymbolicSequence(content.kind, pairs.element, new, like))
    trace.alias_tracker.give(owner, place, item, pairs.element)


def check_keys(trace: Trace, element: Layout | None, kind: type) -> None:
    """Refuse keys, or elements of a set, that the Program cannot compare."""
    if element is None or (kind is not set and not leaves_of(element)):
        return
    key = element if kind is set else leaves_of(element)[0]
    if not _is_key(trace, key):
        raise _no_key(kind)


def _no_key(kind: type) -> ConversionError:
    return ConversionError(
        f"a {kind.__name__} whose keys the data decides gets a key that is a tensor or object",
        why="the Program can compare numbers, texts, and tuples and frozen dataclasses of them",
        hint="make a number of it, int(key), or a tuple of what tells one from the other",
    )


def _is_of_fields(kind: Any) -> bool:
    """Whether a frozen dataclass has made `__eq__` and `__hash__` of its fields."""
    made = [getattr(getattr(kind, name), "__code__", None) for name in ("__eq__", "__hash__")]
    is_made = all(code is not None and not code.co_filename.endswith(".py") for code in made)
    return is_made and bool(kind.__dataclass_params__.frozen)


def _is_key(trace: Trace, node: Layout) -> bool:
    if isinstance(node, Same):
        return not isinstance(node.value, Tensor)
    if isinstance(node, Number) or has_code_points(node):
        return True
    kind: Any = getattr(node, "kind", None)
    items = leaves_of(node)
    if isinstance(node, (Parts, Reference)) and _is_of_fields(kind):
        fields = [one.name for one in kind.__dataclass_fields__.values() if one.compare]
        if isinstance(node, Parts):
            items = [item for name, item in zip(node.names, items, strict=True) if name in fields]
        else:
            columns = [Same(node.columns[name], trace) for name in fields if name in node.columns]
            items = [opened(item) for one in columns for item in leaves_of(opened(one))]
    elif isinstance(node, Reference):  # which one it is, tells one from the other
        return bool(kind.__eq__ is object.__eq__)
    elif not isinstance(node, Cases) and not issubclass(kind or object, tuple):
        return False
    return all(_is_key(trace, item) for item in items)


def sure_place(trace: Trace, owner: Any, key: Any) -> Any:
    """Where a key stands; KeyError where it is not there."""
    content = content_of(trace, owner)
    place, is_there = found(trace, content, key)

    def check(*parts: Any) -> None:
        must(trace, is_there, KeyError(parts if type(key) is tuple else parts[0]))

    map_cases(trace, check, *(key if type(key) is tuple else (key,)))  # each may be one of several
    return place


def taken(trace: Trace, owner: Any, place: Any) -> None:
    """Take a key away."""
    new = of_each(trace, content_of(trace, owner), lambda array: F.array_delete(array, place))
    new.like = owner if type(owner) is not set else ORDERED if new.like is ORDERED else None
    trace.hold(owner, new)


def pair_at(trace: Trace, owner: Any, place: Any) -> Any:
    """The pair at a place; what it holds may be changed in place."""
    return trace.alias_tracker.borrow_element(
        owner, place, element_at(trace, content_of(trace, owner), place)
    )


def item(trace: Trace, owner: Any, key: Any) -> Any:
    """`owner[key]`."""
    if type(owner) is defaultdict and owner.default_factory is not None:
        return setdefault(trace, owner, key, None, owner.default_factory)
    return pair_at(trace, owner, sure_place(trace, owner, key))[1]


def get(trace: Trace, owner: Any, key: Any, default: Any = None) -> Any:
    """`owner.get(key, default)`."""
    content = content_of(trace, owner)
    place, is_there = found(trace, content, key)
    return trace.if_exp(is_there, lambda: element_at(trace, content, place)[1], lambda: default)


def setdefault(trace: Trace, owner: Any, key: Any, default: Any = None, factory: Any = None) -> Any:
    """`owner.setdefault(key, default)`."""

    def add() -> None:
        put(trace, owner, key, default if factory is None else trace.call(factory))

    trace.if_exp(contains(trace, owner, key), lambda: None, add)
    return pair_at(trace, owner, found(trace, content_of(trace, owner), key)[0])[1]


def taken_pair(trace: Trace, owner: Any, place: Any) -> Any:
    """Take a pair away, which is given."""
    pair = element_at(trace, content_of(trace, owner), place)
    taken(trace, owner, place)
    return pair


def pop(trace: Trace, owner: Any, key: Any, default: Any = _NOTHING) -> Any:
    """`owner.pop(key, default)`."""
    if default is _NOTHING:
        return taken_pair(trace, owner, sure_place(trace, owner, key))[1]
    place, is_there = found(trace, content_of(trace, owner), key)
    return trace.if_exp(is_there, lambda: taken_pair(trace, owner, place)[1], lambda: default)


def popitem(trace: Trace, owner: Any, last: bool = True) -> Any:
    """`owner.popitem()`."""
    length = length_of(trace, content_of(trace, owner))
    must(trace, trace.gt(length, 0), KeyError("popitem(): dictionary is empty"))
    return taken_pair(trace, owner, trace.sub(length, 1) if last else 0)


def move_to_end(trace: Trace, owner: Any, key: Any, last: bool = True) -> None:
    """`owner.move_to_end(key, last)`."""
    pair = taken_pair(trace, owner, sure_place(trace, owner, key))
    change = F.array_append if last else lambda array, leaf: F.array_insert(array, 0, leaf)
    trace.hold(owner, with_item(trace, content_of(trace, owner), pair, change))


def copy(trace: Trace, owner: Any) -> Any:
    """`owner.copy()`; lists and objects in it would be kept twice, so they are refused."""
    content = content_of(trace, owner)
    # Numbers, texts and tensors never change, so both dicts may hold the same arrays.
    if content.element is not None and has_objects(content.element):
        raise ConversionError(
            f"a {type(owner).__name__} whose keys the data decides is copied, with lists or "
            "objects in it",
            why="the Program keeps them by value, and both would hold the same ones",
            hint="make the new one entry by entry, with copies",
        )
    return new_list(trace, content, type(owner), owner)


def is_equal(trace: Trace, left: Any, right: Any) -> Any:
    """`left == right` of two dicts; two OrderedDicts have the same order, too."""
    in_order = isinstance(left, OrderedDict) and isinstance(right, OrderedDict)
    return trace.call(methods.are_equal_dicts, left, right, in_order)


# -- going through it ---------------------------------------------------------------------------


def gone_through(
    trace: Trace, owner: Any, take: Callable[[Any], Any], are_pairs: bool = False
) -> Indexed:
    """What is taken of each pair, in their order; the keys must stay the same meanwhile."""
    before = content_of(trace, owner)
    whole = SymbolicSequence(list, before.element, before.arrays) if are_pairs else None
    return unchanged(trace, owner, lambda place: take(pair_at(trace, owner, place)), whole)


def unchanged(
    trace: Trace, owner: Any, item: Callable[[Any], Any], whole: SymbolicSequence | None
) -> Indexed:
    """Items by their places, as many as a dict or set has, and has at each iteration."""
    before = content_of(trace, owner)
    length = length_of(trace, before)
    word = "Set" if type(owner) is set else "dictionary"

    # Asked at each iteration, since the body may change the dict: Python raises then, too.
    def size() -> Any:
        now = content_of(trace, owner)
        if now is not before:
            same = F.equal(trace.tracer.local(length), length_of(trace, now))
            error = RuntimeError(f"{word} changed size during iteration")
            trace.tracer.check(same, error)
        return trace.tracer.local(length)

    return Indexed(size, item, whole)


def update(trace: Trace, owner: Any, pairs: Any) -> None:
    """Set all pairs of an iterable."""
    each(trace, pairs, lambda pair: trace.set_item(owner, *trace.unpack(pair, 2)))


ROWS: dict[str, Callable[..., Any]] = {
    row.__name__: row for row in (get, setdefault, pop, popitem, move_to_end)
} | {"__contains__": contains}
# They give an entry to a dict of Python, or take one away, whose key the Program computes.
CHANGING = frozenset({"setdefault", "pop", "move_to_end"})
