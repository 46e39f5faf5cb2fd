"""Splits a Program in two: a forward half, and a backward half that computes gradients."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from dy2st_runtime.autodiff.activity import Varied, before_setting, is_differentiable, is_opened
from dy2st_runtime.autodiff.flows import Flags, UnknownFlow
from dy2st_runtime.autodiff.gradient import Gradient, cleaned, flag_of, type_of_gradient
from dy2st_runtime.autodiff.lists import add_lists
from dy2st_runtime.autodiff.program_gradients import HANDLERS, append_gradients
from dy2st_runtime.autodiff.residuals import Residuals, SymbolBinders
from dy2st_runtime.autodiff.stand_ins import MissingResidual, StandIns
from dy2st_runtime.autodiff.walk import Shared, Walk
from dy2st_runtime.dims import Dim, symbols
from dy2st_runtime.ir.clone import clone
from dy2st_runtime.ir.definition import Effect, lookup
from dy2st_runtime.ir.program import Block, Program, Variable
from dy2st_runtime.ir.sizes import facts_of
from dy2st_runtime.ir.tracing.gradient_flow import SETTER
from dy2st_runtime.ir.tracing.tracer import Tracer
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.thread_state import without_collection

Given = tuple[bool, ...]
"""Which of the targets have a gradient to begin with."""


Places = list[tuple[int, int | None] | None]
"""For each gradient its place among results, and that of the flag of its presence."""


@dataclass
class Backward:
    """A Program of gradients.

    program  takes the gradients to begin with, then what is kept; gives gradients, then bools.
    inputs   what it takes, of the forward Program's values.
    found    where the gradients of the wanted inputs are; None for what surely is not there, and
             in place of a bool for what surely is.
    """

    program: Program
    inputs: list[Variable]
    found: Places = field(default_factory=list)


class Halves:
    """The two Programs, for gradients with respect to some parameters of the Block.

    forward   gives the outputs, what is kept, the flags, and the updates, in this order.
    targets   the yields that have gradients, by number.
    place_of  where what a backward Program takes is found: among the parameters of the Block, or,
              counted from -1 downwards, in what is kept.
    flags     for each of them a bool: whether gradients flow through; None where they surely do.
    residuals what the backward Programs may take.

    Raises UnknownFlow where it is unknown in the first half whether gradients flow.
    """

    def __init__(self, program: Program, wanted: Sequence[int]) -> None:
        """Take apart a copy of a Program; `wanted` are places among its Block's parameters."""
        self.forward = clone(program)  # it gets more results, which the caller's has not
        self._count = len(program.outputs)
        block = self.forward.block
        self.wanted = [block.parameters[place] for place in wanted]
        self._yields = list(block.yields)
        self.varied = Varied(self.wanted)
        self.varied.mark(block.operators)
        self.targets = [i for i, v in enumerate(self._yields) if self.varied.has(v)]
        # The flags of gradients, true if they flow through each target; None where they do.
        flags = Flags(self.forward, self.varied)
        targets = [self._yields[place] for place in self.targets]
        unsure = [target for target in targets if not flags.is_sure(target)]
        found = dict(zip(unsure, flags.flags(unsure), strict=True))
        self.flags = [found.get(target) for target in targets]
        # Raise UnknownFlow if gradients of a result begin in the Program itself.
        operators = self.forward.block.operators
        opened = [one for one in self._yields if is_opened(one) and not is_differentiable(one)]
        if opened:  # of integers: no target, since no gradient ever arrives there
            raise UnknownFlow("the function sets stop_gradient of a result that has no gradient")
        begun = Varied(before_setting(one.results[0]) for one in operators if one.name == SETTER)
        if begun.known:
            begun.mark(operators)
            pairs = zip(self.targets, self.flags, strict=True)
            sure = {place for place, flag in pairs if flag is None}
            if any(begun.has(one) and place not in sure for place, one in enumerate(self._yields)):
                raise UnknownFlow(
                    "gradients flow through a result because they begin in the function"
                )
        self._residuals = Residuals(SymbolBinders(block))
        self._settled: list[Variable] | None = None
        self._backward: dict[Given, Backward | None] = {}
        # That of all targets reads the most: what it keeps serves gradients of some of them, too.
        first = self.backward((True,) * len(self.targets))
        assert first is not None
        self._settled = first.inputs
        self.place_of = {variable: place for place, variable in enumerate(block.parameters)}
        self.residuals = [variable for variable in first.inputs if variable not in self.place_of]
        self.place_of.update({variable: ~i for i, variable in enumerate(self.residuals)})
        extra = [*self.residuals, *(flag for flag in self.flags if flag is not None)]
        block.yields[self._count : self._count] = extra

    def backward(self, given: Given) -> Backward | None:
        """The Program of the gradients that begin with those of some targets.

        None where it needs more than the forward Program gives.
        """
        if given not in self._backward:
            try:
                with without_collection():
                    self._backward[given] = self._recorded(given)
            except MissingResidual:
                self._backward[given] = None
        return self._backward[given]

    def _recorded(self, given: Given) -> Backward:
        program = Program(f"gradients of {self.forward.name}")
        tracer, homes = Tracer(program), self._residuals.homes
        with tracer.resuming(facts_of(self.forward), homes.next_number()):
            forward = _InputStandIns(tracer, self.forward.block, homes, self._settled)
            shared = Shared(tracer, self.varied, self._residuals, HANDLERS, add_lists)
            walk = Walk(shared, forward)
            with tracer.located(lambda: shared.at):
                for number, place in enumerate(self.targets):
                    if given[number]:
                        target = self._yields[place]
                        seed = program.block.add_parameter(type_of_gradient(target.type))
                        walk.seed(target, Gradient(seed))
                walk.run(self.forward.block)
                found = _yielded(program.block, [walk.gradient(v) for v in self.wanted])
                forward.finish()
        program.inputs = list(program.block.parameters)
        # Only constraints on sizes that the backward Program has can be checked there.
        bound: set[Dim] = set()
        for variable in program.inputs:
            if isinstance(variable.type, TensorType):
                bound.update(symbols(variable.type.shape))
        known = [
            e for e in self.forward.constraints if bound.issuperset(symbols(e.constraint.condition))
        ]
        program.constraints[:0] = known
        return Backward(program, forward.taken, found)


