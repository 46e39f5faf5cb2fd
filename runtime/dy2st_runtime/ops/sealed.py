"""The operator `sealed`: a value whose gradient only its maker knows, who is not in the Program."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import Sample, View, define


def _refuse(g: Any, z: Any, x: Any, *behind: Any, maker: str) -> Any:
    raise ArgumentError(
        f"{maker} has a backward() of its own, which a converted function does not call: train "
        "the model without to_static, or convert it up to there"
    )


define(
    "sealed",
    doc="The first input, computed of the others; its gradient is refused with its maker's name.",
    inputs="x, behind*",
    attributes={"maker": ""},
    view=View.SAME,
    infer=lambda x, *behind, maker: x,
    kernel=lambda x, *behind, maker: x,
    gradient=_refuse,
    samples=(Sample(((2, 3), (2,)), {"maker": "Net"}, ("int64", "float32")),),
)
