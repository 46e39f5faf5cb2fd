"""Numbers that decide shapes: known ones, or tensors of which only the run tells the elements.

A tensor of a size becomes a symbol, so that all else is written for sizes alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.dims import Size
from dy2st_runtime.ir import F
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ir.tensor import Tensor


def elements(values: Any) -> list[Any]:
    """Numbers as a list; of a tensor that is not known, a tensor without axes for each."""
    if isinstance(values, Variable):
        flat = F.flatten(values) if values.ndim else F.reshape(values, [1])
        return [F.squeeze(one, [0]) for one in F.split(flat, flat.shape[0])]
    if isinstance(values, (Tensor, np.ndarray)):
        return list(np.asarray(values).reshape(-1).tolist())
    return list(values) if isinstance(values, (list, tuple)) else [values]


def sizes(values: Any) -> list[Size]:
    """Sizes as integers or symbols.

    >>> sizes([2, 3])
    [2, 3]
    """
    return [
        F.arange(F.cast(one, "int64")).shape[0] if isinstance(one, Variable) else one
        for one in elements(values)
    ]


def size(value: Any) -> Any:
    """The one size that there is; None stays None."""
    return None if value is None else sizes(value)[0]


def number(value: Any) -> Any:
    """The one number that there is; None stays None, and so do no numbers."""
    if value is None or (isinstance(value, (list, tuple)) and not value):
        return None
    return elements(value)[0]


def as_float(value: Any) -> Any:
    """A number or a size as a float: of Python where it is known, else a float64."""
    return float(value) if isinstance(value, (int, float)) else F.cast(value, "float64")


def as_whole(value: Any) -> Any:
    """A size that tensors can be computed with."""
    return value if isinstance(value, (int, Tensor)) else F.cast(value, "int64")


__all__ = ["as_float", "as_whole", "elements", "number", "size", "sizes"]
