"""DynamicToStatic: shapes given by tensors become attributes, where the tensors are known.

    %0 = shape(%y)                          %0 = reshape(%x) {shape = [ny, cy]}
    %1 = dynamic_reshape(%x, %0)      =>

One walk over the Program carries the values of small integer tensors, as numbers or formulas of
its sizes; operators in `dynamic.py`'s table whose arguments are known take their static form. Types
are inferred again behind them, so a shape of a reshaped tensor is known, too; a `cond` on a
known value becomes the branch that is taken, and what nobody reads any more is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dy2st.passes.core.base import FunctionPass, function_pass
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.module import Module
from dy2st_runtime.ir import Program
from dy2st_runtime.ir.data import data_of
from dy2st_runtime.ir.rebuild import Call, rebuild
from dy2st_runtime.ops.dynamic import TABLE, static_form


@function_pass(opt_level=2)
class DynamicToStatic(FunctionPass):
    """The pass.

    >>> from dy2st import shape, to_static
    >>> from dy2st.static import InputSpec
    >>> like = to_static(lambda x, y: x.reshape(shape(y)), [InputSpec([4, 7]), InputSpec([2, 14])])
    >>> DynamicToStatic()(like.main_program).outputs[0].shape
    [2, 14]
    """

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The Program without dynamic operators whose arguments are known."""
        if not any(operator.name in TABLE for operator in program.block.walk()):
            return program
        return rebuild(program, rewrite=_static)


def _static(call: Call) -> Callable[[], Any] | None:
    """What records the static form of a call, None if it has none or too little is known."""
    row = TABLE.get(call.name)
    if row is None:
        return None
    inputs: list[Any] = list(call.operands)
    for place in row.arguments:
        data = data_of(call.operands[place])
        if data is None:
            return None
        inputs[place] = data.tolist()
    return partial(static_form, call.name, inputs, call.attributes)


__all__ = ["DynamicToStatic"]
