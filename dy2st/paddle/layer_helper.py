"""Stands for `LayerHelper`, with which PaddlePaddle's functions append to static graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from dy2st.paddle.porting.names import why_not
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.lazy import public_dir


class LayerHelper:
    """Holds what it is given: functions make one before they ask whether a graph is made by hand.

    >>> LayerHelper("relu", x=1).kwargs
    {'name': None, 'x': 1}
    """

    def __init__(self, layer_type: str, **kwargs: Any):
        """Keep the arguments of the function that makes it."""
        self.layer_type, self.kwargs = layer_type, {"name": None, **kwargs}

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        """A method that refuses to be called."""
        if name.startswith("__"):
            raise AttributeError(f"'LayerHelper' object has no attribute {name!r}")

        def refuse(*_: object, **__: object) -> NoReturn:
            why = why_not("static.data")
            raise ArgumentError(f"LayerHelper({self.layer_type!r}).{name} is not here: {why}")

        return refuse


__all__ = ["LayerHelper"]
__dir__ = public_dir(__name__)
