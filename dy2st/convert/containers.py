"""Statements that change a container: for Python objects they change it and hand it back."""

from __future__ import annotations

from typing import Any

from dy2st.convert.staging import (
    is_staged_list,
    stage_append,
    stage_change,
    stage_pop,
    stage_setitem,
)
from dy2st.convert.traced import any_traced, is_a, is_traced
from dy2st_runtime.ir import Tensor, Variable
from dy2st_runtime.ir.choice import Choice


def convert_setitem(target: Any, index: Any, value: Any) -> Any:
    """`target[index] = value`; returns what the variable holds after.

    >>> convert_setitem([1, 2], 0, 5)
    [5, 2]
    """
    if _needs_staging(target, index, value):
        return stage_setitem(target, index, value)
    target[index] = value
    return target


def convert_append(target: Any, value: Any) -> Any:
    """`target.append(value)`; returns what the variable holds after.

    >>> convert_append([1], 2)
    [1, 2]
    """
    if is_staged_list(target):
        return stage_append(target, value)
    target.append(value)
    return target


def convert_pop(target: Any, *arguments: Any) -> tuple[Any, Any]:
    """`target.pop(...)`; returns what the variable holds after, and the item.

    >>> convert_pop([1, 2])
    ([1], 2)
    """
    if is_staged_list(target) or any_traced(*arguments):
        return stage_pop(target, arguments)
    item = target.pop(*arguments)
    return target, item


def convert_change(target: Any, method: str, /, *arguments: Any, **keywords: Any) -> Any:
    """`target.extend(...)` and the like; returns what the variable holds after.

    >>> convert_change([1], "extend", [2])
    [1, 2]
    """
    if is_staged_list(target):
        return stage_change(target, method, arguments, keywords)
    if isinstance(target, (set, dict)) and arguments:
        _check_keys(arguments[0])
    getattr(target, method)(*arguments, **keywords)
    return target


def _check_keys(given: Any) -> None:
    """Refuse numbers of the Program among what becomes keys of a dict or set."""
    for key in given if isinstance(given, (list, tuple, set, dict)) else (given,):
        if isinstance(key, Variable) and key.number is not None:
            raise key.unhashable()


def convert_delitem(target: Any, index: Any) -> Any:
    """`del target[index]`; returns what the variable holds after.

    >>> convert_delitem([1, 2], 0)
    [2]
    """
    if is_staged_list(target):
        return stage_pop(target, (index,))[0]
    del target[index]
    return target


def _needs_staging(target: Any, index: Any, value: Any) -> bool:
    if type(target) is Choice:
        return False
    if is_traced(target) or is_traced(index):
        return True
    if is_a(index, tuple) and any_traced(*index):
        return True
    return is_a(target, Tensor) and is_traced(value)
