"""PrintIR: print the Programs as they are at this place of a pipeline."""

from __future__ import annotations

import sys
from typing import TextIO

from dy2st.passes.core.base import ModulePass
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.info import PassInfo
from dy2st.passes.core.module import Module
from dy2st.passes.core.registry import register


class PrintIR(ModulePass):
    """Write `PrintIR(header)` and the text of every Program; nothing is changed.

    >>> f = dy2st.to_static(lambda x: dy2st.exp(x), [dy2st.static.InputSpec([3])])
    >>> _ = dy2st.passes.PrintIR("before")(f.main_program)  # doctest: +ELLIPSIS
    PrintIR(before)
    ...
    """

    info = PassInfo("PrintIR", 0, changes=False, takes_functions=True)

    def __init__(self, header: str = "", file: TextIO | None = None):
        """Write to a file, or to what is sys.stdout then."""
        self.header, self.file = header, file

    def transform_module(self, module: Module, context: PassContext) -> Module:
        """The same Module."""
        out = sys.stdout if self.file is None else self.file
        print(f"PrintIR({self.header})", file=out)
        for program in module.programs.values():
            print(program, end="", file=out)
        return module


register("PrintIR", PrintIR)

__all__ = ["PrintIR"]
