"""The language of Programs: types, Variables, operators' records, the call path and the tracer."""

from dy2st_runtime.ir.definition import (
    DEFINITIONS as DEFINITIONS,
    Effect as Effect,
    Kind as Kind,
    OperatorDefinition as OperatorDefinition,
    REQUIRED as REQUIRED,
    Sample as Sample,
    Scales as Scales,
    View as View,
    define as define,
    lookup as lookup,
)
from dy2st_runtime.ir.dispatch import (
    F as F,
    apply as apply,
    eagerly as eagerly,
    interpreting as interpreting,
    method as method,
    public as public,
)
from dy2st_runtime.ir.location import user_location as user_location
from dy2st_runtime.ir.program import (
    Block as Block,
    LocatedConstraint as LocatedConstraint,
    Operator as Operator,
    Program as Program,
)
from dy2st_runtime.ir.structure import Output as Output
from dy2st_runtime.ir.tensor import Tensor as Tensor
from dy2st_runtime.ir.tracing import traced_numbers as traced_numbers
from dy2st_runtime.ir.tracing.tracer import Tracer as Tracer, current_tracer as current_tracer
from dy2st_runtime.ir.types import (
    ArrayType as ArrayType,
    DType as DType,
    Shape as Shape,
    TensorType as TensorType,
    ValueType as ValueType,
    is_differentiable as is_differentiable,
    is_floating as is_floating,
)
from typing import Any

Variable: Any
