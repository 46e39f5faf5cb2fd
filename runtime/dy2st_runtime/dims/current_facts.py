"""Holds the facts in force in a thread, and finds what cannot hold beside them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from dy2st_runtime.dims.conditions import Condition
from dy2st_runtime.dims.facts import Contradiction, Facts
from dy2st_runtime.thread_state import ThreadState


class _InForce(ThreadState):
    def __init__(self) -> None:
        self.facts = Facts()
        self.facts.steps_left = [sys.maxsize]  # no trace that is to end: they are for good


_in_force = _InForce()


def current() -> Facts:
    """The facts in force in this thread."""
    return _in_force.facts


def count_steps() -> None:
    """Begin to count the steps that proofs take, for a trace: it has as many as others."""
    current().steps_left = Facts().steps_left


@contextmanager
def using(facts: Facts) -> Iterator[Facts]:
    """Let these facts be in force inside the `with`."""
    outer, _in_force.facts = _in_force.facts, facts
    try:
        yield facts
    finally:
        _in_force.facts = outer


def stages(facts: Facts) -> Iterator[Facts]:
    """The facts as they were learnt: none, the first, the first two, and so on.

    What is known can hide a proof, as it rewrites sizes: one that was found once may need fewer.
    """
    known = Facts()
    known.steps_left = facts.steps_left
    known.age = facts.age.copy()
    yield known
    for condition, _ in facts.log:
        known = known.inside()
        known.assume(condition)
        yield known


def conflict(facts: Facts, condition: Condition) -> str:
    """What a condition cannot hold beside, as few facts as it takes: lines with origins."""
    kept = [entry for entry in facts.log if entry[0] != condition]
    if not _cannot_hold(kept, condition):
        return ""
    for entry in list(kept):
        rest = [other for other in kept if other is not entry]
        if _cannot_hold(rest, condition):
            kept = rest
    lines = [f"\n  {known}" + (f"  ({origin})" if origin else "") for known, origin in kept]
    return f" beside{''.join(lines)}"


def _cannot_hold(log: list[tuple[Condition, str]], condition: Condition) -> bool:
    facts = Facts()
    try:
        for known, _ in log:
            facts.assume(known)
        facts.assume(condition)
    except Contradiction:
        return True
    return False
