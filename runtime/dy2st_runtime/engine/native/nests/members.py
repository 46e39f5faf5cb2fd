"""Describes the operators of a group: members that run along axes which they share.

Two groups become one by making their axes one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dy2st_runtime.dims import Size, equal, product
from dy2st_runtime.engine.native.nests.axes import (
    Axis,
    Places,
    Use,
    aligned,
    is_one,
    is_same,
    new_axes,
    stretched,
)
from dy2st_runtime.engine.native.nests.views import is_view_operator, seen
from dy2st_runtime.engine.native.rows import ROWS, has_row
from dy2st_runtime.engine.native.rows.reductions import has_reduction
from dy2st_runtime.engine.native.text.lanes import NATIVE
from dy2st_runtime.ir.definition import DEFINITIONS
from dy2st_runtime.ir.failures import may_fail
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.types import TensorType


@dataclass(eq=False, slots=True)
class Member:
    """One value that a group computes.

    operator   the elementwise operator, or the reduction; None if the value is `number`, the place
               along an axis if there is no number either, or its only operand.
    result     along which axes of the nest its axes run.
    reduced    the axes that it reduces; `count` is how many elements become one.
    is_check   whether the operator that it is part of fails unless it is true everywhere.
    """

    variable: Variable
    operands: list[Use]
    result: Places
    operator: Operator | None = None
    reduced: tuple[Axis, ...] = ()
    count: Size = 1
    number: Any = None
    is_check: bool = False


@dataclass(eq=False)
class Group:
    """Operators of one nest.

    at       its place among all steps.
    leaves   what is read and not made here, and along which axes.
    after    what gives sizes of it that only the data decides.
    readers  the steps that read what it makes.
    checked  operators that may fail. The group stands between `earliest` and `latest`: it fails
             neither before nor after what else can be seen.
    is_alone whether it is joined with no other: a transposition, which goes by squares.
    """

    at: int
    origins: list[Operator]
    members: list[Member]
    places: dict[Variable, Places] = field(default_factory=dict)
    leaves: dict[Variable, list[Use]] = field(default_factory=dict)
    after: dict[Variable, None] = field(default_factory=dict)
    own_axes: list[Axis] = field(default_factory=list)
    own_reduced: list[Axis] = field(default_factory=list)
    readers: list[Any] = field(default_factory=list)
    cost: int = 0
    checked: list[Operator] = field(default_factory=list)
    earliest: int = 0
    latest: float = float("inf")
    is_alone: bool = False

    @classmethod
    def alone(cls, at: int, origin: Operator, members: list[Member]) -> Group:
        """A group of one operator, or of the members that it is taken apart into."""
        group = cls(at, [origin], members)
        for member in members:
            for use in member.operands:
                if use.variable not in group.places:
                    group.leaves.setdefault(use.variable, []).append(use)
                group.own_axes.extend(axis for axis in use.places if axis is not None)
            group.places[member.variable] = member.result
            group.own_axes.extend(axis for axis in member.result if axis is not None)
            group.own_axes.extend(member.reduced)
            group.own_reduced.extend(member.reduced)
            group.cost += cost(member)
            group.checked += [origin] if member.is_check else []
        return group

    def axes(self) -> dict[Axis, None]:
        """All axes, in order of appearance."""
        found = dict.fromkeys([axis.root for axis in self.own_axes])
        self.own_axes = list(found)
        return found

    def reduced(self) -> set[Axis]:
        """The axes that are reduced."""
        return {axis.root for axis in self.own_reduced}


def cost(member: Member) -> int:
    """About how many instructions a vector takes."""
    if member.operator is None:
        return 0
    return 2 if member.reduced else ROWS[member.operator.name].cost


# -- one operator alone -----------------------------------------------------------------------


def members_of(operator: Operator) -> list[Member] | None:
    """An operator as members of a nest; None if it belongs in none."""
    variables = (*operator.operands, *operator.results)
    if not all(is_native(variable) for variable in variables):
        return None
    if is_view_operator(operator):
        return [_copy(result) for result in operator.results]
    if DEFINITIONS[operator.name].is_elementwise:
        member = _elementwise(operator) if has_row(operator) else None
    else:
        member = None if may_fail(operator) else reduction(operator)
    return None if member is None else [member]


def is_native(variable: Variable) -> bool:
    """Whether a value is a tensor whose elements machine code knows."""
    return isinstance(variable.type, TensorType) and variable.type.dtype in NATIVE


def _copy(variable: Variable) -> Member:
    """A view, as a copy of the elements that it shows."""
    places = new_axes(variable.tensor_type.shape)
    return Member(variable, [seen(variable, places, is_made=True)], places)


def _elementwise(operator: Operator) -> Member | None:
    """An operator whose operands are brought to one shape; None if that is a number's."""
    whole = operator.results[0].tensor_type.shape
    result = new_axes(whole)
    operands = []
    for operand in operator.operands:
        places = aligned(operand.tensor_type.shape, whole, result)
        if places is None:
            operands.append(seen(operand, *stretched(operand.tensor_type.shape, whole, result)))
        else:
            operands.append(seen(operand, places))
    # Numbers need no loop.
    return Member(operator.results[0], operands, result, operator) if result else None


def reduction(operator: Operator) -> Member | None:
    """An operator that makes one element of those along axes; None if it is no such."""
    if not has_reduction(operator):
        return None
    shape = operator.operands[0].tensor_type.shape
    axes = _reduced_axes(operator)
    if axes is None:
        return None
    own = new_axes(shape)
    reduced = tuple([axis for place in axes if (axis := own[place]) is not None])
    if not reduced:
        return None
    rank = operator.results[0].tensor_type.rank
    if operator.name == "sum_to":
        lead = len(shape) - rank
        result = tuple([None if i in axes else own[i] for i in range(lead, len(shape))])
    elif rank == len(shape):
        result = tuple([None if i in axes else axis for i, axis in enumerate(own)])
    else:
        result = tuple([axis for i, axis in enumerate(own) if i not in axes])
    count = product([axis.size for axis in reduced])
    use = seen(operator.operands[0], own)
    return Member(operator.results[0], [use], result, operator, reduced, count)


def _reduced_axes(operator: Operator) -> Sequence[int] | None:
    """The axes that are reduced; None if only the run knows."""
    if operator.name != "sum_to":
        axis = operator.attributes["axis"]
        return (axis,) if isinstance(axis, int) else tuple(axis)
    shape = operator.operands[0].tensor_type.shape
    wanted = operator.results[0].tensor_type.shape
    lead = len(shape) - len(wanted)
    found = list(range(lead))
    for place, size in enumerate(wanted, lead):
        if is_same(size, shape[place]):
            continue
        if not is_one(size) or equal(shape[place], 1) is not False:
            return None
        found.append(place)
    return found


__all__ = ["Group", "Member", "cost", "is_native", "members_of", "reduction"]
