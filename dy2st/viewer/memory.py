"""Plans the memory of a Program for a page: its unknown sizes are given or supposed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dy2st.passes.plan_memory import MemoryPlan, plan_memory
from dy2st_runtime.dims import evaluate, symbols
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import Program, TensorType
from dy2st_runtime.ir.sizes import origins

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
    shapes: dict[Any, None] = {}
    for root in program.roots:  # what calls a function comes first
        blocks = [root, *(one for operator in root.walk() for one in operator.blocks)]
        variables = [one for block in blocks for one in block.parameters]
        variables += [one for operator in root.walk() for one in operator.results]
        found = {one.type.shape: None for one in variables if isinstance(one.type, TensorType)}
        # The symbols of a function's parameters get their numbers at its calls.
        of_calls = origins(root.parameters).keys() - {*symbols([*shapes])} if shapes else set()
        shapes |= {shape: None for shape in found if of_calls.isdisjoint(symbols(shape))}
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
            numbers_of = [evaluate(one, known) for shape in shapes for one in shape]
        except ZeroDivisionError:
            continue
        if all(size >= 0 for size in numbers_of):
            return Planned(numbers, plan_memory(program, numbers))
    return Planned(given, why="no numbers were found for which all sizes are 0 or more")


__all__ = ["Planned", "planned"]
