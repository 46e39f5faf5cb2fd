"""Where the gradients of a traced tensor end: the leaves of which it is made."""

from __future__ import annotations

from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.ir.tracing.gradient_flow import SETTER, flags_of, is_passed
from dy2st_runtime.ir.tracing.tracer import Tracer


def leaves_of(tracer: Tracer, output: Variable, retain: bool = False) -> dict[Variable, Tensor]:
    """The leaves behind a Variable, each with the tensor that the user holds.

    Raises RuntimeError where an earlier walk that did not `retain` the graph has freed it, as the
    tape does; this walk frees it else.
    """
    walk = _Walk(tracer)
    walk.go(output)
    if not tracer.spent.isdisjoint(walk.operators):
        raise RuntimeError(
            "the graph was freed by an earlier backward(); pass retain_graph=True to keep it"
        )
    if not retain:
        tracer.spent.update(walk.operators)
    return walk.leaves


class _Walk:
    """One walk back from a Variable through all that gradients flow through."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.operators: set[Operator] = set()
        self.leaves: dict[Variable, Tensor] = {}
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
            if maker.parent is None:
                self.leaves[variable] = self.tracer.flags.state.get(variable, variable)
            return []
        if maker.name == SETTER:
            source = self.tracer.aliases.origin(maker.operands[0])
            if self.tracer.flags.flows_through(source):
                return [source]
            now = self._held.get(variable, variable)
            self.leaves[variable] = self.tracer.flags.renewed.get(variable, now)
            return []
        held = self._held.get(variable)
        if not isinstance(held, (Variable, type(None))) and flags_of(held) == (False, True):
            # What branches have left in a leaf, as a step of an optimizer on some paths, is a leaf.
            self.leaves[variable] = held
            return []
        if not is_passed(maker):
            return []
        self.operators.add(maker)
        return maker.operands


__all__ = ["leaves_of"]
