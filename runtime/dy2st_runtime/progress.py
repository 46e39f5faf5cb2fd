"""Shows how far something is, for somebody who looks on at a terminal."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from time import perf_counter
from typing import TypeVar

T = TypeVar("T")
SECONDS = 2.0


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Say on a terminal, from two seconds on, what is done and for how long already.

    >>> with waiting("compiling"):
    ...     total = sum(range(10))
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    is_over = threading.Event()
    thread = threading.Thread(target=_show, args=(what, is_over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _show(what: str, is_over: threading.Event) -> None:
    start, line = perf_counter(), ""
    wait = SECONDS
    while not is_over.wait(wait):
        wait, line = 1.0, f"{what}: {perf_counter() - start:.0f} s"
        print(f"\r{line}", end="", file=sys.stderr, flush=True)
    if line:
        print(f"\r{' ' * len(line)}\r", end="", file=sys.stderr, flush=True)


def shown(items: Iterable[T], what: str, progress: bool, total: int | None = None) -> Iterator[T]:
    """The items; with `progress` stderr says how many, of `total` if it is known, were taken.

    The bar is tqdm's where that is installed.
    """
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


__all__ = ["shown", "waiting"]
