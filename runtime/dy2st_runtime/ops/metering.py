"""The operators that hold a Program against limits: see `dy2st_runtime/limits.py`.

They stand in Programs that are made for limits (`ir/metering.py`), and do nothing elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from dy2st_runtime import limits
from dy2st_runtime.ir import Effect, Sample, define
from dy2st_runtime.ir.attribute_kinds import INDEX, INTEGER, NAME, several


def _product(sizes: Any) -> int:
    return math.prod(max(1, abs(int(size))) for size in np.asarray(sizes).ravel())


ELEMENTS: Mapping[str, Callable[..., int]] = MappingProxyType(
    {
        "dynamic_full": lambda shape, *_: _product(shape),
        "dynamic_broadcast_to": lambda x, shape, *_: _product(shape),
        "dynamic_tile": lambda x, times, *_: x.size * _product(times),
        "dynamic_one_hot": lambda x, count, *_: x.size * _product(count),
        "dynamic_resize": lambda x, sizes, *_: _product(x.shape[:2]) * _product(sizes),
        "dynamic_upsampling": lambda x, factors, *_: x.size * _product(factors),
        "dynamic_pad": lambda x, pads, *_: x.size * _product(np.asarray(pads) + 1),
        "dynamic_arange": lambda start, end, step, *_: (
            int(abs((float(np.max(end)) - float(np.max(start))) / (float(np.max(step)) or 1.0))) + 1
        ),
        "dynamic_scatter_nd": lambda index, x, shape, *_: _product(shape),
        "bincount": lambda x, *_: int(np.max(x, initial=0)) + 1,
    }
)
"""At most how many elements results have whose sizes are values; of others as many as is given."""


def _spend_kernel(
    operators: int, sizes: tuple[int, ...], scratch: tuple[int, ...], depth: int, begins: bool
) -> tuple[()]:
    limits.spend(operators, sizes, scratch, depth, begins)
    return ()


def _spend_result_kernel(*values: Any, operator: str, width: int, depth: int) -> tuple[()]:
    count = ELEMENTS.get(operator)
    if count is None:
        lists = [value if isinstance(value, list) else [value] for value in values]
        elements = 2 * sum(np.asarray(one).size for found in lists for one in found) + 1
    else:
        elements = count(*values)
    limits.spend(0, (width, 1, elements), (), depth, False)
    return ()


define(
    "spend",
    doc="LimitExceeded if so many operators, with results of these sizes, are beyond the limits.",
    attributes={
        "operators": INTEGER,
        "sizes": several(INDEX, "widths, numbers of axes and sizes", None),
        "scratch": several(INDEX, "arrays of kernels, as sizes", None),
        "depth": INTEGER,
        "begins": False,
    },
    infer=lambda operators, sizes, scratch, depth, begins: (),
    kernel=_spend_kernel,
    effect=Effect.VISIBLE,
    samples=(
        Sample(
            (),
            {
                "operators": 1,
                "sizes": (4, 2, 3, 5),
                "scratch": (1, 4, 1, 7),
                "depth": 0,
                "begins": True,
            },
        ),
    ),
)
define(
    "spend_result",
    takes_complex=True,
    doc="LimitExceeded if the result of an operator, whose size is data, is too large.",
    inputs="values*",
    attributes={"operator": NAME, "width": INTEGER, "depth": INTEGER},
    infer=lambda *types, **_: (),
    kernel=_spend_result_kernel,
    effect=Effect.VISIBLE,
    samples=(Sample(((2,),), {"operator": "unique", "width": 4, "depth": 0}, ("float32",)),),
)
