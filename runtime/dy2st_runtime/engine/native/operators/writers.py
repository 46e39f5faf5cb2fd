"""Has the table of operators that are computed without Python, beside those in nests."""

from __future__ import annotations

from dy2st_runtime.engine.native.machine.llvm import Processor
from dy2st_runtime.engine.native.nests.sides import is_product, product_axes
from dy2st_runtime.engine.native.operators.alignment import ALIGNMENTS
from dy2st_runtime.engine.native.operators.box_overlaps import BOX_OVERLAPS
from dy2st_runtime.engine.native.operators.box_places import BOX_PLACES
from dy2st_runtime.engine.native.operators.box_sums import BOX_SUMS
from dy2st_runtime.engine.native.operators.boxes import BOXES
from dy2st_runtime.engine.native.operators.checks import CHECKS
from dy2st_runtime.engine.native.operators.control import CONTROL, SPECIALISED
from dy2st_runtime.engine.native.operators.counts import COUNTS
from dy2st_runtime.engine.native.operators.distinct import DISTINCT
from dy2st_runtime.engine.native.operators.elimination import ELIMINATIONS
from dy2st_runtime.engine.native.operators.lists import LISTS
from dy2st_runtime.engine.native.operators.mantissas import MANTISSAS
from dy2st_runtime.engine.native.operators.numbers import NUMBERS
from dy2st_runtime.engine.native.operators.scans import SCANS
from dy2st_runtime.engine.native.operators.searches import SEARCHES
from dy2st_runtime.engine.native.operators.sorts import SORTS
from dy2st_runtime.engine.native.operators.updates import UPDATES
from dy2st_runtime.engine.native.program.ending_code import EndingCode
from dy2st_runtime.engine.native.program.planner import Step
from dy2st_runtime.engine.native.program.steps import Body, Writer, writer
from dy2st_runtime.ir.program import Operator


@writer(is_product)
def _product(body: Body, step: Step, operator: Operator) -> None:
    target, *others = [body.place(variable) for variable in step.results]
    with body.lock.without(body.lock.is_long([product_axes(operator)]), polls=True):
        what = ("null", "null")
        if step.ending is not None:
            code = EndingCode(body.module, step.ending, operator.results[0], Processor.host())
            context = code.context(body.function, body.places, body.sizes, others)
            what = (f"@{code.name}", context)
        if step.ahead is None:
            body.products.write(operator, target, *what)
        else:
            body.products.write_ahead(operator, step.ahead, target, *what)


WRITERS: tuple[Writer, ...] = (
    *NUMBERS,
    *CHECKS,
    *CONTROL,
    *LISTS,
    *UPDATES,
    *SCANS,
    *COUNTS,
    *SEARCHES,
    *SORTS,
    *MANTISSAS,
    *BOXES,
    *ELIMINATIONS,
    *BOX_OVERLAPS,
    *BOX_SUMS,
    *BOX_PLACES,
    *ALIGNMENTS,
    *DISTINCT,
    _product,
)


def writer_of(step: Step) -> Writer | None:
    """What writes an operator; None if the kernel of NumPy computes it."""
    operator = step.operator
    if operator is None:
        return None
    if step.specialised is not None:
        return SPECIALISED
    return next((writer for writer in WRITERS if writer.takes(operator)), None)


def is_code(step: Step) -> bool:
    """Whether a step is computed without Python."""
    return step.nest is not None or writer_of(step) is not None


def is_placed(step: Step) -> bool:
    """Whether a step writes its results into the memory that they are given."""
    writer = writer_of(step)
    return step.nest is not None or (writer is not None and not writer.holds)


def is_change(step: Step) -> bool:
    """Whether a step may write over its first operand."""
    writer = writer_of(step)
    return writer is not None and writer.changes


__all__ = ["WRITERS", "is_change", "is_code", "is_placed", "writer_of"]
