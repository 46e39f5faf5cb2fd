"""Makes Programs of graphs: every operator by the row of its name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dy2st.importers.paddle.calls import Call, Unsupported, operand
from dy2st.importers.paddle.graph import Body, Graph, Key, Node
from dy2st.importers.paddle.rows import ROWS
from dy2st.importers.recording import record
from dy2st_runtime.dims import Size, symbol
from dy2st_runtime.errors import Dy2stError, FormatError, ShapeError, UnknownOperators
from dy2st_runtime.ir.program import Program, Variable
from dy2st_runtime.ir.types import TensorType

Array = np.ndarray[Any, Any]
Scope = dict[Key, Any]
_MOST_NAMED = 40


def build(graph: Graph, name: str, arrays: Mapping[str, Array]) -> Program:
    """The Program of a graph; sizes of -1 are symbols named by input and axis.

    Raises UnknownOperators with the names of all operators that have no row, Unsupported for a use
    of one that Programs have not, FormatError if the graph is none.
    """
    counts = Counter(node.name for node in graph.body.walk() if node.name not in ROWS)
    if counts:
        names = [f"{n} ({count} times)" if count > 1 else n for n, count in sorted(counts.items())]
        more = f" and {len(names) - _MOST_NAMED} others" if len(names) > _MOST_NAMED else ""
        raise UnknownOperators(
            f"the model has operators that are not read: {', '.join(names[:_MOST_NAMED])}{more}; "
            "build the Layer here and load its weights, or leave these operators out of the model"
        )
    inputs: dict[str, TensorType] = {}
    labels: dict[Key, str] = {}
    for one in graph.inputs:
        label = labels[one.key] = _label(one.name, inputs)
        sizes: list[Size] = [
            symbol(f"{label}_{axis}", minimum=0) if size == -1 else size
            for axis, size in enumerate(one.shape)
        ]
        inputs[label] = TensorType(one.dtype, sizes)
    trained = {one.name for one in graph.parameters if one.is_trained}

    def compute(placeholders: Sequence[Variable], state: Mapping[str, Variable]) -> Sequence[Any]:
        builder = Builder(graph.body)
        scope: Scope = dict(zip(labels, placeholders, strict=True))
        for one in graph.parameters:
            scope[one.key] = state[one.name] if one.name else None
        builder.run(graph.body, scope)
        return [builder.found(key, scope, "the model") for key in graph.body.yields]

    if not graph.body.yields:
        raise FormatError("the model has no outputs")
    keys = [*(one.key for one in graph.inputs), *(one.key for one in graph.parameters)]
    names = [one.name for one in graph.parameters if one.name]
    if len({*keys}) != len(keys) or len({*names}) != len(names):
        raise FormatError("two inputs or parameters of the model are one value, or of one name")
    return record(name, inputs, arrays, trained, compute)


def _label(name: str, taken: Mapping[str, Any]) -> str:
    """The name of an input as one that Programs have."""
    label = re.sub(r"\W", "_", name, flags=re.ASCII)[:80] or "x"
    if label[0].isdigit():
        label = f"x_{label}"
    while label in taken:
        label += "_"
    return label


class Builder:
    """Runs bodies on Variables; `reads` counts where each key is read."""

    def __init__(self, body: Body):
        """Take the whole model."""
        self.reads = body.reads()

    def run(self, body: Body, scope: Scope) -> None:
        """Do what a body says; what it makes stands in the scope."""
        for node in body.nodes:
            self.node(node, scope)

    def node(self, node: Node, scope: Scope) -> None:
        """One operator."""
        operands = [self.found(one, scope, node.name) for one in node.operands]
        try:
            made = ROWS[node.name](Call(node, operands, self, scope))
        except (FormatError, Unsupported):
            raise
        except Dy2stError as error:
            raise _error_of(node, operands, error) from error
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise FormatError(f"{_shown(node, operands)}: {error!r:.300}") from error
        results = list(made) if isinstance(made, tuple) else [made]
        for key, value in zip(node.results, results, strict=False):
            if isinstance(key, list):
                scope.update(zip(key, value, strict=False))
            elif key is not None and value is not None:
                scope[key] = value
        if node.bodies:
            return
        for key in node.writes:
            if results[0] is not None and not isinstance(results[0], list):
                scope[key] = results[0]

    def found(self, one: Any, scope: Scope, where: str) -> Any:
        """The value of an operand."""
        if isinstance(one, list):
            return [self.found(entry, scope, where) for entry in one]
        if not isinstance(one, (int, str)):
            return operand(one)
        if one not in scope:
            raise FormatError(f"{where} reads the value {one!r:.80}, which nothing has made before")
        return scope[one]


def _shown(node: Node, operands: Sequence[Any]) -> str:
    shown = [
        str(one.type) if isinstance(one, Variable) else "[...]" if isinstance(one, list) else "-"
        for one in operands[:6]
    ]
    return f"operator {node.name} of {', '.join(shown)}"


def _error_of(node: Node, operands: Sequence[Any], error: Dy2stError) -> Dy2stError:
    """The error of a row, with the operator: of sizes that do not fit, or of a use that is none."""
    text = f"{_shown(node, operands)}: {error}"
    return ShapeError(text) if isinstance(error, ShapeError) else Unsupported(text)


__all__ = ["Builder", "Scope", "build"]
