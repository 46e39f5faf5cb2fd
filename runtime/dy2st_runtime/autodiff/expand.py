"""A composite operator without a gradient rule, taken apart where it stands."""

from __future__ import annotations

from dy2st_runtime.errors import NoGradientRule
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.dispatch import interpreting
from dy2st_runtime.ir.grad_mode import set_grad_enabled
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.tracing.tracer import Tracer


def expanded(tracer: Tracer, operator: Operator) -> list[Operator]:
    """The operators that it is made of, which give its results; they are in no Block's list yet."""
    decompose = lookup(operator.name).decompose
    assert decompose is not None
    block = operator.block
    scratch, mark = Tracer.of_block(tracer.program, block), len(block.operators)
    outside = {operand: Variable(operand.type, block) for operand in operator.operands}
    for operand, inner in outside.items():
        inner.held, inner.number = operand.held, operand.number
    with interpreting(scratch), set_grad_enabled(True):
        made = decompose(*(outside[v] for v in operator.operands), **operator.attributes)
    made = list(made) if isinstance(made, tuple) else [made]
    for result, new in zip(operator.results, made, strict=True):
        scratch.append("assign", [new], {}, [result.type]).results = [result]
    parts = block.operators[mark:]
    del block.operators[mark:]
    back = {inner: operand for operand, inner in outside.items()}
    for part in parts:
        part.location, part.again = operator.location, operator.again
        part.operands = [back.get(operand, operand) for operand in part.operands]
        for result in part.results:
            result.maker = part
        if part.name == operator.name:
            raise _refused(operator)
    return parts


def _refused(operator: Operator) -> NoGradientRule:
    return NoGradientRule(
        f"the gradient of `{operator.name}`, whose sizes only the run tells",
        at=operator.location,
        why="its gradient is that of the operator for sizes that are known",
        hint="compute the sizes from shapes, or differentiate outside of the Program",
    )


__all__ = ["expanded"]
