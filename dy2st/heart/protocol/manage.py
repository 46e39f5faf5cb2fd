"""`with`, `try` and `raise`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from dy2st.heart.protocol.calls import call
from dy2st.heart.trace import Trace


@dataclass(eq=False)
class Handler:
    """The `except` clauses of a `try` whose body runs."""

    classes: Callable[[], tuple[Any, ...]]
    has_finally: bool

    def catches(self, error: BaseException) -> bool:
        """Whether a clause may catch it, or a `finally` sees it."""
        return self.has_finally or isinstance(error, self.classes())


@contextmanager
def handling(
    trace: Trace, classes: Callable[[], tuple[Any, ...]], has_finally: bool
) -> Iterator[None]:
    """The body of a `try`."""
    handler = Handler(classes, has_finally)
    trace.handlers.append(handler)
    try:
        yield
    finally:
        trace.handlers.remove(handler)


class manager:
    """A context manager whose methods run in traced form."""

    def __init__(self, trace: Trace, value: Any):
        """Take the manager of the user's."""
        self._trace, self._value = trace, value

    def __enter__(self) -> Any:
        """Enter it."""
        return self._call("__enter__")

    def __exit__(self, *error: Any) -> Any:
        """Leave it."""
        return self._call("__exit__", *error)

    def _call(self, name: str, *args: Any) -> Any:
        own = getattr(type(self._value), name)
        if type(own) is FunctionType:
            return call(self._trace, own, self._value, *args)
        return own(self._value, *args)


def raised(trace: Trace, error: Any) -> Any:
    """What `raise error` raises."""
    return call(trace, error) if isinstance(error, type) else error


__all__ = ["Handler", "handling", "manager", "raised"]
