"""Tracks Variables that may stand for one tensor: a change in place of one changes all.

The result of a branch that returns a tensor from outside is, on that path, that very tensor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dy2st_runtime.ir.definition import DEFINITIONS
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.types import ArrayType

_ELEMENTS = ("item", "items*")  # what the operators on lists call what they put in


class Aliases:
    """The Variables of one trace that may be one tensor, across Blocks.

    What a branch, a loop or a list gives may be one of several tensors, its sources. Two Variables
    may be one tensor if both may be one of the same: `a` and `b` behind `a if p else b` are not.
    """

    def __init__(self) -> None:
        """Every Variable stands for itself only."""
        self.has_elements = False  # whether a list is changed with what it holds
        self.borrowed: dict[Variable, Variable] = {}  # elements that are alone in a list, with that
        self.chosen: set[Variable] = set()  # those that change with what a tensor has chosen
        self._sources: dict[Variable, dict[Variable, None]] = {}
        self._takers: dict[Variable, dict[Variable, None]] = {}  # those of which it is a source
        self._outer: dict[Variable, Variable] = {}
        self._apart: dict[Variable, int] = {}  # results of one operator, by its number

    def imported(self, inner: Variable, outer: Variable) -> None:
        """Note the parameter of a nested Block that stands for a Variable around it."""
        self._outer[inner] = outer

    def outer(self, inner: Variable) -> Variable | None:
        """The Variable around a nested Block that a parameter of it stands for."""
        return self._outer.get(inner)

    def note(self, one: Variable, other: Variable) -> None:
        """Note that a Variable may be the tensor that another one is."""
        other = self.origin(other)
        if one is not other:
            self._sources.setdefault(one, {})[other] = None
            self._takers.setdefault(other, {})[one] = None

    def note_apart(self, results: Iterable[Variable]) -> None:
        """Note results of one operator none of which is ever the tensor that another one is."""
        family = len(self._apart)
        self._apart.update(dict.fromkeys(results, family))

    def alone(self, path: Sequence[Variable]) -> list[bool]:
        """For each of the Variables that a path leaves whether no other one may be its tensor."""
        origins = [*map(self.origin, path)]
        counts: dict[Variable, int] = {}
        for one in origins:
            counts[one] = counts.get(one, 0) + 1
        return [sum(counts.get(other, 0) for other in self.of(one)) == 1 for one in origins]

    def may_be_one(self, one: Variable, other: Variable) -> bool:
        """Whether two Variables may stand for one tensor."""
        return one is other or any(found is other for found in self.of(one))

    def is_chosen(self, variable: Variable) -> bool:
        """Whether it is a choice of tensors, or one of them, or what shares memory with one."""
        origin = self.origin(variable)
        return any(origin in found for found in (self.chosen, self._sources, self._takers))

    def note_elements(self, operator: Operator) -> None:
        """Note that a list holds the tensors that are put into it, and gives them back."""
        if not self.has_elements or not DEFINITIONS[operator.name].borrows:
            return
        names = DEFINITIONS[operator.name].inputs
        # A last name, as `items*`, is that of all operands that follow.
        names += names[-1:] * len(operator.operands)
        held = [
            operand
            for operand, name in zip(operator.operands, names, strict=False)
            if name in _ELEMENTS or isinstance(operand.type, ArrayType)
        ]
        for result in operator.results:
            for operand in held:
                self.note(result, operand)

    def origin(self, variable: Variable) -> Variable:
        """The Variable, of whatever Block around, that the user's name holds."""
        while variable in self._outer:
            variable = self._outer[variable]
        return variable

    def of(self, variable: Variable) -> list[Variable]:
        """The Variable and all that may be the same tensor."""
        if variable not in self._sources and variable not in self._takers:
            return [variable]
        # Down to the first sources, then up to all that may be one of them. Loops make cycles, in
        # which there is no first: then all that is reached counts.
        firsts = [one for one in _reached(self._sources, [variable]) if one not in self._sources]
        found = _reached(self._takers, firsts or _reached(self._sources, [variable]))
        family = self._apart.get(variable, -1)
        others = (one for one in found if family < 0 or self._apart.get(one) != family)
        return [variable, *(one for one in others if one is not variable)]


def _reached(
    edges: Mapping[Variable, Iterable[Variable]], starts: Iterable[Variable]
) -> list[Variable]:
    """What edges lead to from some Variables, and these."""
    found = dict.fromkeys(starts)
    waiting = [*found]
    while waiting:
        for one in edges.get(waiting.pop(), ()):
            if one not in found:
                found[one] = None
                waiting.append(one)
    return [*found]
