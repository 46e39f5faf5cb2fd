"""Describes what a call gives back as the structure of a Program, which files can hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dy2st.convert.replay.result import TREES, Made, Out, Several, Written
from dy2st.convert.replay.result import Rows as RowsTree
from dy2st.convert.values.layout import Cases, Layout, Leaf, Number, Same, SequenceLayout
from dy2st.convert.values.special import Special, Unbound
from dy2st.convert.values.widths import count, width
from dy2st_runtime.ir import Output
from dy2st_runtime.ir.choice import Choice, Text
from dy2st_runtime.ir.structure import Only, Rows, flatten

_PLAIN = (list, tuple, dict)
_Held = Mapping[int, Any]
_ENTRIES = "a dict, or an object, of which a tensor decides the entries"


class _NotPlain(Exception):
    """A tree that is no structure; its text says what is none."""


def structure_of(tree: Any) -> Any:
    """The tree as a structure, in a tuple; None if files cannot hold it."""
    try:
        return (_Plain().of(tree),)
    except _NotPlain:
        return None


def why_not_plain(tree: Any) -> str:
    """What in a tree files cannot hold, in words; empty if they can hold all of it."""
    try:
        _Plain().of(tree)
    except _NotPlain as error:
        return str(error)
    return ""


class _Plain:
    """Makes the structure of one result: an object that is met twice is none that a file keeps."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def of(self, tree: Any) -> Any:
        """The structure of a tree."""
        if isinstance(tree, Out):
            return Output(tree.index, tree.number not in (None, np.generic))
        if isinstance(tree, Written):
            return tree.text.mapped(self.of)
        if isinstance(tree, RowsTree):
            self._meet(tree)
            return self._rows(tree.kind, tree.element, _outputs(tree.arrays), tree.held)
        if isinstance(tree, Several):
            cases = [self._case(layout, outs, tree.held) for layout, outs in tree.cases]
            return Choice(Output(tree.tag.index), tuple(cases))
        return self._made(tree) if isinstance(tree, TREES) else tree

    def _case(self, layout: Layout, outs: Sequence[Out], held: _Held) -> Any:
        """A case of a choice; one that is older than the branch has its outputs to itself."""
        if isinstance(layout, Same):
            return self.of(held[id(layout)]) if id(layout) in held else self._same(layout, held)
        return Only(self._entry(layout, _outputs(outs), held))

    def _made(self, tree: Any) -> Any:
        if not isinstance(tree, Made) or tree.like is not None:
            held = None if isinstance(tree, Made) else tree.get()
            if isinstance(held, (Special, Unbound)):
                raise _NotPlain(_ENTRIES)
            kind = tree.kind if isinstance(tree, Made) else type(held)
            raise _NotPlain(f"a {kind.__name__}")
        self._meet(tree)
        return _filled(tree.kind, tree.keys, [self.of(item) for item in tree.items])

    def _meet(self, tree: Any) -> None:
        # A file has no words for two places that hold one object.
        if id(tree) in self._seen:
            raise _NotPlain("one object in two places")
        self._seen.add(id(tree))

    def _rows(
        self, kind: type, element: Layout | None, outputs: Iterator[Output], held: _Held
    ) -> Any:
        """A list: of tensors it is an output as it is."""
        if kind is not list:
            what = "keys" if issubclass(kind, dict) else "elements"
            raise _NotPlain(f"a {kind.__name__} of which a tensor decides the {what}")
        arrays = [next(outputs) for _ in range(width(element))]
        if isinstance(element, Leaf):
            return arrays[0]
        entry = None if element is None else self._entry(element, iter(arrays), held)
        return Rows(arrays[0], entry)

    def _entry(self, node: Layout, outputs: Iterator[Output], held: _Held) -> Any:
        """The structure of what has a layout, of the lists that hold its leaves."""
        if isinstance(node, Same):
            return self._same(node, held)
        if isinstance(node, Number):
            return Output(next(outputs).index, as_number=True)
        if isinstance(node, Leaf):
            return next(outputs)
        if isinstance(node, SequenceLayout):
            return self._rows(node.kind, node.element, outputs, held)
        if isinstance(node, Cases):
            tag = next(outputs)
            own = [[next(outputs) for _ in range(count(case))] for case in node.cases]
            pairs = zip(node.cases, own, strict=True)
            return Choice(tag, tuple(Only(self._entry(c, iter(o), held)) for c, o in pairs))
        items = [self._entry(item, outputs, held) for item in node.items]
        if node.kind is Text:
            return node.like.with_values(items)
        return _filled(node.kind, node.names, items)

    def _same(self, node: Same, held: _Held) -> Any:
        """What every row has; an output would be one of all rows, and not of one."""
        if isinstance(node.value, (Special, Unbound)):
            raise _NotPlain(_ENTRIES)
        found = self.of(held[id(node)]) if id(node) in held else node.value
        if flatten(found, lambda entry: isinstance(entry, Output))[0]:
            raise _NotPlain("one tensor in all elements of a list")
        return found


def _filled(kind: type, keys: Sequence[Any], items: list[Any]) -> Any:
    """A new container of a plain kind."""
    if not issubclass(kind, _PLAIN):
        raise _NotPlain(f"a {kind.__name__}")
    if issubclass(kind, dict):
        return kind(dict(zip(keys, items, strict=True)))
    return kind(*items) if hasattr(kind, "_fields") else kind(items)


def _outputs(outs: Sequence[Out]) -> Iterator[Output]:
    return iter([Output(out.index) for out in outs])
