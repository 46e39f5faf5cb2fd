"""What a group of operators is made of: axes that are shared, and members that run along them.

A member is an operator in a loop nest. For each axis of each tensor it names the axis of the nest
along which that one runs, None where the size is 1. Two groups become one by making axes one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dy2st_runtime.dims import Size, equal, less, product
from dy2st_runtime.engine.native.lanes import NATIVE
from dy2st_runtime.engine.native.rows import ROWS, has_row
from dy2st_runtime.engine.native.rows.reductions import has_reduction
from dy2st_runtime.ir.definition import DEFINITIONS
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.types import Shape, TensorType


class Axis:
    """An axis of a nest; when two become one, one of them points to the other."""

    __slots__ = ("into", "size")

    def __init__(self, size: Size) -> None:
        """Of its own until it is joined."""
        self.size = size
        self.into: Axis | None = None

    @property
    def root(self) -> Axis:
        """The axis that it has become."""
        axis = self
        while axis.into is not None:
            axis = axis.into
        return axis

    def join(self, other: Axis) -> None:
        """Become the other one, which then has the simpler size."""
        one, whole = self.root, other.root
        if one is not whole:
            whole.size = one.size if isinstance(one.size, int) else whole.size
            one.into = whole


Places = tuple["Axis | None", ...]


@dataclass(eq=False, slots=True)
class Member:
    """An operator in a group.

    operands   along which axes each operand runs.
    result     along which its result does.
    reduced    the axes that it reduces; `count` is how many elements become one.
    """

    operator: Operator
    operands: list[Places]
    result: Places
    reduced: tuple[Axis, ...] = ()
    count: Size = 1

    @property
    def variable(self) -> Variable:
        """Its result."""
        return self.operator.results[0]


@dataclass(eq=False)
class Group:
    """Operators of one nest.

    at       its place among all steps.
    leaves   what is read and not made here, and along which axes.
    after    what tells sizes of it that only the data decides.
    readers  the steps that read what it makes.
    """

    at: int
    origins: list[Operator]
    members: list[Member]
    places: dict[Variable, Places] = field(default_factory=dict)
    leaves: dict[Variable, list[Places]] = field(default_factory=dict)
    after: dict[Variable, None] = field(default_factory=dict)
    own_axes: list[Axis] = field(default_factory=list)
    own_reduced: list[Axis] = field(default_factory=list)
    readers: list[Any] = field(default_factory=list)
    cost: int = 0

    @classmethod
    def alone(cls, at: int, origin: Operator, members: list[Member]) -> Group:
        """A group of one operator, or of the members that it is taken apart into."""
        group = cls(at, [origin], members)
        for member in members:
            for variable, places in zip(member.operator.operands, member.operands, strict=True):
                if variable not in group.places:
                    group.leaves.setdefault(variable, []).append(places)
                group.own_axes.extend(axis for axis in places if axis is not None)
            group.places[member.variable] = member.result
            group.own_axes.extend(axis for axis in member.result if axis is not None)
            group.own_reduced.extend(member.reduced)
            group.cost += cost(member)
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
    row = ROWS.get(member.operator.name)
    return row.cost if row is not None and not member.reduced else 2


# -- one operator alone -----------------------------------------------------------------------


def member_of(operator: Operator) -> Member | None:
    """An operator as the only member of a nest; None if it belongs in none."""
    variables = (*operator.operands, *operator.results)
    if not all(isinstance(variable.type, TensorType) for variable in variables):
        return None
    if DEFINITIONS[operator.name].is_elementwise:
        return elementwise(operator) if has_row(operator) else None
    return reduction(operator) if has_reduction(operator) else None


def new_axes(shape: Shape) -> Places:
    """An axis of its own for each size that is not 1."""
    return tuple([None if _is_one(size) else Axis(size) for size in shape])


def _is_one(size: Size) -> bool:
    return isinstance(size, int) and size == 1


def elementwise(operator: Operator) -> Member | None:
    """An operator whose operands are brought to one shape; None if that cannot be told."""
    result = new_axes(operator.results[0].tensor_type.shape)
    operands = []
    for operand in operator.operands:
        places = aligned(operand.tensor_type.shape, operator.results[0].tensor_type.shape, result)
        if places is None:
            return None
        operands.append(places)
    return Member(operator, operands, result) if result else None  # numbers need no loop


def aligned(shape: Shape, whole: Shape, result: Places) -> Places | None:
    """Along which axes of a result an operand runs that is repeated to its shape."""
    lead = len(whole) - len(shape)
    places: list[Axis | None] = []
    for axis, size in enumerate(shape, lead):
        if _is_one(size):
            places.append(None)
        elif size is whole[axis] or equal(size, whole[axis]) is True:
            places.append(result[axis])
        else:
            return None
    return tuple(places)


def reduction(operator: Operator) -> Member | None:
    """An operator that makes one element of those along axes; None if there may be none to take."""
    shape = operator.operands[0].tensor_type.shape
    axes = _reduced_axes(operator)
    if axes is None:
        return None
    own = new_axes(shape)
    reduced = tuple([axis for place in axes if (axis := own[place]) is not None])
    if not reduced or (operator.name in _NEED_ELEMENTS and not _has_elements(reduced)):
        return None
    rank = operator.results[0].tensor_type.rank
    if operator.name == "sum_to":
        lead = len(shape) - rank
        result = tuple([None if i in axes else own[i] for i in range(lead, len(shape))])
    elif rank == len(shape):
        result = tuple([None if i in axes else axis for i, axis in enumerate(own)])
    else:
        result = tuple([axis for i, axis in enumerate(own) if i not in axes])
    return Member(operator, [own], result, reduced, product([axis.size for axis in reduced]))


_NEED_ELEMENTS = frozenset({"max", "min", "argmax", "argmin"})


def _has_elements(axes: Iterable[Axis]) -> bool:
    return all(less(0, axis.size) is True for axis in axes)


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
        if size is shape[place] or equal(size, shape[place]) is True:
            continue
        if not _is_one(size) or equal(shape[place], 1) is not False:
            return None
        found.append(place)
    return found


def is_native(variable: Variable) -> bool:
    """Whether a value is a tensor whose elements machine code knows."""
    return isinstance(variable.type, TensorType) and variable.type.dtype in NATIVE


__all__ = ["Axis", "Group", "Member", "Places", "aligned", "cost", "is_native", "member_of"]
