"""Gives what models import from `paddle.framework`: names of `dy2st`, modes, and places."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from dy2st.paddle.framework import core
from dy2st.paddle.layer_helper import LayerHelper
from dy2st.paddle.mirrors import names_of
from dy2st.paddle.modes import in_dynamic_mode
from dy2st.paddle.private_modules import private_modules
from dy2st.paddle.second_names import manual_seed
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.lazy import public_dir
from dy2st_runtime.place import CPUPlace, Place, as_place
from dy2st_runtime.tensor import Parameter

_SOURCES = ["dy2st.paddle.modes", "dy2st.paddle.checks", "dy2st", "dy2st.paddle.utils"]


EagerParamBase = Parameter
Variable = Tensor
in_dygraph_mode = _in_legacy_dygraph = _non_static_mode = in_dynamic_mode


def _current_expected_place() -> CPUPlace:
    """Where tensors are made."""
    return CPUPlace()


_current_expected_place_ = _current_expected_place


def _get_paddle_place(place: Any) -> Place | None:
    """The place that a text names, None for None."""
    return None if place is None else as_place(place)


def _manual_program_seed(seed: int) -> None:
    """Begin the random numbers of static graphs at a seed: all have one generator."""
    manual_seed(seed)


def _no_check_dy2st_diff() -> AbstractContextManager[None]:
    """Leave out a check of conversions in a `with`: there is none to be left out."""
    return nullcontext()


__all__ = ["EagerParamBase", "LayerHelper", "Variable", "core", "in_dygraph_mode"]
__dir__ = public_dir(__name__)

if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, _SOURCES)

private_modules(__name__)
