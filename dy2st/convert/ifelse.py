"""`if`, `a if test else b`, and their loops left as Python."""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, TypeVar

from dy2st.convert.asked import asked
from dy2st.convert.staging import stage_ifelse, stage_ifexp
from dy2st.convert.traced import is_traced

T = TypeVar("T")


def convert_ifelse(
    pred: Any,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    true_args: tuple[Any, ...],
    false_args: tuple[Any, ...],
    return_vars: tuple[Any, ...],
) -> Any:
    """Run one branch, or stage both if the condition is traced.

    >>> convert_ifelse(True, lambda x: x + 1, lambda x: x, (1,), (1,), (0,))
    2
    """
    if pred is not True and pred is not False:
        pred = asked(pred)
    if is_traced(pred):
        return stage_ifelse(pred, true_fn, false_fn, true_args, false_args, return_vars)
    if pred:
        return true_fn(*true_args)
    return false_fn(*false_args)


def convert_ifexp(pred: Any, true_fn: Callable[[], T], false_fn: Callable[[], T]) -> T:
    """`true_fn() if pred else false_fn()`.

    >>> convert_ifexp(0, lambda: "a", lambda: "b")
    'b'
    """
    pred = asked(pred)
    if is_traced(pred):
        result: T = stage_ifexp(pred, true_fn, false_fn)
        return result
    return true_fn() if pred else false_fn()


def convert_kept(
    error: BaseException, functions: tuple[Callable[..., Any], ...], name: str, value: T
) -> T:
    """The value that a variable had inside a branch or loop body that an exception ended.

    Python's own `if` would have changed the variable itself. Without such a frame: `value`.
    """
    codes = [function.__code__ for function in functions]
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        frame: FrameType = trace.tb_frame
        if any(frame.f_code is code for code in codes):
            kept: T = frame.f_locals.get(name, value)
            return kept
        trace = trace.tb_next
    return value
