"""Layers as a whole: those that hold others in order, and reads of all that one holds."""

from __future__ import annotations

from typing import Any

from dy2st.convert.objects import is_plain_field
from dy2st.convert.trace import EACH_CALL, Trace
from dy2st_runtime.errors import StateMade, UnsupportedSyntax
from dy2st_runtime.ir import user_location
from dy2st_runtime.nn.containers import LayerList, ParameterList, Sequential
from dy2st_runtime.nn.layer import Layer


def held_in_order(trace: Trace, owner: Any, method: str) -> tuple[Any, ...] | None:
    """What a Layer of ours holds; None of others, and where the user's class has the method."""
    in_order = LayerList, Sequential, ParameterList
    kind = next((one for one in in_order if isinstance(owner, one)), None)
    if kind is None or getattr(type(owner), method) is not getattr(kind, method):
        return None
    held = owner._parameters if kind is ParameterList else owner._sub_layers
    note_held(trace, owner, held)
    return tuple(held.values())


def note_held(trace: Trace, owner: Layer, held: Any) -> None:
    """Note that the code has seen all that a Layer holds."""
    if trace.is_outside(owner):
        read_layer(trace, owner)
        for one in held.values():
            trace.mark_outside(one)


def read_layer(trace: Trace, layer: Layer) -> None:
    """Note all that a Layer holds but for the attributes that the trace has set unread."""
    own = [name for key, name in trace.over if key == id(layer) and isinstance(name, str)]
    own = [one for one in own if (id(layer), "attr", one) not in trace.reads]
    unread = frozenset(one for one in own if is_plain_field(layer, one))
    trace.read("layer", layer, "all", unread)


def note_change(trace: Trace, layer: Layer) -> None:
    """Refuse to change an older Layer on some paths; else each call is traced for it."""
    kind, at = type(layer).__name__, user_location()
    context, are_seen = trace.call_context, (one[1] == EACH_CALL for one in trace.reads.values())
    if not trace.is_nested and not any(are_seen) and context.may_leave(at):
        context.lose()
        raise StateMade(f"a {kind} is changed", at=at)
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
