"""`with enable_grad():` in a trace, where the caller may have switched gradients off."""

from __future__ import annotations

from typing import Any

from dy2st.convert.kinds.table import function_row
from dy2st.convert.trace import EACH_CALL, Trace
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import user_location
from dy2st_runtime.ir.grad_mode import is_grad_enabled, set_grad_enabled
from dy2st_runtime.ir.location import warn_user


@function_row(set_grad_enabled.__enter__)
def enter(trace: Trace, mode: Any) -> None:
    """Switch; a trace records for gradients, so nothing changes but for a caller's `no_grad`."""
    set_grad_enabled.__enter__(mode)
    if not is_grad_enabled() or trace.call_context.gradients is None:
        return
    if not trace.call_context.gradients[0]:
        _leave_to_python(trace)
    trace.read_volatile(is_grad_enabled)


def _leave_to_python(trace: Trace) -> None:
    """The Program would be run without a tape: Python makes the call, which has one here."""
    done = any(kind == EACH_CALL for _, kind, *_ in trace.reads.values())
    if not done:
        trace.call_context.lose()
        warn_user("a converted function that calls enable_grad() runs as Python under no_grad()")
    raise ConversionError(
        "enable_grad() in a converted function that is called under no_grad()",
        at=user_location(),
        why="a Program that is run without gradients records none of its parts",
        hint="call the function outside of no_grad(), and detach() what it returns",
    )
