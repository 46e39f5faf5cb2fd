"""Describes what a value is made of: a tree whose leaves are values of the Program.

At the bottom stands `Same`: one value of Python that is the same on every path and in every
iteration. Two values that differ are opened one level, and joined part by part: `Lub` finds the
least layout that both fit.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import takewhile
from operator import is_
from typing import TYPE_CHECKING, Any, TypeAlias

from dy2st.convert.types import info, same
from dy2st.convert.values.special import (
    GROWN,
    MISSING,
    NOWHERE,
    ORDERED,
    Older,
    SymbolicSequence,
    Union,
    is_changed,
)
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import ConversionError, Location
from dy2st_runtime.ir import ArrayType, Tensor, Variable, user_location
from dy2st_runtime.ir.choice import Text, common, values_in
from dy2st_runtime.ir.join import any_size
from dy2st_runtime.ir.types import DType, TensorType, ValueType

if TYPE_CHECKING:
    from dy2st.convert.trace import Region, Trace

# How a value is looked at: in the trace, at the end of a branch or a body, or as an older one.
View: TypeAlias = "Trace | Region | Older"


# By identity: a node of a mutable object stands for one object, wherever it is met.
@dataclass(eq=False)
class Same:
    """One value of Python, as it is seen by a view."""

    value: Any
    view: View = field(repr=False)


@dataclass(eq=False)
class Number:
    """A Python number that the Program computes: bool, int or float."""

    kind: type


@dataclass(eq=False)
class Reference:
    """An object, list, dict or set by the number of its place in a table, which this stands for.

    key      what the table is known by in each trace: where containers are made, and how deep.
    owner    the Locations that it is one of.
    columns  a list for each attribute; it holds MISSING where an object has none. Containers have
             one, of containers that hold the same, their boxes.
    """

    kind: type
    key: Any
    owner: Any
    like: Any = None  # an empty one, of containers
    columns: dict[Any, list[Any]] = field(default_factory=dict, repr=False)


@dataclass(eq=False)
class Leaf:
    """A tensor; `mixed` where it is a number of Python on some paths.

    Sizes are joined apart; `type` is that of one of the tensors.
    """

    type: TensorType
    mixed: bool = False
    is_numpy: bool = False  # on all paths

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self.type.dtype

    @property
    def rank(self) -> int:
        """The number of axes."""
        return self.type.rank


@dataclass(eq=False)
class Parts:
    """A value of known parts: a tuple, list, set or dict, an object, a text or a bundle."""

    kind: type
    items: list[Layout]
    names: Any = ()  # what the parts are called: the keys of a dict in their order, or attributes
    # A value that has what is no part: a deque its maxlen, a Text what is between its holes
    like: Any = None


@dataclass(eq=False)
class SequenceLayout:
    """A list (or deque, or tuple) whose length the data decides; its elements have one layout.

    So has a set, and a dict, whose elements are pairs.
    """

    kind: type
    element: Layout | None
    like: Any = None  # a deque has its maxlen


@dataclass(eq=False)
class Cases:
    """One of several values: a tag says which."""

    cases: list[Layout]


Layout: TypeAlias = "Same | Number | Reference | Leaf | Parts | SequenceLayout | Cases"


def depth(node: Layout) -> int:
    """How many containers stand in each other."""
    # A choice between values is no container of its own.
    return (not isinstance(node, Cases)) + max(map(depth, leaves_of(node)), default=0)


def opened(node: Layout, is_content: bool = False) -> Layout:
    """The same value one level down; itself where there is nothing to open.

    is_content: it is what a container holds, and no object of its own.
    """
    if not isinstance(node, Same):
        return node
    value, view = node.value, node.view
    kind = type(value)
    number = number_kind(value)
    if number is not None:
        return Number(number)
    if isinstance(value, Tensor):
        if not isinstance(value, Variable):
            return Leaf(TensorType(value.dtype, tuple(value.shape)))
        assert not isinstance(value.type, ArrayType), "an array is no value of the user's"
        return Leaf(value.tensor_type, value.mixed, value.is_numpy)
    if kind is Union:
        cases = [layout_of_case(value, place, view) for place in range(len(value.layouts))]
        # Of a case that is one of several itself, its own cases.
        inner = [case.cases if isinstance(case, Cases) else [case] for case in cases]
        return Cases([one for several in inner for one in several])
    if kind is SymbolicSequence:
        return SequenceLayout(value.kind, _of_element(value, view), value.like)
    reference = None if is_content else view.node(value)
    if reference is not None:
        return reference
    row = info(kind)
    held = value if row.is_value else view.taken(value)
    if type(held) is SymbolicSequence:
        like = held.like if kind is set else value if row.keeps_more else None
        return SequenceLayout(kind, _of_element(held, view), like)
    if type(held) is Union:
        return held.layouts[held.place_of(kind)]
    if held is None or (kind is set and any(isinstance(one, Tensor) for one in held)):
        return node  # a tensor in a set is the object that it is
    names = row.names(held)
    items: list[Layout] = [Same(part, view) for part in row.parts(held, names)]
    like = value if row.keeps_more else None
    if kind is set:
        # Ints that stand each in a place of its own do so in whichever order they came.
        are_apart = all(type(n) is int and (n == i or 0 <= n < 8) for i, n in enumerate(held))
        has_grown = (are_apart or len(held) == 1) and view.has_grown(value)
        like = GROWN if has_grown else ORDERED if are_apart else None
    return Parts(kind, items, names, like)


def layout_of_case(value: Union, place: int, view: View) -> Layout:
    """The layout of one of the cases; with what has changed in its object since."""
    if not is_changed(value, place, view):
        return _of_case(value.layouts[place], view)
    return opened(Same(value.objects[place], view))


def as_value_layout(node: Layout, numbers: bool = False, inside: tuple[int, ...] = ()) -> Layout:
    """The same value without what only its region knows: tensors and new objects are leaves.

    `numbers`: those of Python too; `inside`: the values in which it stands, by id.
    """
    if isinstance(node, Same):
        value = node.value
        if type(value) in (bool, int, float):
            return opened(node) if numbers else node
        is_part = info(type(value)).is_value or node.view.is_new(value)
        if not is_part:
            return node if node.view.node(value) is None else opened(node)
        if id(value) in inside:
            raise holds_itself(value)
        below = opened(node)
        if isinstance(below, Same):
            return below
        return as_value_layout(below, numbers, (*inside, id(value)))
    if isinstance(node, Parts):
        numbers = numbers and not issubclass(node.kind, BaseException)  # C reads what it holds
        return with_leaves(node, [as_value_layout(item, numbers, inside) for item in node.items])
    return node


def holds_itself(value: Any, at: Location | None = None) -> ConversionError:
    """Of a value that would be taken apart for ever."""
    if type(value) is Union:
        return ConversionError(
            "an object that a tensor has chosen holds itself",
            at=at or user_location(),
            why="one of several objects is taken apart, and that has no end; it may also hold "
            "itself through others, as a child does that knows its parent",
            hint="give each object what it holds before the branch that chooses between them",
        )
    kind = type(value).__name__
    return ConversionError(
        f"a {kind} that holds itself is made in a branch or loop that depends on a tensor",
        at=at or user_location(),
        why="what is made there goes on as what it holds, and that has no end; it may also hold "
        "itself through others, as a child does that knows its parent",
        hint=f"make the {kind} before the branch or loop, and change what it holds there",
    )


def _of_case(case: Layout, view: View) -> Layout:
    """Objects of a case that end with their region are carried by value."""
    if isinstance(case, Same):
        return as_value_layout(Same(case.value, view)) if view.is_local(case.value) else case
    return with_leaves(case, [_of_case(item, view) for item in leaves_of(case)])


def _of_element(held: SymbolicSequence, view: View) -> Layout | None:
    return None if held.element is None else _of_case(held.element, view)


def number_kind(value: Any) -> type | None:
    """bool, int or float where Python has such a number, or a Program will; None elsewhere."""
    kind = type(value)
    if kind in (bool, int, float):
        return kind
    if isinstance(value, Variable):
        return None if value.mixed else value.number
    if isinstance(value, Dim):
        return int
    return bool if isinstance(value, Condition) else None


def is_traced_number(value: Any) -> bool:
    """Whether a number is known only when the Program runs."""
    return number_kind(value) is not None and type(value) not in (bool, int, float)


def same_form(left: Layout, right: Layout) -> bool:
    """Whether two layouts have the same leaves, in kind and order."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, Same) and isinstance(right, Same):
        return same(left.value, right.value)
    if isinstance(left, Number) and isinstance(right, Number):
        return left.kind is right.kind
    if isinstance(left, Reference):
        return False
    if isinstance(left, Leaf) and isinstance(right, Leaf):
        return left.dtype == right.dtype and left.rank == right.rank
    mine, others = leaves_of(left), leaves_of(right)
    return len(mine) == len(others) and all(map(same_form, mine, others))


