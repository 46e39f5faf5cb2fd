"""Sums, extremes, norms, and sums so far."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.importers.paddle.calls import Call, table
from dy2st_runtime.dims import product
from dy2st_runtime.ir.arguments import as_int
from dy2st_runtime.ir.dispatch import F

Row = Callable[[Call], Any]
ROWS: dict[str, Row] = {}
_row = table(ROWS)


def _axes(c: Call) -> list[int] | None:
    """Axes of an operand, or of an attribute; None means all."""
    if c.get("reduce_all", False):
        return None
    if c[1] is not None:
        return c.axes(1) or None
    given = c.get("axis", c.get("dim", []))
    return ([as_int(given, "an axis")] if isinstance(given, int) else [*given]) or None


def _reduced(name: str, takes_dtype: bool = False) -> Row:
    def row(c: Call) -> Any:
        given: dict[str, Any] = {"keepdim": c.get("keepdim", False)}
        if takes_dtype and c.dtype() is not None:
            given["dtype"] = c.dtype()
        return getattr(F, name)(c[0], _axes(c), **given)

    return row


def _place(name: str) -> Row:
    def row(c: Call) -> Any:
        axis = None if c.get("flatten", False) else as_int(c.number(1, "an axis"), "an axis")
        dtype = c.dtype() or "int64"
        return getattr(F, name)(c[0], axis, c.get("keepdims", False), dtype)

    return row


@_row("p_norm")
def _p_norm(c: Call) -> Any:
    order, axis, keepdim = c.get("porder", 2.0), c.get("axis", -1), c.get("keepdim", False)
    if c.get("asvector", False):
        made = F.vector_norm(F.reshape(c[0], [-1]), order, 0)
        return F.reshape(made, [1] * c[0].ndim) if keepdim else made
    return F.vector_norm(c[0], order, [axis], keepdim)


@_row("frobenius_norm")
def _frobenius(c: Call) -> Any:
    return F.sqrt(F.sum(F.square(c[0]), _axes(c), keepdim=c.get("keepdim", False)))


@_row("cumsum")
def _cumulated(c: Call) -> Any:
    x = c[0]
    axis = 0 if c[1] is None and c.get("flatten", False) else c.number(1, "an axis")
    if c.get("flatten", False):
        x, axis = F.reshape(x, [-1]), 0
    axis = as_int(axis, "an axis")
    x = F.flip(x, [axis]) if c.get("reverse", False) else x
    made = F.cumsum(x, axis)
    if c.get("exclusive", False):
        made = F.subtract(made, x)
    return F.flip(made, [axis]) if c.get("reverse", False) else made


@_row("cumprod")
def _cumprod(c: Call) -> Any:
    if c.get("exclusive", False) or c.get("reverse", False):
        c.refuse_unless(False, "exclusive or reverse")
    return F.cumprod(c[0], c.get("dim", c.get("axis", 0)))


@_row("logcumsumexp")
def _logcumsumexp(c: Call) -> Any:
    if c.get("exclusive", False) or c.get("reverse", False):
        c.refuse_unless(False, "exclusive or reverse")
    x, axis = c[0], c.get("axis", -1)
    if c.get("flatten", False):
        return F.logcumsumexp(F.reshape(x, [-1]), 0)
    return F.logcumsumexp(x, axis)


def _median(name: str) -> Row:
    def row(c: Call) -> Any:
        axes = c.get("axis", [])
        axes = [axes] if isinstance(axes, int) else [*axes]
        axis = None if not axes else axes[0] if len(axes) == 1 else axes
        return getattr(F, name)(c[0], axis, c.get("keepdim", False), c.get("mode", "avg"))

    return row


ROWS |= {
    "all": _reduced("all"),
    "amax": _reduced("amax"),
    "amin": _reduced("amin"),
    "any": _reduced("any"),
    "argmax": _place("argmax"),
    "argmin": _place("argmin"),
    "cummax": lambda c: F.cummax(c[0], c.get("axis", -1), c.dtype() or "int64"),
    "cummin": lambda c: F.cummin(c[0], c.get("axis", -1), c.dtype() or "int64"),
    "kthvalue": lambda c: F.kthvalue(c[0], c.get("k", 1), c.get("axis", -1),
                                     c.get("keepdim", False)),
    "l1_norm": lambda c: F.sum(F.abs(c[0])),
    "logsumexp": _reduced("logsumexp"),
    "max": _reduced("max"),
    "mean": _reduced("mean"),
    "mean_all": lambda c: F.mean(c[0]),
    "median": _median("median"),
    "min": _reduced("min"),
    "mode": lambda c: F.mode(c[0], c.get("axis", -1), c.get("keepdim", False)),
    "nanmedian": _median("nanmedian"),
    "nansum": _reduced("nansum", True),
    "numel": lambda c: F.assign(F.full([], product(c[0].shape), "int64")),
    "prod": _reduced("prod", True),
    "reduce_as": lambda c: F.reduce_as(c[0], c[1]),
    "squared_l2_norm": lambda c: F.reshape(F.sum(F.square(c[0])), [1]),
    "sum": _reduced("sum", True),
}  # fmt: skip

__all__ = ["ROWS"]
