"""Holds for each thread whether operators are recorded for gradients now."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import Any, TypeVar

from dy2st_runtime.thread_state import ThreadState

Function = TypeVar("Function", bound=Callable[..., Any])


class _Mode(ThreadState):
    enabled = True


_mode = _Mode()


def is_grad_enabled() -> bool:
    """Whether operators on tensors that need gradients are recorded.

    >>> with dy2st.no_grad():
    ...     inside = dy2st.is_grad_enabled()
    >>> inside, dy2st.is_grad_enabled()
    (False, True)
    """
    return _mode.enabled


class set_grad_enabled:
    """Switch recording on or off in a `with`, or for the calls of a function.

    >>> x = dy2st.to_tensor([1.0], stop_gradient=False)
    >>> with dy2st.set_grad_enabled(False):
    ...     y = x * 2
    >>> y.stop_gradient
    True
    """

    __slots__ = ("_outer", "_wanted")

    def __init__(self, mode: bool):
        """Take the mode that holds inside."""
        self._wanted = bool(mode)
        # The mode outside, and the same of the `with` around this one that has the same object.
        self._outer: tuple[bool, Any] | None = None

    def __enter__(self) -> None:
        """Switch."""
        self._outer = _mode.enabled, self._outer
        _mode.enabled = self._wanted

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Switch back."""
        assert self._outer is not None
        _mode.enabled, self._outer = self._outer

    def __call__(self, function: Function) -> Function:
        """Switch for every call of `function`."""
        wanted = self._wanted

        @wraps(function)
        def switched(*args: Any, **kwargs: Any) -> Any:
            with set_grad_enabled(wanted):
                return function(*args, **kwargs)

        return switched  # type: ignore[return-value]


class no_grad(set_grad_enabled):
    """Compute without recording for gradients: `with no_grad():` or `@no_grad()`.

    >>> x = dy2st.to_tensor([1.0], stop_gradient=False)
    >>> with dy2st.no_grad():
    ...     y = x * 2
    >>> y.stop_gradient, (x * 2).stop_gradient
    (True, False)
    """

    __slots__ = ()

    def __init__(self, function: Callable[..., Any] | None = None):
        """Nothing to set; `@no_grad` without brackets is not accepted."""
        if function is not None:
            raise TypeError("write @no_grad() with brackets")
        self._wanted, self._outer = False, None


class enable_grad(set_grad_enabled):
    """Record for gradients again inside a `no_grad`.

    >>> x = dy2st.to_tensor([1.0], stop_gradient=False)
    >>> with dy2st.no_grad(), dy2st.enable_grad():
    ...     y = x * 2
    >>> y.stop_gradient
    False
    """

    __slots__ = ()

    def __init__(self) -> None:
        """Nothing to set."""
        super().__init__(True)
