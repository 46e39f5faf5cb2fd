"""Warnings of the compiler that the user has seen already are ignored while we compile again.

`warnings.catch_warnings` is not for threads: two that leave it in another order than they have come
would leave the filters of one for good.
"""

from __future__ import annotations

import warnings
from typing import Any

from dy2st_runtime.thread_state import Shared

_IGNORED: tuple[Any, ...] = tuple(
    ("ignore", None, category, None, 0) for category in (SyntaxWarning, DeprecationWarning)
)


class _Filters:
    def __init__(self) -> None:
        self.users: Any = warnings.filters
        self.ours: list[Any] | None = None

    def ignore(self) -> None:
        """Put our filters before the user's."""
        if warnings.filters is not self.ours:
            self.users = users = warnings.filters
            self.ours = warnings.filters = [*_IGNORED, *users]

    def restore(self) -> None:
        """Have the user's; who has taken a copy of ours meanwhile sets ours again."""
        if self.ours is not None:
            self.ours[:] = self.users
            if warnings.filters is self.ours:
                warnings.filters = self.users


_filters = _Filters()
quiet = Shared(_filters.ignore, _filters.restore)
