"""EliminateDeadCode: what nobody reads is not computed.

    %0 = exp(%x)            =>
    %1 = relu(%x)               %0 = relu(%x)
    return %1                   return %0

Pure operators without readers go, results and captured operands of control flow that nobody reads,
and parameters and buffers of the Program. What draws random numbers, prints or may stop the Program
stays, as a position does that is not proved to be inside; and so does an operator in whose result a
size is found that is still read. So in functions; those that nothing calls go.
"""

from __future__ import annotations

from dy2st.passes.core.base import FunctionPass, function_pass
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.module import Module
from dy2st_runtime.ir import Program
from dy2st_runtime.ir.dead_code import drop_dead


@function_pass(opt_level=0, takes_functions=True)
class EliminateDeadCode(FunctionPass):
    """Takes out what nobody reads; with `keep_parameters` parameters stay nevertheless.

    >>> f = dy2st.to_static(lambda x: (x + 1.0, dy2st.exp(x))[0], [dy2st.static.InputSpec([3])])
    >>> better = dy2st.passes.EliminateDeadCode()(f.main_program)
    >>> [one.name for one in better.operators]
    ['constant', 'add']
    """

    def __init__(self, keep_parameters: bool = False):
        """Choose what happens to parameters."""
        self.keep_parameters = keep_parameters

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The Program without dead code."""
        drop_dead(program)
        if not self.keep_parameters:
            drop_unread_state(program)
        return program


def drop_unread_state(program: Program) -> None:
    """Take out parameters and buffers that nobody reads, but for buffers that are updated."""
    read = set(program.block.yields)
    for operator in program.block.operators:
        read.update(operator.operands)
    for table in (program.parameters, program.buffers):
        for name, variable in list(table.items()):
            if variable not in read and name not in program.updates:
                program.drop_state(name)
    program.block.parameters = [*program.inputs, *program.state.values()]


__all__ = ["EliminateDeadCode", "drop_unread_state"]
