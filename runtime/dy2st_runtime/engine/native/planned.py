"""A Program as steps: loop nests, and operators one by one, with the steps of what lies inside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dy2st_runtime.engine.native.convolution.regions import Region, with_regions
from dy2st_runtime.engine.native.groups import NestStep, plan
from dy2st_runtime.engine.native.nests import Nest
from dy2st_runtime.engine.native.sides import read_by
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.dispatch import interpreting
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.tracing.tracer import Tracer


@dataclass(eq=False)
class Step:
    """A nest of `operators`, or a region; or an operator, with steps of its Blocks or parts."""

    nest: Nest | None = None
    region: Region | None = None
    operator: Operator | None = None
    checked: Sequence[Operator] = ()
    inner: list[Planned] = field(default_factory=list)
    operators: Sequence[Operator] = ()
    number: int = 0

    @property
    def reads(self) -> Sequence[Variable]:
        """What it reads."""
        if self.nest is not None:
            leaves = [leaf.variable for leaf in self.nest.leaves]
            return [*leaves, *(value for one in self.checked for value in one.operands)]
        if self.region is not None:
            return self.region.operands
        assert self.operator is not None
        return read_by(self.operator)

    @property
    def results(self) -> Sequence[Variable]:
        """What it makes."""
        if self.nest is not None:
            return self.nest.outputs
        if self.region is not None:
            return self.region.results
        assert self.operator is not None
        return self.operator.results


@dataclass(eq=False)
class Planned:
    """A Block and its steps, in the order in which they run."""

    block: Block
    steps: list[Step]

    def all(self) -> Iterator[Step]:
        """The steps, and after each one those inside of it."""
        for step in self.steps:
            yield step
            for inner in step.inner:
                yield from inner.all()


def planned(block: Block) -> Planned:
    """The steps of a Block and of all Blocks inside of it."""
    steps = []
    for step in plan(block, with_regions(block)):
        if isinstance(step, NestStep):
            nested = Step(nest=step.nest, checked=step.checked, operators=step.operators)
            steps.append(nested)
        elif isinstance(step, Region):
            steps.append(Step(region=step, operators=step.operators))
        else:
            inner = [planned(one) for one in _blocks(step.operator)]
            steps.append(Step(operator=step.operator, inner=inner))
    return Planned(block, steps)


def _blocks(operator: Operator) -> Sequence[Block]:
    """The Blocks of an operator; of one without a kernel the operators that it is made of."""
    if operator.blocks or lookup(operator.name).kernel is not None:
        return operator.blocks
    decompose = lookup(operator.name).decompose
    assert decompose is not None, f"operator {operator.name!r} has no kernel"
    tracer = Tracer()
    parameters = [tracer.block.add_parameter(operand.type) for operand in operator.operands]
    with tracer.tracing(), interpreting(tracer):
        results = decompose(*parameters, **operator.attributes)
    for inner in tracer.block.operators:
        inner.location = operator.location
    tracer.block.yields = list(results) if isinstance(results, tuple) else [results]
    return [tracer.block]


__all__ = ["Planned", "Step", "planned"]
