"""The command line of modules that draw random programs: many of them, with a summary."""

from __future__ import annotations

import argparse
import collections
import linecache
import re
from collections.abc import Callable
from typing import Any


def define(text: str, name: str, wanted: str = "f", **scope: Any) -> Any:
    """What a program defines, with its source where tracebacks find it."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope = {"__name__": "random_program", **scope}
    exec(compile(text, name, "exec", dont_inherit=True), scope)
    return scope[wanted]


def reason(error: Exception) -> str:
    """What is refused, without the names and numbers of this program."""
    text = str(error).splitlines()[0].split(": ", 1)[-1]
    return re.sub(r"`.*?`|<.*|'.*?'|\d+", "_", text)[:100]


def campaign(
    description: str | None,
    text_of: Callable[[int], str],
    compare: Callable[[int, str, str], str],
    expected: tuple[str, ...] = ("equal", "refused"),
) -> int:
    """Compare many programs; print the first differences, and how often each verdict came.

    `compare(seed, text, name)` gives a verdict, or raises an AssertionError if two ways to run the
    program differ. The result is 0 if every verdict begins as one of the expected ones does.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("count", type=int, help="how many programs")
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    found: collections.Counter[str] = collections.Counter()
    first: dict[str, int] = {}
    for done, seed in enumerate(range(options.first, options.first + options.count), start=1):
        text, name = text_of(seed), f"<program {seed}>"
        if options.count == 1:
            print(text)
        try:
            verdict = compare(seed, text, name)
        except Exception as error:
            verdict = "different" if isinstance(error, AssertionError) else type(error).__name__
            shown = f"seed {seed}: {verdict}\n{error}"[:3000]
            print(shown if found[verdict] < 3 else f"seed {seed}: {verdict}", flush=True)
        found[verdict] += 1
        first.setdefault(verdict, seed)
        linecache.cache.pop(name, None)
        if done % 500 == 0:
            print(f"{done} programs: {dict(found.most_common(5))}", flush=True)
    for verdict, count in found.most_common():
        print(f"{count:6}  {verdict} (seed {first[verdict]})")
    return int(not all(verdict.startswith(expected) for verdict in found))
