"""Values taken apart into leaves of the Program by a layout, and put together again."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from dy2st.heart.values.layout import (
    Cases,
    Entries,
    Fields,
    Grown,
    Items,
    Layout,
    Leaf,
    Number,
    Same,
    View,
    number_kind,
    same_value,
)
from dy2st.heart.values.lub import Lub
from dy2st.heart.values.special import MISSING, Dynamic, Union, is_changed
from dy2st_runtime.ir import ArrayType, F, Tracer, Variable
from dy2st_runtime.ir.join import any_size
from dy2st_runtime.ir.types import TensorType, ValueType

_DTYPES = {bool: np.dtype("bool"), int: np.dtype("int64"), float: np.dtype("float64")}


class Host(View, Protocol):
    """What values need of the trace in which they are put together."""

    tracer: Tracer

    def made(self, value: Any) -> Any:
        """Note that a mutable object was made here; returns it."""

    def hold(self, owner: Any, content: Any) -> None:
        """Let a container hold a Dynamic, or one of several contents."""

    def note_fragile(self, value: Any) -> None:
        """Note that an object is put together anew at each look: a change would be lost."""

    def hold_field(self, owner: Any, name: str, value: Any) -> None:
        """Let an object hold an attribute in the overlay."""

    def set_field(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute of an object that was made here."""

    def choose(
        self, condition: Variable, true: Callable[[], Sequence[Any]], false: Callable[[], Any]
    ) -> list[Variable]:
        """A `cond` of two functions that give Variables."""

    def map_array(
        self,
        arrays: list[Variable],
        convert: Callable[[list[Variable]], list[Variable]],
        count: int,
    ) -> list[Variable]:
        """New arrays, with what a function makes of each element of all of them."""


# -- taking apart -----------------------------------------------------------------------------


def flatten(host: Host, value: Any, node: Layout, view: View) -> list[Variable]:
    """The leaves of a value that has a layout, as Variables of the current Block."""
    if isinstance(node, Same):
        return []
    if isinstance(node, Number):
        return [as_number(host.tracer, value, node.kind)]
    if isinstance(node, Leaf):
        return [_as_tensor(host.tracer, value, node)]
    if isinstance(node, Grown):
        return _arrays(host, value, node, view)
    if isinstance(node, Cases):
        return _tagged(host, value, node, view)
    parts = _parts(host, value, node, view)
    pairs = zip(parts, node.items, strict=True)
    return [leaf for part, item in pairs for leaf in flatten(host, part, item, view)]


def _parts(host: Host, value: Any, node: Items | Entries | Fields, view: View) -> list[Any]:
    if isinstance(node, Items):
        return list(value if issubclass(node.kind, tuple) else _content(host, value, view))
    if isinstance(node, Entries):
        held = _content(host, value, view)
        return [held.get(key, MISSING) for key in node.keys]
    held = view.fields(value)
    assert held is not None
    return [held[name] for name in node.names]


def _content(host: Host, value: Any, view: View) -> Any:
    held = view.raw(value)
    return case_content(host, held, type(value)) if type(held) is Union else held


def as_number(tracer: Tracer, value: Any, kind: type) -> Variable:
    """A number of Python as a Variable of the current Block."""
    made = tracer.local(value) if isinstance(value, Variable) else tracer.number(value)
    if made.tensor_type.dtype != _DTYPES[kind]:
        made = tracer.cast_number(made, _DTYPES[kind])
    return made


def _as_tensor(tracer: Tracer, value: Any, node: Leaf) -> Variable:
    if number_kind(value) is None:
        return tracer.variable(value)
    if isinstance(value, Variable):
        return tracer.cast_number(value, node.dtype)
    return tracer.variable(value, node.dtype)


def _arrays(host: Host, value: Any, node: Grown, view: View) -> list[Variable]:
    """One array for each leaf of the elements; at least one, for its length."""
    held: Any = value if type(value) in (Dynamic, tuple) else _content(host, value, view)
    if type(held) is Dynamic:
        return risen(host, held, node.element, view)
    rows = [_row(host, item, node.element, view) for item in held]
    if not rows:
        return [F.array_of([]) for _ in range(width(node.element))]
    return [F.array_of(list(column)) for column in zip(*rows, strict=True)]


