"""Computes what layers that processes share do with their parts: one process has the whole."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.ir.dispatch import F


def _c_identity(tensor: Any, *_: Any, **__: Any) -> Any:
    """The tensor, whose gradient would be summed over processes."""
    return tensor


def _c_lookup_table(
    table: Any, index: Any, start_index: int = 0, vocab_size: int = -1, name: str | None = None
) -> Any:
    """The rows of a table, which begins with row `start_index`."""
    return F.embedding(index if start_index == 0 else index - start_index, table)


# The parts of all processes side by side, the part of this one, and the sum over processes.
_c_concat = _c_split = _mp_allreduce = _c_identity


def _get_reduce_op(reduce_op: Any, func_name: str) -> Any:
    """The operation by which processes join their tensors, as built in."""
    return reduce_op


__all__: list[str] = []
