"""Combines readers: functions whose generators give examples one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


def batch(
    reader: Callable[[], Iterator[Any]], batch_size: int, drop_last: bool = False
) -> Callable[[], Iterator[list[Any]]]:
    """A reader that gives lists of `batch_size` examples; the last may be shorter.

    >>> list(batch(lambda: iter(range(5)), 2)())
    [[0, 1], [2, 3], [4]]
    """

    def batches() -> Iterator[list[Any]]:
        gathered: list[Any] = []
        for example in reader():
            gathered.append(example)
            if len(gathered) == batch_size:
                yield gathered
                gathered = []
        if gathered and not drop_last:
            yield gathered

    return batches
