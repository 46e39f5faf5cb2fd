"""Legalize: operators that a target does not know become operators that it does.

    LEGALIZATIONS.add("my-target", op.gelu(x), fast_gelu)
    Legalize("my-target")(program)

For a target there are rules, and names of operators that are taken apart into what they are made
of. The target `primitive` takes apart every composite operator.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dy2st.passes.core.base import FunctionPass, function_pass
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.graph import blocks_of
from dy2st.passes.core.module import Module
from dy2st.passes.patterns.rewriter import rewrite
from dy2st.passes.patterns.rule import Rule
from dy2st_runtime.dims import collect, using
from dy2st_runtime.errors import ArgumentError, did_you_mean
from dy2st_runtime.ir import (
    DEFINITIONS,
    Block,
    Operator,
    Program,
    Tracer,
    Variable,
    interpreting,
)
from dy2st_runtime.ir.grad_mode import enable_grad
from dy2st_runtime.ir.sizes import facts_of
from dy2st_runtime.ops.dynamic import TABLE as DYNAMIC

_MOST_DEPTH = 50


class Legalizations:
    """For every target its rules, and the operators that it wants taken apart."""

    def __init__(self) -> None:
        """Start with `primitive`."""
        self.rules: dict[str, list[Rule]] = {"primitive": []}
        composite = {n for n, d in DEFINITIONS.items() if d.decompose is not None}
        self.apart: dict[str, set[str]] = {"primitive": composite - set(DYNAMIC)}

    def add(self, target: str, rules: Iterable[Rule] = (), apart: Iterable[str] = ()) -> None:
        """Register rules, and operators to take apart, for a target, which may be a new one.

        Raises ArgumentError for an operator that does not exist or is made of nothing smaller.
        """
        for name in apart:
            if name not in DEFINITIONS:
                near = did_you_mean(name, DEFINITIONS)
                raise ArgumentError(f"there is no operator {name!r}{near}")
            if name in DYNAMIC:
                raise ArgumentError(
                    f"what {name!r} is made of depends on data: run DynamicToStatic"
                )
            if DEFINITIONS[name].decompose is None:
                raise ArgumentError(f"the operator {name!r} is primitive: write a rule for it")
        self.rules.setdefault(target, []).extend(rules)
        self.apart.setdefault(target, set()).update(apart)


LEGALIZATIONS = Legalizations()
"""What is registered."""


@function_pass(opt_level=1)
class Legalize(FunctionPass):
    """Takes operators apart and rewrites them as a target wants them.

    ArgumentError if nothing is registered for the target; `LEGALIZATIONS.add` registers rules.

    >>> f = dy2st.to_static(lambda x: dy2st.nn.functional.silu(x), [dy2st.static.InputSpec([3])])
    >>> better = dy2st.passes.Legalize("primitive")(f.main_program)
    >>> [one.name for one in better.operators]
    ['sigmoid', 'multiply']
    """

    def __init__(self, target: str = "primitive"):
        """Look the target up."""
        if target not in LEGALIZATIONS.rules:
            near = did_you_mean(target, LEGALIZATIONS.rules)
            raise ArgumentError(f"nothing is registered for the target {target!r}{near}")
        self.target = target

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The Program with the target's operators."""
        rewrite(program, LEGALIZATIONS.rules[self.target], context)
        names = LEGALIZATIONS.apart[self.target]
        if names:
            with using(facts_of(program)), enable_grad():
                for block in blocks_of(program):
                    # decompositions take the place of operators, and of what those are made of
                    replaced: dict[Variable, Variable] = {}
                    pending = [(operator, 0) for operator in block.operators[::-1]]
                    block.operators = []
                    while pending:
                        operator, depth = pending.pop()
                        if replaced:
                            operator.operands = [_latest(v, replaced) for v in operator.operands]
                        made = (
                            _decomposed(program, block, operator)
                            if operator.name in names
                            else None
                        )
                        if made is None:
                            block.operators.append(operator)
                            continue
                        if depth > _MOST_DEPTH:
                            raise ArgumentError(
                                f"the decomposition of {operator.name!r} does not come to an end"
                            )
                        operators, results = made
                        for old, new in zip(operator.results, results, strict=True):
                            replaced[old] = new
                            new.name = new.name or old.name
                        pending += [(entry, depth + 1) for entry in operators[::-1]]
                    block.yields = [_latest(v, replaced) for v in block.yields]
        return program


def _latest(variable: Variable, replaced: dict[Variable, Variable]) -> Variable:
    """What is read now: what a decomposition gives may have been decomposed, too."""
    while (other := replaced.get(variable)) is not None:
        variable = other
    return variable


def _decomposed(
    program: Program, block: Block, operator: Operator
) -> tuple[list[Operator], list[Variable]] | None:
    decompose: Any = DEFINITIONS[operator.name].decompose
    mark = len(block.operators)
    tracer = Tracer.of_block(program, block)
    with collect() as found, interpreting(tracer):
        result = decompose(*operator.operands, **operator.attributes)
    results = list(result) if isinstance(result, tuple) else [result]
    made, block.operators[mark:] = block.operators[mark:], []
    if found:
        return None
    for entry in made:
        entry.location = operator.location
    return made, [tracer.variable(value) for value in results]


__all__ = ["LEGALIZATIONS", "Legalizations", "Legalize"]
