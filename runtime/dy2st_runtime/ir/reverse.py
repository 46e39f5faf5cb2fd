"""Gradients inside of a Program: its operators walked backwards, their rules recorded behind them.

The rules are written with operators, so a tracer takes them like any other code. What they append
are operators of the Program, which can be differentiated again, here or by the tape.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import and_
from typing import Any

from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir.autocast import autocasting
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.dispatch import F, interpreting
from dy2st_runtime.ir.grad_mode import is_grad_enabled, set_grad_enabled
from dy2st_runtime.ir.hooks import HOOKED
from dy2st_runtime.ir.location import user_location
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.reverse_branch import is_simple, through_branches
from dy2st_runtime.ir.tracing.gradient_flow import SETTER
from dy2st_runtime.ir.tracing.tracer import Tracer
from dy2st_runtime.ir.types import TensorType


def gradients(
    tracer: Tracer,
    outputs: Sequence[Variable],
    seeds: Sequence[Variable],
    inputs: Sequence[Variable],
    create_graph: bool = False,
) -> list[Variable | None]:
    """Append the gradients of outputs, which begin with `seeds`, with respect to inputs.

    They are recorded at the end of the tracer's Block; None is for an input that no output depends
    on. `create_graph` lets gradients flow through them. Raises ConversionError where a branch, a
    loop or a list of the Program stands between outputs and inputs.
    """
    walk = _Walk(tracer, inputs)
    return _walked(walk, outputs, seeds, inputs, create_graph)


def _walked(
    walk: _Walk,
    outputs: Sequence[Variable],
    seeds: Sequence[Variable],
    inputs: Sequence[Variable],
    create_graph: bool,
) -> list[Variable | None]:
    tracer = walk.tracer
    with interpreting(tracer), set_grad_enabled(create_graph), autocasting(None):
        for output, seed in zip(outputs, seeds, strict=True):
            walk.add(output, seed)
        for operator in walk.order(outputs):
            walk.pass_through(operator)
    walk.note_apart()
    walk.check_sure(inputs)
    return [walk.sums.get(walk.root(variable)) for variable in inputs]


class _Walk:
    """One walk from outputs to inputs.

    sums     the gradients gathered so far, by the Variable that the operators have made.
    wanted   the inputs.
    sure     those of which there is a gradient whatever branches are taken.
    others   the tensors from outside that are met, and no inputs.
    parts    what stands for the results of a composite operator without a rule of its own: those
             of its decomposition, recorded anew.
    """

    def __init__(self, tracer: Tracer, inputs: Sequence[Variable], is_inner: bool = False) -> None:
        self._is_inner = is_inner
        self.tracer = tracer
        self.wanted = dict.fromkeys(map(self.root, inputs))
        self.sums: dict[Variable, Variable] = {}
        self._parts: dict[Operator, list[Variable]] = {}
        self._leads: dict[Variable, bool] = {}
        self._others: dict[Variable, None] = {}
        self._sure: set[Variable] = set()

    def root(self, variable: Variable) -> Variable:
        """The Variable, of whatever Block around, before its `stop_gradient` was set."""
        variable = self.tracer.aliases.origin(variable)
        while isinstance(variable.maker, Operator) and variable.maker.name == SETTER:
            variable = self.tracer.aliases.origin(variable.maker.operands[0])
        return variable

    def add(self, variable: Variable, gradient: Variable, is_sure: bool = True) -> None:
        """Count one more use of a Variable; in branches it may be none."""
        root = self.root(variable)
        known = self.sums.get(root)
        self.sums[root] = gradient if known is None else F.add(known, gradient)
        if is_sure:
            self._sure.add(root)

    def order(self, outputs: Sequence[Variable]) -> list[Operator]:
        """The operators between outputs and inputs, each before the makers of its operands."""
        done: set[Operator] = set()
        order: list[Operator] = []
        makers = [maker for output in outputs for maker in self._makers([output])]
        stack = [(maker, False) for maker in reversed(makers)]
        while stack:
            operator, is_left = stack.pop()
            if is_left:
                order.append(operator)
            elif operator not in done:
                done.add(operator)
                stack.append((operator, True))
                stack += [(maker, False) for maker in self._makers(self._sources(operator))]
        return order[::-1]

    def _makers(self, variables: Sequence[Variable]) -> list[Operator]:
        """The operators behind those through which the inputs are reached."""
        makers = [self.root(v).maker for v in variables if self.is_between(v)]
        return [maker for maker in makers if isinstance(maker, Operator) and self._enters(maker)]

    def _sources(self, operator: Operator) -> list[Variable]:
        """The Variables to which an operator hands its gradients on."""
        if operator.name == "cond" and is_simple(operator):
            return operator.operands
        if operator.blocks or not _has_rule(operator):
            _check(operator)
            if operator not in self._parts:
                self._parts[operator] = self._decomposed(operator)
            return self._parts[operator]
        return operator.operands

    def _decomposed(self, operator: Operator) -> list[Variable]:
        decompose = lookup(operator.name).decompose
        assert decompose is not None
        with set_grad_enabled(True):
            made = decompose(*map(self._value, operator.operands), **operator.attributes)
        return list(made) if isinstance(made, tuple) else [made]

    def is_between(self, variable: Variable) -> bool:
        """Whether gradients flow through a Variable to one of the inputs."""
        waiting = [variable]
        while waiting:
            last = waiting[-1]
            missing = [v for v in self._behind(last) if v not in self._leads]
            if missing and last not in self._leads:
                waiting += missing
                continue
            waiting.pop()
            if last not in self._leads:
                self._leads[last] = self._is_end(last) or any(
                    self._leads[v] for v in self._behind(last)
                )
        return self._leads[variable]

    def _behind(self, variable: Variable) -> list[Variable]:
        maker = self.root(variable).maker
        if _is_stopped(variable) or not isinstance(maker, Operator):
            return []
        return maker.operands if _passes(maker) else []

    def _is_end(self, variable: Variable) -> bool:
        """Whether a Variable is an input through which gradients flow."""
        if _is_stopped(variable):
            return False
        root = self.root(variable)
        if root in self.wanted:
            return self._is_inner or not self.tracer.flags.stops(variable)
        if isinstance(root.maker, Operator):
            return False
        if root.maker.parent is None:
            self._others[root] = None
        elif not self.tracer.flags.is_surely_stopped(root):
            self._check_carried(root)
        return False

    def note_apart(self) -> None:
        """Note what must not be made of the inputs before the Program runs."""
        found = self.tracer.flags.apart
        for wanted in self.wanted:
            if not isinstance(wanted.maker, Operator):
                found += [(wanted, other, user_location()) for other in self._others]

    def _check_carried(self, variable: Variable) -> None:
        """Refuse what a loop hands from turn to turn, unless the inputs are made in this turn."""
        for wanted in self.wanted:
            place = wanted.block if isinstance(wanted.maker, Operator) else wanted.block.parent
            while place is not None and place is not variable.block:
                place = place.parent
            if place is None:
                raise _refused("a tensor that a loop carries from turn to turn stands")

    def _enters(self, operator: Operator) -> bool:
        """Whether an operator has anything behind it that is asked for."""
        return _passes(operator) and any(self.is_between(v) for v in operator.operands)

    def pass_through(self, operator: Operator) -> None:
        """Hand the gradients of an operator's results on to its operands."""
        found = [self.sums.get(result) for result in operator.results]
        if all(gradient is None for gradient in found):
            return
        is_sure = any(result in self._sure for result in operator.results)
        if operator.blocks:
            self._pass_through_branches(operator, found, is_sure)
            return
        sources = self._sources(operator)
        entries: Sequence[Any] = (
            found if sources is not operator.operands else self._by_rule(operator, found)
        )
        if operator.name == HOOKED:
            self.sums[operator.results[0]] = entries[0]  # an input is what its hooks make of it
        for source, entry in zip(sources, entries, strict=True):
            if entry is not None and self.is_between(source):
                self.add(source, entry() if callable(entry) else entry, is_sure)

    def _by_rule(self, operator: Operator, found: Sequence[Variable | None]) -> Sequence[Any]:
        """What the rule of an operator gives, one entry an operand."""
        rule = lookup(operator.name).gradient
        assert rule is not None
        outputs = [self._value(result) for result in operator.results]
        operands = [self._value(operand) for operand in operator.operands]
        g, y = (found[0], outputs[0]) if len(outputs) == 1 else (tuple(found), tuple(outputs))
        entries = rule(g, y, *operands, **operator.attributes)
        return entries if isinstance(entries, (tuple, list)) else (entries,)

    def _pass_through_branches(
        self, operator: Operator, found: Sequence[Variable | None], is_sure: bool
    ) -> None:
        operands = [self._value(operand) for operand in operator.operands]
        wanted = [i for i, v in enumerate(operator.operands) if self.is_between(v)]
        depends: list[list[bool]] = []
        made = through_branches(
            self.tracer, operator, operands, found, wanted, self._inner_gradients, depends
        )
        if made is None:
            raise _refused(f"an `if` with other sizes in each branch ({operator.location}) stands")
        sources = [operator.operands[place] for place in wanted]
        for source, gradient, sides in zip(sources, made, zip(*depends, strict=True), strict=True):
            self.add(source, gradient, is_sure and all(sides))
        for end in self.wanted if is_sure else ():
            walk = _Walk(self.tracer, [end], is_inner=True)
            leads = [walk.is_between(source) for source in sources]
            if all(any(map(and_, leads, side)) for side in depends):
                self._sure.add(end)

    def check_sure(self, inputs: Sequence[Variable]) -> None:
        """Refuse gradients that are there only if some branch is taken."""
        for root in map(self.root, inputs):
            if root in self.sums and root not in self._sure:
                raise _refused("an `if` of which a branch gives no gradient stands")

    def _inner_gradients(
        self, outputs: Sequence[Variable], seeds: Sequence[Variable], inputs: Sequence[Variable]
    ) -> list[Variable | None]:
        """Those of the operators of one branch."""
        walk = _Walk(self.tracer, inputs, is_inner=True)
        return _walked(walk, outputs, seeds, inputs, is_grad_enabled())

    def _value(self, variable: Variable) -> Variable:
        """A Variable as it was when the operator ran, though the user has changed it since."""
        if self.tracer.captured(variable) is variable and variable.overwritten is None:
            return variable
        if variable.block is not self.tracer.block:
            raise _refused("a tensor of an outer branch or loop, changed in place, stands")
        return self.tracer.append("assign", [variable], {}, [variable.type]).results[0]


