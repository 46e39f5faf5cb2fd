"""Arithmetic of sizes and of numbers of a Program: what torch's graphs do besides tensors."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from dy2st_runtime.dims import Condition, Dim, ceil_divide, maximum, minimum
from dy2st_runtime.dims.conditions import NEGATED
from dy2st_runtime.ir import current_tracer
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.program import Variable

NUMBERS: dict[str, Callable[..., Any]] = {}
"""By the name of Python's or torch's function."""


def _number(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        NUMBERS[name] = function
        return function

    return register


def _as_number(value: Any) -> Any:
    """A size as a number of the Program, where no formula of sizes says what is computed."""
    tracer = current_tracer()
    assert tracer is not None
    return tracer.number(value) if isinstance(value, (Dim, Condition)) else value


def _is_traced(*values: Any) -> bool:
    return any(isinstance(value, (Dim, Condition, Variable)) for value in values)


def _numeric(plain: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A function of numbers that gives a float."""

    def compute(*values: Any) -> Any:
        if not _is_traced(*values):
            return plain(*values)
        return getattr(F, name)(*map(_as_number, values))

    return compute


def _binary(plain: Callable[..., Any]) -> Callable[..., Any]:
    """An operation that sizes have, and numbers of the Program too."""

    def compute(left: Any, right: Any) -> Any:
        if any(isinstance(value, (Variable, float)) for value in (left, right)):
            left, right = _as_number(left), _as_number(right)
        return plain(left, right)

    return compute


def _extreme(plain: Any, of_sizes: Any, name: str) -> Callable[..., Any]:
    def compute(*values: Any) -> Any:
        if any(isinstance(value, Variable) for value in values):
            return getattr(F, name)(*map(_as_number, values))
        return of_sizes(*values) if _is_traced(*values) else plain(*values)

    return compute


@_number("pow")
def _power(base: Any, exponent: Any) -> Any:
    if isinstance(base, Dim) and isinstance(exponent, int) and 0 <= exponent < 8:
        return math.prod([base] * exponent)
    return _numeric(operator.pow, "pow")(base, exponent)


def _rounded(name: str) -> Callable[..., Any]:
    def compute(value: Any) -> Any:
        if isinstance(value, (int, Dim)):
            return value
        if isinstance(value, float):
            return getattr(math, name)(value)
        made = F.cast(getattr(F, name)(value), "int64")
        made.number = int
        return made

    return compute


@_number("sym_int")
def _whole(value: Any) -> Any:
    if isinstance(value, (int, Dim)):
        return value
    if not isinstance(value, Variable):
        return int(value)
    made = F.cast(value, "int64")
    made.number = int
    return made


@_number("sym_float")
def _float(value: Any) -> Any:
    return _numeric(operator.truediv, "divide")(value, 1)


@_number("sym_not")
def _truth(value: Any) -> Any:
    if isinstance(value, Condition):
        return Condition(NEGATED[value.relation], value.left, value.right)
    return F.logical_not(value) if isinstance(value, Variable) else not value


NUMBERS |= {
    "getitem": operator.getitem,
    **{
        name: _binary(getattr(operator, name))
        for name in ("add", "sub", "mul", "floordiv", "mod", "eq", "ne", "lt", "le", "gt", "ge")
    },
    "truediv": _numeric(operator.truediv, "divide"),
    "neg": operator.neg,
    "and_": operator.and_,
    "or_": operator.or_,
    "sym_max": _extreme(max, maximum, "maximum"),
    "sym_min": _extreme(min, minimum, "minimum"),
    "max": _extreme(max, maximum, "maximum"),
    "min": _extreme(min, minimum, "minimum"),
    "sym_ite": lambda truth, yes, no: (
        F.where(truth, _as_number(yes), _as_number(no))
        if isinstance(truth, Variable)
        else yes
        if truth
        else no
    ),
    "sym_sqrt": _numeric(math.sqrt, "sqrt"),
    "sqrt": _numeric(math.sqrt, "sqrt"),
    "ceil": _rounded("ceil"),
    "floor": _rounded("floor"),
    "trunc": _rounded("trunc"),
    "round": _rounded("round"),
    "ceil_div": ceil_divide,
}
