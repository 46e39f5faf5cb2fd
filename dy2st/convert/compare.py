"""Chained comparisons, and `in`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from dy2st.convert.asked import asked, method_of
from dy2st.convert.choices import is_one_tensor, spread
from dy2st.convert.joining import is_number, number_kind
from dy2st.convert.logical import convert_not
from dy2st.convert.staging import stage_and, stage_cast, stage_in, stage_is, stage_same_bool
from dy2st.convert.stale import check_fresh
from dy2st.convert.traced import PLAIN_TYPES, SAME_AS_TYPES, any_traced, is_traced
from dy2st_runtime.ir import Variable
from dy2st_runtime.ir.choice import Choice


def convert_in(value: Any, container: Any) -> Any:
    """`value in container`.

    >>> convert_in(2, [1, 2])
    True
    """
    if type(container) is Choice:
        return spread(lambda case: convert_in(value, case), container)
    method = method_of(container, "__contains__")
    if method is None and (any_traced(value, container) or _holds_traced(container)):
        return stage_in(value, container)
    if method is None:
        check_fresh(container)
        return value in container
    answer = asked(method(container, value))
    return stage_cast(bool, answer) if is_traced(answer) else bool(answer)


def convert_not_in(value: Any, container: Any) -> Any:
    """`value not in container`.

    >>> convert_not_in(2, [1, 2])
    False
    """
    return convert_not(convert_in(value, container))


def convert_is(left: Any, right: Any) -> Any:
    """`left is right`.

    >>> convert_is(None, None)
    True
    """
    if type(left) not in SAME_AS_TYPES and type(right) not in SAME_AS_TYPES:
        return left is right
    if type(left) is Choice or type(right) is Choice:
        check_fresh(left)
        check_fresh(right)
        return stage_is(left, right)
    if _is_bool(left) and _is_bool(right):
        return stage_same_bool(left, right)
    if type(left) is Variable and type(right) is Variable:
        return is_one_tensor(left, right)
    return left is right


def _is_bool(value: Any) -> bool:
    return is_number(value) and number_kind(value) is bool


def convert_is_not(left: Any, right: Any) -> Any:
    """`left is not right`.

    >>> convert_is_not(None, None)
    False
    """
    return convert_not(convert_is(left, right))


def _holds_traced(container: Any) -> bool:
    if type(container) not in (list, tuple) or PLAIN_TYPES.issuperset(map(type, container)):
        return False
    return any(map(is_traced, container))


_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": convert_is,
    "is not": convert_is_not,
    "in": convert_in,
    "not in": convert_not_in,
}


def convert_chain(left: Any, *rest: Any) -> Any:
    """`left < b < c` as `convert_chain(left, "<", lambda: b, "<", lambda: c)`.

    Each operand is evaluated once, and those after a false comparison not at all.

    >>> convert_chain(1, "<", lambda: 3, "<", lambda: 2, "<", lambda: 1 / 0)
    False
    """
    for position in range(0, len(rest) - 2, 2):
        right = rest[position + 1]()
        result = _COMPARISONS[rest[position]](left, right)
        test = asked(result)
        if is_traced(test):
            others = rest[position + 2 :]
            return stage_and(result, lambda: convert_chain(right, *others), test)  # noqa: B023
        if not test:
            return result
        left = right
    return _COMPARISONS[rest[-2]](left, rest[-1]())
