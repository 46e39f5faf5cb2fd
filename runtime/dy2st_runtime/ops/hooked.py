"""The operator `hooked`: its gradient goes through functions that are not in the Program."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import Kind, Sample, View, define
from dy2st_runtime.ir.hooks import HOOKED
from dy2st_runtime.ir.tracing.converting import converted
from dy2st_runtime.ops.rules import same_type


def _gradient(g: Any, y: Any, x: Any, hook: str) -> Any:
    rule = getattr(hook, "gradient", None)
    if rule is None:
        raise ArgumentError(
            f"the gradient of this Program goes through the hook {hook}, which a saved one does "
            "not have: train through the function that it was made of"
        )
    return rule(g, converted)


define(
    HOOKED,
    doc="The same tensor; its gradient goes through hooks of the user's.",
    inputs="x",
    attributes={"hook": ""},
    kind=Kind.ELEMENTWISE,
    view=View.SAME,
    hidden=True,
    infer=same_type,
    kernel=lambda x, hook: x,
    gradient=_gradient,
    samples=(Sample(((2, 3),), {"hook": "print"}, ("int64",)),),
)