def leaves_of(node: Layout) -> Sequence[Layout]:
    """The layouts right below."""
    if isinstance(node, Parts):
        return node.items
    if isinstance(node, Cases):
        return node.cases
    if isinstance(node, SequenceLayout) and node.element is not None:
        return [node.element]
    return []


def with_leaves(node: Layout, items: list[Layout]) -> Layout:
    """A layout with others right below; itself where they are the same."""
    if len(items) == len(leaves_of(node)) and all(map(is_, leaves_of(node), items)):
        return node
    if isinstance(node, Parts):
        return replace(node, items=items)
    return replace(node, element=items[0]) if isinstance(node, SequenceLayout) else Cases(items)


def all_of(nodes: Iterable[Layout]) -> Iterator[Layout]:
    """Layouts, and all in them."""
    for node in nodes:
        yield node
        yield from all_of(leaves_of(node))


def has_objects(node: Layout) -> bool:
    """Whether there is anything in a value that can be changed in place."""
    held = (one for one in all_of([node]) if isinstance(one, (Parts, SequenceLayout)))
    return not all(info(one.kind).is_unchanging for one in held)


def width(element: Layout | None) -> int:
    """How many arrays hold elements of a layout."""
    return 1 if element is None else max(1, count(element))


def count(node: Layout) -> int:
    """How many leaves a layout has."""
    if isinstance(node, SequenceLayout):
        return width(node.element)
    is_own = isinstance(node, (Number, Leaf, Reference, Cases))  # of one of several, its tag
    return is_own + sum(map(count, leaves_of(node)))


