"""Lists and objects that are elements of a list of a length: put together when they are looked up.

Python changes such an element in place: `rows[i].append(x)`. The Program keeps elements by value,
so who looks one up borrows it, and it is written back before anybody looks at the list again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


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

    def noted(self) -> tuple[Any, Any]:
        """What is lent now, to be put back where another path begins."""
        return {key: [*loans] for key, loans in self._of_owner.items()}, self._of_part.copy()

    def put_back(self, noted: tuple[Any, Any]) -> None:
        """Let be lent what was lent then."""
        self._of_owner, self._of_part = noted

    def lend(self, loan: Loan) -> None:
        """Note an element whose parts may be changed."""
        self._of_owner.setdefault(id(loan.owner), []).append(loan)
        for part in loan.parts:
            self._of_part[id(part)] = loan

    def has_any(self, parts: Iterable[Any]) -> bool:
        """Whether one of some objects is lent."""
        return bool(self._of_part) and any(id(part) in self._of_part for part in parts)

    def touch(self, part: Any) -> list[Any]:
        """Note that a part is about to change; returns what others hold that may be the same."""
        loan = self._of_part.get(id(part))
        if loan is None:
            return []
        loan.is_changed = True
        others = [one for one in self._of_owner[id(loan.owner)] if _may_be_one(loan, one)]
        return [other for one in others for other in one.parts]

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
        return [part for loan in ended for part in loan.parts if self._is_of(part, loan)]

    def _is_of(self, part: Any, loan: Loan) -> bool:
        """Whether a part is lent by a loan, which ends."""
        is_its = self._of_part.get(id(part)) is loan
        if is_its:
            del self._of_part[id(part)]
        return is_its

    def forget(self, parts: Iterable[Any]) -> Iterable[Any]:
        """Parts are kept by value elsewhere, too: to change them in one place would be wrong."""
        for part in parts:
            loan = self._of_part.get(id(part))
            if loan is not None:
                self.return_to(loan.owner)
                del self._of_part[id(part)]
            yield part

    def leave(self, depth: int) -> list[Any]:
        """A frame ends, and what was lent in it; returns that."""
        found = []
        for key, loans in [*self._of_owner.items()]:
            self._of_owner[key] = [loan for loan in loans if loan.depth < depth]
            ended = [loan for loan in loans if loan.depth >= depth]
            found += [part for one in ended for part in one.parts if self._is_of(part, one)]
        return found


def _may_be_one(loan: Loan, other: Loan) -> bool:
    if loan is other:
        return False
    is_known = type(loan.index) is int and type(other.index) is int
    return not is_known or loan.index == other.index


__all__ = ["Loan", "Loans"]
