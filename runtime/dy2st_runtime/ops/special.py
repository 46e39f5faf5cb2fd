"""Special functions of two tensors, element by element: loaded when one of them is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.ir import F, Tensor, apply, method
from dy2st_runtime.ops.rules import define_binary


def _logaddexp_gradient(g: Any, z: Any, x: Any, y: Any) -> Any:
    return (
        lambda: F.sum_to(g * F.exp(x - z), x.shape),
        lambda: F.sum_to(g * F.exp(y - z), y.shape),
    )


define_binary(
    "logaddexp",
    "log(exp(x) + exp(y)), without overflow.",
    np.logaddexp,
    _logaddexp_gradient,
    gives_floats=np.logaddexp,
    commutes=True,
)


@method
def logaddexp(x: Any, y: Any, name: str | None = None) -> Tensor:
    """log(exp(x) + exp(y)) without overflow, elementwise with broadcasting.

    >>> import dy2st
    >>> print(dy2st.logaddexp(dy2st.to_tensor([1000.0, 2000.0]), 0.0))
    [1000. 2000.]
    """
    return apply("logaddexp", x, y)  # type: ignore[no-any-return]
