"""Gives the few names that models import from `paddle.base`, and from `paddle.fluid`, its old name.

from dy2st.paddle.base.framework import in_dygraph_mode
"""

from __future__ import annotations

import sys
from typing import Any

from dy2st.paddle import framework
from dy2st.paddle.framework import core
from dy2st.paddle.modes import in_dynamic_mode as in_dygraph_mode
from dy2st.paddle.private_modules import private_modules
from dy2st.paddle.utils import unique_name
from dy2st_runtime.ir.tensor import Tensor as Variable
from dy2st_runtime.lazy import public_dir
from dy2st_runtime.nn.parameters import ParamAttr
from dy2st_runtime.place import CPUPlace, CUDAPlace, as_place
from dy2st_runtime.tensor import to_tensor as to_variable


class guard:
    """Compute at once in a `with`, as is always done; the place must be here.

    >>> from dy2st.paddle import base
    >>> with base.dygraph.guard():
    ...     y = dy2st.ones([1]) + 1.0
    >>> y.item()
    2.0
    """

    def __init__(self, place: Any = None) -> None:
        """Take the place, which must be here."""
        as_place(place)

    def __enter__(self) -> None:
        """Nothing is to be changed."""

    def __exit__(self, *_: object) -> None:
        """Nothing is to be changed back."""


private_modules(__name__)
sys.modules[f"{__name__}.framework"] = framework
sys.modules[f"{__name__}.core"] = core
sys.modules[f"{__name__}.unique_name"] = unique_name

__all__ = [
    "CPUPlace",
    "CUDAPlace",
    "ParamAttr",
    "Variable",
    "core",
    "framework",
    "guard",
    "in_dygraph_mode",
    "to_variable",
    "unique_name",
]
__dir__ = public_dir(__name__)
