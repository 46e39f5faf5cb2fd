"""Calls of NumPy's ufuncs, which take no traced tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.ir import Variable
from dy2st_runtime.ir.program import refused_by_numpy


def checked_ufunc(ufunc: Any) -> Callable[..., Any]:
    """The ufunc, which says what to write instead if it gets a traced tensor.

    >>> import numpy as np
    >>> int(checked_ufunc(np.add)(1, 2))
    3
    """

    def call(*arguments: Any, **options: Any) -> Any:
        given = (*arguments, *options.values())
        if any(isinstance(value, (Variable, Dim, Condition)) for value in given):
            raise refused_by_numpy(ufunc)
        return ufunc(*arguments, **options)

    return call
