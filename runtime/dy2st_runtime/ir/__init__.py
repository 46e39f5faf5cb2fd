"""The language of Programs: types, Variables, operators' records, the call path and the tracer."""

from dy2st_runtime.ir.definition import (
    DEFINITIONS,
    REQUIRED,
    Effect,
    Kind,
    OperatorDefinition,
    Sample,
    Scales,
    View,
    define,
    lookup,
)
from dy2st_runtime.ir.dispatch import F, apply, eagerly, interpreting, method, public
from dy2st_runtime.ir.location import user_location
from dy2st_runtime.ir.program import (
    Block,
    LocatedConstraint,
    Operator,
    Output,
    Program,
    Variable,
)
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.ir.tracing import traced_numbers
from dy2st_runtime.ir.tracing.tracer import Tracer, current_tracer
from dy2st_runtime.ir.types import (
    ArrayType,
    DType,
    Shape,
    TensorType,
    ValueType,
    is_differentiable,
    is_floating,
)
from dy2st_runtime.lazy import public_dir

__all__ = [
    "DEFINITIONS",
    "REQUIRED",
    "ArrayType",
    "Block",
    "DType",
    "Effect",
    "F",
    "Kind",
    "LocatedConstraint",
    "Operator",
    "OperatorDefinition",
    "Output",
    "Program",
    "Sample",
    "Scales",
    "Shape",
    "Tensor",
    "TensorType",
    "Tracer",
    "ValueType",
    "Variable",
    "View",
    "apply",
    "current_tracer",
    "define",
    "eagerly",
    "interpreting",
    "is_differentiable",
    "is_floating",
    "lookup",
    "method",
    "public",
    "traced_numbers",
    "user_location",
]
__dir__ = public_dir(__name__)
