"""Appends gradients to a Program: to a finished one, or to the one that is traced."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dy2st_runtime.autodiff.gradient import cleaned
from dy2st_runtime.autodiff.program_gradients import append_gradients
from dy2st_runtime.autograd import grad
from dy2st_runtime.dims import equal
from dy2st_runtime.errors import ArgumentError, DTypeError, ShapeError
from dy2st_runtime.ir import Block, F, Program, TensorType, Variable, current_tracer


def append_backward(
    loss: Any,
    parameter_list: Sequence[Any] | None = None,
    no_grad_set: Iterable[Any] | None = None,
) -> list[tuple[Any, Any]]:
    """Append the gradients of a loss to its Program: pairs of a parameter and its gradient.

    Of all parameters that are trained, or of those in `parameter_list`, Variables or names; what
    the loss does not depend on is left out. Raises ArgumentError if that is all.

    >>> from dy2st import nn, to_static
    >>> from dy2st.static import InputSpec
    >>> net = to_static(nn.Linear(4, 2).forward, input_spec=[InputSpec([3, 4])])
    >>> program = net.main_program
    >>> [gradient.shape for _, gradient in append_backward(program.outputs[0])]
    [[4, 2], [2]]
    """
    program = _program_of(loss, "the loss")
    if parameter_list is None:
        chosen = [v for name, v in program.parameters.items() if program.trainable.get(name, True)]
    else:
        chosen = [_named(program, one) for one in parameter_list]
    found = gradients(loss, chosen, no_grad_set=no_grad_set)
    pairs = [(one, made) for one, made in zip(chosen, found, strict=True) if made is not None]
    if not pairs:
        raise ArgumentError("append_backward: no gradient flows from the loss to a parameter")
    return pairs


def gradients(
    targets: Any,
    inputs: Any,
    target_gradients: Any = None,
    no_grad_set: Iterable[Any] | None = None,
) -> list[Any]:
    """Append the gradients of the sum of targets with respect to each input to their Program.

    None stands for an input that no target depends on. Where only a branch or some iterations
    depend on one, its gradient is zeros for calls in which they do not run. `target_gradients` are
    what to start with, ones if not given; through values in `no_grad_set` no gradient flows. What
    is appended can be differentiated again.

    >>> from dy2st import to_static
    >>> from dy2st.static import InputSpec
    >>> program = to_static(lambda x: x * x, input_spec=[InputSpec([3])]).main_program
    >>> gradients(program.outputs, program.inputs)[0].shape
    [3]
    """
    targets, inputs = _as_list(targets), _as_list(inputs)
    if not targets:
        raise ArgumentError("gradients: there is no target, so nothing has a gradient")
    starts = [None] * len(targets) if target_gradients is None else _as_list(target_gradients)
    if len(starts) != len(targets):
        raise ArgumentError(f"{len(targets)} targets have {len(starts)} gradients to start with")
    if current_tracer() is not None:
        given = None if target_gradients is None else starts
        return grad(targets, inputs, given, create_graph=True, allow_unused=True)
    program = _program_of(targets[0], "a target")
    for what, values in (
        ("target", targets),
        ("input", inputs),
        ("gradient to start with", starts),
    ):
        for value in values:
            if value is not None:
                _check(program, value, what)
    for target, start in zip(targets, starts, strict=True):
        if start is not None and not _may_fit(start.tensor_type, target.tensor_type):
            raise ShapeError(
                f"the gradient to start with is {start.type}, the target {target.type}"
            )

    def seed(target: Variable, number: int) -> Variable:
        given = starts[number]
        start: Variable = F.ones_like(target) if given is None else given
        return start

    stopped = [_named(program, one) for one in no_grad_set or ()]
    return append_gradients(
        program,
        targets,
        inputs,
        seed,
        lambda found: [None if one is None else cleaned(one).value for one in found],
        stopped,
    )


def _program_of(value: Any, what: str) -> Program:
    block = value.block if isinstance(value, Variable) else Block()
    *_, block = block.outwards()
    if block.program is None:
        raise ArgumentError(
            f"{what} is a value of a Program, as in f.main_program.outputs, not {value!r:.80}; "
            "for tensors there are backward() and grad()"
        )
    return block.program


def _named(program: Program, value: Any) -> Variable:
    if isinstance(value, str):
        if value not in program.state:
            raise ArgumentError(f"{program.name} has no parameter or buffer {value!r}")
        return program.state[value]
    _check(program, value, "parameter")
    found: Variable = value
    return found


def _check(program: Program, value: Any, what: str) -> None:
    """Refuse what is no differentiable value of the outermost Block of a Program."""
    if not isinstance(value, Variable) or value.block is not program.block:
        raise ArgumentError(f"the {what} is a value of {program.name}, not {value!r:.80}")
    if not value.tensor_type.is_differentiable:
        raise DTypeError(f"the {what} of dtype {value.dtype} has no gradient: cast it to a float")


def _may_fit(start: TensorType, target: TensorType) -> bool:
    if start.dtype != target.dtype or start.rank != target.rank:
        return False
    return all(equal(a, b) is not False for a, b in zip(start.shape, target.shape, strict=True))


def _as_list(values: Any) -> list[Any]:
    return [*values] if isinstance(values, (list, tuple)) else [values]


__all__ = ["append_backward", "gradients"]
