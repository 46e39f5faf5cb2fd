"""Reads files of `paddle.save`: what its pickles mean.

A state dict is a dict of arrays, with a table of the tensors' names under a key of its own; in
protocols 2 and 3 an array of more than a gigabyte stands in slices, with a second table. Anywhere
else a tensor is a tuple of its name and its array. A file that has none of either is of arrays
alone, and each is a tensor. Paddle has bfloat16 as uint16, and no other use of uint16.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from dy2st_runtime.checkpoint.array_rules import BUILDS, RULES, PickledArray, are_counts
from dy2st_runtime.checkpoint.pickle_machine import Machine
from dy2st_runtime.checkpoint.source import Source
from dy2st_runtime.checkpoint.tensors import Array, as_tensor, known_dtype
from dy2st_runtime.checkpoint.tree import Unfolded
from dy2st_runtime.errors import FormatError

NAMES = "StructuredToParameterName@@"
_SLICES = "UnpackBigParamInfor@@"


def read_paddle(source: Source, keep_name_table: bool, return_numpy: bool) -> Any:
    """The object of a pickle that Paddle wrote."""
    machine = Machine(source.name, source.data, RULES, BUILDS)
    tree = machine.load()
    source.end_at(machine.position)
    return _Paddle(source, keep_name_table, return_numpy).read(tree)


class _Paddle:
    """What the tables of a file say, and how its arrays become tensors."""

    def __init__(self, source: Source, keep_name_table: bool, return_numpy: bool):
        self._source = source
        self._keeps, self._numpy = keep_name_table, return_numpy
        self._found_named = False

    def _fail(self, what: str) -> NoReturn:
        raise FormatError(f"{self._source.name}: {what}")

    def read(self, tree: Any) -> Any:
        if isinstance(tree, dict):
            # Put arrays together that stand in slices.
            table = tree.pop(_SLICES, {})
            if type(table) is not dict:
                self._fail("its table of slices is damaged")
            for key, facts in table.items():
                facts = facts if type(facts) is dict else {}
                names: Any = facts.get("slices")
                shape: Any = facts.get("OriginShape")
                if type(names) is not list or any(type(name) is not str for name in names):
                    self._fail(f"the slices of {key!r:.80} are damaged")
                parts: list[Array] = []
                for name in names:
                    part = tree.pop(name, None)
                    if type(part) is not PickledArray or part.array is None or part.array.ndim != 1:
                        self._fail("a slice of an array is missing")
                    parts.append(part.array)
                count = sum(part.size for part in parts)
                if not parts or not are_counts(shape) or math.prod(shape) != count:
                    self._fail(f"the slices of {key!r:.80} do not fit its shape")
                tree[key] = PickledArray()
                tree[key].array = np.concatenate(parts).reshape(shape)
            if NAMES in tree:
                names = tree[NAMES]
                if type(names) is not dict or any(type(name) is not str for name in names.values()):
                    self._fail("its table of names is damaged")
                if any(key not in tree for key in names):
                    self._fail("its table of names has one that is not there")
                if not self._keeps:
                    del tree[NAMES]
                is_tensor = {key: type(tree.get(key)) is PickledArray for key in names}
                rest = {key: value for key, value in tree.items() if not is_tensor.get(key)}
                rest = self._anew(self._array, rest)
                return {
                    key: self._tensor(value, names[key]) if is_tensor.get(key) else rest[key]
                    for key, value in tree.items()
                }
        self._anew(self._look, tree)
        if self._found_named:
            return self._anew(
                lambda node: (
                    self._tensor(node[1], node[0]) if self._is_named(node) else self._array(node)
                ),
                tree,
            )
        return self._anew(
            lambda node: self._tensor(node) if type(node) is PickledArray else node, tree
        )

    def _anew(self, convert: Any, tree: Any) -> Any:
        return Unfolded(convert, self._fail, 1_000_000 + len(self._source.data))(tree)

    # -- the tables ----------------------------------------------------------------------------

    # -- arrays and tensors --------------------------------------------------------------------

    def _tensor(self, made: PickledArray, name: str = "") -> Any:
        array = self._array(made)
        if self._numpy:
            return array
        if array.dtype == np.uint16:
            array = array.view(known_dtype(self._source.name, "bfloat16"))
        return as_tensor(self._source.name, array, name)

    def _array(self, node: Any) -> Any:
        if type(node) is not PickledArray:
            return node
        if node.array is None:
            self._fail("it has an array without data")
        return node.array

    def _is_named(self, node: Any) -> bool:
        is_pair = type(node) is tuple and len(node) == 2
        return is_pair and type(node[0]) is str and type(node[1]) is PickledArray

    def _look(self, node: Any) -> Any:
        self._found_named = self._found_named or self._is_named(node)
        return None if type(node) is PickledArray else node


__all__ = ["NAMES", "read_paddle"]
