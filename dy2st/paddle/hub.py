"""Models from the net, by name alone: nothing is downloaded, and no code of others is run."""

from __future__ import annotations

from typing import Any, NoReturn

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.lazy import public_dir

__all__ = ["help", "list", "load", "load_state_dict_from_url"]
__dir__ = public_dir(__name__)


def _refuse(name: str) -> NoReturn:
    raise ArgumentError(
        f"hub.{name}: dy2st downloads nothing; clone the repository, import the model from it, and "
        "call model.set_state_dict(dy2st.load('model.pdparams'))"
    )


def list(*_: Any, **__: Any) -> NoReturn:
    """Refused: nothing is downloaded.

    >>> dy2st.paddle.hub.list("someone/repository")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.ArgumentError: hub.list: dy2st downloads nothing; clone the...
    """
    _refuse("list")


def help(*_: Any, **__: Any) -> NoReturn:
    """Refused: nothing is downloaded.

    >>> dy2st.paddle.hub.help("someone/repository", "net")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.ArgumentError: hub.help: dy2st downloads nothing; clone the...
    """
    _refuse("help")


def load(*_: Any, **__: Any) -> NoReturn:
    """Refused: nothing is downloaded.

    >>> dy2st.paddle.hub.load("someone/repository", "net")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.ArgumentError: hub.load: dy2st downloads nothing; clone the...
    """
    _refuse("load")


def load_state_dict_from_url(*_: Any, **__: Any) -> NoReturn:
    """Refused: nothing is downloaded.

    >>> dy2st.paddle.hub.load_state_dict_from_url("https://x/net.pdparams")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.ArgumentError: hub.load_state_dict_from_url: dy2st downloads...
    """
    _refuse("load_state_dict_from_url")
