"""What a row of the tables is given: one node with its inputs and attributes as values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dy2st.importers.onnx.graphs import Graph, Node
from dy2st_runtime.dims import Condition, Dim, Size
from dy2st_runtime.errors import UnknownOperators
from dy2st_runtime.ir.arguments import as_size
from dy2st_runtime.ir.data import data_of
from dy2st_runtime.ir.definition import Effect, find
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.types import ArrayType, TensorType

Array = np.ndarray[Any, Any]
Value = Any
"""A Variable; a list of values, for a sequence whose length is known; None: nothing is there."""


class Maybe:
    """An optional of which only the run tells whether it is there: a list of at most one."""

    __slots__ = ("array",)

    def __init__(self, array: Variable):
        """Take the list of the Program."""
        self.array = array


_MOST_KNOWN = 4096
_DEEPEST = 60


class Call:
    """One node as it is recorded: `n[0]` is its first input, None where it is left out."""

    __slots__ = ("attributes", "inputs", "node", "reader", "scope")

    def __init__(
        self,
        node: Node,
        inputs: Sequence[Value],
        attributes: Mapping[str, Any],
        reader: Any = None,
        scope: Any = None,
    ):
        """`reader` and `scope` are for what has graphs among its attributes."""
        self.node, self.inputs, self.attributes = node, inputs, attributes
        self.reader, self.scope = reader, scope

    def __getitem__(self, place: int) -> Value:
        return self.inputs[place] if place < len(self.inputs) else None

    def __len__(self) -> int:
        return len(self.inputs)

    @property
    def version(self) -> int:
        """The version of the operator's domain."""
        return self.node.version

    @property
    def count(self) -> int:
        """How many outputs the node has, up to the last one that is named."""
        return max((i + 1 for i, name in enumerate(self.node.outputs) if name), default=0)

    def get(self, name: str, default: Any = None) -> Any:
        """An attribute."""
        return self.attributes.get(name, default)

    def known(self, place: int) -> Array | None:
        """The elements of an input, ints, floats or Dims, if the model knows them."""
        value = self[place]
        return None if value is None else known(value, self.reader)

    def numbers(self, place: int) -> Any:
        """The elements of an input as a list, or as one number; the input itself if not known."""
        found = self.known(place)
        return self[place] if found is None else found.tolist()

    def sizes(self, place: int, what: str) -> list[Any] | None:
        """The elements of a 1-d input, which must be known; None where it is left out."""
        if self[place] is None:
            return None
        found = self.known(place)
        if found is None:
            raise UnknownOperators(f"{what} is computed when the model runs, and must be known")
        numbers: list[Any] = found.reshape(-1).tolist()
        return numbers

    def number(self, place: int, what: str, default: Any = None) -> Any:
        """The one element of an input, which must be known."""
        found = self.sizes(place, what)
        if not found:
            return default
        if len(found) != 1:
            raise ValueError(f"{what} is one number, not {found}")
        return found[0]

    def axes(self, place: int, name: str = "axes") -> list[int] | None:
        """Axes, which older versions have as an attribute, and newer ones as an input."""
        if name in self.attributes:
            given = self.attributes[name]
            return given if isinstance(given, list) else [given]
        return self.sizes(place, f"`{name}`")

    def axes_or_tensor(self, place: int, name: str = "axes") -> Any:
        """As `axes`; the tensor of them if they are known only when the model runs."""
        if name in self.attributes or self[place] is None or self.known(place) is not None:
            return self.axes(place, name)
        return self[place]

    def graph(self, name: str) -> Graph:
        """A graph among the attributes."""
        graph: Graph = self.attributes[name]
        return graph


Row = Callable[[Call], Any]
ROWS: dict[tuple[str, str], Row] = {}
"""What reads an operator, by its domain and name: the tables fill it."""


def row(*names: str, domain: str = "") -> Callable[[Row], Row]:
    """Let the function read the operators of these names."""

    def enter(function: Row) -> Row:
        rows(dict.fromkeys(names, function), domain)
        return function

    return enter


