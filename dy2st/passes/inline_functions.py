"""InlineFunctions: operators in place of calls of functions.

    %0 = call(%x) {function = "double"}             =>      %0 = multiply(%x, %two)

Functions that may come back to themselves stay. Passes that do not say `takes_functions` see
Programs only after this.
"""

from __future__ import annotations

from collections import Counter

from dy2st.passes.core.base import FunctionPass, function_pass
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.module import Module
from dy2st_runtime.ir import Program
from dy2st_runtime.ir.functions import CALL, drop_unused, inline, recursive


@function_pass(opt_level=0, takes_functions=True)
class InlineFunctions(FunctionPass):
    """Takes out all functions; with `largest` those of as many operators, or called once.

    >>> f = dy2st.to_static(lambda x: x * 2, [dy2st.static.InputSpec([3])])
    >>> dy2st.passes.InlineFunctions()(f.main_program).functions
    {}
    """

    def __init__(self, largest: int | None = None):
        """Choose which functions go."""
        self.largest = largest

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The Program with operators in place of calls."""
        drop_unused(program)
        names = program.functions.keys() - recursive(program) if program.functions else set()
        if self.largest is not None:
            calls = Counter(o.attributes["function"] for o in program.walk() if o.name == CALL)
            sizes = {name: sum(1 for _ in program.functions[name].walk()) for name in names}
            names = {k for k in names if calls[k] == 1 or sizes[k] <= self.largest}
        inline(program, names)
        return program


__all__ = ["InlineFunctions"]
