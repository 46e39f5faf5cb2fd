"""What a tracer says of Variables that cannot be read where the user does."""

from __future__ import annotations

from dy2st_runtime.dims import require_equal
from dy2st_runtime.errors import ConversionError, EscapedVariable, ShapeError
from dy2st_runtime.ir.location import user_location
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.ir.types import TensorType


def out_of_date(variable: Variable, is_chosen: bool = False) -> EscapedVariable:
    """Of one whose tensor was changed under another name; `is_chosen`: on some paths."""
    if is_chosen:
        return EscapedVariable(
            f"a tensor is used that may have been changed in place at {variable.overwritten}",
            at=user_location(),
            why="what was changed there is one of several tensors, or a view of one: a branch, "
            "loop or list that depends on a tensor has chosen which",
            hint="change it where it is chosen: `if p: a.add_(1)`, `else: b.add_(1)`; or choose "
            "the place of an element: y[i].add_(1)",
        )
    return EscapedVariable(
        f"a tensor is used that was changed in place at {variable.overwritten}",
        at=user_location(),
        why="the change was made through another name; this name still has the old value",
        hint="use one name for a tensor that is changed in place, or clone() it first",
    )


def beginning() -> ConversionError:
    """Of a change in place of a leaf that needs gradients, or that may need them."""
    return ConversionError(
        "a change in place of a parameter, or of another tensor in which gradients begin",
        at=user_location(),
        why="they begin in what it is before and in what it is then, which a Program keeps apart",
        hint="change a clone() of it, change it outside of the function, or let it have "
        "stop_gradient = True",
    )


def changed_without_recording() -> ConversionError:
    """Of a change in place under `no_grad` of what gradients flow through."""
    return ConversionError(
        "a tensor through which gradients flow is changed in place under no_grad()",
        at=user_location(),
        why="gradients would go on flowing as if it were not changed, which a Program cannot say",
        hint="change a detach() of it, or change it where gradients are recorded",
    )


def check_replaced(tensor: Tensor, old: Variable, new: Variable) -> None:
    """Refuse a change in place after which a tensor is what a Program cannot make of it."""
    if isinstance(tensor, Variable) or old.type == new.type:
        return
    raise ConversionError(
        f"a tensor from outside, {old.type}, becomes {new.type} in place",
        at=user_location(),
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


def lost_view(through: str) -> ConversionError:
    """Of a change in place of a view whose base cannot be changed with it."""
    return ConversionError(
        f"a tensor is changed in place that shares memory with another one through {through}",
        at=user_location(),
        why="Python changes both, and a Program cannot tell which elements of the other one",
        hint="change the other one by an index, x[i] = value, or clone() this one first",
    )


def escaped(variable: Variable) -> EscapedVariable:
    """Of one that has no value where it is read."""
    return EscapedVariable(
        f"{variable!r} is used outside the branch, loop or trace in which it was computed",
        at=user_location(),
        why="it has no value there: that code runs a different number of times",
        hint="return it from the branch or loop, that is, assign it to a variable of the function",
    )
