"""A model as its two file forms have in common: operators under the names of `pd_op`.

Values have keys: numbers in PIR, names of variables in a ProgramDesc. A value that is written again
under its key, as operators in place and a ProgramDesc do, is from then on the new one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dy2st_runtime.errors import FormatError
from dy2st_runtime.ir.types import DType, given_dtype

Key = int | str


@dataclass
class Node:
    """One operator. An operand is a key, None, a list of operands, or a Constant."""

    name: str
    operands: list[Any]
    attributes: dict[str, Any]
    results: list[Any]
    """Keys; a list of them for a result that is a list, None for one that nobody reads."""
    bodies: list[Body] = field(default_factory=list)
    writes: list[Key] = field(default_factory=list)
    """Keys of values that are new behind the operator, beside its results."""


@dataclass(frozen=True)
class Constant:
    """An operand that is an attribute in the file."""

    value: Any


@dataclass
class Body:
    """What an operator runs, or the model itself."""

    parameters: list[Key]
    nodes: list[Node]
    yields: list[Any]

    def walk(self) -> Iterator[Node]:
        """All operators, nested ones too."""
        for node in self.nodes:
            yield node
            for body in node.bodies:
                yield from body.walk()

    def reads(self) -> Counter[Key]:
        """How often each key is read here and in nested bodies."""
        found: Counter[Key] = Counter(keys(self.yields))
        for node in self.walk():
            found.update(keys([node.operands, *(body.yields for body in node.bodies)]))
        return found

    def needs(self) -> set[Key]:
        """The keys that are read before anything here has written them for certain."""
        made = {*self.parameters}
        found: set[Key] = set()
        for node in self.nodes:
            found |= {*keys(node.operands)} - made
            for body in node.bodies:
                found |= body.needs() - made
            made.update(keys(node.results), node.writes)
        return found | ({*keys(self.yields)} - made)

    def writes(self) -> list[Key]:
        """What operators in it write, in order, and itself has not made."""
        own = {*self.parameters}
        found: dict[Key, None] = {}
        for node in self.nodes:
            inner = (key for body in node.bodies for key in body.writes())
            found.update((key, None) for key in (*node.writes, *inner) if key not in own)
            own.update(key for key in keys(node.results) if key not in found)
        return list(found)


@dataclass(frozen=True)
class Input:
    """An input: sizes of -1 are unknown."""

    key: Key
    name: str
    dtype: DType
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Parameter:
    """What lies in the file of parameters."""

    key: Key
    name: str
    dtype: DType
    shape: tuple[int, ...]
    is_trained: bool


@dataclass
class Graph:
    """A whole model."""

    inputs: list[Input]
    parameters: list[Parameter]
    body: Body
    outputs: list[str]
    """Names of what the body yields."""


def keys(operands: list[Any]) -> Iterator[Key]:
    """The keys among operands or results, those of lists one by one."""
    for one in operands:
        if isinstance(one, list):
            yield from keys(one)
        elif isinstance(one, (int, str)):
            yield one


_DTYPES = {"float": "float32", "double": "float64", "half": "float16"}
_KNOWN = re.compile(r"bool|u?int(8|16|32|64)|b?float(16|32|64)|complex(64|128)|float8_e(4m3fn|5m2)")


def dtype_named(name: Any) -> DType:
    """The dtype of PaddlePaddle's name of it; FormatError if Programs have none such."""
    name = _DTYPES.get(name, name)
    if not isinstance(name, str) or not _KNOWN.fullmatch(name):
        raise FormatError(f"a Program has no elements of type {name!r:.80}")
    return given_dtype(name)


__all__ = [
    "Body",
    "Constant",
    "Graph",
    "Input",
    "Key",
    "Node",
    "Parameter",
    "dtype_named",
    "keys",
]
