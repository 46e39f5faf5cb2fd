"""`backward()` and `.grad` in a trace: the gradients of leaves are places like any others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dy2st.convert.kinds.table import function_row
from dy2st.convert.replay.result import Finished, Taker
from dy2st.convert.stage.branch import known
from dy2st.convert.trace import EACH_CALL, Trace
from dy2st.convert.values.special import Union
from dy2st_runtime.autodiff.traced_gradients import gradients_or_zeros
from dy2st_runtime.autograd import AfterBackward, is_cleared, refuse_stopped, seed_of
from dy2st_runtime.errors import ArgumentError, ConversionError
from dy2st_runtime.ir import F, Tensor, Variable, user_location
from dy2st_runtime.ir.grad_mode import is_grad_enabled, no_grad, set_grad_enabled
from dy2st_runtime.ir.location import warn_user
from dy2st_runtime.ir.tracing.leaves import leaves_of
from dy2st_runtime.parameter_updates import gradient_of
from dy2st_runtime.tensor import EagerTensor

PLACE = "_grad"  # the slot of an eager tensor


@function_row(EagerTensor.backward, Variable.backward)
def backward(
    trace: Trace, tensor: Tensor, grad_tensor: Any = None, retain_graph: bool = False
) -> None:
    """`tensor.backward()`: the gradients are recorded, and added to those of the leaves."""
    tracer = trace.tracer
    output = tracer.local(tracer.captured(tensor))
    if not tracer.flags.flows_through(output):
        refuse_stopped(tensor)
    seed = tracer.variable(seed_of(tensor, grad_tensor))
    leaves = leaves_of(tracer, output, retain_graph)
    with _no_others(trace):
        found = gradients_or_zeros(tracer, [output], [seed], [*leaves])
    tracer.has_gone_back = True
    at_end: dict[AfterBackward, list[Tensor]] = {}
    for leaf, gradient in zip(leaves.values(), found, strict=True):
        for hook in () if gradient is None else _add(trace, leaf, *gradient):
            at_end.setdefault(hook, []).append(leaf)
    with no_grad():
        for hook, among in at_end.items():
            totals = trace.call(hook, *(grad_of(trace, leaf) for leaf in among))
            for leaf, total in zip(among, totals, strict=True):
                set_grad(trace, leaf, tracer.variable(total))


@contextmanager
def _no_others(trace: Trace) -> Iterator[None]:
    """All that gradients flow through is a leaf of the walk, so none is made of another."""
    apart = trace.tracer.flags.apart
    count = len(apart)
    yield
    del apart[count:]


def _add(
    trace: Trace, leaf: Tensor, gradient: Variable, there: Variable | None
) -> list[AfterBackward]:
    """Add a gradient to that of a leaf; zeros change nothing where there is none to be added.

    Gives the hooks that are called when those of all leaves are there.
    """
    # The hooks of a leaf from outside; those of others are operators of the Program.
    hooks: list[Any] = []
    if not isinstance(leaf, Variable):
        held = trace.read("attr", leaf, "hooks", leaf.hooks)
        if held is not None:
            trace.read_content(held)
            hooks = [*trace.content(held)]
    has_zeros = _is_cleared(trace, leaf)
    before = None if has_zeros else _held(trace, leaf)
    is_none = not has_zeros and (before is None or type(before) is Union)  # on some paths, perhaps
    if there is not None and (is_none or hooks):
        _let_it_be_none(trace, there)
        return []
    at_end = [hook for hook in hooks if isinstance(hook, AfterBackward) and hook.at_end]
    for hook in hooks:
        changed = None if hook in at_end else trace.call(hook, gradient)
        gradient = gradient if changed is None else trace.tracer.variable(changed)
    with no_grad():
        add = lambda one: gradient if one is None else F.add(one, gradient)  # noqa: E731
        set_grad(trace, leaf, trace.map_cases(add, before))
    return at_end


def _let_it_be_none(trace: Trace, there: Variable) -> None:
    """Take it that a gradient stays None: where it does not, Python makes the call.

    What that leaves of a gradient is there at the next call: then there is no question.
    """
    if trace.call_context.gradients is not None:
        error = ArgumentError("a gradient is there that this Program takes for None")
        trace.has_written = True  # so that Python may make the call
        trace.tracer.check(F.logical_not(there), error)
        return
    raise ConversionError(
        "the gradient of a tensor that only a branch, or some iterations of a loop, depend on",
        at=user_location(),
        why="on other paths it stays None, and a Program has a tensor there, or has none",
        hint="let each path use the tensor, by 0 * x if need be, or let gradients be zeros at "
        "first: x.grad = zeros_like(x), or clear_grad() after the first call",
    )


def grad_of(trace: Trace, tensor: Tensor) -> Any:
    """`tensor.grad`."""
    if (id(tensor), PLACE) not in trace.over and any(
        tensor is one for one in trace.tracer.program.inputs
    ):
        return tensor.grad  # refused: each call has another one
    return _held(trace, tensor)


@function_row(gradient_of)
def _of_step(trace: Trace, tensor: Tensor) -> Any:
    """The gradient that an optimizer takes a step by."""
    found = grad_of(trace, tensor)
    if type(found) is not Union:
        return found
    if trace.call_context.gradients is not None:
        trace.has_written = True  # so that Python may make the call, which leaves gradients
        raise ArgumentError("step() is taken by a gradient that only some paths have given")
    raise ConversionError(
        "a step of an optimizer is taken by a gradient that only some paths have given",
        at=user_location(),
        why="on the others it is None, and which parameters a step moves is part of the Program",
        hint="let gradients be zeros at first: clear_grad() after the first call",
    )


def _held(trace: Trace, tensor: Tensor) -> Any:
    """The gradient of a tensor; an argument has none before the call, which a call checks."""
    place = trace.over.get((id(tensor), PLACE))
    if place is not None:
        return known(trace, place.value)
    if isinstance(tensor, Variable):
        return None
    return trace.read("attr", tensor, PLACE, tensor._grad)


def _is_cleared(trace: Trace, tensor: Tensor) -> bool:
    """Whether the gradient is the zeros that `clear_grad` left before the call.

    To add them changes nothing, and to read them takes as long as to read the weights. A Program
    that reads gradients takes zeros as well, so only one that does not asks at each call.
    """
    if isinstance(tensor, Variable) or (id(tensor), PLACE) in trace.over:
        return False
    return is_cleared(tensor) and bool(trace.read_volatile(is_cleared, tensor))


def set_grad(trace: Trace, tensor: Tensor, value: Any) -> None:
    """`tensor.grad = value`."""
    if not isinstance(tensor, Variable):
        trace.outside[id(tensor)] = tensor
    trace.write(tensor, PLACE, value)


@function_row(EagerTensor.clear_grad, Variable.clear_grad)
def _clear_grad(trace: Trace, tensor: Tensor) -> None:
    set_grad(trace, tensor, None)


@function_row(EagerTensor.clear_gradient, Variable.clear_gradient)
def clear_gradient(trace: Trace, tensor: Tensor, set_to_zero: bool = True) -> None:
    """`tensor.clear_gradient()`: zeros take no memory."""

    def cleared(held: Any) -> Any:
        if held is None:
            return None
        return F.expand(F.zeros([1] * tensor.ndim, tensor.dtype), tensor.shape)

    if not set_to_zero:
        set_grad(trace, tensor, None)
        return
    before = tensor if _is_cleared(trace, tensor) else _held(trace, tensor)
    set_grad(trace, tensor, trace.map_cases(cleared, before))


def note_gradients(trace: Trace, taker: Taker, finished: Finished) -> None:
    """Note at the end of a trace what a call does to the gradients of its arguments."""
    finished.has_gone_back = trace.tracer.has_gone_back
    inputs = {id(variable): i for i, variable in enumerate(trace.tracer.program.inputs)}
    for place in list(trace.over.values()):
        if place.name is PLACE and id(place.owner) in inputs:
            finished.leaves.append((inputs[id(place.owner)], taker.take(place.value)))
    if finished.has_gone_back:
        flows = trace.tracer.flags.flows_through
        finished.freed = [i for i, leaf in enumerate(taker.leaves) if flows(leaf)]


@function_row(set_grad_enabled.__enter__)
def enter(trace: Trace, mode: Any) -> None:
    """Switch; a trace records for gradients, so nothing changes but for a caller's `no_grad`."""
    set_grad_enabled.__enter__(mode)
    if not is_grad_enabled() or trace.call_context.gradients is None:
        return
    if not trace.call_context.gradients[0]:
        # The Program would be run without a tape: Python makes the call, which has one here.
        if not any(kind == EACH_CALL for _, kind, *_ in trace.reads.values()):
            trace.call_context.lose()
            warn_user(
                "a converted function that calls enable_grad() runs as Python under no_grad()"
            )
        raise ConversionError(
            "enable_grad() in a converted function that is called under no_grad()",
            at=user_location(),
            why="a Program that is run without gradients records none of its parts",
            hint="call the function outside of no_grad(), and detach() what it returns",
        )
    trace.read_volatile(is_grad_enabled)
