"""Finds which results are, at run time, the very arrays that a call was given.

    if x.sum() > 0:             # what is returned is x itself, or an array of its own
        x = x + 1
    return x

Code copies what branches and loops yield. So that a caller still gets the array that Python would
give, the results of those through which a parameter may come carry a number: that of the parameter,
or 0.
"""

from __future__ import annotations

from collections.abc import Iterable

from dy2st_runtime.ir.program import Block, Operator, Program, Variable
from dy2st_runtime.ir.tracing.gradient_flow import SETTER

_NAMES = ("assign", "detach", "reshard", SETTER)


def same(variable: Variable) -> Variable:
    """The value that a value only is another name of, in its Block."""
    while isinstance(variable.maker, Operator) and variable.maker.name in _NAMES:
        variable = variable.maker.operands[0]
    return variable


class Identity:
    """What values are, across Blocks.

    tracked   the results of branches and loops that carry a number, in a sure order.
    """

    def __init__(self, program: Program, outputs: Iterable[Variable]) -> None:
        """Find what may come to `outputs`."""
        self._numbers = {p: n for n, p in enumerate(program.block.parameters, 1)}
        self._outer: dict[Variable, Variable] = {}
        self._yields: dict[Variable, list[Variable]] = {}
        for operator in program.block.walk():
            if operator.blocks:
                results, operands = operator.results, operator.operands
                if operator.name == "cond":
                    for block in operator.blocks:
                        self._outer.update(zip(block.parameters, operands[1:], strict=True))
                        self._note(block, results)
                else:
                    for block in operator.blocks:
                        given = [*results, *operands[len(results) :]]
                        self._outer.update(zip(block.parameters, given, strict=True))
                    self._note(operator.blocks[1], results)
                    for result, operand in zip(results, operands, strict=False):
                        self._yields[result].append(operand)
        # The results that may be a parameter: from those that yield one to those they go to.
        takers: dict[Variable, list[Variable]] = {}
        for result, values in self._yields.items():
            for value in values:
                takers.setdefault(self.of(value), []).append(result)
        found: set[Variable] = set()
        waiting = [taker for parameter in self._numbers for taker in takers.get(parameter, ())]
        while waiting:
            result = waiting.pop()
            if result not in found:
                found.add(result)
                waiting += takers.get(result, ())
        self._given = found
        self.tracked: dict[Variable, None] = {}
        for variable in outputs:
            waiting = [self.of(variable)]
            while waiting:
                result = waiting.pop()
                if result in self._given and result not in self.tracked:
                    self.tracked[result] = None
                    waiting += map(self.of, self._yields[result])

    def of(self, variable: Variable) -> Variable:
        """The parameter of the Program, or the result, that a value is another name of."""
        while True:
            variable = same(variable)
            if variable not in self._outer:
                return variable
            variable = self._outer[variable]

    def number(self, variable: Variable) -> int:
        """The number of a parameter of the Program, 0 for others."""
        return self._numbers.get(variable, 0)

    def _note(self, block: Block, results: Iterable[Variable]) -> None:
        for result, value in zip(results, block.yields, strict=True):
            self._yields.setdefault(result, []).append(value)


__all__ = ["Identity", "same"]
