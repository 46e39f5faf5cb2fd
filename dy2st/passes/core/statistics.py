"""Counts what a Program has: operators, multiply-accumulates, parameters, bytes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dy2st.passes.core.graph import blocks_of
from dy2st_runtime.dims import evaluate, symbols
from dy2st_runtime.ir import Program, TensorType, Variable
from dy2st_runtime.ir.functions import inlined

UNKNOWN_SIZE = 1
"""What a symbol counts for that is not known."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts of one Program; a loop's body counts once, a function as often as it is called.

    operators       all but constants, nested ones too.
    macs            multiply-accumulates of convolutions and matmuls.
    parameters      elements of parameters, buffers and constants.
    parameter_bytes their bytes.
    value_bytes     bytes of all values that operators compute.

    >>> dy2st.passes.Statistics(operators=7) - dy2st.passes.Statistics(operators=5)
    Statistics(operators=2, macs=0, parameters=0, parameter_bytes=0, value_bytes=0)
    """

    operators: int = 0
    macs: int = 0
    parameters: int = 0
    parameter_bytes: int = 0
    value_bytes: int = 0

    def __sub__(self, other: Statistics) -> Statistics:
        """What has changed."""
        own, others = asdict(self), asdict(other)
        return Statistics(**{name: own[name] - others[name] for name in own})


def statistics(program: Program, sizes: Mapping[str, int] | None = None) -> Statistics:
    """The counts, with numbers for symbols; a size of others counts as 1.

    Raises LimitExceeded if it has too many operators where functions are called.

    >>> net = dy2st.to_static(dy2st.nn.Linear(3, 2), [dy2st.static.InputSpec(["n", 3])])
    >>> counts = dy2st.passes.statistics(net.forward.main_program, {"n": 10})
    >>> counts.operators, counts.macs, counts.parameters
    (2, 60, 8)
    """
    known, program = sizes or {}, inlined(program)
    operators = macs = value_bytes = 0
    held: list[Variable] = list(program.state.values())
    for block in blocks_of(program):
        for operator in block.operators:
            if operator.name == "constant":
                held += operator.results
                continue
            operators += 1
            if operator.name == "matmul":
                inner = operator.operands[0].tensor_type.shape[-1]
                macs += _elements(operator.results[0], known) * _size(inner, known)
            elif operator.name == "conv":
                w = operator.operands[1].tensor_type.shape
                macs += _elements(operator.results[0], known) * _product(w[1:], known)
            elif operator.name == "conv_transpose":
                w = operator.operands[1].tensor_type.shape
                macs += _elements(operator.operands[0], known) * _product(w[1:], known)
            value_bytes += sum(_bytes(v, known) for v in operator.results)
    counts = [_elements(v, known) for v in held]
    return Statistics(
        operators, macs, sum(counts), sum(_bytes(v, known) for v in held), value_bytes
    )


def _size(size: Any, known: Mapping[str, int]) -> int:
    if isinstance(size, int):
        return size
    values = {symbol: known.get(str(symbol), UNKNOWN_SIZE) for symbol in symbols(size)}
    try:
        return max(0, int(evaluate(size, values)))
    except ZeroDivisionError:
        return UNKNOWN_SIZE


def _product(sizes: Iterable[Any], known: Mapping[str, int]) -> int:
    return math.prod(_size(size, known) for size in sizes)


def _elements(variable: Variable, known: Mapping[str, int]) -> int:
    type = variable.type
    return _product(type.shape, known) if isinstance(type, TensorType) else 0


def _bytes(variable: Variable, known: Mapping[str, int]) -> int:
    type = variable.type
    if not isinstance(type, TensorType):
        return 0
    return _elements(variable, known) * type.dtype.itemsize


__all__ = ["UNKNOWN_SIZE", "Statistics", "statistics"]
