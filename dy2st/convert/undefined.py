"""A variable without a value: what rewritten code passes on where Python's variable is unbound."""

from __future__ import annotations

import sys
from collections.abc import Callable


class Undefined:
    """Stands for the value of an unbound variable; to read it raises what Python raises.

    `failure` is for variables that only some paths of a traced `if` or loop bind: it makes the
    error that says so.
    """

    __slots__ = ("failure", "name")

    def __init__(self, name: str, failure: Callable[[], BaseException] | None = None):
        """An unbound variable of this name."""
        self.name = name
        self.failure = failure

    def error(self, in_comprehension: bool = False) -> BaseException:
        """The error of a read; a comprehension before Python 3.12 is a function of its own."""
        if self.failure is not None:
            return self.failure()
        if in_comprehension and sys.version_info < (3, 12):
            return _unbound_outside(self.name)
        return _unbound(self.name)

    def __repr__(self) -> str:
        """`undefined('out')`."""
        return f"undefined({self.name!r})"


def undefined(name: str) -> Undefined:
    """The value of a variable that is not bound yet.

    >>> undefined("out")
    undefined('out')
    """
    return Undefined(name)


def _unbound(name: str) -> UnboundLocalError:
    if sys.version_info >= (3, 11):
        return UnboundLocalError(
            f"cannot access local variable '{name}' where it is not associated with a value"
        )
    return UnboundLocalError(f"local variable '{name}' referenced before assignment")


def _unbound_outside(name: str) -> NameError:
    if sys.version_info >= (3, 11):
        return NameError(
            f"cannot access free variable '{name}' where it is not associated with a value "
            "in enclosing scope"
        )
    return NameError(f"free variable '{name}' referenced before assignment in enclosing scope")
