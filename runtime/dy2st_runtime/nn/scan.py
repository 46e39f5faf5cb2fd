"""One step after the other along the first axis, unrolled or as a static loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st_runtime.ir import F, current_tracer
from dy2st_runtime.ir.structure import flatten, rebuild
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.ops.control_flow import while_loop

Step = Callable[[Any, Any], tuple[Any, Any]]


def scan(
    step: Step,
    x: Any,
    state: Any,
    is_reverse: bool = False,
    mask: Any = None,
    longest: int | None = None,
) -> tuple[Any, Any]:
    """(l, ...) -> (l, ...): output, state = step(x[t], state) for every t; the last state too.

    Where `mask[t]` is False the state stays as it was. A length that is not known while a function
    is traced becomes a `while` operator, and so does a known one above `longest`.
    """
    length, tracer = x.shape[0], current_tracer()
    if not isinstance(length, int) or (tracer and longest is not None and length > longest):
        return _staged(step, x, state, is_reverse, mask)
    outputs: list[Any] = []
    end = None if tracer is None else tracer.growth.unrolling(tracer.block)
    for t in reversed(range(length)) if is_reverse else range(length):
        output, new = step(x[t], state)
        state = _masked(mask, t, new, state)
        outputs.append(output)
    if tracer is not None and end is not None:
        end(tracer.block, length)
    if not outputs:
        output, _ = step(F.zeros(x.shape[1:], x.dtype), state)
        return F.zeros([0, *output.shape], output.dtype), state
    return F.stack(outputs[::-1] if is_reverse else outputs, axis=0), state


def _masked(mask: Any, t: Any, new: Any, old: Any) -> Any:
    """The new state where the mask is True at this time, else the old one."""
    if mask is None:
        return new
    news, structure = flatten(new, lambda value: isinstance(value, Tensor))
    olds, _ = flatten(old, lambda value: isinstance(value, Tensor))
    kept = [F.where(mask[t], a, b) for a, b in zip(news, olds, strict=True)]
    return rebuild(structure, kept)


def _staged(step: Step, x: Any, state: Any, is_reverse: bool, mask: Any) -> tuple[Any, Any]:
    tracer = current_tracer()
    assert tracer is not None, "a size is unknown outside of a trace"
    leaves, structure = flatten(state, lambda value: isinstance(value, Tensor))
    length = x.shape[0]
    first, _ = step(F.zeros(x.shape[1:], x.dtype), state)  # for the type of an output only
    outputs = F.zeros([length, *first.shape], first.dtype)
    t = tracer.variable(length - 1 if is_reverse else 0)

    def more(t: Any, outputs: Any, *leaves: Any) -> list[Any]:
        return [t >= 0 if is_reverse else t < length]

    def iteration(t: Any, outputs: Any, *leaves: Any) -> list[Any]:
        old = rebuild(structure, leaves)
        output, new_state = step(x[t], old)
        new_state = _masked(mask, t, new_state, old)
        new_leaves, _ = flatten(new_state, lambda value: isinstance(value, Tensor))
        outputs = F.setitem(outputs, t, output)
        return [t - 1 if is_reverse else t + 1, outputs, *new_leaves]

    initial = [tracer.variable(value) for value in (t, outputs, *leaves)]
    _, outputs, *last = while_loop(more, iteration, initial, names=["t", "outputs"])
    return outputs, rebuild(structure, last)
