"""Records gradients inside of a trace, where they are asked for, of all that is before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from dy2st_runtime.autodiff.activity import Varied, behind, is_stopped
from dy2st_runtime.autodiff.gradient import Gradient, cleaned, flag_of
from dy2st_runtime.autodiff.lists import add_lists
from dy2st_runtime.autodiff.program_gradients import HANDLERS, Snapshots
from dy2st_runtime.autodiff.recompute import recompute_before
from dy2st_runtime.autodiff.residuals import Residuals, SymbolBinders
from dy2st_runtime.autodiff.walk import Shared, Walk
from dy2st_runtime.errors import ArgumentError, ConversionError
from dy2st_runtime.ir.dispatch import interpreting
from dy2st_runtime.ir.grad_mode import set_grad_enabled
from dy2st_runtime.ir.location import user_location
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.tracing.gradient_flow import SETTER
from dy2st_runtime.ir.tracing.tracer import Tracer

Found = TypeVar("Found")


def gradients(
    tracer: Tracer,
    outputs: Sequence[Variable],
    seeds: Sequence[Variable],
    inputs: Sequence[Variable],
    create_graph: bool = False,
    is_needed: bool = False,
) -> list[Variable | None]:
    """The gradients of outputs, which begin with `seeds`, with respect to inputs.

    They are recorded at the end of the tracer's Block; None is for an input that no output depends
    on. `create_graph` lets gradients flow through them. With `is_needed` the Program raises
    ArgumentError where an input has no gradient on the path that is taken; else ConversionError is
    raised for one that only some paths have.
    """

    def settled(gradient: Gradient) -> Variable:
        # The gradient of an input, which is there if the Program goes on.
        if gradient.there is None:
            found = gradient.value
        else:
            if not is_needed:
                raise ConversionError(
                    "the gradient of a tensor that only a branch, or some iterations of a loop, "
                    "depend on",
                    why="for other calls it is None, and a Program has a tensor there, or has none",
                    hint="let each branch use the tensor, by 0 * x if need be, or take the "
                    "gradient by grad(), which raises where there is none",
                )
            error = ArgumentError("an input has no part in the outputs on the path that is taken")
            tracer.check(flag_of(gradient.there), error)
            found = cleaned(gradient).value
        return found if create_graph else _stopped(tracer, found)

    return _recorded(tracer, outputs, seeds, inputs, create_graph, settled)


def gradients_or_zeros(
    tracer: Tracer,
    outputs: Sequence[Variable],
    seeds: Sequence[Variable],
    inputs: Sequence[Variable],
) -> list[tuple[Variable, Variable | None] | None]:
    """As `gradients`, each with the flag of its presence, None if it surely is.

    On a path without it, it is zeros.
    """

    def settled(gradient: Gradient) -> tuple[Variable, Variable | None]:
        there = None if gradient.there is None else flag_of(gradient.there)
        return _stopped(tracer, cleaned(gradient).value), there

    return _recorded(tracer, outputs, seeds, inputs, False, settled)


def _recorded(
    tracer: Tracer,
    outputs: Sequence[Variable],
    seeds: Sequence[Variable],
    inputs: Sequence[Variable],
    create_graph: bool,
    settled: Callable[[Gradient], Found],
) -> list[Found | None]:
    """What `settled` makes of the gradient of each input; None where there is none."""
    trace = _Trace(tracer, inputs)
    trace.look_behind(outputs)
    at, operators = user_location(), tracer.block.operators
    last = operators[-1] if operators else None
    with (
        interpreting(tracer),
        set_grad_enabled(True),
        tracer.located(lambda: at),
        tracer.unguarded(),
    ):
        walk = trace.walk(create_graph)
        # The innermost Block was recorded last, so the walk begins there and goes outwards.
        for output, seed in zip(outputs, seeds, strict=True):
            walk.seed(output, Gradient(seed))
        for block in trace.path:
            walk.run(block)
        found = [walk.gradient(variable) for variable in inputs]
        made = [None if one is None else settled(one) for one in found]
    if last is not None and not create_graph:
        # A composite operator has given way to others by now.
        maker = last.results[-1].maker if last.results else last
        assert isinstance(maker, Operator)
        recompute_before(tracer.block, maker)
    return made


def _stopped(tracer: Tracer, variable: Variable) -> Variable:
    return tracer.append("detach", [variable], {}, [variable.type]).results[0]


class _Trace:
    """What a trace has recorded: the Blocks that are open, from the innermost outwards."""

    def __init__(self, tracer: Tracer, inputs: Sequence[Variable]) -> None:
        self.tracer = tracer
        self.wanted = {self.root(variable): variable for variable in inputs}
        self.path = [*tracer.block.outwards()]

    def root(self, variable: Variable) -> Variable:
        """The Variable, of whatever Block around, before its `stop_gradient` was set.

        One in which gradients begin is another than before.
        """
        origin, flags = self.tracer.aliases.origin, self.tracer.flags
        variable = origin(variable)
        while isinstance(maker := variable.maker, Operator):
            if maker.name != SETTER and variable not in flags.renewed:
                break
            earlier = origin(maker.operands[-1])
            if maker.attributes.get("value") is False and not flags.flows_through(earlier):
                break
            variable = earlier
        return variable

    def look_behind(self, outputs: Sequence[Variable]) -> None:
        """Find the inputs through which gradients flow, and refuse what cannot be followed."""
        flags = self.tracer.flags
        found = {self.root(output) for output in outputs if not is_stopped(output)}
        for block in self.path:
            found = behind(block.operators, found, self.root)
        # `found` is a set: in order of places messages are the same in every process.
        ends = [one for one in found if not isinstance(one.maker, Operator)]
        others = []
        for variable in sorted(ends, key=self._place):
            if variable in self.wanted:
                continue
            if variable.block.parent is None:
                others.append(variable)
            elif not flags.is_surely_stopped(variable):
                self._check_carried(variable)
        pairs = self.wanted.items()
        self.open = [root for root, one in pairs if root in found and not flags.stops(one)]
        for wanted in self.wanted:
            if not isinstance(wanted.maker, Operator):
                flags.apart += [(wanted, other, user_location()) for other in others]

    def _place(self, variable: Variable) -> tuple[int, int]:
        block = variable.block
        depth = self.path.index(block) if block in self.path else -1
        place = next(i for i, one in enumerate(block.parameters) if one is variable)
        return depth, place

    def _check_carried(self, variable: Variable) -> None:
        """Refuse what a loop hands to its next iteration, unless this one has made the inputs."""
        for wanted in self.wanted:
            place = wanted.block if isinstance(wanted.maker, Operator) else wanted.block.parent
            while place is not None and place is not variable.block:
                place = place.parent
            if place is None:
                raise ConversionError(
                    "grad() of traced tensors: a tensor that a loop carries to its next iteration "
                    "stands between the outputs and the inputs",
                    why="how many iterations there were before this one is known only when the "
                    "Program runs",
                    hint="call grad() behind the loop, or begin each iteration with a detach() of "
                    "the tensor",
                )

    def walk(self, create_graph: bool) -> Walk:
        """A walk from the outputs to the inputs through which gradients flow."""
        tracer = self.tracer
        varied = Varied(self.open)
        for block in reversed(self.path):
            varied.mark(block.operators, self.root)
        residuals = Residuals(SymbolBinders(self.path[-1]), tracer.given_out)
        shared = Shared(tracer, varied, residuals, HANDLERS, add_lists, create_graph)
        return Walk(shared, Snapshots(tracer), self.root)


__all__ = ["gradients", "gradients_or_zeros"]
