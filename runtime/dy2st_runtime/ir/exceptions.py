"""The exceptions that a Program raises: by name, and by their class while it is at hand."""

from __future__ import annotations

import builtins
from typing import Any


class ErrorKind(str):
    """The name of an exception's class, and the class itself as long as the Program is live.

    In a saved Program only the name is left, and the text of members of an Enum.
    """

    __slots__ = ("arguments", "cause", "kind")

    kind: type[BaseException]
    cause: BaseException | None
    arguments: tuple[Any, ...] | None  # of constants, where the Program has no attribute for one

    @classmethod
    def of(cls, error: BaseException) -> ErrorKind:
        """The kind of an exception, with what it was raised from."""
        name = cls(type(error).__name__)
        name.kind, name.cause, name.arguments = type(error), error.__cause__, None
        return name

    def __eq__(self, other: object) -> bool:
        """Whether it is the kind of the same exceptions; a name alone is that of all of them."""
        if not isinstance(other, ErrorKind):
            return str.__eq__(self, other)
        is_alike = self.kind is other.kind and self.cause is other.cause
        return is_alike and self.arguments is other.arguments

    def __ne__(self, other: object) -> bool:
        """The contrary, which is no longer that of texts."""
        return not self == other

    __hash__ = str.__hash__


def exception_of(name: str, arguments: tuple[Any, ...], state: dict[str, Any]) -> BaseException:
    """The exception to raise; RuntimeError, with the name, for a class that is not at hand."""
    if isinstance(name, ErrorKind):
        # An exception with these arguments; the user's own `__init__` has run before.
        kind, arguments = name.kind, name.arguments or arguments
        if getattr(builtins, kind.__name__, None) is kind:
            error: BaseException = kind(*arguments)
        else:
            error = kind.__new__(kind, *arguments)
            error.args = arguments
        for field, value in state.items():
            BaseException.__setattr__(error, field, value)
        error.__cause__ = name.cause
        return error
    known = _of_python(name)
    if known is not None:
        return known(*arguments)
    return RuntimeError(": ".join([name, *map(str, arguments)]))


def can_be_made(name: str, arguments: Any) -> bool:
    """Whether an exception of that name takes such arguments; some are known at a call only.

    >>> can_be_made("ValueError", ("a",)), can_be_made("UnicodeDecodeError", ("a",))
    (True, False)
    """
    known = None if isinstance(name, ErrorKind) else _of_python(name)
    given = arguments if isinstance(arguments, tuple) else (arguments,)
    try:
        # A text stands for arguments that are no constants, as most are texts.
        samples = [
            one if isinstance(one, (str, bytes, int, float, tuple, type(None))) else ""
            for one in given
        ]
        return known is None or known(*samples) is not None
    except (TypeError, ValueError, IndexError):
        return False


def _of_python(name: str) -> type[Exception] | None:
    found = getattr(builtins, name, None)
    return found if isinstance(found, type) and issubclass(found, Exception) else None


def is_of_program(error: BaseException) -> bool:
    """Whether an error of a run is one of the Program's: Ctrl-C comes from elsewhere."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return isinstance(error, Exception) or (
        place is not None and place.tb_frame.f_code.co_name == "_raise_kernel"
    )
