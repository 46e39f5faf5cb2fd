"""Operators whose gradients are functions of the user's, which are not in the Program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import Kind, Sample, View, define
from dy2st_runtime.ir.attribute_kinds import between
from dy2st_runtime.ir.hooks import HOOKED
from dy2st_runtime.ir.tracing.tracer import converted
from dy2st_runtime.ops.rules import same_type


def _gradient_by_hook(g: Any, y: Any, x: Any, hook: str) -> Any:
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
    gradient=_gradient_by_hook,
    samples=(Sample(((2, 3),), {"hook": "print"}, ("int64",)),),
)


def _gradient_by_maker(g: Any, y: Any, values: Sequence[Any], maker: str) -> list[Any]:
    """What the maker says, if it is more than a name: in the process that has made the Program."""
    rule = getattr(maker, "gradient", None)
    if rule is None:
        raise ArgumentError(
            f"{maker} has a backward() of its own, which this Program does not have: a saved one "
            "is for inference. Train through the function that it was made of; there backward() "
            "is called with tensors that forward() has kept outside of its branches and loops"
        )
    return list(rule(g, y, values))


define(
    "sealed",
    hidden=True,
    doc="The first input, computed of the others; its gradient is its maker's.",
    inputs="x, behind*",
    attributes={"maker": ""},
    view=View.SAME,
    infer=lambda x, *behind, maker: x,
    kernel=lambda x, *behind, maker: x,
    gradient=lambda g, z, *values, maker: _gradient_by_maker(g, z, values, maker),
    samples=(Sample(((2, 3), (2,)), {"maker": "Net"}, ("int64", "float32")),),
)
define(
    "sealed_results",
    hidden=True,
    doc="The first `count` inputs, computed of the others; their gradients are their maker's.",
    inputs="values*",
    attributes={
        "count": between(2, 2**16),
        "maker": "",
    },
    infer=lambda *values, count, maker: values[:count],
    kernel=lambda *values, count, maker: tuple(map(np.copy, values[:count])),
    gradient=lambda g, z, *values, count, maker: _gradient_by_maker(g, z, values, maker),
    samples=(Sample(((2, 3), (2,), (1,)), {"count": 2, "maker": "Net"}, ("int64",) * 3),),
)
