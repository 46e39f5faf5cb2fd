"""Lists and objects that are elements of a list of a length: put together when they are looked up.

Python changes such an element in place: `rows[i].append(x)`. The Program keeps elements by value,
so who looks one up borrows it, and it is written back before anybody looks at the list again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dy2st_runtime.errors import Location


@dataclass(eq=False)
class Loan:
    """An element that was looked up.

    owner   the list.
    index   its place, from the beginning.
    item    the element.
    parts   the lists and objects in it that may be changed.
    depth   how many frames there were: it ends with the last of them.
    """

    owner: Any
    index: Any
    item: Any
    parts: list[Any]
    depth: int
    is_changed: bool = False


class Loans:
    """The elements that are lent, by their lists and by what may be changed."""

    def __init__(self, write_back: Callable[[Loan], None]):
        """`write_back` sets the element of the list anew."""
        self._write_back = write_back
        self._of_owner: dict[int, list[Loan]] = {}
        self._of_part: dict[int, Loan] = {}

    def lend(self, loan: Loan) -> None:
        """Note an element whose parts may be changed."""
        self._of_owner.setdefault(id(loan.owner), []).append(loan)
        for part in loan.parts:
            self._of_part[id(part)] = loan

    def touch(self, part: Any, at: Location | None) -> list[tuple[Any, Location | None]]:
        """Note that a part is about to change; returns what others hold that may be the same."""
        loan = self._of_part.get(id(part))
        if loan is None:
            return []
        loan.is_changed = True
        others = [one for one in self._of_owner[id(loan.owner)] if _may_be_one(loan, one)]
        return [(other, at) for one in others for other in one.parts]

    def return_to(self, owner: Any) -> None:
        """Write back what has changed of the elements of a list."""
        for loan in self._of_owner.get(id(owner), ()):
            if loan.is_changed:
                loan.is_changed = False
                self._write_back(loan)

    def return_all(self) -> None:
        """Write back all that has changed; inner lists first."""
        for loans in reversed([*self._of_owner.values()]):
            for loan in loans:
                if loan.is_changed:
                    loan.is_changed = False
                    self._write_back(loan)

    def end(self, owner: Any) -> list[Any]:
        """The places of a list have changed: what was lent is nobody's element any more."""
        ended = self._of_owner.pop(id(owner), [])
        parts = [part for loan in ended for part in loan.parts]
        for part in parts:
            del self._of_part[id(part)]
        return parts

    def leave(self, depth: int) -> None:
        """A frame ends, and what was lent in it."""
        for key, loans in [*self._of_owner.items()]:
            kept = [loan for loan in loans if loan.depth < depth]
            for loan in loans:
                if loan.depth >= depth:
                    for part in loan.parts:
                        self._of_part.pop(id(part), None)
            self._of_owner[key] = kept


def _may_be_one(loan: Loan, other: Loan) -> bool:
    if loan is other:
        return False
    is_known = type(loan.index) is int and type(other.index) is int
    return not is_known or loan.index == other.index


__all__ = ["Loan", "Loans"]
