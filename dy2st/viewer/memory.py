"""Plans the memory of a Program for a page: its unknown sizes are given or supposed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dy2st.passes.plan_memory import MemoryPlan, plan_memory
from dy2st_runtime.dims import evaluate, symbols
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import Program, TensorType

_SUPPOSED = (1, 8, 32, 256, 1024)


@dataclass(frozen=True)
class Planned:
    """A plan, with the numbers that it has for unknown sizes; `why` says why there is none."""

    sizes: Mapping[str, int]
    plan: MemoryPlan | None = None
    why: str = ""


def planned(program: Program, sizes: Mapping[str, int] | None = None) -> Planned:
    """The plan for some sizes; those that nobody gives are as small as all values allow.

    ArgumentError for a size that is none of the Program's.
    """
    blocks = [program.block, *(one for op in program.block.walk() for one in op.blocks)]
    variables = [one for block in blocks for one in block.parameters]
    variables += [one for operator in program.block.walk() for one in operator.results]
    shapes = list({v.type.shape: None for v in variables if isinstance(v.type, TensorType)})
    unknown = {str(one): one for shape in shapes for one in symbols(shape)}
    given = dict(sizes or {})
    for name in given:
        if name not in unknown:
            own = ", ".join(unknown) or "none"
            raise ArgumentError(f"{program.name} has no unknown size {name!r}; it has: {own}")
    for least in _SUPPOSED:
        numbers = {
            name: given.get(name, min(max(one.minimum or 0, least), one.maximum or max(_SUPPOSED)))
            for name, one in unknown.items()
        }
        known = {one: numbers[name] for name, one in unknown.items()}
        try:
            found = [evaluate(one, known) for shape in shapes for one in shape]
        except ZeroDivisionError:
            continue
        if all(size >= 0 for size in found):
            return Planned(numbers, plan_memory(program, numbers))
    return Planned(given, why="no numbers were found for which all sizes are 0 or more")


__all__ = ["Planned", "planned"]
