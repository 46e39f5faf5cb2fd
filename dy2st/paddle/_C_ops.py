"""Stands for `paddle._C_ops` by name alone: models import it, and a call of an operator is refused.

They take their arguments in an order of their own, so no function of `paddle` stands for one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from dy2st_runtime.errors import ArgumentError


def __getattr__(name: str) -> Callable[..., NoReturn]:
    """A function that refuses to be called."""
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def refuse(*_: object, **__: object) -> NoReturn:
        raise ArgumentError(
            f"_C_ops.{name} is an operator of PaddlePaddle's in C++, which is not here: call the "
            f"function of `paddle` that is made of it, such as paddle.{name}"
        )

    refuse.__name__ = name
    return refuse
