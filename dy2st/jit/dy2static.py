"""What the text of a converted function calls (`StaticFunction.code`): each is plain Python.

With these names the text is a function like another. Called eagerly it does what the function
does; in a trace these functions are traced like the user's, so that a tensor stages them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn


def convert_call(function: Any) -> Any:
    """What is called: in a trace every call is traced.

    >>> convert_call(abs)(-1)
    1
    """
    return function


def convert_ifelse(
    test: Any,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    true_args: Sequence[Any],
    false_args: Sequence[Any],
    return_vars: Sequence[Any],
) -> Any:
    """`if test: ... else: ...`: what the branch gives for the variables that it may change.

    >>> convert_ifelse(False, lambda x: x, lambda x: -x, (1,), (1,), (0,))
    -1
    """
    if test:
        return true_fn(*true_args)
    return false_fn(*false_args)


def convert_while_loop(
    condition: Callable[..., Any], body: Callable[..., Sequence[Any]], values: Sequence[Any]
) -> Sequence[Any]:
    """`while condition: body`, of the variables that it changes.

    >>> convert_while_loop(lambda i: i < 3, lambda i: (i + 1,), [0])
    (3,)
    """
    while condition(*values):
        values = body(*values)
    return values


def convert_for_loop(
    iterable: Iterable[Any],
    condition: Callable[..., Any] | None,
    body: Callable[..., Sequence[Any]],
    values: Sequence[Any],
) -> Sequence[Any]:
    """`for item in iterable: body`, as long as the condition holds after an iteration.

    >>> convert_for_loop([1, 2], None, lambda item, total: (total + item,), [0])
    (3,)
    """
    for item in iterable:
        values = body(item, *values)
        if condition is not None and not condition(*values):
            break
    return values


def convert_range(make: Callable[..., Any], *bounds: Any) -> tuple[Any, Any]:
    """The numbers of a loop over `range`, and how many there are.

    >>> convert_range(range, 2, 5)
    (range(2, 5), 3)
    """
    numbers = make(*bounds)
    return numbers, len(numbers)


def convert_turn(numbers: Any, turn: Any) -> Any:
    """The number of an iteration of such a loop.

    >>> convert_turn(range(2, 5), 0)
    2
    """
    return numbers[turn]


def convert_and(value: Any, *others: Callable[[], Any]) -> Any:
    """`value and other() and ...`.

    >>> convert_and(1, lambda: 2)
    2
    """
    for other in others:
        value = value and other()
    return value


def convert_or(value: Any, *others: Callable[[], Any]) -> Any:
    """`value or other() or ...`.

    >>> convert_or(0, lambda: 2)
    2
    """
    for other in others:
        value = value or other()
    return value


def convert_not(value: Any) -> Any:
    """`not value`.

    >>> convert_not(0)
    True
    """
    return not value


def convert_ifexp(test: Any, body: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """`body() if test else orelse()`.

    >>> convert_ifexp(True, lambda: 1, lambda: 2)
    1
    """
    return body() if test else orelse()


def convert_assert(test: Any, message: Callable[[], Any] | None = None) -> None:
    """`assert test, message()`.

    >>> convert_assert(True, lambda: "never")
    """
    if message is None:
        assert test
    else:
        assert test, message()


def convert_swallowed(jumped: Any, failed: Any) -> Any:
    """Whether a jump out of `finally` forgets an exception.

    >>> convert_swallowed(False, True)
    False
    """
    return failed and jumped


class Undefined:
    """The value of a variable that has none: to use it raises what Python raises."""

    def __init__(self, name: str):
        """Remember the name of the variable."""
        self._name = name

    def _refuse(self, *args: Any) -> NoReturn:
        raise UnboundLocalError(_UNBOUND.format(self._name))

    __bool__ = __call__ = __getitem__ = __iter__ = __len__ = _refuse
    __add__ = __sub__ = __mul__ = __truediv__ = __neg__ = __lt__ = __gt__ = _refuse


_UNBOUND = "cannot access local variable '{}' where it is not associated with a value"
if sys.version_info < (3, 11):
    _UNBOUND = "local variable '{}' referenced before assignment"


def undefined(name: str) -> Any:
    """The value of a variable before it gets one.

    >>> isinstance(undefined("x"), Undefined)
    True
    """
    return Undefined(name)


def defined(value: Any, name: str) -> Any:
    """The value of a variable; UnboundLocalError if it has none.

    >>> defined(3, "x")
    3
    """
    if isinstance(value, Undefined):
        raise UnboundLocalError(_UNBOUND.format(name))
    return value


__all__ = [
    "Undefined",
    "convert_and",
    "convert_assert",
    "convert_call",
    "convert_for_loop",
    "convert_ifelse",
    "convert_ifexp",
    "convert_not",
    "convert_or",
    "convert_range",
    "convert_swallowed",
    "convert_turn",
    "convert_while_loop",
    "defined",
    "undefined",
]
