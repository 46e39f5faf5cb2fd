"""Tensors made of numbers and sizes, and of chance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.importers.paddle.calls import Call, constant, scalar, table
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ir.types import DType

Row = Callable[[Call], Any]
ROWS: dict[str, Row] = {}
_row = table(ROWS)


def _fitting(value: Any, dtype: DType | None) -> Any:
    """A number as the dtype has it."""
    if isinstance(value, Variable) or dtype is None:
        return value
    if isinstance(value, complex) and dtype.kind != "c":
        value = value.real
    if dtype.kind in "iu":
        return int(value)
    return bool(value) if dtype.kind == "b" else value


@_row("full_with_tensor")
def _full_with(c: Call) -> Any:
    dtype = c.dtype()
    value = c.value(0)
    if isinstance(value, Variable):
        # A number that is computed: spread over the shape.
        return F.expand(F.cast(scalar(value), dtype or value.dtype), c.ints(1))
    return F.full(c.ints(1), _fitting(value, dtype), dtype)


def _like(c: Call, value: Any) -> Any:
    dtype = c.dtype() or c[0].dtype
    if isinstance(value, Variable):
        return F.expand_as(F.cast(scalar(value), dtype), c[0])
    return F.full_like(c[0], _fitting(value, dtype), dtype)


@_row("full_batch_size_like")
def _batch_like(c: Call) -> Any:
    shape = [*c.need("shape")]
    shape[c.get("output_dim_idx", 0)] = c[0].shape[c.get("input_dim_idx", 0)]
    return F.full(shape, _fitting(c.get("value", 0.0), c.dtype()), c.dtype())


@_row("arange")
def _arange(c: Call) -> Any:
    start, end, step = (_count(c, place) for place in range(3))
    return F.arange(start, end, step, c.dtype() or getattr(c[0], "dtype", None))


def _count(c: Call, place: int) -> Any:
    """A number or a size of an operand; a Variable where it is computed."""
    value = c[place]
    if isinstance(value, Variable) and value.dtype.kind in "iu":
        (found,) = c.ints(place) if not isinstance(c.ints(place), Variable) else [scalar(value)]
        return found
    return scalar(c.value(place))


@_row("linspace")
def _linspace(c: Call) -> Any:
    return F.linspace(c.value(0), c.value(1), int(c.number(2, "a length")), c.dtype())


ROWS |= {
    "assign_value": lambda c: constant(c.need("values"), c.dtype(), c.need("shape")),
    "empty": lambda c: F.zeros(c.ints(0), c.dtype()),
    "empty_like": lambda c: _like(c, 0),
    "eye": lambda c: F.eye(int(c.number(0, "a size")),
                           None if (n := int(c.number(1, "a size"))) < 0 else n, c.dtype()),
    "full": lambda c: F.full(c.need("shape"), _fitting(c.need("value"), c.dtype()), c.dtype()),
    "full_int_array": lambda c: constant(c.need("value"), c.dtype()),
    "full_like": lambda c: _like(c, c.value(1)),
    "logspace": lambda c: F.logspace(c.value(0), c.value(1), int(c.number(2, "a length")),
                                     c.value(3), c.dtype()),
    "ones": lambda c: F.ones(c.need("shape"), c.dtype()),
    "ones_like": lambda c: _like(c, 1),
    "tril_indices": lambda c: F.tril_indices(c.get("rows", 0), c.get("cols", 0),
                                             c.get("offset", 0), c.dtype() or "int64"),
    "triu_indices": lambda c: F.triu_indices(c.get("row", 0), c.get("col", 0),
                                             c.get("offset", 0), c.dtype() or "int64"),
    "zeros": lambda c: F.zeros(c.need("shape"), c.dtype()),
    "zeros_like": lambda c: _like(c, 0),
    # of chance
    "bernoulli": lambda c: F.bernoulli(c[0]),
    "gaussian": lambda c: F.add(F.multiply(F.randn(_shape(c), c.dtype()), c.get("std", 1.0)),
                                c.get("mean", 0.0)),
    "multinomial": lambda c: F.multinomial(
        c[0], int(c.get("num_samples", 1) if c[1] is None else c.number(1, "a number of draws")),
        c.get("replacement", False)),
    "poisson": lambda c: F.poisson(c[0]),
    "randint": lambda c: F.randint(c.get("low", 0), c.get("high", 1), _shape(c), c.dtype()),
    "randperm": lambda c: F.randperm(c.need("n"), c.dtype() or "int64"),
    "standard_gamma": lambda c: F.standard_gamma(c[0]),
    "binomial": lambda c: F.binomial(c[0], c[1]),
    "uniform": lambda c: F.uniform(_shape(c), c.dtype(), c.value(1), c.value(2)),
}  # fmt: skip


def _shape(c: Call) -> Any:
    return c.ints(0)


__all__ = ["ROWS"]