def types_of(node: Layout, fixed: Container[Dim] = ()) -> list[ValueType]:
    """The types of the leaves, as far as the layout tells.

    Elements of arrays may differ in sizes that are not made of `fixed`.
    """
    if isinstance(node, Same):
        return []
    if isinstance(node, (Number, Reference)):
        return [TensorType(info(node.kind if isinstance(node, Number) else int).dtype, ())]
    if isinstance(node, Leaf):
        return [node.type]
    if isinstance(node, SequenceLayout):
        if node.element is None:
            return [ArrayType(None)]
        types = types_of(node.element, fixed) or [TensorType(info(int).dtype, ())]
        return [_array(type, fixed) for type in types]
    if isinstance(node, Cases):
        own = [_array(type, fixed) for case in node.cases for type in types_of(case, fixed)]
        return [TensorType(info(int).dtype, ()), *own]
    return [type for item in node.items for type in types_of(item, fixed)]


def _array(element: ValueType, fixed: Container[Dim]) -> ArrayType:
    return ArrayType(element if isinstance(element, ArrayType) else any_size(element, fixed))


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
        self._has_many = False
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
            if type(a.value) is type(b.value) is str:  # no object: they may be joined in two ways
                return self._joined(a, b)
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
        if self._is_apart(a) and self._is_apart(b):
            return Cases([a, b])
        left, right = opened(a), opened(b)
        if isinstance(left, Cases) or isinstance(right, Cases):
            values = [one.value for one in (a, b) if isinstance(one, Same)]
            chosen = [one for one in values if type(one) is Union]
            if any(one is other for one in chosen for other in self._chosen):
                raise holds_itself(chosen[0])
            self._chosen += chosen
            cases = [as_value_layout(a)]
            rises, is_whole = True, False
            if isinstance(left, Cases):
                cases, rises = self._merged(left.cases)
            for item in right.cases if isinstance(right, Cases) else [b]:
                rises = self._put(cases, as_value_layout(item)) or rises
            if sum(_sequence_kind(opened(case)) is tuple for case in cases) > _MOST_TUPLES:
                cases, rises = self._with_one_tuple(cases), True
                is_whole = len(cases) == 1
            kinds = [case for case in cases if not _is_reference(case)]
            is_many = len(cases) > MOST_CASES and all(map(_is_text, cases))
            if (is_many or len(kinds) > MOST_CASES) and not self._has_many:
                self._has_many = True  # so texts share a case
                cases, _ = self._merged(cases)
                self._has_many = False
                rises, is_whole = True, len(cases) == 1
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
        return [*others, reduce(self._grown, tuples)]  # type: ignore[arg-type]

    def _alike(self, left: Layout, right: Layout) -> Layout | None:
        """The layout of two values of one kind; None if they are of two."""
        if isinstance(left, (Number, Leaf)) and isinstance(right, (Number, Leaf)):
            return _of_leaves(left, right)
        if isinstance(left, Reference) and isinstance(right, Reference):
            if left is not right and left.kind is right.kind:  # what may be one lies in one table
                left.owner.join(left.key, right.key)
            return left if left is right else None
        if isinstance(left, Reference) or isinstance(right, Reference):
            return None
        if isinstance(left, SequenceLayout) or isinstance(right, SequenceLayout):
            return self._grown(left, right)
        if _is_text(left) and _is_text(right):
            return self._texts(left, right)
        if not (isinstance(left, Parts) and isinstance(right, Parts) and left.kind is right.kind):
            return None
        if _is_bundle(left.kind):
            return self._bundle(left, right)
        if info(left.kind).family == "dict":
            # A dict; a key that one side has not may be missing
            is_like = len(left.names) == len(right.names)
            if is_like and all(map(same, left.names, right.names)):
                return with_leaves(left, [*map(self, left.items, right.items)])
            keys = _merged(left.names, right.names)
            new = {*left.names} ^ {*right.names}  # iterations would bring more and more tensors
            if keys is None or (self._widens and any(isinstance(key, Tensor) for key in new)):
                return self._grown(left, right)
            own, other = dict(_pairs(left)), dict(_pairs(right))
            pairs, absent = ((own.get(one), other.get(one)) for one in keys), Same(MISSING, NOWHERE)
            items = [self(a or b or absent, b if a and b else absent) for a, b in pairs]
            is_same = len(keys) == len(own) and all(map(is_, items, left.items))
            return left if is_same else Parts(left.kind, items, keys, left.like)
        if left.kind is set:
            known = _values(left)  # a value of the Program is no element that Python could find
            if known != _values(right) or not len(known) == len(left.items) == len(right.items):
                return self._grown(left, right)
            return left if left.like in (None, right.like) else replace(left, like=None)
        if len(left.items) == len(right.items):
            is_like = left.names == right.names
            return with_leaves(left, [*map(self, left.items, right.items)]) if is_like else None
        may_grow = info(left.kind).family == "list" or (self._widens and left.kind is tuple)
        return self._grown(left, right) if may_grow else None

    def _texts(self, left: Any, right: Any) -> Layout | None:
        """Two texts of one form, for which what differs between their places may be code points."""
        text: Any = lambda one: one.like.with_values(one.items) if type(one) is Parts else one.value  # noqa: E731
        mine, other = text(left), text(right)
        like = common(mine, other, lambda one: getattr(opened(one), "kind", None) is int)
        # Iterations would write more and more integers: at once, before there are many forms.
        grows = self._widens and 0 < len(leaves_of(left)) != len(leaves_of(right)) > 0
        has_codes = self._has_many or grows or has_code_points(left) or has_code_points(right)
        is_same = like is not None and isinstance(left, Parts) and like.is_like(left.like)
        if like is None or not (has_codes or is_same):
            return None
        items: list[Layout] = []
        for a, b in zip(values_in(mine, like), values_in(other, like), strict=True):
            if type(a) is tuple or type(b) is tuple:  # what is known on one side
                is_long = isinstance(a, SequenceLayout)
                items.append(a if is_long else SequenceLayout(tuple, Number(int)))
            else:
                items.append(self(a, b))
        if not all(map(_is_written_alike, items)):
            return None
        return with_leaves(left, items) if is_same else Parts(Text, items, like=like)

    def _bundle(self, left: Parts, right: Parts) -> Layout | None:
        """Two of one form; a part that would be one of several makes them two cases."""
        if left.names != right.names or len(left.items) != len(right.items):
            return None
        joined: Any = with_leaves(left, [*map(self, left.items, right.items)])
        # C reads the parts as they are: a value of several kinds is none that it knows, and an
        # exception has as many `args` on all paths, and hides its context on all or none.
        parts = dict(zip(left.names, joined.items, strict=False))
        is_open = any(map(_has_cases, joined.items)) or type(parts.get("args")) is SequenceLayout
        return None if is_open or type(parts.get("__suppress_context__")) is Number else joined

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
        sides = [side for side in (right, left) if isinstance(side, (Parts, SequenceLayout))]
        like = next((side.like for side in sides if side.like is not None), None)
        if kinds == {set}:  # it has grown on both paths, or its order is unknown
            like = like if all(side.like is like for side in sides) else None
        has_like = kinds != {set} or (isinstance(left, SequenceLayout) and left.like is like)
        if isinstance(left, SequenceLayout) and element is left.element and has_like:
            return left
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
            node = node if view is None else Same(value, view)
            node = as_value_layout(node, True, inside)
            inside = (*inside, id(value))
        if isinstance(node, Cases):
            cases, _ = self._merged([self.by_value(case, view, inside) for case in node.cases])
            return with_leaves(node, cases)
        if not isinstance(node, Parts) or issubclass(node.kind, BaseException):
            return node
        return with_leaves(node, [self.by_value(item, view, inside) for item in node.items])

    def place(self, cases: list[Layout], item: Layout) -> int | None:
        """Which case serves for a value, too, perhaps once it has risen."""
        # The same object first: a case that could rise to serve it must not take it.
        for index, case in enumerate(cases):
            both = isinstance(case, Same) and isinstance(item, Same)
            if both and same(case.value, item.value):  # type: ignore[union-attr]
                return index
        for index, case in enumerate(cases):
            if self._is_apart(case) and self._is_apart(item):
                continue
            if self._serves(opened(case), opened(item)):
                return index
        return None

    def _is_apart(self, node: Layout) -> bool:
        return _is_reference(node) and not (self._has_many and _is_text(node))

    def _serves(self, left: Layout, right: Layout) -> bool:
        kind = _sequence_kind(left)
        # Lists, sets or dicts of any lengths share a case: it rises until its length is data.
        if kind not in (tuple, None) or isinstance(left, SequenceLayout):
            return kind is _sequence_kind(right)
        if not isinstance(left, Parts) or left.kind is Text or _is_bundle(left.kind):
            return not isinstance(right, SequenceLayout) and self._alike(left, right) is not None
        is_one = isinstance(right, Parts) and left.kind is right.kind and left.names == right.names
        return is_one and len(left.items) == len(leaves_of(right))


