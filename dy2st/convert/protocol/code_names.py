"""What code that runs natively names: globals and attributes, in texts that it runs, too."""

from __future__ import annotations

import dis
from types import CodeType

_RUNS_TEXT = frozenset({"eval", "exec"})
_CALLS = frozenset({"CALL", "CALL_FUNCTION", "PRECALL"})


def names_of(code: CodeType) -> set[str]:
    """The globals and attributes that a code names, and those inside of it."""
    return set().union(*(one.co_names for one in _codes(code)))


def runs_unknown_text(code: CodeType) -> str:
    """The function by which a code runs a text that it does not hold itself; empty if none."""
    for one in _codes(code):
        if _RUNS_TEXT.isdisjoint(one.co_names):
            continue
        steps = [*dis.get_instructions(one)]
        for place, step in enumerate(steps):
            is_one = step.opname == "LOAD_GLOBAL" and step.argval in _RUNS_TEXT
            if is_one and not _holds_text(steps[place + 1 :]):
                return str(step.argval)
    return ""


def _holds_text(steps: list[dis.Instruction]) -> bool:
    """Whether the arguments are a text and variables: nothing is computed before the call."""
    if steps[0].opname != "LOAD_CONST" or not isinstance(steps[0].argval, str):
        return False
    called = next(step.opname for step in steps if not step.opname.startswith("LOAD_"))
    return called in _CALLS


def _codes(code: CodeType) -> list[CodeType]:
    found = [code]
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found += _codes(inner)
        elif isinstance(inner, str) and not _RUNS_TEXT.isdisjoint(code.co_names):
            try:
                found.append(compile(inner, "<text>", "exec"))
            except SyntaxError:
                continue
    return found
