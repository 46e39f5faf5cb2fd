"""Appends gradients of the values of a Program to it, as operators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from dy2st_runtime.autodiff.activity import Varied
from dy2st_runtime.autodiff.branches import through_branches
from dy2st_runtime.autodiff.gradient import Gradient
from dy2st_runtime.autodiff.lists import LISTS, add_lists
from dy2st_runtime.autodiff.loops import through_iterations
from dy2st_runtime.autodiff.residuals import Residuals, SymbolBinders
from dy2st_runtime.autodiff.walk import Handler, Shared, Walk
from dy2st_runtime.ir.program import Program, Variable
from dy2st_runtime.ir.sizes import facts_of
from dy2st_runtime.ir.tracing.tracer import Tracer
from dy2st_runtime.thread_state import without_collection

Result = TypeVar("Result")

HANDLERS: dict[str, Handler] = {"cond": through_branches, "while": through_iterations, **LISTS}
"""What is differentiated otherwise than by the rule in its record."""


class Snapshots(NamedTuple):
    """The values of a Block, for what is recorded at its end, or in a Block inside of it."""

    tracer: Tracer

    def value(self, variable: Variable) -> Variable:
        """The Variable itself, as it was when its operator ran."""
        return self.tracer.as_it_was(variable)


def append_gradients(
    program: Program,
    outputs: Sequence[Variable],
    inputs: Sequence[Variable],
    seeds: Callable[[Variable, int], Variable],
    finish: Callable[[list[Gradient | None]], Result],
    stopped: Sequence[Variable] = (),
) -> Result:
    """Append to a Program the gradients of outputs with respect to inputs; None where is none.

    `seeds` gives the gradient of an output to begin with, `finish` what becomes of the gradients:
    what they record is appended, too.
    """
    varied = Varied(inputs, stopped)
    varied.mark(program.operators)
    homes = SymbolBinders(program.block)
    with without_collection(), resuming(program, homes) as tracer:
        shared = Shared(tracer, varied, Residuals(homes), HANDLERS, add_lists)
        walk = Walk(shared, Snapshots(tracer))
        with tracer.located(lambda: shared.at):
            for number, output in enumerate(outputs):
                walk.seed(output, Gradient(seeds(output, number)))
            walk.run(program.block)
            return finish([walk.gradient(variable) for variable in inputs])


@contextmanager
def resuming(program: Program, homes: SymbolBinders) -> Iterator[Tracer]:
    """Record at the end of a finished Program."""
    tracer = Tracer(program)
    with tracer.resuming(facts_of(program), homes.next_number()):
        yield tracer


__all__ = ["HANDLERS", "Snapshots", "append_gradients", "resuming"]
