"""Which of some numbers a trace may have as inputs: those that no trace with them refuses."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_MOST_REFUSED = 4


class Trials(Generic[_Key]):
    """What was tried, by whatever names a number.

    refused  those that are constants for ever, each with the reason.
    """

    def __init__(self) -> None:
        """Nothing was tried yet."""
        self._new: list[_Key] = []  # no trace has had them as inputs so far
        self._waiting: list[_Key] = []
        self.refused: dict[_Key, str] = {}

    def begin(self, new: Iterable[_Key]) -> list[_Key]:
        """Those to try now: new ones, and those that had to wait for the others."""
        waiting = [] if self._new else self._waiting
        found = [key for key in dict.fromkeys((*waiting, *new)) if key not in self.refused]
        if waiting:
            self._waiting = []
        self._new += found
        return found

    def accept(self, keys: Iterable[_Key]) -> None:
        """A trace has had these as inputs."""
        if self._new:
            known = set(keys)
            self._new = [key for key in self._new if key not in known]

    def refuse(self, keys: Iterable[_Key], why: str) -> list[_Key]:
        """A trace with these as inputs is refused; gives those that are none for now.

        Of several that no trace has had before, half are tried again, without the others.
        """
        all_keys = list(keys)
        gone = [key for key in all_keys if key in self._new] or all_keys
        if len(gone) > 1 and gone[0] in self._new:
            gone = gone[len(gone) // 2 :]
            self._waiting += gone
        else:
            self.refused.update(dict.fromkeys(gone, why))
            if len(self.refused) > _MOST_REFUSED:  # more would take too many traces to find out
                self.refused.update(dict.fromkeys(self._waiting, why))
                self._waiting = []
        self._new = [key for key in self._new if key not in gone]
        return gone

    def take_back(self, keys: Iterable[_Key]) -> None:
        """Try them again some time: it was no trace with inputs alone that was refused."""
        for key in keys:
            if self.refused.pop(key, None) is not None:
                self._waiting.append(key)


def reason_of(error: Exception) -> str:
    """The first line of an error, with its class."""
    return f"{type(error).__name__}: {error}".splitlines()[0]
