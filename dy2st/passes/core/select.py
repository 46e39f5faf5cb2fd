"""apply_to_function: a pass for some Programs of a Module only."""

from __future__ import annotations

import re

from dy2st.passes.core.base import ModulePass, Pass
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.info import PassInfo
from dy2st.passes.core.module import Module
from dy2st_runtime.errors import ArgumentError


class _ApplyToFunction(ModulePass):
    def __init__(self, inner: Pass, pattern: str, must_match: bool):
        self.inner, self.pattern, self.must_match = inner, re.compile(pattern), must_match
        self.info = PassInfo(f"{inner.info.name} on {pattern}", inner.info.opt_level)

    def transform_module(self, module: Module, context: PassContext) -> Module:
        """Run the pass on a Module of the matching Programs; the others stay the same objects."""
        names = [name for name in module.programs if self.pattern.fullmatch(name)]
        if not names and self.must_match:
            known = ", ".join(module.programs)
            raise ArgumentError(f"no Program matches {self.pattern.pattern!r}; there are {known}")
        part = Module(
            {name: module.programs[name] for name in names}, module.state, module.epilogues
        )
        self.inner.run(part, context)
        programs = {name: part.programs.get(name, old) for name, old in module.programs.items()}
        return Module(programs, part.state, part.epilogues)


def apply_to_function(inner: Pass, name_regex: str, error_if_no_match: bool = False) -> Pass:
    """A pass that runs `inner` on the Programs whose whole name matches a regular expression.

    Raises ArgumentError when it runs and nothing matches, if that is asked for.
    """
    return _ApplyToFunction(inner, name_regex, error_if_no_match)


__all__ = ["apply_to_function"]