def _row(host: Host, item: Any, element: Layout | None, view: View) -> list[Variable]:
    assert element is not None
    leaves = flatten(host, item, element, view) or [host.tracer.number(0)]
    return [_exact(host, leaf) for leaf in leaves]


def _exact(host: Host, leaf: Variable) -> Variable:
    """What an array gets: a float of Python as it is, and not in the dtype of tensors."""
    if leaf.number is not float:
        return leaf
    return host.tracer.cast_number(leaf, _DTYPES[float])


def row_of(host: Host, item: Any, element: Layout | None, view: View) -> list[Variable]:
    """What the arrays of a Dynamic get for one element."""
    return _row(host, item, element, view)


def width(element: Layout | None) -> int:
    """How many arrays hold elements of a layout."""
    return 1 if element is None else max(1, count(element))


def count(node: Layout) -> int:
    """How many leaves a layout has."""
    if isinstance(node, Same):
        return 0
    if isinstance(node, (Number, Leaf)):
        return 1
    if isinstance(node, Grown):
        return width(node.element)
    if isinstance(node, Cases):
        return 1 + sum(map(count, node.cases))
    return sum(map(count, node.items))


def risen(host: Host, held: Dynamic, element: Layout | None, view: View) -> list[Variable]:
    """The arrays of a Dynamic whose elements take a layout above their own."""
    own = [host.tracer.local(array) for array in held.arrays]
    if held.element is element or element is None:
        return own
    before = held.element
    if before is None:
        return [F.array_of([]) for _ in range(width(element))]
    if _same_form(before, element):
        return own

    def convert(leaves: list[Variable]) -> list[Variable]:
        item = build(host, before, iter(leaves))
        return _row(host, item, element, view)

    return host.map_array(own, convert, width(element))


