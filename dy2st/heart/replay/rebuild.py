"""Values of Python made of the outputs of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dy2st.heart.replay.result import Known, Made, Out, Rows, Several, Written
from dy2st.heart.values.carry import count, width
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
)
from dy2st.heart.values.special import MISSING


def rebuild(tree: Any, outputs: Sequence[Any], known: dict[int, Any]) -> Any:
    """The value of a tree over the outputs; what is met twice is one object."""
    kind = type(tree)
    if kind is Out:
        return _number(outputs[tree.index], tree.number)
    if kind is Known:
        return tree.get()
    if kind is Made:
        return _made(tree, outputs, known)
    if kind is Rows:
        arrays = [outputs[array.index] for array in tree.arrays]
        return of_rows(tree.kind, tree.element, arrays, _holder(tree.held, outputs, known))
    if kind is Written:
        return tree.text.mapped(lambda inner: rebuild(inner, outputs, known)).filled()
    if kind is Several:
        place = int(outputs[tree.tag.index].item())
        layout, places = tree.cases[place]
        leaves = iter([outputs[array.index][0] for array in places])
        return of_layout(layout, leaves, _holder(tree.held, outputs, known))
    return tree


def _holder(
    held: dict[int, Any], outputs: Sequence[Any], known: dict[int, Any]
) -> Callable[[Same], Any]:
    """What gives the value that a layout tells."""
    return lambda node: rebuild(held[id(node)], outputs, known) if id(node) in held else node.value


def _number(value: Any, kind: type | None) -> Any:
    return value if kind is None else kind(value.item())


def _made(tree: Made, outputs: Sequence[Any], known: dict[int, Any]) -> Any:
    if id(tree) in known:
        return known[id(tree)]
    kind = tree.kind
    if issubclass(kind, tuple):
        items = [rebuild(item, outputs, known) for item in tree.items]
        return kind(*items) if hasattr(kind, "_fields") else kind(items)
    if tree.like is object:
        made: Any = kind.__new__(kind)
        known[id(tree)] = made
        for name, item in zip(tree.keys, tree.items, strict=True):
            object.__setattr__(made, name, rebuild(item, outputs, known))
        return made
    made = known[id(tree)] = tree.kind() if tree.like is None else tree.like.copy()
    items = [rebuild(item, outputs, known) for item in tree.items]
    if isinstance(made, dict):
        pairs = zip(tree.keys, items, strict=True)
        made.update((key, item) for key, item in pairs if item is not MISSING)
    else:
        made.update(items) if isinstance(made, set) else made.extend(items)
    return made


def of_rows(
    kind: type, element: Layout | None, arrays: Sequence[Any], same: Callable[[Same], Any]
) -> Any:
    """A list of the elements that stand side by side in arrays."""
    if element is None:
        return kind()
    return kind(of_layout(element, iter(row), same) for row in zip(*arrays, strict=True))


def of_layout(node: Layout, leaves: Iterator[Any], same: Callable[[Same], Any]) -> Any:
    """A value of its leaves."""
    if isinstance(node, Same):
        return same(node)
    if isinstance(node, Number):
        return _number(next(leaves), node.kind)
    if isinstance(node, Leaf):
        return next(leaves)
    if isinstance(node, Grown):
        arrays = [next(leaves) for _ in range(width(node.element))]
        return of_rows(node.kind, node.element, arrays, same)
    if isinstance(node, Cases):
        place = int(next(leaves).item())
        own = [[next(leaves) for _ in range(count(case))] for case in node.cases]
        return of_layout(node.cases[place], iter([array[0] for array in own[place]]), same)
    items = [of_layout(item, leaves, same) for item in node.items]
    if isinstance(node, Items):
        return node.kind(*items) if hasattr(node.kind, "_fields") else node.kind(items)
    if isinstance(node, Entries):
        pairs = zip(node.keys, items, strict=True)
        return node.kind((key, item) for key, item in pairs if item is not MISSING)
    assert isinstance(node, Fields)
    kind: Any = node.kind
    made: Any = kind.__new__(kind)
    for name, item in zip(node.names, items, strict=True):
        object.__setattr__(made, name, item)
    return made


__all__ = ["of_layout", "of_rows", "rebuild"]
