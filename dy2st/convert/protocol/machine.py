"""The trace with all that the traced form calls bound to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dy2st.convert import kinds as _rows  # noqa: F401  registers the rows
from dy2st.convert.one_call import OneCall
from dy2st.convert.protocol import (  # noqa: F401  all are looked through below
    attributes,
    calls,
    control,
    displays,
    generators,
    items,
    iteration,
    left,
    manage,
    matching,
    names,
    natives,
    operators,
    spreading,
    unions,
)
from dy2st.convert.protocol.short import short_ways
from dy2st.convert.record import Record
from dy2st.convert.stage.checks import carry_check, check_operator, check_sizes
from dy2st.convert.trace import Trace
from dy2st_runtime.ir import Tracer

_MODULES = [one for one in [*globals().values()] if getattr(one, "__package__", "") == __package__]
PROTOCOL: dict[str, Callable[..., Any]] = {
    name: getattr(module, name)
    for module in _MODULES
    for name in module.__all__
    if not name.isupper() and name[0].islower()
}


class Machine(Trace):
    """A Trace whose attributes are the functions that a traced form calls."""

    def __init__(
        self, tracer: Tracer, record: Record | None = None, one_call: OneCall | None = None
    ):
        """Bind the protocol."""
        super().__init__(tracer, record, one_call)
        self.protocol: Any = self
        tracer.on_check = partial(carry_check, self)
        tracer.guard.on_required = partial(check_sizes, self)
        tracer.guard.on_failing = partial(check_operator, self)
        tracer.call = partial(calls.call, self)
        tracer.outside = self.outside
        tracer.explain = partial(left.explain, self)
        bound = vars(self)
        bound.update({name: partial(function, self) for name, function in PROTOCOL.items()})
        for name in operators.UNARY:
            bound[name] = partial(operators.unary, self, name)
        bound.update(short_ways(self))
