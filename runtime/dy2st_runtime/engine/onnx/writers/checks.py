"""What stops a Program, what it says, and what no model of ONNX has, each with the reason."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.dims import Condition
from dy2st_runtime.engine.onnx.graph import Graph
from dy2st_runtime.engine.onnx.nodes import BOOL, FLOAT64, Value
from dy2st_runtime.engine.onnx.table import LEFT_OUT, NEEDED, REFUSED, write
from dy2st_runtime.ir.program import Operator

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


# -- what is not written ---------------------------------------------------------------------------

_LINEAR = "ONNX has no decomposition of matrices"
_SPECIAL = "ONNX has no such special function"
_PROCESSES = "it speaks with other processes, and ONNX has one"
_DRAWS = "ONNX draws no such random numbers"
_COMPLEX = "complex numbers: ONNX has hardly any operator on them"
_BOXES = "it is written for the regions of pictures, and ONNX has no such operator"

REFUSED.update(
    {
        **dict.fromkeys(("cholesky", "eig", "eigh", "inverse", "lu", "lu_order"), _LINEAR),
        **dict.fromkeys(("matrix_exp", "pinv", "qr", "slogdet", "solve", "svd"), _LINEAR),
        **dict.fromkeys(("gammainc", "gammaincc", "i0", "i0e", "i1", "i1e"), _SPECIAL),
        **dict.fromkeys(("polygamma", "erfinv"), _SPECIAL),
        "dynamic_upsampling": "how large the result is, a number that is no size decides",
        "nextafter": "ONNX has no bits of floats",
        **dict.fromkeys(("all_gather", "all_reduce", "all_to_all", "broadcast_from"), _PROCESSES),
        "reduce_scatter": _PROCESSES,
        **dict.fromkeys(("binomial", "poisson", "standard_gamma"), _DRAWS),
        **dict.fromkeys(("complex", "imag", "fourier", "fourier_of_real"), _COMPLEX),
        "fourier_to_real": _COMPLEX,
        **dict.fromkeys(("bilinear_weights", "generate_proposals", "matrix_nms", "nms"), _BOXES),
        **dict.fromkeys(("regions", "regions_back", "roi_pool_places"), _BOXES),
        **dict.fromkeys(("ctc", "ctc_slope"), "ONNX has no sums over all alignments"),
        "failure": "ONNX has no exceptions that a model catches",
        **dict.fromkeys(("spend", "spend_result"), "limits are held by dy2st alone"),
        "unique_consecutive": "ONNX compares no elements in a row",
    }
)


def _of_integers(operator: Operator) -> int:
    return 0 if operator.operands[0].tensor_type.dtype == BOOL else 18


NEEDED.update(
    {
        "bitcast": lambda operator: 26,
        "bincount": lambda operator: 16,
        "index_put": lambda operator: 18 if operator.attributes["accumulate"] else 0,
        "scatter_reduce": lambda operator: 18,
        **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"), _of_integers),
    }
)
