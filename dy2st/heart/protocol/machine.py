"""The trace with all that the traced form calls bound to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dy2st.heart import kinds as _rows  # noqa: F401  registers the rows
from dy2st.heart.protocol import (
    attributes,
    calls,
    control,
    displays,
    generators,
    items,
    iteration,
    keys,
    manage,
    matching,
    names,
    natives,
    operators,
    unions,
)
from dy2st.heart.stage.checks import carry_check
from dy2st.heart.trace import Trace
from dy2st_runtime.ir import Tracer

_MODULES = (
    attributes,
    calls,
    control,
    displays,
    generators,
    items,
    iteration,
    keys,
    manage,
    matching,
    names,
    operators,
    unions,
)
_TABLES: tuple[tuple[Any, Callable[..., Any]], ...] = (
    (operators.BINARY, operators.binary),
    (operators.UNARY, operators.unary),
)
PROTOCOL: dict[str, Callable[..., Any]] = {
    name: getattr(module, name)
    for module in _MODULES
    for name in module.__all__
    if not name.isupper() and name[0].islower()
}


class Machine(Trace):
    """A Trace whose attributes are the functions that a traced form calls."""

    def __init__(self, tracer: Tracer):
        """Bind the protocol."""
        super().__init__(tracer)
        self.protocol: Any = self
        tracer.on_check = partial(carry_check, self)
        tracer.call = partial(calls.call, self)
        for name, function in PROTOCOL.items():
            setattr(self, name, partial(function, self))
        for table, function in _TABLES:
            for name in table:
                setattr(self, name, partial(function, self, name))
        for name, plain in operators.IN_PLACE.items():
            setattr(self, name, partial(operators.in_place, self, plain))
        for name in natives.__all__:
            setattr(self, name, partial(getattr(natives, name), self))


__all__ = ["PROTOCOL", "Machine"]
