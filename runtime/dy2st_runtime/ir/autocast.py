"""Mixed precision: which operators compute in a short float where users ask for it.

It is said in casts in front of the same operators, as promotion is, so a Program means the same
wherever it runs. Tensors of other dtypes than float32 and the short floats stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dy2st_runtime.ir.definition import OperatorDefinition
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.ir.types import ArrayType, DType
from dy2st_runtime.thread_state import ThreadState

LONG = np.dtype("float32")
_SHORT = ("float16", "bfloat16")


@dataclass(frozen=True)
class Autocast:
    """The settings that are in force.

    short      the short float.
    white      the operators that compute in it.
    black      those that compute in float32.
    others     what all others compute in: None is what their operands are, the widest of them.
    """

    level: str
    short: DType
    white: frozenset[str]
    black: frozenset[str]
    others: DType | None

    def dtype_of(self, name: str) -> DType | None:
        """What an operator computes in; None if its operands say it."""
        if name in self.white:
            return self.short
        return LONG if name in self.black else self.others


class _OfThread(ThreadState):
    settings: Autocast | None = None


_own = _OfThread()


def autocast() -> Autocast | None:
    """The settings in force; None where mixed precision is not asked for."""
    return _own.settings


class autocasting:
    """Let settings be in force in a `with`, in this thread."""

    def __init__(self, settings: Autocast | None):
        """Take them."""
        self._settings = settings
        self._outer: list[Autocast | None] = []

    def __enter__(self) -> None:
        """From now on."""
        self._outer.append(_own.settings)
        _own.settings = self._settings

    def __exit__(self, *_: object) -> None:
        """No more."""
        _own.settings = self._outer.pop()


def cast_inputs(
    settings: Autocast, definition: OperatorDefinition, inputs: tuple[Any, ...]
) -> tuple[Any, ...]:
    """The inputs of an operator in the dtype in which it is to compute."""
    wanted = settings.dtype_of(definition.name)
    if wanted is None or "dtype" in definition.attributes:  # it says what it gives
        return inputs
    return tuple(
        F.cast(one, wanted) if _is_cast(one) and one.dtype != wanted else one for one in inputs
    )


def _is_cast(value: Any) -> bool:
    """Whether it is a tensor of float32 or a short float."""
    if not isinstance(value, Tensor) or getattr(value, "number", None) is not None:
        return False
    if isinstance(getattr(value, "type", None), ArrayType):
        return False
    return value.dtype == LONG or value.dtype.name in _SHORT


__all__ = ["LONG", "Autocast", "autocast", "autocasting", "cast_inputs"]
