"""Which Variables may stand for one tensor of the user: a change in place of one changes all.

The result of a branch that hands on a tensor from outside is, on that path, that very tensor.
"""

from __future__ import annotations

from dy2st_runtime.ir.definition import DEFINITIONS
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.types import ArrayType

_ELEMENTS = ("item", "items*")  # what the operators on lists call what they put in


class Aliases:
    """The Variables of one trace that may be one tensor, across Blocks."""

    def __init__(self) -> None:
        """Every Variable stands for itself only."""
        self.has_elements = False  # whether a list is changed with what it holds
        self.lent: dict[Variable, Variable] = {}  # elements that are alone in a list, with that
        self._groups: dict[Variable, list[Variable]] = {}
        self._outer: dict[Variable, Variable] = {}

    def imported(self, inner: Variable, outer: Variable) -> None:
        """Note the parameter of a nested Block that stands for a Variable around it."""
        self._outer[inner] = outer

    def outer(self, inner: Variable) -> Variable | None:
        """The Variable around a nested Block that a parameter of it stands for."""
        return self._outer.get(inner)

    def note(self, one: Variable, other: Variable) -> None:
        """Note that two Variables may be one tensor."""
        group, joined = self.group(one), self.group(self.origin(other))
        if group is joined:
            return
        if len(group) < len(joined):  # so that each changes its group few times
            group, joined = joined, group
        group += joined
        for variable in joined:
            self._groups[variable] = group

    def note_elements(self, operator: Operator) -> None:
        """Note that a list holds the tensors that are put into it, and gives them back."""
        if not self.has_elements or not DEFINITIONS[operator.name].lends:
            return
        names = DEFINITIONS[operator.name].inputs
        names += names[-1:] * len(operator.operands)
        held = [
            operand
            for operand, name in zip(operator.operands, names, strict=False)
            if name in _ELEMENTS or isinstance(operand.type, ArrayType)
        ]
        for result in operator.results:
            for operand in held:
                self.note(result, operand)

    def groups(self) -> list[list[Variable]]:
        """The Variables that may be one tensor, where there are several."""
        found = {id(group): group for group in self._groups.values() if len(group) > 1}
        return list(found.values())

    def origin(self, variable: Variable) -> Variable:
        """The Variable, of whatever Block around, that the user's name holds."""
        while variable in self._outer:
            variable = self._outer[variable]
        return variable

    def group(self, variable: Variable) -> list[Variable]:
        """The Variable and all that may be the same tensor: one list for all of them."""
        return self._groups.setdefault(variable, [variable])

    def of(self, variable: Variable) -> list[Variable]:
        """A copy of its group."""
        return [*self._groups.get(variable, (variable,))]
