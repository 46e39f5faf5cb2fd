"""Says what a Program alone keeps from call to call: what it writes where it reads, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dy2st.convert.kinds.tensors import PLACE
from dy2st.convert.replay.effects import Effect
from dy2st.convert.replay.places import Source
from dy2st.convert.replay.result import Made, Out, Rows, Several
from dy2st_runtime.errors import ConversionError, Location
from dy2st_runtime.ir import Program, Variable
from dy2st_runtime.ir.tracing.gradient_flow import SETTER

Places = Mapping[str, tuple[Any, Any]]


def read_at(places: Places) -> Callable[[Effect], str]:
    """What gives the name of the state that is read where an effect writes; empty if none is."""
    found = {
        (id(source.owner()), attribute): name
        for name, (source, attribute) in places.items()
        if isinstance(source, Source)
    }

    def name_of(effect: Effect) -> str:
        return found.get((id(effect.owner_now()), effect.name), "")

    return name_of


def is_gradient(effect: Effect) -> bool:
    """Whether an effect leaves a gradient that the Program does not read."""
    return bool(effect.name == PLACE)


def check_step(program: Program, effect: Effect, at: Location | None) -> None:
    """Refuse a step of training that would forget what it writes for the next one."""
    if not _is_computed(effect.value):
        return
    raise ConversionError(
        f"{program.name}() trains, and what it keeps of a call is not there yet: {effect.what}"
        if effect.what
        else f"{program.name}() trains, and assigns `{effect.name}`, a variable outside of it",
        at=effect.at or at,
        why="a Program that is saved or compiled goes on from what it has found outside",
        hint="call the function once before it is saved, which makes gradients and what the "
        "optimizer remembers; what it gathers in a list or dict, let it return",
    )


def _is_computed(tree: Any) -> bool:
    if isinstance(tree, Made):
        return any(map(_is_computed, tree.items))
    return isinstance(tree, (Out, Rows, Several))


def drop_flags(program: Program) -> None:
    """Strike out what sets `stop_gradient`: gradients end in the Program, so nobody asks."""
    inner = [block for operator in program.walk() for block in operator.blocks]
    for block in (*program.roots, *inner):
        block.operators = [one for one in block.operators if one.name != SETTER]
        for operator in block.operators:
            operator.operands = [*map(_before, operator.operands)]
        block.yields = [*map(_before, block.yields)]


def _before(variable: Variable) -> Variable:
    maker: Any = variable.maker
    while getattr(maker, "name", "") == SETTER:
        variable = maker.operands[0]
        maker = variable.maker
    return variable
