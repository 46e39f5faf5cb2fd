"""Texts of traced values: what a Program writes when it runs."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import TensorAsPython
from dy2st_runtime.ir import F, Tensor, Variable, current_tracer, user_location
from dy2st_runtime.ir.choice import Choice, Hole, Text
from dy2st_runtime.ir.structure import map_entries


def text_of(value: Any, conversion: str, spec: Any) -> Text:
    """The text of a value, converted and formatted as in an f-string; "%" for `spec % value`."""
    if type(spec) is Text:
        raise TensorAsPython(
            "a format depends on a tensor",
            at=user_location(),
            why="the format of a text is part of the Program",
            hint="take a format that is known, such as {x:>10.2f}",
        )
    if type(value) is Text and conversion in ("", "s") and not spec:
        return value
    return Text((Hole(kept(value), conversion, spec),))


def kept(value: Any) -> Any:
    """The value as it is now: what changes in place later does not show."""
    if isinstance(value, Variable):
        return value if value.number is not None else F.assign(value)
    if isinstance(value, Tensor):
        tracer = current_tracer()
        assert tracer is not None
        return F.assign(tracer.variable(value))
    if isinstance(value, (Dim, Condition)):
        return value
    if isinstance(value, Choice):
        return Choice(value.tag, tuple(kept(case) for case in value.cases))
    return map_entries(value, kept)
