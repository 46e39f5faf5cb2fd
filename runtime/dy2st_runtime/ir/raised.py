"""The exceptions that a Program raises: by name, and by their class while it is at hand."""

from __future__ import annotations

import builtins
from typing import Any


class ErrorKind(str):
    """The name of an exception's class, and the class itself as long as the Program is live.

    In a saved Program only the name is left.
    """

    __slots__ = ("cause", "kind")

    kind: type[Exception]
    cause: BaseException | None

    @classmethod
    def of(cls, error: Exception) -> ErrorKind:
        """The kind of an exception, with what it was raised from."""
        name = cls(type(error).__name__)
        name.kind, name.cause = type(error), error.__cause__
        return name


def exception_of(name: str, arguments: tuple[Any, ...], state: dict[str, Any]) -> Exception:
    """The exception to raise; RuntimeError, with the name, for a class that is not at hand."""
    if isinstance(name, ErrorKind):
        error = _made(name.kind, arguments)
        error.__dict__.update(state)
        error.__cause__ = name.cause
        return error
    known = getattr(builtins, name, None)
    if isinstance(known, type) and issubclass(known, Exception):
        return known(*arguments)
    return RuntimeError(": ".join([name, *map(str, arguments)]))


def _made(kind: type[Exception], arguments: tuple[Any, ...]) -> Exception:
    """An exception with these arguments; the user's own `__init__` has run before."""
    if getattr(builtins, kind.__name__, None) is kind:
        made: Exception = kind(*arguments)
        return made
    error: Exception = kind.__new__(kind, *arguments)
    error.args = arguments
    return error
