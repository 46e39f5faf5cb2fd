"""Walks backwards over the operators of a Block: from gradients of results to those of operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from dy2st_runtime.autodiff.activity import Key, Varied, before_setting
from dy2st_runtime.autodiff.gradient import Gradient, any_of, cleaned
from dy2st_runtime.autodiff.residuals import Residuals
from dy2st_runtime.dims import Facts, require_equal, using
from dy2st_runtime.errors import Location, NoGradientRule
from dy2st_runtime.ir.definition import OperatorDefinition, lookup
from dy2st_runtime.ir.dispatch import F, interpreting
from dy2st_runtime.ir.functions import CALL, function_of, parts_of, recursive, written_out
from dy2st_runtime.ir.grad_mode import set_grad_enabled
from dy2st_runtime.ir.hooks import HOOKED
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.sizes import facts_of, fresh_symbol
from dy2st_runtime.ir.tracing.gradient_flow import SETTER
from dy2st_runtime.ir.tracing.tracer import Tracer
from dy2st_runtime.ir.types import ArrayType, TensorType

Found = Sequence[Gradient | None]
Handler = Callable[["Walk", Operator, Found], None]


class Values(Protocol):
    """The values of a forward Block, for what is recorded."""

    def value(self, variable: Variable) -> Variable:
        """The one that stands for a Variable."""


@dataclass
class Shared:
    """What all walks of one gradient share.

    handlers       for operators that are not differentiated by a rule.
    add_lists      the sum of two gradients of a list.
    is_recording   whether hooks and functions of the user's run as where gradients are recorded.
    """

    tracer: Tracer
    varied: Varied
    residuals: Residuals
    handlers: dict[str, Handler]
    add_lists: Callable[[Tracer, Variable, Variable], Variable]
    is_recording: bool = True
    at: Location | None = None

    def __post_init__(self) -> None:
        """The outermost Block that is recorded."""
        self.block = self.tracer.block
        self._known: Facts | None = None

    def known(self, block: Block) -> Facts:
        """What is known of sizes wherever the Program of a forward Block runs, to be added to."""
        if self._known is None:
            *_, block = block.outwards()
            assert block.program is not None
            self._known = facts_of(block.program)
        return self._known.inside()


@dataclass
class Walk:
    """The gradients gathered so far, by the key of each value."""

    shared: Shared
    forward: Values
    key: Key = before_setting
    sums: dict[Variable, Gradient] = field(default_factory=dict)

    @property
    def tracer(self) -> Tracer:
        """What records."""
        return self.shared.tracer

    def is_varied(self, variable: Variable) -> bool:
        """Whether a gradient is wanted of a value."""
        return self.shared.varied.has(variable, self.key)

    def add(self, variable: Variable, gradient: Gradient) -> None:
        """Count one more use of a value."""
        key = self.key(variable)
        known = self.sums.get(key)
        self.sums[key] = gradient if known is None else self.added(known, gradient)

    def added(self, first: Gradient, second: Gradient) -> Gradient:
        """The sum of two gradients of one value."""
        there = any_of(first.there, second.there)
        first, second = cleaned(first), cleaned(second)
        if isinstance(first.value.type, ArrayType):
            value = self.shared.add_lists(self.tracer, first.value, second.value)
            return Gradient(value, there, True, first.is_full or second.is_full)
        return Gradient(self.tracer.variable(F.add(first.value, second.value)), there)

    def seed(self, variable: Variable, gradient: Gradient) -> None:
        """Begin with the gradient of a result of the Block, which comes from around."""
        if self.is_varied(variable):
            value = self.tracer.local(gradient.value)
            same_sizes(self.tracer, value, variable)
            self.add(variable, gradient._replace(value=value))

    def gradient(self, variable: Variable) -> Gradient | None:
        """What has been gathered for a value."""
        return self.sums.get(self.key(variable))

    def run(self, block: Block) -> None:
        """Go through the operators of a Block, from the last that there is now."""
        operators = block.operators
        with set_grad_enabled(True):
            for place in range(len(operators) - 1, -1, -1):
                self._through(operators[place], operators, place)

    def _through(self, operator: Operator, operators: list[Operator], place: int) -> None:
        sums, found, is_any = self.sums, [], False
        for result in operator.results:
            gradient = sums.get(result)
            found.append(gradient)
            is_any = is_any or gradient is not None
        if not is_any or operator.name == SETTER:
            return
        self.shared.at = operator.location
        handler = self.shared.handlers.get(operator.name)
        definition = lookup(operator.name)
        if handler is not None:
            handler(self, operator, found)
        elif definition.gradient is not None:
            self._by_rule(definition, operator, found)
        elif definition.decompose is not None or operator.name == CALL:
            # A call, or a composite operator without a rule, gives way to what it is made of.
            # Here more is known than where the operator stands: what comes after it may require
            # sizes.
            with using(self.shared.known(operator.block)):
                parts = (_called if operator.name == CALL else expanded)(self.tracer, operator)
            operators[place : place + 1] = parts
            self.shared.varied.mark(parts, self.key)
            for offset in range(len(parts) - 1, -1, -1):
                self._through(parts[offset], operators, place + offset)
        else:
            raise NoGradientRule(
                f"the gradient of `{operator.name}`, an operator on lists of a Program",
                at=operator.location,
                why="there is no rule for it",
                hint="append tensors, read and stack them; or differentiate outside of the Program",
            )

    def _by_rule(self, definition: OperatorDefinition, operator: Operator, found: Found) -> None:
        assert definition.gradient is not None
        there = next(gradient for gradient in found if gradient is not None).there
        # A rule of several results adds their parts up, so where one is absent it must be zeros.
        if len(found) > 1:
            found = [gradient and cleaned(gradient) for gradient in found]
            for gradient in found:
                there = there if gradient is None else any_of(there, gradient.there)
        given = [gradient and gradient.value for gradient in found]
        made = list(map(self.forward.value, operator.results))
        g, y = (given[0], made[0]) if len(made) == 1 else (tuple(given), tuple(made))
        operands = map(self.forward.value, operator.operands)
        rule = partial(definition.gradient, g, y, *operands, **operator.attributes)
        if not definition.hidden:
            self._pass_on(operator, rule(), there)
            return
        if self.tracer.block is not self.shared.block:
            raise NoGradientRule(
                f"the gradient of `{operator.name}` in a branch or loop, which runs code of the "
                "user's",
                at=operator.location,
                why="that code is no part of the Program, which would not know what it does on "
                "which path",
                hint="call it outside of the branch or loop, or differentiate outside of the "
                "Program",
            )
        with set_grad_enabled(self.shared.is_recording):
            self._pass_on(operator, rule(), there)

    def _pass_on(self, operator: Operator, entries: Any, there: Any) -> None:
        entries = entries if isinstance(entries, (tuple, list)) else (entries,)
        if operator.name == HOOKED:  # an input is what its hooks make of it
            self.sums[operator.results[0]] = Gradient(entries[0], there, there is None)
        for operand, entry in zip(operator.operands, entries, strict=True):
            if entry is not None and self.is_varied(operand):
                # A rule gives functions, so that what nobody wants is not recorded.
                value = self.tracer.variable(entry() if callable(entry) else entry)
                self.add(operand, Gradient(value, there, there is None))


def _called(_: Tracer, call: Operator) -> list[Operator]:
    """The operators in place of a call; NoGradientRule if its function may come back to itself."""
    function, name = function_of(call), call.attributes["function"]
    assert function is not None and function.program is not None
    if name in recursive(function.program):
        raise NoGradientRule(
            f"the gradient of the function `{name}`, which calls itself",
            at=call.location,
            why="how deep the calls go is known only when the Program runs",
            hint="write a loop, or differentiate outside of the Program",
        )
    return written_out(call, function, lambda size: fresh_symbol(*parts_of(size)))


def same_sizes(tracer: Tracer, gradient: Variable, value: Variable) -> None:
    """Let it be known that a gradient has the sizes of its value, written in whatever way."""
    given, wanted = gradient.type, value.type
    if isinstance(given, TensorType) and isinstance(wanted, TensorType):
        for size, other in zip(given.shape, wanted.shape, strict=True):
            if size is not other:
                require_equal(size, other, "a gradient has the sizes of its value")
        tracer.locate_constraints(tracer.locate())


def expanded(tracer: Tracer, operator: Operator) -> list[Operator]:
    """The operators that it is made of, which give its results; they are in no Block's list yet."""
    decompose = lookup(operator.name).decompose
    assert decompose is not None
    block = operator.block
    scratch, mark = Tracer.of_block(tracer.program, block), len(block.operators)
    outside = {operand: Variable(operand.type, block) for operand in operator.operands}
    for operand, inner in outside.items():
        inner.held, inner.number = operand.held, operand.number
    with interpreting(scratch), set_grad_enabled(True):
        made = decompose(*(outside[v] for v in operator.operands), **operator.attributes)
    made = list(made) if isinstance(made, tuple) else [made]
    for result, new in zip(operator.results, made, strict=True):
        scratch.append("assign", [new], {}, [result.type]).results = [result]
    parts = block.operators[mark:]
    del block.operators[mark:]
    back = {inner: operand for operand, inner in outside.items()}
    for part in parts:
        part.location, part.recompute_call = operator.location, operator.recompute_call
        part.operands = [back.get(operand, operand) for operand in part.operands]
        for result in part.results:
            result.maker = part
        if part.name == operator.name:
            raise NoGradientRule(
                f"the gradient of `{operator.name}`, whose sizes are known only at run time",
                at=operator.location,
                why="its gradient is that of the operator for sizes that are known",
                hint="compute the sizes from shapes, or differentiate outside of the Program",
            )
    return parts


__all__ = ["Found", "Handler", "Shared", "Values", "Walk", "expanded", "same_sizes"]
