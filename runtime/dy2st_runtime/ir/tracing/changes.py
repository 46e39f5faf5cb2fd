"""Changes of a tensor in place, in a trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dy2st_runtime.ir.grad_mode import is_grad_enabled
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.ir.tracing.refusals import changed_without_recording, check_replaced, check_shape

if TYPE_CHECKING:
    from dy2st_runtime.ir.tracing.tracer import Tracer


def replace(
    tracer: Tracer, tensor: Tensor, compute: Callable[[Tensor], Any], is_same_memory: bool
) -> None:
    """Let a tensor become what is computed of it; `is_same_memory`: of the same elements."""
    if not is_grad_enabled() and tracer.is_passed_leaf(tensor):
        tracer.renew(tensor, compute(tensor))
        return
    tracer.flags.check_change(tensor, refuses_leaves=True)
    if tracer.is_grad_wanted and not is_grad_enabled() and not tracer.flags.get(tensor):
        raise changed_without_recording()
    old, new = tracer.captured(tensor), tracer.variable(compute(tensor))
    if new is not tracer.local(old):
        check_replaced(tensor, old, new)
        if not (is_same_memory and tracer.views.look_otherwise(tensor, new)):
            tracer.change(tensor, new)


def set_value(tracer: Tracer, tensor: Tensor, value: Any) -> None:
    """Give a tensor other numbers in place: shape and dtype stay, no gradient flows through."""
    if tracer.is_passed_leaf(tensor):
        tracer.renew(tensor, _fitting(tracer, tensor, value))
        return
    tracer.flags.check_change(tensor, refuses_leaves=False)
    tracer.flags.cut[id(tensor)] = tensor
    tracer.change(tensor, _copied(tracer, _fitting(tracer, tensor, value)))


def _fitting(tracer: Tracer, tensor: Tensor, value: Any) -> Variable:
    """A value that a tensor is to have, in its dtype; ShapeError for another shape."""
    old = tracer.captured(tensor).tensor_type
    variable = tracer.variable(value)
    check_shape(variable, old)
    return variable if variable.dtype == old.dtype else tracer.cast_number(variable, old.dtype)


def _copied(tracer: Tracer, variable: Variable) -> Variable:
    """A Variable of its own with the same value, through which no gradient flows."""
    is_made = isinstance(variable.maker, Operator) and variable.maker.operands
    is_alone = len(tracer.aliases.of(variable)) == 1
    if is_made and is_alone and tracer.flags.is_surely_stopped(variable):
        return variable
    return tracer.append("detach", [variable], {}, [variable.type]).results[0]
