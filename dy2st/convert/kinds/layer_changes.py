"""Methods of Layers that change them: Python runs these while a function is traced."""

from __future__ import annotations

from dy2st.convert.trace import EACH_CALL, Trace
from dy2st_runtime.errors import UnsupportedSyntax
from dy2st_runtime.ir import user_location
from dy2st_runtime.nn.layer import Layer


def note_change(trace: Trace, layer: Layer) -> None:
    """Refuse to change an older Layer on some paths; else each call is traced for it."""
    kind, at = type(layer).__name__, user_location()
    if not trace.is_nested:
        trace.read(EACH_CALL, note_change, "changed", f"a {kind} is changed at {at}")
        return
    raise UnsupportedSyntax(
        f"a {kind} gets other layers, hooks, buffers or another mode in a branch or loop that "
        "depends on a tensor",
        at=at,
        why="Python does it while the function is traced: it would be done on every path",
        hint="do it before or after the call, or keep a bool or tensor that says what to use",
    )
