"""The least upper bound of two layouts: the one layout that values of both have.

`lub(a, b)` is `a` itself where it serves for both: so a loop has settled when nothing rises.

    equal constants stay; a number beside a 0-d tensor is a tensor; lists of unlike length are a
    list of a length; unlike things, and what is unbound on one side, are cases with a tag.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from operator import is_
from typing import Any

from dy2st.convert.types import info, same
from dy2st.convert.types.constants import CODES
from dy2st.convert.values.layout import (
    Cases,
    Layout,
    Leaf,
    Number,
    Parts,
    Reference,
    Same,
    SequenceLayout,
    View,
    as_value_layout,
    holds_itself,
    opened,
)
from dy2st.convert.values.special import MISSING, NOWHERE, Union
from dy2st_runtime.ir.choice import Text

MOST_CASES = 6
_MOST_OBJECTS = 64  # cases with those that are objects which others know, too
_MOST_TUPLES = 3  # of unlike lengths; two such values compared are nine pairs
_NUMBERS = "biuf"
_GROWING = ("list", "tuple", "set", "dict")


class Unlike(Exception):
    """Two values that no layout serves; `args` says why in a few words."""


class Lub:
    """Joins layouts; one pair of objects gives one object, so names for it stay names for one."""

    def __init__(self, widens: bool = False):
        """`widens`: tuples of unlike length become tuples of a length, as the iterations of a loop
        would make them longer for ever."""
        self._widens = widens
        self._pairs: dict[tuple[int, int], Layout] = {}
        self._open: set[tuple[int, int]] = set()  # pairs that are being joined
        self._chosen: list[Union] = []  # those that are being joined, from the outside in
        self._held: list[Layout] = []  # the ids in `_pairs` are those of living values

    def __call__(self, a: Layout, b: Layout) -> Layout:
        """The least layout above both."""
        if a is b:
            return a
        if isinstance(a, Same) and isinstance(b, Same):
            if same(a.value, b.value):
                return a
            key = id(a.value), id(b.value)
            if key in self._open:
                raise holds_itself(a.value)
            if key not in self._pairs:
                self._open.add(key)
                self._pairs[key] = self._joined(a, b)
                self._open.remove(key)
                self._held += [a, b]
            return self._pairs[key]
        return self._joined(a, b)

    def _joined(self, a: Layout, b: Layout) -> Layout:
        if _is_reference(a) and _is_reference(b):
            return Cases([a, b])
        left, right = opened(a), opened(b)
        if isinstance(left, Cases) or isinstance(right, Cases):
            chosen = [
                one.value for one in (a, b) if isinstance(one, Same) and type(one.value) is Union
            ]
            if any(one is other for one in chosen for other in self._chosen):
                raise holds_itself(chosen[0])
            self._chosen += chosen
            cases = [as_value_layout(a)]
            rises, is_whole = True, False
            if isinstance(left, Cases):
                cases, rises = self._merged(left.cases)
            for item in right.cases if isinstance(right, Cases) else [b]:
                rises = self._put(cases, as_value_layout(item)) or rises
            if len(cases) > MOST_CASES and all(map(_is_text, cases)):
                return code_text()
            if sum(_sequence_kind(opened(case)) is tuple for case in cases) > _MOST_TUPLES:
                cases, rises = self._with_one_tuple(cases), True
                is_whole = len(cases) == 1
            kinds = [case for case in cases if not _is_reference(case)]
            if len(kinds) > MOST_CASES or len(cases) > _MOST_OBJECTS:
                most = MOST_CASES if len(kinds) > MOST_CASES else _MOST_OBJECTS
                raise Unlike(f"one of more than {most} kinds of values")
            either = cases[0] if is_whole else Cases(cases) if rises else left
            del self._chosen[len(self._chosen) - len(chosen) :]
            return either
        joined = self._alike(left, right)
        if joined is None:
            return Cases([as_value_layout(a), as_value_layout(b)])
        # `left` itself says: nothing rises; but a value that was the same on all paths has risen.
        return joined

    def _with_one_tuple(self, cases: Sequence[Layout]) -> list[Layout]:
        """The cases, of which all tuples have become one of a length."""
        tuples = [opened(case) for case in cases if _sequence_kind(opened(case)) is tuple]
        others = [case for case in cases if _sequence_kind(opened(case)) is not tuple]
        grown = self._grown(tuples[0], tuples[1])
        for one in tuples[2:]:
            assert grown is not None
            grown = self._grown(grown, one)
        assert grown is not None
        return [*others, grown]

    def _alike(self, left: Layout, right: Layout) -> Layout | None:
        """The layout of two values of one kind; None if they are of two."""
        if isinstance(left, (Number, Leaf)) and isinstance(right, (Number, Leaf)):
            return _of_leaves(left, right)
        if isinstance(left, Reference) or isinstance(right, Reference):
            return left if left is right else None
        if isinstance(left, SequenceLayout) or isinstance(right, SequenceLayout):
            return self._grown(left, right)
        if is_code_text(left) or is_code_text(right):
            are_texts = _is_text(left) and _is_text(right)
            has_length = isinstance(left, Parts) and isinstance(left.items[0], SequenceLayout)
            return (left if has_length else code_text()) if are_texts else None
        if not (isinstance(left, Parts) and isinstance(right, Parts) and left.kind is right.kind):
            return None
        if left.kind is Text:
            return self._parts(left, right) if _same_text(left, right) else None
        if _is_bundle(left.kind):
            return self._bundle(left, right)
        if info(left.kind).family == "dict":
            # A dict; a key that one side has not may be missing
            is_like = len(left.names) == len(right.names)
            if is_like and all(map(same, left.names, right.names)):
                return self._parts(left, right)
            keys = _merged(left.names, right.names)
            if keys is None:
                return self._grown(left, right)
            own, other = dict(_pairs(left)), dict(_pairs(right))
            items = [self._perhaps(own.get(key), other.get(key)) for key in keys]
            is_same = len(keys) == len(own) and all(map(is_, items, left.items))
            return left if is_same else Parts(left.kind, items, keys, left.like)
        if left.kind is set:
            return left if _values(left) == _values(right) else self._grown(left, right)
        if len(left.items) == len(right.items):
            return self._parts(left, right) if left.names == right.names else None
        may_grow = info(left.kind).family == "list" or (self._widens and left.kind is tuple)
        return self._grown(left, right) if may_grow else None

    def _bundle(self, left: Parts, right: Parts) -> Layout | None:
        """Two of one form; a part that would be one of several makes them two cases."""
        if left.names != right.names or len(left.items) != len(right.items):
            return None
        joined = self._parts(left, right)
        # C reads the parts as they are: a value of several kinds is none that it knows.
        return None if any(map(_has_cases, joined.items)) else joined

    def _perhaps(self, item: Layout | None, other: Layout | None) -> Layout:
        absent = Same(MISSING, NOWHERE)
        return self(item or other or absent, other if item and other else absent)

    def _parts(self, left: Parts, right: Parts) -> Parts:
        items = [self(a, b) for a, b in zip(left.items, right.items, strict=True)]
        return left.with_items(items)

    def _grown(self, left: Layout, right: Layout) -> Layout | None:
        """A list of a length; the elements of both sides have one layout."""
        kinds = {_sequence_kind(left), _sequence_kind(right)}
        if len(kinds) > 1 or None in kinds:
            return None
        element: Layout | None = None
        for side in (left, right):
            for item in _elements(side):
                if item is not None:
                    item = self.by_value(item)
                    element = item if element is None else self(element, item)
        if isinstance(left, SequenceLayout) and element is left.element:
            return left
        likes = [side.like for side in (right, left) if isinstance(side, (Parts, SequenceLayout))]
        like = next((one for one in likes if one is not None), None)
        (kind,) = kinds
        assert kind is not None
        return SequenceLayout(kind, element, like)

    def _put(self, cases: list[Layout], item: Layout) -> bool:
        """Add a value to the case that serves for it, or as a new one; whether anything rises."""
        place = self.place(cases, item)
        if place is None:
            cases.append(item)
            return True
        joined = self(cases[place], item)
        rises = joined is not cases[place]
        cases[place] = joined
        return rises

    def _merged(self, cases: Sequence[Layout]) -> tuple[list[Layout], bool]:
        """Two objects of a region may be of one kind, now that they are carried by value."""
        found: list[Layout] = []
        for case in cases:
            self._put(found, case)
        return found, len(found) < len(cases) or not all(map(is_, found, cases))

    def by_value(
        self, node: Layout, view: View | None = None, inside: tuple[int, ...] = ()
    ) -> Layout:
        """The layout of an element of a list: what is new to a view is carried by value.

        `inside`: the values in which it stands, by id.
        """
        if isinstance(node, Same):
            value = node.value
            # Numbers too: else the second int of a list would convert all in it by a loop.
            node = as_value_layout(
                node if view is None else Same(value, view), numbers=True, inside=inside
            )
            inside = (*inside, id(value))
        if isinstance(node, Cases):
            cases, _ = self._merged([self.by_value(case, view, inside) for case in node.cases])
            is_same = len(cases) == len(node.cases) and all(map(is_, cases, node.cases))
            return node if is_same else Cases(cases)
        if not isinstance(node, Parts):
            return node
        return node.with_items([self.by_value(item, view, inside) for item in node.items])

    def place(self, cases: list[Layout], item: Layout) -> int | None:
        """Which case serves for a value, too, perhaps once it has risen."""
        # The same object first: a case that could rise to serve it must not take it.
        for index, case in enumerate(cases):
            both = isinstance(case, Same) and isinstance(item, Same)
            if both and same(case.value, item.value):  # type: ignore[union-attr]
                return index
        for index, case in enumerate(cases):
            if _is_reference(case) and _is_reference(item):
                continue
            if self._serves(opened(case), opened(item)):
                return index
        return None

    def _serves(self, left: Layout, right: Layout) -> bool:
        if isinstance(left, (Number, Leaf)) and isinstance(right, (Number, Leaf)):
            return _of_leaves(left, right) is not None
        if isinstance(left, Reference) or isinstance(right, Reference):
            return left is right
        # Lists, sets or dicts of any lengths share a case: it rises until its length is data.
        if _sequence_kind(left) not in (tuple, None):
            return _sequence_kind(left) is _sequence_kind(right)
        if isinstance(left, SequenceLayout):
            return left.kind is _sequence_kind(right)
        if is_code_text(left) or is_code_text(right):
            return _is_text(left) and _is_text(right)
        if not (isinstance(left, Parts) and isinstance(right, Parts) and left.kind is right.kind):
            return False
        if left.kind is Text:
            return _same_text(left, right)
        if _is_bundle(left.kind):
            return self._bundle(left, right) is not None
        return left.names == right.names and len(left.items) == len(right.items)


def _is_reference(node: Layout) -> bool:
    """Whether a value is an object that others know, too: one of two such stays the one it is."""
    if not isinstance(node, Same) or info(type(node.value)).is_value:
        return False
    return not node.view.is_new(node.value) and node.view.node(node.value) is None


def code_text() -> Parts:
    """The layout of a text whose characters the data decides."""
    return Parts(Text, [SequenceLayout(tuple, Number(int))], like=CODES)


def is_code_text(node: Layout) -> bool:
    """Whether a layout is that of a text of code points."""
    return isinstance(node, Parts) and node.kind is Text and node.like.is_like(CODES)


def _is_text(node: Layout) -> bool:
    return is_code_text(node) or (isinstance(node, Same) and type(node.value) is str)


def _is_bundle(kind: type) -> bool:
    """Whether values of a kind hold plain values alone: of exceptions C reads what they hold."""
    return info(kind).family == "bundle" or issubclass(kind, BaseException)


def _has_cases(node: Layout) -> bool:
    """Whether a value, or one in a tuple, is one of several."""
    node = opened(node)
    is_tuple = isinstance(node, Parts) and issubclass(node.kind, tuple)
    return isinstance(node, Cases) or (is_tuple and any(map(_has_cases, node.items)))  # type: ignore[union-attr]


def _same_text(left: Parts, right: Parts) -> bool:
    """Whether two texts are one text of other values: that of a number is not that of a tensor."""
    if not left.like.is_like(right.like):
        return False
    pairs = zip(left.items, right.items, strict=True)
    return all(type(opened(a)) is type(opened(b)) for a, b in pairs)


def _of_leaves(left: Number | Leaf, right: Number | Leaf) -> Layout | None:
    if isinstance(left, Number) and isinstance(right, Number):
        return left if left.kind is right.kind else None
    if isinstance(left, Leaf) and isinstance(right, Leaf):
        if left.dtype != right.dtype or left.rank != right.rank:
            return None
        return left if left.mixed or not right.mixed else Leaf(left.type, True)
    leaf, number = (left, right) if isinstance(left, Leaf) else (right, left)
    assert isinstance(leaf, Leaf) and isinstance(number, Number)
    if leaf.rank or not fits(number.kind, leaf.dtype):
        return None
    return leaf if leaf is left and leaf.mixed else Leaf(leaf.type, True)


def fits(kind: type, dtype: Any) -> bool:
    """Whether a number of Python may stand for a tensor of a dtype: it yields as in arithmetic."""
    # bfloat16 is a float, though NumPy has no letter of its own for it.
    own = info(kind).dtype.kind
    return _NUMBERS.index(own) <= _NUMBERS.find(dtype.kind) or dtype.name == "bfloat16"


def _sequence_kind(node: Layout) -> type | None:
    """list, deque, tuple, set or a kind of dict, where elements may share a layout."""
    is_grown = isinstance(node, SequenceLayout) or (
        isinstance(node, Parts) and info(node.kind).family in _GROWING
    )
    return node.kind if is_grown else None  # type: ignore[union-attr]


def _elements(node: Layout) -> Sequence[Layout | None]:
    """What a list or set holds; of a dict its pairs."""
    if isinstance(node, SequenceLayout):
        return [node.element]
    assert isinstance(node, Parts)
    if info(node.kind).family != "dict":
        return node.items
    return [Parts(tuple, [Same(key, NOWHERE), _present(item)]) for key, item in _pairs(node)]


def _present(item: Layout) -> Layout:
    """The layout of an entry where it is there."""
    node = opened(item)
    if not isinstance(node, Cases):
        return item
    found = [case for case in node.cases if not is_missing(case)]
    if len(found) > 1 and len(found) < len(node.cases):
        raise Unlike("a dict with an entry of several kinds, which comes in another order")
    return item if len(found) == len(node.cases) else found[0]


def is_missing(case: Layout) -> bool:
    """Whether a case of an entry is that it is not there."""
    return isinstance(case, Same) and case.value is MISSING


def _values(node: Parts) -> set[Any]:
    return {item.value for item in node.items if isinstance(item, Same)}


def _pairs(node: Parts) -> list[tuple[Any, Layout]]:
    return list(zip(node.names, node.items, strict=True))


def _merged(left: list[Any], right: list[Any]) -> list[Any] | None:
    """The keys of both, in an order that is that of each; None if there is none."""
    mine, others = set(left), set(right)
    if [key for key in left if key in others] != [key for key in right if key in mine]:
        return None
    keys: list[Any] = []
    left_over = iter(right)
    for key in left:
        if key in others:
            keys += takewhile(lambda one, key=key: one != key, left_over)  # type: ignore[misc]
        keys.append(key)
    return [*keys, *left_over]
