"""CanonicalizeCast: every elementwise user of a widening cast gets a cast of its own.

    %0 = cast(%x) {dtype = i32}             %0 = cast(%x) {dtype = i32}
    %1 = add(%0, %a)                =>      %1 = add(%0, %a)
    %2 = add(%0, %b)                        %2 = cast(%x) {dtype = i32}
                                            %3 = add(%2, %b)

After fusion the narrow tensor is then what goes from group to group. It is of use right before a
target that fuses, and EliminateCommonSubexpr would undo it.
"""

from __future__ import annotations

from dy2st.passes.core.base import FunctionPass, function_pass
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.graph import blocks_of
from dy2st.passes.core.module import Module
from dy2st_runtime.ir import DEFINITIONS, Operator, Program, Variable


@function_pass(opt_level=3)
class CanonicalizeCast(FunctionPass):
    """Gives every user of a cast a cast of its own, so that each can be computed with its user.

    >>> def f(x):
    ...     y = x.astype("float32")
    ...     return y + 1.0, y * 2.0
    >>> f = dy2st.to_static(f, [dy2st.static.InputSpec([3], "float16")])
    >>> better = dy2st.passes.CanonicalizeCast()(f.main_program)
    >>> [one.name for one in better.operators].count("cast")
    2
    """

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The Program with a cast for every user."""
        for block in blocks_of(program):
            used: set[Variable] = set()
            operators: list[Operator] = []
            for operator in block.operators:
                is_elementwise = DEFINITIONS[operator.name].is_elementwise
                for index, operand in enumerate(operator.operands):
                    maker = operand.maker
                    if not isinstance(maker, Operator) or maker.name != "cast":
                        continue
                    before, after = maker.operands[0].tensor_type.dtype, operand.tensor_type.dtype
                    if not is_elementwise or before.itemsize >= after.itemsize:
                        continue
                    if operand in used:
                        made = Operator(
                            "cast",
                            list(maker.operands),
                            dict(maker.attributes),
                            block,
                            location=maker.location,
                        )
                        made.results = [Variable(operand.type, made, operand.name)]
                        operators.append(made)
                        operator.operands[index] = made.results[0]
                    used.add(operand)
                operators.append(operator)
            block.operators[:] = operators
        return program


__all__ = ["CanonicalizeCast"]
