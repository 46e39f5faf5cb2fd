"""Generators in converted code: one that is advanced only where every path advances it."""

from __future__ import annotations

from typing import TypeVar

from dy2st_runtime.errors import UnsupportedSyntax
from dy2st_runtime.ir import Block, current_tracer, user_location

T = TypeVar("T")


class Resumes:
    """Where a generator ran last: the Block into which its operators went."""

    __slots__ = ("block",)

    def __init__(self) -> None:
        """The generator runs for the first time."""
        self.block = _block()

    def check(self) -> None:
        """Raise UnsupportedSyntax if the generator goes on in another Block."""
        if _block() is not self.block:
            raise UnsupportedSyntax(
                "a generator is advanced in a branch or loop that depends on a tensor",
                at=user_location(),
                why="how far it has come would be known only when the Program runs",
                hint="take what the generator gives before the statement, as items = list(...)",
            )


def convert_started() -> Resumes:
    """What a generator notes when it runs for the first time."""
    return Resumes()


def convert_resumed(resumes: Resumes, value: T) -> T:
    """The value of a `yield`, when the generator goes on.

    >>> convert_resumed(convert_started(), 3)
    3
    """
    resumes.check()
    return value


def _block() -> Block | None:
    active = current_tracer()
    return None if active is None else active.block
