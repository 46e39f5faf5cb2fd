"""Plans a Program as steps: loop nests, and operators, with the steps of what lies inside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from dy2st_runtime.engine.native.convolution.regions import Region, with_regions
from dy2st_runtime.engine.native.nests.endings import ending
from dy2st_runtime.engine.native.nests.groups import NestStep, plan
from dy2st_runtime.engine.native.nests.nests import Nest
from dy2st_runtime.engine.native.nests.sides import is_product, is_single, read_by
from dy2st_runtime.engine.native.program.composites import made_of_others, without_places
from dy2st_runtime.engine.native.program.hoisting import Ahead, ahead_of
from dy2st_runtime.engine.native.program.shape_specialisation import ShapeSpecialised, specialised
from dy2st_runtime.ir.dispatch import interpreting
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.tracing.tracer import Tracer


@dataclass(eq=False)
class Step:
    """A nest of `operators`, or a region; or an operator, with steps of its Blocks or parts.

    An operator that is a product may have an `ending`, the nest of `operators`; one that tensors
    give sizes, and that has a static form, is `specialised`. Some products of loops are `ahead`.
    """

    nest: Nest | None = None
    region: Region | None = None
    operator: Operator | None = None
    checked: Sequence[Operator] = ()
    inner: list[Planned] = field(default_factory=list)
    operators: Sequence[Operator] = ()
    number: int = 0
    ending: Nest | None = None
    specialised: ShapeSpecialised | None = None
    ahead: Ahead | None = None

    @property
    def reads(self) -> Sequence[Variable]:
        """What it reads."""
        if self.nest is not None:
            leaves = [leaf.variable for leaf in self.nest.leaves]
            return [*leaves, *(value for one in self.checked for value in one.operands)]
        if self.region is not None:
            return self.region.operands
        assert self.operator is not None
        read = read_by(self.operator)
        if self.ending is None:
            return read
        leaves = [leaf.variable for leaf in self.ending.leaves]
        return [*read, *(one for one in leaves if one is not self.operator.results[0])]

    @property
    def results(self) -> Sequence[Variable]:
        """What it makes."""
        if self.nest is not None:
            return self.nest.outputs
        if self.region is not None:
            return self.region.results
        assert self.operator is not None
        return self.operator.results if self.ending is None else self.ending.outputs


@dataclass(eq=False)
class Planned:
    """A Block and its steps, in the order in which they run."""

    block: Block
    steps: list[Step]

    def blocks(self) -> Iterator[Block]:
        """The Block and all inside of it."""
        yield self.block
        for step in self.steps:
            for inner in step.inner:
                yield from inner.blocks()

    def all(self) -> Iterator[Step]:
        """The steps, and after each one those inside of it."""
        for step in self.steps:
            yield step
            for inner in step.inner:
                yield from inner.all()


def planned(block: Block) -> Planned:
    """The steps of a Block and of all Blocks inside of it."""
    steps = []
    read = {*block.yields, *(v for operator in block.operators for v in operator.operands)}
    for step in plan(block, with_regions(block)):
        if isinstance(step, NestStep):
            nested = Step(nest=step.nest, checked=step.checked, operators=step.operators)
            steps.append(nested)
        elif isinstance(step, Region):
            steps.append(Step(region=step, operators=step.operators))
        else:
            operator = without_places(step.operator, read)
            form = specialised(operator)
            blocks = _blocks(operator) if form is None else form.blocks
            inner = [planned(block) for block in blocks]
            if operator.name == "while":
                # Note which products of an iteration are made ahead.
                carried = len(operator.results)
                for one in inner[1].steps:
                    if one.operator is not None:
                        one.ahead = ahead_of(one.operator, inner[1].block, carried)
            steps.append(Step(operator=operator, inner=inner, specialised=form))
    # Let nests be the endings of products that they alone read; of several, of the last.
    # A product that somebody else reads must be whole in memory: it has no ending.
    uses = Counter(variable for step in steps for variable in step.reads)
    uses.update(block.yields)
    products: dict[Variable, tuple[int, Step]] = {}
    found: dict[Step, None] = {}
    for own in steps:
        ended = None if own.nest is None else _ended(own, own.nest, products)
        if ended is not None:
            product, own = ended
            # It moves to where the nest stood, as the nest may read what is made in between.
            del found[product]
        found[own] = None
        maker = own.operator
        if maker is not None and own.ending is None and is_product(maker):
            (result,) = maker.results
            if is_single(maker) and uses[result] == 1:
                products[result] = len(products), own
    return Planned(block, list(found))


def _ended(
    step: Step, nest: Nest, products: dict[Variable, tuple[int, Step]]
) -> tuple[Step, Step] | None:
    """A product and what it becomes with a nest as its ending; None if no product fits."""
    read = [leaf.variable for leaf in nest.leaves if leaf.variable in products]
    for result in sorted(read, key=lambda variable: -products[variable][0]):
        own = ending(nest, result)
        if own is not None:
            _, product = products[result]
            return product, replace(product, ending=own, operators=step.operators)
    return None


def _blocks(operator: Operator) -> Sequence[Block]:
    """The Blocks of an operator; of a composite one the operators that it is made of."""
    made = made_of_others(operator)
    if made is None:
        return operator.blocks
    tracer = Tracer()
    parameters = [tracer.block.add_parameter(operand.type) for operand in operator.operands]
    with tracer.tracing(), interpreting(tracer):
        results = made(*parameters, **operator.attributes)
    for inner in tracer.block.operators:
        # Errors name the line of the operator that the user wrote.
        inner.location = operator.location
    tracer.block.yields = list(results) if isinstance(results, tuple) else [results]
    return [tracer.block]


__all__ = ["Planned", "Step", "planned"]
