"""Nested tuples, lists and dicts of tensors: taken apart into leaves and put together again.

The structure of a value is the value itself with `Output(i)` in place of its i-th tensor, so it
can be read, compared and saved.

>>> flatten((1, [2.5, {"a": "text"}]), lambda leaf: isinstance(leaf, float))
([2.5], (1, [Output(index=0, as_number=False), {'a': 'text'}]))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dy2st_runtime.ir.choice import Choice, Text


@dataclass(frozen=True, slots=True)
class Output:
    """Stands for the `index`-th output of a Program in its `structure`.

    `as_number`: the user's function returned a Python int or bool there, such as `x.shape[0]`.
    """

    index: int
    as_number: bool = False


def flatten(value: Any, is_leaf: Callable[[Any], bool]) -> tuple[list[Any], Any]:
    """Leaves in order, and the structure around them; what is no leaf stays in the structure."""
    leaves: list[Any] = []

    def take(entry: Any) -> Any:
        if is_leaf(entry):
            leaves.append(entry)
            return Output(len(leaves) - 1)
        return map_entries(entry, take)

    return leaves, take(value)


def rebuild(structure: Any, leaves: Sequence[Any]) -> Any:
    """The value that has this structure around the given leaves.

    >>> rebuild([Output(1), "a"], [1, 2])
    [2, 'a']
    """

    def put(entry: Any) -> Any:
        if isinstance(entry, Output):
            leaf = leaves[entry.index]
            return leaf.item() if entry.as_number else leaf
        if isinstance(entry, Choice):
            return put(entry.cases[int(leaves[entry.tag.index])])
        filled = map_entries(entry, put)
        return filled.filled() if isinstance(entry, Text) else filled

    return put(structure)


def substitute(structure: Any, entries: Sequence[Any]) -> Any:
    """The structure with other entries in place of its Outputs."""
    if isinstance(structure, Output):
        return entries[structure.index]
    return map_entries(structure, lambda entry: substitute(entry, entries))


def map_entries(value: Any, function: Callable[[Any], Any]) -> Any:
    """A container of the same kind with `function` applied to its entries; others unchanged."""
    kind = type(value)
    if kind is list or kind is tuple:
        return kind(function(entry) for entry in value)
    if kind is dict:
        return {key: function(entry) for key, entry in value.items()}
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return kind(*(function(entry) for entry in value))
    if kind is Choice or kind is Text:
        return value.mapped(function)
    return value


def is_container(value: Any) -> bool:
    """Whether `flatten` looks inside."""
    kind = type(value)
    return kind in (list, tuple, dict, Choice, Text) or (
        isinstance(value, tuple) and hasattr(kind, "_fields")
    )
