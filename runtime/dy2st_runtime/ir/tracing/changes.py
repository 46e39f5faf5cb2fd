"""Changes tensors in place in a trace, and refuses what can no longer be read or changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dy2st_runtime.dims import require_equal
from dy2st_runtime.errors import ConversionError, EscapedVariable, ShapeError, StateMade
from dy2st_runtime.ir.grad_mode import is_grad_enabled
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.ir.types import TensorType

if TYPE_CHECKING:
    from dy2st_runtime.ir.tracing.tracer import Tracer


def out_of_date(variable: Variable, is_chosen: bool = False) -> EscapedVariable:
    """Of one whose tensor was changed under another name; `is_chosen`: on some paths."""
    if is_chosen:
        return EscapedVariable(
            f"a tensor is used that may have been changed in place at {variable.overwritten}",
            why="what was changed there is one of several tensors, or a view of one: a branch, "
            "loop or list that depends on a tensor has chosen which",
            hint="change it where it is chosen: `if p: a.add_(1)`, `else: b.add_(1)`; or choose "
            "the place of an element: y[i].add_(1)",
        )
    return EscapedVariable(
        f"a tensor is used that was changed in place at {variable.overwritten}",
        why="the change was made through another name; this name still has the old value",
        hint="use one name for a tensor that is changed in place, or clone() it first",
    )


def beginning() -> ConversionError:
    """Of a change in place of a leaf that needs gradients, or that may need them."""
    return ConversionError(
        "a change in place of a parameter, or of another tensor in which gradients begin",
        why="they begin in what it is before and in what it is then, which a Program keeps apart",
        hint="change a clone() of it, change it outside of the function, or let it have "
        "stop_gradient = True",
    )


def changed_without_recording() -> ConversionError:
    """Of a change in place under `no_grad` of what gradients flow through."""
    return ConversionError(
        "a tensor through which gradients flow is changed in place under no_grad()",
        why="gradients would go on flowing as if it were not changed, which a Program cannot say",
        hint="change a detach() of it, or change it where gradients are recorded",
    )


def check_replaced(tensor: Tensor, old: Variable, new: Variable) -> None:
    """Refuse a change in place after which a tensor is what a Program cannot make of it."""
    if isinstance(tensor, Variable) or old.type == new.type:
        return
    raise ConversionError(
        f"a tensor from outside, {old.type}, becomes {new.type} in place",
        why="a tensor that a Program reads keeps its dtype and shape",
        hint="give the changed tensor a name of its own: y = x.reshape(...), not x.reshape_(...)",
    )


def check_shape(variable: Variable, old: TensorType) -> None:
    """ShapeError where a tensor is given a value of another shape."""
    reason = f"set_value: shape {list(variable.shape)} does not fit {list(old.shape)}"
    if variable.ndim != len(old.shape):
        raise ShapeError(reason)
    for size, wanted in zip(variable.shape, old.shape, strict=True):
        require_equal(size, wanted, reason)


def state_made(tracer: Tracer, what: str) -> StateMade:
    """Of a parameter or buffer that is made in a trace."""
    error = StateMade(
        what,
        hint="make it in __init__; or, where a call makes it once for all that follow, call the "
        "function before it is saved, and outside of branches and loops that a tensor decides on",
    )
    error.is_chosen = tracer.block.parent is not None
    return error


def lost_view(through: str) -> ConversionError:
    """Of a change in place of a view whose base cannot be changed with it."""
    return ConversionError(
        f"a tensor is changed in place that shares memory with another one through {through}",
        why="Python changes both, and a Program cannot tell which elements of the other one",
        hint="change the other one by an index, x[i] = value, or clone() this one first",
    )


def escaped(variable: Variable) -> EscapedVariable:
    """Of one that has no value where it is read."""
    return EscapedVariable(
        f"{variable!r} is used outside the branch, loop or trace in which it was computed",
        why="it has no value there: that code runs a different number of times",
        hint="return it from the branch or loop, that is, assign it to a variable of the function",
    )


def replace(
    tracer: Tracer, tensor: Tensor, compute: Callable[[Tensor], Any], is_same_memory: bool
) -> None:
    """Let a tensor become what is computed of it; `is_same_memory`: of the same elements."""
    if not is_grad_enabled() and tracer.flags.begins(tensor):
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
    if tracer.flags.begins(tensor):
        tracer.renew(tensor, _fitting(tracer, tensor, value))
        return
    tracer.flags.check_change(tensor, refuses_leaves=False)
    tracer.flags.cut[id(tensor)] = tensor
    # A Variable of its own with the same value, through which no gradient flows.
    variable = _fitting(tracer, tensor, value)
    is_made = isinstance(variable.maker, Operator) and variable.maker.operands
    # What another tensor holds stays that tensor's alone.
    is_alone = len(tracer.aliases.of(variable)) == 1
    is_alone = is_alone and not any(held is variable for _, held in tracer.known())
    if is_made and is_alone and tracer.flags.is_surely_stopped(variable):
        copied = variable
    else:
        copied = tracer.append("detach", [variable], {}, [variable.type]).results[0]
    tracer.change(tensor, copied)


def _fitting(tracer: Tracer, tensor: Tensor, value: Any) -> Variable:
    """A value that a tensor is to have, in its dtype; ShapeError for another shape."""
    old = tracer.captured(tensor).tensor_type
    variable = tracer.variable(value)
    check_shape(variable, old)
    return variable if variable.dtype == old.dtype else tracer.cast_number(variable, old.dtype)
