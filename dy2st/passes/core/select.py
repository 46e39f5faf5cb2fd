"""apply_to_function: runs a pass on some Programs of a Module only."""

from __future__ import annotations

import re

from dy2st.passes.core.base import ModulePass, Pass
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.info import PassInfo
from dy2st.passes.core.module import Module
from dy2st.passes.core.registry import order_of_required
from dy2st_runtime.errors import ArgumentError, PassError


class _ApplyToFunction(ModulePass):
    def __init__(self, inner: Pass, pattern: str, must_match: bool):
        self.inner, self.pattern, self.must_match = inner, re.compile(pattern), must_match
        info = inner.info
        self.info = PassInfo(f"{info.name} on {pattern}", info.opt_level, changes=info.changes)

    def transform_module(self, module: Module, context: PassContext) -> Module:
        """Run the pass, after what it requires, on a Module of the matching Programs.

        The others stay the same objects.
        """
        names = [name for name in module.programs if self.pattern.fullmatch(name)]
        if not names and self.must_match:
            known = ", ".join(module.programs)
            raise ArgumentError(f"no Program matches {self.pattern.pattern!r}; there are {known}")
        chosen = {name: module.programs[name] for name in names}
        part = Module(chosen, module.state, module.epilogues, module.frozen)
        for one in (*order_of_required(self.inner.info), self.inner):
            if not context.is_disabled(one.info.name):
                one.run(part, context)
        clash = [name for name in part.programs if name in module.programs and name not in names]
        if clash:
            raise PassError(f"{self.info.name} makes a Program {clash[0]!r}, which is there")
        gone = set(names) - set(part.programs)
        programs = {name: old for name, old in module.programs.items() if name not in gone}
        return Module({**programs, **part.programs}, part.state, part.epilogues, part.frozen)


def apply_to_function(inner: Pass, name_regex: str, error_if_no_match: bool = False) -> Pass:
    """A pass that runs `inner` on the Programs whose whole name matches a regular expression.

    Raises ArgumentError when it runs and nothing matches, if that is asked for.

    >>> fold = dy2st.passes.apply_to_function(dy2st.passes.FoldConstant(), "forward|step")
    >>> fold.info.name
    'FoldConstant on forward|step'
    """
    return _ApplyToFunction(inner, name_regex, error_if_no_match)


ApplyPassToFunction = apply_to_function
"""`apply_to_function` under TVM's name."""

__all__ = ["ApplyPassToFunction", "apply_to_function"]
