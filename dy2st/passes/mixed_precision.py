"""ToMixedPrecision: computes convolutions and products in a shorter float, the rest as declared.

    %0 = conv(%x, %w)                       %0 = cast(%x) {dtype = f16}
    %1 = relu(%0)                   =>      %1 = conv(%0, %w in f16)
    %2 = softmax(%1)                        %2 = relu(%1)
                                            %3 = cast(%2) {dtype = f32}
                                            %4 = softmax(%3)

Contractions are computed in the short type; moves, and what is named in FOLLOW, where all operands
already are; everything else never. Where a constant would become infinite in the short type, an
operator stays in float32; one that follows also where a constant would become zero. Inputs,
outputs and state keep their types.
Within conv and matmul NumPy adds up in the short type's own products; a target that accumulates in
float32 loses less.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st.passes.core.base import FunctionPass, function_pass
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.graph import blocks_of, constant_of, constant_operator
from dy2st.passes.core.module import Array, Module
from dy2st_runtime.errors import DTypeError
from dy2st_runtime.ir import (
    DEFINITIONS,
    Block,
    Kind,
    Operator,
    Program,
    TensorType,
    Variable,
    is_floating,
)
from dy2st_runtime.ir.dead_code import drop_dead

FOLLOW = frozenset(
    ("abs", "add", "assign", "maximum", "minimum", "multiply", "neg", "relu", "subtract", "where")
    + ("clip", "hardtanh", "leaky_relu", "max_pool", "relu6", "window_max")
)
"""What follows beside operators that only move elements: a decision of this pass."""

_NUMBERS = ("value", "min", "max", "negative_slope")  # attributes that are computed with


@function_pass(opt_level=4)
class ToMixedPrecision(FunctionPass):
    """Computes matmuls and convolutions in a short float, float16 or bfloat16, and sums in float32.

    DTypeError for another dtype.

    >>> f = dy2st.to_static(lambda x: x @ x, [dy2st.static.InputSpec([3, 3])])
    >>> better = dy2st.passes.ToMixedPrecision("float16")(f.main_program)
    >>> [one.name for one in better.operators], better.outputs[0].dtype
    (['cast', 'matmul', 'cast'], dtype('float32'))
    """

    def __init__(self, dtype: Any = "float16"):
        """Choose the short type."""
        name = getattr(dtype, "__name__", str(dtype))  # np.float16 is a type
        if name not in ("float16", "bfloat16"):
            raise DTypeError(f"the short type is float16 or bfloat16, not {dtype}")
        try:
            self.dtype = np.dtype(name)
        except TypeError:
            raise DTypeError(
                "bfloat16 needs the package ml_dtypes: pip install 'dy2st[bf16]'"
            ) from None

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The Program in two precisions."""
        for block in blocks_of(program):
            _Casts(block, self.dtype).run()
        drop_dead(program)
        return program


_FLOAT32 = np.dtype("float32")


class _Casts:
    """A Block, the short form of values, and the long form of values that are short."""

    def __init__(self, block: Block, dtype: Any):
        self.block, self.dtype = block, dtype
        self.short: dict[Variable, Variable] = {}
        self.long: dict[Variable, Variable] = {}
        self.operators: list[Operator] = []

    def run(self) -> None:
        for operator in self.block.operators:
            if self.may_be_short(operator):
                self.shorten(operator)
            else:
                operator.operands = [self.in_long(v) for v in operator.operands]
                self.operators.append(operator)
        self.block.yields = [self.in_long(v) for v in self.block.yields]
        self.block.operators[:] = self.operators

    def may_be_short(self, operator: Operator) -> bool:
        kind = DEFINITIONS[operator.name].kind
        is_free = kind is Kind.INJECTIVE or operator.name in FOLLOW
        if not (is_free or kind is Kind.CONTRACTION) or not _is_float32(operator.results[0]):
            return False
        floats = [v for v in operator.operands if is_floating(v.tensor_type.dtype)]
        if not all(_is_float32(v) or self.is_short(v) for v in floats):
            return False
        arrays = [constant_of(v) for v in floats]
        if is_free:
            moving = [v for v, array in zip(floats, arrays, strict=True) if array is None]
            if not moving or not all(map(self.is_short, moving)):
                return False
            numbers = [operator.attributes.get(name) for name in _NUMBERS]
            arrays += [np.asarray(number) for number in numbers if number is not None]
        return all(array is None or self.fits(array, is_free) for array in arrays)

    def is_short(self, variable: Variable) -> bool:
        """Whether it is computed in the short type, and not only cast for some reader."""
        return self.short.get(variable) is variable

    def fits(self, array: Array, is_free: bool) -> bool:
        """Whether no number gets infinite; nor zero, where the long type costs nothing."""
        with np.errstate(all="ignore"):
            short = array.astype(self.dtype).astype(array.dtype)
        if (np.isfinite(array) & ~np.isfinite(short)).any():
            return False
        return not (is_free and ((short == 0) & (array != 0)).any())

    def shorten(self, operator: Operator) -> None:
        operator.operands = [self.in_short(v) if _is_float32(v) else v for v in operator.operands]
        for result in operator.results:
            if not _is_float32(result):
                continue
            type = result.tensor_type
            result.type = type.with_dtype(self.dtype)
            self.short[result] = result
        self.operators.append(operator)

    def in_short(self, variable: Variable) -> Variable:
        if variable not in self.short:
            array = constant_of(variable)
            if array is not None:
                made = constant_operator(self.block, array.astype(self.dtype), variable)
            else:
                made = self.cast(variable, self.dtype)
            self.operators.append(made)
            self.short[variable] = made.results[0]
        return self.short[variable]

    def in_long(self, variable: Variable) -> Variable:
        if not self.is_short(variable):
            return variable
        if variable not in self.long:
            made = self.cast(variable, np.dtype("float32"))
            self.operators.append(made)
            self.long[variable] = made.results[0]
        return self.long[variable]

    def cast(self, variable: Variable, dtype: Any) -> Operator:
        made = Operator("cast", [variable], {"dtype": np.dtype(dtype)}, self.block)
        made.location = variable.maker.location if isinstance(variable.maker, Operator) else None
        made.results = [Variable(variable.tensor_type.with_dtype(dtype), made, variable.name)]
        return made


def _is_float32(variable: Variable) -> bool:
    return isinstance(variable.type, TensorType) and variable.type.dtype == _FLOAT32


__all__ = ["FOLLOW", "ToMixedPrecision"]
