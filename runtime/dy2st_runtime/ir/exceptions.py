"""The exceptions that a Program raises: by name, and by their class while it is at hand."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, TypeAlias

from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.ir.choice import Text
from dy2st_runtime.ir.structure import flatten

Held: TypeAlias = Callable[[BaseException], dict[str, Any] | None]
_SET_BY_RAISE = ("__cause__", "__context__", "__suppress_context__")


def holds_values(error: BaseException, held: Held) -> bool:
    """Whether an exception, or what it was raised from, holds what only the run knows.

    held: what an exception holds now.
    """
    cause = error.__cause__
    if flatten(held(error) or error.args, _is_of_run)[0]:
        return True
    return cause is not None and holds_values(cause, held)


def _is_of_run(value: Any) -> bool:
    return isinstance(value, (Dim, Condition, Text)) or hasattr(type(value), "block")


class ErrorKind(str):
    """The name of an exception's class, and the class itself as long as the Program is live.

    In a saved Program only the name is left, and the text of members of an Enum.
    """

    __slots__ = ("arguments", "cause", "kind")

    kind: type[BaseException]
    cause: BaseException | ErrorKind | None  # its kind, where each run makes one of its own
    arguments: tuple[Any, ...] | None  # of constants, where the Program has no attribute for one

    @classmethod
    def of(cls, error: BaseException) -> ErrorKind:
        """The kind of an exception, with what it was raised from."""
        name = cls(type(error).__name__)
        name.kind, name.cause, name.arguments = type(error), error.__cause__, None
        return name

    def take_cause(self, error: BaseException, state: dict[str, Any], held: Held) -> None:
        """Put what the cause holds into the state, if only the run knows some of it."""
        cause = error.__cause__
        if cause is None or not holds_values(cause, held):
            return
        inner = held(cause) or {"args": cause.args}
        arguments = inner["args"]
        inner = {n: one for n, one in inner.items() if n not in ("args", *_SET_BY_RAISE)}
        self.cause = ErrorKind.of(cause)
        self.cause.take_cause(cause, inner, held)
        state["__cause__"] = arguments, inner

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
        if isinstance(name.cause, ErrorKind):
            error.__cause__ = exception_of(name.cause, *state.pop("__cause__"))
        else:
            error.__cause__ = name.cause
        for field, value in state.items():
            BaseException.__setattr__(error, field, value)
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
