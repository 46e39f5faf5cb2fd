"""`and`, `or`, `not`: the deciding operand itself comes back, as in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.convert.asked import asked
from dy2st.convert.staging import stage_and, stage_not, stage_or
from dy2st.convert.stale import check_fresh
from dy2st.convert.traced import is_traced


def convert_and(left: Any, *operands: Callable[[], Any]) -> Any:
    """`left and operands[0]() and ...`, each operand evaluated once and only if needed.

    >>> convert_and(2, lambda: [], lambda: 1 / 0)
    []
    """
    for position, operand in enumerate(operands):
        test = asked(left)
        if is_traced(test):
            rest = operands[position + 1 :]
            return stage_and(left, lambda: convert_and(operand(), *rest), test)  # noqa: B023
        if not test:
            return left
        left = operand()
    return left


def convert_or(left: Any, *operands: Callable[[], Any]) -> Any:
    """`left or operands[0]() or ...`, each operand evaluated once and only if needed.

    >>> convert_or(0, lambda: "x", lambda: 1 / 0)
    'x'
    """
    for position, operand in enumerate(operands):
        test = asked(left)
        if is_traced(test):
            rest = operands[position + 1 :]
            return stage_or(left, lambda: convert_or(operand(), *rest), test)  # noqa: B023
        if test:
            return left
        left = operand()
    return left


def convert_not(value: Any) -> Any:
    """`not value`.

    >>> convert_not([])
    True
    """
    truth = asked(value)
    if is_traced(truth):
        return stage_not(truth)
    check_fresh(truth)
    return not truth