def _same_form(left: Layout, right: Layout) -> bool:
    """Whether two layouts have the same leaves, in kind and order."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, Same) and isinstance(right, Same):
        return same_value(left.value, right.value)
    if isinstance(left, Number) and isinstance(right, Number):
        return left.kind is right.kind
    if isinstance(left, Leaf) and isinstance(right, Leaf):
        return left.dtype == right.dtype and left.rank == right.rank
    if isinstance(left, Grown) and isinstance(right, Grown):
        if left.element is None or right.element is None:
            return left.element is right.element
        return _same_form(left.element, right.element)
    mine = left.cases if isinstance(left, Cases) else left.items  # type: ignore[union-attr]
    others = right.cases if isinstance(right, Cases) else right.items  # type: ignore[union-attr]
    return len(mine) == len(others) and all(map(_same_form, mine, others))


# -- one of several values --------------------------------------------------------------------


def _tagged(host: Host, value: Any, node: Cases, view: View) -> list[Variable]:
    """The tag, then for every case the arrays of its leaves."""
    held = value if type(value) is Union else _held_union(value, view)
    if held is not None:
        return _tagged_union(host, held, node, view)
    place = case_of(node, Same(value, view))
    leaves = [host.tracer.number(place)]
    for index, case in enumerate(node.cases):
        own = flatten(host, value, case, view) if index == place else None
        leaves += (
            [F.array_of([_exact(host, leaf)]) for leaf in own] if own is not None else _empty(case)
        )
    return leaves


def _held_union(value: Any, view: View) -> Union | None:
    """The cases of what a container holds."""
    if type(value) in (list, deque, dict):
        held = view.raw(value)
        return held if type(held) is Union else None
    return None


def _empty(case: Layout) -> list[Variable]:
    return [F.array_of([]) for _ in range(count(case))]


def case_of(node: Cases, item: Layout) -> int:
    """Which case a value is."""
    join = Lub()
    place = join.place(list(node.cases), item)
    assert place is not None, "a value that is none of the cases"
    return place


def _tagged_union(host: Host, value: Union, node: Cases, view: View) -> list[Variable]:
    """The same cases in other places, among others."""
    tracer = host.tracer
    places = [case_of(node, case) for case in value.layouts]
    tag = tracer.local(value.tag)
    if places != list(range(len(places))):
        table = tracer.constant(np.asarray(places, "int64"))
        tag = F.gather(table, tag)
        tag = F.reshape(tag, []) if tag.ndim else tag
        tag.number = int
    leaves = [tag]
    for index, case in enumerate(node.cases):
        own = [i for i, place in enumerate(places) if place == index]
        leaves += _case_arrays(host, value, own, case, view)
    return leaves


def _case_arrays(
    host: Host, value: Union, own: list[int], case: Layout, view: View
) -> list[Variable]:
    if not own:
        return _empty(case)
    changed = [place for place in own if is_changed(value, place, view)]
    columns: list[Variable] = []
    for place in own:
        before = value.layouts[place]
        arrays = [host.tracer.local(array) for array in value.arrays[place]]
        if place in changed or not _same_form(before, case):
            arrays = _risen_case(host, value, place, case, view)
        columns = (
            arrays
            if not columns
            else [F.array_extend(a, b) for a, b in zip(columns, arrays, strict=True)]
        )
    return columns


def _risen_case(host: Host, value: Union, place: int, case: Layout, view: View) -> list[Variable]:
    """The arrays of a case whose layout has risen."""
    if not count(case):
        return []

    def present() -> list[Variable]:
        item = case_value(host, value, place)
        return [F.array_of([_exact(host, leaf)]) for leaf in flatten(host, item, case, view)]

    is_case = F.equal(host.tracer.local(value.tag), place)
    return host.choose(is_case, present, lambda: _empty(case))


def case_value(host: Host, value: Union, place: int) -> Any:
    """The value that a union is, where it is known to be that case."""
    if place in value.objects:
        return value.objects[place]
    return build(host, value.layouts[place], _read(host, value, place), fragile=True)


def _read(host: Host, value: Union, place: int) -> Iterator[Variable]:
    return iter([F.array_read(host.tracer.local(array), 0) for array in value.arrays[place]])


def case_content(host: Host, value: Union, kind: type) -> Any:
    """What a container holds whose content is one of several: it is that case if it is at all."""
    place = value.place_of(kind)
    node, leaves = value.layouts[place], _read(host, value, place)
    if isinstance(node, Grown):
        return Dynamic(node.kind, node.element, list(leaves), node.like)
    assert isinstance(node, (Items, Entries))
    items = [build(host, item, leaves, fragile=True) for item in node.items]
    like = node.empty if isinstance(node, Entries) else node.like
    made = emptied(node.kind, like)
    if isinstance(node, Entries):
        made.update(zip(node.keys, items, strict=True))
    else:
        made.extend(items)
    return made


# -- putting together -------------------------------------------------------------------------


def build(
    host: Host,
    node: Layout,
    leaves: Iterator[Variable],
    known: dict[int, Any] | None = None,
    fragile: bool = False,
) -> Any:
    """The value of a layout, of leaves in the order of `flatten`.

    known    the objects that were put together already, by the nodes they are of.
    fragile  whether they are put together anew at each look: nobody may change them.
    """
    if isinstance(node, Same):
        return node.value
    if isinstance(node, Number):
        leaf = next(leaves)
        leaf.number, leaf.mixed = node.kind, False
        return leaf
    if isinstance(node, Leaf):
        leaf = next(leaves)
        leaf.number, leaf.mixed = None, node.mixed
        return leaf
    known = {} if known is None else known
    if isinstance(node, Cases):
        return _union(host, node, leaves)
    made = _put_together(host, node, leaves, known, fragile)
    if id(node) not in known:
        known[id(node)] = made
        if fragile:
            host.note_fragile(made)
    return known[id(node)]


def _union(host: Host, node: Cases, leaves: Iterator[Variable]) -> Union:
    tag = next(leaves)
    tag.number = int
    arrays = [[next(leaves) for _ in range(count(case))] for case in node.cases]
    value = Union(tag, node.cases, arrays)
    for place, case in enumerate(node.cases):
        made = _object_of(host, value, place, case)
        if made is not None:
            value.objects[place] = made
    return value


def _object_of(host: Host, value: Union, place: int, case: Layout) -> Any:
    """What stands for a container or object that a value may be; None if the case is none."""
    if isinstance(case, Fields):
        # The arguments of an exception are read in C, from the object itself.
        is_error = issubclass(case.kind, BaseException)
        return None if is_error else _fields_of(host, value, place, case)
    if not isinstance(case, (Items, Entries, Grown)) or issubclass(case.kind, tuple):
        return None
    made = host.made(emptied(case.kind, case.empty if isinstance(case, Entries) else case.like))
    host.hold(made, value)
    return made


def _fields_of(host: Host, value: Union, place: int, case: Fields) -> Any:
    made: Any = host.made(case.kind.__new__(case.kind))  # type: ignore[call-overload]
    arrays = iter(value.arrays[place])
    cases = range(len(value.layouts))
    for name, item in zip(case.names, case.items, strict=True):
        own = [next(arrays) for _ in range(count(item))]
        # By the same tag: where it is known that the object is there, so is its attribute.
        layouts = [item if one == place else Same(MISSING, host) for one in cases]
        held = Union(value.tag, layouts, [own if one == place else [] for one in cases])
        host.hold_field(made, name, held)
        value.held.setdefault(place, {})[name] = held
    return made


def _put_together(
    host: Host, node: Any, leaves: Iterator[Variable], known: dict[int, Any], fragile: bool
) -> Any:
    if isinstance(node, Grown):
        return _grown(host, node, leaves)
    items = [build(host, item, leaves, known, fragile) for item in node.items]
    if isinstance(node, Items):
        return _sequence(host, node, items)
    if isinstance(node, Entries):
        made = emptied(node.kind, node.empty)
        made.update(zip(node.keys, items, strict=True))
        return host.made(made)
    made = host.made(node.kind.__new__(node.kind))
    for name, item in zip(node.names, items, strict=True):
        host.set_field(made, name, item)
    return made


def _sequence(host: Host, node: Items, items: list[Any]) -> Any:
    if node.kind is tuple:
        return tuple(items)
    if issubclass(node.kind, tuple):
        return node.kind(*items)
    made = emptied(node.kind, node.like)
    made.extend(items)
    return host.made(made)


def emptied(kind: type, like: Any) -> Any:
    """A new empty container; a deque has its maxlen, a defaultdict its factory."""
    if like is None:
        return kind()
    if kind is deque:
        return deque(maxlen=like.maxlen)
    return defaultdict(like.default_factory) if kind is defaultdict else kind()


def _grown(host: Host, node: Grown, leaves: Iterator[Variable]) -> Any:
    arrays = [next(leaves) for _ in range(width(node.element))]
    held = Dynamic(node.kind, node.element, arrays, node.like)
    if node.kind is tuple:
        return held
    made = host.made(emptied(node.kind, node.like))
    host.hold(made, held)
    return made


def types_of(node: Layout) -> list[ValueType]:
    """The types of the leaves, as far as the layout tells; sizes of arrays' elements may differ."""
    if isinstance(node, Same):
        return []
    if isinstance(node, Number):
        return [TensorType(_DTYPES[node.kind], ())]
    if isinstance(node, Leaf):
        return [node.type]
    if isinstance(node, Grown):
        return _array_types(node.element)
    if isinstance(node, Cases):
        own = [ArrayType(_element(type)) for case in node.cases for type in types_of(case)]
        return [TensorType(_DTYPES[int], ()), *own]
    return [type for item in node.items for type in types_of(item)]


def _array_types(element: Layout | None) -> list[ValueType]:
    if element is None:
        return [ArrayType(None)]
    types = types_of(element) or [TensorType(_DTYPES[int], ())]
    return [ArrayType(_element(type)) for type in types]


def _element(type: ValueType) -> Any:
    """The type of the elements of an array: what is no number may differ from one to the next."""
    return type if isinstance(type, ArrayType) else any_size(type)


def element_at(host: Host, held: Dynamic, index: Any) -> Any:
    """The element at a place that is known to be in the list."""
    if held.element is None:
        raise IndexError("list index out of range")
    leaves = [F.array_read(host.tracer.local(array), index) for array in held.arrays]
    return build(host, held.element, iter(leaves), fragile=True)


__all__ = [
    "Host",
    "as_number",
    "build",
    "case_content",
    "case_of",
    "case_value",
    "count",
    "element_at",
    "emptied",
    "flatten",
    "risen",
    "row_of",
    "types_of",
    "width",
]
