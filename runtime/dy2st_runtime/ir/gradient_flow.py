"""Which tensors of a trace have stop_gradient: what the tape would say of them in a real call."""

from __future__ import annotations

from collections.abc import Callable

from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.types import TensorType

Answer = bool | None


class GradientFlow:
    """Answers for the Variables of one trace; None is what only the run can tell.

    `given` answers for the parameters of the Program, `outer` gives the Variable around a nested
    Block that a parameter of it stands for, None for what a loop carries.
    """

    def __init__(
        self, given: Callable[[Variable], Answer], outer: Callable[[Variable], Variable | None]
    ) -> None:
        """Nothing is known yet."""
        self._given, self._outer = given, outer
        self._known: dict[Variable, Answer] = {}

    def is_stopped(self, variable: Variable) -> Answer:
        """Whether no gradient flows through a Variable."""
        waiting = [variable]
        while waiting:
            last = waiting[-1]
            missing = [v for v in self._sources(last) if v not in self._known]
            if missing and last not in self._known:
                waiting += missing
                continue
            self._known.setdefault(last, self._answer(last))
            waiting.pop()
        return self._known[variable]

    def _sources(self, variable: Variable) -> list[Variable]:
        """The Variables whose answers decide on this one's."""
        maker = variable.maker
        if not _is_floating(variable):
            return []
        if not isinstance(maker, Operator):
            outer = self._outer(variable)
            return [] if outer is None else [outer]
        if maker.name == "cond":
            place = next(i for i, result in enumerate(maker.results) if result is variable)
            return [block.yields[place] for block in maker.blocks]
        if maker.name == "while" or not _passes(maker):
            return []
        return maker.operands

    def _answer(self, variable: Variable) -> Answer:
        maker, sources = variable.maker, self._sources(variable)
        if not _is_floating(variable):
            return True
        answers = {self._known[source] for source in sources}
        if not isinstance(maker, Operator):
            if variable.block.parent is None:
                return self._given(variable)
            return answers.pop() if answers else None
        if maker.name in ("cond", "while"):
            return answers.pop() if len(answers) == 1 else None
        if False in answers and not any(isinstance(v.type, TensorType) for v in sources):
            return None  # the tensors of a list have answers of their own
        return False if False in answers else None if None in answers else True


def _is_floating(variable: Variable) -> bool:
    """Whether gradients can flow through at all; lists are as the tensors in them."""
    return not isinstance(variable.type, TensorType) or variable.type.is_floating


def _passes(operator: Operator) -> bool:
    """Whether the tape records an operator."""
    definition = lookup(operator.name)
    return definition.gradient is not None or definition.decompose is not None
