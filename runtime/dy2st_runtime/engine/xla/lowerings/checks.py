"""What stops a Program: assertions, exceptions, requirements on sizes. They compute nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st_runtime.engine.xla.library import jnp
from dy2st_runtime.engine.xla.lowerings.numbers import FLOAT64
from dy2st_runtime.engine.xla.table import check, rows

rows(
    dict.fromkeys(("assert", "assert_bound", "check_int", "raise", "require"), lambda *_, **__: ())
)


@check("assert", "assert_bound")
def _holds(made: Any, condition: Any, **_: Any) -> Any:
    return jnp.all(condition != 0)


@check("raise")
def _never(made: Any, *values: Any, **_: Any) -> bool:
    return False


@check("require")
def _is_met(made: Any, condition: Any, message: str) -> bool:
    return bool(condition)


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "int": lambda x: x,
    "multiply": lambda x, y: x * y,
    "pow": lambda x, y: abs(x) ** y,
    "subtract": lambda x, y: x - y,
}


@check("check_int")
def _fits(made: Any, *values: Any, operation: str) -> Any:
    """Whether it surely fits into 64 bits; what is near that is left to exact integers."""
    result = _OPERATIONS[operation](*(value.astype(FLOAT64).reshape(()) for value in values))
    return jnp.abs(result) < 2.0**62
