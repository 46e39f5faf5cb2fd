"""Describes what a value is made of: a tree whose leaves are values of the Program.

At the bottom stands `Same`: one value of Python that is the same on every path and in every
iteration. Two values that differ are opened one level, and joined part by part (`lub.py`).
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace
from operator import is_
from typing import Any, Protocol, TypeAlias

from dy2st.convert.types import info, same
from dy2st.convert.values.special import SymbolicSequence, Union, is_changed
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import ConversionError, Location
from dy2st_runtime.ir import ArrayType, Tensor, Variable, user_location
from dy2st_runtime.ir.join import any_size
from dy2st_runtime.ir.types import DType, TensorType, ValueType


class View(Protocol):
    """How a value is looked at: at the end of a branch or a body, or in the trace."""

    def raw(self, owner: Any) -> Any:
        """What a container holds: one of Python, a SymbolicSequence, or a Union of contents."""

    def fields(self, owner: Any) -> dict[str, Any] | None:
        """The attributes of a plain object of a user's class; None of all others."""

    def taken(self, owner: Any) -> Any:
        """What a container or plain object holds, to be carried by value: all of it is read."""

    def is_local(self, owner: Any) -> bool:
        """Whether an object was made in the region that is looked at from outside."""

    def is_new(self, owner: Any) -> bool:
        """Whether an object was made in the region: nobody else knows it."""

    def node(self, owner: Any) -> Reference | None:
        """The layout of an object that has a location, or may get one; None of all others."""


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
    """An object of a class, by the number of its place in the table of the class."""

    kind: type


@dataclass(eq=False)
class Leaf:
    """A tensor; `mixed` where it is a number of Python on some paths.

    Sizes are joined apart; `type` is that of one of the tensors.
    """

    type: TensorType
    mixed: bool = False

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
    """A value of known parts: a tuple, list, set or dict, an object, a text or a bundle.

    names  what the parts are called: the keys of a dict in their order, or attributes.
    like   a value that has what is no part: a deque its maxlen, a Text what is between its holes.
    """

    kind: type
    items: list[Layout]
    names: Any = ()
    like: Any = None

    def with_items(self, items: list[Layout]) -> Parts:
        """The same with other parts; itself where they are the same."""
        is_same = len(items) == len(self.items) and all(map(is_, items, self.items))
        return self if is_same else replace(self, items=items)


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
    inside: list[Layout] = []
    if isinstance(node, (Parts, Cases)):
        inside = node.items if isinstance(node, Parts) else node.cases
    elif isinstance(node, SequenceLayout) and node.element is not None:
        inside = [node.element]
    # A choice between values is no container of its own.
    return (not isinstance(node, Cases)) + max(map(depth, inside), default=0)


def opened(node: Layout) -> Layout:
    """The same value one level down; itself where there is nothing to open."""
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
        return Leaf(value.tensor_type, value.mixed)
    if kind is Union:
        cases = [layout_of_case(value, place, view) for place in range(len(value.layouts))]
        # Of a case that is one of several itself, its own cases.
        inner = [case.cases if isinstance(case, Cases) else [case] for case in cases]
        return Cases([one for several in inner for one in several])
    if kind is SymbolicSequence:
        return SequenceLayout(value.kind, _of_element(value, view), value.like)
    reference = view.node(value)
    if reference is not None:
        return reference
    row = info(kind)
    held = value if row.is_value else view.taken(value)
    if type(held) is SymbolicSequence:
        return SequenceLayout(kind, _of_element(held, view), value if row.keeps_more else None)
    if type(held) is Union:
        return held.layouts[held.place_of(kind)]
    if held is None or (kind is set and any(isinstance(one, Tensor) for one in held)):
        return node  # a tensor in a set is the object that it is
    names = row.names(held)
    items: list[Layout] = [Same(part, view) for part in row.parts(held, names)]
    return Parts(kind, items, names, value if row.keeps_more else None)


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
        if number_kind(node.value) is not None and type(node.value) in (bool, int, float):
            return opened(node) if numbers else node
        value = node.value
        is_part = info(type(value)).is_value or node.view.is_new(value)
        if not is_part:
            return node if node.view.node(value) is None else opened(node)
        if id(value) in inside:
            raise holds_itself(value)
        below = opened(node)
        return (
            below
            if isinstance(below, Same)
            else as_value_layout(below, numbers, (*inside, id(value)))
        )
    if isinstance(node, Parts):
        return node.with_items([as_value_layout(item, numbers, inside) for item in node.items])
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
    items = [_of_case(item, view) for item in leaves_of(case)]
    if isinstance(case, Parts):
        return case.with_items(items)
    rises = isinstance(case, Cases) and not all(map(is_, items, case.cases))
    return Cases(items) if rises else case


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
    if isinstance(left, (Number, Reference)) and isinstance(right, (Number, Reference)):
        return left.kind is right.kind
    if isinstance(left, Leaf) and isinstance(right, Leaf):
        return left.dtype == right.dtype and left.rank == right.rank
    if isinstance(left, SequenceLayout) and isinstance(right, SequenceLayout):
        if left.element is None or right.element is None:
            return left.element is right.element
        return same_form(left.element, right.element)
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


def has_objects(node: Layout) -> bool:
    """Whether there is anything in a value that can be changed in place."""
    own = getattr(node, "kind", tuple)
    is_value = isinstance(node, (Same, Number, Reference, Cases)) or info(own).is_unchanging
    return not is_value or any(map(has_objects, leaves_of(node)))


def width(element: Layout | None) -> int:
    """How many arrays hold elements of a layout."""
    return 1 if element is None else max(1, count(element))


def count(node: Layout) -> int:
    """How many leaves a layout has."""
    if isinstance(node, Same):
        return 0
    if isinstance(node, (Number, Leaf, Reference)):
        return 1
    if isinstance(node, SequenceLayout):
        return width(node.element)
    if isinstance(node, Cases):
        return 1 + sum(map(count, node.cases))
    return sum(map(count, node.items))


def types_of(node: Layout, fixed: Container[Dim] = ()) -> list[ValueType]:
    """The types of the leaves, as far as the layout tells.

    Elements of arrays may differ in sizes that are not made of `fixed`.
    """
    if isinstance(node, Same):
        return []
    if isinstance(node, Number):
        return [TensorType(info(node.kind).dtype, ())]
    if isinstance(node, Reference):
        return [TensorType(info(int).dtype, ())]
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
