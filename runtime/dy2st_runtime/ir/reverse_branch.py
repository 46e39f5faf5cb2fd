"""The gradient of a finished branch: a `cond` whose Blocks compute the branches once more."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dy2st_runtime.dims import Dim, symbols
from dy2st_runtime.ir.definition import Effect, lookup
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.facts import branch_condition
from dy2st_runtime.ir.hooks import HOOKED
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.tracing.tracer import Tracer
from dy2st_runtime.ir.types import TensorType

Gradients = Callable[
    [Sequence[Variable], Sequence[Variable], Sequence[Variable]], list[Variable | None]
]


def is_simple(operator: Operator) -> bool:
    """Whether the branches of a `cond` give the same when they are computed once more, elsewhere.

    They draw no random numbers, have no branches, loops and lists in them, and no sizes of their
    own; a hook of theirs would be called twice.
    """
    known = {s for v in operator.operands for s in _symbols(v)}
    for inner in (one for block in operator.blocks for one in block.operators):
        if inner.blocks or lookup(inner.name).effect is Effect.RANDOM:
            return False
        if inner.name == HOOKED:
            return False
        variables = [*inner.operands, *inner.results]
        if not all(isinstance(v.type, TensorType) for v in variables):
            return False
        if not all(known.issuperset(_symbols(v)) for v in inner.results):
            return False
    return True


def _symbols(variable: Variable) -> list[Dim]:
    shape = variable.type.shape if isinstance(variable.type, TensorType) else ()
    return [symbol for size in shape if isinstance(size, Dim) for symbol in symbols(size)]


def through_branches(
    tracer: Tracer,
    operator: Operator,
    operands: Sequence[Variable],
    found: Sequence[Variable | None],
    wanted: Sequence[int],
    gradients: Gradients,
    depends: list[list[bool]],
) -> list[Variable] | None:
    """The gradients of some operands of a `cond`, by place, from those of its results.

    `operands` are its operands as they were; `depends` gets for each branch on which of those that
    are wanted it depends: the others get zeros. None if the types of the gradients differ.
    """
    blocks: list[Block] = []
    for branch, taken in zip(operator.blocks, (True, False), strict=True):
        with tracer.nested(branch_condition(operands[0], taken)) as block:
            values = dict(zip(branch.parameters, map(_apart(tracer), operands[1:]), strict=True))
            _repeat(tracer, branch, values)
            ends = [
                (values[end], tracer.local(g))
                for end, g in zip(branch.yields, found, strict=True)
                if g is not None
            ]
            inputs = [values[branch.parameters[place - 1]] for place in wanted]
            made = gradients([end for end, _ in ends], [g for _, g in ends], inputs)
            depends.append([g is not None for g in made])
            block.yields = [
                F.zeros_like(x).detach() if g is None else tracer.local(g)
                for x, g in zip(inputs, made, strict=True)
            ]
            if [y.type for y in block.yields] != [operands[place].type for place in wanted]:
                return None
        blocks.append(block)
    captured = dict.fromkeys(v for block in blocks for v in tracer.captured_by(block))
    for block in blocks:
        block.parameters = [tracer.import_into(block, variable) for variable in captured]
    types = [operands[place].type for place in wanted]
    condition = tracer.local(operands[0])
    return tracer.append("cond", [condition, *captured], {}, types, blocks).results


def _apart(tracer: Tracer) -> Callable[[Variable], Variable]:
    """Makes a Variable of the current Block with the same value, behind which a walk ends."""

    def copy(variable: Variable) -> Variable:
        local = tracer.local(variable)
        return tracer.append("assign", [local], {}, [local.type]).results[0]

    return copy


def _repeat(tracer: Tracer, branch: Block, values: dict[Variable, Variable]) -> None:
    """Append the operators of a branch once more; what only checks or prints is done already."""
    for operator in branch.operators:
        if operator.results:
            inputs = [values[operand] for operand in operator.operands]
            types = [result.type for result in operator.results]
            made = tracer.append(operator.name, inputs, operator.attributes, types)
            values.update(zip(operator.results, made.results, strict=True))


__all__ = ["is_simple", "through_branches"]
