"""Gives lists of sizes, and ranges with both ends, under PaddlePaddle's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime import ops
from dy2st_runtime.size_list import SizeList

Size = SizeList


def range(
    start: Any = 0, end: Any = None, step: Any = 1, dtype: Any = None, name: str | None = None
) -> Any:
    """The numbers from start to end, which is one of them; float32 by default.

    >>> range(1, 2, 0.5).tolist()
    [1.0, 1.5, 2.0]
    """
    first, last = (0, start) if end is None else (start, end)
    count = int(np.floor((last - first) / step)) + 1
    made = ops.arange(count, dtype="float64") * step + first
    return made.astype("float32" if dtype is None else dtype)
