"""Paddle Inference, by name alone: scripts may import it, what it does is refused in words.

A saved model is run by loading it: `dy2st.jit.load("net")(x)`.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NoReturn

from dy2st.paddle.private_modules import private_modules
from dy2st_runtime.errors import ArgumentError


class PrecisionType(Enum):
    """Kinds of numbers that a predictor would compute with."""

    Float32, Int8, Half, Bfloat16 = range(4)


class PlaceType(Enum):
    """Where a predictor would compute."""

    UNK, CPU, GPU, XPU, CUSTOM = range(-1, 4)


def _refuse(what: str) -> NoReturn:
    raise ArgumentError(
        f"inference.{what}: Paddle Inference is not here; save the model with jit.save and call "
        'what jit.load gives: model = jit.load("net"); model(x)'
    )


class _Refused:
    """What is refused when it is made; `isinstance` may ask for it."""

    def __init__(self, *_: Any, **__: Any) -> None:
        """Refuse."""
        _refuse(type(self).__name__)


class Config(_Refused):
    """How a predictor would run: refused."""


class Predictor(_Refused):
    """A model that would run: refused."""


class PredictorPool(_Refused):
    """Several predictors: refused."""


class Tensor(_Refused):
    """An input or output of a predictor: refused."""


def create_predictor(config: Any) -> NoReturn:
    """Refuse: jit.load gives what runs a model."""
    _refuse("create_predictor")


def convert_to_mixed_precision(*_: Any, **__: Any) -> NoReturn:
    """Refuse: `dy2st opt -p mixed-precision` makes such models."""
    _refuse("convert_to_mixed_precision")


def get_version() -> str:
    """What this is like."""
    return "version: 3.3.1"


__all__ = [
    "Config",
    "PlaceType",
    "PrecisionType",
    "Predictor",
    "PredictorPool",
    "Tensor",
    "convert_to_mixed_precision",
    "create_predictor",
    "get_version",
]

private_modules(__name__)
