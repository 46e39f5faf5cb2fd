"""What the Program checks, where a handler may catch what it would raise."""

from __future__ import annotations

from typing import Any, NoReturn

from dy2st.heart.stage.branch import stage_if
from dy2st.heart.stage.outcome import is_caught
from dy2st.heart.trace import Trace
from dy2st.heart.values.special import Dynamic
from dy2st_runtime.ir import F, Variable


def carry_check(trace: Trace, flag: Variable, error: BaseException) -> bool:
    """Whether an error is caught: then it is raised in a branch, unless a bool holds."""
    if not is_caught(trace, type(error)):
        return False

    def fails() -> NoReturn:
        raise error

    stage_if(trace, flag, lambda: (), fails, (), ())
    return True


def check_place(trace: Trace, content: Dynamic, index: Any, words: str = "index") -> None:
    """Raise what Python raises where a list of a length has no such place, if that is caught."""
    if not trace.handlers or not is_caught(trace, IndexError):
        return
    length = F.array_length(trace.tracer.local(content.arrays[0]))
    is_empty = words == "pop" and type(index) is int and index == -1
    text = "pop from empty list" if is_empty else f"{content.kind.__name__} {words} out of range"
    text = "pop index out of range" if words == "pop" and not is_empty else text
    fits = F.logical_and(F.less_than(index, length), F.greater_equal(index, F.negative(length)))
    carry_check(trace, fits, IndexError(text))


__all__ = ["carry_check", "check_place"]
