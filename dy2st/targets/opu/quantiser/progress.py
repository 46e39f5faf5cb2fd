"""Shows a progress bar if asked for: tqdm's if it is installed, else counts on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import TypeVar

T = TypeVar("T")


def shown(items: Iterable[T], what: str, progress: bool, total: int | None = None) -> Iterator[T]:
    """The items; with `progress` stderr says how many, of `total` if it is known, were taken."""
    if not progress:
        return iter(items)
    if find_spec("tqdm") is None:
        return _counted(items, what, "" if total is None else f"/{total}")
    return iter(import_module("tqdm").tqdm(items, desc=what, total=total, file=sys.stderr))


def _counted(items: Iterable[T], what: str, of: str) -> Iterator[T]:
    count = 0
    for count, item in enumerate(items, 1):
        yield item
        print(f"\r{what}: {count}{of}", end="", file=sys.stderr, flush=True)
    print(f"\r{what}: {count} done", file=sys.stderr)


__all__ = ["shown"]
