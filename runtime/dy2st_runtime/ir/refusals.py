"""Words the refusals of what needs values of a run while a function is traced."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.errors import TensorAsPython
from dy2st_runtime.ir.dispatch import FUNCTIONS
from dy2st_runtime.ir.location import why_not_converted


def refused_by_numpy(function: Any) -> TensorAsPython:
    """The refusal of a traced tensor in a function of NumPy."""
    name = function.__name__
    own = f"dy2st.{name}" if name in FUNCTIONS else "dy2st's own functions on the tensor"
    return needs_value(f"np.{name} of a traced tensor", f"use {own}")


def needs_value(what: str, hint: str) -> TensorAsPython:
    """The refusal of what only the values of the run could answer."""
    why = "while a function is traced its tensors have no values yet"
    reason = why_not_converted()
    return TensorAsPython(
        what,
        why=f"{why}; {reason}" if reason else why,
        hint=hint,
    )