def _yielded(
    block: Block, gradients: Iterable[Gradient | None]
) -> list[tuple[int, int | None] | None]:
    """Let a Block yield gradients, and the flags of their presence."""
    found: Places = []
    for gradient in gradients:
        if gradient is None:
            found.append(None)
            continue
        place, flag = len(block.yields), None
        block.yields.append(cleaned(gradient).value)
        if gradient.there is not None:
            flag = len(block.yields)
            block.yields.append(flag_of(gradient.there))
        found.append((place, flag))
    return found


class _InputStandIns(StandIns):
    """Stand-ins that become inputs of a Program.

    Once it is settled what the forward Program gives, all else is recomputed.
    """

    def __init__(
        self, tracer: Tracer, home: Block, homes: SymbolBinders, settled: Sequence[Variable] | None
    ) -> None:
        outside = {v: partial(self.value, v) for v in home.parameters}
        super().__init__(tracer, home, homes, outside, self.value, lambda: home.parameters[0])
        self.taken: list[Variable] = []
        self.settled = settled

    def _give(self, kept: Iterable[Variable]) -> None:
        for variable in kept:
            self._take(variable)

    def _take(self, variable: Variable) -> None:
        known = self.value(variable)
        known.maker = self._made
        self._made.parameters.append(known)
        self.taken.append(variable)


def joint(
    program: Program, wanted: Sequence[int], given: Given, targets: Sequence[int]
) -> Backward:
    """One Program of the same gradients, of the inputs and state alone: to differentiate once more.

    It takes the gradients to begin with behind its other inputs. Nothing is printed a second time.
    """
    made = clone(program)
    block, count = made.block, len(made.inputs)
    parameters = [block.parameters[place] for place in wanted]
    starts = [place for place, is_given in zip(targets, given, strict=True) if is_given]
    outputs = [block.yields[place] for place in starts]
    seeds = [Variable(type_of_gradient(output.type), block) for output in outputs]
    made.inputs += seeds
    block.parameters[count:count] = seeds
    _drop_visible(block)
    # Results and updates belong to the first call, which has been made.
    block.yields, made.updates, made.structure, made.changes = [], [], None, {}
    found = append_gradients(
        made,
        outputs,
        parameters,
        lambda _, number: seeds[number],
        lambda gradients: _yielded(block, gradients),
    )
    return Backward(made, [], found)


def _drop_visible(block: Block) -> None:
    """Leave out what only shows or checks something."""
    for operator in list(block.walk()):
        for inner in operator.blocks:
            _drop_visible(inner)
    # `require` stays, since types of what follows rest on it.
    block.operators[:] = [
        one
        for one in block.operators
        if one.results or one.name == "require" or lookup(one.name).effect is not Effect.VISIBLE
    ]


__all__ = ["Backward", "Given", "Halves", "joint"]
