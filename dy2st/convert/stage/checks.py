"""What the Program checks, where a handler may catch what it would raise."""

from __future__ import annotations

from typing import Any, NoReturn

from dy2st.convert.stage.branch import stage_if
from dy2st.convert.stage.outcome import is_caught
from dy2st.convert.trace import Trace
from dy2st.convert.values.special import Dynamic
from dy2st_runtime.ir import F, Variable
from dy2st_runtime.ir.choice import Hole, Text


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


def check_axes(trace: Trace, tensor: Any, index: Any) -> None:
    """Raise what Python raises where a tensor has no such place, if that is caught."""
    if not trace.handlers or not is_caught(trace, IndexError):
        return
    places = index if isinstance(index, tuple) else (index,)
    if len(places) > tensor.ndim or any(place is None or place is ... for place in places):
        return
    for axis, place in enumerate(places):
        if not isinstance(place, Variable) or place.ndim or place.dtype.kind not in "iu":
            continue
        size = tensor.shape[axis]
        fits = F.logical_and(F.less_than(place, size), F.greater_equal(place, -size))
        words = "index ", Hole(place), " is out of bounds: the axis has the size ", Hole(size)
        carry_check(trace, fits, IndexError(Text(words)))
