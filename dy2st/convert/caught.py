"""An exception that a branch raises and a handler around it catches: a flag of the Program."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dy2st.convert.traced import is_traced
from dy2st_runtime.errors import UnsupportedSyntax
from dy2st_runtime.ir import Block, current_tracer, user_location


class Place:
    """Where the Program stood at a `try`, and the exceptions that branches in it raised."""

    # No dict of attributes: what is kept here is no list or dict of the user.
    __slots__ = ("block", "errors", "relayed")

    def __init__(self, block: Block | None) -> None:
        """No exception yet."""
        self.block = block
        self.errors: dict[str, BaseException] = {}
        self.relayed: dict[str, Any] = {}


class Relayed:
    """The result of a function that has raised."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        """What it has raised."""
        self.error = error


def convert_place() -> Place:
    """The place of a `try`; without a block if nothing is traced."""
    return Place(_block())


def convert_in_branch(place: Place | None) -> bool:
    """Whether a branch or loop of the Program was entered since `place`."""
    return place is not None and _block() is not place.block


def convert_is_traced(test: object) -> bool:
    """Whether the Program decides on a test.

    >>> convert_is_traced(True)
    False
    """
    return is_traced(test)


def convert_raised(place: Place, site: str, error: Any) -> bool:
    """Keep what `raise error` raises in a branch; True, for the flag.

    >>> convert_raised(convert_place(), "first", KeyError)
    True
    """
    made = error() if isinstance(error, type) else error
    if not isinstance(made, BaseException):
        raise TypeError("exceptions must derive from BaseException")
    known = place.errors.setdefault(site, made)
    if not _is_plain(made.args) or not same_error(known, made):
        raise UnsupportedSyntax(
            f"a tensor decides whether {type(made).__name__} is raised and caught",
            at=user_location(),
            why="what it says is known only when the Program runs, or differs from turn to turn",
            hint="give the exception a constant text",
        )
    return True


def same_error(left: BaseException, right: BaseException) -> bool:
    """Whether nobody can tell two exceptions apart by what they hold.

    >>> same_error(KeyError(1), KeyError(1)), same_error(KeyError(1), KeyError(True))
    (True, False)
    """
    if left is right:
        return True
    held = [*vars(left).values(), *vars(right).values()]
    return _is_plain(held) and _described(left) == _described(right)


def _described(error: BaseException) -> tuple[type, str, str]:
    return type(error), repr(error.args), repr(vars(error))


def _is_plain(values: Iterable[Any]) -> bool:
    return all(type(value) in (str, int, float, bool, type(None)) for value in values)


def convert_caught_error(place: Place, site: str) -> BaseException:
    """The exception that a branch raised."""
    if site not in place.errors:
        raise UnsupportedSyntax(
            "an exception of another turn is caught in a loop that depends on a tensor",
            at=user_location(),
            why="what it is stands in the turn that raises it, which was not traced here",
            hint="compute what the handler computes in an `if` on the same condition",
        )
    return place.errors[site]


def convert_catches(error: BaseException, classes: Any) -> bool:
    """Whether `except classes` catches an exception.

    >>> convert_catches(KeyError(), (IndexError, LookupError))
    True
    """
    return isinstance(error, classes)


def _block() -> Block | None:
    active = current_tracer()
    return None if active is None else active.block
