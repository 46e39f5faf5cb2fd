"""What models import from `paddle.framework`: names of `dy2st`, modes, and where tensors lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dy2st.framework import core
from dy2st.mirrors import mirrors, names_of
from dy2st.modes import in_dynamic_mode
from dy2st_runtime.place import CPUPlace, as_place
from dy2st_runtime.tensor import Parameter

_SOURCES = ["dy2st.modes", "dy2st.checks", "dy2st"]

mirrors(__name__, "dtype framework io random", [__name__])

EagerParamBase = Parameter
in_dygraph_mode = _in_legacy_dygraph = _non_static_mode = in_dynamic_mode


def _current_expected_place() -> CPUPlace:
    """Where tensors are made."""
    return CPUPlace()


_current_expected_place_ = _current_expected_place


def _get_paddle_place(place: Any) -> CPUPlace | None:
    """The place that a text names, None for None."""
    return None if place is None else as_place(place)


__all__ = ["EagerParamBase", "core", "in_dygraph_mode"]

if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, _SOURCES)