def _is_reference(node: Layout) -> bool:
    """Whether a value is an object that others know, too: one of two such stays the one it is."""
    if not isinstance(node, Same) or info(type(node.value)).is_value:
        return False
    return not node.view.is_new(node.value) and node.view.node(node.value) is None


def has_code_points(node: Layout) -> bool:
    """Whether the data decides characters of a text."""
    is_text = isinstance(node, Parts) and node.kind is Text
    return is_text and any(hole.conversion == "chr" for hole in node.like.holes)  # type: ignore[union-attr]


def _is_text(node: Layout) -> bool:
    is_known = isinstance(node, Same) and type(node.value) is str
    return is_known or (isinstance(node, Parts) and node.kind is Text)


def _is_written_alike(node: Layout) -> bool:
    """Whether a text may have such a value: a number is not written as a tensor is."""
    is_list = isinstance(node, SequenceLayout) and node.kind is not tuple
    is_either = isinstance(node, Cases) or (isinstance(node, Leaf) and node.mixed)
    return not (is_list or is_either) and all(map(_is_written_alike, leaves_of(node)))


def _is_bundle(kind: type) -> bool:
    """Whether values of a kind hold plain values alone: of exceptions C reads what they hold."""
    return info(kind).family in ("bundle", "bound in C") or issubclass(kind, BaseException)


