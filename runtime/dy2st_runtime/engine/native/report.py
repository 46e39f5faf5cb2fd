"""Describes for readers which steps are machine code, which are NumPy, and what they cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from dy2st_runtime.dims import Size
from dy2st_runtime.engine.native.convolution.post_ops import can_start_region
from dy2st_runtime.engine.native.convolution.regions import Region
from dy2st_runtime.engine.native.entry import Written
from dy2st_runtime.engine.native.operators.writers import is_code
from dy2st_runtime.engine.native.profiling import Row
from dy2st_runtime.engine.native.program.lifetimes import Kind, bytes_of, is_alias
from dy2st_runtime.engine.native.program.planner import Planned, Step
from dy2st_runtime.errors import counted
from dy2st_runtime.ir.program import Operator
from dy2st_runtime.ir.types import TensorType

_SILENT = {"constant"}


def explain(written: Written, kept: int = 0) -> str:
    """A line a step, in the order in which they run; then memory, and what NumPy computes.

    `kept` is how many bytes are kept now that were made of parameters.
    """
    asked = Counter(_asked(written.steps))
    names = ", ".join(f"{name} ({count})" for name, count in sorted(asked.items()))
    computed = f"computed by NumPy: {names or 'nothing'}"
    # The bytes that a call takes, and those that the code keeps.
    found = written.found
    places = [variable for variable, kind in found.kinds.items() if kind is Kind.STACK]
    own = [one for one in places if one not in found.targets and one not in found.given]
    stack = _total(bytes_of(variable.tensor_type) for variable in own)
    parts = len(found.sizes)
    steps = [step.operator for step in written.steps.all() if step.operator is not None]
    constants = sum(one.attributes["value"].nbytes for one in steps if one.name == "constant")
    # Up to whole cache lines, where the number is known.
    lines = [-(-n // 64) * 64 if isinstance(n, int) else n for n in (p.bytes for p in found.sizes)]
    memory = [
        f"memory of a call: {counted(_total(lines), 'byte')} "
        f"in {parts} part{'s' * (parts != 1)}, and {stack} of the stack",
        f"constants: {counted(constants, 'byte')}; made of parameters and kept: {kept}",
    ]
    return "\n".join([*_lines(written.steps, 0), *memory, computed])


def _total(sizes: Iterable[Size]) -> Size:
    total: Size = 0
    for size in sizes:
        total = total + size
    return total


def profile(rows: Sequence[Row]) -> str:
    """A line a step, what takes the longest first: seconds, share, calls, bytes of its results."""
    total = sum(row.seconds for row in rows) or 1.0
    lines = [
        (
            f"{1e6 * row.seconds:.1f} us",
            f"{100 * row.seconds / total:.1f} %",
            str(row.calls),
            "-" if row.step is None else str(_made(row.step)),
            "what a run checks, takes and gives" if row.step is None else _words(row.step),
        )
        for row in sorted(rows, key=lambda row: -row.seconds)
    ]
    head = ("time", "share", "calls", "bytes", "step")
    # Numbers to the right, the last column as it is.
    *widths, _ = (max(map(len, column)) for column in zip(head, *lines, strict=True))
    shown = []
    for *numbers, words in (head, *lines):
        cells = [number.rjust(width) for number, width in zip(numbers, widths, strict=True)]
        shown.append("  ".join([*cells, words]).rstrip())
    return "\n".join(shown)


def _made(step: Step) -> Size:
    """The bytes of what a step makes, as far as they are known before it runs."""
    types = [variable.type for variable in step.results]
    return _total(bytes_of(one) for one in types if isinstance(one, TensorType))


def _lines(planned: Planned, depth: int) -> Iterator[str]:
    for step in planned.steps:
        if step.operator is not None and step.operator.name in _SILENT:
            continue
        yield "  " * depth + _words(step)
        if step.region is not None:
            yield from ("  " * (depth + 1) + words for words in _parts(step.region))
        for inner in step.inner:
            yield from _lines(inner, depth + 1)


def _words(step: Step) -> str:
    word, what = words_of(step)
    # Of the results of a split, which have loops of their own, one names it.
    placed = [step.operator] if step.operator is not None else step.operators[-1:]
    return f"{word:<7}{what}{_place(placed[0]) if placed else ''}"


def words_of(step: Step) -> tuple[str, str]:
    """How a step is computed, and what it computes."""
    if step.operator is None:
        if step.region is not None:
            return "oneDNN", counted(len(step.operators), "operator")
        return "nest", " ".join(operator.name for operator in step.operators)
    word = "name" if is_alias(step.operator) else "code" if is_code(step) else "NumPy"
    names = " ".join([step.operator.name, *(operator.name for operator in step.operators)])
    return (
        word,
        names if step.ahead is None else f"{names}, up to {step.ahead.count} iterations ahead",
    )


def _parts(region: Region) -> Iterator[str]:
    """A line for each operator that is worth to ask the library, with what comes after it."""
    parts: list[list[Operator]] = []
    for operator in region.operators:
        if can_start_region(operator):
            parts.append([])
        parts[-1].append(operator)
    for part in parts:
        yield " ".join(operator.name for operator in part) + _place(part[-1])


def _place(operator: Operator) -> str:
    place = operator.location
    return f"  (line {place.line})" if place is not None else ""


def _asked(planned: Planned) -> Iterator[str]:
    """The operators that NumPy computes."""
    for step in planned.all():
        operator = step.operator
        if operator is not None and not is_code(step) and not is_alias(operator):
            yield operator.name


__all__ = ["explain", "profile", "words_of"]
