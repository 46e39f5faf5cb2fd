"""What stops a Program, and what it says: assertions, exceptions, prints."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.dims import Condition
from dy2st_runtime.engine.onnx.graph import Graph
from dy2st_runtime.engine.onnx.nodes import BOOL, FLOAT64, Value
from dy2st_runtime.engine.onnx.table import LEFT_OUT, write

# They compute nothing, and no runtime of ONNX prints.
LEFT_OUT |= {"print", "write", "warn", "log_message", "hooked"}


@write("assert", "assert_bound")
def _assert(g: Graph, condition: Value, **_: Any) -> list[Value]:
    g.require(g.all_of(g.cast(condition, BOOL)))
    return []


@write("raise")
def _raise(g: Graph, *values: Value, **_: Any) -> list[Value]:
    g.require(g.const(np.False_))
    return []


@write("require")
def _require(g: Graph, condition: Any, message: str) -> list[Value]:
    g.require(g.size(condition) if isinstance(condition, Condition) else g.const(bool(condition)))
    return []


@write("check_int")
def _check_int(g: Graph, *values: Value, operation: str) -> list[Value]:
    """Whether the result surely fits into 64 bits, as far as float64 tells."""
    parts = [g.reshape(g.cast(value, FLOAT64), ()) for value in values]
    if operation == "pow":
        made = g.op("Pow", g.op("Abs", parts[0]), parts[1])
    elif operation == "int":
        made = parts[0]
    else:
        kind = {"add": "Add", "multiply": "Mul", "subtract": "Sub"}[operation]
        made = g.op(kind, *parts)
    g.require(g.op("Less", g.op("Abs", made), g.const(2.0**63), shape=()))
    return []
