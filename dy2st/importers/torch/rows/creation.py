"""Tensors made of numbers, casts and copies."""

from __future__ import annotations

from typing import Any

from dy2st.importers.torch.table import Call, Row, as_tensor, is_tensor, row, rows
from dy2st_runtime.dims import Condition, Dim, require
from dy2st_runtime.ir.data import data_of
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.program import Variable


def _filled(at: Call, size: Any, value: Any) -> Any:
    if is_tensor(value) or isinstance(value, (complex, Dim)):
        return F.broadcast_to(at.cast(value), list(size))
    return F.full(list(size), value, at.dtype)


def _constant(value: int) -> Row:
    return lambda at, size, *_, **__: _filled(at, size, value)


def _like(value: int) -> Row:
    return lambda at, x, *_, **__: _filled(at, x.shape, value)


rows(
    {
        "full": lambda at, size, value, dtype=None: _filled(at, size, value),
        "full_like": lambda at, x, value, dtype=None: _filled(at, x.shape, value),
        "new_full": lambda at, x, size, value, dtype=None: _filled(at, size, value),
        "fill.Scalar fill.Tensor": lambda at, x, value: _filled(at, x.shape, value),
        "zeros empty.memory_format empty_permuted empty_strided": _constant(0),
        "ones": _constant(1),
        "zeros_like empty_like": _like(0),
        "ones_like": _like(1),
        "new_zeros new_empty new_empty_strided": (
            lambda at, x, size, *_, dtype=None: _filled(at, size, 0)
        ),
        "new_ones": lambda at, x, size, dtype=None: _filled(at, size, 1),
        "scalar_tensor": lambda at, value, dtype=None: at.cast(value),
        "eye": lambda at, n, dtype=None: F.eye(n, None, at.dtype),
        "eye.m": lambda at, n, m, dtype=None: F.eye(n, m, at.dtype),
        "tril_indices": lambda at, r, c, offset=0, dtype=None: F.tril_indices(r, c, offset),
        "triu_indices": lambda at, r, c, offset=0, dtype=None: F.triu_indices(r, c, offset),
        "arange": lambda at, end, dtype=None: _range(at, 0, end),
        "arange.start": lambda at, start, end, dtype=None: _range(at, start, end),
        "arange.start_step": lambda at, start, end, step=1, dtype=None: _range(
            at, start, end, step
        ),
    }
)


def _range(at: Call, start: Any, end: Any, step: Any = 1) -> Any:
    whole = all(isinstance(one, (int, Dim)) for one in (start, end, step))
    if whole and at.dtype.kind not in "iu":
        return F.cast(F.arange(start, end, step, "int64"), at.dtype)
    return F.arange(start, end, step, at.dtype)


@row(
    "aten.linspace.default",
    "aten.linspace.Tensor_Tensor",
    "aten.linspace.Tensor_Scalar",
    "aten.linspace.Scalar_Tensor",
)
def _linspace(at: Call, start: Any, end: Any, steps: int, dtype: Any = None) -> Any:
    return F.linspace(start, end, steps, at.dtype)


@row(
    "aten.logspace.default",
    "aten.logspace.Tensor_Tensor",
    "aten.logspace.Tensor_Scalar",
    "aten.logspace.Scalar_Tensor",
)
def _logspace(
    at: Call, start: Any, end: Any, steps: int, base: float = 10.0, dtype: Any = None
) -> Any:
    if at.dtype.kind in "iu":  # both ends are whole numbers before anything is computed
        start, end = (F.cast(as_tensor(one), at.dtype) for one in (start, end))
        powers = F.linspace(*(F.cast(one, "float64") for one in (start, end)), steps, "float64")
        return F.cast(F.pow(as_tensor(base, powers.dtype), powers), at.dtype)
    return F.logspace(start, end, steps, base, at.dtype)


# -- casts and copies -------------------------------------------------------------------------

rows(
    {
        "clone alias alias_copy lift_fresh_copy lift_fresh lift contiguous resolve_conj "
        "resolve_neg": lambda at, x, *_, **__: F.assign(x),
        "detach detach_copy": lambda at, x: F.detach(x),
        "copy": lambda at, x, src, *_: F.broadcast_to(at.cast(src), x.shape),
    }
)


@row(
    "aten._to_copy.default",
    "aten.to.dtype",
    "aten.to.device",
    "aten.to.dtype_layout",
    "aten.to.other",
    "aten.type_as.default",
)
def _cast(at: Call, x: Any, *_: Any, **__: Any) -> Any:
    if x.dtype.kind == "c" and at.dtype.kind not in "cb":
        x = F.real(x)
    return F.cast(x, at.dtype)


# -- numbers of tensors, and assertions -------------------------------------------------------


@row("aten.item.default", "aten._local_scalar_dense.default")
def _item(at: Call, x: Any) -> Any:
    known = data_of(x)
    if known is not None and x.dtype.kind in "iu":
        return known.item()
    kind = {"b": bool, "i": int, "u": int}.get(x.dtype.kind, float)
    wide = {bool: "bool", int: "int64", float: "float64"}[kind]
    made = F.cast(F.assign(F.reshape(x, [])), wide)
    made.number = kind
    return made


@row("aten.sym_size.int")
def _size(at: Call, x: Any, dim: int) -> Any:
    return x.shape[dim]


@row("aten.sym_numel.default", "aten.numel.default")
def _count(at: Call, x: Any) -> Any:
    return x.size


@row("aten.sym_stride.int", "aten.sym_storage_offset.default")
def _stride(at: Call, x: Any, dim: int = 0) -> Any:
    return 0 if at.name.startswith("aten.sym_storage") else F.strides(x)[dim]


@row("aten._assert_scalar.default", "aten._assert_async.msg", "aten._assert_async.default")
def _assert(at: Call, condition: Any, message: str = "an assertion of the model fails") -> None:
    if isinstance(condition, Variable):
        F.assert_(F.reshape(condition, []) if condition.ndim else condition, message)
    elif isinstance(condition, (bool, Condition)):
        require(condition, message)


rows(
    {
        "_assert_tensor_metadata sym_constrain_range sym_constrain_range_for_size "
        "_functional_assert_scalar _functional_assert_async.msg": lambda at, *_, **__: None,
    }
)