def _has_cases(node: Layout) -> bool:
    """Whether a value, or one in a tuple, is one of several."""
    node = opened(node)
    is_tuple = isinstance(node, Parts) and issubclass(node.kind, tuple)
    return isinstance(node, Cases) or (is_tuple and any(map(_has_cases, node.items)))  # type: ignore[union-attr]


def _of_leaves(left: Number | Leaf, right: Number | Leaf) -> Layout | None:
    if isinstance(left, Number) and isinstance(right, Number):
        return left if left.kind is right.kind else None
    if isinstance(left, Leaf) and isinstance(right, Leaf):
        if left.dtype != right.dtype or left.rank != right.rank:
            return None
        mixed, is_numpy = left.mixed or right.mixed, left.is_numpy and right.is_numpy
        is_left = mixed is left.mixed and is_numpy is left.is_numpy
        return left if is_left else Leaf(left.type, mixed, is_numpy)
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
    if isinstance(node, Parts) and info(node.kind).family not in _GROWING:
        return None
    return node.kind if isinstance(node, (Parts, SequenceLayout)) else None


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
    if len(found) == len(node.cases):
        return item
    return found[0] if len(found) == 1 else Cases(found)


def is_missing(case: Layout) -> bool:
    """Whether a case of an entry is that it is not there."""
    return isinstance(case, Same) and case.value is MISSING


def _values(node: Parts) -> list[Any]:
    return [item.value for item in node.items if isinstance(item, Same)]


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
            one = {key}  # as dicts find keys: tensors are compared by identity
            keys += takewhile(lambda other, one=one: other not in one, left_over)  # type: ignore[misc]
        keys.append(key)
    return [*keys, *left_over]