def rows(table: Mapping[str, Row], domain: str = "") -> None:
    """Let functions read operators, by their names."""
    ROWS.update({(domain, name): function for name, function in table.items()})


_TEXTS = "a Program has no tensors of texts"
_STRING = 8  # ONNX's number of that element type


REFUSED: dict[tuple[str, str], str | Callable[[Node], str]] = {
    **dict.fromkeys(
        [
            ("", name)
            for name in (
                "RegexFullMatch",
                "StringConcat",
                "StringNormalizer",
                "StringSplit",
                "TfIdfVectorizer",
            )
        ],
        _TEXTS,
    ),
    ("", "ImageDecoder"): "a Program decodes no images: decode them before, and give arrays",
    ("", "Cast"): lambda node: _TEXTS if node.attributes.get("to") == _STRING else "",
    ("", "Constant"): lambda node: (
        _TEXTS if any(name.startswith("value_string") for name in node.attributes) else ""
    ),
    ("ai.onnx.preview.training", "Gradient"): "call backward() on what the model gives",
}
"""Why an operator is not read, in some forms alone where a function says so."""


def known(value: Any, reader: Any = None) -> Array | None:
    """What a Variable holds in every call: numbers, Dims and Conditions; None if unknown."""
    return _known(value, {} if reader is None else reader.arrays, 0)


def _known(value: Any, found: dict[Variable, Array], depth: int) -> Array | None:
    """The same; `found` gets what is computed, or a value that is used twice would be twice."""
    if not isinstance(value, Variable) or not isinstance(value.type, TensorType):
        return None
    data = data_of(value)
    if data is not None:
        return data
    count = _count(value.type)
    if count == 0:  # there is nothing to know, whoever makes it
        return np.zeros([size for size in value.type.shape if isinstance(size, int)])
    # Shapes and axes are short; a weight that is computed is nothing that a row asks for.
    if count is None or count > _MOST_KNOWN:
        return None
    array = found.get(value)
    if array is None:
        array = _computed(value, found, depth)
        if array is not None:
            found[value] = array
    return array


def _count(type: TensorType) -> int | None:
    """How many elements a tensor has, None if that is not known."""
    sizes = [size for size in type.shape if isinstance(size, int)]
    return math.prod(sizes) if len(sizes) == type.rank else None


def _computed(value: Variable, found: dict[Variable, Array], depth: int) -> Array | None:
    """What an operator makes of known operands, if that is little."""
    maker = value.maker
    if not isinstance(maker, Operator) or depth > _DEEPEST or len(maker.results) != 1:
        return None
    if maker.name == "constant":
        array: Array = maker.attributes["value"]
        return array
    record = find(maker.name)
    if record is None or record.kernel is None or record.effect is not Effect.PURE or maker.blocks:
        return None
    operands = []
    for operand in maker.operands:
        one = _known(operand, found, depth + 1)
        # Kernels compute with numbers: sizes that are symbols stay with the tracer.
        if one is None or any(isinstance(entry, (Dim, Condition)) for entry in one.flat):
            return None
        operands.append(np.asarray(one, operand.tensor_type.dtype))
    try:
        with np.errstate(all="ignore"):
            return np.asarray(record.kernel(*operands, **maker.attributes))
    except (TypeError, ValueError, ArithmeticError, LookupError):
        return None  # the operator fails when the model runs, with its name and place


def is_list(value: Value) -> bool:
    """Whether a value is a sequence."""
    return isinstance(value, list) or is_array(value)


def is_array(value: Value) -> bool:
    """Whether a value is a sequence whose length is known only when the model runs."""
    return isinstance(value, Variable) and isinstance(value.type, ArrayType)


def size_of(value: Any, what: str) -> Size:
    """A size, of a number or of a Variable whose value is known."""
    return as_size(value, what)


def scalar(value: Any) -> Any:
    """A tensor of one element without axes."""
    return F.reshape(value, []) if value.ndim else value


__all__ = [
    "REFUSED",
    "ROWS",
    "Array",
    "Call",
    "Maybe",
    "Row",
    "Value",
    "is_array",
    "is_list",
    "known",
    "row",
    "rows",
    "scalar",
    "size_of",
]
