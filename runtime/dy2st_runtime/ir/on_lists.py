"""Operators on lists of a Program, for Python lists of eager tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.dispatch import F

# Lists of a Program are Python lists of tensors here. Most kernels take those as they are; these
# would take the tensors' arrays, and the tape would lose them.
_ON_LISTS: dict[str, Callable[..., Any]] = {
    "array_length": lambda array: F.assign(len(array)),
    "array_stack": lambda array, axis: F.stack(array, axis),
    "array_concat": lambda array, axis: F.concat(array, axis),
}


def run_on_lists(name: str, *operands: Any, **attributes: Any) -> Any:
    """The result of an operator on lists of a Program, for Python lists of eager tensors."""
    function = _ON_LISTS.get(name) or lookup(name).kernel
    assert function is not None, f"operator {name!r} has no kernel"
    return function(*operands, **attributes)


__all__ = ["run_on_lists"]