def _is_stopped(variable: Variable) -> bool:
    """Whether no gradient flows through a Variable, by what it is alone."""
    maker = variable.maker
    if isinstance(maker, Operator) and maker.name == SETTER and maker.attributes["value"]:
        return True
    return isinstance(variable.type, TensorType) and variable.type.dtype.kind in "iub"


def _has_rule(operator: Operator) -> bool:
    return lookup(operator.name).gradient is not None


def _passes(operator: Operator) -> bool:
    """Whether gradients flow, or would flow, through an operator."""
    if operator.blocks or _is_on_lists(operator):
        return True
    definition = lookup(operator.name)
    return definition.gradient is not None or definition.decompose is not None


def _is_on_lists(operator: Operator) -> bool:
    return any(
        not isinstance(variable.type, TensorType)
        for variable in (*operator.operands, *operator.results)
    )


def _check(operator: Operator) -> None:
    """Refuse an operator that does not do the same at every call."""
    kinds = {"cond": "an `if` that depends on a tensor", "while": "a loop that depends on a tensor"}
    if operator.blocks:
        raise _refused(f"{kinds[operator.name]} ({operator.location}) stands")
    if _is_on_lists(operator):
        raise _refused(f"a list whose length a tensor decides ({operator.location}) stands")


def _refused(what: str) -> ConversionError:
    return ConversionError(
        f"grad() of traced tensors: {what} between the outputs and the inputs",
        at=user_location(),
        why="a gradient inside of a Program is made of operators that run at every call",
        hint="call grad() inside the branch or turn, choose by element with where(condition, a, b),"
        " or call grad() on what the converted function returns",
    )


__all__ = ["gradients"]
