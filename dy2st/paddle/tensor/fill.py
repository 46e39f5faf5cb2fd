"""Fills tensors with one number, by a name that stands in `paddle.tensor.creation` alone."""

from __future__ import annotations

from typing import Any

from dy2st_runtime import ops


def fill_constant(
    shape: Any,
    dtype: Any,
    value: Any,
    force_cpu: bool = False,
    out: Any = None,
    place: Any = None,
    name: str | None = None,
) -> Any:
    """A tensor whose elements all are `value`; `out` becomes it.

    >>> fill_constant([2], "int64", 3).tolist()
    [3, 3]
    """
    made = ops.full(shape, value, dtype)
    return made if out is None else ops.assign(made, output=out)


__all__ = ["fill_constant"]
