"""Sums, largest elements and other reductions along axes, and running ones; orders."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dy2st_runtime.engine.xla.library import is_cpu, jax, jnp, lax
from dy2st_runtime.engine.xla.lowerings.numbers import (
    FLOAT32,
    FLOAT64,
    INT64,
    floats,
    in_float32,
    quotient,
)
from dy2st_runtime.engine.xla.table import lower, rows

_LONG = 2048
"""From so many float32 on they are added in float64 on a CPU, where XLA adds one by one."""


def _counted(x: Any) -> Any:
    """Integers and bools as int64, in which they are added and multiplied."""
    return x.astype(INT64) if x.dtype.kind in "iub" else x


def add_up(x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    """The sum along axes."""
    counts = [x.shape[place] for place in axis]
    is_known = all(isinstance(count, int) for count in counts)
    if x.dtype == FLOAT32 and is_cpu() and (not is_known or math.prod(counts) > _LONG):
        return jnp.sum(x.astype(FLOAT64), axis=axis, keepdims=keepdims).astype(FLOAT32)
    return jnp.sum(x, axis=axis, keepdims=keepdims)


def _mean(x: Any, axis: tuple[int, ...], keepdim: bool) -> Any:
    x = x.astype(FLOAT64) if x.dtype.kind in "iub" else x
    count = 1
    for place in axis:
        count = count * x.shape[place]
    total, count = add_up(x, axis, keepdim), jnp.asarray(count, FLOAT64)
    if x.dtype == FLOAT32:  # rounded from float64 it is the quotient that NumPy has
        return (total.astype(FLOAT64) / count).astype(FLOAT32)
    return quotient(total, count.astype(x.dtype))


def _extreme(name: str) -> Any:
    return lambda x, axis, keepdim: getattr(jnp, name)(x, axis=axis, keepdims=keepdim)


def _place(name: str) -> Any:
    def run(x: Any, axis: int, keepdim: bool) -> Any:
        x = x.astype(np.int8) if x.dtype == np.bool_ else x
        return getattr(jnp, name)(x, axis=axis, keepdims=keepdim)

    return run


def _running(name: str) -> Any:
    return lambda x, axis, reverse: getattr(lax, name)(_counted(x), axis, reverse)


rows(
    {
        "sum": in_float32(lambda x, axis, keepdim: add_up(_counted(x), axis, keepdim)),
        "mean": in_float32(_mean),
        "prod": in_float32(
            lambda x, axis, keepdim: jnp.prod(_counted(x), axis=axis, keepdims=keepdim)
        ),
        **{name: _extreme(name) for name in ("max", "min", "any", "all")},
        **{name: _place(name) for name in ("argmax", "argmin")},
        **{name: in_float32(_running(name)) for name in ("cumsum", "cumprod")},
    }
)


@lower("sum_to")
@in_float32
def _sum_to(x: Any, shape: tuple[Any, ...]) -> Any:
    lead = x.ndim - len(shape)
    axes = (*range(lead), *(i for i, n in enumerate(shape, lead) if x.shape[i] != n))
    if not axes:
        return x
    if x.dtype == np.bool_:
        return jnp.any(x, axis=axes, keepdims=True).reshape(shape)
    return add_up(x, axes, True).reshape(shape)


@lower("softmax")
@in_float32
def _softmax(x: Any, axis: int) -> Any:
    x = floats(x)
    powers = jnp.exp(x - jnp.max(x, axis=axis, keepdims=True, initial=-np.inf))
    return powers / add_up(powers, (axis,), True)


@lower("log_softmax")
@in_float32
def _log_softmax(x: Any, axis: int) -> Any:
    x = floats(x)
    low = x - jnp.max(x, axis=axis, keepdims=True, initial=-np.inf)
    return low - jnp.log(add_up(jnp.exp(low), (axis,), True))


def _running_extreme(name: str) -> Any:
    """The values, and the last place that has each."""

    @in_float32
    def run(x: Any, axis: int) -> tuple[Any, Any]:
        pick = jnp.maximum if name == "cummax" else jnp.minimum
        values = lax.associative_scan(pick, x, axis=axis) if 0 not in x.shape else x
        own = lax.broadcasted_iota(INT64, x.shape, axis)
        is_new = (x == values) | (jnp.isnan(x) if x.dtype.kind == "f" else False)
        return values, lax.cummax(jnp.where(is_new, own, 0), axis)

    return run


rows({name: _running_extreme(name) for name in ("cummax", "cummin")})


@lower("logcumsumexp")
@in_float32
def _running_log(x: Any, axis: int) -> Any:
    return lax.associative_scan(jnp.logaddexp, x, axis=axis) if 0 not in x.shape else x


@lower("argsort")
@in_float32
def _argsort(x: Any, axis: int, descending: bool) -> Any:
    """Equal elements stay in order; NaN is the largest of all."""
    if not descending:
        return jnp.argsort(x, axis=axis, stable=True)
    back = jnp.argsort(jnp.flip(x, axis), axis=axis, stable=True)
    return x.shape[axis] - 1 - jnp.flip(back, axis)


@lower("searchsorted")
@in_float32
def _searchsorted(sequence: Any, values: Any, right: bool) -> Any:
    side = "right" if right else "left"

    def places(row: Any, sought: Any) -> Any:
        return jnp.searchsorted(row, sought, side=side)

    if sequence.ndim == 1:
        return places(sequence, values)
    for _ in sequence.shape[:-1]:
        places = jax.vmap(places)
    return places(sequence, values)
