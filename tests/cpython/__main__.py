"""The table of all modules: `python -m tests.cpython [--show] [MODULE ...]`."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

from tests.cpython.compare import Outcome, compare, is_shipped
from tests.cpython.expected import LOST
from tests.cpython.modules import every


def main(arguments: list[str]) -> None:
    """Run what is named, or all, two at a time, and print a line for each."""
    show = "--show" in arguments
    names = [name for name in arguments if not name.startswith("-")]
    pairs = [
        (s, m) for s, m in every() if is_shipped(m) and (not names or m in names or s in names)
    ]
    print(f"{'suite':9} {'module':26} {'methods':>10} {'kept':>6} {'lost':>5} seconds")
    with ThreadPoolExecutor(2) as pool:
        outcomes = []
        for outcome in pool.map(lambda pair: compare(*pair), pairs):
            outcomes.append(outcome)
            _line(outcome.suite, outcome.module, [outcome])
            if show:
                _details(outcome)
    _unexpected(outcomes, LOST)
    for suite in ("stdlib", "language"):
        _line(suite, "all", [o for o in outcomes if o.suite == suite])


def _line(suite: str, module: str, outcomes: list[Outcome]) -> None:
    traced = sum(o.run.traced for o in outcomes)
    kept = sum(len(o.kept) for o in outcomes)
    lost = sum(len(o.lost) for o in outcomes)
    plain = sum(o.plain.seconds for o in outcomes)
    run = sum(o.run.seconds for o in outcomes)
    share = ""
    if module == "all" and kept:
        share = f"  {kept / (kept + lost):.2%} kept"
    print(
        f"{suite:9} {module:26} {traced:10} {kept:6} {lost:5} {plain:.1f} {run:.1f}{share}",
        flush=True,
    )


def _unexpected(outcomes: list[Outcome], expected: dict[tuple[str, str], str]) -> None:
    """What the table of expected losses does not say, in either direction."""
    lost = {(o.suite, name) for o in outcomes for name in o.lost}
    kept = {(o.suite, name) for o in outcomes for name in o.kept}
    for suite, name in sorted(lost - set(expected)):
        print(f"lost without a reason: {suite} {name}")
    for suite, name in sorted(kept & set(expected)):
        print(f"expected to be lost, but kept: {suite} {name}")


def _details(outcome: Outcome) -> None:
    for name, text in outcome.lost.items():
        print(f"    lost {name}\n        " + text.strip().replace("\n", "\n        "))


if __name__ == "__main__":
    main(sys.argv[1:])
