"""Finds the leaves of a traced tensor, at which its gradients end."""

from __future__ import annotations

from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.ir.tracing.gradient_flow import SETTER, is_passed
from dy2st_runtime.ir.tracing.tracer import Tracer


def leaves_of(tracer: Tracer, output: Variable, retain: bool = False) -> dict[Variable, Tensor]:
    """The leaves behind a Variable, each with the tensor that the user holds.

    Raises RuntimeError where an earlier walk that did not `retain` the graph has freed it, as the
    tape does; this walk frees it else.
    """
    walk = _Walk(tracer)
    walk.go(output)
    if walk.is_carried and not walk.leaves:
        raise ConversionError(
            "backward() of a tensor that a loop has carried here from an earlier iteration",
            why="how many iterations there were, and which of them made it, only the run knows",
            hint="compute the loss in the iteration that calls backward() of it",
        )
    if not tracer.state.spent.keys().isdisjoint(walk.operators):
        raise RuntimeError(
            "the graph was freed by an earlier backward(); pass retain_graph=True to keep it"
        )
    if not retain:
        tracer.state.spent.update(dict.fromkeys(walk.operators))
    return walk.leaves


class _Walk:
    """One walk back from a Variable through all that gradients flow through."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.operators: set[Operator] = set()
        self.leaves: dict[Variable, Tensor] = {}
        self.is_carried = False  # whether a loop hands something to it from iteration to iteration
        self._held = {variable: tensor for tensor, variable in tracer.known()}

    def go(self, output: Variable) -> None:
        """See all that lies behind a Variable."""
        waiting, seen = [output], set[Variable]()
        while waiting:
            variable = self.tracer.aliases.origin(waiting.pop())
            if variable not in seen and self.tracer.flags.flows_through(variable):
                seen.add(variable)
                waiting += self._behind(variable)

    def _behind(self, variable: Variable) -> list[Variable]:
        maker = variable.maker
        if not isinstance(maker, Operator):
            # A parameter of the Program is a leaf; that of a loop comes from an earlier iteration.
            if maker.parent is None:
                self.leaves[variable] = self.tracer.flags.state.get(variable, variable)
            self.is_carried = self.is_carried or maker.parent is not None
            return []
        if maker.name == SETTER:
            source = self.tracer.aliases.origin(maker.operands[0])
            if self.tracer.flags.flows_through(source):
                return [source]
            now = self._held.get(variable, variable)
            self.leaves[variable] = self.tracer.flags.renewed.get(variable, now)
            return []
        if not is_passed(maker):
            return []
        if maker.blocks and self._begins_in(maker, variable):
            raise ConversionError(
                "backward() through what a branch or loop has computed of parameters that it has "
                "changed",
                why="its gradients belong to the parameters as they were there, on some paths "
                "alone",
                hint="compute it behind the branch or loop, or call backward() in there",
            )
        self.operators.add(maker)
        return maker.operands

    def _begins_in(self, operator: Operator, result: Variable) -> bool:
        """Whether gradients of a result of a `cond` or `while` begin in a leaf of its Blocks."""
        place = next(i for i, one in enumerate(operator.results) if one is result)
        # The first Block of a loop is its condition, a bool: no gradient flows through it.
        for block in operator.blocks if operator.name == "cond" else operator.blocks[1:]:
            waiting = [block.yields[place]] if operator.name == "cond" else [*block.yields]
            seen = set[Variable]()
            while waiting:
                variable = waiting.pop()
                maker = variable.maker
                if variable in seen or not isinstance(maker, Operator) or maker.block is not block:
                    continue
                seen.add(variable)
                if maker.name == SETTER and variable in self.tracer.flags.renewed:
                    return True
                if maker.name == SETTER or not is_passed(maker):
                    continue
                if maker.blocks and self._begins_in(maker, variable):
                    return True
                waiting += maker.operands
        return False


__all__ = ["leaves_of"]
