"""RewritePass: makes a pass of rules. explain: says why rules did not fire."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

from dy2st.passes.core.base import FunctionPass, Pass
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.info import PassInfo, names_of
from dy2st.passes.core.module import Module, as_module
from dy2st.passes.core.registry import register
from dy2st.passes.patterns.rewriter import rewrite
from dy2st.passes.patterns.rule import Rule
from dy2st_runtime.errors import Location, WrongKind
from dy2st_runtime.ir import Operator, Program


class RewritePass(FunctionPass):
    """A pass that applies rules until none fits any more."""

    rules: tuple[Rule, ...] = ()

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The Program, rewritten in place."""
        rewrite(program, [*self.rules, *offered_rules(self.info.name)], context)
        return program


def rewrite_pass(
    name: str, rules: Iterable[Rule], *, opt_level: int, doc: str, required: Iterable[str] = ()
) -> type[RewritePass]:
    """Make and register a pass of rules; TypeError for what is no rule.

    >>> from dy2st.passes.patterns.pattern import op, value
    >>> x = value()
    >>> @dy2st.passes.rule(op.exp(op.log(x)))
    ... def undone(m):
    ...     "exp(log(x)) -> x."
    ...     return m[x]
    >>> Undo = dy2st.passes.rewrite_pass("Undo", [undone], opt_level=1, doc="exp undoes log.")
    >>> f = dy2st.to_static(lambda x: dy2st.exp(dy2st.log(x)), [dy2st.static.InputSpec([3])])
    >>> Undo()(f.main_program).operators
    []
    """
    found = tuple(rules)
    for entry in found:
        if not isinstance(entry, Rule):
            raise WrongKind(f"{name} is made of rules, not of {entry!r:.80}: put @rule(...) above")
    members = {
        "info": PassInfo(name, opt_level, names_of(required, "required passes")),
        "rules": found,
        "__doc__": doc,
        "__module__": sys._getframe(1).f_globals["__name__"],  # who calls: help() names it
    }
    made = type(name, (RewritePass,), members)
    register(name, made)
    return made


def offered_rules(name: str) -> list[Rule]:
    """Rules that other packages add to a pass, by entry points of the group `dy2st.rules.NAME`."""
    if name not in _offered:
        found = [entry.load() for entry in entry_points(group=f"dy2st.rules.{name}")]
        for entry in found:
            if not isinstance(entry, Rule):
                raise WrongKind(f"an entry point of dy2st.rules.{name} is no rule: {entry!r:.80}")
        _offered[name] = found
    return _offered[name]


_offered: dict[str, list[Rule]] = {}


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a rule left an operator alone.

    >>> half = dy2st.to_static(lambda x: (x + x) * 2.0, [dy2st.static.InputSpec([3])])
    >>> [one, *_] = dy2st.passes.explain(dy2st.passes.Peephole1(), half.main_program)
    >>> one.reason
    '%x is made by the caller, not by `conv`'
    """

    rule: str
    operator: str
    location: Location | None
    reason: str

    def __str__(self) -> str:
        """`fold_scale: multiply (model.py:9): ...`."""
        place = f" ({self.location})" if self.location else ""
        return f"{self.rule}: {self.operator}{place}: {self.reason}"


def explain(
    subject: Pass, target: Program | Module, state: Mapping[str, Any] | None = None
) -> list[Explanation]:
    """Run a pass on a copy; why its rules did not fire where their first operator stands.

    >>> from dy2st import to_static
    >>> from dy2st.passes import Peephole1
    >>> from dy2st.static import InputSpec
    >>> half = to_static(lambda x: (x + x) * 2.0, [InputSpec([3])])
    >>> print(explain(Peephole1(), half.main_program)[0].reason)
    %x is made by the caller, not by `conv`
    """
    now = PassContext.current()
    context = PassContext(now.opt_level, now.required_pass, now.disabled_pass, now.config)
    context.explanations = []
    subject.run(as_module(target, state), context)
    found = []
    for rule, operator, reason in context.explanations:
        if isinstance(operator, Operator):
            found.append(Explanation(rule, operator.name, operator.location, reason))
        else:
            found.append(Explanation(rule, str(operator), None, reason))
    return list(dict.fromkeys(found))


__all__ = ["Explanation", "RewritePass", "explain", "offered_rules", "rewrite_pass"]
