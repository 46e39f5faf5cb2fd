"""Values of Python made of the outputs of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np

from dy2st.convert.objects import slots_of
from dy2st.convert.replay.result import DERIVED, Known, Made, Out, Rows, Several, Written
from dy2st.convert.values.forms import bare, emptied, form_of
from dy2st.convert.values.layout import Cases, Layout, Leaf, Number, Same, SequenceLayout
from dy2st.convert.values.special import MISSING
from dy2st.convert.values.widths import count, width
from dy2st_runtime.ir.choice import Text


def rebuild(tree: Any, outputs: Sequence[Any], known: dict[int, Any]) -> Any:
    """The value of a tree over the outputs; what is met twice is one object."""
    kind = type(tree)
    if kind is Out:
        return _number(outputs[tree.index], tree.number)
    if kind is Known:
        return tree.get()
    if kind is Made:
        return _made(tree, outputs, known)
    if kind is Written:
        return tree.text.mapped(lambda inner: rebuild(inner, outputs, known)).filled()
    if kind is Rows or kind is Several:
        if id(tree) not in known:
            known[id(tree)] = _decided(tree, outputs, _holder(tree.held, outputs, known))
        return known[id(tree)]
    return tree


def _decided(tree: Rows | Several, outputs: Sequence[Any], same: Callable[[Same], Any]) -> Any:
    """What only the outputs tell: a list of some length, one of several values."""
    if isinstance(tree, Rows):
        arrays = [outputs[array.index] for array in tree.arrays]
        return of_rows(tree.kind, tree.like, tree.element, arrays, same)
    layout, places = tree.cases[int(outputs[tree.tag.index].item())]
    return of_layout(layout, iter([outputs[array.index][0] for array in places]), same)


def _holder(
    held: dict[int, Any], outputs: Sequence[Any], known: dict[int, Any]
) -> Callable[[Same], Any]:
    """What gives the value that a layout tells."""
    return lambda node: rebuild(held[id(node)], outputs, known) if id(node) in held else node.value


def _number(value: Any, kind: type | None) -> Any:
    if kind is np.generic:
        return value.numpy()[()]
    return value if kind is None else kind(value.item())


def _made(tree: Made, outputs: Sequence[Any], known: dict[int, Any]) -> Any:
    if id(tree) in known:
        return known[id(tree)]
    kind = tree.kind
    if issubclass(kind, tuple):
        items = [rebuild(item, outputs, known) for item in tree.items]
        return kind(*items) if hasattr(kind, "_fields") else kind(items)
    if tree.like is object:
        made: Any = bare(kind)
        known[id(tree)] = made
        for name, item in zip(tree.keys, tree.items, strict=True):
            value = rebuild(item, outputs, known)
            if value is not MISSING:  # no branch of this call has set it
                object.__setattr__(made, name, value)
        return made
    if isinstance(tree.like, type) and tree.like is not object:
        return _derived(tree, outputs, known)
    made = known[id(tree)] = tree.kind() if tree.like is None else copy(tree.like)
    items = [rebuild(item, outputs, known) for item in tree.items]
    if not items:
        return made
    if isinstance(made, dict):
        pairs = zip(tree.keys, items, strict=True)
        made.update({key: item for key, item in pairs if item is not MISSING})
    else:
        made.update(items) if isinstance(made, set) else made.extend(items)
    return made


def _derived(tree: Made, outputs: Sequence[Any], known: dict[int, Any]) -> Any:
    """An object of a class derived from a container, which no method of that class has filled."""
    made = known[id(tree)] = tree.like.__new__(tree.kind)
    attributes, held = (rebuild(item, outputs, known) for item in tree.items)
    slots: Any = slots_of(tree.kind)
    for name, one in attributes.items():  # past the methods of its class
        object.__setattr__(made, name, one) if name in slots else vars(made).update({name: one})
    put = DERIVED[tree.like]
    for item in held.items() if isinstance(held, dict) else ((one,) for one in held):
        put(made, *item)
    return made


def of_rows(
    kind: type,
    like: Any,
    element: Layout | None,
    arrays: Sequence[Any],
    same: Callable[[Same], Any],
) -> Any:
    """A list, tuple, set or dict of the elements that stand side by side in arrays."""
    rows = zip(*arrays, strict=True) if element is not None else ()
    items = [of_layout(element, iter(row), same) for row in rows]  # type: ignore[arg-type]
    if kind is tuple:
        return tuple(items)
    made = emptied(kind, like)
    if isinstance(made, dict):
        made.update(dict(items))
    else:
        made.update(items) if isinstance(made, set) else made.extend(items)
    return made


def of_layout(node: Layout, leaves: Iterator[Any], same: Callable[[Same], Any]) -> Any:
    """A value of its leaves."""
    if isinstance(node, Same):
        return same(node)
    if isinstance(node, Number):
        return _number(next(leaves), node.kind)
    if isinstance(node, Leaf):
        return next(leaves)
    if isinstance(node, SequenceLayout):
        arrays = [next(leaves) for _ in range(width(node.element))]
        return of_rows(node.kind, node.like, node.element, arrays, same)
    if isinstance(node, Cases):
        place = int(next(leaves).item())
        own = [[next(leaves) for _ in range(count(case))] for case in node.cases]
        return of_layout(node.cases[place], iter([array[0] for array in own[place]]), same)
    items = [of_layout(item, leaves, same) for item in node.items]
    made = form_of(node.kind).make(node.kind, items, node.names, node.like)
    return made.filled() if type(made) is Text else made
